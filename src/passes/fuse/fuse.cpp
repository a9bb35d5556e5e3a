// Puts ops that fast kernels compute as one into the region of a graph.FusedOp, and takes them out.
#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "eval/parameters.hpp"
#include "mir/fusion.hpp"
#include "mir/op_attributes.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "passes/fuse/fused_groups.hpp"
#include "passes/inline/replace_by_region.hpp"
#include "passes/standard_passes.hpp"
#include "support/pointer_table.hpp"

namespace mir {

namespace {

/// The steps of a block. Those of its fused ops are their parts.
class BlockSteps {
 public:
  explicit BlockSteps(const Block& block) : block_(block) {
    collect();
    graph_ = StepGraph(values_.size());
    std::span<const StepGraph::Index> indices(indices_);
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      const std::size_t operands = ops_[i]->operand_count(), results = ops_[i]->result_count();
      graph_.add(*ops_[i], indices.first(operands), results == 0 ? 0 : indices[operands],
                 parts_[i]);
      indices = indices.subspan(operands + results);
    }
    // A value stays one if ends of blocks, regions of other ops or other blocks read it: if it has
    // more uses than the steps.
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Use* use = values_[i]->first_use();
      for (std::size_t known = uses_[i]; use != nullptr && known > 0; --known) use = use->next();
      if (use != nullptr) graph_.keep(static_cast<StepGraph::Index>(i));
    }
  }

  const StepGraph& graph() const { return graph_; }
  Op& op(std::size_t step) const { return *ops_[step]; }
  /// Constants and parameters.
  bool is_fixed(StepGraph::Index index) const { return values_[index]->is_free(); }
  std::optional<float> scalar(StepGraph::Index index) const {
    const Value& value = *values_[index];
    if (!value.is_free()) return std::nullopt;
    const auto constant = constant_tensor(value);
    return constant ? only_float(*constant) : std::nullopt;
  }

 private:
  static bool has_parts(const Op& op) {
    return op.is(OpId::kGraphFused) && !op.first_region()->empty();
  }
  /// The end of a fused op passes values on; it computes nothing with them.
  bool is_step(const Op& op) const {
    if (op.has(Trait::kTerminator)) return false;
    if (op.block() == &block_) return !has_parts(op);
    const Op* around = op.parent_op();
    return around != nullptr && around->block() == &block_ && has_parts(*around) &&
           op.block() == around->first_region()->entry();
  }

  void collect() {
    std::uint32_t part = 0;
    for (Op* op : block_.ops()) {
      if (!has_parts(*op)) {
        add(*op, 0);
        continue;
      }
      ++part;
      for (Op* inner : op->first_region()->entry()->ops()) add(*inner, part);
    }
  }

  void add(Op& op, std::uint32_t part) {
    if (!is_step(op)) return;
    ops_.push_back(&op);
    parts_.push_back(part);
    for (const Use& use : op.operand_uses()) ++uses_[number(*use.value())];
    for (const Value& result : op.results()) number(result);
  }

  StepGraph::Index number(const Value& value) {
    StepGraph::Index& number = numbers_[&value];  // from 1
    if (number == 0) {
      values_.push_back(&value);
      uses_.push_back(0);
      number = static_cast<StepGraph::Index>(values_.size());
    }
    indices_.push_back(number - 1);
    return number - 1;
  }

  const Block& block_;
  std::vector<Op*> ops_;
  std::vector<std::uint32_t> parts_;       // by step
  std::vector<StepGraph::Index> indices_;  // operands, then results, step by step
  std::vector<const Value*> values_;
  std::vector<std::size_t> uses_;  // by steps, of each value
  PointerTable<StepGraph::Index> numbers_;
  StepGraph graph_{0};
};

class Fusing {
 public:
  Fusing(PassRun& run, FusionStage stage)
      : run_(run), stage_(stage), rewriter_(run.module()), context_(run.module().context()) {}

  PassResult apply() {
    const std::span<Op* const> known = run_.analysis<CallGraph>().graphs();
    const std::vector<Op*> graphs(known.begin(), known.end());
    for (Op* graph : graphs) {
      if (graph->first_region() != nullptr) fuse_in(*graph->first_region());
    }
    return run_.result();
  }

 private:
  void fuse_in(Region& region) {
    for (Block* block : region.blocks()) {
      fuse_in(*block);
      for (Op* op : block->ops()) {
        if (op->has(Trait::kIsolated) || op->has(Trait::kTemplate) || op->is(OpId::kGraphFused)) {
          continue;
        }
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) fuse_in(*in);
      }
    }
  }

  void fuse_in(const Block& block) {
    const BlockSteps steps(block);
    const auto scalar = [&](StepGraph::Index index) { return steps.scalar(index); };
    const auto is_fixed = [&](StepGraph::Index index) { return steps.is_fixed(index); };
    for (const FusedGroup& group :
         find_groups(steps.graph(), {.stage = stage_, .scalar = scalar, .is_fixed = is_fixed})) {
      std::vector<Op*> ops;
      if (group.norm && steps.graph().at(*group.norm).part == 0) {
        ops.push_back(&steps.op(*group.norm));
      }
      for (const std::size_t step : group.exchanged) {
        exchange(steps.op(step), steps.op(group.anchor));
      }
      if (steps.graph().at(group.anchor).part == 0) {
        for (const std::size_t step : group.steps) ops.push_back(&steps.op(step));
        fuse(ops, steps.op(group.anchor));
      } else if (!ops.empty()) {
        Op& fused = *steps.op(group.anchor).parent_op();
        rewriter_.move_before(*ops.front(), *fused.first_region()->entry()->front());
        run_.count("norms moved into fused operations");
      }
    }
  }

  /// Gives a product its second operand with the last two dimensions in the other order, which a
  /// Transpose in front of `place` makes.
  void exchange(Op& product, Op& place) {
    Value* const operand = product.operand(1);
    const TensorType& type = *operand->tensor_type();
    std::vector<Dim> dims(type.dims().begin(), type.dims().end());
    std::swap(dims.back(), dims[dims.size() - 2]);
    const Type* exchanged =
        context_.tensor(dims, type.dtype_name(), type.device(), type.encoding());
    const NamedAttr axes[] = {{key::kDim0, context_.integer(-2)},
                              {key::kDim1, context_.integer(-1)}};
    rewriter_.set_insertion_point(place);
    Op* made = rewriter_.create({.name = context_.op_name(OpId::kLinalgTranspose, product.device()),
                                 .operands = {&operand, 1},
                                 .result_types = {&exchanged, 1},
                                 .attributes = axes,
                                 .location = product.location()});
    rewriter_.set_operand(product, 1, made->result());
    const bool before = OpAttributes(product).boolean(key::kTransposeB);
    rewriter_.set_attribute(product, key::kTransposeB, context_.boolean(!before));
  }

  /// Moves the ops into a new op where `anchor` is.
  void fuse(std::span<Op* const> ops, Op& anchor) {
    const std::unordered_set<const Op*> inside(ops.begin(), ops.end());
    const auto is_outside = [&](const Use& use) { return !inside.contains(use.user()); };
    std::vector<Value*> passed;
    std::vector<const Type*> types;
    for (Op* op : ops) {
      for (Value& result : op->results()) {
        const Use* use = result.first_use();
        while (use != nullptr && !is_outside(*use)) use = use->next();
        if (use == nullptr) continue;
        passed.push_back(&result);
        types.push_back(result.type());
      }
    }
    rewriter_.set_insertion_point(anchor);
    Op* fused = rewriter_.create({.name = context_.op_name(OpId::kGraphFused),
                                  .result_types = types,
                                  .regions = 1,
                                  .location = anchor.location()});
    for (std::uint32_t i = 0; i < passed.size(); ++i) {
      Value& result = *fused->result(i);
      rewriter_.replace_uses_if(*passed[i], result, is_outside);
      // Names that others read stay where they are read.
      const ValueName name = passed[i]->name();
      rewriter_.set_name(*passed[i], result.name());
      rewriter_.set_name(result, name);
    }
    Region& region = *fused->first_region();
    Block* block = rewriter_.create_block(region);
    for (Op* op : ops) rewriter_.move_to_end(*op, *block);
    rewriter_.set_insertion_point_to_end(*block);
    rewriter_.create({.name = context_.op_name(OpId::kCfYield), .operands = passed});
    rewriter_.set_has_signature(region, true);
    rewriter_.set_result_types(region, types);
    run_.count("operations fused", ops.size());
  }

  PassRun& run_;
  FusionStage stage_;
  Rewriter rewriter_;
  IRContext& context_;
};

PassResult unfuse(PassRun& run) {
  Rewriter rewriter(run.module());
  walk(run.region(), WalkOrder::kPostOrder, [&](Op& op) {
    if (!op.is(OpId::kGraphFused)) return WalkResult::kContinue;
    Region& region = *op.first_region();
    if (region.empty() || region.has_several_blocks()) return WalkResult::kContinue;
    replace_by_region(rewriter, op, region, {});
    run.count("operations taken apart");
    return WalkResult::kContinue;
  });
  return run.result();
}

constexpr std::string_view kExactFusion = "fusion-exact", kWholeFusion = "fusion-all";

struct StagePass {
  FusionStage stage;
  std::string_view name, summary;
};

constexpr StagePass kStagePasses[] = {
    {FusionStage::kAttention, "fuse-attention",
     "fuses the products, scale, mask and Softmax of attention"},
    {FusionStage::kGates, "fuse-gates",
     "fuses a product of two Linear of one operand, one of them under an activation"},
    {FusionStage::kEpilogues, "fuse-epilogues",
     "fuses a Linear with the activation and the residual that follow"},
    {FusionStage::kProducts, "fuse-products", "fuses Linear operations of one operand"},
    {FusionStage::kNorms, "fuse-norms", "fuses an RMSNorm with the Linear operations that read it"},
    {FusionStage::kRotations, "fuse-rotate-half",
     "fuses x * cos + [-x2, x1] * sin, rotary embeddings with tables as wide as x"},
    {FusionStage::kChains, "fuse-chains",
     "fuses elementwise operations on Float32 that alone read each other's results"},
};

/// Kernels that give the bits of the ops one by one.
bool is_exact(FusionStage stage) {
  return stage != FusionStage::kAttention;
}

/// The passes of the stages, in their order, after bodies and calls are inlined.
std::string fusion_pipeline(bool is_exact_only) {
  std::string pipeline = "decompose{only-bodies},inline{erase}";
  for (const StagePass& pass : kStagePasses) {
    if (is_exact_only && !is_exact(pass.stage)) continue;
    pipeline += ',';
    pipeline += pass.name;
  }
  return pipeline;
}

}  // namespace

void register_fusions(PassRegistry& registry) {
  for (const StagePass& pass : kStagePasses) {
    registry.add(
        {.name = std::string(pass.name),
         .summary = std::string(pass.summary),
         .takes = PassForm::kPortable,
         .is_idempotent = true,
         .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
         .run = [stage = pass.stage](PassRun& run) { return Fusing(run, stage).apply(); }});
  }
  registry.add({.name = "unfuse",
                .summary = "takes fused operations apart",
                .anchor = Anchor::kGraph,
                .takes = PassForm::kPortable,
                .is_idempotent = true,
                .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
                .run = unfuse});
  registry.add_pipeline(kExactFusion, "fuses what kernels compute as one with the same bits",
                        fusion_pipeline(true));
  registry.add_pipeline(kWholeFusion, "fuses all that kernels compute as one",
                        fusion_pipeline(false));
}

bool fuse(Module& module, Fusion fusion, const PassRegistry& registry, const FusionScope& scope,
          Diagnostics& diagnostics) {
  if (fusion == Fusion::kOff || fusion == Fusion::kStated) return true;
  const auto& name = fusion == Fusion::kExact ? kExactFusion : kWholeFusion;
  Pipeline pipeline = registry.pipelines().find(name)->second.pipeline;
  if (scope.keeps_declared_ops) pipeline.items.erase(pipeline.items.begin());
  PassOptions& inlining = std::ranges::find(pipeline.items, "inline", [](const PipelineItem& item) {
                            return item.pass->name;
                          })->options;
  for (const std::string& graph : scope.kept) {
    // The list takes any text.
    [[maybe_unused]] const bool is_taken = inlining.take(*inlining.find("keep"), graph).ok();
    assert(is_taken);
  }
  return run_pipeline(module, pipeline, {}, diagnostics);
}

}  // namespace mir

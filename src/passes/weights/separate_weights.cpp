// Makes weights that ops own operands of simpler ops.
//
// note [patches]: a convolution without padding whose kernel moves by its own extents reads each
// element once. So the input is cut into patches, and each result is the product of a patch with a
// row of the weight. A kernel of one element is the simplest case.
#include <algorithm>
#include <memory>
#include <vector>

#include "eval/attributes.hpp"
#include "eval/parameters.hpp"
#include "passes/analysis/parameter_types.hpp"
#include "passes/sink/op_motion.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

/// A parameter that an op owns.
struct OwnedWeight {
  const TensorType* type = nullptr;  ///< null: the op owns none
  Symbol symbol{};
};

struct SeparationPlan {
  OwnedWeight weight;
  OwnedWeight bias;
  std::vector<std::int64_t> taps{};  ///< of a convolution, by dimension
};

PatternMatch failed_separation(std::string_view condition, const Op& at) {
  return PatternMatch::failed(condition, at);
}

bool is_single(const TensorType* type) {
  return type != nullptr && type->dtype() == DType::kFloat32 && type->encoding() == nullptr;
}

/// The parameters of the op. No value if one is not declared as a tensor of numbers that are
/// elements of `dtype`.
std::optional<SeparationPlan> weights_of(const Op& op, const ParameterTypes& parameters,
                                         DType dtype) {
  SeparationPlan plan;
  for (const OwnedParameter& owned : owned_parameters(op)) {
    const TensorType* type = parameters.find(owned.symbol);
    if (type == nullptr || type->dtype() != dtype || type->encoding() != nullptr) {
      return std::nullopt;
    }
    (owned.suffix == ".bias" ? plan.bias : plan.weight) = {type, owned.symbol};
  }
  if (plan.weight.type == nullptr && plan.bias.type == nullptr) return std::nullopt;
  return plan;
}

PatternMatch matched(Op& op, SeparationPlan plan) {
  return PatternMatch::of({&op}, {}, std::make_shared<const SeparationPlan>(std::move(plan)));
}

/// What all ops need whose weights become operands of products and sums.
std::string_view why_not_single(const Op& op) {
  if (const auto why = why_fixed(op); !why.empty()) return why;
  const bool are_single = is_single(op.operand(0)->tensor_type()) && op.operand_count() == 1 &&
                          is_single(op.result()->tensor_type());
  if (!are_single) return "the operand and the result are not Float32";
  const AttributeReader attributes(op);
  const Attr* impl = attributes.find("impl_type");
  return impl != nullptr && impl->text() != "Default" ? "the weight has a form of its own" : "";
}

/// Creates ops in front of the root of a match.
class SeparatedOps {
 public:
  SeparatedOps(Rewriter& rewriter, Op& root)
      : rewriter_(rewriter), root_(root), context_(rewriter.context()) {
    rewriter_.set_insertion_point(root);
  }

  Value* parameter(const OwnedWeight& owned) {
    return rewriter_.constant(*root_.parent_region(),
                              {.type = owned.type, .symbol = owned.symbol, .has_symbol = true});
  }

  Value* make(OpId kind, std::vector<Value*> operands, const Type* type,
              std::vector<NamedAttr> attributes = {}) {
    const Op* op = rewriter_.create({.name = context_.op_name(kind, root_.op_name().device),
                                     .operands = operands,
                                     .result_types = std::span(&type, 1),
                                     .attributes = attributes});
    return op->result();
  }

  /// The elements of `x` under other extents.
  Value* view(Value* x, std::span<const Dim> dims) {
    return make(OpId::kLinalgView, {x}, type_like(*x, dims), {attribute("to_shape", list(dims))});
  }
  Value* permute(Value* x, std::span<const std::int64_t> axes) {
    std::vector<Dim> dims, order;
    for (const std::int64_t axis : axes) {
      dims.push_back(x->tensor_type()->dims()[static_cast<std::size_t>(axis)]);
      order.emplace_back(axis);
    }
    return make(OpId::kLinalgPermute, {x}, type_like(*x, dims), {attribute("axis", list(order))});
  }
  /// Rows of `x` times rows of `weight`.
  Value* product(Value* x, Value* weight, const Type* type) {
    return make(OpId::kLinalgMatMul, {x, weight}, type,
                {attribute("transpose_b", context_.boolean(true))});
  }
  /// The sum with the bias, if there is one.
  Value* biased(Value* x, const OwnedWeight& bias) {
    if (bias.type == nullptr) return x;
    return make(OpId::kLinalgAdd, {x, parameter(bias)}, x->type());
  }

  const Type* type_like(const Value& x, std::span<const Dim> dims) {
    const TensorType& type = *x.tensor_type();
    return context_.tensor(dims, type.dtype_name(), type.device());
  }
  NamedAttr attribute(std::string_view key, const Attr* value) {
    return {context_.intern(key), value};
  }
  IRContext& context() { return context_; }
  void replace_root(Value* by) { rewriter_.replace(root_, std::span(&by, 1)); }

 private:
  const Attr* list(std::span<const Dim> dims) {
    std::vector<const Attr*> elements;
    for (const Dim dim : dims) {
      elements.push_back(dim.is_constant() ? context_.integer(dim.constant()) : context_.dim(dim));
    }
    return context_.array(elements);
  }

  Rewriter& rewriter_;
  Op& root_;
  IRContext& context_;
};

// -- norms ----------------------------------------------------------------------------------------

PatternMatch match_norm(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return failed_separation(why, op);
  if (AttributeReader(op).boolean("add_unit_offset")) {
    return failed_separation("the weight is stored minus one", op);
  }
  auto plan = weights_of(op, parameters, DType::kFloat32);
  if (!plan) return failed_separation("no Float32 weight of its own is declared", op);
  return matched(op, *std::move(plan));
}

/// norm(x) w + b
void separate_norm(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  std::vector<NamedAttr> attributes;
  for (const NamedAttr& each : op.attributes()) {
    const std::string_view key = ops.context().text(each.key);
    if (key != "elementwise_affine" && key != "bias") attributes.push_back(each);
  }
  attributes.push_back(ops.attribute("elementwise_affine", ops.context().boolean(false)));
  if (op.is(OpId::kLinalgLayerNorm)) {
    attributes.push_back(ops.attribute("bias", ops.context().boolean(false)));
  }
  const Type* type = op.result()->type();
  Value* y = ops.make(op.op_id(), {op.operand(0)}, type, attributes);
  if (plan.weight.type != nullptr) {
    y = ops.make(OpId::kLinalgMul, {y, ops.parameter(plan.weight)}, type);
  }
  ops.replace_root(ops.biased(y, plan.bias));
}

// -- products -------------------------------------------------------------------------------------

PatternMatch match_linear(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return failed_separation(why, op);
  if (op.operand(0)->tensor_type()->rank() < 2) {
    return failed_separation("the operand has one dimension", op);
  }
  auto plan = weights_of(op, parameters, DType::kFloat32);
  if (!plan || plan->weight.type == nullptr || plan->weight.type->rank() != 2) {
    return failed_separation("no Float32 weight of its own is declared", op);
  }
  return matched(op, *std::move(plan));
}

/// x w^T + b
void separate_linear(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  Value* y = ops.product(op.operand(0), ops.parameter(plan.weight), op.result()->type());
  ops.replace_root(ops.biased(y, plan.bias));
}

PatternMatch match_embedding(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_fixed(op); !why.empty()) return failed_separation(why, op);
  const TensorType* result = op.result()->tensor_type();
  if (result == nullptr || !result->dtype()) return failed_separation("the type is not known", op);
  auto plan = weights_of(op, parameters, *result->dtype());
  if (!plan || plan->weight.type->rank() != 2) {
    return failed_separation("no table of the result's element type is declared", op);
  }
  return matched(op, *std::move(plan));
}

/// Rows of the table that ids select.
void separate_embedding(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  ops.replace_root(ops.make(OpId::kLinalgGather, {ops.parameter(plan.weight), op.operand(0)},
                            op.result()->type(), {ops.attribute("dim", ops.context().integer(0))}));
}

// -- convolutions ---------------------------------------------------------------------------------

/// Whether a list of an attribute holds one number in all dimensions; an empty list does.
bool are_all(const std::vector<std::int64_t>& list, std::int64_t value) {
  return std::ranges::all_of(list, [&](std::int64_t each) { return each == value; });
}

PatternMatch match_convolution(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return failed_separation(why, op);
  auto plan = weights_of(op, parameters, DType::kFloat32);
  if (!plan || plan->weight.type == nullptr || !plan->weight.type->has_static_shape()) {
    return failed_separation("no Float32 weight of its own is declared", op);
  }
  const auto weight = plan->weight.type->dims();
  const auto x = op.operand(0)->tensor_type()->dims();
  if (weight.size() != x.size()) return failed_separation("the kernel has another rank", op);
  for (const Dim extent : weight.subspan(2)) plan->taps.push_back(extent.constant());
  const AttributeReader attributes(op);
  std::vector<std::int64_t> strides = attributes.integers("stride");
  strides.resize(plan->taps.size(), strides.empty() ? 1 : strides.back());
  const bool has_patches = strides == plan->taps && are_all(attributes.integers("padding"), 0) &&
                           (are_all(attributes.integers("dilation"), 1) ||
                            are_all(attributes.integers("dilation"), 0)) &&
                           weight[1] == x[1];
  if (!has_patches)
    return failed_separation("patches overlap, have gaps or padding, or groups", op);
  for (std::size_t i = 0; i < plan->taps.size(); ++i) {
    const Dim extent = x[i + 2];
    const bool is_whole = plan->taps[i] == 1 || (extent.is_constant() && plan->taps[i] > 0 &&
                                                 extent.constant() % plan->taps[i] == 0);
    if (!is_whole) return failed_separation("patches do not fill the operand", op);
  }
  return matched(op, *std::move(plan));
}

/// See note [patches].
void separate_convolution(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  DimTable& table = ops.context().dims();
  const auto x = op.operand(0)->tensor_type()->dims();
  const auto result = op.result()->tensor_type()->dims();
  const std::size_t rank = plan.taps.size();
  // [B, C, n k, ..] -> [B, C, n, k, ..] -> [B, n, .., C, k, ..] -> [B, n .., C k ..]
  std::vector<Dim> cut = {x[0], x[1]};
  std::vector<std::int64_t> order = {0};
  Dim patches(1), depth = x[1];
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim taps(plan.taps[i]);
    cut.insert(cut.end(), {result[i + 2], taps});
    order.push_back(static_cast<std::int64_t>(2 + 2 * i));
    patches = table.multiply(patches, result[i + 2]);
    depth = table.multiply(depth, taps);
  }
  order.push_back(1);
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(3 + 2 * i));
  Value* rows = ops.permute(ops.view(op.operand(0), cut), order);
  rows = ops.view(rows, std::vector<Dim>{x[0], patches, depth});
  const Dim outputs = plan.weight.type->dims()[0];
  Value* weight = ops.view(ops.parameter(plan.weight), std::vector<Dim>{outputs, depth});
  Value* y =
      ops.product(rows, weight, ops.type_like(*rows, std::vector<Dim>{x[0], patches, outputs}));
  y = ops.permute(ops.biased(y, plan.bias), std::vector<std::int64_t>{0, 2, 1});
  ops.replace_root(ops.view(y, result));
}

// -- the pass -------------------------------------------------------------------------------------

using SeparationMatch = PatternMatch (*)(Op&, const ParameterTypes&);
using SeparationRewrite = void (*)(Rewriter&, const PatternMatch&);

constexpr RewriteClaim within(double relative, double absolute) {
  return {.kind = RewriteClaim::Kind::kBound,
          .relative = relative,
          .absolute = absolute,
          .only_finite = true,
          .largest = 10};
}

PatternSet separation_patterns(const ParameterTypes& parameters) {
  PatternSet set;
  const auto add = [&](std::string_view name, std::vector<std::string> roots,
                       std::vector<std::string> makes, const RewriteClaim& claim,
                       SeparationMatch match, SeparationRewrite rewrite) {
    set.add({.name = std::string(name),
             .roots = {.names = std::move(roots)},
             .makes = std::move(makes),
             .claim = claim,
             .match = [match, &parameters](Op& op) { return match(op, parameters); },
             .rewrite = rewrite});
  };
  add("separate-norm", {"linalg.RMSNormOp", "linalg.LayerNormOp"},
      {"linalg.RMSNormOp", "linalg.LayerNormOp", "linalg.MulOp", "linalg.AddOp"},
      within(1e-5, 1e-4), match_norm, separate_norm);
  add("separate-linear", {"linalg.LinearOp"}, {"linalg.MatMulOp", "linalg.AddOp"},
      within(1e-5, 1e-4), match_linear, separate_linear);
  add("separate-embedding", {"linalg.EmbeddingOp"}, {"linalg.GatherOp"}, {}, match_embedding,
      separate_embedding);
  add("separate-convolution", {"linalg.Conv1DOp", "linalg.Conv2DOp", "linalg.Conv3DOp"},
      {"linalg.ViewOp", "linalg.PermuteOp", "linalg.MatMulOp", "linalg.AddOp"}, within(1e-5, 1e-4),
      match_convolution, separate_convolution);
  return set;
}

PassResult separate_weights(PassRun& run) {
  const FrozenPatterns patterns(separation_patterns(run.analysis<ParameterTypes>()));
  return rewrite_greedily(run, patterns);
}

constexpr std::string_view kOwnWeights =
    R"(@main [mir_version:1] (%x:tensor<[1, 4], Float32, CPU>) -> (%z:tensor<[1, 3], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%v:tensor<[4], Float32, CPU>[@norm.weight])[symbol:norm.weight]
            tensor.CPU.register () -> (%w:tensor<[3, 4], Float32, CPU>[@up.weight])[symbol:up.weight]
        }
    }
    linalg.CPU.RMSNormOp <name="norm"> [epsilon:1e-6] (%x) -> (%y:tensor<[1, 4], Float32, CPU>)
    linalg.CPU.LinearOp <name="up"> [in_channels:4, out_channels:3, bias:false] (%y) -> (%z:tensor<[1, 3], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";

}  // namespace

Pass separate_weights_pass() {
  return {.name = "separate-weights",
          .summary =
              "makes weights that operations own operands: of products, sums and look-ups, "
              "within a bound",
          .anchor = Anchor::kGraph,
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .reads = AnalysisSet::of<ParameterTypes>(),
          .preserves = AnalysisSet::of<Dominance, CallGraph, SymbolRanges, ParameterTypes>(),
          .example = std::string(kOwnWeights),
          .run = separate_weights};
}

}  // namespace mir

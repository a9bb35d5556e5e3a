// Makes weights that ops own operands of simpler ops.
#include <vector>

#include "mir/op_attributes.hpp"
#include "passes/sink/op_motion.hpp"
#include "passes/standard_passes.hpp"
#include "passes/weights/separation.hpp"

namespace mir {

namespace {

// -- norms ----------------------------------------------------------------------------------------

PatternMatch match_norm(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return failed_separation(why, op);
  if (OpAttributes(op).boolean(key::kAddUnitOffset)) {
    return failed_separation("the weight is stored minus one", op);
  }
  auto plan = weights_of(op, parameters, DType::kFloat32);
  if (!plan) return failed_separation("no Float32 weight of its own is declared", op);
  return matched_separation(op, *std::move(plan));
}

/// norm(x) w + b
void separate_norm(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  std::vector<NamedAttr> attributes;
  for (const NamedAttr& each : op.attributes()) {
    const std::string_view key = ops.context().text(each.key);
    if (key != key::kElementwiseAffine && key != key::kBias) attributes.push_back(each);
  }
  attributes.push_back({key::kElementwiseAffine, ops.context().boolean(false)});
  if (op.is(OpId::kLinalgLayerNorm)) {
    attributes.push_back({key::kBias, ops.context().boolean(false)});
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
  return matched_separation(op, *std::move(plan));
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
  return matched_separation(op, *std::move(plan));
}

/// Rows of the table that ids select.
void separate_embedding(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const SeparationPlan& plan = match.plan<SeparationPlan>();
  SeparatedOps ops(rewriter, op);
  ops.replace_root(ops.make(OpId::kLinalgGather, {ops.parameter(plan.weight), op.operand(0)},
                            op.result()->type(), {{key::kDim, ops.context().integer(0)}}));
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
      {"linalg.PadOp", "linalg.IotaOp", "linalg.IndexOp", "linalg.ViewOp", "linalg.PermuteOp",
       "linalg.MatMulOp", "linalg.AddOp"},
      within(1e-5, 1e-4), match_convolution, separate_convolution);
  return set;
}

PassResult separate_weights(PassRun& run) {
  const FrozenPatterns patterns(separation_patterns(run.analysis<ParameterTypes>()));
  return rewrite_greedily(run, patterns);
}

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
          .run = separate_weights};
}

}  // namespace mir

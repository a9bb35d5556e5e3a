// Generic bodies of Embedding, and of Linear, convolutions and norms of Float32, with weights of
// their own.
#include "passes/generic/generic_weights.hpp"

#include <algorithm>
#include <array>

#include "eval/parameters.hpp"
#include "mir/op_attributes.hpp"
#include "passes/generic/generic_draft.hpp"
#include "passes/generic/generic_rules.hpp"
#include "passes/weights/separation.hpp"

namespace mir {

namespace weighted_body_rules {

namespace {

using Dims = std::vector<Dim>;
using Numbers = GenericDraft::Numbers;

std::span<const Dim> dims_in(const Value& value) {
  return value.tensor_type()->dims();
}

bool is_known(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](Dim each) {
    return !each.is_unknown() && !each.is_negative() && !(each.is_symbolic() && each.is_pack());
  });
}
bool is_static(std::span<const Dim> dims) {
  return std::ranges::all_of(dims, [](Dim each) { return each.is_constant(); });
}

/// An op of Float32 with known extents, and its weights.
PatternMatch match_weighted(Op& op, const ParameterTypes& parameters) {
  if (const auto why = why_not_single(op); !why.empty()) return PatternMatch::failed(why, op);
  if (!is_known(dims_in(*op.operand(0))) || !is_known(dims_in(*op.result()))) {
    return PatternMatch::failed("an extent is unknown", op);
  }
  if (op.operand(0)->tensor_type()->encoding() != nullptr ||
      op.result()->tensor_type()->encoding() != nullptr) {
    return PatternMatch::failed("a value has an encoding", op);
  }
  auto plan = owned_parameters(op).empty() ? std::optional(SeparationPlan())
                                           : weights_of(op, parameters, DType::kFloat32);
  if (!plan) return PatternMatch::failed("no Float32 weight of its own is declared", op);
  for (const OwnedWeight& each : {plan->weight, plan->bias}) {
    if (each.type != nullptr && !is_static(each.type->dims())) {
      return PatternMatch::failed("the extents of a weight are not numbers", op);
    }
  }
  return matched_separation(op, *std::move(plan));
}

/// True if there is no bias, or one number for each row of the weight.
bool bias_fits(const SeparationPlan& plan) {
  const TensorType* bias = plan.bias.type;
  return bias == nullptr || (bias->rank() == 1 && bias->dims()[0] == plan.weight.type->dims()[0]);
}

/// Creates ops in front of the root of a match.
class WeightedBody {
 public:
  WeightedBody(Rewriter& rewriter, Op& op)
      : rewriter_(rewriter), op_(op), ops_(rewriter, op), result_(*op.result()->tensor_type()) {}

  GenericDraft draft() { return GenericDraft(rewriter_, op_); }
  Value* parameter(const OwnedWeight& owned) { return ops_.parameter(owned); }
  const TensorType& result() const { return result_; }
  DimTable& table() { return rewriter_.context().dims(); }
  const TensorType& doubles(std::span<const Dim> extents) {
    return *with_extents(rewriter_.context(), result_, extents, DType::kFloat64);
  }
  Value* number(double value) { return generic_number(rewriter_, op_, value); }

  /// Computes from one element of each value, in the order of `steps`: each op takes what those
  /// before it gave and the next value.
  Value* chain(const TensorType& result, std::vector<Value*> values, std::vector<OpId> steps) {
    return generic_elements(
        rewriter_, op_, result, values, [&](GenericDraft& draft, Numbers numbers) {
          Value* made = numbers.front();
          std::size_t next = 1;
          for (const OpId step : steps) {
            const bool is_pair = step != OpId::kLinalgRsqrt;
            Value* const operands[] = {made, is_pair ? numbers[next++] : nullptr};
            made = draft.number_op(step, std::span(operands, is_pair ? 2 : 1), DType::kFloat64);
          }
          return made;
        });
  }

  /// A sum of products, plus the bias of output channel `channel` of the result.
  Value* with_bias(Value* sum, const OwnedWeight& bias, std::size_t channel) {
    GenericDraft draft = this->draft();
    const Dims loops = draft.add_loops(result_.dims());
    draft.add_operand(*sum, loops);
    draft.add_operand(*parameter(bias), {loops[channel]});
    return draft.create(result_, loops, [&](Numbers numbers) {
      return draft.number_op(OpId::kLinalgAdd, numbers, DType::kFloat64);
    });
  }

  void replace(Value* made) {
    const ValueName name = op_.result()->name();
    rewriter_.set_name(*op_.result(), made->name());
    rewriter_.set_name(*made, name);
    rewriter_.replace(op_, {&made, 1});
  }

 private:
  Rewriter& rewriter_;
  Op& op_;
  SeparatedOps ops_;
  const TensorType& result_;
};

Value* product_of(GenericDraft& draft, Numbers numbers) {
  return draft.number_op(OpId::kLinalgMul, numbers, DType::kFloat64);
}

// -- Embedding ------------------------------------------------------------------------------------

PatternMatch match_embedding(Op& op, const ParameterTypes& parameters) {
  if (const auto why = generic_rules::why_not_values(op); !why.empty()) {
    return PatternMatch::failed(why, op);
  }
  const TensorType& result = *op.result()->tensor_type();
  auto plan = weights_of(op, parameters, *result.dtype());
  if (!plan)
    return PatternMatch::failed("no weight with the elements of the result is declared", op);
  const auto ids = dims_in(*op.operand(0)), table = plan->weight.type->dims();
  const bool fits = table.size() == 2 && is_static(table) && result.rank() == ids.size() + 1 &&
                    std::ranges::equal(result.dims().first(ids.size()), ids) &&
                    result.dims().back() == table[1];
  return fits ? matched_separation(op, *std::move(plan))
              : PatternMatch::failed("the extents do not fit the weight", op);
}

void rewrite_embedding(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  WeightedBody body(rewriter, op);
  Value* const table = body.parameter(match.plan<SeparationPlan>().weight);
  GenericDraft draft = body.draft();
  const Dims loops = draft.add_loops(body.result().dims());
  const Dim row = draft.add_index(*op.operand(0), {loops.begin(), loops.end() - 1});
  draft.add_operand(*table, {row, loops.back()});
  body.replace(draft.create(body.result(), loops, [](Numbers numbers) { return numbers[1]; }));
}

// -- Linear ---------------------------------------------------------------------------------------

PatternMatch match_linear_body(Op& op, const ParameterTypes& parameters) {
  PatternMatch match = match_weighted(op, parameters);
  if (!match) return match;
  const OwnedWeight& weight = match.plan<SeparationPlan>().weight;
  const auto x = dims_in(*op.operand(0)), result = dims_in(*op.result());
  const bool fits = weight.type != nullptr && weight.type->rank() == 2 && !x.empty() &&
                    x.size() == result.size() && x.back() == weight.type->dims()[1] &&
                    result.back() == weight.type->dims()[0] &&
                    bias_fits(match.plan<SeparationPlan>());
  return fits ? match : PatternMatch::failed("the extents do not fit the weight", op);
}

void rewrite_linear(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const auto& plan = match.plan<SeparationPlan>();
  WeightedBody body(rewriter, op);
  Value* const weight = body.parameter(plan.weight);
  GenericDraft draft = body.draft();
  const Dims loops = draft.add_loops(body.result().dims());
  const Dim term = draft.add_sum(dims_in(*op.operand(0)).back(), "add");
  Dims from = loops;
  from.back() = term;
  draft.add_operand(*op.operand(0), from);
  draft.add_operand(*weight, {loops.back(), term});
  const bool has_bias = plan.bias.type != nullptr;
  const TensorType& type = has_bias ? body.doubles(body.result().dims()) : body.result();
  Value* made =
      draft.create(type, loops, [&](Numbers numbers) { return product_of(draft, numbers); });
  if (has_bias) made = body.with_bias(made, plan.bias, loops.size() - 1);
  body.replace(made);
}

// -- convolutions ---------------------------------------------------------------------------------

std::vector<std::int64_t> in_each_dimension(const Op& op, AttrKey key, std::size_t rank,
                                            std::int64_t otherwise) {
  std::vector<std::int64_t> list = OpAttributes(op).integers(key);
  list.resize(rank, list.empty() ? otherwise : list.back());
  return list;
}

PatternMatch match_convolution_body(Op& op, const ParameterTypes& parameters) {
  PatternMatch match = match_weighted(op, parameters);
  if (!match) return match;
  const OwnedWeight& weight = match.plan<SeparationPlan>().weight;
  const auto x = dims_in(*op.operand(0)), result = dims_in(*op.result());
  const std::int64_t groups = std::max<std::int64_t>(OpAttributes(op).integer(key::kGroups), 1);
  const bool fits = weight.type != nullptr && weight.type->rank() == x.size() && x.size() >= 3 &&
                    result.size() == x.size() && weight.type->dims()[0] == result[1] &&
                    (groups == 1 || result[1].constant() > 0) &&
                    result[1].constant() % groups == 0 &&
                    x[1] == Dim(weight.type->dims()[1].constant() * groups) &&
                    bias_fits(match.plan<SeparationPlan>());
  return fits ? match : PatternMatch::failed("the channels do not fit the weight", op);
}

void rewrite_convolution(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const auto& plan = match.plan<SeparationPlan>();
  WeightedBody body(rewriter, op);
  DimTable& table = body.table();
  Value* const weight = body.parameter(plan.weight);
  const auto kernel = dims_in(*weight), x = dims_in(*op.operand(0));
  const std::size_t rank = x.size() - 2;
  const auto strides = in_each_dimension(op, key::kStride, rank, 1),
             paddings = in_each_dimension(op, key::kPadding, rank, 0),
             dilations = in_each_dimension(op, key::kDilation, rank, 1);
  const std::int64_t groups = std::max<std::int64_t>(OpAttributes(op).integer(key::kGroups), 1);
  GenericDraft draft = body.draft();
  const Dims loops = draft.add_loops(body.result().dims());
  const Dim channel = draft.add_sum(kernel[1], "add");
  Dim plane = channel;
  if (groups > 1) {
    const Dim group = table.floor_divide(loops[1], Dim(kernel[0].constant() / groups));
    plane = table.add(table.multiply(group, kernel[1]), channel);
  }
  Dims from = {loops[0], plane}, taps = {loops[1], channel};
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim tap = draft.add_sum(kernel[i + 2], "add");
    const Dim first =
        table.subtract(table.multiply(loops[i + 2], Dim(strides[i])), Dim(paddings[i]));
    const Dim at = table.add(first, table.multiply(tap, Dim(dilations[i])));
    if (paddings[i] != 0) {
      draft.require_at_most(Dim(0), at);
      draft.require_at_most(at, table.subtract(draft.size(x[i + 2]), Dim(1)));
    }
    from.push_back(at);
    taps.push_back(tap);
  }
  draft.add_operand(*op.operand(0), from);
  draft.add_operand(*weight, taps);
  const bool has_bias = plan.bias.type != nullptr;
  const TensorType& type = has_bias ? body.doubles(body.result().dims()) : body.result();
  Value* made =
      draft.create(type, loops, [&](Numbers numbers) { return product_of(draft, numbers); });
  if (has_bias) made = body.with_bias(made, plan.bias, 1);
  body.replace(made);
}

// -- norms ----------------------------------------------------------------------------------------

/// How many of the last dimensions are a row.
std::size_t row_rank(const Op& op) {
  return op.is(OpId::kLinalgRMSNorm) ? 1 : OpAttributes(op).integers(key::kNormalizedShape).size();
}

PatternMatch match_norm_body(Op& op, const ParameterTypes& parameters) {
  PatternMatch match = match_weighted(op, parameters);
  if (!match) return match;
  const auto x = dims_in(*op.operand(0));
  const std::size_t rank = row_rank(op);
  if (rank < 1 || rank > x.size() || !is_static(x.last(rank))) {
    return PatternMatch::failed("the extents of a row are not numbers", op);
  }
  const auto& plan = match.plan<SeparationPlan>();
  const bool fit = std::ranges::all_of(std::array{&plan.weight, &plan.bias}, [&](const auto* each) {
    return each->type == nullptr || std::ranges::equal(each->type->dims(), x.last(rank));
  });
  return fit ? match : PatternMatch::failed("the extents do not fit the weights", op);
}

/// For each row the sum of its elements, or of their squares.
Value* row_sum(WeightedBody& body, Value& x, std::size_t rank, bool is_of_squares) {
  const auto dims = dims_in(x);
  GenericDraft draft = body.draft();
  const std::size_t outer = dims.size() - rank;
  Dims from = draft.add_loops(dims.first(outer));
  Dims to = from, extents(dims.begin(), dims.end());
  for (std::size_t i = outer; i < dims.size(); ++i) {
    from.push_back(draft.add_sum(dims[i], "add"));
    to.push_back(Dim(0));
    extents[i] = Dim(1);
  }
  draft.add_operand(x, from);
  return draft.create(body.doubles(extents), to, [&](Numbers numbers) {
    Value* const twice[] = {numbers[0], numbers[0]};
    return is_of_squares ? product_of(draft, twice) : numbers[0];
  });
}

void rewrite_norm(Rewriter& rewriter, const PatternMatch& match) {
  Op& op = match.root();
  const auto& plan = match.plan<SeparationPlan>();
  const bool is_rms = op.is(OpId::kLinalgRMSNorm);
  const OpAttributes attributes(op);
  WeightedBody body(rewriter, op);
  const std::size_t rank = row_rank(op);
  double width = 1;
  for (const Dim each : dims_in(*op.operand(0)).last(rank)) {
    width *= static_cast<double>(each.constant());
  }
  Value* x = op.operand(0);
  if (!is_rms) {
    Value* const sum = row_sum(body, *x, rank, false);
    Value* const mean =
        body.chain(body.doubles(dims_in(*sum)), {sum, body.number(width)}, {OpId::kLinalgDiv});
    x = body.chain(body.doubles(dims_in(*x)), {x, mean}, {OpId::kLinalgSub});
  }
  Value* const squares = row_sum(body, *x, rank, true);
  Value* const epsilon = body.number(attributes.number(is_rms ? key::kEpsilon : key::kEps));
  Value* const factor =
      body.chain(body.doubles(dims_in(*squares)), {squares, body.number(width), epsilon},
                 {OpId::kLinalgDiv, OpId::kLinalgAdd, OpId::kLinalgRsqrt});
  std::vector<Value*> values = {x, factor};
  std::vector<OpId> steps = {OpId::kLinalgMul};
  if (plan.weight.type != nullptr) {
    Value* weight = body.parameter(plan.weight);
    if (is_rms && attributes.boolean(key::kAddUnitOffset)) {
      weight =
          body.chain(body.doubles(dims_in(*weight)), {weight, body.number(1)}, {OpId::kLinalgAdd});
    }
    values.push_back(weight);
    steps.push_back(OpId::kLinalgMul);
  }
  if (!is_rms) {
    values.push_back(plan.bias.type != nullptr ? body.parameter(plan.bias) : body.number(0));
    steps.push_back(OpId::kLinalgAdd);
  }
  body.replace(body.chain(body.result(), values, steps));
}

}  // namespace

}  // namespace weighted_body_rules

void add_weighted_bodies(PatternSet& set, const ParameterTypes& parameters) {
  using namespace weighted_body_rules;
  const auto add = [&](std::string_view name, std::vector<std::string> roots, auto match,
                       auto rewrite) {
    set.add({.name = std::string(name),
             .roots = {.names = std::move(roots)},
             .makes = {"linalg", "cf.YieldOp"},
             .match = [match, &parameters](Op& op) { return match(op, parameters); },
             .rewrite = rewrite});
  };
  add("generic-embedding", {"linalg.EmbeddingOp"}, match_embedding, rewrite_embedding);
  add("generic-linear", {"linalg.LinearOp"}, match_linear_body, rewrite_linear);
  add("generic-convolution", {"linalg.Conv1DOp", "linalg.Conv2DOp", "linalg.Conv3DOp"},
      match_convolution_body, rewrite_convolution);
  add("generic-norm", {"linalg.RMSNormOp", "linalg.LayerNormOp"}, match_norm_body, rewrite_norm);
}

}  // namespace mir

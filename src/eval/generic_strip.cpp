// Runs the ops of a generic op's region on strips of elements: common arithmetic of doubles here,
// all else by the reference kernels of the ops.
#include "eval/generic_strip.hpp"

#include <algorithm>
#include <unordered_set>

#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "kernels/ref/common/extreme.hpp"

namespace mir::eval {

namespace {

/// Applies a function of two doubles to each pair. A step is 0 or 1.
template <class Function>
void apply(const double* a, std::int64_t a_step, const double* b, std::int64_t b_step, double* out,
           std::int64_t count) {
  constexpr Function kFunction{};
  if (a_step == 1 && b_step == 1) {
    for (std::int64_t i = 0; i < count; ++i) out[i] = kFunction(a[i], b[i]);
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) out[i] = kFunction(a[i * a_step], b[i * b_step]);
}

struct Plus {
  double operator()(double a, double b) const { return a + b; }
};
struct Minus {
  double operator()(double a, double b) const { return a - b; }
};
struct Times {
  double operator()(double a, double b) const { return a * b; }
};
struct Over {
  double operator()(double a, double b) const { return a / b; }
};
struct Opposite {
  double operator()(double a, double) const { return -a; }
};
struct Larger {
  double operator()(double a, double b) const { return ref::extreme_of<1>(a, b); }
};
struct Smaller {
  double operator()(double a, double b) const { return ref::extreme_of<-1>(a, b); }
};

constexpr StripArithmetic kPlain = {.add = apply<Plus>,
                                    .div = apply<Over>,
                                    .max = apply<Larger>,
                                    .min = apply<Smaller>,
                                    .mul = apply<Times>,
                                    .neg = apply<Opposite>,
                                    .sub = apply<Minus>};

struct DirectRow {
  OpId op;
  StripArithmetic::Function StripArithmetic::*function;
};
constexpr DirectRow kDirectRows[] = {
    {OpId::kLinalgAdd, &StripArithmetic::add},     {OpId::kLinalgDiv, &StripArithmetic::div},
    {OpId::kLinalgMaximum, &StripArithmetic::max}, {OpId::kLinalgMinimum, &StripArithmetic::min},
    {OpId::kLinalgMul, &StripArithmetic::mul},     {OpId::kLinalgNeg, &StripArithmetic::neg},
    {OpId::kLinalgSub, &StripArithmetic::sub},
};
constexpr OpTable kDirect(kDirectRows);

}  // namespace

StripArithmetic::Function plain_arithmetic(const Op& op) {
  const DirectRow* row = kDirect.find(op);
  const auto is_double = [](const Value& value) {
    const TensorType* type = value.held_type();
    return type != nullptr && type->dtype() == DType::kFloat64;
  };
  const bool fits = row != nullptr && std::ranges::all_of(op.results(), is_double) &&
                    std::ranges::all_of(op.operand_uses(),
                                        [&](const Use& use) { return is_double(*use.value()); });
  return fits ? kPlain.*(row->function) : nullptr;
}

GenericStrip::GenericStrip(const Op& op, const EvalEnvironment& environment)
    : block_(&op.first_region()->only_block()),
      environment_(&environment),
      argument_slots_(block_->arguments().size(), kNone) {}

Result<GenericStrip> GenericStrip::create(const Op& op, std::uint32_t result,
                                          const EvalEnvironment& environment,
                                          const StripArithmetic* arithmetic) {
  GenericStrip strip(op, environment);
  const Value& wanted = *strip.block_->back()->operand(result);
  strip.add_steps(wanted);
  strip.wanted_ = strip.slot_of(wanted);
  if (auto done = strip.allocate(); !done) return std::move(done).error();
  for (Step& step : strip.steps_) {
    step.direct = strip.direct_of(step, arithmetic == nullptr ? kPlain : *arithmetic);
  }
  return strip;
}

std::size_t GenericStrip::slot_of(const Value& value) {
  const auto found = std::ranges::find(slots_, &value, &Slot::value);
  if (found != slots_.end()) return static_cast<std::size_t>(found - slots_.begin());
  slots_.push_back({.value = &value, .tensor = {}});
  return slots_.size() - 1;
}

/// The ops that a value depends on, in their order.
void GenericStrip::add_steps(const Value& wanted) {
  std::unordered_set<const Value*> needed = {&wanted};
  std::vector<const Op*> ops;
  for (const Op* op : block_->reversed()) {
    const auto is_needed = [&](const Value& value) { return needed.contains(&value); };
    if (op == block_->back() || std::ranges::none_of(op->results(), is_needed)) continue;
    ops.push_back(op);
    for (const Use& use : op->operand_uses()) needed.insert(use.value());
  }
  std::ranges::reverse(ops);
  for (const Op* op : ops) {
    Step& step = steps_.emplace_back(Step{.op = op, .operands = {}, .results = {}});
    for (const Use& use : op->operand_uses()) step.operands.push_back(slot_of(*use.value()));
    for (const Value& value : op->results()) step.results.push_back(slot_of(value));
  }
  slot_of(wanted);
}

Result<void> GenericStrip::allocate() {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const TensorType* type = slot.value->held_type();
    const bool is_constant = slot.value->is_free();
    auto made = is_constant ? constant_tensor(*slot.value)
                            : Tensor::allocate(type != nullptr && type->dtype() ? *type->dtype()
                                                                                : DType::kFloat64,
                                               {kLength});
    if (!made) return std::move(made).error();
    slot.tensor = *std::move(made);
    if (is_constant) slot.step = 0;
    if (slot.value->is_argument()) argument_slots_[slot.value->index()] = i;
  }
  return {};
}

GenericStrip::Direct GenericStrip::direct_of(const Step& step,
                                             const StripArithmetic& arithmetic) const {
  const DirectRow* row = kDirect.find(*step.op);
  const auto is_double = [&](std::size_t slot) {
    return slots_[slot].tensor.dtype() == DType::kFloat64;
  };
  const bool fits = row != nullptr && std::ranges::all_of(step.operands, is_double) &&
                    std::ranges::all_of(step.results, is_double);
  return fits ? arithmetic.*(row->function) : nullptr;
}

bool GenericStrip::passes_on(std::size_t number) const {
  return argument_slots_[number] == wanted_;
}

std::optional<std::pair<std::size_t, std::size_t>> GenericStrip::product() const {
  const bool is_product = steps_.size() == 1 && steps_[0].direct != nullptr &&
                          steps_[0].op->is(OpId::kLinalgMul) && steps_[0].results[0] == wanted_;
  if (!is_product) return std::nullopt;
  const auto argument = [&](std::size_t slot) {
    return static_cast<std::size_t>(std::ranges::find(argument_slots_, slot) -
                                    argument_slots_.begin());
  };
  const std::size_t a = argument(steps_[0].operands.front()),
                    b = argument(steps_[0].operands.back());
  if (a == argument_slots_.size() || b == argument_slots_.size()) return std::nullopt;
  return std::pair(a, b);
}

Result<void> GenericStrip::run(const Step& step, std::int64_t count) {
  if (step.direct != nullptr) {
    const Slot &a = slots_[step.operands.front()], &b = slots_[step.operands.back()];
    Slot& out = slots_[step.results.front()];
    step.direct(a.tensor.as<double>().data(), a.step, b.tensor.as<double>().data(), b.step,
                out.tensor.as_mutable<double>().data(), count);
    return {};
  }
  std::vector<Tensor> operands;
  for (const std::size_t slot : step.operands) {
    const Tensor& whole = slots_[slot].tensor;
    const bool is_one = slots_[slot].step == 0;
    if (is_one && whole.rank() == 0) {
      operands.push_back(whole);
      continue;
    }
    const std::int64_t elements = is_one ? 1 : count;
    const auto bytes = *storage_bytes(whole.dtype(), static_cast<std::uint64_t>(elements));
    auto part = Tensor::borrow(whole.dtype(), is_one ? Shape{} : Shape{count},
                               whole.bytes().first(bytes), std::make_shared<Tensor>(whole));
    if (!part) return std::move(part).error();
    operands.push_back(*std::move(part));
  }
  auto computed = evaluate(*step.op, operands, *environment_);
  if (!computed) return std::move(computed).error();
  for (std::size_t i = 0; i < step.results.size(); ++i) {
    Slot& slot = slots_[step.results[i]];
    slot.tensor = std::move((*computed)[i]);
    slot.step = slot.tensor.rank() == 0 ? 0 : 1;
  }
  return {};
}

Result<StripValues> GenericStrip::compute(std::int64_t count) {
  for (const Step& step : steps_) {
    if (auto done = run(step, count); !done) return std::move(done).error();
  }
  return StripValues{slots_[wanted_].tensor.bytes().data(), slots_[wanted_].step};
}

}  // namespace mir::eval

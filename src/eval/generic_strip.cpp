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

struct DirectRow {
  OpId op;
  void (*function)(const double*, std::int64_t, const double*, std::int64_t, double*, std::int64_t);
};
/// Functions that give the bits of the reference kernels, but for those of NaNs.
constexpr DirectRow kDirectRows[] = {
    {OpId::kLinalgAdd, apply<Plus>},       {OpId::kLinalgDiv, apply<Over>},
    {OpId::kLinalgMaximum, apply<Larger>}, {OpId::kLinalgMinimum, apply<Smaller>},
    {OpId::kLinalgMul, apply<Times>},      {OpId::kLinalgNeg, apply<Opposite>},
    {OpId::kLinalgSub, apply<Minus>},
};
constexpr OpTable kDirect(kDirectRows);

}  // namespace

GenericStrip::GenericStrip(const Op& op, const EvalEnvironment& environment)
    : block_(&op.first_region()->only_block()),
      environment_(&environment),
      argument_slots_(block_->arguments().size(), kNone) {}

Result<GenericStrip> GenericStrip::create(const Op& op, std::uint32_t result,
                                          const EvalEnvironment& environment) {
  GenericStrip strip(op, environment);
  const Value& wanted = *strip.block_->back()->operand(result);
  strip.add_steps(wanted);
  strip.wanted_ = strip.slot_of(wanted);
  if (auto done = strip.allocate(); !done) return std::move(done).error();
  for (Step& step : strip.steps_) step.direct = strip.direct_of(step);
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

GenericStrip::Direct GenericStrip::direct_of(const Step& step) const {
  const DirectRow* row = kDirect.find(*step.op);
  const auto is_double = [&](std::size_t slot) {
    return slots_[slot].tensor.dtype() == DType::kFloat64;
  };
  const bool fits = row != nullptr && std::ranges::all_of(step.operands, is_double) &&
                    std::ranges::all_of(step.results, is_double);
  return fits ? row->function : nullptr;
}

bool GenericStrip::passes_on(std::size_t number) const {
  return argument_slots_[number] == wanted_;
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
    if (slots_[slot].step == 0) {
      operands.push_back(whole);
      continue;
    }
    const auto bytes = *storage_bytes(whole.dtype(), static_cast<std::uint64_t>(count));
    auto part = Tensor::borrow(whole.dtype(), {count}, whole.bytes().first(bytes),
                               std::make_shared<Tensor>(whole));
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

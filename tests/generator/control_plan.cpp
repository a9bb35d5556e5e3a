// Conditions, loops and branches of plans. Loops end after a few iterations, and no decision
// depends on the last bits of a result, so that kernels of all kinds take the same way.
#include <fmt/format.h>

#include <algorithm>

#include "planner.hpp"

namespace mir::test {

namespace {

constexpr int kMostDepth = 3;

}  // namespace

class Planner::Scope {
 public:
  Scope(Planner& planner, PlannedRegion& region)
      : planner_(planner),
        steps_(planner.steps_),
        visible_(planner.visible_),
        input_count_(planner.graph_.inputs.size()) {
    planner.steps_ = &region.steps;
    ++planner.depth_;
    planner.visible_.insert(planner.visible_.end(), region.arguments.begin(),
                            region.arguments.end());
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope() {
    const auto& inputs = planner_.graph_.inputs;
    visible_.insert(visible_.end(), inputs.begin() + static_cast<std::ptrdiff_t>(input_count_),
                    inputs.end());
    planner_.visible_ = std::move(visible_);
    planner_.steps_ = steps_;
    --planner_.depth_;
  }

 private:
  Planner& planner_;
  std::vector<PlannedStep>* steps_;
  std::vector<std::size_t> visible_;
  std::size_t input_count_;
};

std::size_t Planner::compute(std::string_view op, std::vector<std::size_t> operands,
                             const TensorType* type, std::vector<NamedAttr> attributes) {
  PlannedStep step;
  step.op.spelling = fmt::format("linalg.CPU.{}", op);
  step.op.attributes = std::move(attributes);
  step.operands = std::move(operands);
  const std::size_t result = add_value(type);
  step.results = {result};
  add_step(std::move(step));
  return result;
}

std::size_t Planner::number(const TensorType* type, std::int64_t value) {
  return add_value(type, fmt::format("[constant:[{}]]", value));
}

std::size_t Planner::recent() {
  if (visible_.empty()) {
    const Dim dims[] = {Dim(2)};
    return operand(context_.tensor(dims, DType::kFloat32));
  }
  const std::size_t last = std::min<std::size_t>(visible_.size(), one_in(3) ? 20 : 3);
  return visible_[visible_.size() - 1 - below(random_, last)];
}

std::vector<std::size_t> Planner::some_values() {
  std::vector<std::size_t> values;
  for (std::uint64_t n = below(random_, 4); n != 0; --n) values.push_back(recent());
  return values;
}

std::vector<const TensorType*> Planner::types_of(const std::vector<std::size_t>& values) const {
  std::vector<const TensorType*> types;
  for (const std::size_t value : values) types.push_back(plan_.values[value].type);
  return types;
}

std::vector<std::size_t> Planner::arguments(const std::vector<const TensorType*>& types) {
  std::vector<std::size_t> made;
  for (const TensorType* type : types) made.push_back(add_value(type));
  return made;
}

bool Planner::is_on_cpu(std::size_t value) const {
  return context_.text(plan_.values[value].type->device()) == "CPU";
}

std::size_t Planner::changed(std::size_t value) {
  const TensorType* type = plan_.values[value].type;
  if (type->dtype() != DType::kFloat32 || type->encoding() != nullptr || !is_on_cpu(value)) {
    return value;
  }
  switch (below(random_, 4)) {
    case 0:
      return compute("NegOp", {value}, type);
    case 1:
      return compute("AddOp", {value, value}, type);
    default:
      return value;
  }
}

std::size_t Planner::index() {
  const std::int64_t most = 2 + static_cast<std::int64_t>(below(random_, 3));
  if (!indices_.empty() && one_in(2)) {
    const std::size_t index = indices_[below(random_, indices_.size())];
    const TensorType* type = plan_.values[index].type;
    return compute("RemOp", {index, number(type, most)}, type);
  }
  const Dim dims[] = {Dim(1)};
  const TensorType* type = context_.tensor(dims, DType::kInt64);
  const std::size_t value = recent();
  if (plan_.values[value].type->rank() == 0 || !is_on_cpu(value) || one_in(6)) {
    return number(type, static_cast<std::int64_t>(below(random_, 4)));
  }
  const NamedAttr dim{context_.intern("dim"), context_.integer(0)};
  const std::size_t extent = compute("ExtentOp", {value}, type, {dim});
  return compute("RemOp", {extent, number(type, most)}, type);
}

std::size_t Planner::condition() {
  const Dim dims[] = {Dim(1)};
  const TensorType* truth = context_.tensor(dims, DType::kBool);
  if (one_in(8)) return number(truth, static_cast<std::int64_t>(below(random_, 2)));
  if (one_in(3)) {
    const TensorType* type = context_.tensor(dims, DType::kFloat32);
    const std::size_t input = add_value(type);
    graph_.inputs.push_back(input);
    visible_.push_back(input);
    return compute("GreaterOp", {input, number(type, 0)}, truth);
  }
  const std::size_t at = index();
  const TensorType* type = plan_.values[at].type;
  return compute(one_in(2) ? "EqualOp" : "LessOp",
                 {at, number(type, static_cast<std::int64_t>(below(random_, 3)))}, truth);
}

void Planner::add_steps() {
  for (std::uint64_t n = below(random_, 4); n != 0; --n) {
    if (depth_ < kMostDepth && one_in(4)) {
      control();
    } else if (options_.recalls && !plan_.graphs.empty() && one_in(8)) {
      const auto callee = static_cast<int>(below(random_, plan_.graphs.size()));
      if (!keeps_state(callee)) call(callee);
    } else {
      op();
    }
  }
}

PlannedRegion Planner::arm(std::vector<const TensorType*>& types, bool is_first) {
  PlannedRegion made;
  const Scope scope(*this, made);
  add_steps();
  if (is_first) types = types_of(some_values());
  for (const TensorType* type : types) made.outputs.push_back(changed(operand(type)));
  return made;
}

void Planner::add_if() {
  PlannedStep step;
  step.control = PlannedControl::kIf;
  step.in_blocks = one_in(2);
  step.operands = {condition()};
  std::vector<const TensorType*> types;
  step.regions.push_back(arm(types, true));
  step.regions.push_back(arm(types, false));
  results(step, types);
  add_step(std::move(step));
}

void Planner::add_switch() {
  PlannedStep step;
  step.control = PlannedControl::kSwitch;
  step.in_blocks = true;
  step.operands = {index()};
  std::vector<const TensorType*> types;
  step.regions.push_back(arm(types, true));
  for (std::int64_t index = 0; index < 3; ++index) {
    if (one_in(3)) continue;
    step.cases.push_back(index);
    step.regions.push_back(arm(types, false));
  }
  results(step, types);
  add_step(std::move(step));
}

void Planner::add_for() {
  PlannedStep step;
  step.control = PlannedControl::kFor;
  const Dim dims[] = {Dim(1)};
  const TensorType* type = context_.tensor(dims, one_in(2) ? DType::kInt32 : DType::kInt64);
  std::size_t last = 0;
  if (one_in(2)) {
    last = index();
    type = plan_.values[last].type;
  } else {
    last = number(type, static_cast<std::int64_t>(below(random_, 5)));
  }
  step.operands = {number(type, static_cast<std::int64_t>(below(random_, 2))), last,
                   number(type, 1 + static_cast<std::int64_t>(below(random_, 2)))};
  const std::vector<std::size_t> carried = some_values();
  const std::vector<const TensorType*> types = types_of(carried);
  step.operands.insert(step.operands.end(), carried.begin(), carried.end());
  PlannedRegion body{.arguments = arguments(types), .steps = {}, .outputs = {}};
  const std::vector<std::size_t> inside = body.arguments;
  const std::size_t at = add_value(type);
  {
    const Scope scope(*this, body);
    indices_.push_back(at);
    add_steps();
    for (const std::size_t value : inside) {
      const TensorType* passed = plan_.values[value].type;
      body.outputs.push_back(changed(one_in(2) ? value : operand(passed)));
    }
    indices_.pop_back();
  }
  body.arguments.insert(body.arguments.begin(), at);
  step.regions.push_back(std::move(body));
  results(step, types);
  add_step(std::move(step));
}

void Planner::add_while() {
  PlannedStep step;
  step.control = PlannedControl::kWhile;
  step.in_blocks = one_in(2);
  const Dim dims[] = {Dim(1)};
  const TensorType* type = context_.tensor(dims, DType::kInt32);
  const TensorType* truth = context_.tensor(dims, DType::kBool);
  const std::vector<std::size_t> carried = some_values();
  const std::vector<const TensorType*> types = types_of(carried);
  PlannedRegion test{.arguments = arguments(types), .steps = {}, .outputs = {}};
  const std::size_t tested = add_value(type);
  std::vector<const TensorType*> passed_types;
  std::vector<std::size_t> seen;
  {
    const Scope scope(*this, test);
    indices_.push_back(tested);
    add_steps();
    const std::size_t most = number(type, static_cast<std::int64_t>(below(random_, 4)));
    std::size_t goes_on = compute("LessOp", {tested, most}, truth);
    if (one_in(2)) goes_on = compute("AndOp", {goes_on, condition()}, truth);
    const std::vector<std::size_t> passed = some_values();
    passed_types = types_of(passed);
    test.outputs = {goes_on, tested};
    test.outputs.insert(test.outputs.end(), passed.begin(), passed.end());
    indices_.pop_back();
    seen = visible_;
  }
  // The block that decides dominates the others.
  if (step.in_blocks && one_in(2)) visible_ = seen;
  PlannedRegion body{.arguments = arguments(passed_types), .steps = {}, .outputs = {}};
  const std::size_t counted = add_value(type);
  {
    const Scope scope(*this, body);
    indices_.push_back(counted);
    add_steps();
    body.outputs.push_back(compute("AddOp", {counted, number(type, 1)}, type));
    for (const TensorType* each : types) body.outputs.push_back(changed(operand(each)));
    indices_.pop_back();
  }
  test.arguments.insert(test.arguments.begin(), tested);
  body.arguments.insert(body.arguments.begin(), counted);
  step.operands = {number(type, 0)};
  step.operands.insert(step.operands.end(), carried.begin(), carried.end());
  step.regions.push_back(std::move(test));
  step.regions.push_back(std::move(body));
  step.results = {add_value(type)};
  results(step, passed_types);
  add_step(std::move(step));
}

void Planner::control() {
  plan_.has_control_flow = true;
  switch (below(random_, 4)) {
    case 0:
      return add_if();
    case 1:
      return add_switch();
    case 2:
      return add_for();
    default:
      return add_while();
  }
}

}  // namespace mir::test

#include "graph_plan.hpp"

#include <algorithm>

#include "planner.hpp"

namespace mir::test {

Plan Planner::run() {
  for (int i = 0; i <= options_.graphs; ++i) graph(i, i == options_.graphs);
  return std::move(plan_);
}

void Planner::graph(int index, bool is_last) {
  graph_ = {.name = is_last ? "main" : "model." + std::to_string(index),
            .inputs = {},
            .steps = {},
            .outputs = {}};
  visible_.clear();
  steps_ = &graph_.steps;
  step_count_ = 0;
  // Graphs that nobody calls yet: the last one calls what is left.
  std::vector<int> calls;
  std::erase_if(uncalled_, [&](int callee) {
    const bool taken = is_last || one_in(2);
    if (taken) calls.push_back(callee);
    return taken;
  });
  const bool repeat = options_.recalls && options_.form != GeneratorOptions::Form::kProgram;
  if (repeat && index > 0 && one_in(3)) {
    const auto callee = static_cast<int>(below(random_, static_cast<std::uint64_t>(index)));
    if (!keeps_state(callee)) calls.push_back(callee);
  }
  for (int left = options_.ops; left > 0 || !calls.empty(); --left) {
    if (!calls.empty() && (left <= 0 || one_in(4))) {
      call(calls.back());
      calls.pop_back();
    } else if (options_.control_flow && one_in(4)) {
      control();
    } else {
      op();
    }
  }
  choose_outputs();
  if (is_last) bind_symbols();
  plan_.graphs.push_back(std::move(graph_));
  if (!is_last) uncalled_.push_back(index);
}

bool Planner::keeps_state(int graph) const {
  return std::ranges::any_of(plan_.graphs[static_cast<std::size_t>(graph)].steps,
                             [&](const PlannedStep& step) {
                               if (step.callee >= 0) return keeps_state(step.callee);
                               return step.op.row == context_.info(OpId::kLinalgKVCache).row;
                             });
}

std::size_t Planner::add_value(const TensorType* type, std::string constant) {
  plan_.values.push_back({type, std::move(constant)});
  return plan_.values.size() - 1;
}

std::size_t Planner::operand(const TensorType* type) {
  std::vector<std::size_t> fitting;
  for (const std::size_t value : visible_) {
    if (plan_.values[value].type == type) fitting.push_back(value);
  }
  if (!fitting.empty() && !one_in(5)) return fitting[below(random_, fitting.size())];
  const std::size_t input = add_value(type);
  graph_.inputs.push_back(input);
  visible_.push_back(input);
  return input;
}

void Planner::results(PlannedStep& step, std::span<const TensorType* const> types) {
  for (const TensorType* type : types) step.results.push_back(add_value(type));
  visible_.insert(visible_.end(), step.results.begin(), step.results.end());
}

void Planner::add_step(PlannedStep step) {
  steps_->push_back(std::move(step));
  ++step_count_;
}

void Planner::call(int callee) {
  PlannedStep step;
  step.callee = callee;
  const PlannedGraph& called = plan_.graphs[static_cast<std::size_t>(callee)];
  for (const std::size_t input : called.inputs) {
    step.operands.push_back(operand(plan_.values[input].type));
  }
  std::vector<const TensorType*> types;
  for (const std::size_t output : called.outputs) types.push_back(plan_.values[output].type);
  results(step, types);
  add_step(std::move(step));
}

/// Programs name ops by a type name that some ops share; only one of them can be meant. Regions are
/// planned apart from rows.
bool Planner::can_occur(const OpRow& row) const {
  if (row.regions.max != 0) return false;
  const bool is_portable = options_.form == GeneratorOptions::Form::kPortable;
  if (has(row.traits, Trait::kPortableOnly) && !(is_portable && options_.own_ops)) return false;
  return options_.form != GeneratorOptions::Form::kProgram ||
         context_.info(*context_.find_kernel(row.type_name, 0)).row == &row;
}

bool Planner::is_too_large(const TensorType& type) const {
  constexpr std::int64_t kSymbol = 4;
  std::int64_t count = 1;
  for (const Dim dim : type.dims()) {
    count *= dim.is_constant() ? std::max<std::int64_t>(dim.constant(), 1) : kSymbol;
    if (count > options_.most_elements) return true;
  }
  return false;
}

bool Planner::is_too_large(const OpPattern& op) const {
  if (options_.most_elements == 0) return false;
  const auto parameters = templates_.parameters(op);
  const auto is_large = [&](const TensorType* type) { return is_too_large(*type); };
  return std::ranges::any_of(op.operands, is_large) || std::ranges::any_of(op.results, is_large) ||
         (parameters && std::ranges::any_of(*parameters, [&](const Parameter& each) {
            return is_too_large(*each.type);
          }));
}

void Planner::op() {
  PlannedStep step;
  const auto patterns = templates_.all();
  while (true) {
    const OpPattern& pattern = patterns[below(random_, patterns.size())];
    if (!can_occur(*pattern.row)) continue;
    if (depth_ > 0 && pattern.row->effects != Effect::kNone) continue;
    step.op = templates_.vary(pattern, random_, options_.symbolic);
    if (is_too_large(step.op)) continue;
    if (name(step)) break;
  }
  for (std::size_t i = 0; i < step.op.operands.size(); ++i) {
    const std::string& constant = step.op.operand_attributes[i];
    step.operands.push_back(constant.empty() ? operand(step.op.operands[i])
                                             : add_value(step.op.operands[i], constant));
  }
  results(step, step.op.results);
  add_step(std::move(step));
}

/// Gives the op a name, parameters and state; false where that cannot be. In a portable module
/// names that own nothing and names of caches may be any, so they are drawn from all that occur;
/// each cache has one op.
bool Planner::name(PlannedStep& step) {
  const auto parameters = templates_.parameters(step.op);
  if (!parameters) return false;
  const std::string path = graph_.name + "." + std::to_string(step_count_);
  if (!parameters->empty()) {
    step.path = path;
  } else if (one_in(2)) {
    step.path = drawn_name(path);
  }
  for (const Parameter& parameter : *parameters) {
    plan_.parameters.push_back({path + parameter.suffix, parameter.type});
  }
  for (NamedAttr& attribute : step.op.attributes) {
    const std::string_view key = context_.text(attribute.key);
    if (key == "cache") attribute.value = context_.symbol_ref(cache_name(path));
    if (key == "name" && step.op.row == context_.info(OpId::kLinalgParam).row) {
      attribute.value = context_.string(path);
      plan_.parameters.push_back({path, step.op.results.front()});
    }
  }
  names_.push_back(path);
  return true;
}

std::string Planner::drawn_name(const std::string& own) {
  if (options_.form != GeneratorOptions::Form::kPortable || names_.empty() || !one_in(3))
    return own;
  return names_[below(random_, names_.size())];
}

std::string Planner::cache_name(const std::string& path) {
  std::string name = drawn_name("cache." + path);
  if (!caches_.insert(name).second) name = *caches_.insert("cache." + path).first;
  names_.push_back(name);
  return name;
}

void Planner::choose_outputs() {
  std::vector<std::size_t> made;
  for (const PlannedStep& step : graph_.steps) {
    made.insert(made.end(), step.results.begin(), step.results.end());
  }
  // What a graph takes may be what it gives.
  made.insert(made.end(), graph_.inputs.begin(), graph_.inputs.end());
  for (std::uint64_t n = 1 + below(random_, 3); n != 0 && !made.empty(); --n) {
    const auto at = made.begin() + static_cast<std::ptrdiff_t>(below(random_, made.size()));
    graph_.outputs.push_back(*at);
    made.erase(at);
  }
}

/// Every symbol of the module is the whole extent of some input.
void Planner::bind_symbols() {
  std::vector<Symbol> needed, bound;
  for (const PlannedValue& value : plan_.values) {
    for (const Dim dim : value.type->dims()) {
      for (const Symbol symbol : context_.dims().symbols(dim)) needed.push_back(symbol);
    }
  }
  for (const std::size_t input : graph_.inputs) {
    for (const Dim dim : plan_.values[input].type->dims()) {
      const auto symbols = context_.dims().symbols(dim);
      if (symbols.size() == 1 && context_.dims().symbol(context_.text(symbols[0])) == dim) {
        bound.push_back(symbols[0]);
      }
    }
  }
  for (const Symbol symbol : needed) {
    if (std::find(bound.begin(), bound.end(), symbol) != bound.end()) continue;
    const Dim dims[] = {context_.dims().symbol(context_.text(symbol))};
    graph_.inputs.push_back(add_value(context_.tensor(dims, DType::kFloat32)));
    bound.push_back(symbol);
  }
}

Plan make_plan(IRContext& context, const GeneratorOptions& options) {
  return Planner(context, options).run();
}

}  // namespace mir::test

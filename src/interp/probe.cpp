// Names the place of each result of a run, and matches places against patterns.
#include "interp/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "mir/codes/inputs.hpp"
#include "mir/codes/usage.hpp"
#include "mir/module.hpp"
#include "support/wildcards.hpp"

namespace mir {

namespace {

/// The symbol of the graph that a call enters, or the name of the module.
Symbol graph_of(const Schedule& schedule, const Call& call) {
  return call.graph == nullptr ? schedule.module().name() : call.graph->symbol();
}

}  // namespace

std::string render(const ResultPlace& place) {
  const std::string again =
      place.activation == 0 ? std::string() : fmt::format("#{}", place.activation);
  return fmt::format("@{}{}%{}", place.graph, again, place.value);
}

/// Returns the value in place of a result as ops outside of fused ops see it.
const Value& outermost(const Value& result) {
  const Op* op = result.defining_op();
  const Op* around = op == nullptr ? nullptr : op->parent_op();
  if (around == nullptr || !around->is(OpId::kGraphFused)) return result;
  const Op* end = op->block()->terminator();
  for (std::uint32_t i = 0; end != nullptr && i < around->result_count(); ++i) {
    if (i < end->operand_count() && end->operand(i) == &result)
      return outermost(*around->result(i));
  }
  return result;
}

ResultPlaces::ResultPlaces(const Schedule& schedule) : schedule_(&schedule) {
  find_activations();
  std::map<std::pair<std::uint32_t, const Value*>, Result> made;  // by activation and value
  for (std::size_t step = 0; step < schedule.steps().size(); ++step) {
    const Step& info = schedule.steps()[step];
    for (std::uint32_t i = 0; i < info.op->result_count(); ++i) {
      made.emplace(std::pair(info.call, info.op->result(i)), Result(step, i));
    }
  }
  const IRContext& context = schedule.module().context();
  // Inner calls have higher numbers: what they return is known before outer calls return it.
  for (auto number = static_cast<std::uint32_t>(schedule.calls().size()); number-- > 1;) {
    const Call& call = schedule.calls()[number];
    // The values that several blocks return are results of no op.
    const Region& body = *call.graph->first_region();
    const Op* last = body.has_several_blocks() ? nullptr : body.only_block().back();
    for (std::uint32_t i = 0; last != nullptr && i < call.op->result_count(); ++i) {
      const auto found = made.find({number, last->operand(i)});
      if (found == made.end()) continue;
      of_calls_[found->second].push_back(place(call.caller, *call.op->result(i), *call.op));
      if (i == 0) {
        graphs_[found->second].emplace_back(context.text(call.graph->symbol()));
      }
      made.emplace(std::pair(call.caller, call.op->result(i)), found->second);
    }
  }
}

/// Activations are numbered in the order in which the run enters them.
void ResultPlaces::find_activations() {
  const IRContext& context = schedule_->module().context();
  std::map<std::string, std::size_t, std::less<>> entered;
  const auto enter = [&](Calls calls, std::string_view graph) {
    const auto [found, is_new] = activations_.try_emplace(std::move(calls));
    if (is_new) found->second = {std::string(graph), entered[std::string(graph)]++};
  };
  const auto calls = schedule_->calls();
  for (std::uint32_t call = 0; call < calls.size(); ++call) {
    enter({call, {}}, context.text(graph_of(*schedule_, calls[call])));
  }
  for (const Step& step : schedule_->steps()) {
    const auto inlined = context.locations().inlined_calls(step.op->location());
    Calls around{step.call, {}};
    // From the outermost call on.
    for (auto each = inlined.rbegin(); each != inlined.rend(); ++each) {
      around.second.insert(around.second.begin(), each->at.raw);
      enter(around, each->graph);
    }
  }
}

ResultPlaces::Calls ResultPlaces::calls_of(std::uint32_t call, const Op& op) const {
  Calls calls{call, {}};
  for (const InlinedCall& each :
       schedule_->module().context().locations().inlined_calls(op.location())) {
    calls.second.push_back(each.at.raw);
  }
  return calls;
}

ResultPlace ResultPlaces::place(std::uint32_t call, const Value& value, const Op& op) const {
  const auto found = activations_.find(calls_of(call, op));
  const Activation& activation =
      found == activations_.end() ? activations_.at({call, {}}) : found->second;
  return {.graph = activation.graph,
          .activation = activation.number,
          .value = value_name(outermost(value), schedule_->module().context()),
          .op = std::string(op.name())};
}

ResultPlace ResultPlaces::of(std::size_t step, std::uint32_t result) const {
  const Step& info = schedule_->steps()[step];
  return place(info.call, *info.op->result(result), *info.op);
}

std::span<const ResultPlace> ResultPlaces::of_calls(std::size_t step, std::uint32_t result) const {
  const auto found = of_calls_.find({step, result});
  if (found == of_calls_.end()) return {};
  return found->second;
}

std::vector<std::string> ResultPlaces::layers(std::size_t step, std::uint32_t result) const {
  std::vector<std::string> names;
  const Op& op = *schedule_->steps()[step].op;
  if (result == 0 && op.has_path()) {
    names.emplace_back(schedule_->module().context().text(op.path()));
  }
  const auto found = graphs_.find({step, result});
  if (found != graphs_.end()) names.insert(names.end(), found->second.begin(), found->second.end());
  return names;
}

bool Probe::Pattern::selects(const ResultPlace& place) const {
  return fits_wildcards(graph, place.graph) && fits_wildcards(value, place.value) &&
         fits_wildcards(op, place.op);
}

Result<Probe> Probe::parse(std::string_view patterns) {
  Probe probe;
  for (bool more = true; more;) {
    const auto comma = patterns.find(',');
    const std::string_view text = patterns.substr(0, comma);
    Pattern pattern;
    pattern.text = text;
    const auto value = text.find('%');
    if (value != text.npos) pattern.value = text.substr(value + 1);
    if (text.starts_with('@')) {
      pattern.graph = text.substr(1, value == text.npos ? value : value - 1);
    } else if (value != 0) {
      pattern.op = text;
    }
    const bool empty = pattern.graph.empty() || pattern.value.empty() || pattern.op.empty();
    if (empty || (value != text.npos && value != 0 && !text.starts_with('@'))) {
      return Error{diag::kUsage,
                   fmt::format("'{}' selects no results, expected %VALUE, @GRAPH, @GRAPH%VALUE or "
                               "an op's name",
                               text)};
    }
    probe.patterns_.push_back(std::move(pattern));
    more = comma != patterns.npos;
    if (more) patterns.remove_prefix(comma + 1);
  }
  return probe;
}

std::vector<std::string_view> Probe::texts() const {
  std::vector<std::string_view> all;
  for (const Pattern& each : patterns_) all.emplace_back(each.text);
  return all;
}

bool Probe::selects(const ResultPlace& place) const {
  return std::ranges::any_of(patterns_, [&](const Pattern& each) { return each.selects(place); });
}

std::optional<ResultPlace> Probe::selected(const ResultPlaces& places, std::size_t step,
                                           std::uint32_t result) const {
  ResultPlace own = places.of(step, result);
  if (selects(own)) return own;
  for (const ResultPlace& call : places.of_calls(step, result)) {
    if (selects(call)) return call;
  }
  return std::nullopt;
}

Result<void> Probe::check(std::span<const Schedule* const> schedules) const {
  for (const Pattern& pattern : patterns_) {
    bool found = false;
    for (const Schedule* schedule : schedules) {
      const ResultPlaces places(*schedule);
      for (std::size_t step = 0; step < schedule->steps().size() && !found; ++step) {
        const std::size_t count = schedule->steps()[step].op->result_count();
        for (std::uint32_t i = 0; i < count; ++i) {
          found |= pattern.selects(places.of(step, i));
          for (const ResultPlace& call : places.of_calls(step, i)) found |= pattern.selects(call);
        }
      }
    }
    if (found) continue;
    return Error{diag::kPortUnknown, fmt::format("no result is meant by '{}'", pattern.text)};
  }
  return {};
}

}  // namespace mir

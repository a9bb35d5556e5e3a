// Repeats ops of a body and leaves out those whose condition is false.
#include <fmt/format.h>

#include <unordered_map>
#include <utility>

#include "mir/context.hpp"
#include "patterns/plan_graph.hpp"

namespace mir::patterns {

namespace {

/// A body is unfolded to no more ops than this.
constexpr std::size_t kMostUnfolded = std::size_t{1} << 17;

class Unfolder {
 public:
  Unfolder(const GraphTemplate& graph, const Bindings& bindings, IRContext& context)
      : context_(context), bindings_(bindings), made_{.values = graph.values} {
    made_.input_count = graph.input_count;
  }

  bool run(const GraphTemplate& graph) {
    for (const OpTemplate& op : graph.ops) {
      if (!add(op, made_.ops)) return false;
    }
    made_.results = current(graph.results);
    return true;
  }

  GraphTemplate take() { return std::move(made_); }
  std::string take_reason() { return std::move(reason_); }
  const OpTemplate* fault() const { return fault_; }

 private:
  bool fail(const OpTemplate& op, std::string reason) {
    fault_ = &op;
    reason_ = std::move(reason);
    return false;
  }

  bool add(const OpTemplate& op, std::vector<OpTemplate>& into) {
    std::vector<std::uint32_t> operands = current(op.operands);
    if (!op.repeat) return add_once(op, operands, op.results, into);
    const Attr* const count = evaluate(op.repeat->count, bindings_, context_);
    const auto most = static_cast<std::int64_t>(kMostUnfolded);
    if (count == nullptr || count->kind() != AttrKind::kInt || count->integer() < 0 ||
        count->integer() > most) {
      return fail(op, fmt::format("'{}' would be repeated {} times, expected 0 to {}",
                                  op.info->name, count == nullptr ? "?" : count->spelling(), most));
    }
    const Attr*& number = bindings_.variables[op.repeat->variable];
    const auto last = count->integer() - 1;
    if (last < 0) pass(operands, op.results);
    for (std::int64_t i = 0; i <= last; ++i) {
      number = context_.integer(i);
      const bool is_last = i == last;
      // The next one has the results of this one as its first operands.
      const auto results = is_last ? op.results : copies_of(op.results, i);
      OpTemplate copy = op;
      copy.repeat.reset();
      copy.number = {op.repeat->variable, number};
      if (!add_once(copy, operands, results, into)) {
        fault_ = &op;
        return false;
      }
      for (std::size_t r = 0; r < results.size(); ++r) operands[r] = current(results[r]);
    }
    number = nullptr;
    return true;
  }

  /// Adds an op, or passes its operands on if its condition is false.
  bool add_once(const OpTemplate& op, const std::vector<std::uint32_t>& operands,
                const std::vector<std::uint32_t>& results, std::vector<OpTemplate>& into) {
    if (op.condition) {
      const Attr* const truth = evaluate(*op.condition, bindings_, context_);
      if (truth == nullptr || truth->kind() != AttrKind::kBool) {
        return fail(
            op, fmt::format("the condition of '{}' is {}, expected true or false", op.info->name,
                            truth == nullptr ? "unknown" : truth->spelling()));
      }
      if (!truth->boolean()) {
        pass(operands, results);
        return true;
      }
    }
    if (++count_ > kMostUnfolded) {
      return fail(op, fmt::format("a body has more than {} operations", kMostUnfolded));
    }
    OpTemplate copy = op;
    copy.operands = operands;
    copy.results = results;
    copy.condition.reset();
    for (std::size_t i = 0; i < copy.regions.size(); ++i) {
      copy.regions[i].ops.clear();
      for (const OpTemplate& inner : op.regions[i].ops) {
        if (!add(inner, copy.regions[i].ops)) return false;
      }
    }
    into.push_back(std::move(copy));
    return true;
  }

  void pass(const std::vector<std::uint32_t>& operands, const std::vector<std::uint32_t>& results) {
    for (std::size_t i = 0; i < results.size(); ++i) passed_[results[i]] = operands[i];
  }

  std::vector<std::uint32_t> copies_of(const std::vector<std::uint32_t>& values, std::int64_t i) {
    std::vector<std::uint32_t> copies;
    for (const std::uint32_t each : values) {
      copies.push_back(static_cast<std::uint32_t>(made_.values.size()));
      ValueTemplate copy = made_.values[each];
      if (!copy.name.empty()) copy.name += fmt::format("_{}", i);
      made_.values.push_back(std::move(copy));
    }
    return copies;
  }

  std::uint32_t current(std::uint32_t value) const {
    const auto passed = passed_.find(value);
    return passed == passed_.end() ? value : passed->second;
  }
  std::vector<std::uint32_t> current(std::vector<std::uint32_t> values) const {
    for (std::uint32_t& each : values) each = current(each);
    return values;
  }

  IRContext& context_;
  Bindings bindings_;
  GraphTemplate made_;
  std::unordered_map<std::uint32_t, std::uint32_t> passed_;  // results of ops that are left out
  std::size_t count_ = 0;
  std::string reason_;
  const OpTemplate* fault_ = nullptr;
};

}  // namespace

std::optional<GraphTemplate> unfold(const GraphTemplate& graph, const Bindings& bindings,
                                    IRContext& context, std::string& reason,
                                    const OpTemplate*& fault) {
  Unfolder unfolder(graph, bindings, context);
  if (unfolder.run(graph)) return unfolder.take();
  reason = unfolder.take_reason();
  fault = unfolder.fault();
  return std::nullopt;
}

}  // namespace mir::patterns

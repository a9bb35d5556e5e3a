// Finds repetitions by comparing ops and the distances of their operands.
#include "text/emit/repetitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

constexpr std::size_t kLeast = 4;  // ops of a copy

/// Numbers that are equal for ops which are equal up to names.
class Structures {
 public:
  std::uint32_t of(const Op& op) {
    if (const auto known = ops_.find(&op); known != ops_.end()) return known->second;
    const std::uint32_t own = number(text_of(op));
    ops_.emplace(&op, own);
    return own;
  }

  /// Counts the ops of an op, of its regions and of the graphs called there, up to a limit.
  static std::size_t size_of(const Op& op, std::size_t limit, int nesting = 0) {
    constexpr int kDeepest = 8;
    std::size_t size = 1;
    const Op* callee = called_graph(op);
    for_each_child(callee == nullptr ? op : *callee, [&](const Op& inner) {
      if (size < limit && nesting < kDeepest) size += size_of(inner, limit - size, nesting + 1);
    });
    return size;
  }

 private:
  std::uint32_t number(std::string text) {
    const auto next = static_cast<std::uint32_t>(numbers_.size());
    return numbers_.emplace(std::move(text), next).first->second;
  }

  std::string text_of(const Op& op) {
    const IRContext& context = op.module().context();
    std::string text(op.name());
    for (const NamedAttr& each : op.attributes()) {
      const bool is_name = each.value == nullptr || each.key == key::kLayerIdx ||
                           each.value->kind() == AttrKind::kString ||
                           each.value->kind() == AttrKind::kSymbolRef;
      text += fmt::format(" {}:{}", context.text(each.key), is_name ? "" : each.value->spelling());
    }
    const auto type = [](const Value& value) {
      return value.type() == nullptr ? std::string_view() : value.type()->spelling();
    };
    for (const Use& use : op.operand_uses()) text += fmt::format(" ({}", type(*use.value()));
    for (const Value& result : op.results()) text += fmt::format(" -> {}", type(result));
    if (const Op* callee = called_graph(op)) text += fmt::format(" call {}", of_graph(*callee));
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      text += " {" + text_of(*region) + "}";
    }
    return text;
  }

  std::string text_of(const Region& region) {
    std::string text;
    for_each_child(region, [&](const Op& op) { text += fmt::format("{}\n", of(op)); });
    return text;
  }

  std::uint32_t of_graph(const Op& graph) {
    if (const auto known = graphs_.find(&graph); known != graphs_.end()) return known->second;
    graphs_.emplace(&graph, kOpen);  // a graph that calls itself
    std::string text;
    for (Region* region = graph.first_region(); region != nullptr; region = region->next()) {
      text += text_of(*region);
    }
    return graphs_[&graph] = number(std::move(text));
  }

  static constexpr std::uint32_t kOpen = ~0U;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<const Op*, std::uint32_t> ops_, graphs_;
};

class Search {
 public:
  Search(std::span<const Op* const> ops, Structures& structures) : ops_(ops) {
    for (std::size_t i = 0; i < ops.size(); ++i) {
      numbers_.push_back(structures.of(*ops[i]));
      ends_.push_back((i == 0 ? 0 : ends_.back()) + Structures::size_of(*ops[i], kLeast));
      places_.emplace(ops[i], i);
    }
    following_.resize(ops.size());
    std::unordered_map<std::uint32_t, std::size_t> next;
    for (std::size_t i = ops.size(); i-- > 0;) {
      const auto [known, is_last] = next.try_emplace(numbers_[i], i);
      following_[i] = is_last ? ops.size() : std::exchange(known->second, i);
    }
  }

  std::vector<Repetition> run() {
    std::vector<Repetition> all;
    for (std::size_t at = 0; at < ops_.size();) {
      const Repetition best = best_at(at);
      if (best.count < 2) {
        ++at;
        continue;
      }
      all.push_back(best);
      at += best.length * best.count;
    }
    return all;
  }

 private:
  Repetition best_at(std::size_t first) const {
    constexpr std::size_t kMostLengths = 16;
    Repetition best{first, 0, 0};
    std::size_t tried = 0;
    for (std::size_t next = following_[first]; next < ops_.size() && tried < kMostLengths;
         next = following_[next]) {
      ++tried;
      Repetition found{first, next - first, 1};
      if (ends_[next - 1] - (first == 0 ? 0 : ends_[first - 1]) < kLeast) continue;
      while (is_copy(found)) ++found.count;
      const bool is_better = found.count * found.length > best.count * best.length;
      if (found.count > 1 && is_better) best = found;
    }
    return best;
  }

  /// True if the ops behind the copies are one more copy.
  bool is_copy(const Repetition& found) const {
    const std::size_t begin = found.first + found.count * found.length;
    if (begin + found.length > ops_.size()) return false;
    const auto numbers = [&](std::size_t at) {
      return std::span(numbers_).subspan(at, found.length);
    };
    if (!std::ranges::equal(numbers(begin), numbers(found.first))) return false;
    for (std::size_t i = 0; i < found.length; ++i) {
      if (!is_connected_alike(found, begin, i)) return false;
    }
    return true;
  }

  bool is_connected_alike(const Repetition& found, std::size_t begin, std::size_t i) const {
    const Op &op = *ops_[begin + i], &first = *ops_[found.first + i];
    for (std::uint32_t operand = 0; operand < op.operand_count(); ++operand) {
      const Origin own = origin(*op.operand(operand), begin, found.length);
      const Origin of_first = origin(*first.operand(operand), found.first, found.length);
      if (own.copy == Origin::Copy::kBefore) {
        if (of_first.copy == Origin::Copy::kThis) return false;
        const std::size_t second = found.first + found.length;
        const Origin of_second = origin(*ops_[second + i]->operand(operand), second, found.length);
        if (found.count > 1 && !(own == of_second)) return false;
      } else if (!(own == of_first)) {
        return false;
      }
    }
    return true;
  }

  /// Where a copy finds a value.
  struct Origin {
    enum class Copy : std::uint8_t { kThis, kBefore, kOutside };
    Copy copy{};
    std::size_t op = 0;
    std::size_t result = 0;
    const Value* value = nullptr;  ///< outside; null for what each copy has of its own
    friend bool operator==(const Origin&, const Origin&) = default;
  };

  Origin origin(const Value& value, std::size_t begin, std::size_t length) const {
    const Op* const definition = value.defining_op();
    const auto found = definition == nullptr ? places_.end() : places_.find(definition);
    const std::size_t at = found == places_.end() ? ops_.size() : found->second;
    if (at >= begin && at < begin + length) {
      return {Origin::Copy::kThis, at - begin, value.index()};
    }
    if (at < begin && at + length >= begin) {
      return {Origin::Copy::kBefore, at + length - begin, value.index()};
    }
    const bool is_own = value.is_free() || value.has_symbol();
    return {Origin::Copy::kOutside, 0, 0, is_own ? nullptr : &value};
  }

  std::span<const Op* const> ops_;
  std::vector<std::uint32_t> numbers_;
  std::vector<std::size_t> ends_;       // the sizes of all ops up to each, added up
  std::vector<std::size_t> following_;  // the next op of the same number
  std::unordered_map<const Op*, std::size_t> places_;
};

}  // namespace

struct RepetitionSearch::State {
  Structures structures;
};

RepetitionSearch::RepetitionSearch() : state_(std::make_unique<State>()) {}
RepetitionSearch::~RepetitionSearch() = default;

std::vector<Repetition> RepetitionSearch::find(std::span<const Op* const> ops) {
  return Search(ops, state_->structures).run();
}

}  // namespace mir

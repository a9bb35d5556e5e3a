// Facts that passes derive from IR and keep until an edit makes them wrong.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "mir/dominance.hpp"
#include "mir/op.hpp"

namespace mir {

class Module;

/// The analyses there are, in the order of AnalysisSet and of the names.
enum class AnalysisId : std::uint8_t {
  kDominance,
  kLiveness,
  kAliases,
  kCallGraph,
  kEffects,
  kSymbolRanges,
};
inline constexpr std::size_t kAnalysisCount = 6;
/// "dominance", "liveness", ...
std::string_view name_of(AnalysisId analysis);

class AnalysisSet {
 public:
  constexpr AnalysisSet() = default;
  constexpr AnalysisSet(std::initializer_list<AnalysisId> list) {
    for (const AnalysisId each : list) bits_ = static_cast<std::uint8_t>(bits_ | bit(each));
  }
  static constexpr AnalysisSet all() {
    AnalysisSet set;
    set.bits_ = (1U << kAnalysisCount) - 1;
    return set;
  }
  constexpr bool has(AnalysisId one) const { return (bits_ & bit(one)) != 0; }

 private:
  static constexpr unsigned bit(AnalysisId id) { return 1U << static_cast<unsigned>(id); }
  std::uint8_t bits_ = 0;
};

// What is asked of a graph, with the regions inside it but not the graphs. Each names values, ops
// and blocks by address, and so holds while an edit changes none of what it says.

/// Which values are still needed where.
class Liveness {
 public:
  static constexpr AnalysisId kId = AnalysisId::kLiveness;

  explicit Liveness(const Region& graph);

  /// Values of the block's region that some way from the block's end uses, in order of their ids.
  std::span<const Value* const> live_out(const Block& block) const;
  /// Whether the value is used after the op, or inside another op that stands after it, in its
  /// block or on a way from there. The op is in the block of the value's region that both share.
  bool is_live_after(const Value& value, const Op& op) const;

  friend bool operator==(const Liveness&, const Liveness&) = default;

 private:
  void flow(const Region& region);

  std::unordered_map<const Block*, std::vector<const Value*>> live_out_;  // where not empty
};

/// Which values are other ones seen through views: they may lie in one storage.
class Aliases {
 public:
  static constexpr AnalysisId kId = AnalysisId::kAliases;

  explicit Aliases(const Region& graph);

  /// The value of which this one is a view of a view ...; itself where it is none.
  const Value& origin(const Value& value) const;
  bool share_storage(const Value& a, const Value& b) const { return &origin(a) == &origin(b); }
  /// The views of an origin, in the order of their definitions.
  std::span<const Value* const> views(const Value& origin) const;

  friend bool operator==(const Aliases&, const Aliases&) = default;

 private:
  std::unordered_map<const Value*, const Value*> origins_;  // of views
  std::unordered_map<const Value*, std::vector<const Value*>> views_;
};

// What is asked of a module.

/// Which graphs call which. The module body, by the module's op, counts as a graph.
class CallGraph {
 public:
  static constexpr AnalysisId kId = AnalysisId::kCallGraph;

  explicit CallGraph(const Module& module);

  /// The body first, then all graphs in text order, those inside others after these.
  std::span<Op* const> graphs() const { return graphs_; }
  /// The same, each after what it calls; in a circle of calls one comes before its callee.
  std::span<Op* const> bottom_up() const { return bottom_up_; }
  /// The graphs that a graph calls, each once, in order of the first call.
  std::span<Op* const> callees(const Op& graph) const { return list(callees_, graph); }
  /// The calls that lead to a graph.
  std::span<Op* const> calls_of(const Op& graph) const { return list(calls_, graph); }
  /// Whether calls lead from the graph back to it.
  bool is_recursive(const Op& graph) const;
  /// Whether calls lead from one of these to the graph, or it is one of them.
  std::vector<Op*> reached_from(std::span<Op* const> roots) const;

  friend bool operator==(const CallGraph&, const CallGraph&) = default;

 private:
  using Lists = std::unordered_map<const Op*, std::vector<Op*>>;
  static std::span<Op* const> list(const Lists& lists, const Op& graph);
  void order();

  std::vector<Op*> graphs_, bottom_up_;
  Lists callees_, calls_;
};

/// What ops do besides giving results, where calls do what the graphs do to which they lead.
class Effects {
 public:
  static constexpr AnalysisId kId = AnalysisId::kEffects;

  explicit Effects(const Module& module);

  /// None: nobody knows.
  std::optional<Effect> of(const Op& op) const;
  /// As mir::is_pure, but a call is as pure as the graph.
  bool is_pure(const Op& op) const;

  friend bool operator==(const Effects&, const Effects&) = default;

 private:
  /// What running a graph does, its control flow left out.
  struct Summary {
    std::optional<Effect> effects = Effect::kNone;
    bool is_pure = true;
    friend bool operator==(const Summary&, const Summary&) = default;
  };
  Summary summary_of(const Op& op) const;
  Summary summary_inside(const Op& op) const;
  std::unordered_map<const Op*, Summary> graphs_;
};

/// What is known of the numbers that symbols of extents stand for.
class SymbolRanges {
 public:
  static constexpr AnalysisId kId = AnalysisId::kSymbolRanges;

  /// Both ends included.
  struct Range {
    std::int64_t least = 0, most = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  explicit SymbolRanges(const Module& module);

  /// The symbols that inputs of the module or of its graphs have in their extents, by their text.
  std::span<const Symbol> symbols() const { return symbols_; }
  /// The least range that holds the extent whatever its symbols are, each of them for itself; an
  /// extent is at least 0. An unknown extent and one whose range exceeds 64 bits is any number.
  Range range(Dim extent) const;

  friend bool operator==(const SymbolRanges&, const SymbolRanges&) = default;

 private:
  std::vector<Symbol> symbols_;
};

template <class Analysis>
inline constexpr AnalysisId kIdOf = Analysis::kId;
template <>
inline constexpr AnalysisId kIdOf<Dominance> = AnalysisId::kDominance;

/// Whether an analysis is of a module, not of a graph.
template <class Analysis>
concept OfModule = std::is_constructible_v<Analysis, const Module&>;

/// Results of analyses of a module or of a graph, made when they are asked for.
class Analyses {
 public:
  explicit Analyses(const Module& module) : module_(&module) {}
  explicit Analyses(const Region& graph) : graph_(&graph) {}

  template <class Analysis>
  const Analysis& get() {
    std::unique_ptr<Held>& slot = slots_[static_cast<std::size_t>(kIdOf<Analysis>)];
    if (slot == nullptr) slot = make<Analysis>();
    return static_cast<const Holder<Analysis>&>(*slot).result;
  }
  bool has(AnalysisId analysis) const {
    return slots_[static_cast<std::size_t>(analysis)] != nullptr;
  }
  /// Forgets all others.
  void keep_only(AnalysisSet kept);
  /// The first of these that is known and would now have another result.
  std::optional<AnalysisId> first_stale(AnalysisSet claimed) const;

 private:
  struct Held {
    virtual ~Held() = default;
    virtual bool is_stale(const Analyses& of) const = 0;
  };
  template <class Analysis>
  struct Holder : Held {
    explicit Holder(const Analyses& of) : result(of.compute<Analysis>()) {}
    bool is_stale(const Analyses& of) const override { return !(of.compute<Analysis>() == result); }
    Analysis result;
  };
  template <class Analysis>
  std::unique_ptr<Held> make() const {
    return std::make_unique<Holder<Analysis>>(*this);
  }
  template <class Analysis>
  Analysis compute() const {
    if constexpr (OfModule<Analysis>) {
      assert(module_ != nullptr);
      return Analysis(*module_);
    } else {
      assert(graph_ != nullptr);
      return Analysis(*graph_);
    }
  }

  const Module* module_ = nullptr;
  const Region* graph_ = nullptr;
  std::array<std::unique_ptr<Held>, kAnalysisCount> slots_;
};

}  // namespace mir

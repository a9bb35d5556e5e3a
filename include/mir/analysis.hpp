// Analyses: facts that passes derive from the IR and keep until an edit invalidates them.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/call_graph.hpp"
#include "mir/dominance.hpp"
#include "mir/op.hpp"

namespace mir {

class Analyses;
class Module;

// An analysis is any class with a name and equality whose constructor takes the body of a graph
// (`const Region&`) or a module (`const Module&`), and optionally the Analyses from which it may
// ask for others. The library and loaded passes define theirs in the same way.

/// An analysis of a module, as opposed to one of a graph.
template <class Analysis>
concept OfModule = std::constructible_from<Analysis, const Module&> ||
    std::constructible_from<Analysis, const Module&, Analyses&>;

/// Identifies an analysis.
struct AnalysisKey {
  std::string_view name{};               ///< "call graph"; unique, of static duration
  void (*compute)(Analyses&) = nullptr;  ///< computes it unless it is known

  friend bool operator==(const AnalysisKey& a, const AnalysisKey& b) { return a.name == b.name; }
};

/// The key of `Analysis`, whose name is `Analysis::kAnalysisName`.
template <class Analysis>
constexpr AnalysisKey key_of();

/// A set of analyses: `AnalysisSet::of<Dominance, CallGraph>()`.
class AnalysisSet {
 public:
  AnalysisSet() = default;
  template <class... Analysis>
  static AnalysisSet of() {
    AnalysisSet set;
    set.keys_ = {key_of<Analysis>()...};
    return set;
  }

  template <class Analysis>
  void add() {
    if (!has(Analysis::kAnalysisName)) keys_.push_back(key_of<Analysis>());
  }
  bool has(std::string_view name) const {
    for (const AnalysisKey& key : keys_) {
      if (key.name == name) return true;
    }
    return false;
  }
  std::span<const AnalysisKey> keys() const { return keys_; }

 private:
  std::vector<AnalysisKey> keys_;
};

/// Thrown by PassRun::analysis() to a pass that asks for an analysis which it does not declare. The
/// runner of the pipeline catches it and reports MIR0921.
struct UndeclaredAnalysis {
  std::string_view name;
};

/// Known analyses of one graph, or of one module.
class Analyses {
 public:
  explicit Analyses(const Module& module) : module_(&module) {}
  explicit Analyses(const Region& graph) : graph_(&graph) {}

  /// Computed unless it is known. The reference is valid until the analysis is forgotten.
  template <class Analysis>
  const Analysis& get() {
    if (const Analysis* known = find<Analysis>()) return *known;
    return add(std::make_unique<Holder<Analysis>>(compute<Analysis>()));
  }
  /// Null unless it is known.
  template <class Analysis>
  const Analysis* find() const {
    const Held* held = find(Analysis::kAnalysisName);
    return held == nullptr ? nullptr : &static_cast<const Holder<Analysis>&>(*held).result;
  }
  bool has(std::string_view name) const { return find(name) != nullptr; }

  /// Takes a result that is known without computing it.
  template <class Analysis>
  void set(Analysis result) {
    if (Held* known = find(Analysis::kAnalysisName)) {
      static_cast<Holder<Analysis>&>(*known).result = std::move(result);
    } else {
      add(std::make_unique<Holder<Analysis>>(std::move(result)));
    }
  }
  /// Forgets an analysis, known or not.
  void forget(std::string_view name);
  /// True if these are analyses of the graph with this body.
  bool are_of(const Region& body) const { return graph_ == &body; }

  /// Forgets all analyses that are not in the set.
  void keep_only(const AnalysisSet& kept);
  /// The name of a known analysis in the set that would now have another result.
  std::optional<std::string_view> first_stale(const AnalysisSet& claimed) const;

  /// Tells how many edits the analyses have seen; sets them to `edits` without forgetting any.
  void start_at(std::uint64_t edits) { edits_ = edits; }
  /// Forgets what is not in the set if there were edits since the last call.
  void follow(std::uint64_t edits, const AnalysisSet& preserved) {
    if (edits != edits_) keep_only(preserved);
    edits_ = edits;
  }

 private:
  struct Held {
    explicit Held(std::string_view of) : name(of) {}
    virtual ~Held() = default;
    virtual bool is_stale(const Analyses& of) const = 0;
    std::string_view name;
    std::unique_ptr<Held> next;
  };
  template <class Analysis>
  struct Holder : Held {
    explicit Holder(Analysis made) : Held(Analysis::kAnalysisName), result(std::move(made)) {}
    bool is_stale(const Analyses& of) const override {
      Analyses fresh = of.without_any();
      return !(fresh.compute<Analysis>() == result);
    }
    Analysis result;
  };

  Analyses without_any() const {
    return module_ != nullptr ? Analyses(*module_) : Analyses(*graph_);
  }
  Held* find(std::string_view name) const;
  template <class IsKept>
  void keep_if(const IsKept& is_kept);
  template <class Analysis>
  const Analysis& add(std::unique_ptr<Holder<Analysis>> made) {
    const Analysis& result = made->result;
    made->next = std::move(known_);
    known_ = std::move(made);
    return result;
  }
  template <class Analysis>
  Analysis compute() {
    if constexpr (std::constructible_from<Analysis, const Module&, Analyses&>) {
      assert(module_ != nullptr);
      return Analysis(*module_, *this);
    } else if constexpr (std::constructible_from<Analysis, const Module&>) {
      assert(module_ != nullptr);
      return Analysis(*module_);
    } else if constexpr (std::constructible_from<Analysis, const Region&, Analyses&>) {
      assert(graph_ != nullptr);
      return Analysis(*graph_, *this);
    } else {
      assert(graph_ != nullptr);
      return Analysis(*graph_);
    }
  }

  const Module* module_ = nullptr;
  const Region* graph_ = nullptr;
  std::unique_ptr<Held> known_;  // a list: most graphs have one analysis or none
  std::uint64_t edits_ = 0;
};

template <class Analysis>
constexpr AnalysisKey key_of() {
  return {Analysis::kAnalysisName,
          [](Analyses& analyses) { static_cast<void>(analyses.get<Analysis>()); }};
}

// Analyses of a graph. Regions nested in it are included, nested graphs are not. Each refers to
// values, ops and blocks by address.

/// Which values are still needed at a point.
class Liveness {
 public:
  static constexpr std::string_view kAnalysisName = "liveness";

  explicit Liveness(const Region& graph);

  /// Values of the block's region that are used on some path from the end of the block, in the
  /// order of their ids.
  std::span<const Value* const> live_out(const Block& block) const;
  /// Whether the value is used after the op: later in its block, nested there, or on a path from
  /// the block's end. The op is in a block of the value's region.
  bool is_live_after(const Value& value, const Op& op) const;

  friend bool operator==(const Liveness&, const Liveness&) = default;

 private:
  void flow(const Region& region);

  std::unordered_map<const Block*, std::vector<const Value*>> live_out_;  // where not empty
};

/// Which values are views of others and may share their storage.
class Aliases {
 public:
  static constexpr std::string_view kAnalysisName = "aliases";

  explicit Aliases(const Region& graph);

  /// The value that this one views, through any number of views; the value itself if it is no view.
  const Value& origin(const Value& value) const;
  bool share_storage(const Value& a, const Value& b) const { return &origin(a) == &origin(b); }
  /// The views of an origin, in the order of their definitions.
  std::span<const Value* const> views(const Value& origin) const;

  friend bool operator==(const Aliases&, const Aliases&) = default;

 private:
  std::unordered_map<const Value*, const Value*> origins_;  // of views
  std::unordered_map<const Value*, std::vector<const Value*>> views_;
};

/// Tells if a graph has dead code, which `eliminate-dead-ops` removes: an op without effects whose
/// results have no uses, or a free value without uses. Isolated ops do not count.
class DeadCode {
 public:
  static constexpr std::string_view kAnalysisName = "dead code";

  explicit DeadCode(const Region& graph);
  /// That of a graph from which it was removed.
  static DeadCode none() { return DeadCode(false); }

  bool exists() const { return exists_; }

  friend bool operator==(const DeadCode&, const DeadCode&) = default;

 private:
  explicit DeadCode(bool exists) : exists_(exists) {}

  bool exists_ = false;
};

// Analyses of a module.

/// Effects of ops, where a call has those of the graphs that it runs. Edits that leave the effects
/// of every graph as they are, such as the removal of pure ops, preserve it.
class Effects {
 public:
  static constexpr std::string_view kAnalysisName = "effects";

  Effects(const Module& module, Analyses& analyses);

  /// No value if the effects are unknown.
  std::optional<Effect> of(const Op& op) const;
  // As the functions of mir/op.hpp, but a call is as pure as the graph that it runs.
  bool is_pure(const Op& op) const;
  bool is_dead(const Op& op) const;

  friend bool operator==(const Effects&, const Effects&) = default;

 private:
  /// Effects of running a graph, without its control flow.
  struct Summary {
    std::optional<Effect> effects = Effect::kNone;
    bool is_pure = true;
    friend bool operator==(const Summary&, const Summary&) = default;
  };
  Summary summary_of(const Op& op) const;
  Summary summary_inside(const Op& op) const;

  std::unordered_map<Symbol, Summary> graphs_;  // by the symbol that calls name
};

/// The graphs called in loops at which a run may stop because of what their arguments hold.
class Refusals {
 public:
  static constexpr std::string_view kAnalysisName = "refusals";

  Refusals(const Module& module, Analyses& analyses);

  /// As mir::may_refuse, but a call in a loop refuses only if its graph does.
  bool may_refuse(const Op& op) const;

  friend bool operator==(const Refusals&, const Refusals&) = default;

 private:
  bool may_refuse_inside(const Op& op) const;

  std::unordered_set<Symbol> never_;  // graphs at which no run stops
};

/// Ranges of the symbols in extents.
class SymbolRanges {
 public:
  static constexpr std::string_view kAnalysisName = "symbol ranges";

  /// Both ends included.
  struct Range {
    std::int64_t least = 0, most = 0;
    friend bool operator==(const Range&, const Range&) = default;
  };

  explicit SymbolRanges(const Module& module);

  /// The symbols in the extents of inputs of the module or of its graphs, sorted by their text.
  std::span<const Symbol> symbols() const { return symbols_; }
  /// The smallest range that holds the extent for all values of its symbols, taken independently:
  /// those that the head of the module declares, or 0 and more.
  /// An extent is at least 0. An unknown extent, or one whose range exceeds 64 bits, may be any
  /// number.
  Range range(Dim extent) const;

  friend bool operator==(const SymbolRanges&, const SymbolRanges&) = default;

 private:
  std::vector<Symbol> symbols_;
  std::map<Symbol, Range> declared_;
};

}  // namespace mir

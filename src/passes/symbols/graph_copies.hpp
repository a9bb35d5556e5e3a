// Copies of graphs for some values of their symbols.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/pass.hpp"
#include "mir/rewriter.hpp"

namespace mir {

/// Makes at most one copy of a graph for each choice of values. Copies call copies where they pass
/// numbers for symbols.
class GraphCopies {
 public:
  GraphCopies(const PassRun& run, Rewriter& rewriter)
      : run_(run),
        rewriter_(rewriter),
        detached_(rewriter.module()),
        context_(rewriter.context()) {}

  /// Lets a call with numbers for symbols of its graph call a copy. False if it has none.
  bool redirect(Op& call);

  std::size_t count() const { return copies_.size(); }
  /// True after reporting that a copy has a negative extent, or that a graph binds a symbol anew.
  bool has_failed() const { return has_failed_; }

 private:
  using Key = std::pair<const Op*, std::vector<std::pair<Symbol, std::int64_t>>>;

  /// A call, with the numbers that it determines for symbols of its graph.
  struct OpenCall {
    Op* call = nullptr;
    Op* graph = nullptr;
    DimBindings numbers{};
  };

  const std::unordered_set<Symbol>& symbols_of(const Op& graph);
  /// Opens a call, around which symbols have these values, if it determines any number.
  void open(Op& call, const DimBindings& values);
  /// The copy with numbers for these symbols; the graph itself if it has none of them. The calls in
  /// a new copy are open.
  Op& make(Op& graph, const DimBindings& values);
  std::string name_of(const Op& graph, const Key& key) const;

  const PassRun& run_;
  Rewriter& rewriter_;
  Rewriter detached_;  // without insertion point
  IRContext& context_;
  std::map<Key, Op*> copies_;
  std::map<const Op*, std::unordered_set<Symbol>> symbols_;
  std::vector<OpenCall> open_;
  std::map<const Op*, Op*> last_copies_;  // of each graph, in text
  bool has_failed_ = false;
};

/// `name`; with a number appended if the module or one of its graphs has this name.
std::string unused_graph_name(const Module& module, std::string_view name);

}  // namespace mir

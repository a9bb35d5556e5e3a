// Modules, and how they are made from a tree.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/parse.hpp"
#include "mir/typed_map.hpp"

namespace mir {

// A module: one `@name (inputs) -> (outputs) { ... }` with the arena that holds its ops.

/// Everything needed to make an op. Spans are copied.
struct OpSpec {
  OpName name;
  std::span<Value* const> operands{};
  std::span<const Type* const> result_types{};
  std::span<const NamedAttr> attributes{};
  std::uint32_t regions = 0;
  Symbol path{};    ///< see Op::path; empty: none; left out where Rewriter::set_path refuses it
  Symbol symbol{};  ///< see Op::symbol; empty: none
  Location location{};
  bool has_signature = true;  ///< an op whose name is no plain one has lists in any case
};

/// Declarations by symbol. If several declare one, the first counts, and after its erasure the
/// next. Threads may use a table at the same time.
template <class T>
class SymbolTable {
 public:
  T* find(Symbol name) const {
    const std::lock_guard lock(mutex_);
    const auto found = first_.find(name);
    return found == first_.end() ? nullptr : found->second;
  }
  void add(Symbol name, T& each) {
    const std::lock_guard lock(mutex_);
    const auto [first, is_new] = first_.try_emplace(name, &each);
    if (!is_new && first->second != &each) others_[name].emplace(each.id(), &each);
  }
  void remove(Symbol name, const T& each);
  std::size_t size() const { return first_.size(); }
  bool empty() const { return first_.empty(); }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<Symbol, T*> first_;
  std::unordered_map<Symbol, std::map<std::uint32_t, T*>> others_;  // by id
};

template <class T>
void SymbolTable<T>::remove(Symbol name, const T& each) {
  const std::lock_guard lock(mutex_);
  const auto first = first_.find(name);
  const auto others = others_.find(name);
  if (others != others_.end()) others->second.erase(each.id());
  if (first != first_.end() && first->second == &each) {
    if (others == others_.end()) {
      first_.erase(first);
    } else {
      first->second = others->second.begin()->second;
      others->second.erase(others->second.begin());
    }
  }
  if (others != others_.end() && others->second.empty()) others_.erase(others);
}

class Arena;
class RewriteListener;
class TypeMentions;

/// Resources of edits: memory, ids, listeners, and constants by their elements. A module has an
/// editor; while a pass works on its graphs in threads, each thread has one of its own.
class Editor {
 public:
  /// For a thread that works on graphs.
  Editor();
  ~Editor();
  Editor(const Editor&) = delete;
  Editor& operator=(const Editor&) = delete;

  /// How many edits there were. A run of a pass that edits compares it.
  const std::uint64_t& edits() const { return edits_; }
  /// How many of them were of ops with regions, so that there may be other graphs.
  std::uint64_t region_edits() const { return region_edits_; }

  /// Restricts edits to the graph of a region: the ops, blocks and values in it, but not in nested
  /// graphs. Edits elsewhere throw StrayEdit, except those of detached ops.
  void admit_only(const Region& body) { admitted_ = body.graph_; }
  void admit_all() { admitted_ = nullptr; }
  void admit_none() { admitted_ = &kNoGraph; }

 private:
  friend class ListenerScope;
  friend class Module;
  friend class Resolver;
  friend class Rewriter;
  using ConstantTable = std::unordered_multimap<std::size_t, Value*>;  // by hash
  /// Ids that nobody else takes. A thread takes a block of them at once.
  struct Ids {
    std::uint32_t next = 0, end = 0;
  };

  std::unique_ptr<Arena> arena_;
  bool is_of_module_ = false;
  Ids op_ids_, value_ids_;
  std::uint64_t edits_ = 0, region_edits_ = 0;
  static constexpr GraphState kNoGraph{};
  const GraphState* admitted_ = nullptr;  // null admits all
  std::vector<RewriteListener*> listeners_;
  std::unordered_map<const Region*, ConstantTable>
      constants_;  // of regions that were asked for any
};

class Module {
 public:
  Module(IRContext& context, Symbol name);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  IRContext& context() const { return context_; }
  Symbol name() const { return top_->symbol(); }
  /// The module op itself; its one region holds the inputs, outputs and top-level ops. A new
  /// module's region has no block yet.
  Op* top() const { return top_; }
  Region& body() const { return *top_->region(); }
  /// Portable exactly when the module carries `mir_version`.
  bool is_portable() const { return version_ != 0; }
  std::int64_t version() const { return version_; }
  // -- names -----------------------------------------------------------------------------------
  /// Returns a name that no value of this module has: the number above all in use, as long as there
  /// is one.
  ValueName fresh_name();
  /// The name that fresh_name() will return after `skip` other names.
  ValueName upcoming_name(std::uint32_t skip) const;
  /// Marks a name as used.
  void reserve_name(ValueName name);

  // -- symbols ---------------------------------------------------------------------------------
  /// The op or value that declares `name`: subgraphs, fragments, labels by `@name` or
  /// `[symbol:name]`; parameters by `[@name]` on the result of a register. Of several that are
  /// linked the one that declared it first.
  IRContext::SymbolUse lookup_symbol(std::string_view name) const;
  /// Upstream's spelling, which mir/upstream.hpp defines.
  IRContext::SymbolUse lookupSymbol(std::string_view name) const;
  Op* lookup_op(Symbol name) const { return op_symbols_.find(name); }
  Value* lookup_value(Symbol name) const { return value_symbols_.find(name); }
  /// True if a value declares a symbol. A module without one has no parameters.
  bool declares_values() const { return !value_symbols_.empty(); }
  /// How many symbols ops declare and how many values do, each counted once.
  std::size_t declared_symbol_count() const { return op_symbols_.size() + value_symbols_.size(); }
  /// The symbol an op declares by `@symbol` or `[symbol:...]`; none for other ops.
  std::optional<Symbol> declared_symbol(const Op* op) const;

  /// Facts that a pass leaves for later passes on this module; made by the first call. They are in
  /// no text and in no clone. They name ops by their ids, which are never used again.
  template <class Notes>
  Notes& notes() {
    return notes_.get<Notes>();
  }

  /// True if such an op was ever created here; it may have been erased since.
  bool has_made(OpId op) const {
    const auto id = static_cast<std::size_t>(op);
    return (made_kinds_[id / kKindsPerWord].load(std::memory_order_relaxed) >> id % kKindsPerWord &
            1) != 0;
  }
  /// Whether listeners receive the edits of this module.
  bool has_listeners() const { return !own_.listeners_.empty(); }
  /// Above the ids of all ops, and of all values.
  std::uint32_t op_id_end() const { return op_id_end_.load(std::memory_order_relaxed); }
  std::uint32_t value_id_end() const { return value_id_end_.load(std::memory_order_relaxed); }
  std::size_t memory() const;

  // -- work on graphs --------------------------------------------------------------------------
  // From begin_graphs() to end_graphs(), threads may edit graphs of the module, each graph by one
  // thread. A graph includes those that are nested in it. Nothing else may be edited then.
  Editor& editor() { return own_; }
  void begin_graphs() { works_on_graphs_ = true; }
  bool works_on_graphs() const { return works_on_graphs_; }
  /// Called by the thread that takes the graph; with editor(), when it is done.
  void take(Op& graph, Editor& editor);
  /// Takes over what the editors gave. They are not used again.
  void end_graphs(std::span<Editor> editors);
  /// Names the values that passes on graphs made in the graph, in the order of the text.
  void name_new_values(Op& graph);

 private:
  friend class Cursor;
  friend class IRContext;
  friend class ListenerScope;
  friend class Resolver;
  friend class Rewriter;

  static constexpr std::size_t kKindsPerWord = 64;
  static std::uint32_t next_id(std::atomic<std::uint32_t>& end, const Editor& editor,
                               Editor::Ids& ids);
  void note_made(OpKind kind);
  GraphState& add_graph(Editor& editor);
  void isolate(Op& op);
  /// Whether the op or one inside it can have a symbol; cheap.
  bool may_declare(const Op& op) const;
  /// True for results with a symbol of ops that declare symbols.
  static bool declares(const Value& value);
  /// True if the op is inside top().
  bool is_linked(const Op& op) const;
  void declare_own_symbols(Op& op);
  void declare_symbols(Op& op);
  void forget_symbol(const Value& value);
  void forget_symbols(const Op& op);
  void forget_symbols_within(Op& op);
  /// Looks up what the names of ops of a dialect mean once it is registered.
  void update_names(std::string_view dialect);

  IRContext& context_;
  Editor own_;
  GraphState state_{this, &own_};                    // of the top op and the ops in no block
  std::atomic<GraphState*> states_{nullptr};         // of isolated ops
  std::vector<std::unique_ptr<Arena>> more_arenas_;  // of threads
  Op* top_ = nullptr;
  std::int64_t version_ = 0;
  std::atomic<std::uint32_t> op_id_end_{0}, value_id_end_{0};
  std::atomic<std::uint32_t> next_name_{0};
  std::atomic<std::uint64_t> next_text_name_{0};  // of `fresh_<number>`, when numbers are used up
  bool works_on_graphs_ = false;
  std::array<std::atomic<std::uint64_t>, kOpCount / kKindsPerWord + 1> made_kinds_{};  // bits
  SymbolTable<Op> op_symbols_;
  SymbolTable<Value> value_symbols_;
  TypedMap notes_;
};

// Syntax tree to IR.

/// Creates modules from the units of one text, one unit at a time, in order. A unit may be released
/// as soon as `add` returns.
///
/// Names. In a dump `%n` is a storage id: each result starts a new version, a use means the latest
/// version in its region. In a portable module each name is defined once and may be used before its
/// definition's line. A value that nothing defines becomes a free value of its region; in a
/// portable module it must be a constant or name a parameter.
class Resolver {
 public:
  Resolver(IRContext& context, const SourceFile& file, Diagnostics& diagnostics);
  ~Resolver();

  void add(const Unit& unit);
  /// The modules, which the context owns. Modules with errors are kept for inspection; callers
  /// stop when `diagnostics` has errors.
  std::vector<Module*> finish();

 private:
  friend class TypeMentions;
  class State;
  std::unique_ptr<State> state_;
};

/// All modules of a parsed text.
std::vector<Module*> resolve(const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics);

/// Parses and resolves unit by unit without keeping the tree: the way to read large texts.
std::vector<Module*> read_modules(const SourceFile& file, IRContext& context,
                                  Diagnostics& diagnostics);

}  // namespace mir

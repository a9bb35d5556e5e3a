// The one door for changes of the IR.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "mir/module.hpp"
#include "mir/op.hpp"
#include "mir/walk.hpp"

namespace mir {

// Places in a module that survive its edits, and walks that are built on them.

/// A position among the ops of a region. Every edit, through any rewriter, keeps it valid: it moves
/// on when the op or block that it refers to is erased. Not thread-safe, as edits are not.
class Cursor {
 public:
  /// The neighbour that defines the position; the other one may change.
  enum class Side : std::uint8_t {
    kAfter,  ///< after `at`, at the block's begin when that is null; for walks
    kBefore  ///< before `at`, at the block's end when that is null; for insertion
  };

  explicit Cursor(Side side) : side_(side) {}
  ~Cursor();
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  Block* block() const { return block_; }
  Op* at() const { return at_; }
  void set(Block* block, Op* at) {
    if (block != nullptr && block->parent()->graph_ != graph_) attach(*block->parent()->graph_);
    block_ = block;
    at_ = at;
  }

 private:
  friend class Module;
  friend class Rewriter;
  friend class RegionWalk;

  void attach(GraphState& graph);
  void detach();
  /// Cursors in blocks that have come to another graph follow them.
  static void leave(GraphState& graph);
  void leave(const Op& op);
  void leave(const Block& block);
  void follow_move(const Block& block);
  void follow_split(const Block& block, Block& rest);
  void follow_merge(const Block& block, Block& into, Op* last, Op* before);

  Cursor* next_ = nullptr;
  Cursor** previous_ = nullptr;
  GraphState* graph_ = nullptr;  // whose edits it follows; null before the first place
  Block* block_ = nullptr;
  Op* at_ = nullptr;
  Side side_;
};

/// The ops of a region, block by block, while they are edited.
class RegionWalk {
 public:
  explicit RegionWalk(const Region& region) : region_(region), cursor_(Cursor::Side::kAfter) {}
  /// The next op; null at the end.
  Op* next() {
    Op* op = cursor_.at_ != nullptr      ? cursor_.at_->next()
             : cursor_.block_ != nullptr ? cursor_.block_->front()
                                         : nullptr;
    while (op == nullptr) {
      Block* block = cursor_.block_ != nullptr ? cursor_.block_->next() : region_.entry();
      if (block == nullptr) return nullptr;
      cursor_.set(block, nullptr);
      op = block->front();
    }
    cursor_.at_ = op;
    fetch_ahead(op);
    return op;
  }

 private:
  const Region& region_;
  Cursor cursor_;
};

/// How a walk goes on.
enum class WalkResult : std::uint8_t {
  kContinue,
  kSkip,      ///< skips the op's own regions; in post-order they have been visited
  kInterrupt  ///< ends the walk
};

enum class WalkOrder : std::uint8_t {
  kPreOrder,  ///< an op before what is inside it
  kPostOrder  ///< an op after what is inside it
};

/// Calls a visit that takes Op& or, for another T, a view of type T if the op fits it. A visit
/// without a result goes on.
template <class T, class Visit>
WalkResult visit_as(const Visit& visit, Op& op) {
  const auto call = [&](auto&& what) {
    if constexpr (std::is_void_v<decltype(visit(what))>) {
      visit(what);
      return WalkResult::kContinue;
    } else {
      return visit(what);
    }
  };
  if constexpr (std::is_same_v<T, Op>) {
    return call(op);
  } else {
    return T::classof(&op) ? call(T(&op)) : WalkResult::kContinue;
  }
}

/// Calls `visit` for each op of a region or module and for the ops nested in it but not in
/// templates, in order: with Op&, or with a view T for the ops that fit it. A walk over a region
/// leaves out what is inside graphs (WalkRoot). The visit returns a WalkResult or nothing. It may
/// create, move and erase any op or block, through any rewriter, including the current op and the
/// ops around it. Ops that are created or moved after the current op are visited, ops that are
/// created before it are not, and erased ops never are. Walks may nest. Returns false if
/// interrupted.
template <class T = Op, class Visit>
bool walk(WalkRoot root, WalkOrder order, const Visit& visit) {
  RegionWalk ops(root.region);
  while (Op* op = ops.next()) {
    if (order == WalkOrder::kPreOrder) {
      const WalkResult result = visit_as<T>(visit, *op);
      if (result == WalkResult::kInterrupt) return false;
      if (result == WalkResult::kSkip) continue;
    }
    const bool is_left_out = op->is_erased() || op->has(Trait::kTemplate) || !root.enters(*op);
    Region* inner = is_left_out ? nullptr : op->first_region();
    for (; inner != nullptr; inner = op->is_erased() ? nullptr : inner->next()) {
      if (!walk<T>({*inner, root.scope}, order, visit)) return false;
    }
    if (order == WalkOrder::kPostOrder && !op->is_erased() &&
        visit_as<T>(visit, *op) == WalkResult::kInterrupt) {
      return false;
    }
  }
  return true;
}
/// The same, an op before what is inside it.
template <class T = Op, class Visit>
bool walk(WalkRoot root, const Visit& visit) {
  return walk<T>(root, WalkOrder::kPreOrder, visit);
}

// The only interface through which IR is changed.
//
// A rewriter keeps consistent: use lists, parents, order in blocks, symbols, cursors of walks and
// of other rewriters, what dumps state of single mentions, and the marks by which
// printing recognises untouched text. Listeners receive every edit. Several rewriters of a module
// may be used in turn. Two threads may edit a module at once only if each works on other graphs, as
// passes on graphs do (Module::begin_graphs).
//
// Edits are checked by asserts only; the verifier checks what the module means. An erased op must
// not be edited.
//
// Every result of an edit prints as text that reads back as an equal module. Symbols, keys, labels
// and strings may hold any text, which is quoted if necessary. A value or block whose name text
// cannot express prints under a fresh name. Functions that take other texts return false and change
// nothing if text cannot express them. In a portable module a list of attributes has each key once,
// the first counts; unquoted strings that are not words become quoted; values that upstream lost
// are left out. A jump has a label and no symbol, path or `<...>`; only a jump has a label.

enum class OpChange : std::uint8_t {
  kOperands,    ///< operands or successors
  kResults,     ///< the number of results
  kAttributes,  ///< attributes
  kHead,        ///< symbol, path, address, angles, label
  kLocation,
  kRegions,  ///< a new region, or the signature of a region
  kMention,  ///< facts of a dump's mention of an operand beyond the value
};

/// What a value was before an edit.
struct ValueFacts {
  const Type* type = nullptr;
  ValueName name;
  Symbol symbol;
  bool has_symbol = false;
  std::span<const NamedAttr> attributes{};
};

/// Receives every edit of the modules to which it is attached. One edit may cause several events,
/// in this order: replaced uses before the erasure of the users; nested ops before the op that
/// contains them. A listener must not edit.
class RewriteListener {
 public:
  virtual ~RewriteListener() = default;

  /// The op is new and linked. There is no further event for the ops nested in it.
  virtual void did_insert(Op&) {}
  /// The op is still whole and linked, and only ops that go with it use its results.
  virtual void will_erase(Op&) {}
  /// `from` is the block that contained the op before; it may be the same one.
  virtual void did_move(Op&, [[maybe_unused]] Block& from) {}
  virtual void did_change(Op&, OpChange) {}
  /// The user has replaced or dropped an operand, which was the value, or is being erased.
  virtual void did_drop_use(Value&, [[maybe_unused]] Op& user) {}
  /// Each use of the first value for which the caller asked becomes a use of the second.
  virtual void will_replace_uses(Value&, Value&) {}
  /// The type, name, symbol or attributes.
  virtual void did_change_value(Value&, [[maybe_unused]] const ValueFacts& before) {}
  /// A constant, parameter or other value that no op defines. Its attributes may follow as a
  /// change.
  virtual void did_insert_free_value(Value&) {}
  /// The value has no uses.
  virtual void will_erase_free_value(Value&) {}

  virtual void did_insert_block(Block&) {}
  /// There were events for its ops before.
  virtual void will_erase_block(Block&) {}
  /// The block with all its ops. `from` is the region that contained it before.
  virtual void did_move_block(Block&, [[maybe_unused]] Region& from) {}
  /// The list of a block's arguments.
  virtual void did_change_arguments(Block&) {}
};

/// Attaches a listener to a module for the lifetime of the scope, or to what is edited together
/// with a region: graphs that the same thread works on, otherwise the module.
class ListenerScope {
 public:
  ListenerScope(Module& module, RewriteListener& listener);
  ListenerScope(const Region& region, RewriteListener& listener);
  ~ListenerScope();
  ListenerScope(const ListenerScope&) = delete;
  ListenerScope& operator=(const ListenerScope&) = delete;

 private:
  Editor& editor_;
  RewriteListener& listener_;
};

/// The values and blocks that replace originals in a copy.
class RewriteMapping {
 public:
  void map(const Value& from, Value& to) { values_[&from] = &to; }
  void map(const Block& from, Block& to) { blocks_[&from] = &to; }
  /// Null if the original is not mapped.
  Value* find(const Value& from) const { return find(values_, from); }
  Block* find(const Block& from) const { return find(blocks_, from); }

 private:
  template <class T>
  static T* find(const std::unordered_map<const T*, T*>& map, const T& from) {
    const auto found = map.find(&from);
    return found == map.end() ? nullptr : found->second;
  }

  std::unordered_map<const Value*, Value*> values_;
  std::unordered_map<const Block*, Block*> blocks_;
};

/// Thrown at an edit outside the graph to which its editor is restricted. The runner of a pipeline
/// catches it and reports MIR0921.
struct StrayEdit {
  const Op& op;  ///< the edited op, or the op with the edited block or value
};

/// A successor of a block's last op.
struct SuccessorSpec {
  Block* block = nullptr;  ///< null: text names a block that does not exist, as `stated`
  Symbol stated{};
  std::span<Value* const> operands{};
};

class Rewriter {
 public:
  /// Without an insertion point.
  explicit Rewriter(Module& module) : module_(module), place_(Cursor::Side::kBefore) {}

  Module& module() const { return module_; }
  IRContext& context() const { return module_.context(); }

  // -- insertion point -------------------------------------------------------------------------
  // It stays valid when the op that follows it is moved or erased.
  void set_insertion_point(Op& before) { place_.set(before.block(), &before); }
  void set_insertion_point_after(Op& op) { place_.set(op.block(), op.next()); }
  void set_insertion_point_to_start(Block& block) { place_.set(&block, block.front()); }
  void set_insertion_point_to_end(Block& block) { place_.set(&block, nullptr); }
  /// Null if there is no insertion point.
  Block* insertion_block() const { return place_.block(); }

  /// The location of new ops whose OpSpec has none. Unknown at first.
  void set_default_location(Location location) { default_location_ = location; }
  Location default_location() const { return default_location_; }

  /// The entry of a region, which gets one if it has no block.
  Block& entry_of(Region& region) {
    return region.entry() != nullptr ? *region.entry() : *create_block(region);
  }

  // -- ops -------------------------------------------------------------------------------------
  /// Creates an op at the insertion point. Its results get fresh names.
  Op* create(const OpSpec& spec);
  /// Creates an op outside any block, whose results have no names. While threads work on graphs,
  /// the insertion point must be set.
  Op* create_detached(const OpSpec& spec);
  /// Names the results that have no name.
  void name_results(Op& op);
  /// Inserts a detached op at the insertion point and declares its symbols and those nested in it.
  void insert(Op& op);
  void insert(Op& op, Block& block, Op* before);
  /// Erases an op and the ops nested in it. Results must have no uses outside the op.
  void erase(Op& op);
  /// Replaces the uses of each result by the value at its position and erases the op.
  void replace(Op& op, std::span<Value* const> values);
  /// The same with the results of another op. A detached one is inserted before the old op. It
  /// takes the old op's location unless it has one. What a dump's mentions state of results stays.
  void replace(Op& op, Op& with);
  /// Constants and parameters that the op or nested ops use follow it into another region.
  void move_before(Op& op, Op& before);
  void move_after(Op& op, Op& after);
  void move_to_end(Op& op, Block& block);
  /// Copies an op of this context and the ops nested in it to the insertion point; the copy is
  /// detached if there is none. Operands and successors are mapped; unmapped ones stay as they are,
  /// except that a constant or parameter of another module is found or created in the region of the
  /// insertion point. Adds results, blocks and arguments of the copy to the mapping. Keeps names.
  Op* clone(const Op& op, RewriteMapping& mapping);

  // -- operands and uses -----------------------------------------------------------------------
  void set_operand(Op& op, std::size_t i, Value* value);
  /// Replaces all operands, including those that successors take.
  void set_operands(Op& op, std::span<Value* const> operands);
  void replace_all_uses(Value& from, Value& to);
  template <class Predicate>
  void replace_uses_if(Value& from, Value& to, const Predicate& wanted);
  /// Replaces the successors and the operands that they take. Returns false if a `stated` name is
  /// not a block name.
  bool set_successors(Op& op, std::span<const SuccessorSpec> successors);

  // -- results ---------------------------------------------------------------------------------
  /// The new result has no name. Other results keep address and id.
  Value* add_result(Op& op, const Type* type);
  Value* insert_result(Op& op, std::size_t i, const Type* type);
  /// It must have no uses.
  void erase_result(Op& op, std::size_t i);

  // -- attributes and names of an op -----------------------------------------------------------
  void set_attribute(Op& op, Symbol key, const Attr* value);
  bool remove_attribute(Op& op, Symbol key);
  void set_attributes(Op& op, std::span<const NamedAttr> attributes, bool list_present = false);
  void set_symbol(Op& op, Symbol symbol);
  /// Returns false for a path of more than 1000 bytes and, in a dump, for one that text cannot
  /// express without escapes. OpSpec leaves such a path out.
  bool set_path(Op& op, Symbol path);
  bool can_set_path(Symbol path) const { return can_say(path, !module_.is_portable()); }
  void clear_path(Op& op);
  /// Returns false unless each is balanced text on one line of at most 1000 bytes, with single
  /// blanks and none at its ends.
  bool set_angles(Op& op, std::span<const Symbol> angles);
  /// The op prints as a new one afterwards.
  void set_location(Op& op, Location location);
  /// Makes an op print in canonical form although it did not change.
  void mark_modified(Op& op) { op.modified_ = true; }

  /// Copies a list to memory that lives as long as the module.
  std::span<const NamedAttr> keep(std::span<const NamedAttr> attributes);

  // -- values ----------------------------------------------------------------------------------
  void set_type(Value& value, const Type* type);
  void set_name(Value& value, ValueName name);  ///< a fresh one for none
  void set_symbol(Value& value, Symbol symbol);
  void clear_symbol(Value& value);
  void set_attributes(Value& value, std::span<const NamedAttr> attributes);

  // -- blocks and regions ----------------------------------------------------------------------
  // Text cannot express the entry of a region with a signature, or of a module, as a successor.
  Region* add_region(Op& op);
  /// Before `before`, or at the end if that is null.
  Block* create_block(Region& region, std::span<const Type* const> argument_types = {},
                      Symbol name = {}, Block* before = nullptr);
  /// Erases a block and its ops. They and its arguments must have no uses outside, and the block no
  /// predecessors.
  void erase_block(Block& block);
  /// Moves the op and the ops after it to a new block without arguments, which follows the op's
  /// block. The old block has no successor until it gets a last op.
  Block* split_block(Op& first);
  /// Appends the ops of `source` to `into`, replaces its arguments by `arguments`, and erases it.
  /// It must have no predecessors.
  void merge_blocks(Block& source, Block& into, std::span<Value* const> arguments);
  /// The region may be another one; constants and parameters follow.
  void move_block(Block& block, Region& region, Block* before = nullptr);
  /// Moves the ops of a region of one block before `before` and replaces its arguments by
  /// `arguments`. Erases the terminator and returns its operands.
  std::vector<Value*> inline_region(Region& from, Op& before, std::span<Value* const> arguments);
  /// Moves all blocks before `before`. They lose their names, which the region may have already.
  void inline_region(Region& from, Block& before);
  /// Moves all blocks and the stated results of `from` into a region without blocks.
  void take_body(Region& to, Region& from);

  Value* add_argument(Block& block, const Type* type) {
    return insert_argument(block, block.arguments().size(), type);
  }
  /// The new argument has no name. Other arguments keep address and id. Predecessors must then pass
  /// one value more.
  Value* insert_argument(Block& block, std::size_t i, const Type* type);
  /// It must have no uses.
  void erase_argument(Block& block, std::size_t i);
  void erase_arguments(Block& block);

  void set_has_signature(Region& region, bool has);
  /// Outputs that remain keep their ports, by position.
  void set_result_types(Region& region, std::span<const Type* const> types);
  /// Sets the names under which the inputs and outputs of a portable module's signature are read.
  /// Without a name in its list, a value is read under its own.
  void set_ports(Region& region, const RegionPorts& ports);
  /// States the ports that are not stated yet as the values are named now, so that further edits
  /// keep them.
  void state_ports(Region& region);

  // -- values that no op defines ---------------------------------------------------------------
  Value* create_free_value(Region& region, const Type* type, ValueName name);
  /// Returns the region's value with this type, attributes and symbol; creates it if necessary.
  Value* constant(Region& region, const Constant& constant);
  /// Erases the free values without uses; the others keep their order.
  void erase_unused_free_values(Region& region);

  // -- dumps: see mir/dump_facts.hpp -----------------------------------------------------------
  void set_square_path(Op& op, bool square);
  void set_address(Op& op, std::optional<std::uint64_t> address);
  void set_label(Op& op, Symbol label);
  void set_mention(const Use& use, const StatedMention& mention);
  void clear_mentions();
  /// Also sets the types.
  void state_results(Region& region, std::span<const RegionResult> results);

  /// Sets `mir_version` (1 or 2) or, with 0, makes the module a dump. Returns false
  /// if a dump cannot express the path of some op. When a dump becomes portable, attributes are
  /// corrected as above, and the facts of single mentions are dropped.
  bool set_version(std::int64_t version);

 private:
  friend class Resolver;
  friend std::unique_ptr<Module> clone(const Module& module);

  static Arena& arena_of(const GraphState& graph) { return *graph.editor->arena_; }
  static GraphState& graph_of(const Value& value);
  /// The graph of the insertion point.
  GraphState& graph() const;
  Op* create_in(GraphState& graph, const OpSpec& spec);
  template <class... Told, class... Given>
  void tell(const GraphState& graph, void (RewriteListener::*event)(Told...), Given&&... what) {
    if (is_quiet_) return;
    for (RewriteListener* listener : graph.editor->listeners_) (listener->*event)(what...);
  }
  /// Also counts the edit, of an op, block or value in the graph.
  template <class... Told, class Edited, class... Given>
  void tell_edit(const GraphState& graph, bool has_regions, void (RewriteListener::*event)(Told...),
                 Edited& edited, Given&&... what) {
    if (is_quiet_) return;
    check_scope(graph, edited);
    ++graph.editor->edits_;
    if (has_regions) ++graph.editor->region_edits_;
    tell(graph, event, edited, what...);
  }
  template <class... Told, class... Given>
  void tell_edit(const Op& op, void (RewriteListener::*event)(Told...), Given&&... what) {
    tell_edit(*op.graph_, op.first_region() != nullptr, event, what...);
  }
  /// Throws StrayEdit if the editor must not edit the graph.
  template <class Edited>
  void check_scope(const GraphState& graph, const Edited& edited) const {
    const GraphState* admitted = graph.editor->admitted_;
    if (admitted != nullptr && admitted != &graph) refuse_linked(owner_of(edited));
  }
  void refuse_linked(const Op& op) const;
  static const Op& owner_of(const Op& op) { return op; }
  static const Op& owner_of(const Block& block) { return *block.parent_->parent_; }
  static const Op& owner_of(const Value& value);
  std::uint32_t next_value_id(GraphState& graph);
  ValueName fresh_name();
  void changed(Op& op, OpChange change);
  void changed(Region& region);
  template <class Edit>
  void edit_value(Value& value, const Edit& edit);
  std::span<const NamedAttr> printable(const GraphState& graph,
                                       std::span<const NamedAttr> attributes);
  bool can_say(Symbol path, bool in_dump) const;
  bool can_say_paths(const Region& region) const;
  void make_printable(Op& op);
  void make_printable(Value& value);
  void set_use(Use& use, Value* value);
  void forget_result(const Use& use);
  void replace_definition(Value& from, Value& to);
  void set_use_list(Op& op, std::span<Value* const> operands);
  Value* place_value(GraphState& graph, ValueRange& list, std::size_t i, const Type* type,
                     std::uintptr_t owner);
  static void take_value(const GraphState& graph, ValueRange& list, std::size_t i);
  static void spread_values(const GraphState& graph, ValueRange& list);
  OpExtra& extra_of(Op& op);
  DumpFacts& dump_facts_of(Op& op);
  bool drop_mention(const Use& use);
  void leave(Op& op);
  void leave(Block& block);
  void take_out(Block& block);
  void relink(Op& op, Block& block, Op* before);
  void follow_symbols(Op& op, bool was_linked);
  void link(Block& block, Region& region, Block* before);
  void unlink(Block& block);
  void splice(Block& from, Block& to, Op* before, std::span<Value* const> arguments);
  Op* copy(const Op& op, RewriteMapping& mapping, Block* block, Op* before);
  void copy_head(const Op& from, Op& to, const RewriteMapping& mapping);
  void copy_facts(const Op& from, Op& to);
  void copy_results(const Region& from, Region& to);
  void store_ports(Region& region, const RegionPorts& ports);
  void shift_input_ports(const Block& block, std::size_t i, bool is_new);
  void copy_value(const Value& from, Value& to, RewriteMapping& mapping);
  void copy_body(const Region& from, Region& to, RewriteMapping& mapping);
  void copy_module(const Module& from);
  void settle_forward_uses(const RewriteMapping& mapping);
  Value* copy_of(Value& value, const RewriteMapping& mapping, Region* region);
  void tell_erased(Op& op);
  void drop_operands(Op& op);
  void discard(Op& op);
  template <class Edit>
  void edit_symbol(Op& op, const Edit& edit);
  void note_constant(const Region& region, Value& value);
  Value* find_constant(const Region& region, const Constant& wanted);
  Value* counterpart(const Value& value, Region& region);
  Value* brought(Value& value, Region& region);
  void bring_constants(Op& op, Region& region);

  Module& module_;
  Cursor place_;
  Location default_location_;
  std::vector<Use*> forward_uses_;  // of copies, whose values were not copied yet
  bool is_quiet_ = false;
};

/// Copies a module, with the facts that only dumps state. The copy has the same context, which does
/// not list it: the caller owns it.
std::unique_ptr<Module> clone(const Module& module);

template <class Predicate>
void Rewriter::replace_uses_if(Value& from, Value& to, const Predicate& wanted) {
  if (&from == &to) return;
  tell(graph_of(from), &RewriteListener::will_replace_uses, from, to);
  for (Use* use = from.first_use(); use != nullptr;) {
    Use& each = *use;
    use = use->next();
    if (wanted(std::as_const(each))) set_operand(*each.user(), each.index(), &to);
  }
}

}  // namespace mir

// Values, ops, blocks and regions, and what can be asked of an op.
#pragma once

#include <algorithm>
#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/dump_facts.hpp"
#include "mir/type.hpp"

namespace mir {

// Values and their uses.

class Block;
class Cursor;
class Editor;
class Module;
class Op;
class Region;
class Resolver;
class Rewriter;
class Value;

/// One operand, a node in the use list of its value.
class Use {
 public:
  Value* value() const { return value_; }
  Op* user() const { return user_; }
  Use* next() const { return next_; }
  /// Position among the user's operands.
  std::uint32_t index() const;

 private:
  friend class Resolver;
  friend class Rewriter;
  void set(Value* value);

  Value* value_ = nullptr;
  Op* user_ = nullptr;
  Use* next_ = nullptr;
  Use** previous_ = nullptr;
};

/// A typed datum: a result, a block argument, or a free value of a region, which is used there and
/// defined nowhere (constants, parameters, inputs of a dump). Address and id do not change as long
/// as the module lives.
const Attr* find_attribute(const IRContext& context, std::span<const NamedAttr> attributes,
                           KeyRef key);

class Value {
 public:
  const Type* type() const { return type_; }
  const TensorType* tensor_type() const { return dyn_cast<TensorType>(type_); }
  const TensorType* held_type() const { return mir::held_type(type_); }

  ValueName name() const { return name_; }
  /// The symbol of `[@symbol]`; empty if there is none.
  Symbol symbol() const { return symbol_; }
  bool has_symbol() const { return has_symbol_; }
  /// Attributes that every mention repeats (`constant`, `quant_recipe`, `symbol`).
  std::span<const NamedAttr> attributes() const { return attributes_; }
  const Attr* attribute(Symbol key) const { return find_attribute(attributes_, key); }

  /// The op whose result this is; null for arguments and free values.
  Op* defining_op() const { return is_result() ? reinterpret_cast<Op*>(owner_) : nullptr; }
  Block* argument_of() const {
    return is_argument() ? reinterpret_cast<Block*>(owner_ & ~kTag) : nullptr;
  }
  Region* free_in() const {
    return is_free() ? reinterpret_cast<Region*>(owner_ & ~kTag) : nullptr;
  }
  bool is_result() const { return (owner_ & kTag) == kResult; }
  bool is_argument() const { return (owner_ & kTag) == kArgument; }
  bool is_free() const { return (owner_ & kTag) == kFree; }
  /// Position among the results, arguments or free values of the owner.
  std::uint32_t index() const { return index_; }
  /// Dense in the module, never reused.
  std::uint32_t id() const { return id_; }

  Use* first_use() const { return uses_; }
  bool has_uses() const { return uses_ != nullptr; }
  std::size_t use_count() const;

 private:
  friend class Module;
  friend class Resolver;
  friend class Rewriter;
  friend class Use;

  static constexpr std::uintptr_t kTag = 3, kResult = 0, kArgument = 1, kFree = 2;

  const Type* type_ = nullptr;
  Use* uses_ = nullptr;
  std::uintptr_t owner_ = 0;
  std::span<const NamedAttr> attributes_;
  Symbol symbol_;
  ValueName name_;
  std::uint32_t index_ : 31 = 0;
  std::uint32_t has_symbol_ : 1 = 0;
  std::uint32_t id_ = 0;
};

/// The results of an op or the arguments of a block, in order. They are contiguous until the list
/// changes, and are accessed through a list of pointers from then on, so that values never move. An
/// edit of the list invalidates the range.
class ValueRange {
 public:
  class iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using iterator_category = std::random_access_iterator_tag;
    using reference = Value&;
    using pointer = Value*;
    iterator() = default;
    iterator(std::uintptr_t at, std::ptrdiff_t index) : at_(at), index_(index) {}
    Value& operator*() const { return element(at_, index_); }
    Value* operator->() const { return &**this; }
    Value& operator[](std::ptrdiff_t i) const { return element(at_, index_ + i); }
    iterator& operator+=(std::ptrdiff_t n) { return index_ += n, *this; }
    iterator& operator-=(std::ptrdiff_t n) { return index_ -= n, *this; }
    iterator& operator++() { return *this += 1; }
    iterator& operator--() { return *this -= 1; }
    iterator operator++(int) { return std::exchange(*this, *this + 1); }
    iterator operator--(int) { return std::exchange(*this, *this - 1); }
    friend iterator operator+(iterator a, std::ptrdiff_t n) { return a += n; }
    friend iterator operator+(std::ptrdiff_t n, iterator a) { return a += n; }
    friend iterator operator-(iterator a, std::ptrdiff_t n) { return a -= n; }
    friend std::ptrdiff_t operator-(iterator a, iterator b) { return a.index_ - b.index_; }
    friend bool operator==(iterator, iterator) = default;
    friend auto operator<=>(iterator a, iterator b) { return a.index_ <=> b.index_; }

   private:
    std::uintptr_t at_ = 0;
    std::ptrdiff_t index_ = 0;
  };

  ValueRange() = default;
  /// Values side by side.
  ValueRange(Value* first, std::uint32_t count)
      : at_(reinterpret_cast<std::uintptr_t>(first)), count_(count) {}

  iterator begin() const { return {at_, 0}; }
  iterator end() const { return {at_, static_cast<std::ptrdiff_t>(count_)}; }
  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  Value& front() const { return (*this)[0]; }
  Value& back() const { return (*this)[count_ - 1]; }
  Value& operator[](std::size_t i) const {
    assert(i < count_);
    return element(at_, static_cast<std::ptrdiff_t>(i));
  }

 private:
  friend class Block;
  friend class Op;
  friend class Rewriter;
  static constexpr std::uintptr_t kPointers = 1;

  ValueRange(std::uintptr_t at, std::uint32_t count) : at_(at), count_(count) {}
  static Value& element(std::uintptr_t at, std::ptrdiff_t i) {
    return (at & kPointers) == 0 ? reinterpret_cast<Value*>(at)[i]
                                 : *reinterpret_cast<Value* const*>(at - kPointers)[i];
  }

  std::uintptr_t at_ = 0;  // of the first value or, with the bit set, of the first pointer
  std::uint32_t count_ = 0;
};

}  // namespace mir

template <>
inline constexpr bool std::ranges::enable_borrowed_range<mir::ValueRange> = true;
template <>
inline constexpr bool std::ranges::enable_view<mir::ValueRange> = true;

namespace mir {

// Operations, values, blocks and regions of one module.
//
// Everything lives in arenas of the module: addresses are stable, nothing is freed before it,
// pointers do not own. These types only read; every change goes through the rewriter
// (mir/rewriter.hpp). Ids are unique in a module and never used again. They have few gaps, left by
// threads that take blocks of them, so side tables are vectors.

/// State shared by the ops inside an isolated op, except for ops in nested isolated ops. Two
/// threads may edit two graphs of a module.
struct GraphState {
  Module* module = nullptr;
  Editor* editor = nullptr;    ///< gives memory and ids; of the thread that works on the graph
  Cursor* cursors = nullptr;   ///< at places inside
  GraphState* next = nullptr;  ///< in the list of all in the module
  // True from the first such op on, also when it has gone, and where an op has no row.
  bool may_have_graphs = false;  ///< an op is a graph or isolated
  bool may_call = false;         ///< an op calls a graph
  bool has_new_values = false;   ///< a pass has made values that have no names yet
};

/// The parts that few ops have.
struct OpExtra {
  std::span<const Symbol> angles;  ///< texts of `<...>` in order: device, fragment kind, op type
  Region* regions = nullptr;       ///< the first of them
  struct Successor {
    Block* block = nullptr;           ///< null: the text names a block that its region lacks ...
    Symbol stated;                    ///< ... by this name; see name()
    std::uint32_t first_operand = 0;  ///< its arguments are operands [first, first + count)
    std::uint32_t operand_count = 0;

    /// The name of the block in text.
    Symbol name() const;
  };
  std::span<const Successor> successors;
  DumpFacts* dump = nullptr;
};

class Op {
 public:
  OpKind kind() const { return name_.kind; }
  const OpName& op_name() const { return name_; }
  const OpKindInfo& info() const { return *name_.info; }
  const OpRow* row() const { return info().row; }
  /// True if the op's row has the trait; false for an op without a row.
  bool has(Trait trait) const { return row() != nullptr && mir::has(row()->traits, trait); }
  /// "dialect.Name" without a device.
  std::string_view name() const { return info().name; }
  Symbol device() const { return name_.device; }
  /// The built-in op that this is; kNone for other ops.
  OpId op_id() const { return kind().op(); }
  /// Whether this is one of the given ops.
  template <class... Others>
  bool is(OpId op, Others... others) const {
    return kind() == op || (... || (kind() == others));
  }
  /// True if the name begins with that of the dialect, also for unknown ops.
  bool is_in(DialectId dialect) const { return info().dialect_id == dialect; }

  /// `@symbol`; has_symbol() tells an empty one from none.
  Symbol symbol() const { return symbol_; }
  bool has_symbol() const { return has_symbol_; }
  /// `<name="...">`: the path of the op in its model.
  Symbol path() const { return path_; }
  bool has_path() const { return has_path_; }

  std::span<Use> operand_uses() const { return {operands_, operand_count_}; }
  std::uint32_t operand_count() const { return operand_count_; }
  /// The operands that no successor takes as arguments; they come first. Arities of rows count
  /// these.
  std::span<Use> plain_operands() const;
  Value* operand(std::size_t i) const {
    assert(i < operand_count_);
    return operands_[i].value();
  }
  ValueRange results() const { return results_; }
  std::uint32_t result_count() const { return results_.count_; }
  Value* result(std::size_t i = 0) const { return &results_[i]; }
  /// False if the text has neither operand nor result lists, as `prog.ret`.
  bool has_signature() const { return has_signature_; }

  std::span<const NamedAttr> attributes() const { return {attributes_, attribute_count_}; }
  const Attr* attribute(Symbol key) const { return find_attribute(attributes(), key); }
  const Attr* attribute(std::string_view key) const;
  const Attr* attribute(AttrKey key) const { return attribute(key.symbol); }
  bool has_attribute_list() const { return has_attribute_list_; }

  /// The first of the op's regions, which are linked by Region::next(); null: none.
  Region* first_region() const { return extra_ == nullptr ? nullptr : extra_->regions; }
  std::uint32_t region_count() const;
  Region* region(std::size_t i = 0) const;
  const OpExtra& extra() const { return extra_ == nullptr ? kNoExtra : *extra_; }
  /// Text of the i-th `<...>`; empty when there is none.
  std::string_view angle(std::size_t i) const;
  /// Facts that the text of a dump states about the op beyond all this.
  const DumpFacts& dump_facts() const {
    return extra().dump == nullptr ? kNoDumpFacts : *extra().dump;
  }

  Module& module() const { return *graph_->module; }
  Block* block() const { return block_; }
  Region* parent_region() const;
  Op* parent_op() const;
  /// Returns the nearest op of this kind around this op; null if there is none.
  Op* parent_of_kind(OpId kind) const;
  /// Returns the op directly in `region` that is this op or contains it; null if this op is outside
  /// the region.
  const Op* ancestor_in(const Region& region) const;
  /// True if this op is nested in a region of `other`, at any depth.
  bool is_inside(const Op& other) const;
  Op* next() const { return next_; }
  Op* previous() const { return previous_; }
  /// Whether `other`, of the same block, comes after this one; in constant time.
  bool is_before_in_block(const Op* other) const {
    assert(block_ != nullptr && block_ == other->block_);
    return order_ < other->order_;
  }
  bool is_erased() const { return erased_; }

  Location location() const { return location_; }
  /// Where the text names the op, for diagnostics. Of an op made since, the place of its location,
  /// which is that of the op it replaced; unknown if it has none.
  Span span() const;
  std::uint32_t id() const { return id_; }
  /// True if anything but its position and the contents of its regions changed since it was read.
  bool is_modified() const { return modified_; }
  /// True if the text at its location is its own; false for ops that were created later.
  bool was_read() const { return read_; }

  // Upstream's spelling of isa and cast, which mir/upstream.hpp defines.
  template <class T>
  bool isa_() const;
  template <class T>
  T cast_();

 private:
  friend class Block;
  friend class Module;
  friend class Resolver;
  friend class Rewriter;

  static constexpr OpExtra kNoExtra{};
  static constexpr DumpFacts kNoDumpFacts{};

  void mark_as_read() {
    modified_ = false;
    read_ = true;
  }
  void move_in(GraphState& graph);
  void note_in_graph();

  Op* previous_ = nullptr;
  Op* next_ = nullptr;
  Block* block_ = nullptr;
  GraphState* graph_ = nullptr;
  Use* operands_ = nullptr;
  ValueRange results_;
  const NamedAttr* attributes_ = nullptr;
  OpExtra* extra_ = nullptr;
  OpName name_;
  Symbol symbol_;
  Symbol path_;
  Location location_;
  std::uint32_t id_ = 0;
  std::uint32_t operand_count_ = 0;
  std::uint32_t order_ = 0;  // grows along the block
  std::uint32_t attribute_count_ = 0;
  bool has_symbol_ : 1 = false;
  bool has_path_ : 1 = false;
  bool has_signature_ : 1 = false;
  bool has_attribute_list_ : 1 = false;
  bool modified_ : 1 = true;
  bool read_ : 1 = false;
  bool erased_ : 1 = false;
};

/// Fetches so many lines from an address on into the cache; an op with few operands takes five. A
/// hint: any address is allowed.
inline void fetch(const void* at, std::uintptr_t lines = 5) {
  constexpr std::uintptr_t kLine = 64;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(at);
  for (std::uintptr_t i = 0; i < lines; ++i) {
    __builtin_prefetch(reinterpret_cast<const void*>(first + i * kLine));
  }
}

/// Fetches the memory of ops that follow in the text. Ops lie in memory in text order, at distances
/// that no processor predicts.
inline void fetch_ahead(const Op* op) {
  constexpr std::uintptr_t kDistance = 1536;
  fetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(op) + kDistance));
}

/// Forward or backward iteration over the ops of a block or the blocks of a region; the current
/// element may be erased. Forward over ops, it fetches those that come next.
template <class T>
class LinkedIterator {
 public:
  using value_type = T*;
  using difference_type = std::ptrdiff_t;
  LinkedIterator() = default;
  LinkedIterator(T* at, bool forward) : forward_(forward) { move_to(at); }
  T* operator*() const { return at_; }
  LinkedIterator& operator++() {
    move_to(follow_);
    return *this;
  }
  LinkedIterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const LinkedIterator& a, const LinkedIterator& b) {
    return a.at_ == b.at_;
  }

 private:
  void move_to(T* at) {
    at_ = at;
    if (at == nullptr) return;
    follow_ = forward_ ? at->next() : at->previous();
    if constexpr (std::is_same_v<T, Op>) {
      if (forward_) fetch_ahead(at);
    }
  }
  T* at_ = nullptr;
  T* follow_ = nullptr;
  bool forward_ = true;
};

/// The elements of a linked list from `first` on, in one direction.
template <class T>
class LinkedRange {
 public:
  LinkedRange(T* first, bool forward) : first_(first), forward_(forward) {}
  LinkedIterator<T> begin() const { return {first_, forward_}; }
  LinkedIterator<T> end() const { return {nullptr, forward_}; }
  bool empty() const { return first_ == nullptr; }

 private:
  T* first_;
  bool forward_;
};

using OpRange = LinkedRange<Op>;
using BlockRange = LinkedRange<Block>;

/// A list of ops with arguments.
class Block {
 public:
  Region* parent() const { return parent_; }
  Op* front() const { return first_; }
  Op* back() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  OpRange ops() const { return {first_, true}; }
  OpRange reversed() const { return {last_, false}; }
  /// The last op if it is a terminator; null otherwise.
  Op* terminator() const;

  ValueRange arguments() const { return arguments_; }
  /// `^name`; empty for the unnamed entry block. A block without a name, or with that of another
  /// one, gets a fresh one in text.
  Symbol name() const { return name_; }
  /// The successors of its last op, in order; a block may occur twice.
  std::span<const OpExtra::Successor> successors() const;
  /// Returns the blocks of the region that have this one as a successor, each once, in text order.
  /// Looks at every block of the region; a ControlFlowGraph has the predecessors of all of them.
  std::vector<Block*> predecessors() const;
  Block* next() const { return next_; }
  Block* previous() const { return previous_; }

 private:
  friend class Region;
  friend class Rewriter;

  void link(Op* op, Op* position);
  void take_out(Op* op);
  void number(Op* op);
  void spread(Op* op);

  Region* parent_ = nullptr;
  Block* previous_ = nullptr;
  Block* next_ = nullptr;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
  ValueRange arguments_;
  Symbol name_;
};

/// The names under which the inputs and outputs of a signature are read. None: that of the value.
struct RegionPorts {
  std::span<const ValueName> inputs{}, outputs{};
};

/// The port of an input or output for which a signature states none: the symbol of the value, else
/// its name.
inline ValueName default_port(const Value& value) {
  return value.symbol() ? ValueName::symbol(value.symbol()) : value.name();
}

/// A list of blocks. A dump's region has one unnamed block.
class Region {
 public:
  Op* parent() const { return parent_; }
  /// The op's next region.
  Region* next() const { return next_; }
  Block* entry() const { return first_; }
  Block* last_block() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  /// The blocks in text order, the entry first.
  BlockRange blocks() const { return {first_, true}; }
  BlockRange reversed_blocks() const { return {last_, false}; }
  bool has_several_blocks() const { return first_ != last_; }
  /// Returns the block of a region that has exactly one. For code that does not follow control flow
  /// and has refused regions with several blocks before.
  Block& only_block() const {
    assert(first_ != nullptr && first_ == last_);
    return *first_;
  }
  /// The arguments of the entry block, which the signature of a graph lists as its inputs; none for
  /// a region without blocks.
  ValueRange entry_arguments() const {
    return first_ == nullptr ? ValueRange() : first_->arguments();
  }
  /// True if ops of this region may use values of `outer`: this region is `outer`, or nested in it
  /// with no isolated op between.
  bool sees(const Region& outer) const;
  /// False if the ops of this region, and those nested in it but for isolated ones, never had a
  /// call or a graph among them. So a search for either does not enter most graphs.
  bool may_have_calls() const { return graph_->may_call; }
  bool may_have_graphs() const { return graph_->may_have_graphs; }
  /// Whether the text has `(ins) -> (outs)` for it.
  bool has_signature() const { return has_signature_; }
  /// Position among the op's regions.
  std::uint32_t index() const { return index_; }
  /// Of the values that it hands over, by its signature.
  std::span<const Type* const> result_types() const { return result_types_; }
  /// The results as the text of the signature states them; empty for a region that was not read.
  std::span<const RegionResult> stated_results() const { return stated_results_; }
  /// The operand that becomes this result, of the first terminator in text that leaves the region.
  /// Null if there is none, or if it does not match the signature.
  Value* returned(std::size_t result) const;
  /// The names under which the inputs and outputs of the signature are read. Edits of values keep
  /// them. Reading a portable module states all of them; text has those that differ from the names
  /// of their values. Empty in dumps.
  const RegionPorts& ports() const { return ports_ == nullptr ? kNoPorts : *ports_; }
  /// The stated port of an input, else that of the value.
  ValueName input_port(std::size_t input) const;
  /// The stated port of an output, else that of the returned value. None if neither exists.
  ValueName output_port(std::size_t output) const;
  /// Values that are used here and defined neither here nor around the region, in order of first
  /// use.
  std::span<Value* const> free_values() const { return {free_, free_count_}; }

 private:
  friend class Block;
  friend class Cursor;
  friend class Editor;
  friend class ListenerScope;
  friend class Module;
  friend class Op;
  friend class Resolver;
  friend class Rewriter;

  static constexpr RegionPorts kNoPorts{};

  Op* parent_ = nullptr;
  GraphState* graph_ = nullptr;  // of the ops in its blocks
  Region* next_ = nullptr;
  Block* first_ = nullptr;
  Block* last_ = nullptr;
  std::span<const Type* const> result_types_;
  std::span<const RegionResult> stated_results_;
  RegionPorts* ports_ = nullptr;  // null: none is stated
  Value** free_ = nullptr;
  std::uint32_t free_count_ = 0;
  std::uint32_t free_capacity_ = 0;
  std::uint32_t index_ = 0;        // among the op's regions
  Region* last_region_ = nullptr;  // of the op; only its first region knows
  bool has_signature_ = false;
};

inline Symbol OpExtra::Successor::name() const {
  return block == nullptr ? stated : block->name();
}

inline std::uint32_t Op::region_count() const {
  const Region* first = first_region();
  return first == nullptr ? 0 : first->last_region_->index_ + 1;
}

/// The range of the name of an op in the text at a location; unknown if the location leads to no
/// text.
Span op_span(const IRContext& context, Location location);

// Effects of ops.

/// Effects of the op and the ops inside it. In a portable module, no op writes an operand. Returns
/// no value if the effects are unknown, as for an op without a row.
std::optional<Effect> effects_of(const Op& op);

/// True if the results depend on operands, attributes and weights only, and the op has no effect:
/// it may be erased if its results have no uses, and merged with an equal op. False for calls,
/// whose graphs are not examined (see Effects).
bool is_pure(const Op& op);

/// Whether the op can be erased without any effect: it is pure, neither ends a block nor declares a
/// symbol, and nothing uses its results.
bool is_dead(const Op& op);

/// True if operands 0 and 1 may be exchanged.
bool is_commutative(const Op& op);

/// Whether an op of a dump writes into the storage of operand `index`.
bool writes_operand(const Op& op, std::uint32_t index);

/// True if the op may run where it would not have run: it is pure and refuses nothing (see
/// may_refuse).
bool is_speculatable(const Op& op);

// Values that are known before a run.

/// The numbers of a constant, or the parameter that a symbol names, with the type and the
/// attributes that mentions repeat. Values of equal constants compare equal, in one region or in
/// several.
struct Constant {
  const Type* type = nullptr;
  std::span<const NamedAttr> attributes{};
  Symbol symbol{};
  bool has_symbol = false;  ///< a parameter

  /// The number that all elements have; null for a parameter and if several are stated.
  const Attr* number() const;

  friend bool operator==(const Constant& a, const Constant& b) {
    return a.type == b.type && a.symbol == b.symbol && a.has_symbol == b.has_symbol &&
           std::ranges::equal(a.attributes, b.attributes);
  }
};

/// The constant of a free value that states numbers or a symbol, or of a register's result. No
/// value for others.
std::optional<Constant> constant_of(const Value& value);

}  // namespace mir

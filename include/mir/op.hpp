// Operations, values, blocks and regions of one module.
//
// Everything lives in the module's arena: addresses are stable, nothing is freed singly, pointers
// do not own. Only Block, Module, Builder and IRWriter link and unlink. Ids are dense per module
// and never reused, so side tables are vectors.
#pragma once

#include <cassert>
#include <cstdint>
#include <span>
#include <string_view>

#include "mir/attribute.hpp"
#include "mir/context.hpp"
#include "mir/location.hpp"
#include "mir/source.hpp"
#include "mir/type.hpp"

namespace mir {

class Block;
class Module;
class Op;
class Region;
class Resolver;
class Value;

/// A value's name in text: decimal storage ids are numbers, everything else is interned.
class ValueName {
 public:
  constexpr ValueName() = default;
  static constexpr ValueName number(std::uint32_t id) { return ValueName(id); }
  static constexpr ValueName symbol(Symbol name) { return ValueName(name.id | kSymbolBit); }
  static constexpr std::uint32_t kMaxNumber = 0x7fff'fffe;

  constexpr bool is_number() const { return (raw_ & kSymbolBit) == 0; }
  constexpr std::uint32_t number() const { return raw_; }
  constexpr Symbol symbol() const { return Symbol{raw_ & ~kSymbolBit}; }
  constexpr bool is_none() const { return raw_ == kNone; }
  constexpr std::uint32_t raw() const { return raw_; }
  friend bool operator==(ValueName, ValueName) = default;

 private:
  static constexpr std::uint32_t kSymbolBit = 0x8000'0000u;
  static constexpr std::uint32_t kNone = 0x7fff'ffffu;
  constexpr explicit ValueName(std::uint32_t raw) : raw_(raw) {}
  std::uint32_t raw_ = kNone;  ///< none: printing chooses a fresh number
};

/// One operand slot; a node of its value's use list.
class Use {
 public:
  Value* value() const { return value_; }
  Op* user() const { return user_; }
  Use* next() const { return next_; }
  /// Position among the user's operands.
  std::uint32_t index() const;
  /// Moves the use; Op::set_operand is the way that also marks the user as modified.
  void set(Value* value);

 private:
  friend class Module;
  friend class Op;
  Value* value_ = nullptr;
  Op* user_ = nullptr;
  Use* next_ = nullptr;
  Use** previous_ = nullptr;
};

/// A tensor (or other typed datum): a result, a block argument, or a free value of a region (used
/// there and defined nowhere: constants, parameters, inputs of a dump). Setters mark the ops that
/// mention it as modified.
class Value {
 public:
  const Type* type() const { return type_; }
  void set_type(const Type* type) {
    type_ = type;
    mark_mentions();
  }
  const TensorType* tensor_type() const { return dyn_cast<TensorType>(type_); }

  ValueName name() const { return name_; }
  void set_name(ValueName name) {
    name_ = name;
    mark_mentions();
  }
  /// The symbol of `[@symbol]`; empty: none.
  Symbol symbol() const { return symbol_; }
  bool has_symbol() const { return has_symbol_; }
  void set_symbol(Symbol symbol) {
    symbol_ = symbol;
    has_symbol_ = true;
    mark_mentions();
  }
  /// Attributes that every mention repeats (`constant`, `quant_recipe`, `symbol`).
  std::span<const NamedAttr> attributes() const { return attributes_; }
  const Attr* attribute(Symbol key) const;

  /// The op that has this as a result; null for arguments and free values.
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
  std::uint32_t id() const { return id_; }

  Use* first_use() const { return uses_; }
  bool has_uses() const { return uses_ != nullptr; }
  std::size_t use_count() const;
  /// What mentions stated beyond this value (UseOverride) is dropped with them.
  void replaceAllUsesWith(Value* other);

 private:
  friend class Module;
  friend class Resolver;
  friend class Use;
  void mark_mentions();

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

/// The rarer parts of an op.
struct OpExtra {
  std::span<const Symbol> angles;  ///< texts of `<...>` in order: device, fragment kind, op type
  Symbol label;                    ///< target of prog.jump
  std::uint64_t address = 0;       ///< of `addr:`
  bool has_address = false;
  bool has_label = false;
  struct Successor {
    Symbol block;
    std::uint32_t first_operand = 0;  ///< its arguments are operands [first, first + count)
    std::uint32_t operand_count = 0;
  };
  std::span<const Successor> successors;
};

class Op {
 public:
  OpKind kind() const { return name_.kind; }
  const OpName& op_name() const { return name_; }
  const OpKindInfo& info() const { return *name_.info; }
  const OpRow* row() const { return info().row; }
  /// "dialect.Name" without a device.
  std::string_view name() const { return info().name; }
  Symbol device() const { return name_.device; }
  /// The op of the build that this is; kNone when it is another one.
  OpId op_id() const { return kind().op(); }
  /// Whether this is one of the given ops.
  template <class... Others>
  bool is(OpId op, Others... others) const {
    return kind() == op || (... || (kind() == others));
  }
  /// Whether the name begins with this dialect's, known op or not.
  bool is_in(DialectId dialect) const { return info().dialect_id == dialect; }

  /// `@symbol`; has_symbol() tells an empty one from none.
  Symbol symbol() const { return symbol_; }
  bool has_symbol() const { return has_symbol_; }
  void set_symbol(Symbol symbol);
  /// `<name="...">`: the path of the op in its model.
  Symbol path() const { return path_; }
  bool has_path() const { return has_path_; }
  void set_path(Symbol path);
  void clear_path();

  std::span<Use> operand_uses() const { return {operands_, operand_count_}; }
  std::uint32_t operand_count() const { return operand_count_; }
  Value* operand(std::size_t i) const {
    assert(i < operand_count_);
    return operands_[i].value();
  }
  void set_operand(std::size_t i, Value* value);
  std::span<Value> results() const { return {results_, result_count_}; }
  std::uint32_t result_count() const { return result_count_; }
  Value* result(std::size_t i = 0) const {
    assert(i < result_count_);
    return &results_[i];
  }
  /// Whether the text has operand and result lists at all (`prog.ret` has none).
  bool has_signature() const { return has_signature_; }

  std::span<const NamedAttr> attributes() const { return {attributes_, attribute_count_}; }
  const Attr* attribute(Symbol key) const;
  const Attr* attribute(std::string_view key) const;
  bool has_attribute_list() const { return has_attribute_list_; }
  void set_attribute(Symbol key, const Attr* value);
  bool remove_attribute(Symbol key);

  /// The first of the op's regions, which are linked by Region::next(); null: none.
  Region* first_region() const { return regions_; }
  std::uint32_t region_count() const;
  Region* region(std::size_t i = 0) const;
  const OpExtra& extra() const { return extra_ == nullptr ? kNoExtra : *extra_; }
  OpExtra& mutable_extra();
  /// Text of the i-th `<...>`; empty when there is none.
  std::string_view angle(std::size_t i) const;

  Module& module() const { return *module_; }
  Block* block() const { return block_; }
  Region* parent_region() const;
  Op* parent_op() const;
  Op* next() const { return next_; }
  Op* previous() const { return previous_; }
  bool is_before_in_block(const Op* other) const;
  bool is_erased() const { return erased_; }

  Location location() const { return location_; }
  /// An op that is said to come from elsewhere prints as a new one.
  void set_location(Location location) {
    location_ = location;
    modified_ = true;
    read_ = false;
  }
  /// Where the text names the op, for diagnostics; unknown for an op that no text has.
  Span span() const;
  std::uint32_t id() const { return id_; }
  /// Whether anything but its place and the contents of its regions changed since it was read.
  bool is_modified() const { return modified_; }
  void mark_modified() { modified_ = true; }
  /// Whether the text at its location is its own; false for ops that were made since.
  bool was_read() const { return read_; }
  void mark_as_read() {
    modified_ = false;
    read_ = true;
  }

  template <class T>
  bool isa_() const {
    return T::classof(this);
  }
  template <class T>
  T cast_() {
    assert(T::classof(this));
    return T(this);
  }

 private:
  friend class Block;
  friend class Module;
  friend class Use;

  static constexpr OpExtra kNoExtra{};

  Op* previous_ = nullptr;
  Op* next_ = nullptr;
  Block* block_ = nullptr;
  Module* module_ = nullptr;
  Use* operands_ = nullptr;
  Value* results_ = nullptr;
  const NamedAttr* attributes_ = nullptr;
  Region* regions_ = nullptr;
  OpExtra* extra_ = nullptr;
  OpName name_;
  Symbol symbol_;
  Symbol path_;
  Location location_;
  std::uint32_t id_ = 0;
  std::uint32_t operand_count_ = 0;
  std::uint32_t result_count_ = 0;
  std::uint32_t attribute_count_ = 0;
  bool has_symbol_ : 1 = false;
  bool has_path_ : 1 = false;
  bool square_path_ : 1 = false;
  bool has_signature_ : 1 = false;
  bool has_attribute_list_ : 1 = false;
  bool modified_ : 1 = true;
  bool read_ : 1 = false;
  bool erased_ : 1 = false;
  bool may_override_ : 1 = false;  // some operand's mention may have a UseOverride

 public:
  /// Whether the path was written `[name="..."]`.
  bool has_square_path() const { return square_path_; }
  void set_square_path(bool square) {
    square_path_ = square;
    modified_ = true;
  }
};

/// Forward and backward iteration over the ops of a block; the current op may be erased.
class OpIterator {
 public:
  using value_type = Op*;
  using difference_type = std::ptrdiff_t;
  OpIterator() = default;
  OpIterator(Op* op, bool forward) : op_(op), follow_(step(op, forward)), forward_(forward) {}
  Op* operator*() const { return op_; }
  OpIterator& operator++() {
    op_ = follow_;
    follow_ = step(op_, forward_);
    return *this;
  }
  OpIterator operator++(int) {
    auto old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const OpIterator& a, const OpIterator& b) { return a.op_ == b.op_; }

 private:
  static Op* step(Op* op, bool forward) {
    return op == nullptr ? nullptr : forward ? op->next() : op->previous();
  }
  Op* op_ = nullptr;
  Op* follow_ = nullptr;
  bool forward_ = true;
};

class OpRange {
 public:
  OpRange(Op* first, bool forward) : first_(first), forward_(forward) {}
  OpIterator begin() const { return {first_, forward_}; }
  OpIterator end() const { return {nullptr, forward_}; }
  bool empty() const { return first_ == nullptr; }

 private:
  Op* first_;
  bool forward_;
};

/// A list of ops with arguments.
class Block {
 public:
  Region* parent() const { return parent_; }
  Op* front() const { return first_; }
  Op* back() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  OpRange ops() const { return {first_, true}; }
  OpRange reversed() const { return {last_, false}; }
  /// The last op when its row is a terminator; null otherwise.
  Op* terminator() const;

  std::span<Value> arguments() const { return {arguments_, argument_count_}; }
  /// `^name`; empty for the unnamed entry block.
  Symbol name() const { return name_; }
  Block* next() const { return next_; }
  Block* previous() const { return previous_; }

  void push_back(Op* op) { insert_before(op, nullptr); }
  /// Links an unlinked op before `position`, at the end when it is null.
  void insert_before(Op* op, Op* position);
  void unlink(Op* op);

 private:
  friend class Module;
  friend class Region;
  Region* parent_ = nullptr;
  Block* previous_ = nullptr;
  Block* next_ = nullptr;
  Op* first_ = nullptr;
  Op* last_ = nullptr;
  Value* arguments_ = nullptr;
  std::uint32_t argument_count_ = 0;
  Symbol name_;
};

/// What a region's signature says of one result: `-> (%9:tensor<...>)`.
struct RegionResult {
  ValueName name{};
  const Type* type = nullptr;
  Symbol symbol{};
  bool has_symbol = false;
  std::span<const NamedAttr> attributes{};
};

/// A list of blocks. A dump's region has one unnamed block.
class Region {
 public:
  Op* parent() const { return parent_; }
  /// The op's next region.
  Region* next() const { return next_; }
  Block* entry() const { return first_; }
  Block* last_block() const { return last_; }
  bool empty() const { return first_ == nullptr; }
  /// Ops of the entry block, in both directions.
  OpRange ops() const { return {first_ == nullptr ? nullptr : first_->front(), true}; }
  OpRange reversed() const { return {first_ == nullptr ? nullptr : first_->back(), false}; }
  std::span<Value> arguments() const {
    return first_ == nullptr ? std::span<Value>() : first_->arguments();
  }
  /// Whether the text has `(ins) -> (outs)` for it.
  bool has_signature() const { return has_signature_; }
  void set_has_signature(bool has);
  /// Position among the op's regions.
  std::uint32_t index() const { return index_; }
  std::span<const RegionResult> results() const { return results_; }
  void set_results(std::span<const RegionResult> results);
  /// What the terminator of the last block hands over as that result; null when there is no
  /// terminator or it does not fit the signature.
  Value* returned(std::size_t result) const;
  /// Values used inside and defined neither here nor around it, in order of first use.
  std::span<Value* const> free_values() const { return {free_, free_count_}; }

 private:
  friend class Module;
  friend class Op;
  friend class Resolver;
  Op* parent_ = nullptr;
  Region* next_ = nullptr;
  Block* first_ = nullptr;
  Block* last_ = nullptr;
  std::span<const RegionResult> results_;
  Value** free_ = nullptr;
  std::uint32_t free_count_ = 0;
  std::uint32_t free_capacity_ = 0;
  std::uint32_t index_ = 0;        // among the op's regions
  Region* last_region_ = nullptr;  // of the op; only its first region knows
  bool has_signature_ = false;
};

inline void Region::set_has_signature(bool has) {
  has_signature_ = has;
  parent_->mark_modified();
}

inline void Region::set_results(std::span<const RegionResult> results) {
  results_ = results;
  parent_->mark_modified();
}

inline std::uint32_t Op::region_count() const {
  return regions_ == nullptr ? 0 : regions_->last_region_->index_ + 1;
}

}  // namespace mir

// Values and their uses.
#pragma once

#include <cassert>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <span>
#include <utility>

#include "mir/attribute.hpp"
#include "mir/context.hpp"
#include "mir/type.hpp"

namespace mir {

class Block;
class Module;
class Op;
class Region;
class Resolver;
class Rewriter;
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

 private:
  friend class Resolver;
  friend class Rewriter;
  void set(Value* value);

  Value* value_ = nullptr;
  Op* user_ = nullptr;
  Use* next_ = nullptr;
  Use** previous_ = nullptr;
};

/// A tensor (or other typed datum): a result, a block argument, or a free value of a region (used
/// there and defined nowhere: constants, parameters, inputs of a dump). It stays where it is and
/// keeps its id as long as its module lives, whatever is added or removed beside it.
class Value {
 public:
  const Type* type() const { return type_; }
  const TensorType* tensor_type() const { return dyn_cast<TensorType>(type_); }

  ValueName name() const { return name_; }
  /// The symbol of `[@symbol]`; empty: none.
  Symbol symbol() const { return symbol_; }
  bool has_symbol() const { return has_symbol_; }
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
  /// Dense in the module and never used again.
  std::uint32_t id() const { return id_; }

  Use* first_use() const { return uses_; }
  bool has_uses() const { return uses_ != nullptr; }
  std::size_t use_count() const;

 private:
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

/// The results of an op or the arguments of a block, in order. They lie side by side until the list
/// changes, and behind a list of pointers from then on, so that values never move. An edit of the
/// list makes the range stale.
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
  iterator end() const { return {at_, count_}; }
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

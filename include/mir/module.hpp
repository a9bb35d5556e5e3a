// A module: one `@name (inputs) -> (outputs) { ... }` with the arena that holds its ops.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "mir/op.hpp"

namespace mir {

class Arena;

/// Everything needed to make an op. Spans are copied.
struct OpSpec {
  OpName name;
  std::span<Value* const> operands{};
  std::span<const Type* const> result_types{};
  std::span<const NamedAttr> attributes{};
  std::uint32_t regions = 0;
  Symbol path{};    ///< see Op::path; empty: none
  Symbol symbol{};  ///< see Op::symbol; empty: none
  Location location{};
  bool has_signature = true;
};

/// A mention of a value whose type or attributes differ from the value's: dumps print cached types
/// and forget attributes. Portable modules have none.
struct UseOverride {
  const Type* type = nullptr;
  std::span<const NamedAttr> attributes;
  Symbol symbol;
  bool has_symbol = false;
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
  /// Sets `mir_version` (1 is the only version) or, with 0, makes the module a dump.
  void set_version(std::int64_t version);

  // -- making ----------------------------------------------------------------------------------
  /// An unlinked op; its regions have no block yet.
  Op* create(const OpSpec& spec);
  /// Appends an empty region.
  Region* add_region(Op* op);
  Block* create_block(Region& region, std::span<const Type* const> argument_types = {},
                      Symbol name = {});
  /// Gives a block without arguments its arguments.
  std::span<Value> create_arguments(Block& block, std::span<const Type* const> types);
  /// Adds an argument behind the others. Those move: pointers to them are no longer valid, and what
  /// mentions of them state beyond their value is dropped.
  Value* append_argument(Block& block, const Type* type);
  /// Takes the arguments of a block away; they must have no uses.
  void remove_arguments(Block& block);
  Value* create_free_value(Region& region, const Type* type, ValueName name);
  /// Drops operands, unlinks, marks erased, forgets its symbols; its results must have no uses
  /// outside it. Nested ops go with it.
  void erase(Op* op);
  /// Removes the free values of a region that have no uses; the others keep their order.
  void remove_unused_free_values(Region& region);
  /// A name no value of this module has: the number above all in use, as long as there is one.
  ValueName fresh_name();
  /// What fresh_name() will give after `skip` other names.
  ValueName upcoming_name(std::uint32_t skip) const;
  /// Tells the module that a name is taken; resolve and renaming passes call it.
  void reserve_name(ValueName name);

  void set_operands(Op* op, std::span<Value* const> operands);
  void set_attributes(Op* op, std::span<const NamedAttr> attributes, bool list_present = false);
  void set_value_attributes(Value* value, std::span<const NamedAttr> attributes);
  std::span<const NamedAttr> copy(std::span<const NamedAttr> attributes);
  std::span<const RegionResult> copy(std::span<const RegionResult> results);
  std::span<const Symbol> copy(std::span<const Symbol> symbols);
  std::span<const OpExtra::Successor> copy(std::span<const OpExtra::Successor> successors);

  // -- symbols ---------------------------------------------------------------------------------
  /// The op or value that declares `name`: subgraphs, fragments, labels by `@name` or
  /// `[symbol:name]`; parameters by `[@name]` on a register's result. The first declaration wins.
  IRContext::SymbolUse lookupSymbol(std::string_view name) const;
  Op* lookup_op(Symbol name) const;
  Value* lookup_value(Symbol name) const;
  /// Whether any value has a symbol: without one there are no parameters.
  bool declares_values() const { return !value_symbols_.empty(); }
  /// How many symbols ops declare and how many values do, each counted once.
  std::size_t declared_symbol_count() const { return op_symbols_.size() + value_symbols_.size(); }
  /// The symbol an op declares by `@symbol` or `[symbol:...]`; none for other ops.
  std::optional<Symbol> declared_symbol(const Op* op) const;
  void declare(Symbol name, Op* op);
  void declare(Symbol name, Value* value);
  /// Declares what a linked op declares: its own symbol if its row says so, and its results'.
  void declare_symbols(Op* op);

  // -- dump oddities ---------------------------------------------------------------------------
  const UseOverride* use_override(const Use& use) const {
    return use.user()->may_override_ ? find_override(use) : nullptr;
  }
  void set_use_override(const Use& use, UseOverride override);
  void clear_use_override(const Use& use);
  bool has_use_overrides() const { return !overrides_.empty(); }
  void clear_use_overrides();

  /// Whether an op of this kind was ever made here; it may have been erased since.
  bool has_made(OpKind kind) const {
    const std::size_t word = kind.id / kKindsPerWord;
    return word < made_kinds_.size() && (made_kinds_[word] >> kind.id % kKindsPerWord & 1) != 0;
  }
  std::uint32_t op_id_end() const { return next_op_id_; }
  std::uint32_t value_id_end() const { return next_value_id_; }
  std::size_t memory() const;
  Arena& arena() { return *arena_; }

 private:
  friend class Op;

  const UseOverride* find_override(const Use& use) const;
  static constexpr std::uint32_t kKindsPerWord = 64;
  void note_made(OpKind kind);
  void drop_operands(Op* op);
  void discard(Op* op);
  void forget_symbols(Op* op);
  IRContext& context_;
  std::unique_ptr<Arena> arena_;
  Op* top_ = nullptr;
  std::int64_t version_ = 0;
  std::uint32_t next_op_id_ = 0;
  std::uint32_t next_value_id_ = 0;
  std::uint32_t next_name_ = 0;
  std::uint64_t next_text_name_ = 0;  // of `fresh_<number>`, for when numbers are used up
  Symbol symbol_key_;
  std::vector<std::uint64_t> made_kinds_;  // a bit for each kind
  std::unordered_map<Symbol, Op*> op_symbols_;
  std::unordered_map<Symbol, Value*> value_symbols_;
  std::unordered_map<const Use*, UseOverride> overrides_;
};

}  // namespace mir

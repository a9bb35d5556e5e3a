// IRContext: what modules share. Interned strings, types, attributes and extents, op kinds, texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "mir/attribute.hpp"
#include "mir/dim.hpp"
#include "mir/interner.hpp"
#include "mir/location.hpp"
#include "mir/op_id.hpp"
#include "mir/op_row.hpp"
#include "mir/source.hpp"
#include "mir/type.hpp"

namespace mir {

class Module;
class Op;
class Value;

/// Dense number of an op kind in one context. Ops of the build have that of their OpId, registered
/// or not; others get theirs when their dialect registers, unknown ones when they are first seen.
struct OpKind {
  std::uint32_t id = 0;

  constexpr OpKind() = default;
  constexpr explicit OpKind(std::uint32_t number) : id(number) {}
  constexpr OpKind(OpId op) : id(static_cast<std::uint32_t>(op)) {}
  /// The op of the build that this is; else kNone.
  constexpr OpId op() const { return id < kOpCount ? static_cast<OpId>(id) : OpId::kNone; }
  friend bool operator==(OpKind, OpKind) = default;
};

struct OpKindInfo {
  std::string_view name;             ///< "linalg.LinearOp"; for an unknown dialect the whole path
  std::string_view mnemonic;         ///< "LinearOp"
  const Dialect* dialect = nullptr;  ///< null: unknown
  const OpRow* row = nullptr;        ///< null: unknown
  DialectId dialect_id = DialectId::kOther;  ///< by the name, registered or not
};

/// A name as text spells it: the kind and, in dialects that have one, the device in its path.
struct OpName {
  const OpKindInfo* info = nullptr;  ///< of the kind; lives as long as the context
  OpKind kind;
  Symbol device;
  Symbol spelling;  ///< whole text, "linalg.CPU.LinearOp"
};

/// Whether an unquoted string of this text means the same in a portable module.
bool is_bare_word(std::string_view text);

/// Owns everything unique. Interning is thread-safe; nothing that is printed depends on the order
/// in which it happened.
class IRContext {
 public:
  IRContext();
  ~IRContext();
  IRContext(const IRContext&) = delete;
  IRContext& operator=(const IRContext&) = delete;

  SourceManager& sources();
  const SourceManager& sources() const;
  StringInterner& strings();
  DimTable& dims();
  LocationTable& locations();
  const LocationTable& locations() const;
  Symbol intern(std::string_view text) { return strings().intern(text); }
  std::string_view text(Symbol symbol) const;

  // -- op kinds ------------------------------------------------------------------------------
  /// Rows must outlive the context. Not thread-safe, before any op is made.
  void register_dialect(const Dialect& dialect);
  std::span<const Dialect* const> dialects() const;
  OpName op_name(std::string_view spelling);
  /// The spelling of a kind with a device (empty where the dialect has none in its path).
  OpName op_name(OpKind kind, Symbol device = {});
  const OpKindInfo& info(OpKind kind) const;
  /// The kind called "dialect.Name" in a text or by a person; code names an op by its OpId.
  std::optional<OpKind> find_kind(std::string_view name) const;
  /// The op of type name `type_name` ("Linear") that takes so many operands, where no op does the
  /// first of that type name: upstream gives two ops one name. None for an unknown type name.
  std::optional<OpKind> find_kernel(std::string_view type_name, std::size_t operand_count) const;

  // -- types ---------------------------------------------------------------------------------
  const TensorType* tensor(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                           const Attr* encoding = nullptr);
  const TensorType* tensor(std::span<const Dim> dims, DType dtype, std::string_view device = "CPU");
  const Type* opaque_type(std::string_view text);

  // -- attributes ----------------------------------------------------------------------------
  const Attr* integer(std::int64_t value);
  /// Shortest text that reads back as the same double; always with a point or an exponent.
  const Attr* number(double value);
  const Attr* boolean(bool value);
  const Attr* null();
  const Attr* string(std::string_view text);  ///< quoted
  const Attr* word(std::string_view text);    ///< unquoted
  const Attr* symbol_ref(std::string_view name);
  const Attr* dim(Dim value);
  const Attr* array(std::span<const Attr* const> elements);
  const Attr* dict(std::span<const NamedAttr> entries);
  const Attr* quant_annotation(std::span<const NamedAttr> slots);
  const Attr* type(const Type* type);
  /// A scalar as it is spelled in text: kInt, kFloat, kString, kQuantSpec, kOpaque, kInvalid. The
  /// text is canonical and kept; none when it is no scalar of that kind.
  const Attr* scalar(AttrKind kind, std::string_view spelling);

  /// Bytes held for types, attributes and names.
  std::size_t memory() const;

  // -- modules -------------------------------------------------------------------------------
  /// Makes an empty module owned by the context.
  Module& create_module(std::string_view name = "main");
  void release(Module& module);
  std::span<Module* const> modules() const;
  /// First op or value with this symbol in the modules, in their order; null fields when none.
  struct SymbolUse {
    Op* op = nullptr;
    Value* value = nullptr;
    explicit operator bool() const { return op != nullptr || value != nullptr; }
  };
  SymbolUse lookupSymbol(std::string_view name) const;

 private:
  std::string tensor_text(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                          const Attr* encoding) const;

  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace mir

// The ops that the build knows, as constants.
//
// `mir/op_ids.def` is made from the row tables of src/dialects, so a row is all that declares an
// op: "linalg.RMSNormOp" is OpId::kLinalgRMSNorm, "prog.kernel_launch" is OpId::kProgKernelLaunch.
// The numbers are the order of the tables. They are the same in every context, and mean nothing
// outside the build: what is stored or printed is the name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mir {

/// A dialect of the build; kOther is any other one.
enum class DialectId : std::uint8_t {
#define MIR_DIALECT(id, name) k##id,
#define MIR_OP(id, name)
#define MIR_ALIAS(id, name)
#include "mir/op_ids.def"
#undef MIR_DIALECT
#undef MIR_OP
#undef MIR_ALIAS
  kOther,
};

/// An op of the build; kNone is any other one.
enum class OpId : std::uint16_t {
#define MIR_DIALECT(id, name)
#define MIR_OP(id, name) k##id,
#define MIR_ALIAS(id, name)
#include "mir/op_ids.def"
#undef MIR_DIALECT
#undef MIR_OP
#undef MIR_ALIAS
  kNone,
};

/// How many ops the build knows.
inline constexpr std::size_t kOpCount = static_cast<std::size_t>(OpId::kNone);

/// "linalg.LinearOp" by number.
inline constexpr std::array<std::string_view, kOpCount> kOpNames = {
#define MIR_DIALECT(id, name)
#define MIR_OP(id, name) name,
#define MIR_ALIAS(id, name)
#include "mir/op_ids.def"
#undef MIR_DIALECT
#undef MIR_OP
#undef MIR_ALIAS
};

/// "linalg" by number.
inline constexpr std::array kDialectNames = {
#define MIR_DIALECT(id, name) std::string_view(name),
#define MIR_OP(id, name)
#define MIR_ALIAS(id, name)
#include "mir/op_ids.def"
#undef MIR_DIALECT
#undef MIR_OP
#undef MIR_ALIAS
};

/// An earlier name of an op.
struct OpAlias {
  std::string_view name;  ///< "linalg.LLMEmbeddingTokenOp"
  OpId op;
};
inline constexpr std::array kOpAliases = {
#define MIR_DIALECT(id, name)
#define MIR_OP(id, name)
#define MIR_ALIAS(id, name) OpAlias{name, OpId::k##id},
#include "mir/op_ids.def"
#undef MIR_DIALECT
#undef MIR_OP
#undef MIR_ALIAS
};

/// "linalg.LinearOp"; empty for kNone.
constexpr std::string_view name_of(OpId op) {
  return op == OpId::kNone ? std::string_view() : kOpNames[static_cast<std::size_t>(op)];
}

/// The dialect before the first dot of an op's name.
constexpr DialectId dialect_of(std::string_view op_name) {
  const std::string_view dialect = op_name.substr(0, op_name.find('.'));
  for (std::size_t i = 0; i < kDialectNames.size(); ++i) {
    if (kDialectNames[i] == dialect) return static_cast<DialectId>(i);
  }
  return DialectId::kOther;
}

}  // namespace mir

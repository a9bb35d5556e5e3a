// Operations as rows: everything the toolkit knows about an op without running it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace mir {

class Attr;
class InferContext;

/// How many operands, results or regions an op has; `max` kMany means no upper bound.
struct Arity {
  static constexpr std::uint16_t kMany = 0xffff;
  std::uint16_t min = 0;
  std::uint16_t max = 0;

  constexpr bool admits(std::size_t count) const {
    return count >= min && (max == kMany || count <= max);
  }
};
constexpr Arity exactly(std::uint16_t n) {
  return {n, n};
}
constexpr Arity between(std::uint16_t low, std::uint16_t high) {
  return {low, high};
}
constexpr Arity at_least(std::uint16_t n) {
  return {n, Arity::kMany};
}

enum class Trait : std::uint32_t {
  kNone = 0,
  kPure = 1 << 0,         ///< results depend on operands, attributes and weights only
  kElementwise = 1 << 1,  ///< result i depends on element i of each (broadcast) operand
  kCommutative = 1 << 2,
  kView = 1 << 3,           ///< in dumps the result aliases the operand's storage
  kTerminator = 1 << 4,     ///< ends a block
  kSymbol = 1 << 5,         ///< declares its `@symbol` in the module
  kIsolated = 1 << 6,       ///< regions see no value from outside
  kSameShape = 1 << 7,      ///< every result has the shape and type of operand 0
  kDumpOnly = 1 << 8,       ///< occurs in dumps, has no place in a portable module
  kNoMeaning = 1 << 9,      ///< upstream declares the class and nothing else
  kTypedByName = 1 << 10,   ///< result types are those of the graph, parameter or kernel it names
  kMayRefuse = 1 << 11,     ///< a run may stop at it for what operands hold: indices out of range
  kMoves = 1 << 12,         ///< results hold elements of operands or parameters, or nothing at all
  kSameBytes = 1 << 13,     ///< the one result has the bytes of operand 0: nothing needs to be done
  kPortableOnly = 1 << 14,  ///< no dump has it
  kWeighsOperand = 1 << 15,  ///< the result is sums of products of operand 0 and its own ".weight"
};
constexpr Trait operator|(Trait a, Trait b) {
  return static_cast<Trait>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has(Trait set, Trait one) {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(one)) != 0;
}

/// What an op reads or writes besides operands and results.
enum class Effect : std::uint8_t {
  kNone = 0,
  kReadsState = 1 << 0,  ///< named state (`@cache...`)
  kWritesState = 1 << 1,
  kWritesOperand0 = 1 << 2,  ///< dump form only: the first operand's storage
  kWritesOperand1 = 1 << 3,  ///< dump form only: the second operand's storage
  kControl = 1 << 4,         ///< transfers control or configures the program machine
};
constexpr Effect operator|(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
constexpr Effect operator&(Effect a, Effect b) {
  return static_cast<Effect>(static_cast<std::uint8_t>(a) & static_cast<std::uint8_t>(b));
}
constexpr Effect operator~(Effect a) {
  return static_cast<Effect>(~static_cast<std::uint8_t>(a) & 0xff);
}
constexpr bool has(Effect set, Effect one) {
  return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(one)) != 0;
}

/// What a portable attribute may hold.
enum class AttrType : std::uint8_t {
  kInt,
  kFloat,  ///< any number
  kBool,
  kString,  ///< quoted, or a bare word
  kSymbolRef,
  kDims,   ///< array of extents, symbolic ones included
  kInts,   ///< array of integers
  kDim,    ///< one extent
  kDType,  ///< an element type's name
  kDevice,
  kSlices,  ///< array with one {"start":..,"end":..,"step":..} per dimension
  kDict,
  kAny,
};

/// Whether an attribute of this type may hold the value.
bool admits(AttrType type, const Attr& value);

struct AttrRow {
  std::string_view name;
  AttrType type = AttrType::kAny;
  bool required = false;            ///< in portable form; dumps leave everything out
  std::string_view default_text{};  ///< as written in text; empty: none, or derived from types
  std::string_view summary{};
};

/// A parameter the op owns: symbol `<op name><suffix>`.
struct WeightRow {
  std::string_view suffix;        ///< ".weight"
  std::string_view present_if{};  ///< boolean attribute that says whether it exists; empty: always
  std::string_view shape{};       ///< for documents: "[out_channels, in_channels]"
};

/// Checks operand types and attributes and fills the result types; false after reporting. One
/// entry of the rule library in dialects/rules.hpp.
using InferFn = bool (*)(InferContext&);

struct OpRow {
  std::string_view name;  ///< class name as graph-level text prints it: "LinearOp", "register"
  std::string_view type_name{};  ///< `op_type` in program text and `register<...>`: "Linear"
  std::span<const std::string_view> aliases{};
  Arity operands{};
  Arity results{};
  Arity regions{};
  Trait traits = Trait::kNone;
  Effect effects = Effect::kNone;
  std::span<const AttrRow> attributes{};
  std::span<const WeightRow> weights{};
  InferFn infer = nullptr;     ///< the rule of its result types; null: none is written down
  std::string_view page{};     ///< family page under docs/ops/: "linear"
  std::string_view summary{};  ///< one sentence
  std::string_view example{};  ///< one op line of text that parses
};

/// Where an op's attribute list stands in canonical text.
enum class AttrPosition : std::uint8_t { kBeforeOperands, kAfterResults };

struct Dialect {
  std::string_view name;
  bool device_in_path = false;  ///< `linalg.CPU.AddOp`: the middle word is a device
  AttrPosition attributes = AttrPosition::kAfterResults;
  std::span<const OpRow> rows{};
  std::string_view summary{};
};

}  // namespace mir

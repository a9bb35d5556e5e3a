// Attributes of linalg.GenericOp as C++ types: loops, index maps, sums, conditions.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/symbol_declarations.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// How the iterations that belong to one element of a result are joined.
enum class LoopSum : std::uint8_t { kAdd, kMul, kMax, kMin, kAnd, kOr };

/// True if a sum over nothing is an element: 0, 1, true or false.
inline bool has_neutral(LoopSum sum) {
  return sum != LoopSum::kMax && sum != LoopSum::kMin;
}

/// The word of the attribute `sums`: "add", "mul", ...
std::string_view word_of(LoopSum sum);
/// The sum of a word; no value for other words.
std::optional<LoopSum> loop_sum(std::string_view word);

/// The most loops of an op.
inline constexpr std::size_t kMostLoops = 32;

/// An extent that an attribute has as a number or an expression; no value for other attributes.
std::optional<Dim> extent_in(const Attr& value);

/// The numbers that an accumulator of a floating sum holds.
enum class SumPrecision : std::uint8_t {
  kWide,    ///< Float64; for integers and Bool the type itself
  kSingle,  ///< Float32: terms and sums are rounded to it
  kFused,   ///< Float32: a sum of the accumulator and an exact term is rounded once
};

/// The word of the attribute `accumulate`; the precision must not be kWide.
std::string_view word_of(SumPrecision precision);

/// How a group of summed loops joins its terms. Consecutive loops of one kind share an accumulator.
struct SumKind {
  LoopSum sum = LoopSum::kAdd;
  SumPrecision precision = SumPrecision::kWide;
  friend constexpr bool operator==(const SumKind&, const SumKind&) = default;
};

/// Attributes of a generic op. Symbols of `maps`, `bounds` and `where` belong to the
/// op.
struct GenericForm {
  struct Range {
    Symbol name;
    Dim extent;  ///< in symbols from around the op
  };
  struct Index {
    Symbol name;
    std::size_t operand = 0;
  };
  struct SummedLoop {
    std::size_t loop = 0;
    LoopSum sum = LoopSum::kAdd;
    SumPrecision precision = SumPrecision::kWide;
    SumKind kind() const { return {sum, precision}; }
  };
  struct Result {
    std::vector<Dim> map;
    std::vector<std::size_t> loops;   ///< those in the map, in the written order
    std::vector<SummedLoop> sums;     ///< the other loops, in the written order
    const Attr* start = nullptr;      ///< null: none
    std::optional<DType> dtype = {};  ///< none: that of operand 0
  };

  std::vector<Range> loops;  ///< the outermost first
  std::vector<Range> sizes;
  std::vector<Index> indices;
  std::vector<std::vector<Dim>> operands;  ///< the map of each operand
  std::vector<Result> results;
  std::vector<std::size_t> parallel;       ///< loops whose iterations may run at the same time
  std::vector<std::size_t> vector;         ///< loops whose iterations a vector may hold
  std::vector<std::size_t> unroll;         ///< loops whose iterations are written one by one
  std::vector<SymbolRelation> conditions;  ///< of `bounds`, then of `where`
  std::size_t bound_count = 0;             ///< how many conditions are of `bounds`

  std::span<const SymbolRelation> bounds() const { return {conditions.data(), bound_count}; }
};

/// Why the attributes of a generic op cannot be read.
struct GenericProblem {
  AttrKey key = key::kMaps;
  std::string_view constraint{};
  DiagCode code{};
  std::string message{};
};

struct GenericSource {
  IRContext& context;
  std::function<const Attr*(AttrKey)> attribute;
  std::size_t operand_count = 0, result_count = 0;
};

/// Reads the attributes. No value after `report` was called with a problem.
std::optional<GenericForm> read_generic(const GenericSource& source,
                                        const std::function<void(const GenericProblem&)>& report);

/// The type in which the region computes with elements of a type: Float64 for floating types, the
/// type itself for integers and Bool. No value for other types.
std::optional<DType> accumulation_type(DType dtype);

/// The extent at which bounds end an index over loops, as `$i*32+$r < $n` ends `[$i*32+$r]` at
/// `$n`. No value if none of them has the index.
std::optional<Dim> bound_of(Dim index, std::span<const SymbolRelation> bounds,
                            std::span<const Symbol> names, DimTable& dims);

/// True if each loop of the result's map occurs in one dimension only and each dimension counts
/// through its loops without gaps and repetitions, like `[$j, 32*$t+$r]` with 32 values of `$r`.
/// Then each element has exactly one iteration of these loops. `extents` has the extents of the
/// loops as the map sees them.
bool counts_each_element_once(const GenericForm::Result& result, std::span<const Symbol> names,
                              std::span<const Dim> extents, DimTable& dims);

/// The extents that a map reaches: for each dimension one more than the greatest index, unknown if
/// that does not follow from the signs of coefficients.
std::vector<Dim> reached_extents(std::span<const Dim> map, std::span<const Symbol> names,
                                 std::span<const Dim> extents, DimTable& dims);

}  // namespace mir

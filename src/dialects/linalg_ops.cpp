// The table of linalg rows, joined from the op families.
#include <algorithm>
#include <array>

#include "dialects/linalg/attention.hpp"
#include "dialects/linalg/comparison.hpp"
#include "dialects/linalg/convolution_signal.hpp"
#include "dialects/linalg/elementwise.hpp"
#include "dialects/linalg/generic.hpp"
#include "dialects/linalg/linear.hpp"
#include "dialects/linalg/movement.hpp"
#include "dialects/linalg/norm.hpp"
#include "dialects/linalg/portable_math.hpp"
#include "dialects/linalg/reduction_index.hpp"
#include "dialects/tables.hpp"

namespace mir::dialect_tables {

namespace {

template <std::size_t... N>
consteval auto join(const OpRow (&... families)[N]) {
  std::array<OpRow, (N + ...)> all{};
  auto* end = all.data();
  ((end = std::ranges::copy(families, end).out), ...);
  std::ranges::sort(all, {}, &OpRow::name);
  return all;
}

constexpr auto kLinalgRows =
    join(kArithmeticRows, kPortableMathRows, kComparisonRows, kActivationRows, kLinearRows,
         kNormRows, kRopeRows, kAttentionRows, kShapeRows, kCopyRows, kReductionRows, kIndexRows,
         kConvolutionRows, kSignalRows, kOtherRows, kGenericRows);
static_assert(are_sound(DialectId::kLinalg, kLinalgRows));

}  // namespace

constinit const Dialect kLinalg{.name = "linalg",
                                .device_in_path = true,
                                .attributes = AttrPosition::kBeforeOperands,
                                .rows = kLinalgRows,
                                .summary = "What models compute."};

}  // namespace mir::dialect_tables

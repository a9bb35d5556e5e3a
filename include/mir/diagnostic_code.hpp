// The type of diagnostic codes. The codes are declared by topic in mir/codes/.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mir {

/// `MIRnnnn`. 0001-0099 files and limits, 01xx lexical, 02xx syntax, 03xx resolve (names, types,
/// attributes), 04xx structure and op rows, 05xx shapes and dtypes, 06xx weights and tensors,
/// 07xx recovery of dumps, 08xx execution, 09xx usage. A code never changes its meaning and is
/// never reused. A source includes the topics that it reports: so a new code recompiles few.
enum class DiagCode : std::uint16_t {};

struct DiagCodeInfo {
  DiagCode code;
  std::string_view name;     ///< the constant in mir::diag
  std::string_view summary;  ///< one sentence
};

/// Every code, in ascending order.
std::span<const DiagCodeInfo> diagnostic_codes();
/// The row of `code`; for a number outside the catalogue a row with an empty name.
const DiagCodeInfo& diagnostic_info(DiagCode code);
/// `MIRnnnn`.
std::string spelling(DiagCode code);

}  // namespace mir

/// Declares the constant of a row in a list of mir/codes/.
#define MIR_DECLARE_CODE(number, name, summary) inline constexpr DiagCode name{number};

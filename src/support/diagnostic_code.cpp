// The table of diagnostic codes, generated from diagnostic_codes.def.
#include <fmt/format.h>

#include <algorithm>

#include "mir/diagnostic.hpp"

namespace mir {

namespace {

constexpr DiagCodeInfo kCodes[] = {
#define MIR_DIAGNOSTIC(number, name, summary) {DiagCode::name, #name, summary},
#include "mir/diagnostic_codes.def"
#undef MIR_DIAGNOSTIC
};

constexpr bool kAscending =
    std::ranges::adjacent_find(kCodes, std::ranges::greater_equal{}, &DiagCodeInfo::code) ==
    std::ranges::end(kCodes);
static_assert(kAscending, "diagnostic_codes.def: numbers must be unique and ascend");

constexpr DiagCodeInfo kOutsideCatalogue{};

}  // namespace

std::span<const DiagCodeInfo> diagnostic_codes() {
  return kCodes;
}

const DiagCodeInfo& diagnostic_info(DiagCode code) {
  const auto* row = std::ranges::lower_bound(kCodes, code, {}, &DiagCodeInfo::code);
  return row != std::ranges::end(kCodes) && row->code == code ? *row : kOutsideCatalogue;
}

std::string spelling(DiagCode code) {
  return fmt::format("MIR{:04}", static_cast<unsigned>(code));
}

}  // namespace mir

// The table of all diagnostic codes, from the topics of mir/codes/.
#include "mir/diagnostic_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "mir/codes/attributes.hpp"
#include "mir/codes/checks.hpp"
#include "mir/codes/files.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/import.hpp"
#include "mir/codes/inputs.hpp"
#include "mir/codes/kernels.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/passes.hpp"
#include "mir/codes/quantisation.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/tensors.hpp"
#include "mir/codes/tokenizers.hpp"
#include "mir/codes/usage.hpp"
#include "mir/codes/verification.hpp"
#include "mir/codes/weights.hpp"

namespace mir {

namespace {

constexpr auto kCodes = [] {
  auto rows = std::to_array<DiagCodeInfo>({
#define MIR_CODE_INFO(number, name, summary) {diag::name, #name, summary},
      MIR_CODES_OF_ATTRIBUTES(MIR_CODE_INFO) MIR_CODES_OF_CHECKS(MIR_CODE_INFO) MIR_CODES_OF_FILES(
          MIR_CODE_INFO) MIR_CODES_OF_GENERATION(MIR_CODE_INFO) MIR_CODES_OF_IMPORT(MIR_CODE_INFO)
          MIR_CODES_OF_INPUTS(MIR_CODE_INFO) MIR_CODES_OF_KERNELS(
              MIR_CODE_INFO) MIR_CODES_OF_LIMITS(MIR_CODE_INFO) MIR_CODES_OF_NAMES(MIR_CODE_INFO)
              MIR_CODES_OF_PASSES(MIR_CODE_INFO) MIR_CODES_OF_QUANTISATION(MIR_CODE_INFO)
                  MIR_CODES_OF_RECOVERY(MIR_CODE_INFO) MIR_CODES_OF_RUNS(MIR_CODE_INFO)
                      MIR_CODES_OF_SHAPES(MIR_CODE_INFO) MIR_CODES_OF_SYNTAX(MIR_CODE_INFO)
                          MIR_CODES_OF_TENSORS(MIR_CODE_INFO) MIR_CODES_OF_TOKENIZERS(MIR_CODE_INFO)
                              MIR_CODES_OF_USAGE(MIR_CODE_INFO) MIR_CODES_OF_VERIFICATION(
                                  MIR_CODE_INFO) MIR_CODES_OF_WEIGHTS(MIR_CODE_INFO)
#undef MIR_CODE_INFO
  });
  std::ranges::sort(rows, {}, &DiagCodeInfo::code);
  return rows;
}();
static_assert(std::ranges::adjacent_find(kCodes, {}, &DiagCodeInfo::code) == kCodes.end(),
              "a number is the code of one meaning");

constexpr DiagCodeInfo kOutsideCatalogue{};

}  // namespace

std::span<const DiagCodeInfo> diagnostic_codes() {
  return kCodes;
}

const DiagCodeInfo& diagnostic_info(DiagCode code) {
  const auto* row = std::ranges::lower_bound(kCodes, code, {}, &DiagCodeInfo::code);
  return row != kCodes.end() && row->code == code ? *row : kOutsideCatalogue;
}

std::string spelling(DiagCode code) {
  return fmt::format("MIR{:04}", static_cast<unsigned>(code));
}

}  // namespace mir

// Formats of reports: the words of --format.
#pragma once

#include <cstdint>

#include "argument.hpp"

namespace mir::tools {

enum class TableFormat : std::uint8_t { kTable, kCsv, kJson };
inline constexpr Choice<TableFormat> kTableFormats[] = {
    {"table", TableFormat::kTable}, {"csv", TableFormat::kCsv}, {"json", TableFormat::kJson}};

enum class TextFormat : std::uint8_t { kText, kJson };
inline constexpr Choice<TextFormat> kTextFormats[] = {{"text", TextFormat::kText},
                                                      {"json", TextFormat::kJson}};

}  // namespace mir::tools

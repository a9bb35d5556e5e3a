// Words of programs: keys of the attributes of `prog` instructions, fragments and labels.
#pragma once

#include <string_view>

namespace mir::program_field {

inline constexpr std::string_view kSymbol = "symbol";           // of what declares a name
inline constexpr std::string_view kSymbolName = "symbol_name";  // of launches
inline constexpr std::string_view kOpType = "op_type";          // of launches and kernels
inline constexpr std::string_view kOpOptions = "op_options";    // likewise
inline constexpr std::string_view kOffset = "offset";           // of jumps
inline constexpr std::string_view kType = "type";               // of bindings, as the next two
inline constexpr std::string_view kProgramUuid = "program_uuid";
inline constexpr std::string_view kInputPos = "input_pos";
inline constexpr std::string_view kFlag = "flag";  // of modes

inline constexpr std::string_view kEntrySuffix = ".__entry";  // of the label of a graph

}  // namespace mir::program_field

namespace mir::program_fragment {

inline constexpr std::string_view kCode = "code";
inline constexpr std::string_view kData = "data";
inline constexpr std::string_view kTable = "table";

}  // namespace mir::program_fragment

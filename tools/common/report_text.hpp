// What tools say on standard output.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace mir::tools {

/// For programs, as it is.
void print_document(std::string_view text);

/// For people. Names of tensors, members and values are what others wrote: nothing in `text` but
/// its line ends can drive a terminal.
void print_report(std::string_view text);

template <class... Arguments>
requires(sizeof...(Arguments) > 0) void print_report(fmt::format_string<Arguments...> format,
                                                     Arguments&&... arguments) {
  print_report(std::string_view(fmt::format(format, std::forward<Arguments>(arguments)...)));
}

}  // namespace mir::tools

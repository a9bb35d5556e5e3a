// Standard output of tools.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "support/terminal_text.hpp"

namespace mir::tools {

/// For programs, as it is; on a terminal nothing in it but line ends and tabs can drive it.
void print_document(std::string_view text);
/// Text with colours of our own, in which others' text is visible() already.
void print_styled(std::string_view text);
/// True if standard output is a terminal.
bool shows_documents();

/// For people. Names of tensors, members and values are what others wrote: nothing in `text` but
/// line ends and tabs can drive a terminal.
void print_report(std::string_view text);

/// An argument of print_report() that has several lines.
struct Lines {
  std::string text;
};

/// An argument as it is printed: others' text cannot even begin a line.
template <class T>
auto printed_argument(const T& argument) {
  if constexpr (std::is_same_v<T, Lines>) {
    return argument.text;
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return visible(argument);
  } else {
    return argument;
  }
}

template <class T>
using PrintedArgument = decltype(printed_argument(std::declval<const T&>()));

template <class... Arguments>
requires(sizeof...(Arguments) >
         0) void print_report(fmt::format_string<PrintedArgument<Arguments>...> format,
                              const Arguments&... arguments) {
  print_report(std::string_view(fmt::format(format, printed_argument(arguments)...)));
}

}  // namespace mir::tools

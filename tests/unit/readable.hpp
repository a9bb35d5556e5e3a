// How failures print values, and how tests search texts. Every test program is compiled with this
// header before its sources (`doctest_dep`), so that no test has to ask for it.
#pragma once

#include <charconv>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace doctest {
class String;
/// What doctest prints of any value.
template <class T>
String readable(const T& value);
}  // namespace doctest
#define DOCTEST_STRINGIFY(...) ::doctest::readable(__VA_ARGS__)
// Assertions are calls instead of lambdas that catch exceptions, which takes a sixth of the time to
// compile a test. An exception inside of one ends the case.
#define DOCTEST_CONFIG_SUPER_FAST_ASSERTS
#include <doctest/doctest.h>

namespace mir::test {

/// `CHECK(text == Part{"of it"})` holds if the part is in the text; a failure shows both.
struct Part {
  std::string_view text;
  friend bool operator==(std::string_view whole, Part part) {
    return whole.find(part.text) != whole.npos;
  }
};

/// Enumerators beyond it print as numbers: each takes the compiler a function.
inline constexpr int kNamedEnumerators = 64;

/// "mir::DType::kFloat32", or a cast where no enumerator has that value.
template <auto kValue>
constexpr std::string_view spelled_constant() {
  std::string_view name = __PRETTY_FUNCTION__;
  name.remove_prefix(name.find("kValue = ") + 9);
  return name.substr(0, name.find_first_of(";]"));
}

template <class Enum, int... kValues>
std::string_view enumerator_of(int value, std::integer_sequence<int, kValues...>) {
  static constexpr std::string_view kNames[] = {spelled_constant<static_cast<Enum>(kValues)>()...};
  return kNames[value];
}

/// "kFloat32"; a number where the value has no name; the code of a diagnostic.
template <class Enum>
std::string enum_text(Enum value) {
  const auto number = static_cast<long long>(value);
  if constexpr (requires { std::string(spelling(value)); }) {
    return std::string(spelling(value));
  } else if constexpr (!std::is_same_v<Enum, std::byte>) {
    if (number >= 0 && number < kNamedEnumerators) {
      const auto name = enumerator_of<Enum>(static_cast<int>(number),
                                            std::make_integer_sequence<int, kNamedEnumerators>{});
      if (!name.starts_with('(')) return std::string(name.substr(name.rfind(':') + 1));
    }
  }
  return std::to_string(number);
}

template <class T>
std::string text_of(const T& value);

/// Texts one to a line, other elements as a list; the first of very many.
template <class Range>
std::string range_text(const Range& range) {
  constexpr std::size_t kShown = 100;
  constexpr bool kLines = requires {
    std::string_view(*range.begin());
  };
  std::string text;
  std::size_t count = 0;
  for (const auto& element : range) {
    if (++count > kShown) continue;
    if constexpr (kLines) {
      text += "\n    ";
    } else if (!text.empty()) {
      text += ", ";
    }
    text += text_of(element);
  }
  if (count > kShown) text += " ... (" + std::to_string(count) + " elements)";
  return kLines && count != 0 ? text : "[" + text + "]";
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, Part>) {
    return "a text with '" + std::string(value.text) + "'";
  } else if constexpr (std::is_enum_v<T>) {
    return enum_text(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    char digits[64];  // as many as tell the number from its neighbours
    return {digits, std::to_chars(digits, std::end(digits), value).ptr};
  } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
    return "none";
  } else if constexpr (std::is_null_pointer_v<T>) {
    return "nullptr";
  } else if constexpr (std::is_convertible_v<const T&, const char*>) {
    const char* text = value;
    return text == nullptr ? "no string" : std::string(text);
  } else if constexpr (requires { value.dump(); }) {  // JSON, which is also a range of itself
    return value.dump();
  } else if constexpr (requires { std::string_view(value); }) {
    return std::string(std::string_view(value));
  } else if constexpr (requires {
                         value.error().message;
                         value.ok();
                       }) {
    return value.ok() ? std::string("a result") : "the error " + text_of(value.error());
  } else if constexpr (requires {
                         value.code;
                         value.message;
                       }) {
    return text_of(value.code) + " '" + value.message + "'";
  } else if constexpr (requires {
                         value.sorted();
                         value.has_errors();
                       }) {
    return text_of(value.sorted());
  } else if constexpr (requires {
                         value.has_value();
                         *value;
                       }) {
    return value.has_value() ? text_of(*value) : std::string("none");
  } else if constexpr (requires {
                         value.first;
                         value.second;
                       }) {
    return "(" + text_of(value.first) + ", " + text_of(value.second) + ")";
  } else if constexpr (requires { value.begin() != value.end(); }) {
    return range_text(value);
  } else {
    return doctest::toString(value).c_str();
  }
}

}  // namespace mir::test

template <class T>
doctest::String doctest::readable(const T& value) {
  const std::string text = mir::test::text_of(value);
  return {text.data(), static_cast<unsigned>(text.size())};
}

// Writes parts of texts that grow.
#include "growing_parts.hpp"

#include <fmt/format.h>

#include <iterator>

namespace mir::test {

std::string each(std::size_t n, std::string_view format, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < n; ++i) {
    if (i > 0) text += between;
    fmt::format_to(std::back_inserter(text), fmt::runtime(format), fmt::arg("i", i),
                   fmt::arg("j", i + 1), fmt::arg("T", kType));
  }
  return text;
}

std::string dump(std::string_view body) {
  return fmt::format("@main () -> () {{\n{}}}\n", body);
}

std::string portable(std::string_view output, std::string_view body) {
  return fmt::format(
      "@main [mir_version:1] (%0:{0}) -> (%{1}:{0}) {{\n{2}cf.ReturnOp (%{1}) -> ()\n}}\n", kType,
      output, body);
}

std::string last(std::size_t n) {
  return std::to_string(n);
}

std::string repeated(std::size_t n, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}

std::string nested(std::size_t n, std::string_view open, std::string_view middle,
                   std::string_view close) {
  return repeated(n, open) + std::string(middle) + repeated(n, close);
}

std::string versioned(std::string_view inputs, std::string_view output, std::string_view body) {
  return fmt::format("@main [mir_version:2] (%0:{0}{1}) -> (%{2}:{0}) {{\n{3}}}\n", kType, inputs,
                     output, body);
}

}  // namespace mir::test

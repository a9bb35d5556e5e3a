// Texts of modules with short types.
#pragma once

#include <string>
#include <string_view>

namespace mir::test {

/// `t[2]` for a type of floats.
inline std::string with_short_types(std::string text) {
  constexpr std::string_view kBegin = "tensor<", kEnd = ", Float32, CPU>";
  for (auto at = text.find(kEnd); at != text.npos; at = text.find(kEnd))
    text.erase(at, kEnd.size());
  for (auto at = text.find(kBegin); at != text.npos; at = text.find(kBegin)) {
    text.replace(at, kBegin.size(), "t");
  }
  return text;
}

}  // namespace mir::test

// Little-endian fields of binary headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

namespace mir {

/// The fields one after the other, each as wide as its type.
template <class... Fields>
std::string pack(Fields... fields) {
  std::string bytes;
  const auto append = [&](auto field) {
    static_assert(std::is_unsigned_v<decltype(field)>);
    for (std::size_t i = 0; i < sizeof field; ++i)
      bytes += static_cast<char>(field >> (8 * i) & 0xFF);
  };
  (append(fields), ...);
  return bytes;
}

}  // namespace mir

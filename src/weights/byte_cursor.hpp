// Reading the fields of a binary header, one after the other.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "support/memory_size.hpp"

namespace mir {

/// Reads little-endian fields of untrusted bytes. After a field beyond the end, ok() is false and
/// every field reads as 0 or empty, so that a caller checks once for several.
class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::byte> bytes, std::uint64_t position = 0)
      : bytes_(bytes), position_(std::min<std::uint64_t>(position, bytes.size())) {
    ok_ = position <= bytes.size();
  }

  bool ok() const { return ok_; }
  std::uint64_t position() const { return position_; }
  std::uint64_t remaining() const { return ok_ ? bytes_.size() - position_ : 0; }

  template <class T>
  T read() {
    T value{};
    const auto field = take(sizeof(T));
    if (field.size() == sizeof(T)) std::memcpy(&value, field.data(), sizeof(T));
    return value;
  }
  std::string_view text(std::uint64_t length) {
    const auto field = take(length);
    return {reinterpret_cast<const char*>(field.data()), field.size()};
  }
  /// A field of fixed width, up to its first NUL byte if it has one.
  std::string_view padded_text(std::uint64_t width) {
    const auto field = text(width);
    return field.substr(0, std::min(field.find('\0'), field.size()));
  }

 private:
  std::span<const std::byte> take(std::uint64_t length) {
    ok_ = ok_ && length <= bytes_.size() - position_;
    if (!ok_) return {};
    const auto field = bytes_.subspan(memory_size(position_), memory_size(length));
    position_ += length;
    return field;
  }

  std::span<const std::byte> bytes_;
  std::uint64_t position_;
  bool ok_ = true;
};

}  // namespace mir

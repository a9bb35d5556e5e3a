// A binary file as a list of its fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hostile.hpp"

namespace mir::fuzz {

/// Fields are written one after the other; each is later replaced by values that it must not have.
class FieldFile {
 public:
  /// A little-endian number. A strict field may have no value but this one; another may have some.
  void number(std::string_view name, std::uint64_t value, std::size_t width, bool strict = true);
  void text(std::string_view bytes) { bytes_ += bytes; }
  void pad_to(std::size_t alignment) {
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment, '\0');
  }
  /// Puts the number that was not known when the field was written.
  void set(std::string_view name, std::uint64_t value);

  std::size_t size() const { return bytes_.size(); }
  const std::string& bytes() const { return bytes_; }

  /// Each field with 0, its neighbours, and numbers at the edges of 31, 32, 63 and 64 bits.
  std::vector<HostileFile> with_other_numbers() const;
  /// Every shorter file (up to 400 of them, evenly spread), and the file with bytes after its end.
  std::vector<HostileFile> with_other_length(bool may_be_longer = false) const;

 private:
  struct Field {
    std::string name;
    std::size_t at;
    std::size_t width;
    std::uint64_t value;
    bool strict;
  };
  std::vector<Field> fields_;
  std::string bytes_;
};

/// The low `width` bytes of `value`, little-endian.
std::string little_endian(std::uint64_t value, std::size_t width);

std::vector<HostileFile> shortened(const std::string& bytes);

}  // namespace mir::fuzz

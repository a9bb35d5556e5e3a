// Builds binary files from named fields, and variants with other numbers and lengths.
#include "fields.hpp"

#include <algorithm>
#include <set>

namespace mir::fuzz {

std::string little_endian(std::uint64_t value, std::size_t width) {
  std::string bytes;
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFF);
  return bytes;
}

void FieldFile::number(std::string_view name, std::uint64_t value, std::size_t width, bool strict) {
  fields_.push_back({std::string(name), bytes_.size(), width, value, strict});
  bytes_ += little_endian(value, width);
}

void FieldFile::set(std::string_view name, std::uint64_t value) {
  const auto field = std::ranges::find(fields_, name, &Field::name);
  field->value = value;
  bytes_.replace(field->at, field->width, little_endian(value, field->width));
}

std::vector<HostileFile> FieldFile::with_other_numbers() const {
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  std::vector<HostileFile> files;
  for (const Field& field : fields_) {
    const std::uint64_t mask =
        field.width == 8 ? kAll : (std::uint64_t{1} << (8 * field.width)) - 1;
    std::set<std::uint64_t> values;
    for (const std::uint64_t value :
         {std::uint64_t{0}, field.value + 1, field.value - 1, field.value * 2, bytes_.size() + 1,
          std::uint64_t{0x7F}, std::uint64_t{0xFFFF}, std::uint64_t{1} << 31, kAll >> 32,
          std::uint64_t{1} << 32, std::uint64_t{1} << 62, kAll >> 1, std::uint64_t{1} << 63,
          kAll - 7, kAll})
      values.insert(value & mask);
    values.erase(field.value);
    for (const std::uint64_t value : values) {
      auto bytes = bytes_;
      bytes.replace(field.at, field.width, little_endian(value, field.width));
      files.push_back(
          {field.name + " is " + std::to_string(value), std::move(bytes), !field.strict});
    }
  }
  return files;
}

std::vector<HostileFile> shortened(const std::string& bytes) {
  constexpr std::size_t kMost = 400;
  std::vector<HostileFile> files;
  const std::size_t step = bytes.size() / kMost + 1;
  for (std::size_t size = 0; size < bytes.size(); size += step)
    files.push_back({"cut to " + std::to_string(size) + " bytes", bytes.substr(0, size)});
  return files;
}

std::vector<HostileFile> FieldFile::with_other_length(bool may_be_longer) const {
  auto files = shortened(bytes_);
  files.push_back({"a byte after the end", bytes_ + "x", may_be_longer});
  files.push_back({"a second copy after the end", bytes_ + bytes_});
  return files;
}

}  // namespace mir::fuzz

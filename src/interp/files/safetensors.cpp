#include "mir/files/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>

#include "checks.hpp"
#include "mir/support/file_io.hpp"
#include "safetensors_header.hpp"

namespace mir {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

Error malformed(std::string_view origin, std::string_view text) {
  return {DiagCode::kSafetensorsMalformed, fmt::format("'{}': {}", origin, text)};
}

/// The entry that a claim describes, its range counted from the start of the file. The error's
/// message lacks the file's name.
Result<SafetensorsEntry> checked_entry(SafetensorsClaim claim, std::uint64_t data_begin,
                                       std::uint64_t data_size) {
  const auto refuse = [&](std::string_view text) {
    return Error{DiagCode::kSafetensorsMalformed, fmt::format("tensor '{}' {}", claim.name, text)};
  };
  if (const auto problem = name_problem(claim.name))
    return Error{DiagCode::kSafetensorsMalformed, fmt::format("a tensor name {}", *problem)};
  const auto dtype = dtype_from_safetensors(claim.dtype);
  if (!dtype) return refuse(fmt::format("has the unknown dtype '{}'", claim.dtype));
  if (claim.offsets.size() != 2) return refuse("does not have two data offsets");
  const auto begin = claim.offsets[0];
  const auto end = claim.offsets[1];
  if (begin > end || end > data_size)
    return refuse(
        fmt::format("has the range [{}, {}) in a buffer of {} bytes", begin, end, data_size));
  Shape shape;
  for (const auto extent : claim.shape) {
    if (extent > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return refuse(fmt::format("has the extent {}", extent));
    shape.push_back(static_cast<std::int64_t>(extent));
  }
  const auto elements = element_count(shape);
  if (!elements) return refuse(fmt::format("has too many elements: {}", shape_text(shape)));
  const auto bytes = storage_bytes(*dtype, static_cast<std::uint64_t>(*elements));
  if (!bytes || *bytes != end - begin)
    return refuse(fmt::format("of type {} and extents {} has {} bytes of data", claim.dtype,
                              shape_text(shape), end - begin));
  return SafetensorsEntry{std::move(claim.name), *dtype, std::move(shape), data_begin + begin,
                          data_begin + end};
}

/// Sorts by position and refuses holes, overlaps and bytes that belong to no tensor.
Result<void> order_by_position(std::vector<SafetensorsEntry>& entries, std::uint64_t data_begin,
                               std::uint64_t file_size) {
  std::ranges::stable_sort(
      entries, {}, [](const SafetensorsEntry& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t position = data_begin;
  for (const auto& entry : entries) {
    if (entry.begin != position)
      return Error{DiagCode::kSafetensorsMalformed,
                   fmt::format("tensor '{}' starts at byte {} of the buffer, expected {}",
                               entry.name, entry.begin - data_begin, position - data_begin)};
    position = entry.end;
  }
  if (position != file_size)
    return Error{DiagCode::kSafetensorsMalformed,
                 fmt::format("{} bytes follow the last tensor", file_size - position)};
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  if (!mapped) return std::move(mapped).error();
  const auto bytes = (*mapped)->bytes();
  return parse(bytes, *std::move(mapped), path);
}

Result<SafetensorsFile> SafetensorsFile::parse(std::span<const std::byte> bytes,
                                               std::shared_ptr<const void> owner,
                                               std::string origin) {
  if (bytes.size() < kLengthBytes)
    return malformed(origin, fmt::format("{} bytes are too few", bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes || length > kMaxSafetensorsHeader)
    return malformed(origin,
                     fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
  auto header = parse_safetensors_header(
      {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length});
  if (!header) return malformed(origin, header.error().message);

  SafetensorsFile file;
  const auto data_begin = kLengthBytes + length;
  for (auto& claim : header->tensors) {
    auto entry = checked_entry(std::move(claim), data_begin, bytes.size() - data_begin);
    if (!entry) return malformed(origin, entry.error().message);
    file.entries_.push_back(*std::move(entry));
  }
  const auto ordered = order_by_position(file.entries_, data_begin, bytes.size());
  if (!ordered) return malformed(origin, ordered.error().message);

  const auto name_of_index = [&](std::uint32_t i) -> const std::string& {
    return file.entries_[i].name;
  };
  file.by_name_.resize(file.entries_.size());
  std::iota(file.by_name_.begin(), file.by_name_.end(), 0u);
  std::ranges::sort(file.by_name_, {}, name_of_index);
  const auto twice = std::ranges::adjacent_find(file.by_name_, {}, name_of_index);
  if (twice != file.by_name_.end())
    return malformed(origin, fmt::format("the name '{}' occurs twice", name_of_index(*twice)));

  file.metadata_ = std::move(header->metadata);
  file.origin_ = std::move(origin);
  file.bytes_ = bytes;
  file.owner_ = std::move(owner);
  return file;
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& entry : entries_) names.push_back(entry.name);
  return names;
}

const SafetensorsEntry* SafetensorsFile::entry(std::string_view name) const {
  const auto name_of_index = [&](std::uint32_t i) -> std::string_view { return entries_[i].name; };
  const auto at = std::ranges::lower_bound(by_name_, name, {}, name_of_index);
  return at == by_name_.end() || name_of_index(*at) != name ? nullptr : &entries_[*at];
}

Result<std::optional<Tensor>> SafetensorsFile::find(std::string_view name) const {
  const auto* found = entry(name);
  if (found == nullptr) return std::optional<Tensor>();
  auto tensor = borrow_or_copy(found->dtype, found->shape,
                               bytes_.subspan(found->begin, found->end - found->begin), owner_);
  if (!tensor)
    return Error{tensor.error().code,
                 fmt::format("'{}': tensor '{}': {}", origin_, name, tensor.error().message)};
  return std::optional(*std::move(tensor));
}

}  // namespace mir

// Opens safetensors files: checks that tensors cover the data without holes or overlaps.
#include "weights/formats/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "weights/checks.hpp"
#include "weights/formats/safetensors_header.hpp"

namespace mir {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

Error malformed_safetensors(std::string_view origin, std::string_view text) {
  return {diag::kSafetensorsMalformed, fmt::format("'{}': {}", origin, text)};
}

/// True if the text can be the name of a type that this toolkit does not know, as F8_E8M0 once was.
bool is_type_name(std::string_view text) {
  constexpr std::size_t kLongest = 16;
  const auto is_part = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, is_part);
}

/// The entry that a claim describes, its range counted from the start of the file. The error's
/// message lacks the file's name.
Result<StoredTensor> checked_entry(SafetensorsClaim claim, std::uint64_t data_begin,
                                   std::uint64_t data_size) {
  const auto refuse = [&](std::string_view text) {
    return Error{diag::kSafetensorsMalformed, fmt::format("tensor '{}' {}", claim.name, text)};
  };
  if (const auto problem = name_problem(claim.name))
    return Error{diag::kSafetensorsMalformed, fmt::format("a tensor name {}", *problem)};
  const auto dtype = dtype_from_safetensors(claim.dtype);
  if (!dtype && !is_type_name(claim.dtype))
    return refuse(fmt::format("has the unknown dtype '{}'", claim.dtype));
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
  return StoredTensor{.name = std::move(claim.name),
                      .dtype = dtype.value_or(DType::kUInt8),
                      .shape = std::move(shape),
                      .unread_type = dtype ? std::string() : std::move(claim.dtype),
                      .begin = data_begin + begin,
                      .end = data_begin + end};
}

/// Sorts by position and refuses holes, overlaps and bytes that belong to no tensor.
Result<void> order_by_position(std::vector<StoredTensor>& entries, std::uint64_t data_begin,
                               std::uint64_t file_size) {
  std::ranges::stable_sort(
      entries, {}, [](const StoredTensor& entry) { return std::pair(entry.begin, entry.end); });
  std::uint64_t position = data_begin;
  for (const auto& entry : entries) {
    if (entry.begin != position)
      return Error{diag::kSafetensorsMalformed,
                   fmt::format("tensor '{}' starts at byte {} of the buffer, expected {}",
                               entry.name, entry.begin - data_begin, position - data_begin)};
    position = entry.end;
  }
  if (position != file_size)
    return Error{diag::kSafetensorsMalformed,
                 fmt::format("{} bytes follow the last tensor", file_size - position)};
  return {};
}

}  // namespace

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto file = map_file(path);
  if (!file) return std::move(file).error();
  return parse(*std::move(file));
}

Result<SafetensorsFile> SafetensorsFile::parse(FileBytes file) {
  const auto bytes = file.bytes;
  const auto& origin = file.origin;
  if (bytes.size() < kLengthBytes)
    return malformed_safetensors(origin, fmt::format("{} bytes are too few", bytes.size()));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > bytes.size() - kLengthBytes || length > kMaxSafetensorsHeader)
    return malformed_safetensors(
        origin, fmt::format("a header of {} bytes in a file of {}", length, bytes.size()));
  auto header = parse_safetensors_header(
      {reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, memory_size(length)});
  if (!header) return malformed_safetensors(origin, header.error().message);

  std::vector<StoredTensor> entries;
  const auto data_begin = kLengthBytes + length;
  for (auto& claim : header->tensors) {
    auto entry = checked_entry(std::move(claim), data_begin, bytes.size() - data_begin);
    if (!entry) return malformed_safetensors(origin, entry.error().message);
    entries.push_back(*std::move(entry));
  }
  const auto ordered = order_by_position(entries, data_begin, bytes.size());
  if (!ordered) return malformed_safetensors(origin, ordered.error().message);
  auto tensors =
      MappedTensors::index(std::move(file), std::move(entries),
                           {.data_begin = data_begin, .malformed = diag::kSafetensorsMalformed});
  if (!tensors) return std::move(tensors).error();
  SafetensorsFile opened(*std::move(tensors));
  opened.metadata_ = std::move(header->metadata);
  return opened;
}

}  // namespace mir

// Parses and checks the header of a GGUF file; counts are bounded before memory is allocated.
#include "weights/formats/gguf_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/codes/weights.hpp"
#include "support/memory_size.hpp"
#include "weights/byte_cursor.hpp"
#include "weights/checks.hpp"

namespace mir {
namespace {

using enum GgufValueType;

constexpr std::uint64_t kMaxGgufName = 64;
constexpr std::uint32_t kMaxRankRead = 4;
constexpr int kMaxNesting = 4;  // arrays of arrays; they do not occur in real files

// The least that an entry takes, for bounding counts before anything is allocated.
constexpr std::uint64_t kMinMetadata = 8 + 1 + 4 + 1;
constexpr std::uint64_t kMinTensor = 8 + 1 + 4 + 4 + 8;

Error malformed_gguf(std::string text) {
  return {diag::kGgufMalformed, std::move(text)};
}

/// Bytes of a value of fixed size, 0 for strings and arrays.
std::uint64_t fixed_bytes(GgufValueType type) {
  switch (type) {
    case kUInt8:
    case kInt8:
    case kBool:
      return 1;
    case kUInt16:
    case kInt16:
      return 2;
    case kUInt32:
    case kInt32:
    case kFloat32:
      return 4;
    case kUInt64:
    case kInt64:
    case kFloat64:
      return 8;
    case kString:
    case kArray:
      return 0;
  }
  return 0;
}

bool is_known(GgufValueType type) {
  return type <= kFloat64;
}

/// Reads over values and checks them.
class ValueReader {
 public:
  explicit ValueReader(ByteCursor& cursor) : cursor_(cursor) {}

  /// Returns the error, or no value.
  std::optional<std::string> read(GgufValueType type, int nesting = 0) {
    if (!is_known(type))
      return fmt::format("has a value of the unknown type {}", static_cast<std::uint32_t>(type));
    if (type == kArray) return read_array(nesting);
    if (type == kString) {
      cursor_.text(cursor_.read<std::uint64_t>());
    } else if (type == kBool) {
      if (cursor_.read<std::uint8_t>() > 1) return "has a bool other than 0 and 1";
    } else {
      cursor_.text(fixed_bytes(type));
    }
    return ending();
  }

 private:
  std::optional<std::string> ending() const {
    if (cursor_.ok()) return std::nullopt;
    return "has a value that leaves the file";
  }

  std::optional<std::string> read_array(int nesting) {
    const auto element = static_cast<GgufValueType>(cursor_.read<std::uint32_t>());
    const auto count = cursor_.read<std::uint64_t>();
    if (!cursor_.ok()) return ending();
    if (nesting == kMaxNesting)
      return fmt::format("has arrays nested more than {} deep", kMaxNesting);
    const auto bytes = is_known(element) ? fixed_bytes(element) : 0;
    if (bytes != 0 && element != kBool) {
      if (count > cursor_.remaining() / bytes) return "has an array that leaves the file";
      cursor_.text(count * bytes);
      return std::nullopt;
    }
    // Every further element takes a byte or more, so the file bounds the loop.
    for (std::uint64_t i = 0; i < count; ++i) {
      if (auto problem = read(element, nesting + 1)) return problem;
    }
    return std::nullopt;
  }

  ByteCursor& cursor_;
};

class HeaderReader {
 public:
  explicit HeaderReader(std::span<const std::byte> bytes) : bytes_(bytes), cursor_(bytes) {}

  Result<GgufHeader> read() {
    cursor_.read<std::uint32_t>();  // the magic number
    if (auto checked = read_version(); !checked) return std::move(checked).error();
    const auto tensors = cursor_.read<std::uint64_t>();
    const auto pairs = cursor_.read<std::uint64_t>();
    if (!cursor_.ok()) return malformed_gguf(fmt::format("{} bytes are too few", bytes_.size()));
    if (pairs > cursor_.remaining() / kMinMetadata || tensors > cursor_.remaining() / kMinTensor)
      return malformed_gguf(fmt::format("{} metadata pairs and {} tensors in a file of {} bytes",
                                        pairs, tensors, bytes_.size()));
    for (std::uint64_t i = 0; i < pairs; ++i) {
      if (auto read = read_metadata(); !read) return std::move(read).error();
    }
    for (std::uint64_t i = 0; i < tensors; ++i) {
      if (auto read = read_tensor(); !read) return std::move(read).error();
    }
    if (auto placed = place_data(); !placed) return std::move(placed).error();
    return std::move(header_);
  }

 private:
  Result<void> read_version() {
    const auto version = cursor_.read<std::uint32_t>();
    if (version == 2 || version == 3) return {};
    if (version != 0 && (version & 0xFFFF) == 0)
      return malformed_gguf("the file is big-endian, expected little-endian");
    return malformed_gguf(fmt::format("version {}, expected 2 or 3", version));
  }

  Result<void> read_metadata() {
    const auto key = cursor_.text(cursor_.read<std::uint64_t>());
    const auto type = static_cast<GgufValueType>(cursor_.read<std::uint32_t>());
    if (!cursor_.ok()) return malformed_gguf("the metadata leave the file");
    if (!is_gguf_key(key))
      return malformed_gguf("a metadata key is empty, too long or not plain ASCII");
    if (!keys_.insert(key).second)
      return malformed_gguf(fmt::format("the metadata key '{}' occurs twice", key));
    const auto begin = cursor_.position();
    if (const auto problem = ValueReader(cursor_).read(type))
      return malformed_gguf(fmt::format("the metadata key '{}' {}", key, *problem));
    header_.metadata.push_back(
        {std::string(key), type,
         bytes_.subspan(memory_size(begin), memory_size(cursor_.position() - begin))});
    return key == "general.alignment" ? read_alignment(header_.metadata.back()) : Result<void>();
  }

  Result<void> read_alignment(const GgufMetadata& pair) {
    const auto alignment =
        pair.type == kUInt32 ? ByteCursor(pair.value).read<std::uint32_t>() : std::uint32_t{0};
    if (alignment < 8 || !std::has_single_bit(alignment))
      return malformed_gguf(
          fmt::format("'general.alignment' is {}, expected a power of two of 8 or more as uint32",
                      pair.text()));
    header_.alignment = alignment;
    return {};
  }

  Result<void> read_tensor() {
    StoredTensor tensor;
    tensor.name = cursor_.text(cursor_.read<std::uint64_t>());
    const auto rank = cursor_.read<std::uint32_t>();
    if (!cursor_.ok()) return malformed_gguf("the list of tensors leaves the file");
    if (const auto problem = name_problem(tensor.name))
      return malformed_gguf(fmt::format("a tensor name {}", *problem));
    const auto refuse = [&](std::string_view text) {
      return malformed_gguf(fmt::format("tensor '{}' {}", tensor.name, text));
    };
    if (tensor.name.size() > kMaxGgufName)
      return refuse(fmt::format("has a name of {} bytes, at most {} are allowed",
                                tensor.name.size(), kMaxGgufName));
    if (rank > kMaxRankRead)
      return refuse(fmt::format("has rank {}, at most {}", rank, kMaxRankRead));
    for (std::uint32_t i = 0; i < rank; ++i) {
      const auto extent = cursor_.read<std::uint64_t>();
      if (extent > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
        return refuse(fmt::format("has the extent {}", extent));
      tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
    }
    const auto id = cursor_.read<std::uint32_t>();
    tensor.begin = cursor_.read<std::uint64_t>();
    if (!cursor_.ok()) return malformed_gguf("the list of tensors leaves the file");
    const auto dtype = dtype_from_gguf(id);
    if (dtype) {
      tensor.dtype = *dtype;
    } else {
      tensor.unread_type = unread_gguf_type(id);
    }
    header_.tensors.push_back(std::move(tensor));
    return {};
  }

  /// Turns offsets from the start of the data into ranges of the file.
  Result<void> place_data() {
    const auto end = cursor_.position();
    const auto alignment = header_.alignment;
    header_.data_begin = (end + alignment - 1) / alignment * alignment;
    if (header_.tensors.empty())
      header_.data_begin = std::min<std::uint64_t>(header_.data_begin, bytes_.size());
    if (header_.data_begin > bytes_.size()) return malformed_gguf("the file ends before its data");
    for (auto& tensor : header_.tensors) {
      const auto refuse = [&](std::string_view text) {
        return malformed_gguf(fmt::format("tensor '{}' {}", tensor.name, text));
      };
      if (tensor.begin % alignment != 0)
        return refuse(fmt::format("starts at byte {} of the data, expected a multiple of {}",
                                  tensor.begin, alignment));
      if (!tensor.unread_type.empty()) {
        if (tensor.begin <= bytes_.size() - header_.data_begin) continue;
        return refuse(fmt::format("at byte {} of the data leaves the file", tensor.begin));
      }
      const auto elements = element_count(tensor.shape);
      if (!elements) return refuse(fmt::format("has extents {}", shape_text(tensor.shape)));
      const auto size = storage_bytes(tensor.dtype, static_cast<std::uint64_t>(*elements));
      const auto room = bytes_.size() - header_.data_begin;
      if (!size || *size > room || tensor.begin > room - *size)
        return refuse(
            fmt::format("of type {} and extents {} at byte {} of the data leaves the file",
                        name_of(tensor.dtype), shape_text(tensor.shape), tensor.begin));
      tensor.begin += header_.data_begin;
      tensor.end = tensor.begin + *size;
    }
    end_unread_tensors();
    return {};
  }

  /// The size of a type that is not read is unknown: its data reaches to the next tensor.
  void end_unread_tensors() {
    std::vector<std::uint64_t> begins;
    for (const StoredTensor& tensor : header_.tensors) {
      const bool is_placed = tensor.unread_type.empty();
      begins.push_back(tensor.begin + (is_placed ? 0 : header_.data_begin));
    }
    std::ranges::sort(begins);
    for (StoredTensor& tensor : header_.tensors) {
      if (tensor.unread_type.empty()) continue;
      tensor.begin += header_.data_begin;
      const auto next = std::ranges::upper_bound(begins, tensor.begin);
      tensor.end = next == begins.end() ? bytes_.size() : *next;
    }
  }

  std::span<const std::byte> bytes_;
  ByteCursor cursor_;
  GgufHeader header_;
  std::unordered_set<std::string_view> keys_;
};

}  // namespace

bool is_gguf_key(std::string_view text) {
  constexpr std::size_t kMaxKey = 65535;
  const auto is_graphic = [](char c) { return c > ' ' && c < '\x7F'; };
  return !text.empty() && text.size() <= kMaxKey && std::ranges::all_of(text, is_graphic);
}

Result<GgufHeader> parse_gguf_header(std::span<const std::byte> bytes) {
  return HeaderReader(bytes).read();
}

}  // namespace mir

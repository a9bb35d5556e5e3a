// Inflates a ZIP member and verifies its checksum.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "mir/tensor.hpp"
#include "weights/formats/zip_directory.hpp"

namespace mir {
namespace {

/// zlib counts in 32 bits; it is given at most this much at a time.
constexpr std::size_t kZlibPiece = std::size_t{1} << 30;

struct Inflater {
  z_stream stream{};
  bool ready = false;
  Inflater() { ready = inflateInit2(&stream, -MAX_WBITS) == Z_OK; }
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// True when `from` is one deflate stream of exactly `into.size()` bytes. The stream gets one byte
/// more than it may fill, so a longer one is seen.
bool inflate_exactly(std::span<const std::byte> from, std::span<std::byte> into) {
  Inflater inflater;
  if (!inflater.ready) return false;
  auto& stream = inflater.stream;
  std::byte excess{};
  bool in_excess = false;
  for (int status = Z_OK; status != Z_STREAM_END;) {
    if (stream.avail_in == 0) {
      const auto count = std::min(from.size(), kZlibPiece);
      stream.next_in = reinterpret_cast<const Bytef*>(from.data());
      stream.avail_in = static_cast<uInt>(count);
      from = from.subspan(count);
    }
    if (stream.avail_out == 0) {
      if (in_excess) return false;
      in_excess = into.empty();
      const std::span<std::byte> next = in_excess ? std::span(&excess, 1) : into;
      const auto count = std::min(next.size(), kZlibPiece);
      stream.next_out = reinterpret_cast<Bytef*>(next.data());
      stream.avail_out = static_cast<uInt>(count);
      if (!in_excess) into = into.subspan(count);
    }
    status = inflate(&stream, Z_NO_FLUSH);
    if (status != Z_OK && status != Z_STREAM_END) return false;
  }
  const bool filled = into.empty() && stream.avail_out == (in_excess ? 1u : 0u);
  return filled && from.empty() && stream.avail_in == 0;
}

}  // namespace

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t crc) {
  if (bytes.empty()) return crc;
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  return static_cast<std::uint32_t>(crc32_z(crc, data, bytes.size()));
}

Result<ZipContent> read_zip_member(const ZipMember& member) {
  ZipContent content{member.data, nullptr};
  if (member.deflated) {
    if (member.size > std::uint64_t{std::numeric_limits<std::int64_t>::max()})
      return malformed_zip("too large");
    auto buffer = Tensor::allocate(DType::kUInt8, {static_cast<std::int64_t>(member.size)});
    if (!buffer) return std::move(buffer).error();
    if (!inflate_exactly(member.data, {buffer->mutable_bytes(), buffer->bytes().size()}))
      return malformed_zip(fmt::format("its data do not inflate to {} bytes", member.size));
    content.bytes = buffer->bytes();
    content.owner = std::make_shared<Tensor>(*std::move(buffer));
  }
  const auto crc = crc32_of(content.bytes);
  if (crc != member.crc)
    return malformed_zip(fmt::format("checksum {:08x}, expected {:08x}", crc, member.crc));
  return content;
}

}  // namespace mir

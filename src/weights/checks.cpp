// File opening, name checks and message texts that all tensor file formats share.
#include "weights/checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/tensors.hpp"
#include "support/platform/mapped_file.hpp"
#include "support/utf8.hpp"

namespace mir {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor files hold little-endian data");

std::size_t alignment_of(DType dtype) {
  const std::size_t bytes = info(dtype).unit_bytes;
  return std::has_single_bit(bytes) ? std::min<std::size_t>(bytes, 8) : 2;
}

}  // namespace

Result<FileBytes> map_file(const std::string& path, MappedFile::Links links) {
  auto mapped = MappedFile::open(path, links);
  if (!mapped) return std::move(mapped).error();
  const auto bytes = (*mapped)->bytes();
  return FileBytes{bytes, *std::move(mapped), path};
}

Result<FileBytes> open_file(const FileOpener& files, const std::string& name) {
  return files ? files(name) : map_file(name);
}

Result<Tensor> intact(Result<Tensor> tensor, std::span<const std::byte> bytes) {
  if (!lies_in_shortened_file(bytes)) return tensor;
  return Error{diag::kFileShortened, "the file was shortened while it was read"};
}

std::optional<std::string> name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxTensorName) return fmt::format("is longer than {} bytes", kMaxTensorName);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::ranges::any_of(name, is_control)) return "contains a control character";
  if (!is_utf8(name)) return "is not UTF-8";
  return std::nullopt;
}

bool is_plain_file_name(std::string_view name) {
  return !name_problem(name) && name.front() != '.' &&
         name.find_first_of("/\\:") == std::string_view::npos;
}

std::string quoted_text(std::string_view text) {
  constexpr std::size_t kShown = 64;
  std::string out = "\"";
  for (const char c : text.substr(0, kShown)) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + (text.size() > kShown ? "\"..." : "\"");
}

std::string shape_text(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

Result<Tensor> borrow_or_copy(DType dtype, const Shape& shape, std::span<const std::byte> bytes,
                              std::shared_ptr<const void> owner) {
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  if (dtype == DType::kBool && !std::ranges::all_of(bytes, is_bool))
    return Error{diag::kElementOutOfRange, "a Bool is stored as a byte other than 0 or 1"};
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignment_of(dtype) == 0)
    return Tensor::borrow(dtype, shape, bytes, std::move(owner));
  auto copy = Tensor::allocate(dtype, shape);
  if (copy && !bytes.empty()) std::memcpy(copy->mutable_bytes(), bytes.data(), bytes.size());
  return copy;
}

}  // namespace mir

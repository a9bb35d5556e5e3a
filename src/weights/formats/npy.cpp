// Reads NPY files of any byte order and element order, and writes them.
#include "weights/formats/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "mir/codes/files.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/tensors.hpp"
#include "support/platform/atomic_file.hpp"
#include "weights/checks.hpp"
#include "weights/elements.hpp"
#include "weights/formats/npy_header.hpp"
#include "weights/named_tensor.hpp"

namespace mir {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderAlignment = 64;

struct Preamble {
  std::size_t header_begin;
  std::size_t header_size;
};

Result<Preamble> read_preamble(std::string_view file) {
  constexpr std::size_t kMaxHeader = 65'535;
  if (!file.starts_with(kMagic) || file.size() < kMagic.size() + 4)
    return malformed_npy("the file does not start with the NPY magic bytes and a version");
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(file[i]); };
  const int major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    return malformed_npy(fmt::format("version {}.{}, expected 1.0 to 3.0", major, byte(7)));
  const std::size_t begin = major == 1 ? 10 : 12;
  if (file.size() < begin) return malformed_npy("the file ends in the header length");
  std::size_t size = 0;
  for (std::size_t i = begin; i-- > 8;) size = size << 8 | byte(i);
  if (size > file.size() - begin || size > kMaxHeader)
    return malformed_npy(fmt::format("a header of {} bytes in a file of {}", size, file.size()));
  return Preamble{begin, size};
}

/// Copies elements laid out first index fastest into row-major order.
void copy_transposed(const Shape& shape, std::size_t width, const std::byte* from,
                     std::span<std::byte> into) {
  std::vector<std::size_t> index(shape.size(), 0);
  std::vector<std::size_t> stride(shape.size(), width);
  for (std::size_t axis = 1; axis < shape.size(); ++axis)
    stride[axis] = stride[axis - 1] * static_cast<std::size_t>(shape[axis - 1]);
  std::size_t at = 0;
  for (std::size_t done = 0; done < into.size(); done += width) {
    std::memcpy(into.data() + done, from + at, width);
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      at += stride[axis];
      if (++index[axis] < static_cast<std::size_t>(shape[axis])) break;
      at -= stride[axis] * index[axis];
      index[axis] = 0;
    }
  }
}

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  for (std::size_t at = 0; at < bytes.size(); at += width)
    std::ranges::reverse(bytes.subspan(at, width));
}

/// The error's message lacks the file's name.
Result<Tensor> parse(std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto preamble = read_preamble(text);
  if (!preamble) return preamble.error();
  const auto header = parse_npy_header(text.substr(preamble->header_begin, preamble->header_size));
  if (!header) return header.error();
  const auto elements = element_count(header->shape);
  if (!elements)
    return malformed_npy(fmt::format("too many elements: {}", shape_text(header->shape)));
  const auto needed = storage_bytes(header->dtype, static_cast<std::uint64_t>(*elements));
  const auto data = bytes.subspan(preamble->header_begin + preamble->header_size);
  if (!needed || *needed != data.size())
    return malformed_npy(fmt::format("{} bytes of data for type {} and extents {}", data.size(),
                                     name_of(header->dtype), shape_text(header->shape)));
  const bool transposed = header->fortran_order && header->shape.size() > 1;
  if (!transposed && !header->big_endian)
    return borrow_or_copy(header->dtype, header->shape, data, std::move(owner));

  auto tensor = Tensor::allocate(header->dtype, header->shape);
  if (!tensor) return tensor;
  const std::span<std::byte> into(tensor->mutable_bytes(), data.size());
  const std::size_t width = info(header->dtype).unit_bytes;
  if (transposed) {
    copy_transposed(header->shape, width, data.data(), into);
  } else {
    std::ranges::copy(data, into.begin());
  }
  const bool complex = info(header->dtype).type_class == DTypeClass::kComplex;
  if (header->big_endian) swap_bytes(into, complex ? width / 2 : width);
  return borrow_or_copy(header->dtype, header->shape, tensor->bytes(),
                        std::make_shared<Tensor>(*tensor));
}

}  // namespace

Result<Tensor> read_npy(const std::string& path, const FileOpener& files) {
  const auto file = open_file(files, path);
  if (!file) return file.error();
  auto tensor = intact(parse_npy(file->bytes, file->owner, file->origin), file->bytes);
  if (!tensor && tensor.error().code == diag::kFileShortened)
    return Error{tensor.error().code,
                 fmt::format("'{}': {}", file->origin, tensor.error().message)};
  return tensor;
}

Result<Tensor> parse_npy(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                         const std::string& origin) {
  auto tensor = parse(bytes, std::move(owner));
  if (!tensor)
    return Error{tensor.error().code, fmt::format("'{}': {}", origin, tensor.error().message)};
  return tensor;
}

Result<std::string> npy_header(const Tensor& tensor) {
  const auto type = npy_name(storage_type(tensor.dtype()));
  if (!type)
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("NPY has no type for {}", name_of(tensor.dtype()))};
  if (tensor.shape().size() > kMaxFileRank)
    return Error{diag::kLimitExceeded,
                 fmt::format("rank {}, at most {} can be stored", tensor.rank(), kMaxFileRank)};
  auto dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", *type,
                          fmt::join(tensor.shape(), ", "), tensor.rank() == 1 ? "," : "");
  constexpr std::size_t kPreamble = 10;
  const auto used = (kPreamble + dict.size() + 1) % kHeaderAlignment;
  if (used != 0) dict.append(kHeaderAlignment - used, ' ');
  dict += '\n';
  std::string header(kMagic);
  header +=
      {'\x01', '\x00', static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

Result<void> write_npy(const std::string& path, const Tensor& tensor,
                       AtomicFile::Existing existing) {
  const auto header = npy_header(tensor);
  if (!header) return header.error();
  auto file = AtomicFile::create(path, existing);
  if (!file) return std::move(file).error();
  if (auto written = file->write(*header); !written) return written;
  if (auto written = file->write(tensor.bytes()); !written) return written;
  return file->commit();
}

}  // namespace mir

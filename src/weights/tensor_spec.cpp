// Parses tensor arguments of command lines, and loads or generates the tensors that they describe.
#include "weights/tensor_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "mir/codes/tensors.hpp"
#include "mir/codes/weights.hpp"
#include "weights/checks.hpp"
#include "weights/elements.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npy_header.hpp"
#include "weights/formats/npz.hpp"
#include "weights/formats/raw.hpp"
#include "weights/random.hpp"
#include "weights/value_list.hpp"

namespace mir {
namespace {

Error bad_spec(std::string_view text, std::string_view expected) {
  return {diag::kTensorSpecInvalid, fmt::format("'{}': {}", text, expected)};
}

/// True if `text` is a number or a truth value and nothing else.
bool is_single_value(std::string_view text) {
  return encode_element(DType::kFloat64, text).ok() || encode_element(DType::kBool, text).ok();
}

std::size_t target_size(std::string_view text) {
  const auto at = text.find('=');
  const bool is_target = at != std::string_view::npos && !text.starts_with('[') &&
                         text.substr(0, at).find_first_of("/:") == text.npos;
  return is_target ? at : std::string_view::npos;
}

std::string stated_type(const DeclaredTensor& declared) {
  if (!declared.text.empty()) return declared.text;
  return fmt::format("{} {}", name_of(declared.dtype),
                     declared.shape ? shape_text(*declared.shape) : "of any shape");
}

bool fits(const DeclaredTensor& declared, const Shape& shape) {
  const auto agrees = [](std::int64_t wanted, std::int64_t extent) {
    return wanted == kUnknownExtent || wanted == extent;
  };
  return !declared.shape || std::ranges::equal(*declared.shape, shape, agrees);
}

bool is_known(const std::optional<Shape>& shape) {
  return shape && std::ranges::find(*shape, kUnknownExtent) == shape->end();
}

Error untyped(const TensorSpec& spec) {
  return {diag::kTensorSpecInvalid,
          fmt::format("'{}' does not say what it holds; state it: '{}:Float32[1, 16]'", spec.path,
                      spec.path)};
}

/// Loads a raw file of the declared type and extents.
Result<Tensor> load_untyped(const TensorSpec& spec, const DeclaredTensor& declared) {
  const bool is_known = declared.shape && std::ranges::count(*declared.shape, kUnknownExtent) <= 1;
  if (!is_known) return untyped(spec);
  return read_raw(spec.path, {.dtype = declared.dtype, .shape = *declared.shape}, spec.files);
}

/// The path and the type of a raw file, `FILE.raw` or `FILE.bin:Float32[2]`; false: it is none.
bool read_raw_spec(std::string_view text, TensorSpec& spec) {
  for (const std::string_view ending : {".raw", ".bin"}) {
    const auto at = text.ends_with(ending) ? text.size() - ending.size()
                                           : text.rfind(std::string(ending) + ":");
    if (at == text.npos) continue;
    spec.kind = TensorSpec::Kind::kRaw;
    spec.path = text.substr(0, at + ending.size());
    spec.type = text.substr(std::min(at + ending.size() + 1, text.size()));
    return true;
  }
  return false;
}

/// The numbers of a file in a type that the format lacks. Each must be one of the type.
Result<Tensor> converted_exactly(const TensorSpec& spec, const Tensor& tensor, DType dtype) {
  auto converted = Tensor::allocate(dtype, tensor.shape());
  if (!converted) return converted;
  const std::size_t width = info(dtype).unit_bytes;
  std::byte* at = converted->mutable_bytes();
  for (std::int64_t i = 0; i < tensor.elements(); ++i, at += width) {
    const double value = element_as_double(tensor, i);
    if (const auto bits = encode_element(storage_type(dtype), value)) {
      std::memcpy(at, &*bits, width);
      const double kept = element_as_double(*converted, i);
      if (kept == value || (std::isnan(kept) && std::isnan(value))) continue;
    }
    return Error{diag::kTensorTypeConflict,
                 fmt::format("'{}' has {} as element {}, which is not a number of type {}",
                             spec.path, text_of_element(tensor, i), i, name_of(dtype))};
  }
  return converted;
}

/// The tensor of a file in a type that the format lacks. No value if the file has another kind of
/// numbers.
std::optional<Result<Tensor>> in_missing_type(const TensorSpec& spec, const Tensor& tensor,
                                              DType dtype) {
  const DType storage = storage_type(dtype);
  if (!is_real(storage) || spec.kind == TensorSpec::Kind::kRaw || npy_name(storage)) return {};
  if (auto decoded = from_codes(tensor, dtype)) return *std::move(decoded);
  const bool is_same_kind = is_float(storage) == is_float(tensor.dtype());
  if (!is_real(tensor.dtype()) || tensor.dtype() == DType::kBool || !is_same_kind) return {};
  return converted_exactly(spec, tensor, dtype);
}

Result<Tensor> checked_file(const TensorSpec& spec, const DeclaredTensor& declared) {
  auto tensor = load_file(spec);
  if (!tensor) return tensor;
  const bool fitting = fits(declared, tensor->shape());
  if (tensor->dtype() == declared.dtype && fitting) return tensor;
  if (fitting) {
    if (auto converted = in_missing_type(spec, *tensor, declared.dtype)) {
      return *std::move(converted);
    }
  }
  // Formats without quantised types have their codes as plain integers.
  const bool codes = info(declared.dtype).type_class == DTypeClass::kQuantised;
  if (codes && fitting && tensor->dtype() == storage_type(declared.dtype)) {
    return Tensor::borrow(declared.dtype, tensor->shape(), tensor->bytes(),
                          std::make_shared<Tensor>(*tensor));
  }
  return Error{diag::kTensorTypeConflict,
               fmt::format("'{}' has {} {}, declared is {}", spec.path, name_of(tensor->dtype()),
                           shape_text(tensor->shape()), stated_type(declared))};
}

/// A tensor whose element i has the bytes `encode(i)`.
template <class Encode>
Result<Tensor> fill(const DeclaredTensor& declared, Shape shape, Encode encode) {
  if (!is_real(storage_type(declared.dtype)))
    return Error{diag::kTensorDtypeUnsupported,
                 fmt::format("no values of type {} can be stated", name_of(declared.dtype))};
  auto tensor = Tensor::allocate(declared.dtype, std::move(shape));
  if (!tensor) return tensor;
  const std::size_t width = info(declared.dtype).unit_bytes;
  auto* at = tensor->mutable_bytes();
  for (std::int64_t i = 0; i < tensor->elements(); ++i, at += width) {
    const Result<std::uint64_t> bits = encode(i);
    if (!bits) return bits.error();
    std::memcpy(at, &*bits, width);
  }
  return tensor;
}

Result<Tensor> load_values(const TensorSpec& spec, const DeclaredTensor& declared) {
  const auto list = parse_value_list(spec.values);
  if (!list) return list.error();
  const bool known = is_known(declared.shape);
  const Shape& shape = known ? *declared.shape : list->shape;
  const auto elements = element_count(shape);
  if (!elements) return elements.error();
  const auto count = static_cast<std::int64_t>(list->elements.size());
  if (count != *elements || !fits(declared, shape))
    return Error{diag::kTensorTypeConflict,
                 fmt::format("{} values nested as {}, declared is {}", count,
                             shape_text(list->shape), stated_type(declared))};
  return fill(declared, shape, [&](std::int64_t i) {
    return encode_element(declared.dtype, list->elements[static_cast<std::size_t>(i)]);
  });
}

Result<Tensor> make_random(std::uint64_t seed, const DeclaredTensor& declared) {
  const RandomStream stream(seed, declared.name);
  if (!is_integer(storage_type(declared.dtype)))
    return random_reals(stream, declared.dtype, *declared.shape, Interval{});
  if (!declared.bound)
    return Error{diag::kRandomBoundInvalid,
                 fmt::format("random values of type {} need a bound", name_of(declared.dtype))};
  return random_integers(stream, declared.dtype, *declared.shape, *declared.bound);
}

}  // namespace

std::optional<Tensor> from_codes(const Tensor& tensor, DType dtype) {
  const DType storage = storage_type(dtype);
  const std::size_t width = info(storage).unit_bytes;
  const DType codes = width == 1 ? DType::kUInt8 : DType::kUInt16;
  if (!is_real(storage) || width > 2 || npy_name(storage) || tensor.dtype() != codes) return {};
  const auto decoded =
      Tensor::borrow(dtype, tensor.shape(), tensor.bytes(), std::make_shared<Tensor>(tensor));
  if (!decoded) return {};
  if (!is_integer(storage)) return *decoded;
  // A byte has more codes than an integer of 4 bits.
  for (std::int64_t i = 0; i < decoded->elements(); ++i) {
    const auto bits = encode_element(storage, element_as_double(*decoded, i));
    if (!bits) return {};
    if (static_cast<std::uint8_t>(*bits) !=
        tensor.as<std::uint8_t>()[static_cast<std::size_t>(i)]) {
      return {};
    }
  }
  return *decoded;
}

Result<Tensor> load_file(const TensorSpec& spec) {
  if (spec.kind == TensorSpec::Kind::kNpy) return read_npy(spec.path, spec.files);
  if (spec.kind == TensorSpec::Kind::kRaw) {
    const auto type = parse_raw_type(spec.type);
    if (!type) return untyped(spec);
    return read_raw(spec.path, *type, spec.files);
  }
  const auto archive = NpzFile::open(spec.path, {}, spec.files);
  if (!archive) return archive.error();
  auto member = archive->find(spec.member);
  if (!member) return std::move(member).error();
  if (!*member)
    return Error{diag::kTensorNotFound,
                 fmt::format("'{}' has no member '{}'", spec.path, spec.member)};
  return **std::move(member);
}

Result<TensorSpec> parse_tensor_spec(std::string_view text, const FileOpener& files) {
  constexpr std::string_view kRandom = "random:";
  constexpr std::string_view kArchive = ".npz:";
  TensorSpec spec;
  spec.files = files;
  auto rest = text;
  if (const auto size = target_size(text); size != text.npos) {
    if (size == 0) return bad_spec(text, "a name, %id or position is missing before '='");
    spec.target = text.substr(0, size);
    rest = text.substr(size + 1);
  }
  if (rest == "zeros" || rest == "iota") {
    spec.kind = rest == "zeros" ? TensorSpec::Kind::kZeros : TensorSpec::Kind::kIota;
  } else if (rest.starts_with(kRandom)) {
    const auto digits = rest.substr(kRandom.size());
    const auto last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, spec.seed);
    if (error != std::errc() || end != last)
      return bad_spec(text, "expected a seed from 0 to 2^64 - 1 after 'random:'");
    spec.kind = TensorSpec::Kind::kRandom;
  } else if (rest.starts_with('[') || is_single_value(rest)) {
    spec.kind = TensorSpec::Kind::kInline;
    spec.values = rest;
  } else if (const auto at = rest.rfind(kArchive);
             at != rest.npos && at + kArchive.size() < rest.size()) {
    spec.kind = TensorSpec::Kind::kNpzMember;
    spec.path = rest.substr(0, at + kArchive.size() - 1);
    spec.member = rest.substr(at + kArchive.size());
  } else if (rest.ends_with(".npy")) {
    spec.kind = TensorSpec::Kind::kNpy;
    spec.path = rest;
  } else if (read_raw_spec(rest, spec)) {
    if (!spec.type.empty() && !parse_raw_type(spec.type))
      return bad_spec(text, "a raw file has a type such as Float32[1, 16]");
  } else {
    return bad_spec(text,
                    "expected FILE.npy, FILE.npz:MEMBER, FILE.raw[:TYPE], a number, a list such as "
                    "[1, 2], random:SEED, zeros or iota");
  }
  return spec;
}

Result<Tensor> load_tensor(const TensorSpec& spec, const DeclaredTensor& declared) {
  switch (spec.kind) {
    case TensorSpec::Kind::kNpy:
    case TensorSpec::Kind::kNpzMember:
    case TensorSpec::Kind::kRaw:
      return spec.has_type() ? checked_file(spec, declared) : load_untyped(spec, declared);
    case TensorSpec::Kind::kInline:
      return load_values(spec, declared);
    default:
      break;
  }
  if (!is_known(declared.shape))
    return Error{
        diag::kTensorTypeConflict,
        fmt::format("extents must be known for this value, declared is {}", stated_type(declared))};
  if (spec.kind == TensorSpec::Kind::kRandom) return make_random(spec.seed, declared);
  if (spec.kind == TensorSpec::Kind::kZeros)
    return Tensor::allocate(declared.dtype, *declared.shape);
  return fill(declared, *declared.shape, [&](std::int64_t i) {
    return encode_element(declared.dtype, static_cast<double>(i));
  });
}

}  // namespace mir

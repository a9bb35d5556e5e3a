#include "mir/files/weight_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "checks.hpp"
#include "mir/files/blocks.hpp"
#include "mir/files/elements.hpp"
#include "mir/files/random.hpp"

namespace mir {
namespace {

constexpr std::string_view kRandomPrefix = "random:";
constexpr std::string_view kSplatPrefix = "splat:";

Error bad_source(std::string_view spec, std::string_view expected) {
  return {DiagCode::kTensorSpecInvalid, fmt::format("weight source '{}': {}", spec, expected)};
}

Error conflict(const WeightRequest& request, const Tensor& stored, std::string_view origin) {
  return {
      DiagCode::kTensorTypeConflict,
      fmt::format("'{}' has {} {}, expected {} {}", origin, name_of(stored.dtype()),
                  shape_text(stored.shape()), name_of(request.dtype), shape_text(request.shape))};
}

bool same_storage(DType a, DType b) {
  return storage_type(a) == storage_type(b);
}

/// A stored tensor in the type and shape of the request.
Result<Tensor> adapt(Tensor stored, const WeightRequest& request, std::string_view origin) {
  const auto wanted = element_count(request.shape);
  if (!wanted) return wanted.error();
  const bool blocks =
      request.convert_floats && is_decodable_block(stored.dtype()) && is_float(request.dtype);
  if (blocks && stored.elements() == *wanted) {
    auto values = dequantise(stored);
    if (!values) return values;
    return adapt(*std::move(values), request, origin);
  }
  const bool convertible =
      request.convert_floats && is_float(stored.dtype()) && is_float(request.dtype);
  if (stored.elements() != *wanted ||
      (!same_storage(stored.dtype(), request.dtype) && !convertible))
    return conflict(request, stored, origin);
  if (convertible) {
    auto converted = convert_floats(stored, request.dtype);
    if (!converted) return converted;
    return converted->reshaped(request.shape);
  }
  if (stored.dtype() == request.dtype) return stored.reshaped(request.shape);
  const auto bytes = stored.bytes();
  return Tensor::borrow(request.dtype, request.shape, bytes,
                        std::make_shared<Tensor>(std::move(stored)));
}

Result<Tensor> invent(std::uint64_t seed, const WeightRequest& request) {
  const RandomStream stream(seed, request.name);
  const DType stored = storage_type(request.dtype);
  if (is_integer(stored) && !request.bound) return Tensor::allocate(request.dtype, request.shape);
  if (is_integer(stored))
    return random_integers(stream, request.dtype, request.shape, *request.bound);
  const bool in_blocks = is_encodable_block(request.dtype);
  const auto reals = random_reals(stream, in_blocks ? DType::kFloat32 : request.dtype,
                                  request.shape, weight_interval(request.name, request.shape));
  return in_blocks && reals ? quantise(*reals, request.dtype) : reals;
}

Result<Tensor> splat(std::string_view value, const WeightRequest& request) {
  const auto element = encode_element(request.dtype, value);
  if (!element) return element.error();
  auto tensor = Tensor::allocate(request.dtype, request.shape);
  if (!tensor) return tensor;
  const std::size_t width = info(request.dtype).unit_bytes;
  auto* const bytes = tensor->mutable_bytes();
  for (std::size_t at = 0; at < tensor->bytes().size(); at += width)
    std::memcpy(bytes + at, &*element, width);
  return tensor;
}

}  // namespace

Result<WeightSource> WeightSource::open(std::string_view spec, const FileOpener& files) {
  if (spec.starts_with(kRandomPrefix)) {
    const auto digits = spec.substr(kRandomPrefix.size());
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    if (error != std::errc() || end != digits.data() + digits.size())
      return bad_source(spec, "expected a seed from 0 to 2^64 - 1 after 'random:'");
    return WeightSource(spec, Random{seed});
  }
  if (spec.starts_with(kSplatPrefix)) {
    const auto value = spec.substr(kSplatPrefix.size());
    if (!encode_element(DType::kFloat64, value) && !encode_element(DType::kBool, value))
      return bad_source(spec, "expected a number after 'splat:'");
    return WeightSource(spec, Splat{std::string(value)});
  }
  auto file = TensorFile::open(std::string(spec), files);
  if (!file) return std::move(file).error();
  return WeightSource(spec, *std::move(file));
}

bool WeightSource::invents() const {
  return std::holds_alternative<Random>(origin_) || std::holds_alternative<Splat>(origin_);
}

std::vector<std::string> WeightSource::names() const {
  const auto* file = std::get_if<TensorFile>(&origin_);
  return file == nullptr ? std::vector<std::string>() : file->names();
}

bool WeightSource::has(std::string_view name) const {
  const auto* file = std::get_if<TensorFile>(&origin_);
  return file == nullptr || file->contains(name);
}

Result<std::optional<Tensor>> WeightSource::find(const WeightRequest& request) const {
  if (!has(request.name)) return std::optional<Tensor>();
  auto tensor = load(request);
  if (!tensor)
    return Error{tensor.error().code,
                 fmt::format("weight '{}': {}", request.name, tensor.error().message)};
  return std::optional(*std::move(tensor));
}

Result<Tensor> WeightSource::load(const WeightRequest& request) const {
  if (const auto* random = std::get_if<Random>(&origin_)) return invent(random->seed, request);
  if (const auto* constant = std::get_if<Splat>(&origin_)) return splat(constant->value, request);
  auto stored = std::get<TensorFile>(origin_).find(request.name);
  if (!stored) return std::move(stored).error();
  return adapt(**std::move(stored), request, spec_);
}

Result<void> WeightSet::add(std::string_view spec, const FileOpener& files) {
  auto source = WeightSource::open(spec, files);
  if (!source) return std::move(source).error();
  sources_.push_back(*std::move(source));
  return {};
}

std::vector<std::string> WeightSet::names() const {
  std::vector<std::string> names;
  for (const WeightSource& source : sources_) {
    for (std::string& name : source.names()) names.push_back(std::move(name));
  }
  return names;
}

Result<std::optional<Tensor>> WeightSet::find(const WeightRequest& request) const {
  const auto* source = source_of(request.name);
  if (source == nullptr) return std::optional<Tensor>();
  return source->find(request);
}

const WeightSource* WeightSet::source_of(std::string_view name) const {
  const auto last = std::find_if(sources_.rbegin(), sources_.rend(),
                                 [&](const WeightSource& source) { return source.has(name); });
  return last == sources_.rend() ? nullptr : &*last;
}

}  // namespace mir

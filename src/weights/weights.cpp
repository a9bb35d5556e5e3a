// Weight sources: files, random numbers and constants, converted to the requested type.
#include "mir/weights.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>
#include <variant>

#include "mir/codes/tensors.hpp"
#include "weights/blocks.hpp"
#include "weights/checks.hpp"
#include "weights/elements.hpp"
#include "weights/fit.hpp"
#include "weights/random.hpp"
#include "weights/stored_view.hpp"
#include "weights/tensor_file.hpp"

namespace mir {
namespace {

constexpr std::string_view kRandomPrefix = "random:";
constexpr std::string_view kSplatPrefix = "splat:";

Error bad_source(std::string_view spec, std::string_view expected) {
  return {diag::kTensorSpecInvalid, fmt::format("weight source '{}': {}", spec, expected)};
}

Error conflict(const WeightRequest& request, const Tensor& stored, std::string_view origin) {
  return {
      diag::kTensorTypeConflict,
      fmt::format("'{}' has {} {}, expected {} {}", origin, name_of(stored.dtype()),
                  shape_text(stored.shape()), name_of(request.dtype), shape_text(request.shape))};
}

Error at_weight(const WeightRequest& request, const Error& error) {
  return {error.code, fmt::format("weight '{}': {}", request.name, error.message)};
}

/// True if blocks or another float type become the type of the request.
bool is_converted(const Tensor& stored, const WeightRequest& request) {
  return request.convert_floats && is_float(request.dtype) &&
         (is_decodable_block(stored.dtype()) ||
          (is_float(stored.dtype()) && stored.dtype() != request.dtype));
}

/// A stored tensor in the type and shape of the request, which it fits.
Result<Tensor> adapt(const Tensor& stored, DType dtype, const Shape& shape) {
  if (is_decodable_block(stored.dtype()) && is_float(dtype)) {
    const auto shaped = stored.reshaped(shape);  // of interleaved rows, which a file may not state
    const auto values = shaped ? dequantise(*shaped) : shaped;
    return values ? adapt(*values, dtype, shape) : values;
  }
  if (is_float(stored.dtype()) && is_float(dtype)) {
    const auto converted = convert_floats(stored, dtype);
    return converted ? converted->reshaped(shape) : converted;
  }
  if (stored.dtype() == dtype) return stored.reshaped(shape);
  return Tensor::borrow(dtype, shape, stored.bytes(), std::make_shared<Tensor>(stored));
}

Result<Weight> stored_weight(Tensor stored, const WeightRequest& request, std::string_view origin) {
  if (const auto count = element_count(request.shape); !count) return count.error();
  if (request.stored.rows) {
    auto rows = viewed_rows(stored, *request.stored.rows, request.shape);
    if (!rows)
      return Error{rows.error().code, fmt::format("'{}': {}", origin, rows.error().message)};
    stored = *std::move(rows);
  }
  const bool is_made = is_converted(stored, request);
  const bool fits = fits_type(stored.dtype(), request.dtype) &&
                    (is_made || storage_type(stored.dtype()) == storage_type(request.dtype)) &&
                    fits_shape(stored.shape(), request.shape);
  if (!fits) return conflict(request, stored, origin);
  const std::int64_t heads = request.stored.interleaved_heads;
  if (is_made || heads != 0) {
    auto make = [stored, request, heads, name = std::string(request.name)]() -> Result<Tensor> {
      const auto ordered = heads == 0 ? stored : without_interleaving(stored, heads);
      auto made = ordered ? adapt(*ordered, request.dtype, request.shape) : ordered;
      if (made) return made;
      WeightRequest named = request;
      named.name = name;
      return at_weight(named, made.error());
    };
    // The order of the rows in the file is not that of the weight, so nobody may read it in its
    // place.
    return Weight(std::move(make), heads == 0 ? std::move(stored) : Tensor());
  }
  auto tensor = adapt(stored, request.dtype, request.shape);
  if (!tensor) return std::move(tensor).error();
  return Weight(*std::move(tensor));
}

Result<Tensor> invent(std::uint64_t seed, const WeightRequest& request) {
  // Weights that are one tensor in a file are one when they are invented, too.
  const RandomStream stream(seed, request.stored.is_whole() ? request.stored_name() : request.name);
  const DType stored = storage_type(request.dtype);
  if (is_integer(stored) && !request.bound) return Tensor::allocate(request.dtype, request.shape);
  if (is_integer(stored))
    return random_integers(stream, request.dtype, request.shape, *request.bound);
  const Interval interval = weight_interval(request.name, request.shape);
  if (is_random_block(request.dtype))
    return random_blocks(stream, request.dtype, request.shape, interval);
  const bool in_blocks = is_encodable_block(request.dtype);
  const auto reals =
      random_reals(stream, in_blocks ? DType::kFloat32 : request.dtype, request.shape, interval);
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

/// A weight without a file. An empty tensor of its type meets every refusal but that of size.
template <class Make>
Result<Weight> invented_weight(const WeightRequest& request, Make make) {
  WeightRequest empty = request;
  empty.shape = {0};
  if (auto made = make(empty); !made) return std::move(made).error();
  if (const auto count = element_count(request.shape); !count) return count.error();
  auto kept = [make = std::move(make), request, name = std::string(request.name),
               stored = std::string(request.stored.tensor)] {
    WeightRequest each = request;
    each.name = name;
    each.stored.tensor = stored;
    auto made = make(each);
    return made ? std::move(made) : Result<Tensor>(at_weight(each, made.error()));
  };
  return Weight(std::move(kept), Tensor());
}

}  // namespace

/// Origin of a source's tensors.
struct WeightSource::Origin {
  struct Random {
    std::uint64_t seed;
  };
  struct Splat {
    std::string value;
  };
  std::variant<TensorFile, Random, Splat> kind;

  /// Returns null if the tensors are generated.
  const TensorFile* file() const { return std::get_if<TensorFile>(&kind); }
};

Result<WeightSource> WeightSource::open(std::string_view spec, const FileOpener& files) {
  const auto source = [&](auto kind) {
    return WeightSource(spec, std::make_shared<const Origin>(Origin{std::move(kind)}));
  };
  if (spec.starts_with(kRandomPrefix)) {
    const auto digits = spec.substr(kRandomPrefix.size());
    std::uint64_t seed = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seed);
    if (error != std::errc() || end != digits.data() + digits.size())
      return bad_source(spec, "expected a seed from 0 to 2^64 - 1 after 'random:'");
    return source(Origin::Random{seed});
  }
  if (spec.starts_with(kSplatPrefix)) {
    const auto value = spec.substr(kSplatPrefix.size());
    if (!encode_element(DType::kFloat64, value) && !encode_element(DType::kBool, value))
      return bad_source(spec, "expected a number after 'splat:'");
    return source(Origin::Splat{std::string(value)});
  }
  auto file = TensorFile::open(std::string(spec), files);
  if (!file) return std::move(file).error();
  return source(*std::move(file));
}

bool WeightSource::invents() const {
  return origin_->file() == nullptr;
}

bool WeightSource::is_random() const {
  return std::holds_alternative<Origin::Random>(origin_->kind);
}

std::vector<std::string> WeightSource::names() const {
  const TensorFile* file = origin_->file();
  return file == nullptr ? std::vector<std::string>() : file->names();
}

bool WeightSource::has(std::string_view name) const {
  const TensorFile* file = origin_->file();
  return file == nullptr || file->contains(name);
}

namespace {

/// Converts a result of prepare() to a result of find().
Result<std::optional<Tensor>> tensor_of(const Result<std::optional<Weight>>& prepared) {
  if (!prepared) return prepared.error();
  if (!*prepared) return std::optional<Tensor>();
  auto tensor = (*prepared)->tensor();
  if (!tensor) return std::move(tensor).error();
  return std::optional(*std::move(tensor));
}

}  // namespace

Result<std::optional<Tensor>> WeightSource::find(const WeightRequest& request) const {
  return tensor_of(prepare(request));
}

Result<std::optional<Weight>> WeightSource::prepare(const WeightRequest& request) const {
  if (!has(request.stored_name())) return std::optional<Weight>();
  auto weight = weight_of(request);
  if (!weight) return at_weight(request, weight.error());
  return std::optional(*std::move(weight));
}

Result<Weight> WeightSource::weight_of(const WeightRequest& request) const {
  if (const auto* random = std::get_if<Origin::Random>(&origin_->kind)) {
    return invented_weight(
        request, [seed = random->seed](const WeightRequest& each) { return invent(seed, each); });
  }
  if (const auto* constant = std::get_if<Origin::Splat>(&origin_->kind)) {
    return invented_weight(request, [value = constant->value](const WeightRequest& each) {
      return splat(value, each);
    });
  }
  auto stored = origin_->file()->find(request.stored_name());
  if (!stored) return std::move(stored).error();
  return stored_weight(**std::move(stored), request, spec_);
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
  const auto* source = source_of(request.stored_name());
  if (source == nullptr) return std::optional<Tensor>();
  return source->find(request);
}

Result<std::optional<Weight>> WeightSet::prepare(const WeightRequest& request) const {
  const auto* source = source_of(request.stored_name());
  return source == nullptr ? Result<std::optional<Weight>>(std::nullopt) : source->prepare(request);
}

const WeightSource* WeightSet::source_of(std::string_view name) const {
  const auto last = std::find_if(sources_.rbegin(), sources_.rend(),
                                 [&](const WeightSource& source) { return source.has(name); });
  return last == sources_.rend() ? nullptr : &*last;
}

}  // namespace mir

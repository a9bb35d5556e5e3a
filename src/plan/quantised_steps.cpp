// Steps on codes by fast kernels: dequantised operands as Float32, the kernel, quantised results.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "eval/parameters.hpp"
#include "mir/context.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/owned.hpp"
#include "plan/plan_builder.hpp"
#include "plan/transposed.hpp"

namespace mir {

namespace {

/// A parameter as Float32, whatever it holds; its matrix of two dimensions transposed if so stated.
std::optional<Tensor> as_floats(const Tensor& stored, const ref::Quantisation* codes, Shape shape,
                                bool transposed) {
  const auto strides = ref::row_major_strides(stored.shape());
  auto floats = Tensor::allocate(DType::kFloat32, std::move(shape));
  if (!floats || floats->elements() != stored.elements()) return std::nullopt;
  if (codes == nullptr && stored.dtype() != DType::kFloat32) return std::nullopt;
  // Groups follow the extents as stored, so the transposition comes after.
  auto reals = Tensor::allocate(DType::kFloat32, stored.shape());
  if (!reals) return std::nullopt;
  if (codes != nullptr) {
    const bool done =
        ref::dequantise({stored.dtype(), stored.bytes().data(), stored.shape(), strides}, *codes,
                        {DType::kFloat32, reals->mutable_bytes(), stored.shape(), strides})
            .ok();
    if (!done) return std::nullopt;
  } else {
    reals = stored;
  }
  if (!transposed) {
    auto shaped = reals->reshaped(floats->shape());
    return shaped ? std::optional(*std::move(shaped)) : std::nullopt;
  }
  return mir::transposed(*reals, floats->shape()[1], floats->shape()[0]);
}

/// Returns the codes of a symmetric weight of 8 bits, [outputs, depth], with one scale or one for
/// each output; no value for other weights.
std::optional<Tensor> byte_codes(const Tensor& stored, const ref::Quantisation& codes,
                                 std::int64_t outputs, std::int64_t depth, bool transposed) {
  const auto is_zero = [](std::int64_t point) { return point == 0; };
  const bool has_channels = codes.axis.has_value();
  const std::size_t output_axis = stored.shape().size() - (transposed ? 1 : 2);
  const bool fits =
      storage_type(stored.dtype()) == DType::kInt8 && stored.shape().size() >= 2 &&
      codes.block == 0 && codes.code_bits == 0 && std::ranges::all_of(codes.zero_points, is_zero) &&
      stored.elements() == outputs * depth && depth > 0 && depth <= fast::kMostCodeDepth &&
      (!has_channels || *codes.axis == output_axis) &&
      codes.scales.size() == (has_channels ? static_cast<std::size_t>(outputs) : 1);
  if (!fits) return std::nullopt;
  auto matrix = Tensor::allocate(DType::kInt8, {outputs, depth});
  if (!matrix) return std::nullopt;
  const std::span<const std::byte> from = stored.bytes();
  std::byte* const to = matrix->mutable_bytes();
  if (!transposed) {
    std::ranges::copy(from, to);
    return *std::move(matrix);
  }
  for (std::int64_t k = 0; k < depth; ++k) {
    for (std::int64_t n = 0; n < outputs; ++n) {
      to[n * depth + k] = from[static_cast<std::size_t>(k * outputs + n)];
    }
  }
  return *std::move(matrix);
}

/// True if a convolution is a product with each pixel's channels, which come last.
bool is_pointwise(const Op& op) {
  const OpAttributes attributes(op);
  const auto all = [&](AttrKey key, std::int64_t value) {
    const bool stated = attributes.has(key);
    return !stated || std::ranges::all_of(attributes.integers(key),
                                          [&](std::int64_t each) { return each == value; });
  };
  return attributes.string(key::kImplType).starts_with("QNN_LPBQ_") &&
         attributes.has(key::kKernelSize) && all(key::kKernelSize, 1) && all(key::kStride, 1) &&
         all(key::kDilation, 1) && all(key::kPadding, 0) &&
         (!attributes.has(key::kGroups) || attributes.integer(key::kGroups) == 1);
}

}  // namespace

const ref::Quantisation* PlanBuilder::codes_of(const Value& value) const {
  const auto found = resources_.quantisations->values.find(&value);
  return found == resources_.quantisations->values.end() ? nullptr : &found->second;
}

/// A place for Float32 numbers of the same extents.
PlanValueIndex PlanBuilder::add_floats(PlanValueIndex like) {
  PlanValue value = parts_.values[like];
  value.home = Home::kOwn;
  value.dtype = DType::kFloat32;
  std::iota(value.memory.begin(), value.memory.end(), std::uint8_t{0});
  parts_.values.push_back(value);
  return static_cast<PlanValueIndex>(parts_.values.size() - 1);
}

PlanValueIndex PlanBuilder::reals_of(std::size_t step, PlanValueIndex index,
                                     const ref::Quantisation& codes) {
  const auto [found, is_new] = reals_.try_emplace(index, 0);
  if (is_new) {
    const PlanValueIndex from = row_major(step, index);
    const PlanValueIndex reals = add_floats(index);
    add(real_node(step, from, reals, codes));
    reals_[index] = reals;
  }
  return reals_[index];
}

/// Reads a Linear on codes, or a convolution that is one; no value for other convolutions and
/// types.
std::optional<PlanBuilder::CodeStep> PlanBuilder::code_step(const Op& op) {
  const bool slides = std::holds_alternative<SpatialRank>(find_fast_op(op)->function);
  if (slides && !is_pointwise(op)) return std::nullopt;
  const TensorType *x = op.operand(0)->held_type(), *y = op.result()->held_type();
  CodeStep step{.x = codes_of(*op.operand(0)), .y = codes_of(*op.result())};
  const auto fits = [](const TensorType& type, const ref::Quantisation* codes) {
    return type.rank() >= 1 && type.dims().back().is_constant() &&
           (codes == nullptr ? type.dtype() == DType::kFloat32
                             : has_simple_codes(*type.dtype(), *codes));
  };
  const Tensor* bias = owned_tensor(op, ".bias", parameters());
  if (op.operand_count() != 1 || !fits(*x, step.x) || !fits(*y, step.y) ||
      owns_parameter(op, ".bias") != (bias != nullptr)) {
    return std::nullopt;
  }
  step.outputs = y->dims().back().constant();
  step.depth = x->dims().back().constant();
  const auto& codes = resources_.quantisations->parameters;
  const auto quantisation = [&](std::string_view suffix) {
    const auto found = codes.find(owned_symbol(op, suffix));
    return found == codes.end() ? nullptr : &found->second;
  };
  step.weight = quantisation(".weight");
  step.is_transposed = OpAttributes(op).string(key::kImplType).starts_with("QNN");
  if (bias == nullptr) return step;
  auto offset = as_floats(*bias, quantisation(".bias"), {step.outputs}, false);
  if (!offset) return std::nullopt;
  step.bias = *std::move(offset);
  return step;
}

/// Returns the weight packed as codes if both factors have 8 bits, otherwise as Float32; null if
/// neither is possible.
const fast::PackedMatrix* PlanBuilder::packed_codes(const Op& op, const CodeStep& step) {
  const Symbol symbol = owned_symbol(op, ".weight");
  const bool has_bytes =
      step.x != nullptr && step.weight != nullptr &&
      info(*op.operand(0)->held_type()->dtype()).unit_bytes == 1 &&
      (step.x->zero_points.empty() || std::abs(step.x->zero_points.front()) < 256);
  const fast::PackedMatrix* packed = resources_.weights->find(symbol);
  if (packed == nullptr) {
    const Tensor* weight = acquire_weight(op);
    if (weight == nullptr) return nullptr;
    std::optional<Tensor> matrix;
    if (has_bytes) {
      matrix = byte_codes(*weight, *step.weight, step.outputs, step.depth, step.is_transposed);
    }
    if (!matrix) {
      matrix = as_floats(*weight, step.weight, {step.outputs, step.depth}, step.is_transposed);
    }
    if (!matrix) return nullptr;
    const auto made =
        resources_.weights->pack(symbol, *matrix, step.outputs, step.depth, *resources_.context);
    if (!made) return nullptr;
    packed = *made;
    release_weight(op);
  }
  const bool fits = packed->outputs == step.outputs && packed->depth == step.depth &&
                    (packed->dtype != DType::kInt8 || has_bytes);
  return fits ? packed : nullptr;
}

bool PlanBuilder::add_linear_on_codes(std::size_t number) {
  const Op& op = *step_at(number).op;
  const auto step = code_step(op);
  const fast::PackedMatrix* packed = step ? packed_codes(op, *step) : nullptr;
  if (packed == nullptr) return false;
  const PlanValueIndex in = operands_of(number).front(), result = results_of(number).front();
  const PlanValueIndex to = step->y == nullptr ? result : add_floats(result);
  const LinearPart part{.weight = packed, .bias = step->bias, .out = to};
  if (packed->dtype == DType::kInt8) {
    std::vector<float> scales;
    for (std::int64_t n = 0; n < step->outputs; ++n) {
      const std::size_t group = step->weight->axis ? static_cast<std::size_t>(n) : 0;
      scales.push_back(static_cast<float>(step->x->scales.front() * step->weight->scales[group]));
    }
    add(code_product_node(number, row_major(number, in), *step->x, part, std::move(scales)));
  } else {
    const PlanValueIndex from =
        step->x == nullptr ? row_major(number, in) : reals_of(number, in, *step->x);
    add(linear_node(number, {.x = from}, {part}));
  }
  if (step->y != nullptr) add(code_node(number, to, result, *step->y));
  return true;
}

}  // namespace mir

// Steps on codes by fast kernels: the numbers that codes stand for as Float32, the kernel, codes.
#include <algorithm>
#include <numeric>

#include "mir/eval/attributes.hpp"
#include "mir/eval/parameters.hpp"
#include "mir/ir/context.hpp"
#include "mir/ir/module.hpp"
#include "nodes/owned.hpp"
#include "plan_builder.hpp"

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
  const auto rows = static_cast<std::size_t>(floats->shape()[0]);
  const auto columns = static_cast<std::size_t>(floats->shape()[1]);
  const auto from = reals->as<float>();
  const auto to = floats->as_mutable<float>();
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t n = 0; n < rows; ++n) to[n * columns + k] = from[k * rows + n];
  }
  return *std::move(floats);
}

/// Whether a convolution is a product with each pixel's channels, which come last.
bool is_pointwise(const Op& op) {
  const AttributeReader attributes(op);
  const auto all = [&](std::string_view key, std::int64_t value) {
    const bool stated = attributes.find(key) != nullptr;
    return !stated || std::ranges::all_of(attributes.integers(key),
                                          [&](std::int64_t each) { return each == value; });
  };
  return op.is("linalg.Conv2DOp") && attributes.string("impl_type").starts_with("QNN_LPBQ_") &&
         attributes.find("kernel_size") != nullptr && all("kernel_size", 1) && all("stride", 1) &&
         all("dilation", 1) && all("padding", 0) &&
         (attributes.find("groups") == nullptr || attributes.integer("groups") == 1);
}

}  // namespace

const ref::Quantisation* PlanBuilder::codes_of(const Value& value) const {
  const auto found = resources_.quantisations->values.find(&value);
  return found == resources_.quantisations->values.end() ? nullptr : &found->second;
}

/// A place for Float32 numbers of the same extents.
PlanSlot PlanBuilder::add_floats(PlanSlot like) {
  PlanValue value = parts_.values[like];
  value.home = Home::kOwn;
  value.dtype = DType::kFloat32;
  std::iota(value.memory.begin(), value.memory.end(), std::uint8_t{0});
  parts_.values.push_back(value);
  return static_cast<PlanSlot>(parts_.values.size() - 1);
}

PlanSlot PlanBuilder::reals_of(std::size_t step, PlanSlot slot, const ref::Quantisation& codes) {
  const auto [found, is_new] = reals_.try_emplace(slot, 0);
  if (is_new) {
    const PlanSlot from = row_major(step, slot);
    const PlanSlot reals = add_floats(slot);
    add(real_node(step, from, reals, codes));
    reals_[slot] = reals;
  }
  return reals_[slot];
}

/// Linear on codes, or a convolution that is one, as a product in Float32; false for other ops and
/// types that this does not take.
bool PlanBuilder::add_quantised_linear(std::size_t step) {
  const Op& op = *step_at(step).op;
  if (!op.is("linalg.LinearOp") && !is_pointwise(op)) return false;
  const TensorType *x = op.operand(0)->tensor_type(), *y = op.result()->tensor_type();
  const ref::Quantisation *x_codes = codes_of(*op.operand(0)), *y_codes = codes_of(*op.result());
  const auto fits = [](const TensorType& type, const ref::Quantisation* codes) {
    return type.rank() >= 1 && type.dims().back().is_constant() &&
           (codes == nullptr ? type.dtype() == DType::kFloat32
                             : has_simple_codes(*type.dtype(), *codes));
  };
  const Tensor* bias = owned_tensor(op, ".bias", *resources_.parameters);
  if (op.operand_count() != 1 || !fits(*x, x_codes) || !fits(*y, y_codes) ||
      owns_parameter(op, ".bias") != (bias != nullptr)) {
    return false;
  }
  const std::int64_t outputs = y->dims().back().constant(), depth = x->dims().back().constant();
  const auto quantisation = [&](std::string_view suffix) {
    const auto& parameters = resources_.quantisations->parameters;
    const auto found = parameters.find(owned_symbol(op, suffix));
    return found == parameters.end() ? nullptr : &found->second;
  };
  const std::optional<Tensor> offset =
      bias == nullptr ? Tensor() : as_floats(*bias, quantisation(".bias"), {outputs}, false);
  const fast::PackedMatrix* packed = resources_.weights->find(owned_symbol(op, ".weight"));
  if (packed == nullptr) {
    const bool transposed = AttributeReader(op).string("impl_type").starts_with("QNN");
    const Tensor* weight = acquire_weight(op);
    const auto matrix = weight == nullptr ? std::nullopt
                                          : as_floats(*weight, quantisation(".weight"),
                                                      {outputs, depth}, transposed);
    if (!matrix || !offset) return false;
    const auto made = resources_.weights->pack(owned_symbol(op, ".weight"), *matrix, outputs, depth,
                                               *resources_.context);
    if (!made) return false;
    packed = *made;
    release_weight(op);
  }
  if (!offset || packed->outputs != outputs || packed->depth != depth) return false;
  const PlanSlot in = operands_of(step).front(), result = results_of(step).front();
  const PlanSlot from = x_codes == nullptr ? row_major(step, in) : reals_of(step, in, *x_codes);
  const PlanSlot to = y_codes == nullptr ? result : add_floats(result);
  add(linear_node(step, {.x = from}, {{.weight = packed, .bias = *offset, .out = to}}));
  if (y_codes != nullptr) add(code_node(step, to, result, *y_codes));
  return true;
}

}  // namespace mir

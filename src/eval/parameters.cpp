// Lists the parameters that an op owns, and reads constants as tensors.
#include "eval/parameters.hpp"

#include <fmt/format.h>

#include <cstring>

#include "dialects/parameters.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/runs.hpp"
#include "mir/module.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

Error invalid(const TensorType& type, std::string_view message) {
  return {diag::kConstantInvalid, fmt::format("constant {}: {}", type.spelling(), message)};
}

}  // namespace

bool owns_parameter(const Op& op, std::string_view suffix) {
  if (op.row() == nullptr) return false;
  for (const WeightRow& weight : op.row()->weights) {
    if (weight.suffix != suffix) continue;
    return owns_parameter(*op.row(), weight, op.module().context(), op.attributes());
  }
  return false;
}

std::vector<OwnedParameter> owned_parameters(const Op& op) {
  std::vector<OwnedParameter> owned;
  if (op.row() == nullptr || !op.has_path()) return owned;
  IRContext& context = op.module().context();
  for (const WeightRow& weight : op.row()->weights) {
    if (!owns_parameter(*op.row(), weight, context, op.attributes())) continue;
    fmt::memory_buffer name;
    name.append(context.text(op.path()));
    name.append(weight.suffix);
    owned.push_back({weight.suffix, context.intern({name.data(), name.size()})});
  }
  return owned;
}

std::optional<float> only_float(const Tensor& tensor) {
  const bool is_one =
      tensor.defined() && tensor.elements() == 1 && tensor.dtype() == DType::kFloat32;
  return is_one ? std::optional(tensor.as<float>()[0]) : std::nullopt;
}

Result<Tensor> constant_tensor(const Value& value) {
  const TensorType* type = value.held_type();
  const Attr* elements = value.attribute(key::kConstant);
  if (type == nullptr || elements == nullptr || elements->kind() != AttrKind::kArray) {
    return Error{diag::kConstantInvalid, "a constant needs a tensor type and a list of values"};
  }
  const auto count = type->element_count();
  if (!count || !type->dtype()) return invalid(*type, "its extents or element type are not known");
  const auto stated = static_cast<std::int64_t>(elements->elements().size());
  if (stated != *count && stated != 1) {
    return invalid(*type, fmt::format("{} values are stated, expected 1 or {}", stated, *count));
  }
  if (!is_real(storage_type(*type->dtype()))) return invalid(*type, "its elements are no numbers");
  Shape shape;
  for (const Dim dim : type->dims()) shape.push_back(dim.constant());
  auto tensor = Tensor::allocate(*type->dtype(), std::move(shape));
  if (!tensor) return tensor;
  const std::size_t width = info(*type->dtype()).unit_bytes;
  std::byte* at = tensor->mutable_bytes();
  for (std::int64_t i = 0; i < *count; ++i, at += width) {
    const Attr* element = elements->elements()[static_cast<std::size_t>(stated == 1 ? 0 : i)];
    const auto bits = encode_element(*type->dtype(), element->spelling());
    if (!bits) return invalid(*type, bits.error().message);
    std::memcpy(at, &*bits, width);
  }
  return tensor;
}

}  // namespace mir

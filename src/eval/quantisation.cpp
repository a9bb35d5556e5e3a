// Reads the quantisation of a type from a QuantSpec.
#include "eval/quantisation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/quantisation.hpp"
#include "mir/module.hpp"
#include "support/integer_range.hpp"

namespace mir {

namespace {

Error bad_spec(const Attr& spec, std::string_view what) {
  return {diag::kQuantSpecIncomplete, fmt::format("{}: {}", spec.spelling(), what)};
}

/// Sets the axis and the block that a kind has.
Result<void> read_groups(const QuantSpec& spec, const QuantKind& kind, const Attr& text,
                         std::size_t rank, ref::Quantisation& codes) {
  if (kind.has_axis) {
    const auto axis = spec.integer("ch_axis");
    const auto dims = static_cast<std::int64_t>(rank);
    if (!axis || *axis < -dims || *axis >= dims) {
      return bad_spec(text, fmt::format("ch_axis is no dimension of a tensor of rank {}", rank));
    }
    codes.axis = static_cast<std::size_t>(*axis < 0 ? *axis + dims : *axis);
  }
  if (kind.has_block) {
    const auto block = spec.integer("block_size");
    if (!block || *block < 1) return bad_spec(text, "block_size is not 1 or more");
    codes.block = *block;
  }
  return {};
}

Result<std::optional<QuantRecipe>> recipe_of_spec(const TensorType& type, const Attr& text,
                                                  IntegerRange stored) {
  const QuantSpec spec = read_quant_spec(text);
  const QuantKind* kind = find_quant_kind(spec.kind);
  if (kind == nullptr) return bad_spec(text, "no such kind is known");
  if (kind->is_raw) return std::optional<QuantRecipe>();
  QuantRecipe recipe;
  recipe.uuid = spec.uuid;
  recipe.has_two_levels = kind->has_two_levels;
  recipe.is_asymmetric = kind->is_asymmetric;
  const auto low = spec.integer("quant_min"), high = spec.integer("quant_max");
  if (!low || !high || *low > *high) return bad_spec(text, "it states no range of codes");
  // Upstream states 65536 for the end of UInt16.
  recipe.codes.low = std::clamp(*low, stored.low, stored.high);
  recipe.codes.high = std::clamp(*high, stored.low, stored.high);
  if (recipe.has_two_levels) {
    const auto span = *high - *low;
    for (recipe.codes.code_bits = 1; span >= std::int64_t{1} << recipe.codes.code_bits;) {
      ++recipe.codes.code_bits;
    }
  }
  if (!recipe.is_asymmetric && recipe.codes.low >= 0) {
    recipe.default_zero = (recipe.codes.low + recipe.codes.high + 1) / 2;
  }
  if (auto ok = read_groups(spec, *kind, text, type.rank(), recipe.codes); !ok) {
    return std::move(ok).error();
  }
  return std::optional(std::move(recipe));
}

}  // namespace

Result<std::optional<QuantRecipe>> quant_recipe(const TensorType& type, const Attr* spec) {
  if (!type.dtype()) return std::optional<QuantRecipe>();
  const auto stored = integer_range(storage_type(*type.dtype()));
  if (!stored) return std::optional<QuantRecipe>();
  const Attr* encoding = type.encoding();
  if (spec == nullptr && encoding != nullptr && encoding->kind() == AttrKind::kQuantSpec) {
    spec = encoding;
  }
  if (spec != nullptr) return recipe_of_spec(type, *spec, *stored);
  if (info(*type.dtype()).type_class != DTypeClass::kQuantised) return std::optional<QuantRecipe>();
  const std::string_view name = name_of(*type.dtype());
  if (name.ends_with("PerChannel")) {
    return Error{diag::kQuantSpecIncomplete,
                 fmt::format("{} has no QuantSpec that says which dimension its channels are",
                             type.spelling())};
  }
  QuantRecipe recipe;
  recipe.codes.low = stored->low;
  recipe.codes.high = stored->high;
  recipe.is_asymmetric = *type.dtype() == DType::kUInt16PerTensorAsym;
  if (!recipe.is_asymmetric && stored->low >= 0) recipe.default_zero = (stored->high + 1) / 2;
  return std::optional(std::move(recipe));
}

}  // namespace mir

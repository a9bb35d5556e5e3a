// Upgrade step: inserts casts between quantised types and corrects recipes.
#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_set>
#include <vector>

#include "support/integer_range.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/steps/recovery.hpp"

// What quantisation recipes leave to the device: operands of different quantised types that meet
// element by element, which a portable module casts, ranges one beyond what their type holds, and
// the recipes of weights whose kernel says what they are.

namespace mir {

namespace {

std::optional<DType> dtype_of(const Value& value) {
  return value.tensor_type() == nullptr ? std::nullopt : value.tensor_type()->dtype();
}

bool is_quantised(std::optional<DType> dtype) {
  return dtype && info(*dtype).type_class == DTypeClass::kQuantised;
}

/// The operands that meet element by element; a condition or a mask does not.
std::vector<std::uint32_t> meeting(const Op& op) {
  const bool joins = op.is(OpId::kLinalgConcat, OpId::kLinalgStack);
  const bool maps = op.has(Trait::kElementwise);
  std::vector<std::uint32_t> indices;
  for (std::uint32_t i = 0; (joins || maps) && i < op.operand_count(); ++i) {
    const bool selects =
        (op.is(OpId::kLinalgWhere) && i == 0) || (op.is(OpId::kLinalgMaskedScatter) && i == 1);
    if (!selects) indices.push_back(i);
  }
  return indices;
}

void cast_operands(Recovery& recovery, Op& op) {
  const auto indices = meeting(op);
  if (indices.size() < 2) return;
  const auto first = dtype_of(*op.operand(indices.front()));
  for (const std::uint32_t index : indices) {
    const auto other = dtype_of(*op.operand(index));
    if (!first || !other || first == other || (!is_quantised(first) && !is_quantised(other)))
      continue;
    cast_operand(recovery, op, index, *first);
  }
}

/// The block in the name of upstream's kernels for weights with scales of two levels:
/// `QNN_LPBQ_w4a16o16_G32`.
std::optional<std::int64_t> lpbq_block(const Op& op) {
  const Attr* kernel = op.attribute(key::kImplType);
  if (kernel == nullptr || kernel->kind() != AttrKind::kString) return std::nullopt;
  const std::string_view name = kernel->text();
  const auto at = name.rfind("_G");
  if (!name.starts_with("QNN_LPBQ_") || at == name.npos) return std::nullopt;
  std::int64_t block = 0;
  const auto [end, error] = std::from_chars(name.data() + at + 2, name.data() + name.size(), block);
  const bool good = error == std::errc() && end == name.data() + name.size() && block > 0;
  return good ? std::optional(block) : std::nullopt;
}

/// Before its quantisation passes upstream states no recipe. What such a kernel reads is known:
/// codes of 4 bits in bytes, [1, 1, K, N], with a scale for each block and one for each of N.
void assume_weight_recipe(Recovery& recovery, const Op& op) {
  const auto block = op.has_path() ? lpbq_block(op) : std::nullopt;
  if (!block) return;
  Value* weight =
      recovery.module.lookup_symbol(fmt::format("{}.weight", recovery.text(op.path()))).value;
  const auto* type = weight == nullptr ? nullptr : weight->tensor_type();
  const bool bare = type != nullptr && type->dtype() == DType::kInt8 && type->rank() == 4 &&
                    type->encoding() == nullptr && weight->attribute(key::kQuantRecipe) == nullptr;
  if (!bare) return;
  const Attr* spec = recovery.context().scalar(
      AttrKind::kQuantSpec,
      fmt::format("QuantSpec(LPBQ(quant_min: -7, quant_max: 7, block_size: {}, ch_axis: 3, "
                  "scale_level_0_bitwidth: 4, quant_to_type: Int4, scale_1_type: Float32))",
                  *block));
  if (spec == nullptr) return;
  std::vector<NamedAttr> list(weight->attributes().begin(), weight->attributes().end());
  list.push_back({key::kQuantRecipe, spec});
  recovery.rewriter.set_attributes(*weight, list);
  recovery.note(op, LossEntry::Source::kAssumed, "recipe of .weight",
                std::string(spec->spelling()));
}

/// The greatest number that an integer type holds.
std::optional<std::int64_t> greatest(std::string_view type) {
  const std::optional<DType> dtype = dtype_from_name(type);
  const auto range = dtype ? integer_range(*dtype) : std::nullopt;
  return range ? std::optional(range->high) : std::nullopt;
}

class Ranges {
 public:
  explicit Ranges(Recovery& recovery) : recovery_(recovery) {}

  void settle(const Region& region, const Op& owner) {
    for (Value* value : region.free_values()) settle(*value, owner);
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) settle(argument, owner);
      for (Op* op : block->ops()) settle(*op);
    }
  }

 private:
  void settle(Op& op) {
    if (const Attr* recipe = op.attribute(key::kQuantRecipe)) {
      const Attr* other = in_range(recipe, op);
      if (other != recipe) recovery_.rewriter.set_attribute(op, key::kQuantRecipe, other);
    }
    for (Value& result : op.results()) settle(result, op);
    for (Region* inner = op.first_region(); inner != nullptr; inner = inner->next()) {
      settle(*inner, op);
      settle_results(*inner, op);
    }
  }

  void settle(Value& value, const Op& at) {
    if (auto list = in_range(value.attributes(), at)) {
      recovery_.rewriter.set_attributes(value, *list);
    }
  }

  void settle_results(Region& region, const Op& at) {
    edit_results(recovery_.rewriter, region, [&](RegionResult& result) {
      if (const auto list = in_range(result.attributes, at)) {
        result.attributes = recovery_.rewriter.keep(*list);
      }
    });
  }

  std::optional<std::vector<NamedAttr>> in_range(std::span<const NamedAttr> list, const Op& at) {
    std::vector<NamedAttr> settled(list.begin(), list.end());
    for (NamedAttr& each : settled) {
      if (each.key == key::kQuantRecipe) each.value = in_range(each.value, at);
    }
    if (std::ranges::equal(settled, list)) return std::nullopt;
    return settled;
  }

  const Attr* in_range(const Attr* recipe, const Op& at) {
    if (recipe->kind() == AttrKind::kQuantAnnotation) {
      std::vector<NamedAttr> entries(recipe->entries().begin(), recipe->entries().end());
      for (NamedAttr& entry : entries) {
        if (entry.value != nullptr) entry.value = in_range(entry.value, at);
      }
      if (std::ranges::equal(entries, recipe->entries())) return recipe;
      return recovery_.context().quant_annotation(entries);
    }
    if (recipe->kind() != AttrKind::kQuantSpec) return recipe;
    return clamped(recipe, at);
  }

  /// Upstream prints one more than its types hold: 65536 for UInt16.
  const Attr* clamped(const Attr* recipe, const Op& at) {
    const QuantSpec spec = read_quant_spec(*recipe);
    std::string_view type;
    for (const auto& [key, value] : spec.fields) {
      if (key == "quant_to_type") type = value;
    }
    const auto high = spec.integer("quant_max"), held = greatest(type);
    if (!high || !held || *high != *held + 1) return recipe;
    std::string text(recipe->spelling());
    const std::string before = fmt::format("quant_max: {}", *high);
    const auto found = text.find(before);
    if (found == text.npos) return recipe;
    text.replace(found, before.size(), fmt::format("quant_max: {}", *held));
    const Attr* other = recovery_.context().scalar(AttrKind::kQuantSpec, text);
    if (other == nullptr) return recipe;
    if (spec.uuid && !seen_.insert(*spec.uuid).second) return other;
    recovery_.note(at, LossEntry::Source::kAssumed, fmt::format("quant_max {}", *high),
                   fmt::format("{}, the greatest {}", *held, type));
    return other;
  }

  Recovery& recovery_;
  std::unordered_set<std::int64_t> seen_;  ///< specs that are noted already, by uuid
};

}  // namespace

void cast_operand(Recovery& recovery, Op& op, std::uint32_t index, DType dtype) {
  IRContext& context = recovery.context();
  Value* operand = op.operand(index);
  const TensorType& from = *operand->tensor_type();
  const Symbol name = context.intern(name_of(dtype));
  const Type* type = context.tensor(from.dims(), name, from.device());
  const NamedAttr stated{key::kDtype, context.word(name_of(dtype))};
  recovery.rewriter.set_insertion_point(op);
  Op* cast =
      recovery.rewriter.create({.name = context.op_name(OpId::kLinalgCastType, from.device()),
                                .operands = std::span(&operand, 1),
                                .result_types = std::span(&type, 1),
                                .attributes = std::span(&stated, 1),
                                .location = op.location()});
  recovery.rewriter.set_operand(op, index, cast->result());
  recovery.note(op, LossEntry::Source::kAssumed, fmt::format("cast of operand {}", index),
                std::string(type->spelling()));
}

void settle_quantised(Recovery& recovery) {
  walk<LinalgOp>(recovery.module, [&](LinalgOp op) {
    cast_operands(recovery, *op.op());
    assume_weight_recipe(recovery, *op.op());
  });
  Ranges(recovery).settle(recovery.module.body(), *recovery.module.top());
}

}  // namespace mir

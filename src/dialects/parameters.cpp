// Determines the parameters and caches of an op, and the extents of parameters.
#include "dialects/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/attribute_keys.hpp"

namespace mir {

namespace {

const Attr* find(const IRContext& context, std::span<const NamedAttr> attributes,
                 std::string_view key) {
  for (const NamedAttr& attribute : attributes) {
    if (context.text(attribute.key) == key) return attribute.value;
  }
  return nullptr;
}

class ExtentReader {
 public:
  ExtentReader(const IRContext& context, const TensorType* operand, const TensorType* result,
               std::span<const NamedAttr> attributes)
      : context_(context), operand_(operand), result_(result), attributes_(attributes) {}

  /// `a`, `stated a`, `a...` or `a / b`; false where not even the number of extents is known.
  bool add(std::string_view word, std::vector<Dim>& extents) const {
    if (const std::size_t slash = word.find(" / "); slash != word.npos) {
      if (!add(word.substr(0, slash), extents)) return false;
      const Attr* divisor = find(context_, attributes_, word.substr(slash + 3));
      if (divisor != nullptr) extents.back() = quotient(extents.back(), *divisor);
      return true;
    }
    const bool is_list = word.ends_with("...");
    if (is_list) word.remove_suffix(3);
    constexpr std::string_view kStated = "stated ";
    const bool needs_attribute = word.starts_with(kStated);
    if (needs_attribute) word.remove_prefix(kStated.size());
    const Attr* value = find(context_, attributes_, word);
    if (value == nullptr) {
      extents.push_back(needs_attribute ? Dim::unknown() : last_extent(word));
      return !is_list;
    }
    if (value->kind() == AttrKind::kInt) return add(value->integer(), extents);
    if (value->kind() != AttrKind::kArray) return false;
    return std::ranges::all_of(value->elements(), [&](const Attr* element) {
      return element->kind() == AttrKind::kInt && add(element->integer(), extents);
    });
  }

 private:
  static bool add(std::int64_t extent, std::vector<Dim>& extents) {
    extents.emplace_back(extent);
    return extent >= 0;
  }

  static Dim quotient(Dim extent, const Attr& divisor) {
    const bool is_known =
        extent.is_constant() && divisor.kind() == AttrKind::kInt && divisor.integer() > 0;
    return is_known ? Dim(extent.constant() / divisor.integer()) : Dim::unknown();
  }

  Dim last_extent(std::string_view word) const {
    const bool of_operand = word == key::kD || word == key::kInChannels;
    const bool of_result = word == key::kOutChannels || word == key::kHiddenSize;
    const TensorType* type = of_operand ? operand_ : of_result ? result_ : nullptr;
    const bool is_known = type != nullptr && type->rank() != 0 && type->dims().back().is_constant();
    return is_known ? type->dims().back() : Dim::unknown();
  }

  const IRContext& context_;
  const TensorType* operand_;
  const TensorType* result_;
  std::span<const NamedAttr> attributes_;
};

}  // namespace

bool owns_parameter(const OpRow& row, const WeightRow& weight, const IRContext& context,
                    std::span<const NamedAttr> attributes) {
  if (weight.present_if.empty()) return true;
  if (const Attr* flag = find(context, attributes, weight.present_if)) {
    return flag->kind() == AttrKind::kBool && flag->boolean();
  }
  const auto stated = std::ranges::find(row.attributes, weight.present_if, &AttrRow::name);
  return stated == row.attributes.end() || stated->default_text == "true";
}

std::optional<std::vector<Dim>> parameter_dims(const WeightRow& weight, const IRContext& context,
                                               const TensorType* operand, const TensorType* result,
                                               std::span<const NamedAttr> attributes) {
  const ExtentReader reader(context, operand, result, attributes);
  std::vector<Dim> extents;
  std::string_view rest = weight.shape;
  if (!rest.starts_with('[')) {
    if (!reader.add(fmt::format("{}...", rest), extents)) return std::nullopt;
    return extents;
  }
  rest = rest.substr(1, rest.size() - 2);
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(", "), rest.size());
    if (!reader.add(rest.substr(0, comma), extents)) return std::nullopt;
    rest.remove_prefix(std::min(comma + 2, rest.size()));
  }
  return extents;
}

std::optional<std::vector<Dim>> parameter_dims(const InferRequest& op, const WeightRow& weight,
                                               const TensorType* result) {
  if (op.row.weight_dims) return op.row.weight_dims(op, weight);
  const auto* operand = op.operands.empty() ? nullptr : dyn_cast<TensorType>(op.operands.front());
  return parameter_dims(weight, op.context, operand, result, op.attributes);
}

std::optional<std::vector<std::int64_t>> parameter_extents(const WeightRow& weight,
                                                           const IRContext& context,
                                                           const TensorType* operand,
                                                           const TensorType* result,
                                                           std::span<const NamedAttr> attributes) {
  const auto dims = parameter_dims(weight, context, operand, result, attributes);
  if (!dims || !std::ranges::all_of(*dims, &Dim::is_constant)) return std::nullopt;
  std::vector<std::int64_t> extents;
  for (const Dim dim : *dims) extents.push_back(dim.constant());
  return extents;
}

std::optional<Symbol> named_parameter(const Op& op) {
  const Attr* name = op.is(OpId::kLinalgParam) ? op.attribute(key::kName) : nullptr;
  if (name == nullptr || name->kind() != AttrKind::kString) return std::nullopt;
  return op.module().context().intern(name->text());
}

Symbol cache_of(const Op& op) {
  if (!op.is(OpId::kLinalgKVCache)) return {};
  const Attr* cache = op.attribute(key::kCache);
  const bool named = cache != nullptr &&
                     (cache->kind() == AttrKind::kSymbolRef || cache->kind() == AttrKind::kString);
  return named ? op.module().context().intern(cache->text()) : op.path();
}

bool is_name_attribute(const Op& op, const AttrRow& row) {
  if (row.type == AttrType::kSymbolRef) return true;
  if (op.is(OpId::kLinalgKVCache)) return row.name == key::kLayerIdx;
  return op.is(OpId::kLinalgParam) && row.name == key::kName;
}

}  // namespace mir

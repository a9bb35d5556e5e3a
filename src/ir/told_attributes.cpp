// Completes the attributes of an op by the extents of its parameters.
#include "ir/told_attributes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/attribute_keys.hpp"

namespace mir {

namespace {

/// Extents of the result that a rule takes from an attribute.
constexpr AttrKey kResultExtents[] = {key::kOutChannels, key::kHiddenSize};

/// The extent of a parameter that `shape` of its row, "[out_channels, in_channels]", names `word`;
/// unknown if no part is that word, or if the parameter has another rank, as packed and flattened
/// ones do. "kernel_size..." is any number of extents.
Dim extent_named(std::string_view word, std::string_view shape, const TensorType& type) {
  if (!shape.starts_with('[')) return Dim::unknown();
  shape = shape.substr(1, shape.size() - 2);
  Dim found = Dim::unknown();
  std::size_t count = 0;
  bool is_list = false;
  for (std::size_t end = 0; end != shape.npos; ++count) {
    end = shape.find(", ");
    std::string_view part = shape.substr(0, end);
    if (constexpr std::string_view kStated = "stated "; part.starts_with(kStated)) {
      part.remove_prefix(kStated.size());
    }
    if (!is_list && part == word && count < type.rank()) found = type.dims()[count];
    is_list = is_list || part.ends_with("...");
    if (end != shape.npos) shape.remove_prefix(end + 2);
  }
  return type.rank() == count || (is_list && type.rank() > count) ? found : Dim::unknown();
}

}  // namespace

Dim extent_of_parameter(const Module& module, const OpRow& row, Symbol path,
                        std::string_view word) {
  IRContext& context = module.context();
  for (const WeightRow& weight : row.weights) {
    const Symbol name =
        context.strings().find(fmt::format("{}{}", context.text(path), weight.suffix));
    const Value* parameter = name ? module.lookup_value(name) : nullptr;
    const TensorType* type = parameter == nullptr ? nullptr : parameter->tensor_type();
    if (type == nullptr) continue;
    if (const Dim extent = extent_named(word, weight.shape, *type); extent.is_constant()) {
      return extent;
    }
  }
  return Dim::unknown();
}

ToldAttributes::ToldAttributes(const Module& module, const OpRow& row, Symbol path,
                               std::span<const NamedAttr> stated)
    : stated_(stated) {
  if (row.weights.empty() || !path || !module.is_portable()) return;
  IRContext& context = module.context();
  for (const AttrKey& key : kResultExtents) {
    const bool is_declared =
        std::ranges::find(row.attributes, key.text, &AttrRow::name) != row.attributes.end();
    if (!is_declared || find_attribute(stated, key) != nullptr) continue;
    const Dim extent = extent_of_parameter(module, row, path, key);
    if (!extent.is_constant()) continue;
    if (told_.empty()) told_.assign(stated.begin(), stated.end());
    told_.push_back({key, context.integer(extent.constant())});
  }
}

}  // namespace mir

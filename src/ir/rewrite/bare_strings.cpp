// Removes the quotes of strings that dumps print without them.
#include "ir/rewrite/bare_strings.hpp"

#include <algorithm>

#include "mir/walk.hpp"

namespace mir {

namespace {

std::vector<NamedAttr> without_quotes(IRContext& context, std::span<const NamedAttr> list) {
  std::vector<NamedAttr> bare(list.begin(), list.end());
  for (NamedAttr& each : bare) {
    if (each.value->is_quoted()) each.value = context.word(each.value->text());
  }
  return bare;
}

void take_quotes_off(Rewriter& rewriter, Value& value) {
  const auto bare = without_quotes(rewriter.context(), value.attributes());
  if (!std::ranges::equal(bare, value.attributes())) rewriter.set_attributes(value, bare);
}

}  // namespace

void take_quotes_off(Rewriter& rewriter, const Op& op) {
  for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
    for (Value* value : region->free_values()) take_quotes_off(rewriter, *value);
  }
  for_each_child(op, [&](Op& inner) {
    const auto bare = without_quotes(rewriter.context(), inner.attributes());
    if (!std::ranges::equal(bare, inner.attributes())) {
      rewriter.set_attributes(inner, bare, inner.has_attribute_list());
    }
    for (Value& result : inner.results()) take_quotes_off(rewriter, result);
    take_quotes_off(rewriter, inner);
  });
}

}  // namespace mir

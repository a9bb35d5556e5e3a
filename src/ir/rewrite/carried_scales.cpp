// Carries attributes that state quantisations from one value to another.
#include "ir/rewrite/carried_scales.hpp"

#include <array>
#include <vector>

#include "mir/attribute_keys.hpp"

namespace mir {

void carry_scales(Rewriter& rewriter, const Value& from, Value& to) {
  if (&from == &to || from.attributes().empty() || to.is_free()) return;
  const bool has_scale = to.attribute(key::kQuantScale) != nullptr;
  const std::array<Symbol, 3> of_scale{key::kQuantScale, key::kQuantZeroPoint, key::kQuantSource};
  std::vector<NamedAttr> attributes(to.attributes().begin(), to.attributes().end());
  const auto carry = [&](Symbol key) {
    const Attr* const value = from.attribute(key);
    if (value != nullptr && to.attribute(key) == nullptr) attributes.push_back({key, value});
  };
  carry(key::kQuantRecipe);
  if (!has_scale) {
    for (const Symbol key : of_scale) carry(key);
  }
  if (attributes.size() != to.attributes().size()) rewriter.set_attributes(to, attributes);
}

}  // namespace mir

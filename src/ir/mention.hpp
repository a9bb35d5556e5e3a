// Properties of a value as the text states them where an op names it.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// Returns the properties that the mention states, and those of the value for all others.
inline StatedMention mention_of(const Use& use) {
  const Value& value = *use.value();
  const StatedMention* other = stated_mention(use);
  return other != nullptr
             ? *other
             : StatedMention{value.type(), value.attributes(), value.symbol(), value.has_symbol()};
}

/// The type that the mention states; the value's where it states none.
inline const Type* mentioned_type(const Use& use) {
  const StatedMention* other = stated_mention(use);
  return other != nullptr && other->type != nullptr ? other->type : use.value()->type();
}

}  // namespace mir

// What the text says of a value where an op names it.
#pragma once

#include "mir/op.hpp"

namespace mir {

/// What the mention says otherwise than the value, else what the value has.
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

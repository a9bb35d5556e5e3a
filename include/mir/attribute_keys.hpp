// The keys of attributes of the build, as constants.
//
// `mir/attribute_keys.def` is made from the row tables of src/dialects. A row is all that declares
// a key: attribute "to_shape" is key::kToShape. Its handle is the same in each context.
#pragma once

#include <array>

#include "mir/interner.hpp"

namespace mir {

/// All keys, sorted; the handle of the first is 1.
inline constexpr std::array kAttributeKeys = {
#define MIR_KEY(name, text) std::string_view(text),
#include "mir/attribute_keys.def"
#undef MIR_KEY
};

namespace key {

enum class Handle : std::uint32_t {
  kNone,
#define MIR_KEY(name, text) name,
#include "mir/attribute_keys.def"
#undef MIR_KEY
};

#define MIR_KEY(name, text) \
  inline constexpr AttrKey name{{static_cast<std::uint32_t>(Handle::name)}, text};
#include "mir/attribute_keys.def"
#undef MIR_KEY

}  // namespace key

}  // namespace mir

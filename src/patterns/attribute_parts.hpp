// Name and parameters of an attribute of a dialect.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "mir/context.hpp"

namespace mir::patterns {

struct AttributeParts {
  std::string_view name;  ///< "npu.layout"
  std::vector<const Attr*> parameters;
};

/// Reads `#name<...>`, also where no dialect declares the name. No value for other attributes, and
/// if the parameters cannot be read.
std::optional<AttributeParts> parts_of(const Attr& attribute, IRContext& context);

}  // namespace mir::patterns

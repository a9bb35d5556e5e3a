// The canonical text of `QuantSpec(...)`, taken apart where it is interned.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace mir {

struct QuantSpecParts {
  std::string_view scheme;  ///< what it says but for uuid and `solved`
  std::optional<std::int64_t> uuid;
};

/// Views into `spelling`. A spec with items after its kind that upstream does not print is a
/// scheme of its own.
QuantSpecParts split_quant_spec(std::string_view spelling);

}  // namespace mir

// Describes the steps of a conversion for --explain-conversion.
#include "tools/opt/explain_conversion.hpp"

#include <fmt/format.h>

#include "tools/opt/op_place.hpp"

namespace mir::tools {

std::string describe_step(const ConversionStep& step) {
  std::string text = place_of(step.op);
  text += step.pattern == nullptr ? " stays illegal\n"
                                  : fmt::format(" is replaced by '{}'\n", step.pattern->name);
  for (const PatternMismatch& each : step.mismatches) {
    text += fmt::format("  '{}' does not match: {}\n", each.pattern->name, each.condition);
  }
  if (step.pattern == nullptr && step.mismatches.empty()) {
    text += "  no pattern has an operation of this name as its root\n";
  }
  return text;
}

}  // namespace mir::tools

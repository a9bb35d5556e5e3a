#include <algorithm>

#include "ir/attribute_type.hpp"
#include "mir/dialects.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

bool is_annotation(std::string_view key) {
  return std::ranges::find(annotation_attributes(), key, &AttrRow::name) !=
         annotation_attributes().end();
}

}  // namespace

void attributes(const Op& op, Reporter& reporter) {
  const OpRow* row = op.row();
  using enum ConstraintId;
  if (row == nullptr ||
      !reporter.wants_any(attribute_c1, attribute_c2, attribute_c3, attribute_c5)) {
    return;
  }
  for (const NamedAttr& attribute : op.attributes()) {
    const std::string_view key = text(op, attribute.key);
    const auto known = std::find_if(row->attributes.begin(), row->attributes.end(),
                                    [&](const AttrRow& each) { return each.name == key; });
    if (known == row->attributes.end()) {
      if (is_annotation(key)) continue;
      suggest_attribute(
          reporter.report(
              attribute_c1, op,
              [&] { return fmt::format("'{}' has no attribute '{}'", op.name(), key); }),
          op, key);
    } else if (!admits(known->type, *attribute.value)) {
      Diagnostic* kept = reporter.report(
          attribute_c3, op, [&] { return wrong_attribute(op.name(), *known, *attribute.value); });
      if (known->type == AttrType::kDType) suggest_dtype(kept, op, key);
    } else if (!is_in_range(*known, *attribute.value)) {
      reporter.report(attribute_c5, op,
                      [&] { return wrong_attribute(op.name(), *known, *attribute.value); });
    }
  }
  for (const AttrRow& each : row->attributes) {
    if (!each.required || op.attribute(each.name) != nullptr) continue;
    reporter.report(attribute_c2, op, [&] { return missing_attribute(op.name(), each); });
  }
}

}  // namespace mir::checks

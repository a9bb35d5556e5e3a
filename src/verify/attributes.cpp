// Checks attributes of ops and launches against their rows.
#include <algorithm>

#include "ir/context/attribute_type.hpp"
#include "ir/op_places.hpp"
#include "ir/propose_attribute.hpp"
#include "mir/dialects.hpp"
#include "program/program_code.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

bool is_annotation(std::string_view key) {
  return std::ranges::find(annotation_attributes(), key, &AttrRow::name) !=
         annotation_attributes().end();
}

/// `"impl_type":0`: for some days upstream printed the number of what it calls Default.
bool is_number_of_implementation(std::string_view key, const Attr& value) {
  return key == key::kImplType && value.kind() == AttrKind::kInt;
}

/// The options of a launch are the attributes of the op that it names.
void launch_options(const Op& op, Reporter& reporter) {
  if (!reporter.wants_any(ConstraintId::launch_c3)) return;
  const prog::KernelSpec spec = prog::read_launch(op).spec;
  const IRContext& context = op.module().context();
  const auto kind = context.find_kernel(spec.type_name(), op.operand_count());
  const OpRow* row = kind ? context.info(*kind).row : nullptr;
  if (row == nullptr) return;
  for (const NamedAttr& option : spec.entries()) {
    if (option.value == nullptr) continue;
    const std::string_view key = text(op, option.key);
    const auto known = std::find_if(row->attributes.begin(), row->attributes.end(),
                                    [&](const AttrRow& each) { return each.name == key; });
    if (known == row->attributes.end() || option.value->kind() == AttrKind::kNull ||
        admits(known->type, *option.value) || is_number_of_implementation(key, *option.value))
      continue;
    reporter.report_at(ConstraintId::launch_c3, op, {key}, [&] {
      return wrong_attribute(context.info(*kind).name, *known, *option.value);
    });
  }
}

}  // namespace

void attributes(const Op& op, Reporter& reporter) {
  const OpRow* row = op.row();
  if (op.is(OpId::kProgKernelLaunch, OpId::kProgKernelSymbol)) launch_options(op, reporter);
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
          reporter.report_at(
              attribute_c1, op, {key, AttributePart::kKey},
              [&] { return fmt::format("'{}' has no attribute '{}'", op.name(), key); }),
          op, key);
    } else if (!admits(known->type, *attribute.value)) {
      Diagnostic* kept = reporter.report_at(attribute_c3, op, {key}, [&] {
        return wrong_attribute(op.name(), *known, *attribute.value);
      });
      if (known->type == AttrType::kDType) suggest_dtype(kept, op, key);
    } else if (!is_in_range(*known, *attribute.value)) {
      reporter.report_at(attribute_c5, op, {key},
                         [&] { return wrong_attribute(op.name(), *known, *attribute.value); });
    }
  }
  for (const AttrRow& each : row->attributes) {
    if (!each.required || op.attribute(each.name) != nullptr) continue;
    Diagnostic* kept =
        reporter.report(attribute_c2, op, [&] { return missing_attribute(op.name(), each); });
    const auto text = kept == nullptr ? std::nullopt : text_of(op);
    if (text) propose_attribute(*kept, *text, op.info(), each);
  }
}

}  // namespace mir::checks

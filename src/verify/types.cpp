// Checks element types, extents and constants of values.
#include <algorithm>
#include <array>

#include "dialects/rules.hpp"
#include "patterns/constant_values.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

void known_extents(const Type* type, const Op& place, Reporter& reporter) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return;
  for (const Dim dim : tensor->dims()) {
    if (!dim.is_negative()) continue;
    reporter.report(ConstraintId::type_c6, place, [&] {
      return fmt::format("extent {} of {} is negative; one that is not known is written ?",
                         dim.constant(), tensor->spelling());
    });
    return;
  }
}

void only_in_patterns(const Type* type, const Op& place, Reporter& reporter) {
  const auto* tensor = dyn_cast<TensorType>(type);
  const bool has_pack = tensor != nullptr && std::ranges::any_of(tensor->dims(), &Dim::is_pack);
  if (!has_pack && type->spelling() != "!builtin.any") return;
  reporter.report(ConstraintId::type_c8, place, [&] {
    return fmt::format("{} is a type that only patterns have", type->spelling());
  });
}

bool has_unknown_element(const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  return tensor != nullptr && !tensor->dtype();
}

void known_element_type(const Type* type, const Op& place, Reporter& reporter) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return;
  if (tensor->dtype()) {
    if (is_upstream_type(*tensor->dtype()) || place.module().is_portable()) return;
    reporter.report_at(ConstraintId::type_c4, place, TypeWordPlace{name_of(*tensor->dtype())}, [&] {
      return fmt::format("element type '{}' of {} is this toolkit's own, so no dump has it",
                         name_of(*tensor->dtype()), tensor->spelling());
    });
    return;
  }
  const std::string_view word = text(place, tensor->dtype_name());
  Diagnostic* kept = reporter.report_at(ConstraintId::type_c4, place, TypeWordPlace{word}, [&] {
    return fmt::format("element type '{}' of {} is not known", word, tensor->spelling());
  });
  suggest_element_type(kept, place, *tensor);
}

void constant_values(const Value& value, const Attr& values, const Op& place, Reporter& reporter) {
  const TensorType* type = value.held_type();
  if (type == nullptr) return;
  const std::string breach = patterns::breach_of_values(*type, values);
  if (breach.empty()) return;
  reporter.report(ConstraintId::type_c5, place,
                  [&] { return fmt::format("constant {}: {}", value.type()->spelling(), breach); });
}

namespace {

/// Rules whose operands meet element by element.
bool meets_elements(InferFn rule) {
  constexpr std::array<InferFn, 3> kRules = {rules::binary, rules::concat, rules::equal};
  return std::ranges::find(kRules, rule) != kRules.end();
}

bool is_number(const TensorType& type) {
  if (!type.dtype()) return false;
  const DTypeClass kind = info(*type.dtype()).type_class;
  return kind == DTypeClass::kFloat || kind == DTypeClass::kQuantised;
}

}  // namespace

void mixed_types(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                 Reporter& reporter) {
  if (!meets_elements(row.infer) || operands.size() < 2) return;
  const auto* first = dyn_cast<TensorType>(operands[0]);
  if (first == nullptr || !is_number(*first)) return;
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const auto* other = dyn_cast<TensorType>(operands[i]);
    // Other mixtures break the rule itself.
    if (other == nullptr || !is_number(*other) || other->dtype() == first->dtype()) continue;
    reporter.report(ConstraintId::type_c2, op, [&] {
      const IRContext& context = op.module().context();
      return compiled(FMT_COMPILE("operands 0 and {} of '{}' are {} and {}"), i, op.name(),
                      context.text(first->dtype_name()), context.text(other->dtype_name()));
    });
    return;
  }
}

}  // namespace mir::checks

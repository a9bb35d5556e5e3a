// Reduces the attributes of a module to what they mean.
#include "diff/effective_form.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "dialects/leave_defaults_out.hpp"
#include "diff/attribute_lists.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

/// Returns the number of the shortest text that reads as the same Float32.
double shortest(double value) {
  const auto single = static_cast<float>(value);
  if (!std::isfinite(single) || (single == 0.0F && value != 0.0)) return value;
  return std::strtod(fmt::format("{}", single).c_str(), nullptr);
}

const Attr* effective(IRContext& context, const Attr& value) {
  constexpr double kMostExact = 1 << 24;
  if (value.kind() == AttrKind::kString) return context.string(value.text());
  if (value.kind() == AttrKind::kFloat) {
    const double number = shortest(value.number());
    const bool is_whole = number == std::floor(number) && std::abs(number) < kMostExact &&
                          !(number == 0.0 && std::signbit(number));
    return is_whole ? context.integer(static_cast<std::int64_t>(number)) : context.number(number);
  }
  if (value.kind() != AttrKind::kArray) return &value;
  std::vector<const Attr*> elements;
  for (const Attr* element : value.elements()) elements.push_back(effective(context, *element));
  const Attr* array = context.array(elements);
  return array == nullptr ? &value : array;
}

}  // namespace

void make_effective(Module& module) {
  leave_defaults_out(module);
  IRContext& context = module.context();
  Rewriter rewriter(module);
  rewrite_attribute_lists(rewriter, [&](std::span<const NamedAttr> list, Symbol own) {
    std::vector<NamedAttr> kept;
    for (const NamedAttr& each : list) {
      const bool repeats = each.key == key::kSymbol && each.value != nullptr && own &&
                           each.value->text() == context.text(own);
      if (repeats) continue;
      kept.push_back({each.key, each.value == nullptr ? nullptr : effective(context, *each.value)});
    }
    return kept;
  });
}

}  // namespace mir

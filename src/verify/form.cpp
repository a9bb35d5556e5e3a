#include "verify/form.hpp"

#include <algorithm>

#include "dialects/parameters.hpp"
#include "ir/attribute_type.hpp"
#include "mir/dialects.hpp"
#include "mir/dump_facts.hpp"
#include "support/device.hpp"
#include "support/suggest.hpp"

namespace mir::checks {

using enum ConstraintId;

FormChecks::FormChecks(Reporter& reporter)
    : reporter_(reporter),
      context_(reporter.module().context()),
      constant_(context_.intern("constant")),
      is_wanted_(reporter.wants_any(op_c4, op_c5, op_c6, signature_c3, attribute_c4, type_c7,
                                    register_c1, register_c2, param_c2, param_c3, cache_c1)) {
  if (is_wanted_) attributes(*reporter.module().top(), reporter);
}

void FormChecks::enter(const Region& region) {
  if (!is_wanted_) return;
  const Op& parent = *region.parent();
  if (parent.is(OpId::kGraphSubGraph) && !region.has_signature()) {
    reporter_.report(signature_c3, parent, [&] {
      return fmt::format("graph '@{}' states no '(inputs) -> (outputs)'",
                         text(parent, parent.symbol()));
    });
  }
  for (const Value* value : region.free_values()) {
    if (!value->has_uses()) continue;
    const Op& user = *value->first_use()->user();
    check_value(*value, user, false);
    check_parameter(*value, user);
  }
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) check_value(argument, parent, true);
  }
}

void FormChecks::op(const Op& op) {
  if (!is_wanted_) return;
  if (op.row() != nullptr) {
    check_parts(op);
    check_place(op);
  }
  if (op.is(OpId::kLinalgKVCache)) check_step(op);
  check_device(op.device(), op);
  check_annotations(op.attributes(), op, nullptr);
  // Programs and what is lifted from them register constants.
  const bool declares = op.is(OpId::kProgValueSymbol, OpId::kTensorRegister);
  for (const Value& result : op.results()) check_value(result, op, !declares);
}

// -- parts and places -----------------------------------------------------------------------------

void FormChecks::check_parts(const Op& op) {
  const auto stray = [&](const std::string& part) {
    reporter_.report(op_c4, op, [&] { return fmt::format("'{}' takes no {}", op.name(), part); });
  };
  const bool has_angles = op.is(OpId::kGraphSubGraph, OpId::kProgFragment, OpId::kLinalgRegister);
  if (op.is(OpId::kGraphSubGraph) && !op.extra().angles.empty()) {
    check_device(op.extra().angles[0], op);
  }
  if (op.has_symbol() && !op.has(Trait::kSymbol) && !op.is(OpId::kGraphCallGraph)) {
    stray(fmt::format("symbol '@{}'", text(op, op.symbol())));
  }
  if (!has_angles && !op.extra().angles.empty()) stray(fmt::format("'<{}>'", op.angle(0)));
  if (!op.is_in(DialectId::kProg) && reporter_.module().dump_facts().address(op)) stray("address");
}

namespace {

bool is_in_fragment(const Op& op) {
  return op.parent_of_kind(OpId::kProgFragment) != nullptr;
}

bool is_in_init(const Op& op) {
  const Op* graph = op.parent_op();
  return graph->is(OpId::kGraphSubGraph) && text(*graph, graph->symbol()) == "init";
}

}  // namespace

void FormChecks::check_place(const Op& op) {
  if (op.is(OpId::kTensorRegister)) return check_register(op);
  if (!op.is_in(DialectId::kProg) || op.has(Trait::kDumpOnly)) return;
  const bool is_fragment = op.is(OpId::kProgFragment);
  if (is_fragment ? op.parent_op() == reporter_.module().top() : is_in_fragment(op)) return;
  reporter_.report(op_c5, op, [&] {
    return is_fragment ? fmt::format("'{}' must stand at the top of the module", op.name())
                       : fmt::format("'{}' must stand in a fragment", op.name());
  });
}

void FormChecks::check_register(const Op& op) {
  // Early programs register where they declare.
  if (!is_in_init(op) && !is_in_fragment(op)) {
    reporter_.report(register_c1, op,
                     [&] { return fmt::format("'{}' must stand in graph '@init'", op.name()); });
  }
  if (op.result_count() != 1) return;
  const Value& result = *op.result();
  const Attr* name = op.attribute("symbol");
  const bool is_constant = name != nullptr && result.attribute(constant_) != nullptr;
  if (!result.has_symbol() && !is_constant) {
    reporter_.report(register_c2, op, [&] {
      return fmt::format("'{}' needs the parameter's name, '[@name]' on its result", op.name());
    });
  } else if (result.has_symbol() && name != nullptr && name->kind() == AttrKind::kString &&
             name->text() != text(op, result.symbol())) {
    reporter_.report(register_c2, op, [&] {
      return fmt::format("the result of '{}' is named '@{}', its attribute 'symbol' says '{}'",
                         op.name(), text(op, result.symbol()), name->text());
    });
  }
}

// -- values ---------------------------------------------------------------------------------------

void FormChecks::check_value(const Value& value, const Op& place, bool is_defined) {
  check_device(value.type(), place);
  if (value.attributes().empty()) return;
  check_annotations(value.attributes(), place, &value);
  if (!is_defined || value.attribute(constant_) == nullptr) return;
  reporter_.report(type_c7, place, [&] {
    return fmt::format("value '{}' is {}, so it states no constant",
                       spelling_of(reporter_.module(), value.name()),
                       value.is_argument() ? "an argument" : "a result");
  });
}

/// Of an op, or of `value`. An op's other attributes are held to its row.
void FormChecks::check_annotations(std::span<const NamedAttr> attributes, const Op& place,
                                   const Value* value) {
  for (const NamedAttr& attribute : attributes) {
    const auto rows = annotation_attributes();
    const auto row = std::ranges::find(rows, text(place, attribute.key), &AttrRow::name);
    if (row == rows.end() || admits(row->type, *attribute.value)) continue;
    reporter_.report(attribute_c4, place, [&] {
      return wrong_attribute(value == nullptr ? std::string(place.name())
                                              : spelling_of(reporter_.module(), value->name()),
                             *row, *attribute.value);
    });
  }
}

/// What text refers to as `%n:...[@name]` without defining it.
void FormChecks::check_parameter(const Value& value, const Op& place) {
  if (!value.has_symbol() || value.attribute(constant_) != nullptr) return;
  const Value* parameter = reporter_.module().lookup_value(value.symbol());
  if (parameter == nullptr) {
    reporter_.report(param_c2, place, [&] {
      return fmt::format("no parameter '@{}' is registered", text(place, value.symbol()));
    });
    return;
  }
  if (value.type() == nullptr || parameter->type() == nullptr || value.type() == parameter->type())
    return;
  Diagnostic* kept = reporter_.report(param_c3, place, [&] {
    return fmt::format("parameter '@{}' is used as {}, registered as {}",
                       text(place, value.symbol()), value.type()->spelling(),
                       parameter->type()->spelling());
  });
  if (const Op* definition = parameter->defining_op()) note(kept, *definition, "registered here");
}

// -- devices --------------------------------------------------------------------------------------

void FormChecks::check_device(const Type* type, const Op& place) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr || types_[type] != 0) return;
  types_[type] = 1;
  check_device(tensor->device(), place);
}

void FormChecks::check_device(Symbol device, const Op& place) {
  if (!device || !devices_.insert(device).second) return;
  const std::string_view name = text(place, device);
  const bool is_old = name.size() > 1 && name.starts_with('k');
  const auto is_known = [&](std::string_view each) {
    return each == name || (is_old && each == name.substr(1));
  };
  if (name == "notype" || std::ranges::any_of(device_names(), is_known)) return;
  Diagnostic* kept =
      reporter_.report(op_c6, place, [&] { return fmt::format("device '{}' is not known", name); });
  if (kept == nullptr) return;
  NearestName nearest(name);
  for (const std::string_view each : device_names()) nearest.offer(each);
  suggest(*kept, nearest.best());
}

// -- caches ---------------------------------------------------------------------------------------

namespace {

Dim past_of(const Op& step) {
  const Attr* past = step.attribute("past");
  if (past == nullptr) return Dim::unknown();
  if (past->kind() == AttrKind::kInt) return Dim(past->integer());
  return past->kind() == AttrKind::kDim ? past->dim() : Dim::unknown();
}

/// What the cache holds after the step: its first result says so.
Dim held_after(const Op& step) {
  constexpr std::size_t kTokens = 2, kTokensOfFa2 = 1;
  const Attr* fa2 = step.attribute("use_fa2");
  const bool is_fa2 = fa2 != nullptr && fa2->kind() == AttrKind::kBool && fa2->boolean();
  const auto* held = step.result_count() == 0 ? nullptr : step.result()->tensor_type();
  if (held == nullptr || held->rank() != 4) return Dim::unknown();
  return held->dims()[is_fa2 ? kTokensOfFa2 : kTokens];
}

}  // namespace

void FormChecks::check_step(const Op& op) {
  const Symbol cache = cache_of(op);
  if (!cache) return;
  const Op* before = std::exchange(steps_[cache], &op);
  if (before == nullptr || before->block() != op.block()) return;
  const Dim end = held_after(*before), begin = past_of(op);
  if (end.is_unknown() || begin.is_unknown() || end == begin) return;
  Diagnostic* kept = reporter_.report(cache_c1, op, [&] {
    return fmt::format("cache '@{}' holds {} tokens when this step begins, 'past' says {}",
                       text(op, cache), context_.dims().print(end), context_.dims().print(begin));
  });
  note(kept, *before, "the step before");
}

}  // namespace mir::checks

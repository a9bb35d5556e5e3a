// Checks the rules of portable form for signatures, places, values and scales.
#include "verify/form.hpp"

#include <algorithm>

#include "dialects/quant_attributes.hpp"
#include "ir/context/attribute_type.hpp"
#include "ir/declaration_graphs.hpp"
#include "mir/dialects.hpp"
#include "mir/dump_facts.hpp"
#include "mir/op_attributes.hpp"
#include "support/device.hpp"
#include "support/integer_range.hpp"
#include "support/suggest.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

using enum ConstraintId;

FormChecks::FormChecks(Reporter& reporter)
    : reporter_(reporter),
      context_(reporter.module().context()),
      is_wanted_(reporter.wants_any(op_c4, op_c5, op_c6, op_c7, signature_c3, signature_c4,
                                    signature_c5, signature_c6, attribute_c1, attribute_c4, type_c7,
                                    register_c1, register_c2, register_c3, register_c4, param_c2,
                                    param_c3, param_c4, quant_c8)) {
  if (is_wanted_) attributes(*reporter.module().top(), reporter);
}

void FormChecks::enter(const Region& region) {
  if (!is_wanted_) return;
  const Op& parent = *region.parent();
  if (parent.is(OpId::kGraphSubGraph)) check_signature(region, parent);
  check_stated_results(region, parent);
  const bool has_ports = !region.ports().inputs.empty() || !region.ports().outputs.empty();
  if (has_ports && !parent.is(OpId::kGraphSubGraph) && &parent != reporter_.module().top()) {
    reporter_.report(signature_c6, parent, [&] {
      return fmt::format("a region of '{}' has no ports, only modules and graphs do",
                         parent.name());
    });
  }
  for (const Value* value : region.free_values()) {
    if (!value->has_uses()) continue;
    const Op& user = *value->first_use()->user();
    check_value(*value, user, true);
    check_parameter(*value, user);
  }
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) check_value(argument, parent, false);
  }
}

void FormChecks::op(const Op& op) {
  if (!is_wanted_) return;
  if (op.row() != nullptr) {
    check_parts(op);
    check_place(op);
  }
  check_device(op.device(), op);
  check_annotations(op.attributes(), op, nullptr);
  // Programs and what is lifted from them register constants.
  for (const Value& result : op.results()) check_value(result, op, op.has(Trait::kSymbol));
}

// -- signatures -----------------------------------------------------------------------------------

namespace {

/// True for ops that graphs which never run may contain.
bool may_be_in_declaration(const Op& op) {
  return (op.has(Trait::kSymbol) && op.region_count() == 0) || op.is(OpId::kCfReturn) ||
         op.is_in(DialectId::kDbg);
}

}  // namespace

void FormChecks::check_signature(const Region& region, const Op& graph) {
  const std::string_view name = text(graph, graph.symbol());
  if (!region.has_signature()) {
    reporter_.report(signature_c3, graph, [&] {
      return fmt::format("graph '@{}' states no '(inputs) -> (outputs)'", name);
    });
  }
  if (!is_declaration(graph)) return;
  if (!region.entry_arguments().empty() || !region.result_types().empty()) {
    reporter_.report(signature_c4, graph, [&] {
      return fmt::format("graph '@{}' is never called and must have the signature '() -> ()'",
                         name);
    });
  }
  for (const Block* block : region.blocks()) {
    for (const Op* op : block->ops()) {
      if (may_be_in_declaration(*op)) continue;
      reporter_.report(register_c3, *op, [&] {
        return fmt::format("'{}' must not be in graph '@{}', which is never called", op->name(),
                           name);
      });
    }
  }
}

/// The results in a signature are mentions of the returned values.
void FormChecks::check_stated_results(const Region& region, const Op& parent) {
  const auto results = region.stated_results();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const RegionResult& stated = results[i];
    const Value* returned = region.returned(i);
    const auto report = [&](const std::string& part) {
      reporter_.report(signature_c5, parent, [&] {
        return fmt::format("result {} is declared with {}, the returned value is not", i, part);
      });
    };
    const bool has_symbol =
        returned != nullptr && returned->has_symbol() && returned->symbol() == stated.symbol;
    if (stated.has_symbol && !has_symbol)
      report(fmt::format("'[@{}]'", text(parent, stated.symbol)));
    for (const NamedAttr& each : stated.attributes) {
      if (returned != nullptr && returned->attribute(each.key) == each.value) continue;
      report(fmt::format("'{}:{}'", text(parent, each.key), each.value->spelling()));
    }
  }
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
  if (!op.is_in(DialectId::kProg) && op.dump_facts().address) stray("address");
}

namespace {

bool is_in_fragment(const Op& op) {
  return op.parent_of_kind(OpId::kProgFragment) != nullptr;
}

/// True for graphs, fragments, templates and modules: ops with a symbol around regions of their
/// own.
bool is_definition(const Op& op) {
  return op.row() != nullptr && has_all(op.row()->traits, Trait::kSymbol | Trait::kIsolated);
}

bool is_in_init(const Op& op) {
  const Op* graph = op.parent_op();
  return graph->is(OpId::kGraphSubGraph) && text(*graph, graph->symbol()) == "init";
}

}  // namespace

void FormChecks::check_place(const Op& op) {
  if (op.is(OpId::kTensorRegister)) return check_register(op);
  if (is_definition(op) && !op.is(OpId::kProgFragment) && !is_definition(*op.parent_op())) {
    reporter_.report(op_c7, op, [&] {
      return fmt::format("'{}' must be directly inside the module or a graph, not in '{}'",
                         op.name(), op.parent_op()->name());
    });
  }
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
  check_stored_rows(op);
  const Value& result = *op.result();
  const Attr* name = op.attribute(key::kSymbol);
  const bool is_constant = name != nullptr && result.attribute(key::kConstant) != nullptr;
  if (!result.has_symbol() && !is_constant) {
    reporter_.report(register_c2, op, [&] {
      return fmt::format("'{}' needs the parameter's name, '[@name]' on its result", op.name());
    });
  } else if (result.has_symbol() && name != nullptr && name->kind() == AttrKind::kString &&
             name->text() != text(op, result.symbol())) {
    reporter_.report_at(register_c2, op, {key::kSymbol}, [&] {
      return fmt::format("the result of '{}' is named '@{}', its attribute 'symbol' says '{}'",
                         op.name(), text(op, result.symbol()), name->text());
    });
  }
}

void FormChecks::check_stored_rows(const Op& op) {
  const TensorType* type = op.result()->tensor_type();
  const bool has_rows = type != nullptr && type->rank() > 0 && type->dims().front().is_constant();
  const std::int64_t extent = has_rows ? type->dims().front().constant() : 0;
  const std::string_view name = type == nullptr ? "no tensor" : type->spelling();
  if (const Attr* rows = op.attribute(key::kStoredRows); rows != nullptr) {
    const auto stated = admits(AttrType::kInts, *rows) ? OpAttributes(op).integers(key::kStoredRows)
                                                       : std::vector<std::int64_t>();
    if (!has_rows || stated.size() != 2 || stated[0] < 0 || stated[1] - stated[0] != extent) {
      reporter_.report_at(register_c4, op, {key::kStoredRows}, [&] {
        return fmt::format(
            "'stored_rows' of '{}' is {}, expected the first row and the end of as "
            "many rows as {} has",
            op.name(), rows->spelling(), name);
      });
    }
  }
  const Attr* heads = op.attribute(key::kStoredHeads);
  // The row of the op has the least number.
  if (heads == nullptr || heads->kind() != AttrKind::kInt || heads->integer() < 1) return;
  const std::int64_t count = heads->integer();
  if (has_rows && extent % count == 0 && extent / count % 2 == 0) return;
  reporter_.report_at(register_c4, op, {key::kStoredHeads}, [&] {
    return fmt::format(
        "'stored_heads' of '{}' is {}, expected a number of heads with an even "
        "number of rows of {} each",
        op.name(), heads->spelling(), name);
  });
}

// -- values ---------------------------------------------------------------------------------------

void FormChecks::check_value(const Value& value, const Op& place, bool may_declare) {
  check_device(value.type(), place);
  const auto report = [&](ConstraintId constraint, const std::string& part) {
    reporter_.report(constraint, place, [&] {
      return fmt::format("value '{}' is {}, so it must not have {}",
                         spelling_of(reporter_.module(), value.name()),
                         value.is_argument() ? "an argument" : "a result", part);
    });
  };
  if (value.has_symbol() && !may_declare) {
    report(param_c4, fmt::format("the name of a parameter, '[@{}]'", text(place, value.symbol())));
  }
  if (value.attributes().empty()) return;
  check_annotations(value.attributes(), place, &value);
  if (!may_declare && value.attribute(key::kConstant) != nullptr) report(type_c7, "a 'constant'");
}

namespace {

bool is_for_ops(const AttrRow* row) {
  return std::ranges::any_of(annotation_attributes(),
                             [&](const AttrRow& each) { return &each == row; });
}

}  // namespace

/// Checks annotations of an op or of `value`. An op's other attributes are checked against its row.
void FormChecks::check_annotations(std::span<const NamedAttr> attributes, const Op& place,
                                   const Value* value) {
  for (const NamedAttr& attribute : attributes) {
    const AttrRow* row = find_value_attribute(text(place, attribute.key));
    if (value == nullptr && !is_for_ops(row)) continue;
    const auto name = [&] {
      return value == nullptr ? std::string(place.name())
                              : spelling_of(reporter_.module(), value->name());
    };
    if (row == nullptr) {
      report_unknown(attribute.key, place, value, name());
    } else if (!admits(row->type, *attribute.value)) {
      reporter_.report_at(attribute_c4, place, {.key = row->name, .of = value},
                          [&] { return wrong_attribute(name(), *row, *attribute.value); });
    } else if (value != nullptr) {
      check_scale(attribute, *value, place);
    }
  }
}

void FormChecks::report_unknown(Symbol key, const Op& place, const Value* value,
                                std::string_view name) {
  const AttributePlace at{text(place, key), AttributePart::kKey, value};
  Diagnostic* kept = reporter_.report_at(attribute_c1, place, at, [&] {
    return fmt::format("value '{}' has an unknown attribute '{}'", name, at.key);
  });
  if (kept == nullptr) return;
  NearestName nearest(text(place, key));
  for (const AttrRow& row : value_attributes()) nearest.offer(row.name);
  for (const AttrRow& row : annotation_attributes()) nearest.offer(row.name);
  suggest(*kept, nearest.best());
}

// -- scales ---------------------------------------------------------------------------------------

namespace {

bool has_annotation(const Op& op) {
  const Attr* annotation = op.attribute(key::kQuantRecipe);
  return annotation != nullptr && annotation->kind() == AttrKind::kQuantAnnotation;
}

/// True if the type, a QuantSpec or the annotation of an op quantises the value.
bool is_quantised(const Value& value) {
  const auto* type = value.tensor_type();
  if (type == nullptr || !type->dtype()) return true;  // which is reported
  if (info(*type->dtype()).type_class == DTypeClass::kQuantised) return true;
  if (!integer_range(storage_type(*type->dtype()))) return false;
  if (value.attribute(key::kQuantRecipe) != nullptr || type->encoding() != nullptr) return true;
  if (value.defining_op() != nullptr && has_annotation(*value.defining_op())) return true;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    if (has_annotation(*use->user())) return true;
  }
  return false;
}

/// Returns the requirement that an attribute's numbers violate; empty if there is none.
std::string_view breach_of(std::string_view key, const Attr& stated) {
  using namespace quant_attributes;
  const bool is_scales = key == key::kQuantScale;
  if (!is_scales && key != key::kQuantZeroPoint) return "";
  const auto numbers = numbers_of(stated);
  if (numbers && std::ranges::all_of(*numbers, is_scales ? is_scale : is_zero_point)) return "";
  return is_scales ? "a positive Float32 number, or a list of them"
                   : "a whole number of 32 bits, or a list of them";
}

}  // namespace

void FormChecks::check_scale(const NamedAttr& attribute, const Value& value, const Op& place) {
  const std::string_view key = text(place, attribute.key);
  if (!key.starts_with("quant_") || attribute.key == key::kQuantRecipe) return;
  const auto name = [&] { return spelling_of(reporter_.module(), value.name()); };
  const std::string_view expected = breach_of(key, *attribute.value);
  if (!expected.empty()) {
    reporter_.report_at(quant_c8, place, {.key = key, .of = &value}, [&] {
      return fmt::format("attribute '{}' of '{}' is {}, expected {}", key, name(),
                         attribute.value->spelling(), expected);
    });
  } else if (!is_quantised(value)) {
    const AttributePlace at{key, AttributePart::kKey, &value};
    reporter_.report_at(quant_c8, place, at, [&] {
      return fmt::format("attribute '{}' of '{}' has no meaning, because {} is not quantised", key,
                         name(), value.type()->spelling());
    });
  }
}

// -- parameters -----------------------------------------------------------------------------------

/// Checks a value that text mentions as `%n:...[@name]` without defining it.
void FormChecks::check_parameter(const Value& value, const Op& place) {
  if (!value.has_symbol() || value.attribute(key::kConstant) != nullptr) return;
  const Value* parameter = reporter_.module().lookup_value(value.symbol());
  if (parameter == nullptr) {
    reporter_.report_at(param_c2, place, ParameterPlace{value.name()}, [&] {
      return fmt::format("no parameter '@{}' is registered", text(place, value.symbol()));
    });
    return;
  }
  if (value.type() == nullptr || parameter->type() == nullptr || value.type() == parameter->type())
    return;
  Diagnostic* kept = reporter_.report_at(param_c3, place, NamePlace{value.name()}, [&] {
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
  NearestName nearest(name);
  for (const std::string_view each : device_names()) nearest.offer(each);
  // Dumps of other back ends name devices of their own: GPU is not a slip of CPU.
  const bool is_slip = !nearest.best().empty() && !(name.size() == 3 && name.ends_with("PU"));
  if (!reporter_.module().is_portable() && !is_slip) return;
  Diagnostic* kept = reporter_.report_at(op_c6, place, TypeWordPlace{name}, [&] {
    return fmt::format("device '{}' is not known", name);
  });
  suggest_device(kept, place, name, nearest.best());
}

}  // namespace mir::checks

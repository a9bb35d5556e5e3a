// Tries bodies on generic types when they are declared.
#include <algorithm>
#include <string>
#include <vector>

#include "declare/reader.hpp"
#include "mir/codes/names.hpp"
#include "mir/equivalence.hpp"
#include "mir/module.hpp"

namespace mir::declare {

namespace {

/// One body of a declaration with types that stand for all others: each extent is a symbol of its
/// own, element types are Float32.
class Trial {
 public:
  Trial(const OpDraft& draft, const Signature& signature)
      : draft_(draft), signature_(signature), context_(draft.op->module().context()) {}

  /// True if trials can be built from types alone.
  bool is_possible() const {
    return signature_.has_body &&
           std::ranges::all_of(draft_.spec.attributes, [&](const AttrRow& row) {
             return default_value(context_, row) != nullptr || !row.default_text.empty();
           });
  }

  /// True if the body verifies with packs of some length, or conditions do not hold for the trial.
  bool run(BodyTrial& trial) {
    bind_variables();
    // A body for packs of any length verifies for one and for two extents.
    return run(1, trial) && (packs_.empty() || run(2, trial));
  }

 private:
  bool run(std::size_t pack_length, BodyTrial& trial) {
    for (const std::uint32_t each : packs_) {
      bindings_.variables[each] = pack(symbol_of(each), pack_length);
    }
    if (!bind_lets()) return true;
    std::vector<const Type*> operands;
    for (const Part& each : signature_.operands) {
      const Type* type = patterns::instantiate(each.type, bindings_, context_);
      if (type == nullptr) return true;
      operands.insert(operands.end(), each.is_many ? 2 : 1, type);
    }
    const OpFacts facts{context_, draft_.spec.row, operands, {}, "name", nullptr};
    std::size_t results = 0;
    for (const std::uint32_t value : signature_.body.results) {
      const bool is_many = value < signature_.operands.size() && signature_.operands[value].is_many;
      results += is_many ? 2 : 1;
    }
    BodyPlan made;
    const DeclaredOp& declared = *draft_.declared;
    return plan_body(declared, signature_, facts, bindings_, results, made, trial) &&
           (!declared.is_layer || try_bodies_of(made, declared, nullptr, context_, trial));
  }

  /// False if a variable has no value for the trial, or a condition does not hold.
  bool bind_lets() {
    for (const auto& [variable, expression] : signature_.lets) {
      bindings_.variables[variable] = patterns::evaluate(expression, bindings_, context_);
      if (bindings_.variables[variable] == nullptr) return false;
    }
    return std::ranges::all_of(signature_.conditions, [&](const patterns::Condition& each) {
      return patterns::holds(each.expression, bindings_, context_);
    });
  }

  /// Binds all variables but packs, whose numbers it lists.
  void bind_variables() {
    const auto& names = draft_.declared->variables;
    const Attr* const device = context_.word("CPU");
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const bool is_extent = names[i].starts_with('$');
      const bool is_pack = names[i].ends_with(kPackSuffix);
      if (is_pack) packs_.push_back(i);
      bindings_.variables.push_back(
          is_extent && !is_pack ? context_.dim(context_.dims().symbol(symbol_of(i))) : device);
    }
    for (const Part& each : signature_.operands) {
      const auto element_type = each.type.dtype.variable;
      if (element_type) bindings_.variables[*element_type] = context_.word("Float32");
    }
    for (std::size_t i = 0; i < draft_.spec.attributes.size(); ++i) {
      const auto variable = draft_.declared->attribute_variables[i];
      if (!variable) continue;
      bindings_.variables[*variable] =
          value_of_variable(draft_.spec.attributes[i], nullptr, context_);
    }
    if (const auto path = draft_.declared->path_variable) {
      bindings_.variables[*path] = context_.string("name");
    }
    for (const std::uint32_t only_a_run_knows : draft_.fresh) {
      bindings_.variables[only_a_run_knows] = nullptr;
    }
    bindings_.takes_unknown = true;
  }

  /// The name of the variable of an extent or a pack, without `$` and the mark of a pack.
  std::string_view symbol_of(std::uint32_t variable) const {
    std::string_view name = draft_.declared->variables[variable];
    name.remove_prefix(1);
    if (name.ends_with(kPackSuffix)) name.remove_suffix(kPackSuffix.size());
    return name;
  }

  const Attr* pack(std::string_view name, std::size_t length) const {
    std::vector<const Attr*> extents;
    for (std::size_t i = 0; i < length; ++i) {
      const std::string symbol = std::string(name) + std::to_string(i);
      extents.push_back(context_.dim(context_.dims().symbol(symbol)));
    }
    return context_.array(extents);
  }

  const OpDraft& draft_;
  const Signature& signature_;
  IRContext& context_;
  patterns::Bindings bindings_;
  std::vector<std::uint32_t> packs_;
};

}  // namespace

void check_bodies(const OpDraft& draft, Diagnostics& diagnostics) {
  if (!draft.has_signatures) return;
  for (const Signature& signature : draft.declared->signatures) {
    Trial trial(draft, signature);
    if (!trial.is_possible()) continue;
    BodyTrial found;
    if (trial.run(found) || found.needs_number) continue;
    const bool is_placed = draft.declared->is_layer && !found.places.empty();
    Diagnostic& report =
        diagnostics.error(diag::kBadDeclaration,
                          is_placed ? found.places.front().at : draft.op->span(), found.message);
    for (std::size_t i = 1; i < found.places.size() && is_placed; ++i) {
      report.note(found.places[i].at, found.places[i].text);
    }
  }
}

}  // namespace mir::declare

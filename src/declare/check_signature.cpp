// The types of dialects in signatures, once all types are declared.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "declare/reader.hpp"
#include "declare/words.hpp"
#include "mir/codes/names.hpp"
#include "mir/module.hpp"
#include "support/suggest.hpp"

namespace mir::declare {

namespace {

using patterns::AttributeTemplate;

/// The types of one signature. Types of dialects that nobody declares are as they are written.
class SignatureTypes {
 public:
  SignatureTypes(const OpDraft& draft, Diagnostics& diagnostics)
      : draft_(draft), context_(draft.op->module().context()), diagnostics_(diagnostics) {}

  void check(const Part& part) {
    std::string_view name = part.type.kind;
    if (const auto* exact = dyn_cast<DialectType>(part.type.exact)) name = exact->kind().name;
    const std::size_t dot = name.find('.');
    if (dot == name.npos) return;
    const Dialect* dialect = context_.find_dialect(name.substr(0, dot));
    if (dialect == nullptr) return;
    const auto row = std::ranges::find(dialect->types, name.substr(dot + 1), &TypeRow::name);
    if (row == dialect->types.end()) return refuse_name(part, name, *dialect);
    // The parameters of a type without variables were checked where it was read.
    if (part.type.exact == nullptr) check_parameters(part, *row);
  }

 private:
  void refuse(const Part& part, std::string_view reason) {
    diagnostics_.error(diag::kBadDeclaration, draft_.op->span(),
                       fmt::format("'{}': '%{}' is {}: {}", draft_.declared->name, part.name,
                                   part.type_text, reason));
  }

  void refuse_name(const Part& part, std::string_view name, const Dialect& dialect) {
    const std::string_view own = name.substr(dialect.name.size() + 1);
    NearestName nearest(own);
    for (const TypeRow& each : dialect.types) nearest.offer(each.name);
    refuse(part,
           fmt::format(
               "dialect '{}' has no type '{}'{}", dialect.name, own,
               nearest.best().empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest.best())));
  }

  void check_parameters(const Part& part, const TypeRow& row) {
    const std::vector<AttributeTemplate>& stated = part.type.extents.elements;
    const auto required =
        static_cast<std::size_t>(std::ranges::count(row.parameters, true, &AttrRow::required));
    if (std::ranges::any_of(stated, &AttributeTemplate::is_pack)) return;
    if (stated.size() < required || stated.size() > row.parameters.size()) {
      const std::string expected = required == row.parameters.size()
                                       ? fmt::format("{}", required)
                                       : fmt::format("{} to {}", required, row.parameters.size());
      return refuse(part, fmt::format("'{}' has {} parameters, expected {}", row.name,
                                      stated.size(), expected));
    }
    for (std::size_t i = 0; i < stated.size(); ++i) {
      const AttrRow& parameter = row.parameters[i];
      const bool is_literal = stated[i].kind == AttributeTemplate::Kind::kLiteral;
      if (is_literal && !admits(parameter, *stated[i].literal)) {
        return refuse(part, fmt::format("parameter '{}' of '{}' cannot be {}", parameter.name,
                                        row.name, stated[i].literal->spelling()));
      }
      if (!is_literal && !can_be(parameter.type, stated[i])) {
        const auto word = std::ranges::find(kTypeWords, parameter.type, &RowWord<AttrType>::value);
        return refuse(part, fmt::format("parameter '{}' of '{}' has the type '{}' and cannot be {}",
                                        parameter.name, row.name, word->name, kind_of(stated[i])));
      }
    }
  }

  /// False for an extent as the name of an element type, and the other way round. Attributes of the
  /// op have values of any type.
  bool can_be(AttrType type, const AttributeTemplate& stated) const {
    const bool is_name = type == AttrType::kDType || type == AttrType::kDevice;
    const bool is_number = type == AttrType::kInt || type == AttrType::kDim;
    if (stated.kind == AttributeTemplate::Kind::kExpression) return !is_name;
    if (stated.kind != AttributeTemplate::Kind::kVariable || is_of_attribute(stated.variable)) {
      return true;
    }
    return is_extent(stated.variable) ? !is_name : !is_number;
  }
  std::string_view kind_of(const AttributeTemplate& stated) const {
    const bool is_variable = stated.kind == AttributeTemplate::Kind::kVariable;
    return is_variable && !is_extent(stated.variable) ? "an element type or device" : "an extent";
  }
  bool is_extent(std::uint32_t variable) const {
    return draft_.declared->variables[variable].starts_with('$');
  }
  bool is_of_attribute(std::uint32_t variable) const {
    const auto& variables = draft_.declared->attribute_variables;
    return std::ranges::find(variables, std::optional(variable)) != variables.end();
  }

  const OpDraft& draft_;
  IRContext& context_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_types(const OpDraft& draft, Diagnostics& diagnostics) {
  if (!draft.has_signatures) return;
  SignatureTypes types(draft, diagnostics);
  for (const Signature& signature : draft.declared->signatures) {
    for (const Part& each : signature.operands) types.check(each);
    for (const Part& each : signature.results) types.check(each);
  }
}

}  // namespace mir::declare

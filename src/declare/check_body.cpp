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

  /// True if trials can be built from types alone. Other conditions might hold for no trial.
  bool is_possible() const {
    return signature_.has_body && signature_.lets.empty() && signature_.conditions.empty() &&
           std::ranges::all_of(draft_.spec.attributes, [&](const AttrRow& row) {
             return default_value(context_, row) != nullptr;
           });
  }

  /// The reason if the body does not verify with packs of some length; empty if it does.
  std::string run() {
    bind_variables();
    // A body for packs of any length verifies for one and for two extents.
    std::string reason = run(1);
    if (reason.empty() && !packs_.empty()) reason = run(2);
    return reason;
  }

 private:
  std::string run(std::size_t pack_length) {
    for (const std::uint32_t each : packs_) {
      bindings_.variables[each] = pack(symbol_of(each), pack_length);
    }
    std::vector<const Type*> operands;
    for (const Part& each : signature_.operands) {
      const Type* type = patterns::instantiate(each.type, bindings_, context_);
      if (type == nullptr) return {};
      operands.insert(operands.end(), each.is_many ? 2 : 1, type);
    }
    const OpFacts facts{context_, draft_.spec.row, operands, {}, "name", nullptr};
    std::size_t results = 0;
    for (const std::uint32_t value : signature_.body.results) {
      const bool is_many = value < signature_.operands.size() && signature_.operands[value].is_many;
      results += is_many ? 2 : 1;
    }
    BodyPlan made;
    auto reason = plan_body(*draft_.declared, signature_, facts, bindings_, results, made);
    return reason ? *std::move(reason) : std::string();
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
    const std::string reason = trial.run();
    if (!reason.empty()) {
      diagnostics.error(diag::kBadDeclaration, draft.op->span(), reason);
    }
  }
}

}  // namespace mir::declare

// Tries bodies on generic types when they are declared.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "declare/reader.hpp"
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

  /// What a body needs beyond types can be such that no trial meets it.
  bool is_possible() const {
    return signature_.has_body && signature_.lets.empty() && signature_.conditions.empty() &&
           std::ranges::all_of(draft_.spec.attributes, [&](const AttrRow& row) {
             return default_value(context_, row) != nullptr;
           });
  }

  /// The reason if the body does not verify with packs of this length; empty if it does.
  std::string run(std::size_t pack_length) {
    bind_all(pack_length);
    std::vector<const Type*> operands;
    for (const Part& each : signature_.operands) {
      const Type* type = patterns::instantiate(each.type, bindings_, context_);
      if (type == nullptr) return {};
      operands.insert(operands.end(), each.is_many ? 2 : 1, type);
    }
    // Only the list of attributes of the row is read.
    OpRow row = draft_.spec.row;
    row.attributes = draft_.spec.attributes;
    const OpFacts facts{context_, row, operands, {}, "name", nullptr};
    Refusal refusal;
    const auto bound = bind(*draft_.declared, signature_, facts, refusal);
    if (!bound) return {};
    std::size_t results = 0;
    for (const std::uint32_t value : signature_.body.results) {
      const bool is_many = value < signature_.operands.size() && signature_.operands[value].is_many;
      results += is_many ? 2 : 1;
    }
    BodyPlan made;
    auto reason = plan_body(*draft_.declared, signature_, facts, *bound, results, made);
    return reason ? *std::move(reason) : std::string();
  }

 private:
  void bind_all(std::size_t pack_length) {
    std::set<std::uint32_t> element_types;
    for (const Part& each : signature_.operands) {
      if (each.type.dtype.variable) element_types.insert(*each.type.dtype.variable);
    }
    bindings_.variables.clear();
    const auto& names = draft_.declared->variables;
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      const std::string_view name = names[i];
      if (!name.starts_with('$')) {
        bindings_.variables.push_back(context_.word(element_types.contains(i) ? "Float32" : "CPU"));
      } else if (name.ends_with(kPackSuffix)) {
        bindings_.variables.push_back(
            pack(name.substr(1, name.size() - 1 - kPackSuffix.size()), pack_length));
      } else {
        bindings_.variables.push_back(context_.dim(context_.dims().symbol(name.substr(1))));
      }
    }
    for (std::size_t i = 0; i < draft_.spec.attributes.size(); ++i) {
      const auto variable = draft_.declared->attribute_variables[i];
      if (!variable) continue;
      bindings_.variables[*variable] = default_value(context_, draft_.spec.attributes[i]);
    }
  }

  const Attr* pack(std::string_view name, std::size_t length) const {
    std::vector<const Attr*> extents;
    for (std::size_t i = 0; i < length; ++i) {
      extents.push_back(context_.dim(context_.dims().symbol(fmt::format("{}{}", name, i))));
    }
    return context_.array(extents);
  }

  const OpDraft& draft_;
  const Signature& signature_;
  IRContext& context_;
  patterns::Bindings bindings_;
};

}  // namespace

void check_bodies(const OpDraft& draft, Diagnostics& diagnostics) {
  if (!draft.has_signatures) return;
  for (const Signature& signature : draft.declared->signatures) {
    Trial trial(draft, signature);
    if (!trial.is_possible()) continue;
    // A body for packs of any length verifies for one and for two extents.
    const bool has_pack =
        std::ranges::any_of(draft.declared->variables,
                            [](const std::string& name) { return name.ends_with(kPackSuffix); });
    for (std::size_t length = has_pack ? 1 : 2; length <= 2; ++length) {
      const std::string reason = trial.run(length);
      if (reason.empty()) continue;
      diagnostics.error(DiagCode::kBadDeclaration, draft.op->span(), reason);
      break;
    }
  }
}

}  // namespace mir::declare

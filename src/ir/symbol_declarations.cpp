// Reads the declarations of dimension symbols in a module's head.
#include "ir/symbol_declarations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/symbol_relations.hpp"
#include "mir/attribute_keys.hpp"
#include "support/characters.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

constexpr std::array kKeys = {kSymbolMin, kSymbolMax, kSymbolMultiple};

/// Reads one declaration; reports to `errors` unless that is null.
class DeclarationReader {
 public:
  DeclarationReader(const NamedAttr& entry, const IRContext& context,
                    std::vector<SymbolDeclarationError>* errors)
      : context_(context), name_(context.text(entry.key)), errors_(errors) {
    declaration_.name = entry.key;
    read_entry(entry);
  }

  bool is_sound() const { return is_sound_; }
  const SymbolDeclaration& declaration() const { return declaration_; }

 private:
  void fail(std::string message, std::string_view nearest = {}) {
    is_sound_ = false;
    if (errors_ != nullptr) errors_->push_back({std::move(message), nearest});
  }

  void read_entry(const NamedAttr& entry) {
    if (!is_identifier(name_)) {
      return fail(fmt::format("'{}' declares '{}', expected a name such as S, without $",
                              key::kSymbols.text, name_));
    }
    if (entry.value == nullptr || entry.value->kind() != AttrKind::kDict) {
      return fail(
          fmt::format("'${}' is declared as {}, expected {{min:..., max:..., multiple:...}}", name_,
                      entry.value == nullptr ? "nothing" : entry.value->spelling()));
    }
    for (const NamedAttr& field : entry.value->entries()) read(field);
    if (is_sound_ && declaration_.is_empty()) refuse_empty();
  }

  void read(const NamedAttr& field) {
    const std::string_view key = context_.text(field.key);
    if (std::ranges::find(kKeys, key) == kKeys.end()) {
      NearestName near(key);
      for (const std::string_view each : kKeys) near.offer(each);
      const auto nearest = std::ranges::find(kKeys, near.best());
      return fail(fmt::format("the declaration of '${}' has an unknown key '{}', expected min, max "
                              "or multiple",
                              name_, key),
                  nearest == kKeys.end() ? std::string_view() : *nearest);
    }
    const std::int64_t lowest = key == kSymbolMultiple ? 1 : 0;
    if (field.value == nullptr || field.value->kind() != AttrKind::kInt ||
        field.value->integer() < lowest) {
      return fail(fmt::format("'{}' of '${}' is {}, expected an integer of at least {}", key, name_,
                              field.value == nullptr ? "nothing" : field.value->spelling(),
                              lowest));
    }
    const std::int64_t value = field.value->integer();
    (key == kSymbolMin   ? declaration_.least
     : key == kSymbolMax ? declaration_.most
                         : declaration_.multiple) = value;
  }

  void refuse_empty() {
    const auto& [name, least, most, multiple] = declaration_;
    if (least > most) {
      return fail(
          fmt::format("'min' of '${}' is {}, which is above its 'max' {}", name_, least, most));
    }
    fail(fmt::format("'${}' has no value: no multiple of {} is from {} to {}", name_, multiple,
                     least, most));
  }

  const IRContext& context_;
  std::string_view name_;
  std::vector<SymbolDeclarationError>* errors_;
  SymbolDeclaration declaration_;
  bool is_sound_ = true;
};

}  // namespace

std::string SymbolDeclaration::text() const {
  std::string text = most == kUnbounded ? fmt::format("{} or more", least)
                     : least == most    ? std::to_string(least)
                                        : fmt::format("{} to {}", least, most);
  if (multiple != 1) text += fmt::format(", a multiple of {}", multiple);
  return text;
}

SymbolDeclarations::SymbolDeclarations(std::vector<SymbolDeclaration> all,
                                       SymbolRelations relations)
    : relations_(std::move(relations)) {
  if (all.empty()) return;
  Table table{.all = std::move(all), .places = {}};
  for (std::size_t i = 0; i < table.all.size(); ++i) table.places.try_emplace(table.all[i].name, i);
  table_ = std::make_shared<const Table>(std::move(table));
}

SymbolDeclarations SymbolDeclarations::with(SymbolRelations relations) const {
  SymbolDeclarations both = *this;
  both.relations_ = std::move(relations);
  return both;
}

const SymbolDeclaration* SymbolDeclarations::find(Symbol name) const {
  if (table_ == nullptr) return nullptr;
  const auto found = table_->places.find(name);
  return found == table_->places.end() ? nullptr : &table_->all[found->second];
}

bool SymbolDeclarations::admit(const DimBindings& values, const DimTable& dims) const {
  return std::ranges::all_of(values.entries(), [&](const auto& entry) {
    const SymbolDeclaration* declared = find(entry.first);
    return (declared == nullptr || declared->admits(entry.second)) &&
           relations_.broken_by(entry.first, dims, values) == nullptr;
  });
}

namespace {

SymbolDeclarations declarations_in(const Attr& symbols, const IRContext& context) {
  std::vector<SymbolDeclaration> declarations;
  for (const NamedAttr& entry : symbols.entries()) {
    const DeclarationReader reader(entry, context, nullptr);
    if (reader.is_sound()) declarations.push_back(reader.declaration());
  }
  return declarations;
}

}  // namespace

SymbolDeclarations symbol_declarations(const Module& module) {
  if (module.version() < kSymbolsVersion) return {};
  const Attr* symbols = module.top()->attribute(key::kSymbols);
  const bool has_declarations = symbols != nullptr && symbols->kind() == AttrKind::kDict;
  const SymbolDeclarations declarations = has_declarations
                                              ? module.context().facts_of(*symbols, declarations_in)
                                              : SymbolDeclarations();
  const Attr* where = module.top()->attribute(key::kWhere);
  return where == nullptr ? declarations
                          : declarations.with(module.context().facts_of(*where, read_relations));
}

std::vector<SymbolDeclarationError> errors_of_symbol_declarations(const Attr& symbols,
                                                                  const IRContext& context) {
  std::vector<SymbolDeclarationError> errors;
  for (const NamedAttr& entry : symbols.entries()) DeclarationReader(entry, context, &errors);
  return errors;
}

}  // namespace mir

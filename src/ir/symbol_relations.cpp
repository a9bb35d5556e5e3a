// Relations between dimension symbols in a module's head: their text, and whether they hold.
#include "ir/symbol_relations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"

namespace mir {

namespace {

using Comparison = SymbolRelation::Comparison;

struct Spelling {
  std::string_view text;
  Comparison comparison;
};
/// Longer spellings come before their beginnings.
constexpr std::array kSpellings = {
    Spelling{"==", Comparison::kEqual},   Spelling{"<=", Comparison::kAtMost},
    Spelling{">=", Comparison::kAtLeast}, Spelling{"<", Comparison::kLess},
    Spelling{">", Comparison::kGreater},
};
constexpr std::string_view kChoices = "==, <=, >=, < or >";

std::string_view spelling_of(Comparison comparison) {
  return std::ranges::find(kSpellings, comparison, &Spelling::comparison)->text;
}

Dim margin_of(DimTable& dims, Comparison comparison, Dim left, Dim right) {
  switch (comparison) {
    case Comparison::kEqual:
    case Comparison::kAtLeast:
      return dims.subtract(left, right);
    case Comparison::kAtMost:
      return dims.subtract(right, left);
    case Comparison::kGreater:
      return dims.subtract(dims.subtract(left, right), Dim(1));
    case Comparison::kLess:
      return dims.subtract(dims.subtract(right, left), Dim(1));
  }
  return Dim::unknown();
}

/// Reads one relation; `message` says what is wrong if it returns no value.
class RelationReader {
 public:
  RelationReader(std::string_view text, DimTable& dims) : text_(text), dims_(dims) {}

  std::optional<SymbolRelation> read() {
    const auto [at, spelling] = next_comparison(0);
    if (spelling == nullptr) {
      return fail(fmt::format("has no comparison, expected {}", kChoices));
    }
    const std::size_t after = at + spelling->text.size();
    if (next_comparison(after).spelling != nullptr) {
      return fail("has two comparisons, expected one");
    }
    const auto left = side(text_.substr(0, at)), right = side(text_.substr(after));
    if (!left || !right) return std::nullopt;
    SymbolRelation made{
        .comparison = spelling->comparison,
        .left = *left,
        .right = *right,
        .margin = margin_of(dims_, spelling->comparison, *left, *right),
    };
    if (made.margin.is_unknown()) return fail("compares extents beyond the limits of an extent");
    if (made.symbols(dims_).empty()) return fail("has no symbol");
    return made;
  }

  const std::string& message() const { return message_; }

 private:
  struct Place {
    std::size_t at = 0;
    const Spelling* spelling = nullptr;  ///< null: there is none
  };

  std::nullopt_t fail(std::string_view what) {
    message_ = fmt::format("the relation '{}' {}", text_, what);
    return std::nullopt;
  }

  Place next_comparison(std::size_t from) const {
    for (std::size_t at = from; at < text_.size(); ++at) {
      for (const Spelling& each : kSpellings) {
        if (text_.substr(at).starts_with(each.text)) return {at, &each};
      }
    }
    return {};
  }

  std::optional<Dim> side(std::string_view text) {
    const auto dim = dims_.parse(text);
    if (!dim) return fail(fmt::format("cannot be read: {}", dim.error().message));
    if (dim->is_unknown() || dim->is_pack()) {
      return fail(fmt::format("compares '{}', expected an expression of symbols and numbers",
                              dims_.print(*dim)));
    }
    return *dim;
  }

  std::string_view text_;
  DimTable& dims_;
  std::string message_;
};

/// Facts are read with a constant context, whose table of extents may grow all the same.
DimTable& dims_of(const IRContext& context) {
  return const_cast<IRContext&>(context).dims();
}

/// Calls `visit` with each element of `where`, or with itself if it is a text.
template <class Visit>
void for_each_text(const Attr& where, const Visit& visit) {
  if (where.kind() != AttrKind::kArray) return visit(where);
  for (const Attr* each : where.elements()) visit(*each);
}

bool is_text(const Attr& attribute) {
  return attribute.kind() == AttrKind::kString;
}

}  // namespace

std::vector<Symbol> SymbolRelation::symbols(const DimTable& dims) const {
  std::vector<Symbol> all;
  for (const Dim side : {left, right}) {
    for_each_symbol_of(side, dims, [&](Symbol symbol) {
      if (std::ranges::find(all, symbol) == all.end()) all.push_back(symbol);
    });
  }
  return all;
}

std::optional<bool> SymbolRelation::holds(const DimTable& dims, const DimBindings& values) const {
  bool is_open = false;
  const auto look = [&](Symbol symbol) { is_open = is_open || !values.find(symbol); };
  for (const Dim side : {left, right}) for_each_symbol_of(side, dims, look);
  if (is_open) return std::nullopt;
  const auto a = dims.evaluate(left, values), b = dims.evaluate(right, values);
  if (!a || !b) return false;
  switch (comparison) {
    case Comparison::kEqual:
      return *a == *b;
    case Comparison::kAtMost:
      return *a <= *b;
    case Comparison::kAtLeast:
      return *a >= *b;
    case Comparison::kLess:
      return *a < *b;
    case Comparison::kGreater:
      return *a > *b;
  }
  return false;
}

std::string SymbolRelation::text(const DimTable& dims) const {
  return fmt::format("{} {} {}", dims.print(left), spelling_of(comparison), dims.print(right));
}

std::optional<SymbolRelation> SymbolRelation::substitute(
    DimTable& dims, const std::function<std::optional<Dim>(Symbol)>& value) const {
  SymbolRelation made{.comparison = comparison,
                      .left = dims.substitute(left, value),
                      .right = dims.substitute(right, value)};
  if (made.left.is_unknown() || made.right.is_unknown()) return std::nullopt;
  made.margin = margin_of(dims, comparison, made.left, made.right);
  if (made.margin.is_unknown()) return std::nullopt;
  return made;
}

SymbolRelations::SymbolRelations(std::vector<SymbolRelation> all, const DimTable& dims) {
  if (all.empty()) return;
  Table table{.all = std::move(all), .places = {}};
  for (std::size_t i = 0; i < table.all.size(); ++i) {
    for (const Symbol symbol : table.all[i].symbols(dims)) table.places[symbol].push_back(i);
  }
  table_ = std::make_shared<const Table>(std::move(table));
}

std::span<const std::size_t> SymbolRelations::places_of(Symbol symbol) const {
  if (table_ == nullptr) return {};
  const auto found = table_->places.find(symbol);
  return found == table_->places.end() ? std::span<const std::size_t>() : found->second;
}

const SymbolRelation* SymbolRelations::broken_by(Symbol symbol, const DimTable& dims,
                                                 const DimBindings& values) const {
  for (const std::size_t place : places_of(symbol)) {
    const SymbolRelation& relation = table_->all[place];
    if (!relation.holds(dims, values).value_or(true)) return &relation;
  }
  return nullptr;
}

SymbolRelations read_relations(const Attr& where, const IRContext& context) {
  std::vector<SymbolRelation> all;
  for_each_text(where, [&](const Attr& each) {
    if (!is_text(each)) return;
    if (auto relation = RelationReader(each.text(), dims_of(context)).read()) {
      all.push_back(*relation);
    }
  });
  return {std::move(all), dims_of(context)};
}

std::vector<SymbolDeclarationError> errors_of_symbol_relations(const Attr& relations,
                                                               const IRContext& context,
                                                               AttrKey key) {
  std::vector<SymbolDeclarationError> errors;
  for_each_text(relations, [&](const Attr& each) {
    if (!is_text(each)) {
      errors.push_back(
          {fmt::format("'{}' is {}, expected a relation such as \"$S <= $T\", or a "
                       "list of relations",
                       key.text, each.spelling())});
      return;
    }
    RelationReader reader(each.text(), dims_of(context));
    if (!reader.read()) errors.push_back({reader.message()});
  });
  return errors;
}

const Attr* relations_attribute(std::span<const SymbolRelation> relations, IRContext& context) {
  std::vector<const Attr*> texts;
  for (const SymbolRelation& each : relations) {
    texts.push_back(context.string(each.text(context.dims())));
  }
  return texts.empty() ? nullptr : context.array(texts);
}

}  // namespace mir

// Declares the loops of an op to an extent prover.
#include "dialects/loop_space.hpp"

#include <algorithm>
#include <utility>

#include "ir/type_extents.hpp"

namespace mir {

LoopSpace::LoopSpace(const Source& source)
    : context_(source.context),
      dims_(source.context.dims()),
      sizes_(source.sizes.begin(), source.sizes.end()) {
  const std::vector<Symbol> outer = outer_symbols(source);
  const auto fresh = [&](Symbol name) {
    std::string text(context_.text(name));
    while (std::ranges::find(outer, context_.intern(text)) != outer.end()) text += '_';
    return context_.intern(text);
  };
  for (const GenericForm::Range& loop : source.loops) {
    loops_.push_back(loop.name);
    names_.push_back(fresh(loop.name));
    extents_.push_back(loop.extent);
    is_open_ = is_open_ || loop.extent.is_unknown();
    is_empty_ = is_empty_ || loop.extent == Dim(0);
  }
  prover_.emplace(context_, declarations(source));
}

std::optional<Dim> LoopSpace::outside(Dim extent) const {
  bool is_known = true;
  const Dim replaced =
      dims_.substitute(extent, [&](Symbol name) { return value_of(name, is_known); });
  return is_known ? std::optional(replaced) : std::nullopt;
}

std::optional<SymbolRelation> LoopSpace::outside(const SymbolRelation& condition) const {
  bool is_known = true;
  auto replaced =
      condition.substitute(dims_, [&](Symbol name) { return value_of(name, is_known); });
  return is_known ? std::move(replaced) : std::nullopt;
}

std::optional<Dim> LoopSpace::value_of(Symbol name, bool& is_known) const {
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (loops_[i] == name) return dims_.symbol(context_.text(names_[i]));
  }
  for (const GenericForm::Range& size : sizes_) {
    if (size.name == name) return size.extent;
  }
  is_known = false;
  return std::nullopt;
}

std::vector<Symbol> LoopSpace::outer_symbols(const Source& source) const {
  std::vector<Symbol> outer;
  const auto note = [&](Dim extent) {
    for_each_symbol_of(extent, dims_, [&](Symbol name) { outer.push_back(name); });
  };
  for (const GenericForm::Range& loop : source.loops) note(loop.extent);
  for (const GenericForm::Range& size : source.sizes) note(size.extent);
  std::ranges::for_each(source.extents_around, note);
  if (source.around == nullptr) return outer;
  for (const SymbolDeclaration& each : *source.around) outer.push_back(each.name);
  for (const SymbolRelation& each : source.around->relations().all()) {
    note(each.left);
    note(each.right);
  }
  return outer;
}

SymbolDeclarations LoopSpace::declarations(const Source& source) const {
  std::vector<SymbolDeclaration> declared;
  std::vector<SymbolRelation> relations;
  if (source.around != nullptr) {
    declared.assign(source.around->begin(), source.around->end());
    const auto all = source.around->relations().all();
    relations.assign(all.begin(), all.end());
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    SymbolDeclaration& loop = declared.emplace_back(SymbolDeclaration{.name = names_[i]});
    if (extents_[i].is_constant()) {
      loop.most = std::max<std::int64_t>(extents_[i].constant() - 1, 0);
    } else if (extents_[i].is_symbolic()) {
      const Dim symbol = dims_.symbol(context_.text(names_[i]));
      add_relation(
          relations,
          {.comparison = SymbolRelation::Comparison::kLess, .left = symbol, .right = extents_[i]});
    }
  }
  for (const SymbolRelation& each : source.conditions) {
    if (const auto known = outside(each)) add_relation(relations, *known);
  }
  return SymbolDeclarations(std::move(declared), SymbolRelations(std::move(relations), dims_));
}

void LoopSpace::add_relation(std::vector<SymbolRelation>& relations,
                             const SymbolRelation& made) const {
  const bool has_symbol = made.left.is_symbolic() || made.right.is_symbolic();
  auto whole = made.substitute(dims_, [](Symbol) { return std::nullopt; });
  if (has_symbol && whole) relations.push_back(*std::move(whole));
}

}  // namespace mir

// Layers that ops name, and the parameters that these ops own: symbols of the layer's name and a
// suffix of the op's row (WeightRow).
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/named.hpp"

namespace mir::lsp {

/// True if the op that mentions the symbol registers a parameter.
bool is_register(const Outline& outline, const SymbolMention& symbol);

/// Returns all mentions of a layer, in the order of the text: the names on ops, and the part of
/// each symbol of its parameters that is the name. Registers declare it.
std::vector<NameMention> layer_mentions(const View& view, const Named& layer);

/// The layer at `<name="...">`; no value elsewhere.
std::optional<Named> layer_at(const View& view, SourcePos at);

/// The layer whose op owns the parameter, and the suffix behind its name.
struct Owner {
  Named layer;
  std::string suffix;
};
/// No value if no op of the module owns the symbol.
std::optional<Owner> owner_of(const View& view, const SymbolMention& symbol);

/// Adds the names of layers whose ops own the parameter, in the order of the text.
void add_owners(const View& view, const SymbolMention& symbol, std::vector<NameMention>& mentions);

/// Symbols of the parameters of a layer that the module declares, as indices.
std::vector<std::uint32_t> parameters_of(const View& view, const Named& layer);
/// Names of the parameters that ops of the layer own, declared or not, without `@`.
std::vector<std::string> owned_parameters(const View& view, const Named& layer);

/// Layers of the module at a place whose parameters are declared and that no op of the module has.
class UnusedLayers {
 public:
  /// `view` may be of an excerpt: the module's text is searched for the ops.
  UnusedLayers(const View& view, SourcePos at);

  /// Sorted.
  const std::vector<std::string>& names() const { return names_; }
  /// The first `most` layers that have every parameter that an op of the row always owns; none if
  /// it owns none.
  std::vector<std::string> fitting(const OpRow& row, std::size_t most) const;

 private:
  std::set<std::pair<std::string_view, std::string_view>> declared_;  // layers and suffixes
  std::vector<std::string> names_;
};

/// Returns parameters that ops of the module own and that it does not declare, sorted. `whole` must
/// have the whole text.
std::vector<std::string> missing_parameters(const View& whole, SourcePos at);

}  // namespace mir::lsp

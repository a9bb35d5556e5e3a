// Names that texts of several files may mention: what a text declares in a dialect.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lsp/named.hpp"

namespace mir::lsp {

/// An op, a type or an attribute of a dialect that a text declares, or an attribute of such an op.
struct SharedName {
  Named named;            ///< of the op, the type or the attribute
  std::string key{};      ///< of an attribute of the op `named`; empty: the name itself
  NameMention mention{};  ///< the one at the place

  const std::string& name() const { return key.empty() ? named.name : key; }
};

/// Returns no value if the name at the place belongs to its text alone, or to no text.
std::optional<SharedName> shared_name_at(const View& view, SourcePos at);

/// Places of a shared name in one text.
struct SharedMentions {
  std::vector<NameMention> places;  ///< in the order of the text
  bool is_declared = false;         ///< in this text
};
SharedMentions mentions_of(const View& view, const SharedName& shared);

}  // namespace mir::lsp

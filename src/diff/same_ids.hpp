// Corresponding ids of two texts: storages of dumps, and quantisation specs by their uuid. Ids are
// the numbers that `renumber` (syntax/edit.hpp) replaces, and all names of values.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// Ids of one kind.
class PairedIds {
 public:
  /// False where either is paired with another one already.
  bool pair(std::string_view before, std::string_view after);
  void pair_anew(std::string_view before, std::string_view after);

 private:
  /// Partners of ids by their handles; no value for an id without a partner.
  class Partners {
   public:
    std::optional<Symbol>& of(Symbol id) {
      if (id.id >= list_.size()) list_.resize(2 * std::size_t{id.id} + 1);
      return list_[id.id];
    }

   private:
    std::vector<std::optional<Symbol>> list_;
  };

  StringInterner ids_;  // as text spells them
  Partners forth_, back_;
};

/// Corresponding ids of two modules.
class SameIds {
 public:
  /// `dumps`: whether both modules are, so that names of values are names of storages.
  /// `specs` are of two texts, whose modules may share them.
  SameIds(const IRContext& context, bool dumps, PairedIds& specs)
      : context_(context), dumps_(dumps), specs_(specs) {}

  bool are_dumps() const { return dumps_; }
  /// False if equal values of the attribute are alike, whatever ids were met before.
  bool may_hold_ids(const NamedAttr& attribute) const;

  /// True if the names correspond. Names met for the first time correspond from now on, and so do
  /// the names of a pair that was refused.
  bool pair_storages(ValueName before, ValueName after);

  /// True if the symbols of values correspond; symbols of constants are compared by their storages.
  bool pair_symbols(std::string_view before, std::string_view after);

  /// True if two values of one attribute are equal up to ids, which are paired as they are met.
  bool are_alike(std::string_view key, const Attr& before, const Attr& after);

 private:
  std::string id_of(ValueName name) const;

  const IRContext& context_;
  bool dumps_;
  PairedIds storages_;
  PairedIds& specs_;
};

/// The text of an attribute without the uuids in it, and without the number of `constant_<n>`.
std::string without_ids(const Attr* attribute);
/// A symbol without the storage id that upstream puts into those of constants: `constant_<n>`.
std::string without_id(std::string_view symbol);

}  // namespace mir

// Names in the input of a command, and the options that select by them.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "mir/diagnostic.hpp"
#include "option.hpp"

namespace mir::tools {

/// The names that an input has, by kind. A kind that was never mentioned is not checked.
class InputNames {
 public:
  enum class Number : std::uint8_t { kOne, kSeveral };

  /// `input` names it in messages: "module 'main'", or several inputs together.
  explicit InputNames(std::string input, Number number = Number::kOne)
      : input_(std::move(input)), number_(number) {}

  /// Mentions the kind: the input has no other names of it than those that are added.
  void mention(ReferenceKind kind) { names_[kind]; }
  void add(ReferenceKind kind, std::string_view name) { names_[kind].emplace(name); }
  /// Ports are also meant by their positions, which messages do not list.
  void add_positions(ReferenceKind kind, std::size_t count);

  bool has(ReferenceKind kind, std::string_view name) const;
  /// An error for the first name that a row states and the input does not have. It names the
  /// option, the name, and the nearest name, or all.
  Result<void> check(const OptionRow& row) const;
  /// Checks all rows; modules and graphs are checked before names inside them.
  Result<void> check(const OptionSet& rows) const;

 private:
  using Names = std::set<std::string, std::less<>>;

  bool has(const Reference& reference) const;
  Result<void> check(const OptionRow& row, ReferenceKind kind) const;
  Error unknown(const OptionRow& row, const Reference& reference) const;

  std::string input_;
  Number number_;
  std::map<ReferenceKind, Names> names_;
  std::map<ReferenceKind, std::size_t> positions_;
};

/// True if an argument that was given names something of the kind.
bool refer_to(const OptionSet& rows, ReferenceKind kind);

}  // namespace mir::tools

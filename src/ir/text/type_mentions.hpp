// The types that a text states or leaves out, and those that reading would find without them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"

namespace mir {

/// One place that names an operand or a result of an op.
struct TypeMention {
  SourcePos at = 0;              ///< of its first token
  const Type* stated = nullptr;  ///< null: left out
  const Value* value = nullptr;
  bool is_redundant = false;  ///< without the stated type, the value gets the same one
};

/// Collects the mentions of one resolution.
class TypeMentions {
 public:
  /// Collects what `resolver` reads from now on.
  void listen(Resolver& resolver);

  void add(const TypeMention& mention) { list_.push_back(mention); }
  /// The number of the next mention that is added.
  std::size_t next() const { return list_.size(); }
  /// The mention with this number is redundant, which was not known when it was added.
  void mark_redundant(std::size_t number) { list_[number].is_redundant = true; }
  /// Adds the mention of a value that may get its definition below.
  void add_free(const TypeMention& mention);
  /// `value`, used above its definition, is `defined`.
  void settle(const Value& value, const Value& defined);
  /// In the order of the text.
  std::vector<TypeMention> take();

 private:
  std::vector<TypeMention> list_;
  std::unordered_map<const Value*, std::vector<std::size_t>> free_;  // indices into list_
};

/// Resolves a text and returns its mentions, in order; `context` has the dialects. Empty after
/// errors.
std::vector<TypeMention> type_mentions(const SyntaxTree& tree, IRContext& context,
                                       Diagnostics& diagnostics);

/// The text in canonical layout without each type that reading it finds again. Names that need
/// their type to be read keep it. No value after errors.
std::optional<std::string> leave_types_out(const SyntaxTree& tree, IRContext& context,
                                           Diagnostics& diagnostics);

/// The text in canonical layout with the type of each operand and result. No value after errors.
std::optional<std::string> write_types(const SyntaxTree& tree, IRContext& context,
                                       Diagnostics& diagnostics);

}  // namespace mir

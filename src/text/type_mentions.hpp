// The types that a text states or leaves out, and those that reading would find without them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"

namespace mir {

struct TokenStream;

/// One place that names an operand or a result of an op.
struct TypeMention {
  SourcePos at = 0;              ///< of its first token
  const Type* stated = nullptr;  ///< null: left out
  const Value* value = nullptr;
  bool is_redundant = false;  ///< without the stated type, the value gets the same one
};

/// A place whose text the short form, or the full form, replaces.
struct FormEdit {
  enum class Kind : std::uint8_t {
    kName,         ///< the token at `at` becomes `text`
    kImplied,      ///< attributes become `*`: from the key at `at` up to the one at `end`, 0: all
    kSameAsValue,  ///< the lists of the mention at `at` become `[*]`
    kRest,         ///< `*` at `at` becomes `attributes`, and `[@symbol]` precedes its list
  };
  SourcePos at = 0;
  SourcePos end = 0;
  Kind kind = Kind::kName;
  std::string_view text{};
  std::vector<NamedAttr> attributes{};
  Symbol symbol{};
  bool has_symbol = false;
};

/// Collects the mentions of one resolution.
class TypeMentions {
 public:
  /// Collects what `resolver` reads from now on.
  void listen(Resolver& resolver);

  void add(const TypeMention& mention) { list_.push_back(mention); }
  /// The number of the next mention that is added.
  std::size_t next() const { return list_.size(); }
  /// The type that the mention with this number may state is redundant, which was not known when it
  /// was added.
  void mark_redundant(std::size_t number) {
    list_[number].is_redundant = list_[number].stated != nullptr;
  }
  /// Adds the mention of a value that may get its definition below.
  void add_free(const TypeMention& mention);
  /// `value`, used above its definition, is `defined`.
  void settle(const Value& value, const Value& defined);
  /// In the order of the text.
  std::vector<TypeMention> take();

  std::vector<FormEdit> shorter;  ///< that reading undoes
  std::vector<FormEdit> longer;   ///< which write short forms in full

 private:
  std::vector<TypeMention> list_;
  std::unordered_map<const Value*, std::vector<std::size_t>> free_;  // indices into list_
};

struct MentionedTypes {
  std::vector<TypeMention> mentions;      ///< in the order of the text
  std::vector<FormEdit> shorter, longer;  ///< likewise
  std::vector<Module*> modules;
};

/// Resolves a text; `context` has the dialects. Empty after errors.
MentionedTypes type_mentions(const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics);

/// Removes each type that reading the text finds again. `stream` is that of the text of `file`, and
/// `mentions` are its mentions. Names that need their type to be read keep it.
void leave_types_out(TokenStream& stream, const SourceFile& file,
                     const std::vector<TypeMention>& mentions);

/// Writes the type of each operand and result.
void write_types(TokenStream& stream, const SourceFile& file,
                 const std::vector<TypeMention>& mentions);

}  // namespace mir

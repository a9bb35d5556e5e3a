// Named things of the language, and the places that mention them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lsp/aliases.hpp"
#include "lsp/features.hpp"

namespace mir::lsp {

enum class NameKind : std::uint8_t {
  kValue,           ///< `%name`
  kPort,            ///< `[name]` of an input or output
  kSymbol,          ///< `@name`, `[symbol:name]`, labels of jumps
  kTypeAlias,       ///< `!name`, of a file
  kAttributeAlias,  ///< `#name`, of a file
  kBlock,           ///< `^name`, of a region
  kExtent,          ///< `$name`, of a module; a variable of a declared op or of a pattern
  kOp,              ///< `dialect.path.Name`
  kType,            ///< `!dialect.name<...>`
  kAttribute,       ///< `#dialect.name<...>`
  kLayer,           ///< `<name="...">` of an op, which finds its parameters by it
};

/// One place that mentions a name.
struct NameMention {
  Span at;                  ///< with the sigil, but that of symbols
  std::uint32_t sigil = 0;  ///< bytes before the name
  bool declares = false;
  bool is_quoted = false;
  bool is_relative = false;  ///< of a layer: `.q` of `<.q>`

  Span name() const { return {at.begin + sigil, at.end}; }
};

/// A name at a place of the text, with its meaning.
struct Named {
  NameKind kind;
  std::string name;              ///< without sigil and dialect
  NameMention mention;           ///< the one at the place
  std::string dialect{};         ///< of kOp, kType and kAttribute
  Span scope{};                  ///< of kBlock and kExtent: where the name has this meaning
  bool is_declared = false;      ///< of kExtent: a variable of a declaration or of a pattern
  std::uint32_t value = kNone;   ///< of kValue and kPort
  std::uint32_t symbol = kNone;  ///< of kSymbol, and of others that declare a symbol here
  std::uint32_t module = kNone;  ///< of kLayer
};

/// The name at a place; no value if there is none.
std::optional<Named> named_at(const View& view, SourcePos at);
/// All places of the document that mention it, in the order of the text.
std::vector<NameMention> mentions_of(const View& view, const Named& named);
/// The names of a kind that can be used at a place, each once, without sigil: for aliases, blocks
/// and extents.
std::vector<std::string> names_at(const View& view, NameKind kind, SourcePos at);

/// The op whose declaration in this text a variable belongs to; no value for other variables.
std::optional<Named> op_of_variable(const View& view, const Named& variable);
/// Mentions of an attribute where the text uses the op.
std::vector<NameMention> used_keys(const View& view, const Named& op, std::string_view key);
/// The variable that the attribute `key` is in the declaration of an op. No value if the text does
/// not declare the op with such an attribute.
std::optional<Named> declared_variable(const View& view, const Named& op, std::string_view key);

/// The symbol by which the document declares an op, a type or an attribute of a dialect; kNone if
/// it does not.
std::uint32_t declaring_symbol(const View& view, const Named& named);

}  // namespace mir::lsp

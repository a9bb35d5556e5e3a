// Shortens portable text: omits implied symbols and types and names repeated types.
#include "text/short_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/rewriter.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_stream.hpp"
#include "text/type_mentions.hpp"

namespace mir {

namespace {

using K = TokenKind;
using Items = std::vector<StreamItem>;

static_assert(kTypeAliasVersion == kImpliedSymbolVersion);

/// Calls `visit(index, module, depth)` for each item, with the number of its module and of the
/// braces that are open.
template <class Visit>
void for_each_item(const Items& items, const Visit& visit) {
  std::size_t depth = 0, module = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {
    visit(at, module, depth);
    if (items[at].is(K::kLBrace)) ++depth;
    if (items[at].is(K::kRBrace) && --depth == 0) ++module;
  }
}

/// For each module the index of the number of its version, or 0 if it is a dump.
std::vector<std::size_t> version_numbers(const Items& items) {
  std::vector<std::size_t> numbers;
  for_each_item(items, [&](std::size_t at, std::size_t module, std::size_t depth) {
    numbers.resize(std::max(numbers.size(), module + 1));
    const bool is_key = depth == 0 && items[at].is(K::kKey) && items[at].text == key::kMirVersion;
    if (is_key && at + 2 < items.size() && items[at + 1].is(K::kColon) &&
        items[at + 2].is(K::kInt)) {
      numbers[module] = at + 2;
    }
  });
  return numbers;
}

/// A register of one parameter: `tensor.CPU.register () -> (%0:T[@w])[symbol:w]`.
struct Register {
  std::string_view symbol;  // `w`, as it is spelled
  std::size_t end = 0;      // index of the item after the results
};

/// The register whose name is at `at`, if no comment is inside of it.
std::optional<Register> register_at(const Items& items, std::size_t at) {
  const std::string_view name = items[at].text;
  if (!items[at].is(K::kOpName) || !name.starts_with("tensor.") || !name.ends_with(".register")) {
    return std::nullopt;
  }
  const auto is = [&](std::size_t i, K kind) { return i < items.size() && items[i].is(kind); };
  if (!is(at + 1, K::kLParen) || !is(at + 2, K::kRParen) || !is(at + 3, K::kArrow) ||
      !is(at + 4, K::kLParen)) {
    return std::nullopt;
  }
  Register found;
  std::size_t values = 0;
  for (found.end = at + 5; !is(found.end, K::kRParen); ++found.end) {
    if (found.end >= items.size() || items[found.end].role != StreamItem::Role::kToken) {
      return std::nullopt;
    }
    values += is(found.end, K::kTypedValue) || is(found.end, K::kValue) ? 1 : 0;
    if (is(found.end, K::kLBracketSymbol) && is(found.end + 1, K::kSymbol)) {
      found.symbol = items[found.end + 1].text.substr(1);
    }
  }
  ++found.end;
  return values == 1 && !found.symbol.empty() ? std::optional(found) : std::nullopt;
}

/// True if the items from `at` on are `[symbol:w]` and nothing else belongs to the list.
bool states_symbol(const Items& items, std::size_t at, std::string_view symbol) {
  constexpr K kList[] = {K::kLBracket, K::kKey, K::kColon, K::kBare, K::kRBracket};
  for (std::size_t i = 0; i < std::size(kList); ++i) {
    if (at + i >= items.size() || !items[at + i].is(kList[i])) return false;
  }
  return items[at + 1].text == key::kSymbol && items[at + 3].text == symbol && is_bare_word(symbol);
}

/// True if the item at `at` is the use of an alias of a type.
bool is_alias(const Items& items, std::size_t at) {
  const auto defines = [&](std::size_t i) { return i < items.size() && items[i].is(K::kEqual); };
  return items[at].is(K::kOpaqueType) &&
         items[at].text.find_first_of(".<") == std::string_view::npos && !defines(at + 1) &&
         !defines(at - 1);
}

bool is_bare(const Items& items, const Register& parameter) {
  return parameter.end >= items.size() || !items[parameter.end].is(K::kLBracket);
}

/// For each module whether it is of version 1 and would mean something else in version 2: a
/// register without attributes would get a symbol, a type without a dot would be an alias, and
/// symbols of a graph would be its own. Gives the modules version 2.
std::vector<bool> bound_to_first_version(const Items& items, std::span<Module* const> modules) {
  const std::vector<std::size_t> versions = version_numbers(items);
  std::vector<bool> bound(versions.size());
  for (std::size_t i = 0; i < modules.size(); ++i) {
    if (modules[i]->version() != 1) continue;
    Rewriter(*modules[i]).set_version(kTypeAliasVersion);
    bound[i] = lowest_version(*modules[i]) != 1;
  }
  for_each_item(items, [&](std::size_t at, std::size_t module, std::size_t) {
    if (versions[module] == 0 || items[versions[module]].text != "1") return;
    const auto parameter = register_at(items, at);
    if (is_alias(items, at) || (parameter && is_bare(items, *parameter))) bound[module] = true;
  });
  return bound;
}

/// Removes the symbols that registers of portable modules imply, but for modules that are `bound`
/// to version 1. Returns for each module whether it had one.
std::vector<bool> leave_symbols_out(TokenStream& stream, const std::vector<bool>& bound) {
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  std::vector<bool> changed(versions.size());
  Items result;
  std::size_t done = 0;
  for_each_item(stream.items, [&](std::size_t at, std::size_t module, std::size_t) {
    if (versions[module] == 0 || bound[module]) return;
    const auto found = register_at(stream.items, at);
    if (!found || !states_symbol(stream.items, found->end, found->symbol)) return;
    result.insert(result.end(), stream.items.begin() + static_cast<std::ptrdiff_t>(done),
                  stream.items.begin() + static_cast<std::ptrdiff_t>(found->end));
    done = found->end + 5;
    changed[module] = true;
  });
  result.insert(result.end(), stream.items.begin() + static_cast<std::ptrdiff_t>(done),
                stream.items.end());
  stream.items = std::move(result);
  return changed;
}

/// Writes the symbols that registers imply. Returns for each module whether it implied one or used
/// an alias of a type.
std::vector<bool> write_symbols(TokenStream& stream) {
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  std::vector<bool> is_short(versions.size());
  Items result;
  std::size_t done = 0;
  for_each_item(stream.items, [&](std::size_t at, std::size_t module, std::size_t) {
    if (is_alias(stream.items, at)) is_short[module] = true;
    if (versions[module] == 0 || stream.items[versions[module]].text == "1") return;
    const auto found = register_at(stream.items, at);
    if (!found || !is_bare(stream.items, *found)) return;
    result.insert(result.end(), stream.items.begin() + static_cast<std::ptrdiff_t>(done),
                  stream.items.begin() + static_cast<std::ptrdiff_t>(found->end));
    done = found->end;
    const bool is_quoted = found->symbol.starts_with('"') || !is_bare_word(found->symbol);
    const std::string_view value = found->symbol.starts_with('"') || !is_quoted
                                       ? found->symbol
                                       : stream.texts.copy(std::string_view(quote(found->symbol)));
    for (const StreamItem& item :
         {StreamItem{"[", K::kLBracket}, StreamItem{key::kSymbol, K::kKey},
          StreamItem{":", K::kColon}, StreamItem{value, is_quoted ? K::kString : K::kBare},
          StreamItem{"]", K::kRBracket}}) {
      result.push_back(item);
    }
    is_short[module] = true;
  });
  result.insert(result.end(), stream.items.begin() + static_cast<std::ptrdiff_t>(done),
                stream.items.end());
  stream.items = std::move(result);
  return is_short;
}

}  // namespace

std::optional<std::string> short_text(const SyntaxTree& tree, IRContext& context,
                                      Diagnostics& diagnostics, std::int64_t version) {
  const std::size_t errors = diagnostics.error_count();
  const MentionedTypes found = type_mentions(tree, context, diagnostics);
  if (diagnostics.error_count() != errors) return std::nullopt;
  TokenStream stream(tree);
  leave_types_out(stream, tree.file(), found.mentions);
  std::vector<bool> bound = bound_to_first_version(stream.items, found.modules);
  for (std::size_t module = 0; version < kTypeAliasVersion && module < bound.size(); ++module) {
    bound[module] = bound[module] || version_numbers(stream.items)[module] != 0;
  }
  const std::vector<bool> implied = leave_symbols_out(stream, bound);
  const std::vector<bool> aliased = alias_types(stream, bound);
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  for (std::size_t module = 0; module < aliased.size(); ++module) {
    if (versions[module] == 0 || !(implied[module] || aliased[module])) continue;
    if (std::string_view& number = stream.items[versions[module]].text; number == "1") number = "2";
  }
  alias_attributes(stream);
  return stream.print();
}

std::optional<std::string> full_text(const SyntaxTree& tree, IRContext& context,
                                     Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  const MentionedTypes found = type_mentions(tree, context, diagnostics);
  if (diagnostics.error_count() != errors) return std::nullopt;
  TokenStream stream(tree);
  write_types(stream, tree.file(), found.mentions);
  const std::vector<bool> is_short = write_symbols(stream);
  if (const auto expanded = expand_attributes(stream); !expanded) {
    diagnostics.error(expanded.error().code, {tree.file().base(), tree.file().base()},
                      expanded.error().message);
    return std::nullopt;
  }
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  for (std::size_t module = 0; module < found.modules.size(); ++module) {
    if (versions[module] == 0 || !is_short[module]) continue;
    const std::int64_t lowest = lowest_version(*found.modules[module]);
    if (lowest == 1) stream.items[versions[module]].text = "1";
  }
  return stream.print();
}

}  // namespace mir

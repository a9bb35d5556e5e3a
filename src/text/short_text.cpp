// Shortens portable text: omits implied symbols and types and names repeated types.
#include "text/short_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/rewriter.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_stream.hpp"
#include "syntax/token_text.hpp"
#include "text/type_mentions.hpp"

namespace mir {

namespace {

using K = TokenKind;
using Items = std::vector<StreamItem>;

static_assert(kTypeAliasVersion == kImpliedSymbolVersion &&
              kTypeAliasVersion == kImpliedTextVersion && kTypeAliasVersion == kPortsVersion);

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

/// The register whose name is at `at`. Comments may be inside of it.
std::optional<Register> register_at(const Items& items, std::size_t at) {
  const std::string_view name = items[at].text;
  const bool is_register =
      name == ".register" || (name.starts_with("tensor.") && name.ends_with(".register"));
  if (!items[at].is(K::kOpName) || !is_register) return std::nullopt;
  const auto is = [&](std::size_t i, K kind) { return i < items.size() && items[i].is(kind); };
  const auto skip_comments = [&](std::size_t i) {
    while (i < items.size() && items[i].role != StreamItem::Role::kToken) ++i;
    return i;
  };
  for (const K kind : {K::kLParen, K::kRParen, K::kArrow, K::kLParen}) {
    at = skip_comments(at + 1);
    if (!is(at, kind)) return std::nullopt;
  }
  Register found;
  std::size_t values = 0;
  for (found.end = at + 1; !is(found.end, K::kRParen); ++found.end) {
    if (found.end >= items.size()) return std::nullopt;
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

/// For each module whether a recipe lacks its key, or an alias has a number.
std::vector<bool> modules_with_short_recipes(const Items& items) {
  std::vector<bool> found(version_numbers(items).size());
  std::size_t open = 0;  // brackets of values
  K before = K::kEnd;
  for_each_item(items, [&](std::size_t at, std::size_t module, std::size_t) {
    const StreamItem& item = items[at];
    if (item.role != StreamItem::Role::kToken) return;
    open += opens_value(item.kind) ? 1 : 0;
    open -= closes_value(item.kind) && open != 0 ? 1 : 0;
    const bool is_encoding = at + 1 < items.size() && items[at + 1].is(K::kGreater);
    const bool is_item =
        open == 0 && !is_encoding && (before == K::kLBracket || before == K::kComma);
    before = item.kind;
    if (item.is(K::kHash) && (is_item || is_numbered(item.text))) found[module] = true;
  });
  return found;
}

/// For each module whether its text states a port: `[name]` after a value of a signature.
std::vector<bool> modules_with_ports(const Items& items) {
  std::vector<bool> found(version_numbers(items).size());
  for_each_item(items, [&](std::size_t at, std::size_t module, std::size_t) {
    const bool is_port = items[at].is(K::kKey) && at != 0 && items[at - 1].is(K::kLBracket) &&
                         at + 1 < items.size() && items[at + 1].is(K::kRBracket);
    if (is_port) found[module] = true;
  });
  return found;
}

// -- forms whose meaning follows from the text around them ----------------------------------------

/// Copies a stream with other forms at some places.
class FormChange {
 public:
  FormChange(TokenStream& stream, const SourceFile& file, IRContext& context)
      : stream_(stream), file_(file), context_(context) {}

  /// Applies the edits, which are in the order of the text, but for modules in `kept`. Returns for
  /// each module whether it changed.
  std::vector<bool> run(const std::vector<FormEdit>& edits, const std::vector<bool>& kept) {
    auto next = edits.begin();
    std::vector<bool> changed;
    std::size_t module = 0, depth = 0;
    for (std::size_t at = 0; at < stream_.items.size();) {
      const StreamItem& item = stream_.items[at];
      changed.resize(std::max(changed.size(), module + 1));
      const std::size_t begin = at;
      const std::optional<SourcePos> place = place_of(item);
      while (place && next != edits.end() && next->at < *place) ++next;
      const bool is_kept = module < kept.size() && kept[module];
      for (; place && next != edits.end() && next->at == *place; ++next) {
        if (is_kept) continue;
        at = apply(at, *next);
        changed[module] = true;
      }
      if (at == begin) result_.push_back(stream_.items[at++]);
      if (item.is(K::kLBrace)) ++depth;
      if (item.is(K::kRBrace) && --depth == 0) ++module;
    }
    stream_.items = std::move(result_);
    return changed;
  }

 private:
  std::optional<SourcePos> place_of(const StreamItem& item) const {
    const std::string_view text = file_.text();
    const char* const end = text.data() + text.size();
    const bool is_of_source = item.role == StreamItem::Role::kToken && !item.text.empty() &&
                              !std::less<>()(item.text.data(), text.data()) &&
                              std::less<>()(item.text.data(), end);
    if (!is_of_source) return std::nullopt;
    return file_.base() + static_cast<SourcePos>(item.text.data() - text.data());
  }

  /// Writes what replaces the items from `at` on. Returns the index of the first item after them.
  std::size_t apply(std::size_t at, const FormEdit& edit) {
    switch (edit.kind) {
      case FormEdit::Kind::kName:
        result_.push_back({edit.text, stream_.items[at].kind});
        return at + 1;
      case FormEdit::Kind::kImplied:
        return leave_attributes_out(at, edit.end);
      case FormEdit::Kind::kSameAsValue:
        return leave_lists_out(at);
      case FormEdit::Kind::kRest:
        write_rest(edit);
        return after_rest(at + 1);
    }
    return at + 1;
  }

  void keep_comment(std::size_t at) {
    if (stream_.items[at].role != StreamItem::Role::kToken) result_.push_back(stream_.items[at]);
  }

  std::size_t leave_attributes_out(std::size_t at, SourcePos end) {
    result_.push_back({"*", K::kWord});
    const Items& items = stream_.items;
    for (; at < items.size() && !items[at].is(K::kRBracket); ++at) {
      if (end != 0 && place_of(items[at]) == end) break;
      keep_comment(at);
    }
    if (end != 0) result_.push_back({",", K::kComma});
    return at;
  }

  std::size_t leave_lists_out(std::size_t at) {
    const Items& items = stream_.items;
    for (; at < items.size() && !items[at].is(K::kLBracketSymbol) && !items[at].is(K::kLBracket);
         ++at) {
      result_.push_back(items[at]);
    }
    std::size_t open = 0;
    for (; at < items.size(); ++at) {
      const bool opens = items[at].is(K::kLBracketSymbol) || items[at].is(K::kLBracket);
      if (open == 0 && !opens && items[at].role == StreamItem::Role::kToken) break;
      keep_comment(at);
      open += opens ? 1 : 0;
      open -= items[at].is(K::kRBracket) ? 1 : 0;
    }
    for (const StreamItem& item :
         {StreamItem{"[", K::kLBracket}, {"*", K::kWord}, {"]", K::kRBracket}}) {
      result_.push_back(item);
    }
    return at;
  }

  void write_rest(const FormEdit& edit) {
    if (edit.has_symbol) {
      // Before the list that opened last.
      auto open = result_.end() - 1;
      while (!open->is(K::kLBracket)) --open;
      const std::string_view name = context_.text(edit.symbol);
      const bool is_plain = is_plain_symbol(name);
      const std::string symbol = is_plain ? fmt::format("@{}", name) : "@" + quote(name);
      open = result_.insert(open, {"]", K::kRBracket});
      open = result_.insert(open, {stream_.texts.copy(std::string_view(symbol)), K::kSymbol});
      result_.insert(open, {"[", K::kLBracketSymbol});
    }
    bool is_first = true;
    for (const NamedAttr& each : edit.attributes) {
      if (!std::exchange(is_first, false)) result_.push_back({",", K::kComma});
      result_.push_back({key_text(each.key), K::kKey});
      result_.push_back({":", K::kColon});
      result_.push_back({each.value->spelling(), kind_of(*each.value)});
    }
  }

  /// Removes the list if nothing is in it.
  std::size_t after_rest(std::size_t at) {
    const bool is_empty = result_.back().is(K::kLBracket) && at < stream_.items.size() &&
                          stream_.items[at].is(K::kRBracket);
    if (!is_empty) return at;
    result_.pop_back();
    return at + 1;
  }

  static bool is_plain_symbol(std::string_view name) {
    return !name.empty() && name.front() != '"' &&
           name.find_first_of("]\n\"") == std::string_view::npos && name.front() != ' ' &&
           name.back() != ' ' && is_plain_name(name);
  }

  std::string_view key_text(Symbol key) {
    const std::string_view name = context_.text(key);
    const bool is_plain = is_plain_name(name) && name.find('/') == name.npos;
    return is_plain ? name : stream_.texts.copy(std::string_view(quote(name)));
  }

  static K kind_of(const Attr& value) {
    switch (value.kind()) {
      case AttrKind::kInt:
        return K::kInt;
      case AttrKind::kDim:
        return K::kDim;
      case AttrKind::kFloat:
        return K::kFloat;
      case AttrKind::kQuantSpec:
      case AttrKind::kQuantAnnotation:
        return K::kQuantSpec;
      case AttrKind::kString:
        return value.is_quoted() ? K::kString : K::kBare;
      default:
        return K::kString;
    }
  }

  TokenStream& stream_;
  const SourceFile& file_;
  IRContext& context_;
  Items result_;
};

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
  std::vector<bool> is_short = FormChange(stream, tree.file(), context).run(found.shorter, bound);
  const auto note = [&](const std::vector<bool>& changed) {
    is_short.resize(std::max(is_short.size(), changed.size()));
    for (std::size_t i = 0; i < changed.size(); ++i) is_short[i] = is_short[i] || changed[i];
  };
  note(leave_symbols_out(stream, bound));
  note(alias_types(stream, bound));
  note(number_attributes(stream, bound));
  alias_attributes(stream);
  note(leave_recipe_keys_out(stream, bound));
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  for (std::size_t module = 0; module < versions.size(); ++module) {
    if (versions[module] == 0 || !is_short[module]) continue;
    if (std::string_view& number = stream.items[versions[module]].text; number == "1") number = "2";
  }
  return stream.print();
}

std::optional<std::string> full_text(const SyntaxTree& tree, IRContext& context,
                                     Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  const MentionedTypes found = type_mentions(tree, context, diagnostics);
  if (diagnostics.error_count() != errors) return std::nullopt;
  TokenStream stream(tree);
  write_types(stream, tree.file(), found.mentions);
  std::vector<bool> is_short = FormChange(stream, tree.file(), context).run(found.longer, {});
  const std::vector<bool> has_symbols = write_symbols(stream);
  const std::vector<bool> has_recipes = modules_with_short_recipes(stream.items);
  is_short.resize(std::max(is_short.size(), has_symbols.size()));
  for (std::size_t i = 0; i < has_symbols.size(); ++i) {
    is_short[i] = is_short[i] || has_symbols[i] || has_recipes[i];
  }
  if (const auto expanded = expand_attributes(stream); !expanded) {
    diagnostics.error(expanded.error().code, {tree.file().base(), tree.file().base()},
                      expanded.error().message);
    return std::nullopt;
  }
  const std::vector<std::size_t> versions = version_numbers(stream.items);
  const std::vector<bool> has_ports = modules_with_ports(stream.items);
  for (std::size_t module = 0; module < found.modules.size(); ++module) {
    if (versions[module] == 0 || !is_short[module] || has_ports[module]) continue;
    const std::int64_t lowest = lowest_version(*found.modules[module]);
    if (lowest == 1) stream.items[versions[module]].text = "1";
  }
  return stream.print();
}

}  // namespace mir

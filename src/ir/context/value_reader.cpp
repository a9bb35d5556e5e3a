// Builds types and attributes from the nodes of a syntax tree.
#include "ir/context/value_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "extents/extent_words.hpp"
#include "ir/context/context_state.hpp"
#include "ir/context/element_count.hpp"
#include "ir/context/repeated_key.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/attributes.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/names.hpp"
#include "support/suggest.hpp"
#include "syntax/layout.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/text_literal.hpp"
#include "syntax/token_text.hpp"

namespace mir {

bool ValueReader::read(const Node& node) {
  switch (node.kind()) {
    case NodeKind::kType:
    case NodeKind::kEncodedType:
      read_type(node);
      return true;
    case NodeKind::kTypeValue:
      values_.push_back(pending_type_ == nullptr ? context_.null() : context_.type(pending_type_));
      pending_type_ = nullptr;
      return true;
    case NodeKind::kLeaf:
      values_.push_back(leaf(node));
      return true;
    case NodeKind::kArray: {
      const auto first = values_.size() - node.count();
      const Attr* array = context_.array(std::span(values_).subspan(first));
      values_.resize(first);
      values_.push_back(array);
      return true;
    }
    case NodeKind::kAttribute:
      attributes_.push_back(attribute(node.token));
      return true;
    case NodeKind::kDictEntry:
    case NodeKind::kQuantEntry: {
      const Symbol key = symbol_from_text(text(node.token));
      const Attr* value = pop_value();
      attributes_.push_back({key, value});
      return true;
    }
    case NodeKind::kEmptyEntry:
      attributes_.push_back({});
      return true;
    case NodeKind::kDict: {
      const auto entries = pop_attributes(node.count());
      check_duplicates(entries, node.token);
      const Attr* dict = context_.dict(entries);
      values_.push_back(dict == nullptr ? context_.null() : dict);
      return true;
    }
    case NodeKind::kQuantAnnotation:
      values_.push_back(quant_annotation(node));
      return true;
    default:
      return false;
  }
}

Symbol ValueReader::symbol_from_text(std::string_view text) {
  if (text.starts_with('"')) {
    if (const auto plain = unquote(text)) return context_.intern(*plain);
  }
  return context_.intern(text);
}

// -- types ----------------------------------------------------------------------------------------

void ValueReader::read_type(const Node& node) {
  if (node.kind() == NodeKind::kEncodedType) {
    const Attr* encoding = pop_value();
    pending_type_ = checked(type_from_tokens(node.token, node.count(), encoding), node.token);
  } else if (unit_->tokens()[node.token].kind() == TokenKind::kOpaqueType) {
    pending_type_ = named_type(node.token);
  } else if (node.count() == 1) {
    pending_type_ = checked(type_from_text(text(node.token)), node.token);
  } else {
    pending_type_ = checked(type_from_tokens(node.token, node.count(), nullptr), node.token);
  }
}

/// A whole tensor type in canonical spacing.
const Type* ValueReader::type_from_text(std::string_view spelling) {
  const std::uint64_t hash = hash_text(spelling);
  if (const Type** known = types_.find(spelling, hash)) return *known;
  std::vector<Dim> dims;
  for_each_extent(spelling, [&](std::string_view word) {
    auto dim = context_.dims().parse(word);
    if (!dim) {
      diagnostics_.error(
          dim.error().code,
          {file_.position_of(word.data()), file_.position_of(word.data() + word.size())},
          dim.error().message);
    }
    dims.push_back(dim ? *dim : Dim::unknown());
  });
  const std::size_t dtype_at = spelling.find(']') + 3;
  const auto dtype_end = spelling.find(',', dtype_at);
  const Symbol dtype = context_.intern(spelling.substr(dtype_at, dtype_end - dtype_at));
  const Symbol device =
      context_.intern(spelling.substr(dtype_end + 2, spelling.size() - dtype_end - 3));
  const Type* type = context_.tensor(dims, dtype, device);
  types_.insert(spelling, hash, type);
  return type;
}

const Type* ValueReader::dialect_type(std::uint32_t token) {
  const std::string_view spelling = text(token);
  const std::uint64_t hash = hash_text(spelling);
  if (const Type** known = types_.find(spelling, hash)) return *known;
  if (templates_ != 0) {  // parameters may be variables there
    Diagnostics ignored(1);
    return context_.read_type(spelling, span(token).begin, ignored);
  }
  const Type* type = context_.read_type(spelling, span(token).begin, diagnostics_);
  types_.insert(spelling, hash, type);
  return type;
}

/// The type of a dialect, or the one that an alias without a dot stands for.
const Type* ValueReader::named_type(std::uint32_t token) {
  const std::string_view spelling = text(token);
  if (spelling.find_first_of(".<") != spelling.npos) return dialect_type(token);
  will_read_type_alias(token);
  const Attr** alias = aliases_.find(spelling);
  const Attr* value = alias == nullptr ? context_.null() : aliased(*alias, token);
  return value->type() == nullptr ? dialect_type(token) : value->type();
}

const Type* ValueReader::type_from_tokens(std::uint32_t first, std::uint32_t count,
                                          const Attr* encoding) {
  std::vector<Dim> dims;
  Symbol words[2];
  int word_count = 0;
  for (std::uint32_t i = first; i < first + count && word_count < 2; ++i) {
    const TokenKind kind = unit_->tokens()[i].kind();
    if (kind == TokenKind::kDim) {
      auto dim = context_.dims().parse(text(i));
      if (!dim) {
        diagnostics_.error(dim.error().code, span(i), dim.error().message);
      }
      dims.push_back(dim ? *dim : Dim::unknown());
    } else if (kind == TokenKind::kWord) {
      words[word_count++] = context_.intern(text(i));
    }
  }
  return context_.tensor(dims, words[0], words[1], encoding);
}

/// Limits that every tensor type must keep, reported where the type stands.
const Type* ValueReader::checked(const Type* type, std::uint32_t token) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return type;
  constexpr std::size_t kMaxRank = 64;
  if (tensor->rank() > kMaxRank) {
    diagnostics_.error(
        diag::kTooManyDims, span(token),
        fmt::format("tensor type of rank {}, at most {} are allowed", tensor->rank(), kMaxRank));
    return type;
  }
  if (!is_countable(*tensor)) {
    diagnostics_.error(diag::kExtentOverflow, span(token), "element count does not fit 63 bits");
  }
  return type;
}

// -- attributes -----------------------------------------------------------------------------------

/// `key:value`, `#spec` of a quantisation, or `*`, which has no value.
NamedAttr ValueReader::attribute(std::uint32_t token) {
  const Attr* const value = pop_value();
  const TokenKind kind = unit_->tokens()[token].kind();
  if (kind == TokenKind::kKey) return {symbol_from_text(text(token)), value};
  did_read_short_form(token);
  if (kind == TokenKind::kHash) return {key::kQuantRecipe, value};
  rest_token_ = token;
  return {context_.intern(text(token)), nullptr};
}

/// The spec that an alias with a number stands for; null if the alias is none of a spec without
/// uuid.
const Attr* ValueReader::numbered_spec(std::uint32_t token) {
  const std::string_view spelling = text(token);
  const std::uint64_t hash = hash_text(spelling);
  if (const Attr** known = quant_specs_.find(spelling, hash)) return *known;
  const Attr** const alias = aliases_.find(unnumbered(spelling));
  if (alias == nullptr || (*alias)->kind() != AttrKind::kQuantSpec) return nullptr;
  const std::string made = with_uuid((*alias)->spelling(), number_of(spelling));
  const Attr* const value = made.empty() ? nullptr : context_.scanned(AttrKind::kQuantSpec, made);
  if (value != nullptr) quant_specs_.insert(spelling, hash, value);
  return value;
}

const Attr* ValueReader::pop_value() {
  const Attr* value = values_.back();
  values_.pop_back();
  return value;
}

std::vector<NamedAttr> ValueReader::pop_attributes(std::uint32_t count) {
  std::vector<NamedAttr> list(attributes_.end() - count, attributes_.end());
  attributes_.resize(attributes_.size() - count);
  return list;
}

/// Returns the second place of a key in the lists that begin at `token` or after the value there.
/// The first one if they have it once: an op may have two lists.
Span ValueReader::repetition(Symbol key, std::uint32_t token) {
  using enum TokenKind;
  const auto tokens = unit_->tokens();
  std::optional<std::uint32_t> first;
  int depth = 0;
  for (std::uint32_t i = token; i + 1 < tokens.size(); ++i) {
    const TokenKind kind = tokens[i].kind();
    depth += (kind == kLBracket || kind == kLBracketSymbol || kind == kDictOpen) -
             (kind == kRBracket || kind == kDictClose);
    if (depth == 0 && first && kind != kRBracket && kind != kDictClose) break;
    if (depth != 1 || tokens[i + 1].kind() != kColon || symbol_from_text(text(i)) != key) continue;
    if (first) return span(i);
    first = i;
  }
  return span(first.value_or(token));
}

void ValueReader::check_duplicates(std::span<const NamedAttr> attributes, std::uint32_t token) {
  const auto key = repeated_key(attributes);
  if (!key) return;
  diagnostics_.error(diag::kDuplicateAttribute, repetition(*key, token),
                     fmt::format("key '{}' occurs twice", context_.text(*key)));
}

/// Text of several tokens in canonical spacing.
std::string_view ValueReader::canonical(std::uint32_t first, std::uint32_t count) {
  LayoutPrinter printer;
  for (std::uint32_t i = first; i < first + count; ++i) {
    printer.token(unit_->tokens()[i].kind(), text(i));
  }
  scratch_ = printer.text();
  return scratch_;
}

/// Returns the value of an alias. Lists of aliases of lists are written out in their spellings,
/// which a short text can double repeatedly: null once the text is too long.
const Attr* ValueReader::aliased(const Attr* value, std::uint32_t token) {
  const std::uint64_t limit =
      std::max(kMostAliasedBytes, std::uint64_t{file_.size()} * kMostAliasedTimes);
  if (aliased_bytes_ > limit) return context_.null();
  aliased_bytes_ += value->spelling().size();
  if (aliased_bytes_ <= limit) return value;
  diagnostics_.error(diag::kLimitExceeded, span(token),
                     fmt::format("aliases stand for more than {} bytes", limit));
  return context_.null();
}

void ValueReader::report_unknown_alias(std::uint32_t token) {
  const std::string_view spelling = text(token);
  if (!may_name_aliases_) {
    diagnostics_.error(diag::kUnknownAlias, span(token),
                       fmt::format("alias '{}' cannot be used inside '<...>'", spelling));
    return;
  }
  const bool is_shown = !diagnostics_.is_full();
  Diagnostic& added =
      diagnostics_.error(diag::kUnknownAlias, span(token),
                         fmt::format("alias '{}' is not defined before its use", spelling));
  if (!is_shown || !may_suggest(diagnostics_, diag::kUnknownAlias)) return;
  NearestName nearest(spelling);
  aliases_.for_each_key([&](std::string_view known) { nearest.offer(known); });
  const bool certain = is_certain_slip(spelling, nearest.best());
  suggest(added, nearest.best(), span(token), std::string(nearest.best()), certain);
}

const Attr* ValueReader::leaf(const Node& node) {
  const std::string_view spelling = text(node.token);
  const Attr* value = nullptr;
  switch (unit_->tokens()[node.token].kind()) {
    case TokenKind::kInt:
      value = context_.scanned(AttrKind::kInt, spelling);
      break;
    case TokenKind::kFloat:
      value = context_.scanned(AttrKind::kFloat, spelling);
      break;
    case TokenKind::kTrue:
      return context_.boolean(true);
    case TokenKind::kFalse:
      return context_.boolean(false);
    case TokenKind::kNull:
      return context_.null();
    case TokenKind::kString:
      value = context_.scanned(AttrKind::kString, spelling);
      break;
    case TokenKind::kBare:
      if (!is_bare_word(spelling)) did_read_unquoted(node.token);
      return context_.scanned(AttrKind::kString, spelling);
    case TokenKind::kWord:
      return context_.scanned(AttrKind::kString, spelling);
    case TokenKind::kSymbol:
      return context_.symbol_ref(context_.text(symbol_from_text(spelling.substr(1))));
    case TokenKind::kInvalid:
      if (!portable_) value = context_.scanned(AttrKind::kInvalid, spelling);
      break;
    case TokenKind::kDim: {
      auto dim = context_.dims().parse(spelling);
      if (dim) return context_.dim(*dim);
      diagnostics_.error(dim.error().code, span(node.token), dim.error().message);
      return context_.null();
    }
    case TokenKind::kHash:
      if (const Attr** alias = aliases_.find(spelling)) return aliased(*alias, node.token);
      if (is_numbered(spelling)) {
        did_read_short_form(node.token);
        if (const Attr* const spec = numbered_spec(node.token)) return aliased(spec, node.token);
        report_unknown_alias(node.token);
        return context_.null();
      }
      if (spelling.find('.') != spelling.npos) {
        return context_.read_attribute(spelling, span(node.token).begin, diagnostics_);
      }
      report_unknown_alias(node.token);
      return context_.read_attribute(spelling, 0, diagnostics_);
    case TokenKind::kQuantSpec: {
      const std::uint64_t hash = hash_text(spelling);
      if (const Attr** known = quant_specs_.find(spelling, hash)) return *known;
      value = context_.scanned(AttrKind::kQuantSpec, spelling);
      quant_specs_.insert(spelling, hash, value);
      return value;
    }
    default:
      return context_.scanned(AttrKind::kQuantSpec, canonical(node.token, node.count()));
  }
  if (value != nullptr) return value;
  diagnostics_.error(diag::kMalformedAttribute, span(node.token),
                     fmt::format("value '{}' cannot be read", spelling));
  return context_.null();
}

const Attr* ValueReader::quant_annotation(const Node& node) {
  const std::size_t at = span(node.token).begin - file_.base();
  const std::string_view written = lent_.empty() ? lent_ : lent_.substr(at);
  const Attr* annotation = context_.state_->quant_annotation(pop_attributes(node.count()), written);
  if (annotation != nullptr) return annotation;
  diagnostics_.error(diag::kMalformedAttribute, span(node.token),
                     "an entry of a quantisation annotation is no quantisation spec");
  return context_.null();
}

}  // namespace mir

// Gives names to repeated QuantSpecs, and replaces attribute and type aliases by their values.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "mir/codes/limits.hpp"
#include "syntax/alias_names.hpp"
#include "syntax/layout.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/token_stream.hpp"

namespace mir {

namespace {

using K = TokenKind;
using Items = std::vector<StreamItem>;

constexpr std::string_view kRecipeKey = "quant_recipe";

/// One past the value that begins at `at`: a scalar, a type, or a bracketed list.
std::size_t value_end(const Items& items, std::size_t at) {
  if (at < items.size() && items[at].is(K::kTensor)) {
    while (at < items.size() && !items[at].is(K::kGreater)) ++at;
    return std::min(at + 1, items.size());
  }
  std::size_t depth = 0;
  for (; at < items.size(); ++at) {
    if (items[at].role != StreamItem::Role::kToken) continue;
    if (opens_value(items[at].kind)) ++depth;
    if (closes_value(items[at].kind)) --depth;
    if (depth == 0) return at + 1;
  }
  return at;
}

bool begins_definition(const TokenStream& stream, std::size_t at) {
  if (!stream.items[at].is(K::kHash) && !stream.items[at].is(K::kOpaqueType)) return false;
  const std::size_t next = stream.next_token(at + 1);
  return next < stream.items.size() && stream.items[next].is(K::kEqual);
}

/// Index of the value of the definition that begins at `at`.
std::size_t definition_value(const TokenStream& stream, std::size_t at) {
  return stream.next_token(stream.next_token(at + 1) + 1);
}

// -- naming specs ---------------------------------------------------------------------------------

class Aliasing {
 public:
  explicit Aliasing(TokenStream& stream) : stream_(stream) {}

  void run() {
    count();
    name();
    if (definitions_.empty()) return;
    replace();
  }

 private:
  struct Spec {
    std::size_t uses = 0;
    std::string_view alias;
  };

  /// Returns the canonical text of the spec at `at`; no value if there is no spec or a comment is
  /// inside it.
  std::optional<std::string_view> spec_at(std::size_t at) {
    const StreamItem& item = stream_.items[at];
    if (item.is(K::kQuantSpec)) return item.text;
    if (!item.is(K::kQuantSpecOpen)) return std::nullopt;
    LayoutPrinter printer;
    for (std::size_t i = at; i < value_end(stream_.items, at); ++i) {
      if (stream_.items[i].role != StreamItem::Role::kToken) return std::nullopt;
      printer.token(stream_.items[i].kind, stream_.items[i].text);
    }
    return stream_.texts.copy(printer.text());
  }

  void count() {
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      if (begins_definition(stream_, at)) {
        names_.insert(stream_.items[at].text);
        at = value_end(stream_.items, definition_value(stream_, at)) - 1;
      } else if (const auto text = spec_at(at)) {
        if (specs_[*text].uses++ == 0) order_.push_back(*text);
      }
    }
  }

  void name() {
    for (const std::string_view text : order_) {
      Spec& spec = specs_[text];
      if (spec.uses < 2) continue;
      const std::string stem = alias_of_quant_spec(text);
      std::string name = stem;
      for (std::size_t n = 2; names_.contains(name); ++n) name = fmt::format("{}_{}", stem, n);
      spec.alias = stream_.texts.copy(std::string_view(name));
      names_.insert(spec.alias);
      definitions_.push_back({spec.alias, K::kHash});
      definitions_.push_back({"=", K::kEqual});
      definitions_.push_back({text, K::kQuantSpec});
    }
  }

  void replace() {
    Items result;
    result.reserve(stream_.items.size() + definitions_.size());
    bool before_module = true;
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      const StreamItem& item = stream_.items[at];
      if (begins_definition(stream_, at)) {
        const std::size_t end = value_end(stream_.items, definition_value(stream_, at));
        std::copy(stream_.items.begin() + static_cast<std::ptrdiff_t>(at),
                  stream_.items.begin() + static_cast<std::ptrdiff_t>(end),
                  std::back_inserter(result));
        at = end - 1;
        continue;
      }
      if (before_module && item.is(K::kSymbol)) {
        result.insert(result.end(), definitions_.begin(), definitions_.end());
        before_module = false;
      }
      const auto text = spec_at(at);
      const std::string_view alias = text ? specs_[*text].alias : std::string_view();
      if (alias.empty()) {
        result.push_back(item);
      } else {
        result.push_back({alias, K::kHash});
        at = value_end(stream_.items, at) - 1;
      }
    }
    stream_.items = std::move(result);
  }

  TokenStream& stream_;
  std::unordered_map<std::string_view, Spec> specs_;
  std::vector<std::string_view> order_;  // of first use
  std::unordered_set<std::string_view> names_;
  Items definitions_;
};

// -- numbering specs ------------------------------------------------------------------------------

/// Gives the specs of a scheme one alias, which states all but the uuid.
class SpecNumbering {
 public:
  SpecNumbering(TokenStream& stream, const std::vector<bool>& keeps_specs)
      : stream_(stream), keeps_specs_(keeps_specs) {}

  std::vector<bool> run() {
    count();
    name();
    return replace();
  }

 private:
  struct Scheme {
    std::size_t bytes = 0;
    std::size_t uses = 0;
    std::size_t digits = 0;
    std::string_view alias;
  };

  bool keeps_specs(std::size_t part) const {
    return part < keeps_specs_.size() && keeps_specs_[part];
  }

  /// The module that the item at hand belongs to.
  void follow(const StreamItem& item) {
    if (item.is(K::kLBrace)) ++depth_;
    if (item.is(K::kRBrace) && --depth_ == 0) ++part_;
  }

  void count() {
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      const StreamItem& item = stream_.items[at];
      follow(item);
      if (item.is(K::kHash)) names_.insert(unnumbered(item.text));
      if (begins_definition(stream_, at)) {
        at = value_end(stream_.items, definition_value(stream_, at)) - 1;
        continue;
      }
      if (!item.is(K::kQuantSpec) || keeps_specs(part_)) continue;
      const std::string_view uuid = uuid_of(item.text);
      if (uuid.empty()) continue;
      const auto [known, is_new] = schemes_.try_emplace(without_uuid(item.text));
      if (is_new) order_.push_back(known->first);
      known->second.bytes += item.text.size();
      known->second.digits += uuid.size();
      ++known->second.uses;
    }
  }

  void name() {
    for (const std::string& text : order_) {
      Scheme& scheme = schemes_[text];
      const std::string stem = alias_of_quant_spec(text);
      std::string name = stem;
      for (std::size_t n = 2; names_.contains(name); ++n) name = fmt::format("{}_{}", stem, n);
      constexpr std::size_t kAround = std::string_view(" = \n").size();
      const std::size_t short_size =
          (scheme.uses + 1) * name.size() + 2 * scheme.uses + scheme.digits + kAround + text.size();
      if (short_size >= scheme.bytes) continue;
      scheme.alias = stream_.texts.copy(std::string_view(name));
      names_.insert(scheme.alias);
      definitions_.push_back({scheme.alias, K::kHash});
      definitions_.push_back({"=", K::kEqual});
      definitions_.push_back({stream_.texts.copy(std::string_view(text)), K::kQuantSpec});
    }
  }

  /// The alias of the spec with its number; empty if it keeps its text.
  std::string_view numbered(const StreamItem& item) {
    const std::string_view uuid = item.is(K::kQuantSpec) ? uuid_of(item.text) : std::string_view();
    if (uuid.empty() || keeps_specs(part_)) return {};
    const auto scheme = schemes_.find(without_uuid(item.text));
    if (scheme == schemes_.end() || scheme->second.alias.empty()) return {};
    return stream_.texts.copy(std::string_view(fmt::format("{}({})", scheme->second.alias, uuid)));
  }

  std::vector<bool> replace() {
    part_ = depth_ = 0;
    Items result;
    result.reserve(stream_.items.size() + definitions_.size());
    std::vector<bool> changed;
    bool before_module = true;
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      const StreamItem& item = stream_.items[at];
      if (begins_definition(stream_, at)) {
        const std::size_t end = value_end(stream_.items, definition_value(stream_, at));
        result.insert(result.end(), stream_.items.begin() + static_cast<std::ptrdiff_t>(at),
                      stream_.items.begin() + static_cast<std::ptrdiff_t>(end));
        at = end - 1;
        continue;
      }
      if (before_module && item.is(K::kSymbol)) {
        result.insert(result.end(), definitions_.begin(), definitions_.end());
        before_module = false;
      }
      changed.resize(std::max(changed.size(), part_ + 1));
      const std::string_view alias = numbered(item);
      result.push_back(alias.empty() ? item : StreamItem{alias, K::kHash});
      if (!alias.empty()) changed[part_] = true;
      follow(item);
    }
    stream_.items = std::move(result);
    return changed;
  }

  TokenStream& stream_;
  const std::vector<bool>& keeps_specs_;
  std::unordered_map<std::string, Scheme> schemes_;
  std::vector<std::string> order_;  // of first use
  std::unordered_set<std::string_view> names_;
  Items definitions_;
  std::size_t part_ = 0, depth_ = 0;
};

/// True if `quant_recipe:` precedes the alias at `at` and can go. Text without quotes would go on
/// behind a comma without a key.
bool can_lose_key(const Items& items, std::size_t at) {
  if (at < 3 || !items[at].is(K::kHash) || items[at].text.find('.') != std::string_view::npos) {
    return false;
  }
  const bool has_key =
      items[at - 1].is(K::kColon) && items[at - 2].is(K::kKey) && items[at - 2].text == kRecipeKey;
  if (!has_key || items[at - 3].is(K::kLBracket)) return has_key;
  return items[at - 3].is(K::kComma) && at > 3 && !items[at - 4].is(K::kBare) &&
         !items[at - 4].is(K::kDim) && !items[at - 4].is(K::kWord);
}

// -- expanding ------------------------------------------------------------------------------------

class Expansion {
 public:
  explicit Expansion(TokenStream& stream) : stream_(stream) {}

  Result<void> run() {
    count_definitions();
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      if (begins_definition(stream_, at)) {
        definition(at);
      } else {
        item(at);
      }
      if (added_ > kMaxAddedItems) {
        return Error{diag::kLimitExceeded,
                     fmt::format("expanding the aliases adds more than {} tokens", kMaxAddedItems)};
      }
    }
    remove_definitions();
    stream_.items = std::move(result_);
    return {};
  }

 private:
  struct Definition {
    std::size_t begin;  // in result_, as all positions here
    std::size_t value;
    std::size_t end;
  };

  void count_definitions() {
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      if (begins_definition(stream_, at)) ++times_defined_[stream_.items[at].text];
    }
  }

  /// Copies the definition with its value expanded; `at` ends on its last item.
  void definition(std::size_t& at) {
    const std::string_view name = stream_.items[at].text;
    const std::size_t value = definition_value(stream_, at);
    const std::size_t end = value_end(stream_.items, value);
    const std::size_t begin = result_.size();
    for (; at < value; ++at) result_.push_back(stream_.items[at]);
    const std::size_t value_begin = result_.size();
    for (; at < end; ++at) item(at);
    --at;
    if (times_defined_[name] != 1) return;
    definitions_.emplace(name,
                         Definition{.begin = begin, .value = value_begin, .end = result_.size()});
  }

  /// Copies the item at `at`, or the value of the alias there.
  void item(std::size_t at) {
    const StreamItem& item = stream_.items[at];
    if (item.is(K::kHash) && is_item_of_list(at)) {
      result_.push_back({kRecipeKey, K::kKey});
      result_.push_back({":", K::kColon});
    }
    if (item.is(K::kHash) && is_numbered(item.text)) {
      expand_numbered(item);
      return;
    }
    if (item.is(K::kHash) || item.is(K::kOpaqueType)) {
      const auto found = definitions_.find(item.text);
      if (found != definitions_.end() && fits(result_[found->second.value].kind, at)) {
        expand(found->second);
        return;
      }
      kept_.insert(item.text);
    }
    result_.push_back(item);
    if (item.role != StreamItem::Role::kToken) return;
    if (opens_value(item.kind)) nesting_.push_back(item.kind);
    if (closes_value(item.kind) && !nesting_.empty()) nesting_.pop_back();
  }

  /// True if the alias at `at` is an item of an attribute list: a recipe without its key.
  bool is_item_of_list(std::size_t at) const {
    std::size_t before = at;
    while (before > 0 && stream_.items[before - 1].role != StreamItem::Role::kToken) --before;
    if (before == 0 || !nesting_.empty()) return false;
    const StreamItem& previous = stream_.items[before - 1];
    if (previous.is(K::kLBracket)) return true;
    // Not the encoding of a type.
    const std::size_t next = stream_.next_token(at + 1);
    return previous.is(K::kComma) && next < stream_.items.size() &&
           !stream_.items[next].is(K::kGreater);
  }

  /// Writes the spec of an alias with a number, or keeps it.
  void expand_numbered(const StreamItem& item) {
    const auto found = definitions_.find(unnumbered(item.text));
    std::string made;
    if (found != definitions_.end()) {
      LayoutPrinter printer;
      for (std::size_t i = found->second.value; i < found->second.end; ++i) {
        if (result_[i].role != StreamItem::Role::kToken) continue;
        printer.token(result_[i].kind, result_[i].text);
      }
      made = with_uuid(printer.text(), number_of(item.text));
    }
    if (made.empty()) {
      kept_.insert(unnumbered(item.text));
      result_.push_back(item);
      return;
    }
    result_.push_back({stream_.texts.copy(std::string_view(made)), K::kQuantSpec});
    added_ += 1 + made.size() / 64;
  }

  void expand(const Definition& definition) {
    for (std::size_t i = definition.value; i < definition.end && added_ <= kMaxAddedItems; ++i) {
      const StreamItem copied = result_[i];
      if (copied.role != StreamItem::Role::kToken) continue;
      result_.push_back(copied);
      ++added_;
    }
  }

  /// True if the grammar allows a value of this kind in place of the alias at `at`: an entry of an
  /// annotation takes specs only, a type's encoding takes none.
  bool fits(K value, std::size_t at) const {
    if (stream_.items[at].is(K::kOpaqueType)) return true;
    const bool spec = value == K::kQuantSpec || value == K::kQuantSpecOpen;
    if (!nesting_.empty() && nesting_.back() == K::kQuantAnnotationOpen) {
      return spec || value == K::kHash;
    }
    const std::size_t next = stream_.next_token(at + 1);
    const bool encoding = next < stream_.items.size() && stream_.items[next].is(K::kGreater);
    return !encoding || !(spec || value == K::kQuantAnnotationOpen);
  }

  void remove_definitions() {
    std::vector<bool> removed(result_.size());
    for (const auto& [name, entry] : definitions_) {
      if (kept_.contains(name)) continue;
      for (std::size_t i = entry.begin; i < entry.end; ++i) {
        removed[i] = result_[i].role == StreamItem::Role::kToken;
      }
    }
    std::size_t to = 0;
    for (std::size_t from = 0; from < result_.size(); ++from) {
      if (!removed[from]) result_[to++] = result_[from];
    }
    result_.resize(to);
  }

  static constexpr std::size_t kMaxAddedItems = std::size_t{1} << 24;

  TokenStream& stream_;
  Items result_;
  std::size_t added_ = 0;
  std::vector<K> nesting_;  // brackets open at the end of result_
  std::unordered_map<std::string_view, std::size_t> times_defined_;
  std::unordered_map<std::string_view, Definition> definitions_;
  std::unordered_set<std::string_view> kept_;
};

}  // namespace

bool opens_value(K kind) {
  return kind == K::kArrayOpen || kind == K::kDictOpen || kind == K::kQuantSpecOpen ||
         kind == K::kQuantAnnotationOpen || kind == K::kDataLParen;
}

bool closes_value(K kind) {
  return kind == K::kArrayClose || kind == K::kDictClose || kind == K::kDataRParen;
}

void alias_attributes(TokenStream& stream) {
  Aliasing(stream).run();
}

std::vector<bool> number_attributes(TokenStream& stream, const std::vector<bool>& keeps_specs) {
  return SpecNumbering(stream, keeps_specs).run();
}

std::vector<bool> leave_recipe_keys_out(TokenStream& stream, const std::vector<bool>& keeps_keys) {
  const Items& items = stream.items;
  std::vector<bool> changed;
  Items result;
  result.reserve(items.size());
  std::size_t depth = 0, part = 0;
  for (std::size_t at = 0; at < items.size(); ++at) {
    changed.resize(std::max(changed.size(), part + 1));
    const bool keeps = part < keeps_keys.size() && keeps_keys[part];
    if (!keeps && can_lose_key(items, at)) {
      result.resize(result.size() - 2);
      changed[part] = true;
    }
    result.push_back(items[at]);
    if (items[at].is(K::kLBrace)) ++depth;
    if (items[at].is(K::kRBrace) && --depth == 0) ++part;
  }
  stream.items = std::move(result);
  return changed;
}

Result<void> expand_attributes(TokenStream& stream) {
  return Expansion(stream).run();
}

}  // namespace mir

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
#include "syntax/token_stream.hpp"

namespace mir {

namespace {

using K = TokenKind;
using Items = std::vector<StreamItem>;

bool opens(K kind) {
  return kind == K::kArrayOpen || kind == K::kDictOpen || kind == K::kQuantSpecOpen ||
         kind == K::kQuantAnnotationOpen || kind == K::kDataLParen;
}

bool closes(K kind) {
  return kind == K::kArrayClose || kind == K::kDictClose || kind == K::kDataRParen;
}

/// One past the value that begins at `at`: a scalar, a type, or a bracketed list.
std::size_t value_end(const Items& items, std::size_t at) {
  if (at < items.size() && items[at].is(K::kTensor)) {
    while (at < items.size() && !items[at].is(K::kGreater)) ++at;
    return std::min(at + 1, items.size());
  }
  std::size_t depth = 0;
  for (; at < items.size(); ++at) {
    if (items[at].role != StreamItem::Role::kToken) continue;
    if (opens(items[at].kind)) ++depth;
    if (closes(items[at].kind)) --depth;
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
    if (opens(item.kind)) nesting_.push_back(item.kind);
    if (closes(item.kind) && !nesting_.empty()) nesting_.pop_back();
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

void alias_attributes(TokenStream& stream) {
  Aliasing(stream).run();
}

Result<void> expand_attributes(TokenStream& stream) {
  return Expansion(stream).run();
}

}  // namespace mir

// Gives names to types that a text repeats.
#include <fmt/format.h>

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "syntax/alias_names.hpp"
#include "syntax/token_stream.hpp"

namespace mir {

namespace {

using K = TokenKind;

/// Gives names to types that a text repeats.
class TypeAliasing {
 public:
  TypeAliasing(TokenStream& stream, const std::vector<bool>& keeps_types)
      : stream_(stream), keeps_types_(keeps_types) {}

  std::vector<bool> run() {
    count();
    name();
    return definitions_.empty() ? std::vector<bool>(parts_) : replace();
  }

 private:
  struct Counted {
    std::size_t uses = 0;
    std::string_view alias;
  };

  /// The type that the value at `at` states on its own line of tokens; empty if it has several
  /// tokens.
  std::string_view type_at(std::size_t at) const {
    const StreamItem& item = stream_.items[at];
    if (item.is(K::kTypedValue)) return item.text.substr(item.text.find(':') + 1);
    const bool is_stated = item.is(K::kType) && at > 1 && stream_.items[at - 1].is(K::kColon) &&
                           stream_.items[at - 2].is(K::kValue);
    return is_stated ? item.text : std::string_view();
  }

  bool keeps_types(std::size_t part) const {
    return part < keeps_types_.size() && keeps_types_[part];
  }

  void count() {
    std::size_t depth = 0;
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      const StreamItem& item = stream_.items[at];
      if (item.is(K::kOpaqueType)) names_.insert(item.text);
      if (item.is(K::kLBrace)) ++depth;
      if (item.is(K::kRBrace) && --depth == 0) ++parts_;
      const std::string_view type = keeps_types(parts_) ? std::string_view() : type_at(at);
      if (!type.empty() && types_[type].uses++ == 0) order_.push_back(type);
    }
  }

  /// An alias pays if its definition and its uses are shorter than the types. Its name follows from
  /// the type, so that a change of one line changes no others.
  void name() {
    for (const std::string_view type : order_) {
      Counted& counted = types_[type];
      const std::string stem = alias_of_type(type);
      std::string alias = stem;
      for (std::size_t n = 2; names_.contains(alias); ++n) alias = fmt::format("{}_{}", stem, n);
      constexpr std::size_t kAround = std::string_view(" = \n").size();
      const std::size_t short_size = (counted.uses + 1) * alias.size() + kAround + type.size();
      if (short_size >= counted.uses * type.size()) continue;
      counted.alias = stream_.texts.copy(std::string_view(alias));
      names_.insert(counted.alias);
      definitions_.push_back({counted.alias, K::kOpaqueType});
      definitions_.push_back({"=", K::kEqual});
      definitions_.push_back({type, K::kType});
    }
  }

  std::vector<bool> replace() {
    std::vector<bool> changed(parts_);
    std::vector<StreamItem> result;
    result.reserve(stream_.items.size() + definitions_.size());
    std::size_t part = 0, depth = 0;
    bool before_module = true;
    for (std::size_t at = 0; at < stream_.items.size(); ++at) {
      const StreamItem& item = stream_.items[at];
      if (before_module && item.is(K::kSymbol)) {
        result.insert(result.end(), definitions_.begin(), definitions_.end());
        before_module = false;
      }
      if (item.is(K::kLBrace)) ++depth;
      const std::string_view type = keeps_types(part) ? std::string_view() : type_at(at);
      const std::string_view alias = type.empty() ? type : types_[type].alias;
      if (alias.empty()) {
        result.push_back(item);
      } else {
        if (item.is(K::kTypedValue)) {
          result.push_back({item.text.substr(0, item.text.find(':')), K::kValue});
          result.push_back({":", K::kColon});
        }
        result.push_back({alias, K::kOpaqueType});
        changed[part] = true;
      }
      if (item.is(K::kRBrace) && --depth == 0) ++part;
    }
    stream_.items = std::move(result);
    return changed;
  }

  TokenStream& stream_;
  const std::vector<bool>& keeps_types_;
  std::unordered_map<std::string_view, Counted> types_;
  std::vector<std::string_view> order_;  // of first use
  std::unordered_set<std::string_view> names_;
  std::vector<StreamItem> definitions_;
  std::size_t parts_ = 0;  // modules
};

}  // namespace

std::vector<bool> alias_types(TokenStream& stream, const std::vector<bool>& keeps_types) {
  return TypeAliasing(stream, keeps_types).run();
}

}  // namespace mir

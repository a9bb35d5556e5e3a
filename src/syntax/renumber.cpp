// Renumbers storages, constants and quantisation specs in the order of their first appearance.
#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "support/characters.hpp"
#include "syntax/numbered_specs.hpp"
#include "syntax/token_stream.hpp"

namespace mir {

namespace {

using K = TokenKind;

constexpr std::string_view kConstantPrefix = "constant_";
constexpr std::string_view kUuidField = ", uuid=";

/// Numbers in order of first appearance.
class Numbering {
 public:
  std::uint32_t operator()(std::string_view id) {
    return map_.emplace(id, static_cast<std::uint32_t>(map_.size())).first->second;
  }
  void clear() { map_.clear(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t> map_;
};

class Renumbering {
 public:
  explicit Renumbering(TokenStream& stream) : stream_(stream) {}

  void run() {
    for (StreamItem& item : stream_.items) {
      if (item.role != StreamItem::Role::kToken) continue;
      token(item);
      before_ = {before_[1], item};
    }
  }

 private:
  void token(StreamItem& item) {
    const bool attribute = before_[1].is(K::kColon) && before_[0].is(K::kKey);
    switch (item.kind) {
      case K::kLBrace:
        ++depth_;
        break;
      case K::kRBrace:
        if (--depth_ == 0) {
          storage_.clear();
          is_portable_ = false;
        }
        break;
      case K::kKey:
        if (depth_ == 0 && item.text == "mir_version") is_portable_ = true;
        break;
      case K::kValue:
        replace(item, 1, item.text.size(), storage_);
        break;
      case K::kTypedValue:
        replace(item, 1, item.text.find(':'), storage_);
        break;
      case K::kSymbol:
        if (before_[1].is(K::kLBracketSymbol)) constant(item, 1);
        break;
      case K::kBare:
        if (attribute && before_[0].text == "symbol") constant(item, 0);
        break;
      case K::kInt:
        if (attribute && before_[0].text == "program_uuid") {
          replace(item, 0, item.text.size(), storage_);
        } else if (before_[1].is(K::kEqual) && before_[0].is(K::kWord) &&
                   before_[0].text == "uuid") {
          replace(item, 0, item.text.size(), specs_);
        }
        break;
      case K::kQuantSpec:
        quant_spec(item);
        break;
      case K::kHash:
        if (is_numbered(item.text)) {
          replace(item, item.text.find('(') + 1, item.text.size() - 1, specs_);
        }
        break;
      default:
        break;
    }
  }

  /// Dumps name a constant after its storage. Names of portable modules are their own.
  void constant(StreamItem& item, std::size_t begin) {
    if (is_portable_ || !item.text.substr(begin).starts_with(kConstantPrefix)) return;
    replace(item, begin + kConstantPrefix.size(), item.text.size(), storage_);
  }

  void quant_spec(StreamItem& item) {
    const std::size_t field = item.text.find(kUuidField);
    if (field == item.text.npos) return;
    const std::size_t begin = field + kUuidField.size();
    replace(item, begin, item.text.find_first_of(",)", begin), specs_);
  }

  /// Bytes `begin` to `end` get their new number, if they are one.
  void replace(StreamItem& item, std::size_t begin, std::size_t end, Numbering& numbering) {
    const std::string_view id = item.text.substr(begin, end - begin);
    if (!is_decimal(id)) return;
    buffer_.clear();
    fmt::format_to(std::back_inserter(buffer_), "{}{}{}", item.text.substr(0, begin), numbering(id),
                   item.text.substr(end));
    item.text = stream_.texts.copy(std::string_view(buffer_.data(), buffer_.size()));
  }

  TokenStream& stream_;
  Numbering storage_;
  Numbering specs_;
  std::int64_t depth_ = 0;
  bool is_portable_ = false;            // the module at hand
  std::array<StreamItem, 2> before_{};  // the two tokens before the current one
  fmt::memory_buffer buffer_;
};

}  // namespace

void renumber(TokenStream& stream) {
  Renumbering(stream).run();
}

}  // namespace mir

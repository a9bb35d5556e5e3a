// Replaces old spellings of devices, types and op names by current ones.
#include <algorithm>
#include <optional>
#include <string>

#include "mir/op_id.hpp"
#include "mir/tensor.hpp"
#include "support/device.hpp"
#include "syntax/layout.hpp"
#include "syntax/token_stream.hpp"
#include "syntax/token_text.hpp"

namespace mir {

namespace {

using K = TokenKind;

/// Returns `kCPU` without its prefix; no value for any other text.
std::optional<std::string_view> modern_device(std::string_view name) {
  if (!name.starts_with('k')) return std::nullopt;
  const auto found = std::ranges::find(device_names(), name.substr(1));
  if (found == device_names().end()) return std::nullopt;
  return *found;
}

std::string_view modern_dtype(std::string_view name) {
  if (!name.starts_with('k')) return name;
  const auto dtype = dtype_from_name(name);
  return dtype ? name_of(*dtype) : name;
}

/// True if the whole text is one quoted string.
bool is_string(std::string_view text) {
  if (text.size() < 2 || text.front() != '"') return false;
  std::size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return at + 1 == text.size();
}

/// True if upstream prints the op as `linalg.<device>.<name>Op`; any other name is a plug-in's.
bool is_builtin_linalg(std::string_view op) {
  if (!op.starts_with("linalg.") || !op.ends_with("Op")) return false;
  const std::string name = "linalg." + std::string(op.substr(op.rfind('.') + 1));
  return std::ranges::find(kOpNames, name) != kOpNames.end() &&
         name != name_of(OpId::kLinalgCustomized);
}

class Modernizing {
 public:
  explicit Modernizing(TokenStream& stream) : stream_(stream) {}

  void run() {
    items_.reserve(stream_.items.size() + stream_.items.size() / 8);
    for (at_ = 0; at_ < stream_.items.size(); ++at_) {
      const StreamItem& item = stream_.items[at_];
      if (item.role == StreamItem::Role::kToken) {
        token(item);
        previous_ = item.kind;
      } else {
        items_.push_back(item);
      }
    }
    stream_.items = std::move(items_);
  }

 private:
  void token(const StreamItem& item) {
    switch (item.kind) {
      case K::kOpName:
        op_name(item);
        break;
      case K::kSymbol:
        if (previous_ == K::kOpName) symbol_ = item.text;
        put(item);
        break;
      case K::kAngle:
        angle(item);
        break;
      case K::kNameSquare:
        name(item);
        break;
      case K::kTypedValue:
      case K::kType:
        put({type(item.text), item.kind});
        break;
      case K::kShapeClose:
        put(item);
        type_words_ = 0;
        break;
      case K::kWord:
        has_symbol_ |= in_head_ && item.text == "*";  // which stands for it
        word(item);
        break;
      case K::kNoneOpen:
        put({"None", K::kWord});
        empty_parentheses();
        break;
      case K::kKey:
        has_symbol_ |= item.text == "symbol";
        put(item);
        break;
      case K::kLBracket:
      case K::kLBracketSymbol:
      case K::kLBracketBlock:
        open_block_ = items_.size();
        put(item);
        break;
      case K::kRBracket:
        if (in_head_) head_close_ = items_.size();
        put(item);
        end_block();
        break;
      case K::kLParen:
      case K::kRBrace:
        in_head_ = false;
        put(item);
        break;
      case K::kLBrace:
        if (in_head_ && op_ == "graph.SubGraphOp" && !symbol_.empty() && !has_symbol_) {
          add_symbol();
        }
        in_head_ = false;
        put(item);
        break;
      default:
        put(item);
        break;
    }
  }

  void put(StreamItem item) { items_.push_back(item); }

  std::string_view keep(std::string_view text) { return stream_.texts.copy(text); }

  bool next_is(K kind) const {
    const std::size_t next = stream_.next_token(at_ + 1);
    return next < stream_.items.size() && stream_.items[next].is(kind);
  }

  // -- heads --------------------------------------------------------------------------------------

  void op_name(const StreamItem& item) {
    op_ = modern_op(item.text);
    symbol_ = {};
    in_head_ = true;
    has_symbol_ = false;
    head_close_ = 0;
    put({op_, item.kind});
    if (op_ == "prog.exit" && !next_is(K::kLParen)) {
      put({"(", K::kLParen});
      put({")", K::kRParen});
      put({"->", K::kArrow});
      put({"(", K::kLParen});
      put({")", K::kRParen});
    }
  }

  /// `linalg.kCPU.LLMEmbeddingTokenOp` to `linalg.CPU.EmbeddingOp`.
  std::string_view modern_op(std::string_view op) {
    const std::size_t first = op.find('.');
    const std::size_t second = op.find('.', first + 1);
    if (second == op.npos) return op;
    const std::string_view device = op.substr(first + 1, second - first - 1);
    const std::string_view mnemonic = op.substr(second + 1);
    const auto modern = modern_device(device);
    const std::string_view dialect = op.substr(0, first + 1);
    const auto alias = std::ranges::find_if(kOpAliases, [&](const OpAlias& each) {
      return each.name.starts_with(dialect) && each.name.substr(first + 1) == mnemonic;
    });
    const bool renamed = alias != kOpAliases.end();
    if (!modern && !renamed) return op;
    std::string text(dialect);
    text.append(modern.value_or(device)).append(1, '.');
    text.append(renamed ? name_of(alias->op).substr(first + 1) : mnemonic);
    return keep(text);
  }

  void angle(const StreamItem& item) {
    const std::string text = canonical_text(item.kind, item.text);
    const auto device = modern_device(std::string_view(text).substr(1, text.size() - 2));
    put(device ? StreamItem{keep("<" + std::string(*device) + ">"), item.kind} : item);
  }

  void name(const StreamItem& item) {
    if (!is_builtin_linalg(op_)) {
      put(item);
      return;
    }
    std::string text = canonical_text(item.kind, item.text);
    text.front() = '<';
    text.back() = '>';
    put({keep(text), K::kNameAngle});
  }

  /// Gives the subgraph whose `{` comes next the attribute that upstream prints today.
  void add_symbol() {
    std::string_view name = symbol_;
    name.remove_prefix(1);
    K kind = K::kBare;
    if (is_string(name)) {
      kind = K::kString;
    } else if (!name.empty() && !is_plain_name(name)) {
      // A quote in the unquoted symbol would pair with those of the attribute.
      if (name.find('"') != name.npos) return;
      kind = K::kString;
      name = keep(quoted(name));
    }
    const StreamItem attribute[] = {{"symbol", K::kKey}, {":", K::kColon}, {name, kind}};
    if (head_close_ == 0) {
      put({"[", K::kLBracket});
      items_.insert(items_.end(), std::begin(attribute), std::end(attribute));
      put({"]", K::kRBracket});
      return;
    }
    const bool first = items_[head_close_ - 1].is(K::kLBracket);
    const auto close = items_.begin() + static_cast<std::ptrdiff_t>(head_close_);
    const auto at = items_.insert(close, std::begin(attribute), std::end(attribute));
    if (!first) items_.insert(at, {",", K::kComma});
  }

  static std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '\\') result += c;
      result += c;
    }
    return result += '"';
  }

  // -- values and specs ---------------------------------------------------------------------------

  /// `tensor<[1], kFp32, kCPU>`, possibly after a value's name, to today's names.
  std::string_view type(std::string_view text) {
    if (text.find(", k") == text.npos) return text;
    const std::string_view before_device = text.substr(0, text.rfind(", "));
    const std::size_t dtype = before_device.rfind(", ") + 2;
    std::string_view device = text.substr(before_device.size() + 2);
    device.remove_suffix(1);
    std::string result(text.substr(0, dtype));
    result.append(modern_dtype(before_device.substr(dtype))).append(", ");
    result.append(modern_device(device).value_or(device)).append(">");
    return keep(result);
  }

  void word(const StreamItem& item) {
    switch (type_words_++) {
      case 0:
        put({modern_dtype(item.text), item.kind});
        return;
      case 1:
        put({modern_device(item.text).value_or(item.text), item.kind});
        return;
      default:
        put(item);
    }
    if (previous_ == K::kQuantSpecOpen && item.text == "None" &&
        (next_is(K::kComma) || next_is(K::kDataRParen))) {
      empty_parentheses();
    }
  }

  void empty_parentheses() {
    put({"(", K::kDataLParen});
    put({")", K::kDataRParen});
  }

  /// A constant printed twice in a row is printed once.
  void end_block() {
    const auto begin = items_.begin() + static_cast<std::ptrdiff_t>(open_block_);
    const auto length = static_cast<std::size_t>(items_.end() - begin);
    const bool constant = begin->is(K::kLBracket) && length > 1 && begin[1].is(K::kKey) &&
                          begin[1].text == "constant";
    const bool repeated =
        constant && block_end_ == open_block_ && length <= open_block_ &&
        std::equal(begin, items_.end(), begin - static_cast<std::ptrdiff_t>(length));
    if (repeated) items_.resize(open_block_);
    block_end_ = items_.size();
  }

  TokenStream& stream_;
  std::vector<StreamItem> items_;
  std::size_t at_ = 0;
  K previous_ = K::kEnd;
  // The operation whose head or lists are being read.
  std::string_view op_;
  std::string_view symbol_;
  bool in_head_ = false;
  bool has_symbol_ = false;
  std::size_t head_close_ = 0;  // its `]` in items_, 0: none
  // End of the last bracketed block, where the next begins.
  std::size_t block_end_ = 0;
  std::size_t open_block_ = 0;
  std::uint32_t type_words_ = 2;  // words since the shape of a type
};

}  // namespace

void modernize(TokenStream& stream) {
  Modernizing(stream).run();
}

}  // namespace mir

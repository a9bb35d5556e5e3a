// Kinds of words, for colours.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>
#include <utility>

#include "lsp/features.hpp"
#include "lsp/words.hpp"
#include "syntax/gaps.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

enum class Word : std::uint8_t {
  kNamespace,
  kFunction,
  kVariable,
  kType,
  kProperty,
  kString,
  kNumber,
  kKeyword,
  kEnumMember,
  kComment,
  kMacro,
  kOperator,
};
constexpr const char* kLegend[] = {"namespace",  "function", "variable", "type",
                                   "property",   "string",   "number",   "keyword",
                                   "enumMember", "comment",  "macro",    "operator"};

std::optional<Word> word_of(TokenKind kind) {
  using enum TokenKind;
  switch (kind) {
    case kSymbol:
      return Word::kNamespace;
    case kOpName:
      return Word::kFunction;
    case kLabel:
    case kBlockName:
      return Word::kEnumMember;
    case kAddress:
    case kLoc:
      return Word::kComment;
    case kAngle:
    case kTrue:
    case kFalse:
    case kNull:
    case kInvalid:
      return Word::kKeyword;
    case kNameAngle:
    case kNameSquare:
    case kString:
    case kBare:
      return Word::kString;
    case kArrow:
      return Word::kOperator;
    case kTypedValue:
    case kValue:
      return Word::kVariable;
    case kType:
    case kTensor:
    case kOpaqueType:
      return Word::kType;
    case kDim:
    case kInt:
    case kFloat:
      return Word::kNumber;
    case kWord:
      return Word::kEnumMember;
    case kKey:
      return Word::kProperty;
    case kHash:
    case kQuantSpec:
    case kQuantSpecOpen:
    case kQuantAnnotationOpen:
    case kNoneOpen:
      return Word::kMacro;
    default:
      return std::nullopt;
  }
}

/// The five numbers of a token.
using Numbers = std::array<std::uint32_t, 5>;

/// Passes words on, in the order of the text.
template <class Take>
class Words {
 public:
  Words(const View& view, Span in, const Take& take) : view_(view), in_(in), take_(take) {}

  void add(Span at, Word word) {
    if (at.end <= in_.begin || at.begin >= in_.end) return;
    // A word over several lines is one for each line.
    const std::string_view text = view_.text(at);
    std::size_t begin = 0;
    while (begin < text.size()) {
      const std::size_t end = std::min(text.find_first_of("\r\n", begin), text.size());
      if (end != begin) {
        put(at.begin + static_cast<SourcePos>(begin), text.substr(begin, end - begin), word);
      }
      begin = end + 1;
    }
  }

  void token(TokenKind kind, Span at) {
    const auto word = word_of(kind);
    if (!word) return;
    if (kind != TokenKind::kTypedValue) return add(at, *word);
    const auto colon = static_cast<SourcePos>(view_.text(at).find(':'));
    add({at.begin, at.begin + colon}, Word::kVariable);
    add({at.begin + colon + 1, at.end}, Word::kType);
  }

 private:
  void put(SourcePos begin, std::string_view text, Word word) {
    const Position at = view_.document.position_of(begin);
    take_(Numbers{at.line - last_.line,
                  at.line == last_.line ? at.column - last_.column : at.column,
                  units_of(text, view_.document.encoding()), static_cast<std::uint32_t>(word), 0});
    last_ = at;
  }

  const View& view_;
  Span in_;
  const Take& take_;
  Position last_;
};

template <class Take>
void for_each_semantic_token(const View& view, Span in, const Take& take) {
  Words words(view, in, take);
  const std::string_view text = view.now().text();
  const auto place = [&](std::string_view part) {
    const auto begin = Document::kBase + static_cast<SourcePos>(part.data() - text.data());
    return Span{begin, begin + static_cast<SourcePos>(part.size())};
  };
  bool at_start = true;
  const auto comments = [&](std::string_view gap) {
    if (gap.size() > 1 && place(gap).end > in.begin && place(gap).begin < in.end) {
      for_each_comment(gap, at_start, [&](std::string_view comment, bool) {
        if (comment.starts_with("//")) words.add(place(comment), Word::kComment);
      });
    }
    at_start = false;
  };
  for_each_token(
      view.now().tree(),
      [&](std::string_view gap, TokenKind kind, std::string_view token) {
        view.check_stop();
        comments(gap);
        const Span at = place(token);
        if (at.end <= in.begin || at.begin >= in.end) return;
        if (kind == TokenKind::kError) {
          scan_words(view, at, [&](TokenKind is, Span span) { words.token(is, span); });
        } else {
          words.token(kind, at);
        }
      },
      comments);
}

constexpr std::size_t kJsonBytes = 12;  // of most tokens in an answer

bool covers_text(const View& view, Span in) {
  return in.begin <= Document::kBase && in.end - Document::kBase >= view.now().text().size();
}

/// Tokens of the tree: about as many as semantic tokens.
std::size_t token_count(const View& view) {
  std::size_t count = 0;
  for (const Unit& unit : view.now().tree().units()) count += unit.tokens().size();
  return count;
}

/// Appends numbers, each followed by a comma.
void append_numbers(std::string& json, std::span<const std::uint32_t> numbers) {
  for (const std::uint32_t number : numbers) {
    const fmt::format_int digits(number);
    json.append(digits.data(), digits.size());
    json += ',';
  }
}

/// Ends an array of numbers.
void end_numbers(std::string& json) {
  if (json.back() == ',') json.pop_back();
  json += ']';
}

}  // namespace

Json semantic_token_legend() {
  return {{"tokenTypes", kLegend}, {"tokenModifiers", Json::array()}};
}

std::vector<std::uint32_t> semantic_tokens(const View& view, Span in) {
  std::vector<std::uint32_t> data;
  // A vector that grows holds its elements twice. Memory that is not written takes no pages.
  if (covers_text(view, in)) data.reserve(std::tuple_size_v<Numbers> * token_count(view));
  for_each_semantic_token(
      view, in, [&](const Numbers& token) { data.insert(data.end(), token.begin(), token.end()); });
  return data;
}

void append_semantic_tokens(std::string& json, const View& view, Span in) {
  if (covers_text(view, in)) json.reserve(json.size() + kJsonBytes * token_count(view));
  json += '[';
  for_each_semantic_token(view, in, [&](const Numbers& token) { append_numbers(json, token); });
  end_numbers(json);
}

void append_semantic_tokens(std::string& json, std::span<const std::uint32_t> tokens) {
  json.reserve(json.size() + kJsonBytes * tokens.size() / std::tuple_size_v<Numbers>);
  json += '[';
  append_numbers(json, tokens);
  end_numbers(json);
}

Json token_edits(std::span<const std::uint32_t> before, std::span<const std::uint32_t> now) {
  const auto [old_end, new_end] = std::ranges::mismatch(before, now);
  const auto begin = static_cast<std::size_t>(old_end - before.begin());
  if (begin == before.size() && begin == now.size()) return Json::array();
  std::size_t tail = 0;
  while (tail < before.size() - begin && tail < now.size() - begin &&
         before[before.size() - tail - 1] == now[now.size() - tail - 1]) {
    ++tail;
  }
  return Json::array({{{"start", begin},
                       {"deleteCount", before.size() - tail - begin},
                       {"data", now.subspan(begin, now.size() - tail - begin)}}});
}

}  // namespace mir::lsp

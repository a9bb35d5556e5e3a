// Translates regular expressions from Oniguruma's syntax to that of PCRE2.
#include "tokenizer/regex_syntax.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "mir/codes/tokenizers.hpp"
#include "support/characters.hpp"
#include "tokenizer/code_points.hpp"

namespace mir::tokenizer {
namespace {

/// White space is listed: PCRE2 counts U+180E as such.
constexpr std::string_view kSpaces =
    R"(\t-\r\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
/// All other code points.
constexpr std::string_view kNoSpaces =
    R"(\x{0}-\x{8}\x{E}-\x{1F}\x{21}-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF})"
    R"(\x{200B}-\x{2027}\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{D7FF})"
    R"(\x{E000}-\x{10FFFF})";
/// Letters in circles and squares, which are word characters.
#define MIR_CIRCLED_LETTERS \
  R"(\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169}\x{1F170}-\x{1F189})"
/// Word characters with marks and connectors. In a class, Oniguruma leaves out other numbers.
constexpr std::string_view kWords = R"(\p{L}\p{M}\p{N}\p{Pc})" MIR_CIRCLED_LETTERS;
constexpr std::string_view kWordsInClass = R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc})" MIR_CIRCLED_LETTERS;
#undef MIR_CIRCLED_LETTERS
constexpr std::string_view kHexDigits = "0-9A-Fa-f";

/// Names of categories that PCRE2 knows by their letters alone, as squashed() spells them.
constexpr std::pair<std::string_view, std::string_view> kCategories[] = {
    {"letter", "L"},
    {"uppercaseletter", "Lu"},
    {"lowercaseletter", "Ll"},
    {"titlecaseletter", "Lt"},
    {"casedletter", "L&"},
    {"modifierletter", "Lm"},
    {"otherletter", "Lo"},
    {"mark", "M"},
    {"combiningmark", "M"},
    {"nonspacingmark", "Mn"},
    {"spacingmark", "Mc"},
    {"enclosingmark", "Me"},
    {"number", "N"},
    {"decimalnumber", "Nd"},
    {"letternumber", "Nl"},
    {"othernumber", "No"},
    {"punctuation", "P"},
    {"connectorpunctuation", "Pc"},
    {"dashpunctuation", "Pd"},
    {"openpunctuation", "Ps"},
    {"closepunctuation", "Pe"},
    {"initialpunctuation", "Pi"},
    {"finalpunctuation", "Pf"},
    {"otherpunctuation", "Po"},
    {"symbol", "S"},
    {"mathsymbol", "Sm"},
    {"currencysymbol", "Sc"},
    {"modifiersymbol", "Sk"},
    {"othersymbol", "So"},
    {"separator", "Z"},
    {"spaceseparator", "Zs"},
    {"lineseparator", "Zl"},
    {"paragraphseparator", "Zp"},
    {"other", "C"},
    {"control", "Cc"},
    {"format", "Cf"},
    {"surrogate", "Cs"},
    {"privateuse", "Co"},
    {"unassigned", "Cn"},
    {"any", "Any"},
};

/// A class in brackets: one list of items, or the intersection of several operands.
struct CharacterClass {
  bool is_negated = false;
  std::string items;
  std::vector<std::string> operands;

  /// An expression that matches one code point.
  std::string text() const {
    if (operands.empty()) return fmt::format("[{}{}]", is_negated ? "^" : "", items);
    std::string all;
    for (const std::string& operand : operands) all += fmt::format("(?={})", operand);
    return is_negated ? fmt::format("(?:(?!{})(?s:.))", all) : fmt::format("(?:{}(?s:.))", all);
  }
};

class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  Result<std::string> run() {
    while (at_ < text_.size() && problem_.empty()) step();
    if (!problem_.empty()) return Error{diag::kTokenizerUnsupported, std::move(problem_)};
    return std::move(out_);
  }

 private:
  bool looks_at(std::string_view part) const { return text_.substr(at_).starts_with(part); }

  void fail(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  void step() {
    const char c = text_[at_];
    if (c == '\\') {
      escape_outside();
    } else if (c == '[') {
      ++at_;
      out_ += read_class(0).text();
    } else if (looks_at("(*")) {
      fail(fmt::format("'(*' at byte {} is not supported in a regular expression", at_));
    } else if (looks_at("(?")) {
      group();
    } else if (looks_at("{,")) {
      at_ += 1;
      out_ += "{0";
    } else {
      out_ += c;
      ++at_;
    }
  }

  /// Options have other letters: what Oniguruma calls m is PCRE2's s.
  void group() {
    out_ += "(?";
    at_ += 2;
    std::size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || text_[end] == '-')) ++end;
    const bool is_options = end < text_.size() && (text_[end] == ':' || text_[end] == ')');
    if (!is_options) return;
    for (; at_ < end; ++at_) {
      const char letter = text_[at_];
      if (letter == 'i' || letter == 'x' || letter == '-') {
        out_ += letter;
      } else if (letter == 'm') {
        out_ += 's';
      } else {
        fail(fmt::format("option '{}' at byte {} is not supported in a regular expression", letter,
                         at_));
      }
    }
  }

  void escape_outside() {
    const auto name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (auto items = class_items(false)) {
      out_ += fmt::format("[{}]", *items);
      return;
    }
    at_ += 2;
    switch (name) {
      case 'W':
        out_ += fmt::format("[^{}]", kWords);
        return;
      case 'H':
        out_ += fmt::format("[^{}]", kHexDigits);
        return;
      case 'b':
        out_ += fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWords);
        return;
      case 'B':
        out_ += fmt::format("(?:(?<=[{0}])(?=[{0}])|(?<![{0}])(?![{0}]))", kWords);
        return;
      default:
        at_ -= 2;
        plain_escape();
    }
  }

  /// Copies an escape that means the same in both syntaxes.
  void plain_escape() { out_ += plain_escape_text(); }
  std::string plain_escape_text() {
    const std::size_t begin = at_++;
    if (at_ == text_.size()) return "\\";
    const std::uint32_t size = code_point_size(text_[at_]);
    at_ += size;
    if (size > 1) return std::string(text_.substr(begin + 1, size));
    if (text_[begin + 1] != 'u') return std::string(text_.substr(begin, 2));
    std::string digits;
    while (digits.size() < 4 && at_ < text_.size()) digits += text_[at_++];
    return fmt::format("\\x{{{}}}", digits);
  }

  /// Items of a class for an escape that stands for several code points; no value for another.
  std::optional<std::string> class_items(bool is_in_class) {
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    const auto take = [&](std::string_view items) {
      at_ += 2;
      return std::optional<std::string>(items);
    };
    switch (name) {
      case 's':
        return take(kSpaces);
      case 'S':
        return take(kNoSpaces);
      case 'w':
        return take(is_in_class ? kWordsInClass : kWords);
      case 'h':
        return take(kHexDigits);
      case 'd':
        return take("\\p{Nd}");
      case 'D':
        return take("\\P{Nd}");
      case 'p':
      case 'P':
        return property(name == 'P');
      default:
        return std::nullopt;
    }
  }

  std::optional<std::string> property(bool is_negated) {
    const std::size_t begin = at_;
    at_ += 2;
    if (!looks_at("{")) {
      if (at_ == text_.size()) return std::string(text_.substr(begin));
      return fmt::format("\\{}{{{}}}", is_negated ? 'P' : 'p', text_[at_++]);
    }
    const std::size_t end = text_.find('}', at_);
    if (end == text_.npos) {
      fail(fmt::format("the property at byte {} has no '}}'", begin));
      return std::string();
    }
    std::string_view name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    if (name.starts_with('^')) {
      is_negated = !is_negated;
      name.remove_prefix(1);
    }
    const char letter = is_negated ? 'P' : 'p';
    const std::string plain = squashed(name);
    if (plain == "whitespace" || plain == "space")
      return std::string(is_negated ? kNoSpaces : kSpaces);
    const auto* const row =
        std::ranges::find_if(kCategories, [&](const auto& each) { return each.first == plain; });
    if (row != std::end(kCategories)) return fmt::format("\\{}{{{}}}", letter, row->second);
    if (name.size() <= 2) return fmt::format("\\{}{{{}}}", letter, name);
    return fmt::format("\\{}{{sc:{}}}", letter, name);
  }

  /// Reads a class after its `[`.
  CharacterClass read_class(int depth) {
    constexpr int kDeepest = 16;
    CharacterClass result;
    if (depth == kDeepest) {
      fail(fmt::format("classes of a regular expression are nested over {} deep", kDeepest));
      return result;
    }
    if (looks_at("^")) {
      result.is_negated = true;
      ++at_;
    }
    bool is_first = true;
    std::vector<std::string> operands;
    for (; problem_.empty(); is_first = false) {
      if (at_ == text_.size()) {
        fail("a class of a regular expression has no ']'");
      } else if (text_[at_] == ']' && !is_first) {
        ++at_;
        break;
      } else if (looks_at("&&")) {
        at_ += 2;
        operands.push_back(fmt::format("[{}]", std::exchange(result.items, {})));
      } else if (looks_at("[:") && text_.find(":]", at_) != text_.npos) {
        result.items += posix_class();
      } else if (text_[at_] == '[') {
        ++at_;
        const CharacterClass inner = read_class(depth + 1);
        if (inner.operands.empty() && !inner.is_negated) {
          result.items += inner.items;
        } else if (result.items.empty() && (looks_at("&&") || looks_at("]"))) {
          operands.push_back(inner.text());
          if (looks_at("&&")) at_ += 2;
        } else {
          fail(fmt::format("a negated class in a class at byte {} is not supported", at_));
        }
      } else if (text_[at_] == '\\') {
        result.items += escape_in_class();
      } else {
        if (text_[at_] == ']') result.items += '\\';
        const std::uint32_t size = code_point_size(text_[at_]);
        result.items += text_.substr(at_, size);
        at_ += size;
      }
    }
    if (!operands.empty()) {
      if (!result.items.empty()) operands.push_back(fmt::format("[{}]", result.items));
      result.operands = std::move(operands);
    }
    return result;
  }

  std::string posix_class() {
    const std::size_t end = text_.find(":]", at_) + 2;
    const std::string_view name = text_.substr(at_, end - at_);
    at_ = end;
    if (name == "[:space:]") return std::string(kSpaces);
    if (name == "[:^space:]") return std::string(kNoSpaces);
    if (name == "[:word:]") return std::string(kWordsInClass);
    return std::string(name);
  }

  std::string escape_in_class() {
    if (auto items = class_items(true)) return *std::move(items);
    const char name = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
    if (name == 'W' || name == 'H') {
      fail(fmt::format("'\\{}' in a class at byte {} is not supported", name, at_));
      return {};
    }
    return plain_escape_text();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string out_;
  std::string problem_;
};

}  // namespace

Result<std::string> pcre2_syntax(std::string_view expression) {
  return Translator(expression).run();
}

}  // namespace mir::tokenizer

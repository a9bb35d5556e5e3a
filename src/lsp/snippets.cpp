// Makes snippets of the examples that rows of ops have.
#include "lsp/snippets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "dialects/op_facts.hpp"
#include "dialects/operand_names.hpp"
#include "passes/names/roles.hpp"
#include "support/characters.hpp"
#include "syntax/lexer.hpp"

namespace mir::lsp {

namespace {

std::string escaped(std::string_view text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != special.npos) out += '\\';
    out += c;
  }
  return out;
}

/// A value that an attribute may have by its type.
std::string_view example_value(const AttrRow& row) {
  switch (row.type) {
    case AttrType::kBool:
      return "false";
    case AttrType::kString:
      return "\"text\"";
    case AttrType::kSymbolRef:
      return "@name";
    case AttrType::kDims:
    case AttrType::kInts:
      return "[1]";
    case AttrType::kSlices:
      return "[{}]";
    case AttrType::kMaps:
      return "[[]]";
    case AttrType::kMap:
      return "[]";
    case AttrType::kTypes:
      return "[tensor<[1], Float32, CPU>]";
    case AttrType::kType:
      return "tensor<[1], Float32, CPU>";
    case AttrType::kDict:
      return "{}";
    case AttrType::kDType:
      return "Float32";
    case AttrType::kDevice:
      return "CPU";
    default:
      return "0";
  }
}

/// An op of a row without an example: that many operands and results as it has at least.
std::string example_of(const OpRow& row, std::string_view name, const IRContext& rows) {
  std::string attributes;
  for (const AttrRow& each : row.attributes) {
    if (!each.required && each.choices.empty()) continue;
    const std::string_view value =
        each.choices.empty() ? example_value(each) : std::string_view(each.choices.front());
    attributes += fmt::format("{}{}:{}", attributes.empty() ? "" : ", ", each.name, value);
  }
  if (!attributes.empty()) attributes = fmt::format(" [{}]", attributes);
  const Dialect* dialect = rows.find_dialect(name.substr(0, name.find('.')));
  const bool is_before = dialect != nullptr && dialect->attributes == AttrPosition::kBeforeOperands;
  const auto values = [](std::uint32_t first, std::uint32_t count) {
    std::string list;
    for (std::uint32_t i = 0; i < count; ++i) {
      list += fmt::format("{}%{}:tensor<[2], Float32, CPU>", i == 0 ? "" : ", ", first + i);
    }
    return list;
  };
  const std::string layer = row.weights.empty() ? "" : " <name=\"layer\">";
  return fmt::format("{}{}{} ({}) -> ({}){}", name, layer, is_before ? attributes : "",
                     values(0, row.operands.min), values(row.operands.min, row.results.min),
                     is_before ? "" : attributes);
}

struct ExampleWord {
  TokenKind kind;
  std::string_view text;
};

class SnippetWriter {
 public:
  SnippetWriter(IRContext& rows, const OpRow& row, std::string_view name, const SnippetForm& form)
      : rows_(rows),
        first_(row),
        name_(name),
        form_(form),
        file_("row", std::string(row.example), 1) {
    Diagnostics ignored(1);
    Lexer lexer(file_, ignored);
    while (true) {
      const TokenKind kind = lexer.next();
      if (kind == TokenKind::kEnd || kind == TokenKind::kError) return;
      words_.push_back(
          {kind, {lexer.begin(), static_cast<std::size_t>(lexer.end() - lexer.begin())}});
    }
  }

  std::string run() {
    for (at_ = 0; at_ < words_.size();) write_word();
    return std::move(text_);
  }

 private:
  static constexpr std::string_view kSpecial = "\\$}", kSpecialInChoices = "\\$},|";

  void write_word() {
    using enum TokenKind;
    const ExampleWord& here = words_[at_];
    switch (here.kind) {
      case kOpName:
        return begin_op();
      case kArrow:
        has_arrow_ = true;
        return copy();
      case kLBrace:
        in_signature_ = false;
        copy();
        ++depth_;
        return;
      case kRBrace:
        --depth_;
        return copy();
      case kLParen:
        if (is_after(kLBrace) || is_after(kRBrace)) {
          in_signature_ = true;
          has_arrow_ = false;
        }
        index_ = 0;
        ++lists_;
        return copy();
      case kRParen:
        --lists_;
        return copy();
      case kLBracketBlock:
        in_successors_ = true;
        return copy();
      case kTypedValue:
      case kValue:
        return value();
      case kLBracket:
        return lists_ == 0 ? attributes() : value_attributes();
      case kNameAngle:
      case kNameSquare:
        return layer();
      case kSymbol:
        gap();
        text_ += '@' + named(here.text, here.text.substr(1));
        ++at_;
        return;
      case kBlockName:
        gap();
        text_ += '^' + named(here.text, here.text.substr(1));
        ++at_;
        return;
      default:
        return copy();
    }
  }

  bool is_after(TokenKind kind) const { return at_ != 0 && words_[at_ - 1].kind == kind; }

  /// Writes the blanks between the word before and this one: ops and braces begin lines in bodies.
  void gap() {
    using enum TokenKind;
    if (at_ == 0 || is_gap_done_ == at_) return;
    is_gap_done_ = at_;
    const ExampleWord& here = words_[at_];
    const bool is_line =
        here.kind == kOpName || here.kind == kRBrace || is_after(kLBrace) || is_after(kRBrace);
    if (is_line) {
      constexpr std::size_t kIndentation = 4;
      text_ += '\n' + std::string(kIndentation * depth_, ' ');
      return;
    }
    const char* const end = words_[at_ - 1].text.data() + words_[at_ - 1].text.size();
    text_.append(end, static_cast<std::size_t>(here.text.data() - end));
  }

  void copy() {
    gap();
    text_ += escaped(words_[at_].text, "\\$");
    ++at_;
  }

  void begin_op() {
    gap();
    const bool is_first = at_ == 0;
    const OpName op = rows_.op_name(words_[at_].text);
    row_ = is_first ? &first_ : op.info->row.get();
    text_ += is_first ? std::string(name_) : std::string(words_[at_].text);
    result_word_ = word_for_results(op.info->mnemonic, is_first ? first_layer() : "", "");
    operand_names_ = operand_names(*op.info, op.kind);
    has_arrow_ = in_signature_ = in_successors_ = false;
    operand_count_ = 0;
    for (std::size_t i = at_ + 1; i < words_.size(); ++i) {
      const TokenKind kind = words_[i].kind;
      if (kind == TokenKind::kArrow || kind == TokenKind::kOpName) break;
      operand_count_ += kind == TokenKind::kTypedValue || kind == TokenKind::kValue ? 1 : 0;
    }
    ++at_;
  }

  std::string_view first_layer() const {
    return form_.layers.empty() || first_.weights.empty() ? std::string_view()
                                                          : std::string_view(form_.layers.front());
  }

  // -- places ------------------------------------------------------------------------------------

  std::string place(std::string_view text) {
    return fmt::format("${{{}:{}}}", ++last_place_, escaped(text, kSpecial));
  }

  /// The first of the choices is what the snippet has before the user chooses.
  std::string choice(const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& each : words) {
      list += (list.empty() ? "" : ",") + escaped(each, kSpecialInChoices);
    }
    return fmt::format("${{{}|{}|}}", ++last_place_, list);
  }

  /// A place that is repeated where the example repeats `what`.
  std::string named(std::string_view what, std::string_view text) {
    const auto found = places_.find(what);
    if (found != places_.end()) return fmt::format("${{{}}}", found->second);
    std::string made = place(text);
    places_.emplace(what, last_place_);
    return made;
  }

  std::string unused(std::string word) {
    const std::string base = word;
    for (int i = 1; !used_.insert(word).second; ++i) word = fmt::format("{}{}", base, i);
    return word;
  }

  /// The name of the value that is mentioned here for the first time.
  std::string value_word(std::string_view name) {
    if (in_signature_ || in_successors_) {
      const bool is_number = std::ranges::all_of(name, is_digit);
      return unused(is_number ? "x" : std::string(name));
    }
    if (!has_arrow_) return unused(operand_names_.at(index_, operand_count_));
    return unused(form_.fresh ? form_.fresh(result_word_) : result_word_);
  }

  void value() {
    gap();
    const std::string_view text = words_[at_].text;
    const auto colon = std::min(text.find(':'), text.size());
    const std::string_view name = text.substr(1, colon - 1);
    const std::string_view type = text.substr(std::min(colon + 1, text.size()));
    const bool is_new = !places_.contains(text.substr(0, colon));
    text_ += '%' + named(text.substr(0, colon), is_new ? value_word(name) : std::string());
    const bool is_result = has_arrow_ && !in_signature_ && !in_successors_;
    const bool has_rule = row_ != nullptr && row_->infer != nullptr;
    const bool is_stated =
        is_new && (in_signature_ ? !has_arrow_ : is_result && !has_rule);  // nothing else tells
    if (!type.empty() && (form_.has_types || is_stated)) text_ += ':' + named(text, type);
    ++index_;
    ++at_;
  }

  void layer() {
    gap();
    const std::string_view text = words_[at_].text;
    const auto begin = text.find('"') + 1, end = text.rfind('"');
    text_ += text.substr(0, begin);
    const std::vector<std::string> layers(form_.layers.begin(), form_.layers.end());
    text_ += layers.size() > 1 ? choice(layers)
                               : place(layers.empty() ? text.substr(begin, end - begin)
                                                      : std::string_view(layers.front()));
    text_ += text.substr(end);
    ++at_;
  }

  // -- attributes --------------------------------------------------------------------------------

  /// Returns how a word changes the depth of lists in the value of an attribute.
  static int nesting(TokenKind kind) {
    using enum TokenKind;
    switch (kind) {
      case kArrayOpen:
      case kDictOpen:
      case kShapeOpen:
      case kLess:
      case kQuantSpecOpen:
      case kQuantAnnotationOpen:
      case kDataLParen:
        return 1;
      case kArrayClose:
      case kDictClose:
      case kShapeClose:
      case kGreater:
      case kDataRParen:
        return -1;
      default:
        return 0;
    }
  }

  /// Returns the value that begins with the next word, and moves past it.
  std::string_view attribute_value() {
    using enum TokenKind;
    int depth = 0;
    const std::size_t first = at_;
    for (; at_ < words_.size(); ++at_) {
      const TokenKind kind = words_[at_].kind;
      if (depth == 0 && (kind == kComma || kind == kRBracket)) break;
      depth += nesting(kind);
    }
    if (at_ == first) return {};
    const std::string_view last = words_[at_ - 1].text;
    const char* const begin = words_[first].text.data();
    return {begin, static_cast<std::size_t>(last.data() + last.size() - begin)};
  }

  /// Constants and scales of an operand belong to the example.
  void value_attributes() {
    if (has_arrow_ || in_signature_) return copy();
    for (; at_ < words_.size() && words_[at_].kind != TokenKind::kRBracket; ++at_) {
      if (words_[at_].kind == TokenKind::kColon) {
        ++at_;
        attribute_value();
        --at_;
      }
    }
    ++at_;
  }

  std::string attribute(const AttrRow* row, std::string_view key, std::string_view value) {
    std::string made = fmt::format("{}:", key);
    std::vector<std::string> choices = row == nullptr ? std::vector<std::string>() : words_of(*row);
    if (!choices.empty()) {
      const auto stated = std::ranges::find(choices, value);
      if (stated != choices.end()) std::rotate(choices.begin(), stated, stated + 1);
      return made + choice(choices);
    }
    const std::string symbol = '@' + std::string(value);
    if (places_.contains(symbol)) return made + named(symbol, "");
    if (value.size() < 2 || !value.starts_with('"')) return made + place(value);
    return made + '"' + place(value.substr(1, value.size() - 2)) + '"';
  }

  void attributes() {
    const std::size_t begin = at_;
    std::string list;
    std::set<std::string_view> stated;
    const auto add = [&](const std::string& each) { list += (list.empty() ? "" : ", ") + each; };
    for (++at_; at_ < words_.size() && words_[at_].kind != TokenKind::kRBracket;) {
      if (words_[at_].kind != TokenKind::kKey) {
        ++at_;
        continue;
      }
      const std::string_view key = words_[at_].text;
      at_ += 2;  // past the key and the colon
      const std::string_view value = attribute_value();
      const AttrRow* row = row_of_key(key);
      if (row != nullptr && !is_shown(*row)) continue;
      stated.insert(key);
      add(attribute(row, key, value));
    }
    for (const AttrRow& each : row_ == nullptr ? std::span<const AttrRow>() : row_->attributes) {
      if (each.required && !stated.contains(each.name))
        add(attribute(&each, each.name, example_value(each)));
    }
    const std::size_t end = std::min(at_ + 1, words_.size());
    if (!list.empty()) {
      at_ = begin;
      gap();
      text_ += fmt::format("[{}]", list);
    }
    at_ = end;
  }

  /// True if the value does not follow from a default. What is not required follows from the type
  /// of the result, which the snippet leaves out, or from the parameters of a known layer; but not
  /// if it tells what a region means.
  bool is_shown(const AttrRow& row) const {
    const bool has_regions = row_ != nullptr && row_->regions.max != 0;
    if (row.required || !row.choices.empty() || has_regions) return true;
    return row.default_text.empty() && !form_.has_types && form_.layers.empty();
  }

  const AttrRow* row_of_key(std::string_view key) const {
    if (row_ == nullptr) return nullptr;
    const auto found = std::ranges::find(row_->attributes, key, &AttrRow::name);
    return found == row_->attributes.end() ? nullptr : &*found;
  }

  IRContext& rows_;
  const OpRow& first_;
  std::string_view name_;
  const SnippetForm& form_;
  SourceFile file_;
  std::vector<ExampleWord> words_;
  std::size_t at_ = 0, is_gap_done_ = 0;
  std::string text_;
  std::size_t depth_ = 0;
  int lists_ = 0;  // parentheses around

  const OpRow* row_ = nullptr;  // of the op whose words are read
  OperandNames operand_names_;
  std::string result_word_;
  std::size_t operand_count_ = 0, index_ = 0;
  bool has_arrow_ = false, in_signature_ = false, in_successors_ = false;
  int last_place_ = 0;
  std::map<std::string, int, std::less<>> places_;
  std::set<std::string> used_;
};

}  // namespace

std::string op_snippet(IRContext& rows, const OpRow& row, std::string_view name,
                       const SnippetForm& form) {
  if (!row.example.empty()) return SnippetWriter(rows, row, name, form).run();
  OpRow with_example = row;
  const std::string example = example_of(row, name, rows);
  with_example.example = example;
  return SnippetWriter(rows, with_example, name, form).run();
}

}  // namespace mir::lsp

// Pipelines from text; docs/pipelines.md has the grammar.
#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/passes.hpp"
#include "mir/pass.hpp"
#include "passes/pipeline/foreign_passes.hpp"
#include "passes/pipeline/words.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

using Kind = PassOption::Kind;

struct PipelineToken {
  enum class Kind : std::uint8_t { kEnd, kMark, kWord, kBad };
  Kind kind = Kind::kEnd;
  char mark = '\0';
  std::string text;  ///< of a word; what is wrong, of a bad one
  Span at;

  bool is(char wanted) const { return kind == Kind::kMark && mark == wanted; }
  bool is_word() const { return kind == Kind::kWord; }
};

/// Takes the text apart, one token ahead.
class Tokens {
 public:
  explicit Tokens(const SourceFile& file) : file_(file), text_(file.text()) { advance(); }

  const PipelineToken& next() const { return next_; }
  PipelineToken take() {
    PipelineToken taken = std::move(next_);
    advance();
    return taken;
  }

 private:
  /// Blanks, and comments to the end of their line.
  void skip_blanks() {
    constexpr std::string_view kBlanks = " \t\r\n";
    while (at_ < text_.size()) {
      if (text_.substr(at_, 2) == "//") {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (kBlanks.find(text_[at_]) == kBlanks.npos) {
        return;
      } else {
        ++at_;
      }
    }
  }

  void advance() {
    skip_blanks();
    next_ = {};
    const std::size_t begin = at_;
    if (at_ < text_.size()) read_token();
    next_.at = {file_.position_of(text_.data() + begin), file_.position_of(text_.data() + at_)};
  }

  void read_token() {
    if (pipeline_text::kMarks.find(text_[at_]) != text_.npos) {
      next_.kind = PipelineToken::Kind::kMark;
      next_.mark = text_[at_++];
    } else if (text_[at_] == '"') {
      read_quoted();
    } else {
      read_plain();
    }
  }

  void read_plain() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && pipeline_text::is_plain(text_[at_]) &&
           text_.substr(at_, 2) != "//") {
      ++at_;
    }
    next_.kind = at_ == begin ? PipelineToken::Kind::kBad : PipelineToken::Kind::kWord;
    next_.text = at_ == begin ? "this character must be quoted" : text_.substr(begin, at_ - begin);
    if (at_ == begin) ++at_;
  }

  void read_quoted() {
    next_.kind = PipelineToken::Kind::kWord;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        ++at_;
        next_.text += text_[at_] == 'n' ? '\n' : text_[at_];
      } else {
        next_.text += text_[at_];
      }
    }
    if (at_ < text_.size()) {
      ++at_;
      return;
    }
    next_.kind = PipelineToken::Kind::kBad;
    next_.text = "a quoted text has no end";
  }

  const SourceFile& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  PipelineToken next_;
};

class Reader {
 public:
  Reader(const PassRegistry& registry, const SourceFile& file, Diagnostics& diagnostics)
      : registry_(registry), tokens_(file), diagnostics_(diagnostics) {}

  std::optional<Pipeline> read() {
    Pipeline pipeline;
    if (tokens_.next().kind == PipelineToken::Kind::kEnd) return pipeline;
    if (!read_items(pipeline.items)) return std::nullopt;
    if (tokens_.next().kind == PipelineToken::Kind::kEnd) return pipeline;
    refuse_next("',' or the end of the text");
    return std::nullopt;
  }

 private:
  Diagnostic& error(Span at, std::string message) {
    return diagnostics_.error(diag::kPipeline, at, std::move(message));
  }

  /// Always false.
  bool refuse_next(std::string_view expected) {
    const PipelineToken& next = tokens_.next();
    if (next.kind == PipelineToken::Kind::kBad) {
      error(next.at, next.text);
    } else {
      const std::string found = next.kind == PipelineToken::Kind::kEnd ? "the end of the text"
                                : next.is_word() ? fmt::format("'{}'", next.text)
                                                 : fmt::format("'{}'", next.mark);
      error(next.at, fmt::format("expected {}, found {}", expected, found));
    }
    return false;
  }

  bool take(char mark) {
    if (!tokens_.next().is(mark)) return false;
    tokens_.take();
    return true;
  }

  bool read_items(std::vector<PipelineItem>& items) {
    do {
      if (!read_item(items)) return false;
    } while (take(','));
    return true;
  }

  bool read_item(std::vector<PipelineItem>& items) {
    if (!tokens_.next().is_word()) return refuse_next("the name of a pass or of a group");
    const PipelineToken name = tokens_.take();
    if (take('(')) return read_group(items.emplace_back(), name);
    if (const auto named = registry_.pipelines().find(name.text);
        named != registry_.pipelines().end()) {
      const std::vector<PipelineItem>& parts = named->second.pipeline.items;
      items.insert(items.end(), parts.begin(), parts.end());
      return std::ranges::all_of(parts,
                                 [&](const PipelineItem& each) { return fits(each, name.at); });
    }
    const Pass* pass = registry_.find(name.text);
    if (pass == nullptr) return refuse_pass(name);
    PipelineItem& item = items.emplace_back();
    item.pass = pass;
    item.options = PassOptions(pass->options);
    return fits(item, name.at) && (!take('{') || read_options(item));
  }

  /// The pass of which a shell has expanded the braces: of `tile{i=4,j=4}` it makes `tilei=4` and
  /// `tilej=4`. Empty if there is none.
  std::string_view expanded_pass(std::string_view word) const {
    std::string_view longest;
    for (const auto& [known, pass] : registry_.passes()) {
      if (known.size() < word.size() && word.starts_with(known) && known.size() > longest.size())
        longest = known;
    }
    return longest;
  }

  /// Always false.
  bool refuse_pass(const PipelineToken& name) {
    NearestName nearest(name.text);
    for (const auto& [known, pass] : registry_.passes()) nearest.offer(known);
    for (const auto& [known, pipeline] : registry_.pipelines()) nearest.offer(known);
    Diagnostic& problem = error(name.at, fmt::format("no pass is called '{}'", name.text));
    if (const std::string_view pass = expanded_pass(name.text); !pass.empty() && take('=')) {
      problem.hint = fmt::format("a shell that expands braces writes '{}=': quote '{}{{{}=...}}'",
                                 name.text, pass, std::string_view(name.text).substr(pass.size()));
      return false;
    }
    const std::string_view foreign = pass_called_elsewhere(name.text);
    const std::string_view meant = foreign.empty() ? nearest.best() : foreign;
    suggest(problem, meant, name.at, std::string(meant));
    return false;
  }

  // -- groups ------------------------------------------------------------------------------------

  /// True if an item may be in the groups around it: each group contains items for the inside of
  /// its anchors.
  bool fits(const PipelineItem& item, Span at) {
    const Anchor anchor = item.pass != nullptr ? item.pass->anchor : item.anchor;
    const bool is_group = item.pass == nullptr;
    if (around_.empty() || anchor > around_.back() || (anchor == around_.back() && !is_group)) {
      return true;
    }
    error(at, fmt::format("a {}{} stands in a group of {}s", is_group ? "group of " : "pass on a ",
                          is_group ? fmt::format("{}s", name_of(anchor)) : name_of(anchor),
                          name_of(around_.back())));
    return false;
  }

  bool read_group(PipelineItem& group, const PipelineToken& name) {
    constexpr Anchor kAnchors[] = {Anchor::kModule, Anchor::kGraph, Anchor::kRegion, Anchor::kOp};
    const auto known =
        std::ranges::find(kAnchors, name.text, [](Anchor each) { return name_of(each); });
    group.anchor = known == std::end(kAnchors) ? Anchor::kOp : *known;
    if (known == std::end(kAnchors)) {
      group.op = name.text;
      if (name.text.find('.') == name.text.npos) {
        error(name.at,
              fmt::format("a group is of 'module', 'graph', 'region', 'op' or of the ops of "
                          "a kind like 'linalg.AddOp'; found '{}'",
                          name.text));
        return false;
      }
    }
    if (!fits(group, name.at)) return false;
    if (take('@') && !read_selector(group)) return false;
    around_.push_back(group.anchor);
    const bool good = read_items(group.items);
    around_.pop_back();
    return good && (take(')') || refuse_next("',' or ')'"));
  }

  bool read_selector(PipelineItem& group) {
    if (!tokens_.next().is_word())
      return refuse_next("a name, with '*' and '?' for what may differ");
    const PipelineToken selector = tokens_.take();
    if (group.anchor == Anchor::kRegion) {
      error(selector.at, "regions have no names");
      return false;
    }
    group.selector = selector.text;
    return take(':') || refuse_next("':' after the name");
  }

  /// No list whose values go on.
  static constexpr std::size_t kNoList = ~std::size_t{0};

  // -- options -----------------------------------------------------------------------------------

  bool read_options(PipelineItem& item) {
    if (take('}')) return true;
    std::size_t list = kNoList;
    do {
      if (!read_option(item, list)) return false;
    } while (take(','));
    return take('}') || refuse_next("',' or '}'");
  }

  /// `key`, `key=value`, `key=[a,b]`, or one more value of the list before.
  bool read_option(PipelineItem& item, std::size_t& list) {
    if (!tokens_.next().is_word()) return refuse_next("the name of an option");
    const PipelineToken word = tokens_.take();
    const std::optional<std::size_t> row = item.options.find(word.text);
    const bool has_value = tokens_.next().is('=');
    if (list != kNoList && !has_value) return take_value(item, list, word);
    list = kNoList;
    if (!row || (item.options.rows()[*row].is_keyed && !has_value)) {
      return refuse_option(item, word);
    }
    key_ = word.text;
    if (!has_value) {
      if (item.options.rows()[*row].kind != Kind::kFlag)
        return refuse_next(fmt::format("'=' and a value of '{}'", word.text));
      return take_value(item, *row, PipelineToken{.text = {}, .at = word.at});
    }
    tokens_.take();
    if (take('[')) return read_list(item, *row, word);
    if (!tokens_.next().is_word()) return refuse_next("a value");
    if (item.options.rows()[*row].is_list) list = *row;
    return take_value(item, *row, tokens_.take());
  }

  bool read_list(PipelineItem& item, std::size_t row, const PipelineToken& name) {
    if (!item.options.rows()[row].is_list) {
      error(name.at, fmt::format("'{}' takes one value", name.text));
      return false;
    }
    if (!item.options.given(row)) item.options.take_none(row);
    if (take(']')) return true;
    do {
      if (!tokens_.next().is_word()) return refuse_next("a value");
      if (!take_value(item, row, tokens_.take())) return false;
    } while (take(','));
    return take(']') || refuse_next("',' or ']'");
  }

  bool take_value(PipelineItem& item, std::size_t row, const PipelineToken& value) {
    const auto taken = item.options.take(row, value.text, key_);
    if (!taken) error(value.at, taken.error().message);
    return taken.ok();
  }

  /// Always false.
  bool refuse_option(const PipelineItem& item, const PipelineToken& word) {
    NearestName nearest(word.text);
    for (const PassOption& each : item.options.rows()) {
      if (!each.is_keyed) nearest.offer(each.name);
    }
    Diagnostic& problem =
        error(word.at, fmt::format("pass '{}' has no option '{}'", item.pass->name, word.text));
    suggest(problem, nearest.best(), word.at, std::string(nearest.best()));
    return false;
  }

  const PassRegistry& registry_;
  Tokens tokens_;
  Diagnostics& diagnostics_;
  std::vector<Anchor> around_;
  std::string key_;  // of the option at hand
};

}  // namespace

std::optional<Pipeline> PassRegistry::read_pipeline(const SourceFile& file,
                                                    Diagnostics& diagnostics) const {
  return Reader(*this, file, diagnostics).read();
}

}  // namespace mir

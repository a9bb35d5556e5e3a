// Lists tokens and syntax trees in readable form, for `mllm-parse`.
#include "syntax/listing.hpp"

#include <fmt/format.h>

#include <vector>

#include "syntax/layout.hpp"

namespace mir {

std::string list_tokens(const SyntaxTree& tree) {
  std::string out;
  for (const Unit& unit : tree.units()) {
    for (std::uint32_t i = 0; i < unit.tokens().size(); ++i) {
      const LineColumn at = tree.file().line_column(unit.span(i).begin);
      fmt::format_to(std::back_inserter(out), "{}:{} {} {}\n", at.line, at.column,
                     enumerator_name(unit.tokens()[i].kind()), tree.text(unit, i));
    }
  }
  return out;
}

namespace {

class SyntaxListing {
 public:
  explicit SyntaxListing(const SyntaxTree& tree) : tree_(tree) {}

  std::string run() {
    for (const Unit& unit : tree_.units()) {
      unit_ = &unit;
      for (const Node& node : unit.nodes()) {
        visit(node);
        if (pending_.empty()) settle();
      }
    }
    return std::move(out_);
  }

 private:
  std::string text(std::uint32_t token) const {
    return canonical_text(unit_->tokens()[token].kind(), tree_.text(*unit_, token));
  }

  /// Canonical text of several tokens.
  std::string text(std::uint32_t first, std::uint32_t count) const {
    if (count == 1) return text(first);
    LayoutPrinter printer;
    for (std::uint32_t i = first; i < first + count; ++i) {
      printer.token(unit_->tokens()[i].kind(), tree_.text(*unit_, i));
    }
    return std::string(printer.text());
  }

  void line(std::string_view word, std::string_view rest) {
    out_.append(2 * depth_, ' ');
    out_ += word;
    if (!rest.empty()) out_ += ' ';
    out_ += rest;
    out_ += '\n';
  }

  std::string pop_value() {
    std::string value = std::move(values_.back());
    values_.pop_back();
    return value;
  }

  /// The last `count` of `list`, joined and removed.
  static std::string join(std::vector<std::string>& list, std::uint32_t count) {
    std::string joined;
    for (std::size_t i = list.size() - count; i < list.size(); ++i) {
      if (!joined.empty()) joined += ", ";
      joined += list[i];
    }
    list.resize(list.size() - count);
    return joined;
  }

  /// A list of an op at once; the lists of a module, region or block wait for its own line.
  void values(std::string_view what, std::uint32_t count) {
    line(what, "");
    for (std::size_t i = mentions_.size() - count; i < mentions_.size(); ++i) {
      line("    value", mentions_[i]);
    }
    mentions_.resize(mentions_.size() - count);
    if (!in_head_) take_pending();
  }

  void take_pending() {
    pending_ += out_.substr(settled_);
    out_.resize(settled_);
  }

  /// Appends the line of a module, region or block, then the lines that were held back for it.
  void heading(std::string_view word, std::string_view rest) {
    line(word, rest);
    out_ += pending_;
    pending_.clear();
    settle();
  }

  void settle() { settled_ = out_.size(); }

  void visit(const Node& node) {
    switch (node.kind()) {
      case NodeKind::kAddress:
        return line("address", text(node.token));
      case NodeKind::kOpName:
        in_head_ = true;
        return line("op", text(node.token));
      case NodeKind::kLabel:
        return line("  label", text(node.token));
      case NodeKind::kSymbol:
        return line("  symbol", text(node.token));
      case NodeKind::kAngle:
        return line("  angle", text(node.token));
      case NodeKind::kName:
        return line("  name", text(node.token));
      case NodeKind::kEncodedType:
        pop_value();
        [[fallthrough]];
      case NodeKind::kType:
        values_.push_back(text(node.token, node.count()));
        return;
      case NodeKind::kTypeValue:
        return;
      case NodeKind::kValue:
        return value(node);
      case NodeKind::kValueSymbol:
        mentions_.back() += fmt::format(" [{}]", text(node.token));
        return;
      case NodeKind::kPort:
        mentions_.back() += fmt::format(" [{}]", text(node.token));
        return;
      case NodeKind::kValueAttributes:
        mentions_.back() += fmt::format(" [{}]", join(attributes_, node.count()));
        return;
      case NodeKind::kOperands:
        return values("  operands", node.count());
      case NodeKind::kResults:
        return values("  results", node.count());
      case NodeKind::kLeaf:
        values_.push_back(text(node.token, node.count()));
        return;
      case NodeKind::kArray:
        values_.push_back(fmt::format("[{}]", join(values_, node.count())));
        return;
      case NodeKind::kDictEntry:
      case NodeKind::kQuantEntry:
      case NodeKind::kAttribute:
        attributes_.push_back(fmt::format("{}:{}", text(node.token), pop_value()));
        return;
      case NodeKind::kEmptyEntry:
        attributes_.emplace_back("-");
        return;
      case NodeKind::kDict:
        values_.push_back(fmt::format("{{{}}}", join(attributes_, node.count())));
        return;
      case NodeKind::kQuantAnnotation:
        values_.push_back(fmt::format("QuantAnnotation({})", join(attributes_, node.count())));
        return;
      case NodeKind::kAttributes:
        line("  attributes", join(attributes_, node.count()));
        if (!in_head_) take_pending();
        return;
      case NodeKind::kSuccessor:
        return line("  successor", text(node.token));
      case NodeKind::kSuccessors:
        return;
      case NodeKind::kLoc:
        return line("  loc", text(node.token));
      default:
        return nesting(node);
    }
  }

  /// Lists the start or end of a body, region, block or module.
  void nesting(const Node& node) {
    switch (node.kind()) {
      case NodeKind::kBodyBegin:
        in_head_ = false;
        line("  body", "");
        depth_ += 2;
        return;
      case NodeKind::kRegionBegin:
        heading("region", "");
        ++depth_;
        return;
      case NodeKind::kRegionEnd:
        --depth_;
        return;
      case NodeKind::kBlock:
        return heading("block", text(node.token));
      case NodeKind::kBodyEnd:
        depth_ -= 2;
        return;
      case NodeKind::kOpEnd:
        in_head_ = false;
        return;
      case NodeKind::kAlias:
        return line("alias", fmt::format("{} = {}", text(node.token), pop_value()));
      case NodeKind::kModuleBegin:
        heading("module", text(node.token));
        ++depth_;
        return;
      case NodeKind::kModuleEnd:
        --depth_;
        return;
      default:
        return;
    }
  }

  void value(const Node& node) {
    const std::string whole = text(node.token);
    if (unit_->tokens()[node.token].kind() == TokenKind::kTypedValue) {
      const auto colon = whole.find(':');
      mentions_.push_back(fmt::format("{} : {}", whole.substr(0, colon), whole.substr(colon + 1)));
    } else if (!values_.empty()) {
      mentions_.push_back(fmt::format("{} : {}", whole, pop_value()));
    } else {
      mentions_.push_back(whole);
    }
  }

  const SyntaxTree& tree_;
  const Unit* unit_ = nullptr;
  std::string out_;
  std::string pending_;      // lines about a module, region or block whose own line comes later
  std::size_t settled_ = 0;  // where lines that may become pending begin
  bool in_head_ = false;
  std::size_t depth_ = 0;
  std::vector<std::string> values_;
  std::vector<std::string> attributes_;
  std::vector<std::string> mentions_;
};

}  // namespace

std::string list_syntax(const SyntaxTree& tree) {
  return SyntaxListing(tree).run();
}

}  // namespace mir

// Parses statements of chat templates.
#include "chat/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "chat/expression_parser.hpp"
#include "mir/codes/generation.hpp"

namespace mir::chat {
namespace {

/// Statements of Jinja that no chat template needs.
constexpr std::string_view kOtherStatements[] = {"include", "import", "from",  "extends",
                                                 "block",   "call",   "with",  "autoescape",
                                                 "trans",   "do",     "debug", "pluralize"};

class TemplateParser : private ExpressionParser {
 public:
  using ExpressionParser::ExpressionParser;

  NodePtr parse() {
    NodePtr block = parse_block({});
    return failed() ? nullptr : std::move(block);
  }

 private:
  /// Parses statements up to a tag that begins with one of these words, which is not read. At the
  /// end of the template, if there are none.
  NodePtr parse_block(std::initializer_list<std::string_view> ends) {
    NodePtr block = node(NodeKind::kBlock, peek().at);
    const Nesting nesting(*this);
    while (!failed()) {
      const Token& token = peek();
      if (token.kind == TokenKind::kEnd) {
        if (ends.size() != 0)
          malformed(opening_.empty() ? token.at : opening_.back(),
                    fmt::format("the block has no '{}'", *(ends.end() - 1)));
        break;
      }
      if (token.kind == TokenKind::kText) {
        NodePtr text = node(NodeKind::kText, token.at);
        text->text = next().text;
        add(*block, std::move(text));
      } else if (token.kind == TokenKind::kPrintBegin) {
        next();
        NodePtr print = node(NodeKind::kPrint, peek().at);
        add(*print, parse_tuple({}));
        expect(TokenKind::kPrintEnd, "'}}'");
        add(*block, std::move(print));
      } else {
        const std::string& word = peek(1).text;
        if (std::ranges::find(ends, std::string_view(word)) != ends.end()) break;
        add(*block, parse_statement());
      }
    }
    return block;
  }

  /// Parses a block whose statements cannot end a loop around it.
  NodePtr parse_body(std::initializer_list<std::string_view> ends) {
    const std::size_t loops = std::exchange(loops_, 0);
    NodePtr block = parse_block(ends);
    loops_ = loops;
    return block;
  }

  NodePtr parse_statement() {
    const Span begin = next().at;
    const Token word = next();
    const std::string& name = word.text;
    if (word.kind != TokenKind::kName) {
      malformed(word.at, "expected a statement");
      return nullptr;
    }
    opening_.push_back({begin.begin, word.at.end});
    NodePtr statement = parse_named(word, name);
    opening_.pop_back();
    return statement;
  }

  NodePtr parse_named(const Token& word, const std::string& name) {
    if (name == "if") return parse_if(word.at);
    if (name == "for") return parse_for(word.at);
    if (name == "set") return parse_set(word.at);
    if (name == "macro") return parse_macro(word.at);
    if (name == "filter") return parse_filter_block(word.at);
    if (name == "generation") {
      end_tag();
      NodePtr body = parse_block({"endgeneration"});
      close("endgeneration");
      return body;
    }
    if (name == "break" || name == "continue") {
      if (loops_ == 0) malformed(word.at, fmt::format("'{}' must be inside a loop", name));
      end_tag();
      return node(name == "break" ? NodeKind::kBreak : NodeKind::kContinue, word.at);
    }
    if (std::ranges::find(kOtherStatements, std::string_view(name)) != std::end(kOtherStatements)) {
      unsupported(word.at, fmt::format("statement '{}' is not supported", name));
    } else {
      malformed(word.at, fmt::format("unknown statement '{}'", name));
    }
    return nullptr;
  }

  void end_tag() { expect(TokenKind::kTagEnd, "'%}'"); }

  /// Reads `{% word %}`, which has been found.
  void close(std::string_view word) {
    if (failed()) return;
    next();
    const Token& found = next();
    if (found.text != word) malformed(found.at, fmt::format("expected '{}'", word));
    end_tag();
  }

  NodePtr parse_if(Span at) {
    NodePtr statement = node(NodeKind::kIf, at);
    bool has_else = false;
    for (;;) {
      add(*statement, parse_tuple({}, false));
      end_tag();
      add(*statement, parse_block({"elif", "else", "endif"}));
      if (failed()) return nullptr;
      const std::string word = peek(1).text;
      if (word != "elif") {
        has_else = word == "else";
        break;
      }
      next();
      next();
    }
    if (has_else) {
      close("else");
      add(*statement, parse_block({"endif"}));
    } else {
      statement->parts.push_back(nullptr);
    }
    close("endif");
    return statement;
  }

  NodePtr parse_for(Span at) {
    NodePtr statement = node(NodeKind::kFor, at);
    add(*statement, parse_target());
    if (!skip_name("in")) malformed(peek().at, "expected 'in'");
    add(*statement, parse_tuple({"recursive"}, false));
    if (skip_name("if")) {
      add(*statement, parse_expression());
    } else {
      statement->parts.push_back(nullptr);
    }
    if (is_name("recursive")) unsupported(peek().at, "'recursive' is not supported");
    end_tag();
    ++loops_;
    add(*statement, parse_block({"else", "endfor"}));
    --loops_;
    if (failed()) return nullptr;
    if (peek(1).text == "else") {
      close("else");
      add(*statement, parse_block({"endfor"}));
    } else {
      statement->parts.push_back(nullptr);
    }
    close("endfor");
    return statement;
  }

  NodePtr parse_set(Span at) {
    NodePtr target = parse_target(true);
    if (skip_operator("=")) {
      NodePtr statement = node(NodeKind::kSet, at);
      add(*statement, std::move(target));
      add(*statement, parse_tuple({}));
      end_tag();
      return statement;
    }
    if (is_operator("|")) unsupported(peek().at, "a filter of a 'set' block is not supported");
    NodePtr statement = node(NodeKind::kSetBlock, at);
    add(*statement, std::move(target));
    end_tag();
    add(*statement, parse_body({"endset"}));
    close("endset");
    return statement;
  }

  NodePtr parse_macro(Span at) {
    NodePtr statement = node(NodeKind::kMacro, at);
    statement->text = expect(TokenKind::kName, "the name of the macro");
    std::vector<NodePtr> defaults;
    expect_operator("(");
    while (!failed() && !is_operator(")")) {
      if (!statement->names.empty()) expect_operator(",");
      if (is_operator(")")) break;
      statement->names.push_back(expect(TokenKind::kName, "the name of a parameter"));
      if (skip_operator("=")) {
        defaults.push_back(parse_expression());
      } else if (!defaults.empty()) {
        malformed(peek().at, "a parameter without a default follows one with a default");
      }
    }
    expect_operator(")");
    end_tag();
    add(*statement, parse_body({"endmacro"}));
    for (NodePtr& each : defaults) add(*statement, std::move(each));
    close("endmacro");
    return statement;
  }

  NodePtr parse_filter_block(Span at) {
    NodePtr statement = node(NodeKind::kFilterBlock, at);
    add(*statement, parse_filters(nullptr, true));
    end_tag();
    add(*statement, parse_body({"endfilter"}));
    close("endfilter");
    return statement;
  }

  std::vector<Span> opening_;  // of the statements that are being parsed
  std::size_t loops_ = 0;
};

}  // namespace

NodePtr parse_template(const SourceFile& file, Diagnostics& diagnostics) {
  const std::vector<Token> tokens = read_tokens(file, diagnostics);
  if (tokens.empty()) return nullptr;
  return TemplateParser(tokens, diagnostics).parse();
}

}  // namespace mir::chat

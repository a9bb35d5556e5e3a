// Parses expressions of chat templates.
#include "chat/expression_parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "chat/parser.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"
#include "support/number_text.hpp"

namespace mir::chat {
namespace {

Span joined(Span begin, Span end) {
  return {begin.begin, std::max(begin.end, end.end)};
}

}  // namespace

ExpressionParser::Nesting::Nesting(ExpressionParser& parser) : parser_(parser) {
  if (++parser.nesting_ > kMostNesting && !parser.failed_)
    parser.fail(diag::kLimitExceeded, parser.peek().at,
                fmt::format("the template nests deeper than {} levels", kMostNesting));
}

void ExpressionParser::fail(DiagCode code, Span at, std::string message) {
  if (!failed_) diagnostics_.error(code, at, std::move(message));
  failed_ = true;
}

void ExpressionParser::malformed(Span at, std::string message) {
  fail(diag::kTemplateMalformed, at, std::move(message));
}

void ExpressionParser::unsupported(Span at, std::string message) {
  fail(diag::kTemplateUnsupported, at, std::move(message));
}

const Token& ExpressionParser::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
}

const Token& ExpressionParser::next() {
  const Token& token = peek();
  if (at_ + 1 < tokens_.size()) ++at_;
  return token;
}

bool ExpressionParser::is_name(std::string_view name) const {
  return peek().kind == TokenKind::kName && peek().text == name;
}

bool ExpressionParser::is_operator(std::string_view text) const {
  return peek().kind == TokenKind::kOperator && peek().text == text;
}

bool ExpressionParser::skip_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

bool ExpressionParser::skip_operator(std::string_view text) {
  if (!is_operator(text)) return false;
  next();
  return true;
}

void ExpressionParser::expect_operator(std::string_view text) {
  if (!skip_operator(text)) malformed(peek().at, fmt::format("expected '{}'", text));
}

std::string ExpressionParser::expect(TokenKind kind, std::string_view what) {
  if (peek().kind == kind) return next().text;
  malformed(peek().at, fmt::format("expected {}", what));
  return {};
}

NodePtr ExpressionParser::node(NodeKind kind, Span at) {
  auto made = std::make_unique<Node>();
  made->kind = kind;
  made->at = at;
  return made;
}

void ExpressionParser::add(Node& whole, NodePtr part) {
  if (part != nullptr) {
    whole.depth = std::max(whole.depth, part->depth + 1);
    if (whole.depth > 2 * kMostNesting)
      fail(diag::kLimitExceeded, whole.at,
           fmt::format("the expression has more than {} levels", 2 * kMostNesting));
  }
  whole.parts.push_back(std::move(part));
}

NodePtr ExpressionParser::with_part(NodeKind kind, Span at, NodePtr part) {
  NodePtr made = node(kind, at);
  add(*made, std::move(part));
  return made;
}

NodePtr ExpressionParser::value(Span at, Value constant) {
  NodePtr made = node(NodeKind::kConstant, at);
  made->value = std::move(constant);
  return made;
}

NodePtr ExpressionParser::parse_expression() {
  const Nesting nesting(*this);
  if (failed_) return nullptr;
  NodePtr first = parse_or();
  while (!failed_ && is_name("if")) {
    NodePtr made = node(NodeKind::kConditional, next().at);
    add(*made, parse_or());
    add(*made, std::move(first));
    if (skip_name("else")) {
      add(*made, parse_expression());
    } else {
      made->parts.push_back(nullptr);
    }
    first = std::move(made);
  }
  return first;
}

NodePtr ExpressionParser::parse_tuple(std::initializer_list<std::string_view> ends,
                                      bool takes_condition) {
  const Nesting nesting(*this);
  const Span begin = peek().at;
  std::vector<NodePtr> items;
  bool is_tuple = false;
  const auto at_end = [&] {
    const Token& token = peek();
    if (token.kind == TokenKind::kPrintEnd || token.kind == TokenKind::kTagEnd) return true;
    if (token.kind == TokenKind::kName)
      return std::ranges::find(ends, std::string_view(token.text)) != ends.end();
    return is_operator(")");
  };
  while (!failed_) {
    if (!items.empty()) {
      if (!skip_operator(",")) break;
      is_tuple = true;
    }
    if (at_end()) break;
    items.push_back(takes_condition ? parse_expression() : parse_or());
  }
  if (failed_) return nullptr;
  if (!is_tuple && items.size() == 1) return std::move(items.front());
  if (items.empty()) {
    malformed(peek().at, "expected an expression");
    return nullptr;
  }
  NodePtr made = node(NodeKind::kTuple, begin);
  for (NodePtr& each : items) add(*made, std::move(each));
  return made;
}

NodePtr ExpressionParser::parse_target(bool takes_attribute) {
  const Span begin = peek().at;
  std::vector<NodePtr> names;
  const bool has_parentheses = !takes_attribute && skip_operator("(");
  do {
    const Span at = peek().at;
    if (is_operator("(") || is_operator("["))
      unsupported(at, "variables in nested parentheses are not supported");
    NodePtr name = node(NodeKind::kName, at);
    name->text = expect(TokenKind::kName, "a name");
    if (name->text == "loop" && !takes_attribute)
      malformed(at, "'loop' cannot be the variable of a loop");
    if (takes_attribute && names.empty() && skip_operator(".")) {
      NodePtr attribute = with_part(NodeKind::kAttribute, at, std::move(name));
      attribute->text = expect(TokenKind::kName, "the name of an attribute");
      return attribute;
    }
    names.push_back(std::move(name));
  } while (!failed_ && skip_operator(","));
  if (has_parentheses) expect_operator(")");
  if (failed_) return nullptr;
  if (names.size() == 1) return std::move(names.front());
  NodePtr made = node(NodeKind::kTuple, begin);
  for (NodePtr& each : names) add(*made, std::move(each));
  return made;
}

NodePtr ExpressionParser::parse_or() {
  NodePtr left = parse_and();
  while (!failed_ && is_name("or")) {
    NodePtr made = with_part(NodeKind::kOr, next().at, std::move(left));
    add(*made, parse_and());
    left = std::move(made);
  }
  return left;
}

NodePtr ExpressionParser::parse_and() {
  NodePtr left = parse_not();
  while (!failed_ && is_name("and")) {
    NodePtr made = with_part(NodeKind::kAnd, next().at, std::move(left));
    add(*made, parse_not());
    left = std::move(made);
  }
  return left;
}

NodePtr ExpressionParser::parse_not() {
  const Nesting nesting(*this);
  if (failed_ || !is_name("not")) return failed_ ? nullptr : parse_compare();
  const Span at = next().at;
  return with_part(NodeKind::kNot, at, parse_not());
}

NodePtr ExpressionParser::parse_compare() {
  NodePtr left = parse_sum();
  NodePtr chain;
  while (!failed_) {
    const Span at = peek().at;
    std::string word;
    if (peek().kind == TokenKind::kOperator) {
      constexpr std::string_view kComparisons[] = {"==", "!=", "<", "<=", ">", ">="};
      const bool is_comparison =
          std::ranges::find(kComparisons, std::string_view(peek().text)) != std::end(kComparisons);
      if (!is_comparison) break;
      word = next().text;
    } else if (skip_name("in")) {
      word = "in";
    } else if (is_name("not") && peek(1).kind == TokenKind::kName && peek(1).text == "in") {
      next();
      next();
      word = "not in";
    } else {
      break;
    }
    if (chain == nullptr) chain = with_part(NodeKind::kCompare, at, std::move(left));
    chain->names.push_back(word);
    add(*chain, parse_sum());
  }
  return chain == nullptr ? std::move(left) : std::move(chain);
}

NodePtr ExpressionParser::binary(Parse part, std::initializer_list<std::string_view> operators) {
  NodePtr left = (this->*part)();
  while (!failed_ && peek().kind == TokenKind::kOperator &&
         std::ranges::find(operators, std::string_view(peek().text)) != operators.end()) {
    NodePtr made = with_part(NodeKind::kBinary, peek().at, std::move(left));
    made->text = next().text;
    add(*made, (this->*part)());
    left = std::move(made);
  }
  return left;
}

NodePtr ExpressionParser::parse_sum() {
  return binary(&ExpressionParser::parse_concat, {"+", "-"});
}

NodePtr ExpressionParser::parse_concat() {
  NodePtr first = parse_product();
  if (failed_ || !is_operator("~")) return first;
  NodePtr made = with_part(NodeKind::kConcat, peek().at, std::move(first));
  while (!failed_ && skip_operator("~")) add(*made, parse_product());
  return made;
}

NodePtr ExpressionParser::parse_product() {
  return binary(&ExpressionParser::parse_power, {"*", "/", "//", "%"});
}

NodePtr ExpressionParser::parse_power() {
  NodePtr left = parse_unary();
  while (!failed_ && is_operator("**")) {
    NodePtr made = with_part(NodeKind::kBinary, peek().at, std::move(left));
    made->text = next().text;
    add(*made, parse_unary());
    left = std::move(made);
  }
  return left;
}

NodePtr ExpressionParser::parse_unary(bool takes_filters) {
  const Nesting nesting(*this);
  if (failed_) return nullptr;
  NodePtr operand;
  if (is_operator("-") || is_operator("+")) {
    const Token sign = next();
    operand = with_part(sign.text == "-" ? NodeKind::kNegative : NodeKind::kPositive, sign.at,
                        parse_unary(false));
  } else {
    operand = parse_primary();
  }
  operand = parse_postfix(std::move(operand));
  return takes_filters ? parse_filters(std::move(operand)) : std::move(operand);
}

NodePtr ExpressionParser::parse_primary() {
  if (failed_) return nullptr;
  const Token& token = peek();
  switch (token.kind) {
    case TokenKind::kName:
      return parse_constant();
    case TokenKind::kString: {
      NodePtr made = node(NodeKind::kConstant, token.at);
      std::string text;
      while (peek().kind == TokenKind::kString) text += next().text;
      made->value = Value(std::move(text));
      return made;
    }
    case TokenKind::kInteger: {
      const auto number = read_integer(token.text);
      if (!number) malformed(token.at, "the number needs more than 64 bits");
      return value(next().at, Value(number.value_or(0)));
    }
    case TokenKind::kFloat:
      return value(token.at, Value(read_number(next().text).value_or(0)));
    default:
      break;
  }
  if (is_operator("(")) return parse_parentheses();
  if (is_operator("[")) return parse_list();
  if (is_operator("{")) return parse_dict();
  malformed(token.at, "expected an expression");
  return nullptr;
}

NodePtr ExpressionParser::parse_constant() {
  const Token token = next();
  if (token.text == "true" || token.text == "True") return value(token.at, Value(true));
  if (token.text == "false" || token.text == "False") return value(token.at, Value(false));
  if (token.text == "none" || token.text == "None") return value(token.at, Value(None{}));
  NodePtr made = node(NodeKind::kName, token.at);
  made->text = token.text;
  return made;
}

NodePtr ExpressionParser::parse_parentheses() {
  const Span begin = next().at;
  if (is_operator(")")) {
    next();
    return node(NodeKind::kTuple, begin);
  }
  NodePtr made = parse_tuple({});
  expect_operator(")");
  return made;
}

NodePtr ExpressionParser::parse_list() {
  NodePtr made = node(NodeKind::kList, next().at);
  while (!failed_ && !is_operator("]")) {
    if (!made->parts.empty()) expect_operator(",");
    if (is_operator("]")) break;
    add(*made, parse_expression());
  }
  expect_operator("]");
  return made;
}

NodePtr ExpressionParser::parse_dict() {
  NodePtr made = node(NodeKind::kDict, next().at);
  while (!failed_ && !is_operator("}")) {
    if (!made->parts.empty()) expect_operator(",");
    if (is_operator("}")) break;
    add(*made, parse_expression());
    expect_operator(":");
    add(*made, parse_expression());
  }
  expect_operator("}");
  return made;
}

NodePtr ExpressionParser::parse_postfix(NodePtr operand) {
  while (!failed_) {
    if (is_operator(".")) {
      const Span begin = operand->at;
      next();
      const Token name = next();
      if (name.kind == TokenKind::kName) {
        NodePtr made = with_part(NodeKind::kAttribute, name.at, std::move(operand));
        made->text = name.text;
        operand = std::move(made);
      } else if (name.kind == TokenKind::kInteger) {
        NodePtr made = with_part(NodeKind::kItem, name.at, std::move(operand));
        add(*made, value(name.at, Value(read_integer(name.text).value_or(0))));
        operand = std::move(made);
      } else {
        malformed(joined(begin, name.at), "expected a name after '.'");
      }
    } else if (is_operator("[")) {
      operand = parse_subscript(std::move(operand));
    } else if (is_operator("(")) {
      const Span at = operand->at;
      NodePtr made = with_part(NodeKind::kCall, at, std::move(operand));
      parse_arguments(*made);
      operand = std::move(made);
    } else {
      break;
    }
  }
  return operand;
}

NodePtr ExpressionParser::parse_subscript(NodePtr operand) {
  const Span at = next().at;
  NodePtr parts[3];
  std::size_t colons = 0;
  while (!failed_ && !is_operator("]")) {
    if (skip_operator(":")) {
      if (++colons > 2) malformed(at, "a slice has at most two ':'");
      continue;
    }
    if (is_operator(",")) {
      unsupported(peek().at, "several keys in brackets are not supported");
      break;
    }
    if (parts[colons] != nullptr) malformed(peek().at, "expected ']'");
    parts[std::min<std::size_t>(colons, 2)] = parse_expression();
  }
  expect_operator("]");
  if (failed_) return nullptr;
  if (colons == 0) {
    if (parts[0] == nullptr) malformed(at, "expected a key in brackets");
    NodePtr made = with_part(NodeKind::kItem, at, std::move(operand));
    add(*made, std::move(parts[0]));
    return made;
  }
  NodePtr made = with_part(NodeKind::kSlice, at, std::move(operand));
  for (NodePtr& each : parts) add(*made, std::move(each));
  return made;
}

NodePtr ExpressionParser::parse_filters(NodePtr operand, bool is_block) {
  bool is_first = is_block;
  while (!failed_) {
    if (is_first || is_operator("|")) {
      if (!std::exchange(is_first, false)) next();
      NodePtr made = node(NodeKind::kFilter, peek().at);
      made->text = expect(TokenKind::kName, "the name of a filter");
      add(*made, std::move(operand));
      if (is_operator("(")) parse_arguments(*made);
      operand = std::move(made);
    } else if (!is_block && is_name("is")) {
      operand = parse_test(std::move(operand));
    } else if (!is_block && is_operator("(")) {
      const Span at = operand->at;
      NodePtr made = with_part(NodeKind::kCall, at, std::move(operand));
      parse_arguments(*made);
      operand = std::move(made);
    } else {
      break;
    }
  }
  return operand;
}

NodePtr ExpressionParser::parse_test(NodePtr operand) {
  next();
  const bool is_negated = skip_name("not");
  const Token name = peek();
  NodePtr made = with_part(NodeKind::kTest, name.at, std::move(operand));
  made->text = expect(TokenKind::kName, "the name of a test");
  const Token& after = peek();
  const bool has_operand =
      after.kind == TokenKind::kString || after.kind == TokenKind::kInteger ||
      after.kind == TokenKind::kFloat || is_operator("[") || is_operator("{") ||
      (after.kind == TokenKind::kName && !is_name("else") && !is_name("or") && !is_name("and"));
  if (is_name("is")) {
    malformed(after.at, "tests cannot be chained with 'is'");
  } else if (is_operator("(")) {
    parse_arguments(*made);
  } else if (has_operand) {
    add(*made, parse_postfix(parse_primary()));
  }
  return is_negated ? with_part(NodeKind::kNot, name.at, std::move(made)) : std::move(made);
}

void ExpressionParser::parse_arguments(Node& call) {
  expect_operator("(");
  bool is_first = true;
  while (!failed_ && !is_operator(")")) {
    if (!std::exchange(is_first, false)) expect_operator(",");
    if (is_operator(")")) break;
    if (is_operator("*") || is_operator("**")) {
      unsupported(peek().at, fmt::format("arguments with '{}' are not supported", peek().text));
      break;
    }
    const bool is_keyword = peek().kind == TokenKind::kName &&
                            peek(1).kind == TokenKind::kOperator && peek(1).text == "=";
    if (is_keyword) {
      std::string name = next().text;
      next();
      NodePtr argument = parse_expression();
      if (argument != nullptr) call.depth = std::max(call.depth, argument->depth + 1);
      call.keywords.emplace_back(std::move(name), std::move(argument));
    } else {
      if (!call.keywords.empty())
        malformed(peek().at, "an argument without a name follows one with a name");
      add(call, parse_expression());
    }
  }
  expect_operator(")");
}

}  // namespace mir::chat

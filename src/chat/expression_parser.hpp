// The syntax of expressions in chat templates.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "chat/lexer.hpp"
#include "chat/node.hpp"

namespace mir::chat {

/// Parses expressions with the precedence that Jinja gives them. Keeps the first problem; after it,
/// functions return null.
class ExpressionParser {
 public:
  ExpressionParser(std::span<const Token> tokens, Diagnostics& diagnostics)
      : tokens_(tokens), diagnostics_(diagnostics) {}

 protected:
  /// A level of nesting; too many are a problem.
  class Nesting {
   public:
    explicit Nesting(ExpressionParser& parser);
    ~Nesting() { --parser_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    ExpressionParser& parser_;
  };

  bool failed() const { return failed_; }
  void malformed(Span at, std::string message);
  void unsupported(Span at, std::string message);

  const Token& peek(std::size_t ahead = 0) const;
  const Token& next();
  bool is_name(std::string_view name) const;
  bool is_operator(std::string_view text) const;
  bool skip_name(std::string_view name);
  bool skip_operator(std::string_view text);
  void expect_operator(std::string_view text);
  std::string expect(TokenKind kind, std::string_view what);

  static NodePtr node(NodeKind kind, Span at);
  /// Adds a part and its depth.
  void add(Node& whole, NodePtr part);

  NodePtr parse_expression();
  /// An expression, or several with commas between them as a tuple. Names of `ends` end it.
  NodePtr parse_tuple(std::initializer_list<std::string_view> ends, bool takes_condition = true);
  /// A name, several of them, or an attribute of a namespace if `takes_attribute`.
  NodePtr parse_target(bool takes_attribute = false);
  /// Filters of an operand, which is null in a filter block; there, the first has no `|` before it.
  NodePtr parse_filters(NodePtr operand, bool is_block = false);

 private:
  using Parse = NodePtr (ExpressionParser::*)();
  NodePtr parse_or();
  NodePtr parse_and();
  NodePtr parse_not();
  NodePtr parse_compare();
  NodePtr parse_sum();
  NodePtr parse_concat();
  NodePtr parse_product();
  NodePtr parse_power();
  NodePtr parse_unary(bool takes_filters = true);
  NodePtr parse_primary();
  NodePtr parse_constant();
  NodePtr parse_list();
  NodePtr parse_dict();
  NodePtr parse_parentheses();
  NodePtr parse_postfix(NodePtr operand);
  NodePtr parse_subscript(NodePtr operand);
  NodePtr parse_test(NodePtr operand);
  void parse_arguments(Node& call);
  NodePtr binary(Parse part, std::initializer_list<std::string_view> operators);
  NodePtr value(Span at, Value constant);
  NodePtr with_part(NodeKind kind, Span at, NodePtr part);
  void fail(DiagCode code, Span at, std::string message);

  std::span<const Token> tokens_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  bool failed_ = false;
};

}  // namespace mir::chat

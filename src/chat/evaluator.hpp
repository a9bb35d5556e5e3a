// Computes the text of a chat template.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/node.hpp"
#include "chat/operations.hpp"

namespace mir::chat {

/// Variables of a template, of a macro or of the body of a loop.
struct Frame {
  const Frame* outer = nullptr;  ///< variables that can be read, too
  std::vector<std::pair<std::string_view, Value>> variables{};
  std::vector<std::unique_ptr<Macro>> macros{};  ///< defined in it

  void set(std::string_view name, Value value);
};

/// One rendering of a template. Keeps the first error; after it, every value is undefined.
class Evaluator {
 public:
  Evaluator(std::vector<std::pair<std::string, Value>> variables, std::int64_t now,
            const RenderLimits& limits, Diagnostics& diagnostics);

  /// The text of a block; no value after reporting.
  std::optional<std::string> run(const Node& block);

 private:
  enum class Flow : std::uint8_t { kNext, kBreak, kContinue };
  class Level;

  // Statements.
  Flow execute(const Node& node);
  Flow execute_block(const Node& block);
  Flow execute_if(const Node& node);
  Flow execute_for(const Node& node);
  void assign(const Node& target, Value value);
  void unpack(const Node& target, const Value& value);
  void define_macro(const Node& node);
  void filter_block(const Node& node);
  void print(const Value& value, Span at);
  /// The text that a block writes.
  Value captured(const Node& block);

  // Expressions.
  Value evaluate(const Node& node);
  Value evaluate_name(const Node& node);
  Value evaluate_items(const Node& node, bool is_tuple);
  Value evaluate_dict(const Node& node);
  Value evaluate_slice(const Node& node);
  Value evaluate_call(const Node& node);
  Value evaluate_filter(const Node& node, const Value* operand = nullptr);
  Value evaluate_test(const Node& node);
  Value evaluate_concat(const Node& node);
  Value evaluate_compare(const Node& node);
  Value evaluate_conditional(const Node& node);
  /// Reports functions, which have no node.
  Value call_macro(const Node& call, const Macro& macro);
  Arguments arguments_of(const Node& node);

  /// The variable of the current frame or the nearest outer one; null if none has it.
  const Value* find_variable(std::string_view name, Span at);
  /// Sets a variable of the current frame.
  void set_variable(std::string_view name, Value value, Span at);

  template <class T>
  T kept(Result<T> result, Span at);
  bool kept(Result<void> result, Span at);
  void fail(const Error& error, Span at);
  bool failed() const { return failed_; }

  std::vector<std::pair<std::string, Value>> given_;
  Frame globals_;
  Frame top_;
  Frame* frame_ = &top_;
  std::string* output_ = nullptr;
  std::size_t depth_ = 0;
  std::size_t macros_ = 0;  // calls in progress
  std::int64_t now_;
  Budget budget_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
};

}  // namespace mir::chat

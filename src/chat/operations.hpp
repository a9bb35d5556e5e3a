// Operations on values of chat templates, with the results that Python and Jinja give.
//
// Errors have the codes kTemplateFailed, where Python raises an error, kTemplateUnsupported and
// kLimitExceeded. They know no place; the evaluator adds it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chat/render_limits.hpp"
#include "chat/value.hpp"
#include "mir/diagnostic.hpp"

namespace mir::chat {

/// Work and memory that one rendering may take.
class Budget {
 public:
  static constexpr std::size_t kMostDepth = 64;  ///< of lists and objects

  explicit Budget(const RenderLimits& limits) : limits_(limits) {}
  const RenderLimits& limits() const { return limits_; }
  /// Counts work before it is done, in units of about one value or 16 bytes.
  Result<void> work(std::uint64_t steps);
  /// Counts bytes before they are allocated.
  Result<void> bytes(std::uint64_t count);

  /// Counts a linear search for a key among entries.
  Result<void> search(std::size_t entries, std::size_t key_bytes);

  /// A string, counted.
  Result<Value> text(std::string text);
  /// Lists and objects, counted; too deep ones are an error.
  Result<Value> list(std::vector<Value> items, bool is_tuple = false);
  Result<Value> dict(std::vector<std::pair<Value, Value>> members);

 private:
  RenderLimits limits_;
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Arguments of a call, a filter or a test.
struct Arguments {
  std::vector<Value> positional{};
  std::vector<std::pair<std::string, Value>> named{};
};

/// Reads arguments in the order of their parameters.
class ArgumentReader {
 public:
  ArgumentReader(std::string_view callee, const Arguments& arguments)
      : callee_(callee), arguments_(arguments) {}

  /// The argument of the next parameter; null if it is not given.
  const Value* next(std::string_view parameter);
  /// Likewise, with an error for a value of another kind.
  Result<std::int64_t> integer(std::string_view parameter, std::int64_t otherwise);
  Result<bool> boolean(std::string_view parameter, bool otherwise);
  /// The argument as text; `otherwise` also for none.
  /// The result refers to the arguments.
  Result<std::string_view> text(std::string_view parameter, std::string_view otherwise);
  Result<Value> needed(std::string_view parameter);
  /// An error for arguments that nothing has read.
  Result<void> finish() const;

 private:
  std::string_view callee_;
  const Arguments& arguments_;
  std::size_t positional_ = 0;
  std::size_t named_ = 0;
};

Error template_failed(std::string message);
Error template_unsupported(std::string message);
/// The use of an undefined value.
Error undefined_used(const Value& value);
/// A name for a message, cut to 64 bytes.
std::string_view short_name(std::string_view name);

/// Python's str and repr.
Result<std::string> text_of(const Value& value, Budget& budget);
Result<std::string> repr_of(const Value& value, Budget& budget);
/// Python's repr of a float.
std::string float_text(double value);

struct JsonForm {
  bool ensure_ascii = false;
  int indent = -1;  ///< -1: on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool sorts_keys = false;
};
Result<std::string> json_of(const Value& value, const JsonForm& form, Budget& budget);

/// `+`, `-`, `*`, `/`, `//`, `%`, `**`.
Result<Value> binary_operation(std::string_view op, const Value& a, const Value& b, Budget& budget);
/// Python's ==: numbers by value, lists and objects by items, other objects by identity.
Result<bool> equal(const Value& a, const Value& b, Budget& budget);
/// `==`, `<`, `in`, `not in` and so on.
Result<bool> compare(std::string_view op, const Value& a, const Value& b, Budget& budget);
/// A number with its sign changed if `is_negative`.
Result<Value> negated(const Value& value, bool is_negative);

Result<Value> attribute_of(const Value& value, std::string_view name, Budget& budget);
Result<Value> item_of(const Value& value, const Value& key, Budget& budget);
/// A bound that is not given is null.
Result<Value> slice_of(const Value& value, const Value* begin, const Value* end, const Value* step,
                       Budget& budget);
/// The values that a loop visits: items of lists, keys of objects, code points of strings.
Result<std::vector<Value>> items_of(const Value& value, Budget& budget);
/// The number of them; an error for numbers and none.
Result<std::int64_t> length_of(const Value& value, Budget& budget);

/// Position of the first or last occurrence of a part in a text; `npos` if there is none. Counts
/// the characters that it compares.
Result<std::size_t> find_text(std::string_view text, std::string_view part, bool from_right,
                              Budget& budget);
/// The text without white space, or without the code points of `characters`, at the chosen ends.
Result<std::string_view> strip(std::string_view text, const std::string* characters, bool left,
                               bool right, Budget& budget);

Result<Value> apply_filter(std::string_view name, const Value& operand, const Arguments& arguments,
                           Budget& budget);
Result<bool> apply_test(std::string_view name, const Value& operand, const Arguments& arguments,
                        Budget& budget);
/// True if the value has a method of this name in Python, also one that is not supported.
bool has_method(const Value& value, std::string_view name);
Result<Value> call_method(const Value& object, std::string_view name, const Arguments& arguments,
                          Budget& budget);
/// `range`, `dict`, `namespace`, `strftime_now`, `raise_exception`; `now` is in seconds since 1970.
bool is_function(std::string_view name);
Result<Value> call_function(std::string_view name, const Arguments& arguments, std::int64_t now,
                            Budget& budget);

/// Lines of a text without their ends, as Python's str.splitlines.
Result<std::vector<std::string_view>> split_lines(std::string_view text, Budget& budget);

}  // namespace mir::chat

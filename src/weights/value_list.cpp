// Parses nested lists of numbers, such as `[[1, 2], [3, 4]]`.
#include "weights/value_list.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/tensors.hpp"
#include "weights/named_tensor.hpp"

namespace mir {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Reads by recursive descent; lists of one depth must have the extent of the first one there.
class ListParser {
 public:
  explicit ListParser(std::string_view text) : rest_(text) {}

  Result<ValueList> parse() {
    const bool parsed = value(0);
    skip_blanks();
    if (parsed && rest_.empty()) return std::move(list_);
    if (problem_.empty()) problem_ = fmt::format("'{}' follows the values", rest_.substr(0, 20));
    return Error{diag::kTensorSpecInvalid, fmt::format("values: {}", problem_)};
  }

 private:
  bool value(std::size_t depth) {
    skip_blanks();
    return rest_.starts_with('[') ? list(depth) : element(depth);
  }

  bool element(std::size_t depth) {
    const auto end = std::min(rest_.find_first_of(" \t\r\n,[]"), rest_.size());
    if (end == 0) return fail("expected a number or '['");
    if (depth != list_.shape.size() && known_depth_) return fail("numbers lie at different depths");
    known_depth_ = true;
    list_.elements.push_back(rest_.substr(0, end));
    rest_.remove_prefix(end);
    return true;
  }

  bool list(std::size_t depth) {
    if (depth == kMaxFileRank) return fail(fmt::format("nested over {} deep", kMaxFileRank));
    const bool is_first = depth == list_.shape.size();
    if (is_first && known_depth_) return fail("numbers lie at different depths");
    if (is_first) list_.shape.push_back(0);
    std::int64_t extent = 0;
    rest_.remove_prefix(1);
    for (skip_blanks(); !take(']'); ++extent) {
      if (extent > 0 && !take(',')) return fail("expected ',' or ']'");
      if (!value(depth + 1)) return false;
      skip_blanks();
    }
    if (extent == 0) known_depth_ = true;  // nothing can lie deeper
    if (is_first) list_.shape[depth] = extent;
    if (extent != list_.shape[depth])
      return fail(
          fmt::format("a list has {} items where another one has {}", extent, list_.shape[depth]));
    return true;
  }

  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  }

  bool take(char wanted) {
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool fail(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
    return false;
  }

  std::string_view rest_;
  ValueList list_;
  bool known_depth_ = false;  // the rank is list_.shape.size()
  std::string problem_;
};

}  // namespace

Result<ValueList> parse_value_list(std::string_view text) {
  return ListParser(text).parse();
}

}  // namespace mir

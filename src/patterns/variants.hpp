// The patterns that one `pattern.RewriteOp` with classes of ops, or any number of operands, stands
// for.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"

namespace mir::patterns {

/// One choice for each class, and for the number of operands.
struct Variant {
  std::map<std::string, OpKind, std::less<>> members{};  ///< by the name of the class
  std::size_t many = 1;                                  ///< operands of an input with `many`
};

struct Variants {
  std::vector<Variant> list;
  /// True if all of them were asked for by name. Others are left out where they make no pattern.
  bool are_listed = true;
};

/// "F: linalg.ReLUOp, 3 operands"; empty if there is nothing to choose.
std::string text_of(const Variant& variant, const Variants& all, const IRContext& context);

/// The variants of a pattern in its long form. No value after reporting a class that is wrong, or
/// too many variants.
std::optional<Variants> variants_of(const Op& pattern, Diagnostics& diagnostics);

/// True for an input that stands for any number of operands.
bool is_many(const Value& input, const IRContext& context);

/// The name of the class in "class.F" or "class.D.F"; empty for other ops.
std::string_view class_of(std::string_view op_name);
/// "D" in "class.D.F"; empty if there is none.
std::string_view device_of_class(std::string_view op_name);

}  // namespace mir::patterns

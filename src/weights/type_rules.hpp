// Rules that choose the element types weights are converted to; the last match wins.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "mir/tensor.hpp"
#include "weights/name_pattern.hpp"

namespace mir {

/// A short name of an element type that weights are converted to.
struct TargetType {
  std::string_view word;
  DType dtype;
};
/// "f32", "q8_0" and so on.
std::span<const TargetType> target_types();
/// The type of a short name in letters of either case, or a type of MLLM IR text that values can be
/// converted to. No value for any other text.
std::optional<DType> target_type(std::string_view text);

/// True if values can be converted to the type.
bool is_target_type(DType dtype);

/// One `[PATTERN=]TYPE`; without a pattern, it is for every name.
struct TypeRule {
  NamePattern pattern;
  DType dtype;

  /// No value if the text after the last `=` is not the name of a target type.
  static std::optional<TypeRule> parse(std::string_view text);
};

/// The type that rules choose for a tensor.
struct ChosenType {
  DType dtype;                     ///< the tensor's own if no rule applies
  std::string_view obstacle = {};  ///< why the tensor keeps its type although a rule matches
};

/// The last rule that matches the name counts. Only floating-point tensors and blocks that can be
/// dequantised are converted. They become blocks only if they have two dimensions or more and their
/// rows are whole blocks.
ChosenType chosen_type(std::span<const TypeRule> rules, std::string_view name, DType dtype,
                       std::span<const std::int64_t> shape);

}  // namespace mir

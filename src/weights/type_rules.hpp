// Rules that choose the element types weights are converted to; the last match wins.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// One `[PATTERN=]TYPE[/OTHER]`; without a pattern, it is for every name. Tensors that cannot be
/// stored in blocks of TYPE get OTHER.
struct TypeRule {
  NamePattern pattern;
  DType dtype;
  std::optional<DType> other = {};

  /// No value if the text after the last `=` is not the name of a target type, or two with a `/`
  /// between them.
  static std::optional<TypeRule> parse(std::string_view text);
};

/// The type that rules choose for a tensor.
struct ChosenType {
  DType dtype;  ///< the tensor's own if no rule applies
  /// Tensors that keep their type although a rule matches: "with fewer than two dimensions".
  std::string_view obstacle = {};
};

/// Tensors that keep their types, by the reason.
class KeptTypes {
 public:
  /// `reason` follows a noun and must outlive the object.
  void add(std::string_view name, std::string_view reason);
  bool is_empty() const { return groups_.empty(); }
  /// "3 tensors keep their types: 2 with fewer than two dimensions, such as 'a'; ..." There must be
  /// one at least.
  std::string text(std::string_view noun) const;

 private:
  struct Group {
    std::string_view reason;
    std::size_t count = 0;
    std::string first;
  };
  std::vector<Group> groups_;
};

/// The last rule that matches the name counts. Only floating-point tensors and blocks that can be
/// dequantised are converted. They become blocks only if they have two dimensions or more and their
/// rows are whole blocks; otherwise the rule's other type counts.
ChosenType chosen_type(std::span<const TypeRule> rules, std::string_view name, DType dtype,
                       std::span<const std::int64_t> shape);

}  // namespace mir

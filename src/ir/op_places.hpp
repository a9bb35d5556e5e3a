// Places of attributes, mentions and names in the text of an op. Nothing is kept for them: the text
// is scanned again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "syntax/op_text.hpp"

namespace mir {

/// Returns the text of an op from its name to its body. No value if the op does not stand at its
/// place, because a pass made it since.
std::optional<OpText> text_of(const Op& op);

enum class AttributePart : std::uint8_t { kKey, kValue };

/// Names a part of an attribute.
struct AttributePlace {
  std::string_view key;
  AttributePart part = AttributePart::kValue;
  const Value* of = nullptr;  ///< whose mentions have it; null: the op
  std::string_view in{};      ///< the attribute of the op whose entry it is; empty: the op's own
};

/// Names an operand or a result of an op.
struct MentionPlace {
  std::uint32_t index = 0;
  bool is_result = false;
};

/// Names the first mention of a value in an op: an operand, a result, or an argument of its region.
struct NamePlace {
  ValueName name;
};

/// Names the `@symbol` in the first mention of a value.
struct ParameterPlace {
  ValueName name;
};

/// Names the `@symbol` of an op.
struct SymbolPlace {};

/// Names the first element type or device of this name, in the op's name and in its types.
struct TypeWordPlace {
  std::string_view word;
};

/// Finds places in ops for findings. Each time, the text of the op is scanned: only so many
/// findings of one op in a row get a place of their own, so that the cost stays linear. A part that
/// the text does not have is at the place of the op.
class OpPlaces {
 public:
  static constexpr std::size_t kMost = 100;

  /// Returns where the text of the op states the attribute: as its own, or a launch among its
  /// options. If it states only the attribute `in`, the value of that.
  Span find(const Op& op, const AttributePlace& place);
  Span find(const Op& op, const MentionPlace& place);
  Span find(const Op& op, const NamePlace& place);
  Span find(const Op& op, const ParameterPlace& place);
  Span find(const Op& op, SymbolPlace place);
  Span find(const Op& op, const TypeWordPlace& place);

 private:
  /// The text of the op, unless its share of findings with a place is spent.
  std::optional<OpText> text_for(const Op& op);

  const Op* op_ = nullptr;
  std::size_t found_ = 0;
};

/// Returns where the text of the op whose name is at `op` states the value of an attribute; `op` if
/// it does not.
Span value_span(const SourceManager& sources, Span op, std::string_view key);

}  // namespace mir

// Places of attributes in the text of an op. Nothing is kept for them: the text is scanned again.
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

/// Finds the places of attributes for findings. Each time, the text of the op is scanned: only so
/// many findings of one op in a row get a place of their own, so that the cost stays linear.
class AttributePlaces {
 public:
  static constexpr std::size_t kMost = 100;

  /// Returns where the text of the op states the attribute: as its own, or a launch among its
  /// options. If it states only the attribute `in`, the value of that, and otherwise the place of
  /// the op.
  Span find(const Op& op, const AttributePlace& place);

 private:
  const Op* op_ = nullptr;
  std::size_t found_ = 0;
};

/// Returns where the text of the op whose name is at `op` states the value of an attribute; `op` if
/// it does not.
Span value_span(const SourceManager& sources, Span op, std::string_view key);

}  // namespace mir

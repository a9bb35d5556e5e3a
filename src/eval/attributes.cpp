// Reads sequences of numbers, exactly if they are whole.
#include "eval/attributes.hpp"

#include "support/number_text.hpp"

namespace mir {

ref::Sequence sequence_of(const OpAttributes& attributes) {
  const auto whole = [&](AttrKey key) -> std::optional<std::uint64_t> {
    const auto number = Decimal::read(attributes.number_text(key));
    const auto magnitude = number && number->is_whole() ? number->whole_part() : std::nullopt;
    if (!magnitude) return std::nullopt;
    return number->is_negative() ? 0 - *magnitude : *magnitude;
  };
  ref::Sequence sequence{.start = attributes.number(key::kStart),
                         .step = attributes.number(key::kStep)};
  const auto start = whole(key::kStart), step = whole(key::kStep);
  if (start && step) sequence.whole = {.start = *start, .step = *step};
  return sequence;
}

}  // namespace mir

// Words for traits, as texts of declarations and patterns have them.
#pragma once

#include "mir/context.hpp"

namespace mir {

template <class Value>
struct RowWord {
  std::string_view name;
  Value value;
};

inline constexpr RowWord<Trait> kTraitWords[] = {
    {"pure", Trait::kPure},
    {"elementwise", Trait::kElementwise},
    {"commutative", Trait::kCommutative},
    {"view", Trait::kView},
    {"terminator", Trait::kTerminator},
    {"symbol", Trait::kSymbol},
    {"isolated", Trait::kIsolated},
    {"same_shape", Trait::kSameShape},
    {"dump_only", Trait::kDumpOnly},
    {"no_meaning", Trait::kNoMeaning},
    {"typed_by_name", Trait::kTypedByName},
    {"may_refuse", Trait::kMayRefuse},
    {"moves", Trait::kMoves},
    {"same_bytes", Trait::kSameBytes},
    {"portable_only", Trait::kPortableOnly},
    {"weighs_operand", Trait::kWeighsOperand},
    {"idempotent", Trait::kIdempotent},
    {"involution", Trait::kInvolution},
    {"callable", Trait::kCallable},
    {"template", Trait::kTemplate},
};

}  // namespace mir

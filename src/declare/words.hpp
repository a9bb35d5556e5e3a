// The words for attribute types, traits and effects, which declarations are read and written with.
#pragma once

#include "mir/context.hpp"

namespace mir::declare {

template <class Value>
struct Word {
  std::string_view name;
  Value value;
};

inline constexpr Word<AttrType> kTypeWords[] = {
    {"int", AttrType::kInt},
    {"float", AttrType::kFloat},
    {"bool", AttrType::kBool},
    {"string", AttrType::kString},
    {"symbol", AttrType::kSymbolRef},
    {"dims", AttrType::kDims},
    {"ints", AttrType::kInts},
    {"dim", AttrType::kDim},
    {"dtype", AttrType::kDType},
    {"device", AttrType::kDevice},
    {"slices", AttrType::kSlices},
    {"dict", AttrType::kDict},
    {"quantisation", AttrType::kQuantisation},
    {"type", AttrType::kType},
    {"types", AttrType::kTypes},
    {"any", AttrType::kAny},
};

inline constexpr Word<Trait> kTraitWords[] = {
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

inline constexpr Word<Effect> kEffectWords[] = {
    {"reads_state", Effect::kReadsState},
    {"writes_state", Effect::kWritesState},
    {"writes_operand0", Effect::kWritesOperand0},
    {"writes_operand1", Effect::kWritesOperand1},
    {"control", Effect::kControl},
};

}  // namespace mir::declare

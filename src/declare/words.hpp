// The words for attribute types and effects, which declarations are read and written with.
#pragma once

#include "dialects/trait_words.hpp"
#include "mir/context.hpp"

namespace mir::declare {

inline constexpr RowWord<AttrType> kTypeWords[] = {
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
    {"maps", AttrType::kMaps},
    {"map", AttrType::kMap},
    {"dict", AttrType::kDict},
    {"quantisation", AttrType::kQuantisation},
    {"type", AttrType::kType},
    {"types", AttrType::kTypes},
    {"any", AttrType::kAny},
};

inline constexpr RowWord<Effect> kEffectWords[] = {
    {"reads_state", Effect::kReadsState},
    {"writes_state", Effect::kWritesState},
    {"writes_operand0", Effect::kWritesOperand0},
    {"writes_operand1", Effect::kWritesOperand1},
    {"control", Effect::kControl},
};

}  // namespace mir::declare

// linalg rows: views, copies and conversions.
#pragma once

#include "dialects/folds.hpp"
#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr Trait kPureView = Trait::kPure | Trait::kView;
inline constexpr Trait kPureSame = Trait::kPure | Trait::kSameShape;

/// Attribute of ops whose result is otherwise printed under the number of the operand.
inline constexpr AttrRow kEnableSsa = {
    .name = "enable_ssa",
    .type = AttrType::kBool,
    .default_text = "false",
    .summary = "upstream gives the result a storage and a number of its own"};

inline constexpr AttrRow kViewAttributes[] = {
    {.name = "to_shape", .type = AttrType::kDims, .summary = "the new extents; one may be -1"},
    kEnableSsa,
};
inline constexpr AttrRow kReshapeAttributes[] = {
    {.name = "shape", .type = AttrType::kDims, .summary = "the new extents; one may be -1"},
};
inline constexpr AttrRow kExtentAttributes[] = {
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "the dimension"},
};
inline constexpr AttrRow kMatchShapeAttributes[] = {
    {.name = "shape",
     .type = AttrType::kDims,
     .required = true,
     .summary = "extents that the operand has when it runs"},
};
inline constexpr AttrRow kTransposeAttributes[] = {
    {.name = "dim0", .type = AttrType::kInt, .required = true, .summary = "one dimension"},
    {.name = "dim1", .type = AttrType::kInt, .required = true, .summary = "the other"},
};
inline constexpr AttrRow kPermuteAttributes[] = {
    {.name = "axis",
     .type = AttrType::kInts,
     .required = true,
     .summary = "result dimension i is operand dimension axis[i]"},
};
inline constexpr AttrRow kSliceAttributes[] = {
    {.name = "indices",
     .type = AttrType::kSlices,
     .required = true,
     .summary = "start, end and step per dimension, each of which may be missing"},
    kEnableSsa,
};
inline constexpr AttrRow kSplitAttributes[] = {
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "dimension to cut"},
    {.name = "split_size_or_sections",
     .type = AttrType::kDims,
     .required = true,
     .summary = "one entry: extent of every piece; several: the extents"},
};
inline constexpr AttrRow kConcatAttributes[] = {
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "dimension to join"},
};
inline constexpr AttrRow kStackAttributes[] = {
    {.name = "dim",
     .type = AttrType::kInt,
     .required = true,
     .summary = "the place of the new one"},
};
inline constexpr AttrRow kRepeatAttributes[] = {
    {.name = "dim", .type = AttrType::kInt, .required = true, .summary = "dimension to repeat"},
    {.name = "repeat_times",
     .type = AttrType::kInt,
     .required = true,
     .summary = "how often each slice is repeated, one copy after the other"},
};
inline constexpr std::string_view kPadModes[] = {"constant", "reflect", "replicate", "circular"};
inline constexpr AttrRow kPadAttributes[] = {
    {.name = "pad",
     .type = AttrType::kInts,
     .required = true,
     .summary = "before and after of the last dimension, of the one before it, and so on"},
    {.name = "mode",
     .type = AttrType::kString,
     .default_text = "constant",
     .summary = "what the new elements are",
     .choices = kPadModes},
    {.name = "value",
     .type = AttrType::kFloat,
     .default_text = "0",
     .summary = "what mode constant pads with"},
};
inline constexpr AttrRow kCastTypeAttributes[] = {
    {.name = "dtype", .type = AttrType::kDType, .summary = "element type of the result"},
};
inline constexpr AttrRow kX2XAttributes[] = {
    {.name = "device", .type = AttrType::kDevice, .summary = "device of the result"},
};
inline constexpr AttrRow kCopyAttributes[] = {
    {.name = "indices",
     .type = AttrType::kSlices,
     .summary = "the part of the destination that is replaced, as in SliceOp; missing: all of it"},
};
inline constexpr std::string_view kFillTypes[] = {"zeros", "ones", "specific", "random", "arange"};
inline constexpr AttrRow kFillAttributes[] = {
    {.name = "type",
     .type = AttrType::kString,
     .required = true,
     .summary = "what the elements are",
     .choices = kFillTypes},
    {.name = "value",
     .type = AttrType::kFloat,
     .default_text = "0",
     .summary = "every element, for specific"},
    {.name = "start",
     .type = AttrType::kFloat,
     .default_text = "0",
     .summary = "first element of arange, lowest of random"},
    {.name = "end",
     .type = AttrType::kFloat,
     .default_text = "0",
     .summary = "bound of arange and random"},
    {.name = "step",
     .type = AttrType::kFloat,
     .default_text = "0",
     .summary = "difference of neighbours, for arange"},
    {.name = "seed", .type = AttrType::kInt, .default_text = "42", .summary = "for random"},
};

inline constexpr OpRow kShapeRows[] = {
    {.name = "ViewOp",
     .type_name = "View",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kPureView | Trait::kMoves | Trait::kSameBytes,
     .attributes = kViewAttributes,
     .infer = rules::view,
     .page = "movement",
     .summary = "The same elements in the same order under other extents.",
     .example = "linalg.CPU.ViewOp [to_shape:[1, $S, 8, 64]] "
                "(%0:tensor<[1, $S, 512], Float32, CPU>) -> "
                "(%1:tensor<[1, $S, 8, 64], Float32, CPU>)"},
    {.name = "ReshapeOp",
     .type_name = "Reshape",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves | Trait::kSameBytes,
     .attributes = kReshapeAttributes,
     .infer = rules::reshape,
     .page = "movement",
     .summary = "As ViewOp, but always a fresh tensor.",
     .example = "linalg.CPU.ReshapeOp [shape:[6, -1]] (%0:tensor<[2, 3, 4], Float32, CPU>) -> "
                "(%1:tensor<[6, 4], Float32, CPU>)"},
    {.name = "ExtentOp",
     .type_name = "Extent",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kPortableOnly,
     .fold = folds::extent,
     .attributes = kExtentAttributes,
     .infer = rules::extent,
     .work = works::results_once,
     .page = "movement",
     .summary = "The extent of one dimension, as a number.",
     .example = "linalg.CPU.ExtentOp [dim:1] (%0:tensor<[1, $S, 64], Float32, CPU>) -> "
                "(%1:tensor<[1], Int64, CPU>)"},
    {.name = "MatchShapeOp",
     .type_name = "MatchShape",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves | Trait::kSameBytes | Trait::kMayRefuse |
               Trait::kPortableOnly,
     .attributes = kMatchShapeAttributes,
     .infer = rules::match_shape,
     .page = "movement",
     .summary = "The same tensor with extents that a run checks.",
     .example = "linalg.CPU.MatchShapeOp [shape:[1, 32, 64]] "
                "(%0:tensor<[1, $S, 64], Float32, CPU>) -> (%1:tensor<[1, 32, 64], Float32, CPU>)"},
    {.name = "TransposeOp",
     .type_name = "Transpose",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves,
     .fold = folds::transpose,
     .attributes = kTransposeAttributes,
     .infer = rules::transpose,
     .page = "movement",
     .summary = "Two dimensions exchanged.",
     .example = "linalg.CPU.TransposeOp [dim0:1, dim1:2] "
                "(%0:tensor<[1, $S, 8, 64], Float32, CPU>) -> "
                "(%1:tensor<[1, 8, $S, 64], Float32, CPU>)"},
    {.name = "PermuteOp",
     .type_name = "Permute",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves,
     .attributes = kPermuteAttributes,
     .infer = rules::permute,
     .page = "movement",
     .summary = "Dimensions in another order.",
     .example = "linalg.CPU.PermuteOp [axis:[1, 0, 2, 3]] "
                "(%0:tensor<[$N, 3, 16, 80], Float32, CPU>) -> "
                "(%1:tensor<[3, $N, 16, 80], Float32, CPU>)"},
    {.name = "SliceOp",
     .type_name = "Slice",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kPureView | Trait::kMoves,
     .attributes = kSliceAttributes,
     .infer = rules::slice,
     .work = works::results_twice,
     .page = "movement",
     .summary = "A part of every dimension: from start to before end in steps.",
     .example = "linalg.CPU.SliceOp [indices:[{}, {\"start\":-1,\"end\":0,\"step\":1}, {}]] "
                "(%0:tensor<[1, $S, 64], Float32, CPU>) -> (%1:tensor<[1, 1, 64], Float32, CPU>)"},
    {.name = "SplitOp",
     .type_name = "Split",
     .operands = exactly(1),
     .results = at_least(1),
     .traits = kPureView | Trait::kMoves,
     .attributes = kSplitAttributes,
     .infer = rules::split,
     .page = "movement",
     .summary = "Pieces of a tensor along one dimension.",
     .example = "linalg.CPU.SplitOp [dim:0, split_size_or_sections:[1]] "
                "(%0:tensor<[2, $N, 80], Float32, CPU>) -> "
                "(%1:tensor<[1, $N, 80], Float32, CPU>, %2:tensor<[1, $N, 80], Float32, CPU>)"},
    {.name = "ConcatOp",
     .type_name = "Concat",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves,
     .attributes = kConcatAttributes,
     .infer = rules::concat,
     .page = "movement",
     .summary = "Tensors one after the other along one dimension.",
     .example = "linalg.CPU.ConcatOp [dim:-1] (%0:tensor<[1, $S, 32], Float32, CPU>, "
                "%1:tensor<[1, $S, 16], Float32, CPU>) -> (%2:tensor<[1, $S, 48], Float32, CPU>)"},
    {.name = "StackOp",
     .type_name = "Stack",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves,
     .attributes = kStackAttributes,
     .infer = rules::stack,
     .page = "movement",
     .summary = "Tensors of one shape along a new dimension.",
     .example = "linalg.CPU.StackOp [dim:0] (%0:tensor<[3, 4], Float32, CPU>, "
                "%1:tensor<[3, 4], Float32, CPU>) -> (%2:tensor<[2, 3, 4], Float32, CPU>)"},
    {.name = "RepeatOp",
     .type_name = "Repeat",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves,
     .attributes = kRepeatAttributes,
     .infer = rules::repeat,
     .page = "movement",
     .summary = "Each slice of a dimension several times in a row: a b becomes a a b b.",
     .example = "linalg.CPU.RepeatOp [dim:1, repeat_times:4] "
                "(%0:tensor<[1, 2, $S, 64], Float32, CPU>) -> "
                "(%1:tensor<[1, 8, $S, 64], Float32, CPU>)"},
    {.name = "PadOp",
     .type_name = "Pad",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kPadAttributes,
     .infer = rules::pad,
     .page = "convolution",
     .summary = "Margins around the last dimensions.",
     .example = "linalg.CPU.PadOp [pad:[1, 2], mode:reflect] (%0:tensor<[1, 4, 8], Float32, CPU>) "
                "-> (%1:tensor<[1, 4, 11], Float32, CPU>)"},
};

inline constexpr OpRow kCopyRows[] = {
    {.name = "CastTypeOp",
     .type_name = "CastType",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kElementwise,
     .attributes = kCastTypeAttributes,
     .infer = rules::cast_type,
     .page = "movement",
     .summary = "The elements as another element type.",
     .example = "linalg.CPU.CastTypeOp [dtype:Float16] (%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float16, CPU>)"},
    {.name = "X2XOp",
     .type_name = "X2X",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kMoves | Trait::kSameBytes,
     .attributes = kX2XAttributes,
     .infer = rules::x2x,
     .page = "movement",
     .summary = "A copy on another device.",
     .example = "linalg.CPU.X2XOp [device:QNN] (%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, QNN>)"},
    {.name = "ContiguousOp",
     .type_name = "Contiguous",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kPureSame | Trait::kMoves | Trait::kSameBytes,
     .infer = rules::same,
     .page = "movement",
     .summary = "The same tensor in row-major order.",
     .example = "linalg.CPU.ContiguousOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "CloneOp",
     .type_name = "Clone",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kPureSame | Trait::kMoves | Trait::kSameBytes,
     .infer = rules::same,
     .page = "movement",
     .summary = "A copy.",
     .example = "linalg.CPU.CloneOp(%0:tensor<[2, 3], Float32, CPU>) -> "
                "(%1:tensor<[2, 3], Float32, CPU>)"},
    {.name = "CopyOp",
     .type_name = "Copy",
     .operands = exactly(2),
     .results = between(0, 1),
     .traits = Trait::kPure | Trait::kMoves,
     .effects = Effect::kWritesOperand1,
     .attributes = kCopyAttributes,
     .infer = rules::copy,
     .work = works::each_copied_whole,
     .page = "movement",
     .summary = "Operand 1 with a part replaced by operand 0; dumps write into operand 1 instead.",
     .example = "linalg.CPU.CopyOp "
                "[indices:[{}, {\"start\":2,\"end\":6,\"step\":1}, {}]] "
                "(%0:tensor<[1, 4, 64], Float32, CPU>, %1:tensor<[1, 16, 64], Float32, CPU>) -> "
                "(%2:tensor<[1, 16, 64], Float32, CPU>)"},
    {.name = "FillOp",
     .type_name = "Fill",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = kPureSame,
     .effects = Effect::kWritesOperand0,
     .attributes = kFillAttributes,
     .infer = rules::fill,
     .work = works::results_once,
     .page = "movement",
     .summary = "A tensor of the operand's type with stated content; dumps write into the operand.",
     .example = "linalg.CPU.FillOp [type:arange, start:0.0, end:6.0, step:1.0] "
                "(%0:tensor<[6], Float32, CPU>) -> (%1:tensor<[6], Float32, CPU>)"},
};

}  // namespace mir::dialect_tables

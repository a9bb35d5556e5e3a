// linalg rows: convolutions, resampling, Fourier transforms, and what has no family.
#pragma once

#include "dialects/rules.hpp"
#include "dialects/work_rules.hpp"
#include "mir/context.hpp"

namespace mir::dialect_tables {

inline constexpr AttrRow kConv1DAttributes[] = {
    {.name = "in_channels", .type = AttrType::kInt, .summary = "extent of dimension 1"},
    {.name = "out_channels", .type = AttrType::kInt, .summary = "that of the result"},
    {.name = "kernel_size", .type = AttrType::kInt, .summary = "taps"},
    {.name = "stride", .type = AttrType::kInt, .default_text = "1", .summary = "step of the taps"},
    {.name = "padding",
     .type = AttrType::kInt,
     .default_text = "0",
     .summary = "zeros on both sides"},
    {.name = "dilation",
     .type = AttrType::kInt,
     .default_text = "1",
     .summary = "distance of taps"},
    {.name = "groups",
     .type = AttrType::kInt,
     .default_text = "1",
     .summary = "groups of channels that do not mix"},
    {.name = "bias", .type = AttrType::kBool, .required = true, .summary = "adds the bias"},
};
inline constexpr AttrRow kConv2DAttributes[] = {
    {.name = "in_channels", .type = AttrType::kInt, .summary = "input channels"},
    {.name = "out_channels", .type = AttrType::kInt, .summary = "result channels"},
    {.name = "kernel_size", .type = AttrType::kInts, .summary = "height and width of the kernel"},
    {.name = "stride", .type = AttrType::kInts, .default_text = "[1, 1]", .summary = "its steps"},
    {.name = "padding",
     .type = AttrType::kInts,
     .default_text = "[0, 0]",
     .summary = "zeros on both sides"},
    {.name = "dilation",
     .type = AttrType::kInts,
     .default_text = "[1, 1]",
     .summary = "distance of taps"},
    {.name = "bias", .type = AttrType::kBool, .required = true, .summary = "adds the bias"},
    {.name = "impl_type",
     .type = AttrType::kString,
     .default_text = "Default",
     .summary = "QNN_LPBQ...: channels are the last dimension, the result is quantised"},
};
inline constexpr AttrRow kConv3DAttributes[] = {
    {.name = "in_channels", .type = AttrType::kInt, .summary = "extent of dimension 1"},
    {.name = "out_channels", .type = AttrType::kInt, .summary = "that of the result"},
    {.name = "kernel_size",
     .type = AttrType::kInts,
     .summary = "depth, height and width of the kernel"},
    {.name = "stride", .type = AttrType::kInts, .required = true, .summary = "its steps"},
    {.name = "bias", .type = AttrType::kBool, .required = true, .summary = "adds the bias"},
    {.name = "impl_type",
     .type = AttrType::kString,
     .default_text = "Default",
     .summary = "kernel that upstream chose; without meaning"},
};
inline constexpr std::string_view kInterpolations[] = {"nearest", "linear", "bilinear", "bicubic",
                                                       "trilinear"};
inline constexpr AttrRow kInterpolateAttributes[] = {
    {.name = "size", .type = AttrType::kDims, .summary = "new extents of the last dimensions"},
    {.name = "scale_factor",
     .type = AttrType::kAny,
     .summary = "array of factors for them; size wins"},
    {.name = "mode",
     .type = AttrType::kString,
     .default_text = "nearest",
     .summary = "how elements between others are computed",
     .choices = kInterpolations},
    {.name = "align_corners",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "the outer elements keep their places"},
    {.name = "antialias",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "blurs before it shrinks (bilinear, bicubic)"},
};
// Attributes that short-time transforms share.
inline constexpr AttrRow kTransformLength = {.name = "n_fft",
                                             .type = AttrType::kInt,
                                             .required = true,
                                             .summary = "length of the transform"};
inline constexpr AttrRow kHopLength = {.name = "hop_length",
                                       .type = AttrType::kInt,
                                       .required = true,
                                       .summary = "distance of frames"};
inline constexpr AttrRow kWindowLength = {.name = "win_length",
                                          .type = AttrType::kInt,
                                          .required = true,
                                          .summary = "samples of a frame"};
inline constexpr AttrRow kOneSided = {.name = "onesided",
                                      .type = AttrType::kBool,
                                      .default_text = "true",
                                      .summary = "only frequencies up to n_fft / 2; must be true"};
inline constexpr std::string_view kStftPadModes[] = {"reflect", "constant"};
inline constexpr AttrRow kStftAttributes[] = {
    kTransformLength,
    kHopLength,
    kWindowLength,
    {.name = "center",
     .type = AttrType::kBool,
     .required = true,
     .summary = "pads half a transform on both sides first"},
    kOneSided,
    {.name = "pad_mode",
     .type = AttrType::kString,
     .default_text = "reflect",
     .summary = "what is beyond the ends",
     .choices = kStftPadModes},
    {.name = "return_complex",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "complex elements instead of a last dimension of 2"},
};
inline constexpr std::string_view kIstftPadModes[] = {"reflect", "constant", "same"};
inline constexpr AttrRow kIstftAttributes[] = {
    kTransformLength,
    kHopLength,
    kWindowLength,
    {.name = "center",
     .type = AttrType::kBool,
     .required = true,
     .summary = "cuts half a transform on both sides at the end"},
    kOneSided,
    {.name = "pad_mode",
     .type = AttrType::kString,
     .default_text = "reflect",
     .summary = "what is beyond the ends",
     .choices = kIstftPadModes},
    {.name = "normalized",
     .type = AttrType::kBool,
     .default_text = "false",
     .summary = "divides by n_fft once more"},
};
inline constexpr AttrRow kParamAttributes[] = {
    {.name = "name", .type = AttrType::kString, .required = true, .summary = "whole symbol"},
    {.name = "shape",
     .type = AttrType::kInts,
     .required = true,
     .summary = "extents; empty: as stored"},
};
inline constexpr AttrRow kEinsumAttributes[] = {
    {.name = "equation",
     .type = AttrType::kString,
     .required = true,
     .summary = "index letters of the operands and the result"},
};
inline constexpr AttrRow kLinalgRegisterAttributes[] = {
    {.name = "symbol", .type = AttrType::kString, .required = true, .summary = "name of the op"},
};

inline constexpr WeightRow kConv1DWeights[] = {
    {.suffix = ".weight",
     .shape = "[stated out_channels, stated in_channels / groups, kernel_size]"},
    {.suffix = ".bias", .present_if = "bias", .shape = "[stated out_channels]"},
};
inline constexpr WeightRow kConvWeights[] = {
    {.suffix = ".weight", .shape = "[stated out_channels, stated in_channels, kernel_size...]"},
    {.suffix = ".bias", .present_if = "bias", .shape = "[stated out_channels]"},
};

inline constexpr OpRow kConvolutionRows[] = {
    {.name = "Conv1DOp",
     .type_name = "Conv1D",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kWeighsOperand,
     .attributes = kConv1DAttributes,
     .weights = kConv1DWeights,
     .infer = rules::conv_1d,
     .work = works::convolution_products,
     .page = "convolution",
     .summary = "Cross-correlation of [B, C, T] with a kernel of channels.",
     .example = "linalg.CPU.Conv1DOp <name=\"encoder.conv1\"> [in_channels:80, out_channels:384, "
                "kernel_size:3, padding:1, bias:true] (%0:tensor<[1, 80, $T], Float32, CPU>) -> "
                "(%1:tensor<[1, 384, $T], Float32, CPU>)"},
    {.name = "Conv2DOp",
     .type_name = "Conv2D",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kWeighsOperand,
     .attributes = kConv2DAttributes,
     .weights = kConvWeights,
     .infer = rules::conv_2d,
     .work = works::convolution_products,
     .page = "convolution",
     .summary = "Cross-correlation of [B, C, H, W] with a kernel of channels.",
     .example = "linalg.CPU.Conv2DOp <name=\"patch_embed\"> [in_channels:3, out_channels:64, "
                "kernel_size:[16, 16], stride:[16, 16], bias:true] "
                "(%0:tensor<[1, 3, 224, 224], Float32, CPU>) -> "
                "(%1:tensor<[1, 64, 14, 14], Float32, CPU>)"},
    {.name = "Conv3DOp",
     .type_name = "Conv3D",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kWeighsOperand,
     .attributes = kConv3DAttributes,
     .weights = kConvWeights,
     .infer = rules::conv_3d,
     .work = works::convolution_products,
     .page = "convolution",
     .summary = "Cross-correlation of [B, C, D, H, W] with a kernel of channels.",
     .example = "linalg.CPU.Conv3DOp <name=\"visual.patch_embed.proj\"> [in_channels:3, "
                "out_channels:1280, kernel_size:[2, 14, 14], stride:[2, 14, 14], bias:false] "
                "(%0:tensor<[$N, 3, 2, 14, 14], Float32, CPU>) -> "
                "(%1:tensor<[$N, 1280, 1, 1, 1], Float32, CPU>)"},
    {.name = "InterpolateOp",
     .type_name = "Interpolate",
     .operands = exactly(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kInterpolateAttributes,
     .infer = rules::interpolate,
     .page = "convolution",
     .summary = "The last dimensions resampled to other extents.",
     .example = "linalg.CPU.InterpolateOp [size:[32, 32], mode:bilinear] "
                "(%0:tensor<[1, 3, 16, 16], Float32, CPU>) -> "
                "(%1:tensor<[1, 3, 32, 32], Float32, CPU>)"},
};

inline constexpr OpRow kSignalRows[] = {
    {.name = "STFTOp",
     .type_name = "STFT",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kStftAttributes,
     .infer = rules::stft,
     .page = "signal",
     .summary = "Fourier transforms of overlapping windowed frames of a signal.",
     .example = "linalg.CPU.STFTOp [n_fft:16, hop_length:4, win_length:16, center:true] "
                "(%0:tensor<[1, 64], Float32, CPU>, %1:tensor<[1, 16], Float32, CPU>) -> "
                "(%2:tensor<[1, 9, 17, 2], Float32, CPU>)"},
    {.name = "ISTFTOp",
     .type_name = "ISTFT",
     .operands = exactly(2),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kIstftAttributes,
     .infer = rules::istft,
     .page = "signal",
     .summary = "The signal whose frames have the given transforms.",
     .example = "linalg.CPU.ISTFTOp [n_fft:16, hop_length:4, win_length:16, center:true] "
                "(%0:tensor<[1, 9, 17, 2], Float32, CPU>, %1:tensor<[1, 16], Float32, CPU>) -> "
                "(%2:tensor<[1, 64], Float32, CPU>)"},
};

inline constexpr OpRow kOtherRows[] = {
    {.name = "EinsumOp",
     .type_name = "Einsum",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .attributes = kEinsumAttributes,
     .infer = rules::einsum,
     .work = works::products_of_indices,
     .page = "extension",
     .summary = "Sums of products over named indices; upstream declares the class and no meaning.",
     .example = "linalg.CPU.EinsumOp [equation:\"ij,jk->ik\"] (%0:tensor<[2, 3], Float32, CPU>, "
                "%1:tensor<[3, 4], Float32, CPU>) -> (%2:tensor<[2, 4], Float32, CPU>)"},
    {.name = "ParamOp",
     .type_name = "Param",
     .results = exactly(1),
     .traits = Trait::kPure | Trait::kTypedByName | Trait::kMoves,
     .attributes = kParamAttributes,
     .page = "structure",
     .summary = "A parameter as a value.",
     .example = "linalg.CPU.ParamOp [name:mlp.gate.weight, shape:[128, 64]] () -> "
                "(%0:tensor<[128, 64], Float32, CPU>)"},
    {.name = "CustomizedOp",
     .type_name = "Customized",
     .operands = at_least(0),
     .results = at_least(0),
     .page = "extension",
     .summary = "An op of a plugin; dumps print the plugin's own name in its place.",
     .example = "linalg.CPU.CustomizedOp [name=\"m.op\"](%0:tensor<[4], Float32, CPU>) -> "
                "(%1:tensor<[4], Float32, CPU>)"},
    {.name = "register",
     .traits = Trait::kSymbol,
     .attributes = kLinalgRegisterAttributes,
     .page = "structure",
     .summary = "Declares the name of an op of the type in angle brackets.",
     .example = "linalg.CPU.register<Linear>() -> ()[symbol:model.q_proj]"},
};

}  // namespace mir::dialect_tables

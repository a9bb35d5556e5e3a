// Signatures of rules, in the language of declared dialects.
#include "dialects/signatures.hpp"

#include <algorithm>

#include "dialects/rules.hpp"

namespace mir {

namespace {

constexpr std::string_view kX = "%x:tensor<[$n..], T, D>", kLikeX = "%y:tensor<[$n..], T, D>",
                           kXOfInts = "%y:tensor<[$n..], Int32, D>";
constexpr std::string_view kA = "%a:tensor<[$a..], T, D>", kB = "%b:tensor<[$b..], U, E>",
                           kTruths = "%y:tensor<[$r..], Bool, D>";
constexpr SignatureEntry kBroadcast{"r..", "broadcast($a.., $b..)"};
/// Operands of attention and rotations: batch, sequence and heads in two orders.
constexpr std::string_view kFour = "%x:tensor<[$x0, $x1, $x2, $x3], T, D>",
                           kLikeFour = "%y:tensor<[$x0, $x1, $x2, $x3], T, D>";
constexpr std::string_view kResult = "%y:tensor<[$r..], T, D>";

constexpr SignatureEntry kReduced{
    "r..",
    "select($dim in [all, 2147483647], select($keep_dim, repeat(1, length($n..)), [1]), "
    "select($keep_dim, set($n.., $dim, 1), remove($n.., $dim)))"};

constexpr RuleSignature kSignatures[] = {
    {"absolute",
     {kX},
     {"%y:tensor<[$n..], R, D>"},
     {{{"R", "select(T == ComplexFP32, Float32, select(T == ComplexFP64, Float32, T))"}}}},
    {"argsort", {kX}, {kXOfInts}},
    {"binary",
     {kA, kB},
     {"%y:tensor<[$r..], R, D>"},
     {{kBroadcast,
       {"R",
        "select(U in [ComplexFP32, ComplexFP64] && !(T in [ComplexFP32, ComplexFP64]), U, T)"}}}},
    {"binary_real", {kA, kB}, {kResult}, {kBroadcast}},
    {"cast_type", {kX}, {"%y:tensor<[$n..], R, D>"}, {{{"R", "$dtype"}}}},
    {"causal_mask", {kX}, {kLikeX}},
    {"compare", {kA, kB}, {kTruths}, {kBroadcast}},
    {.rule = "conv_1d",
     .operands = {"%x:tensor<[$b, $c, $t], T, D>"},
     .results = {"%y:tensor<[$b, $out_channels, $l], T, D>"},
     .let = {{{"l", "($t + 2 * $padding - $dilation * ($kernel_size - 1) - 1) / $stride + 1"}}}},
    {.rule = "conv_2d",
     .operands = {kFour},
     .results = {"%y:tensor<[$x0, $y1, $y2, $y3], R, D>"},
     .let = {{{"q", "starts_with($impl_type, QNN_LPBQ_)"},
              {"h",
               "(select($q, $x1, $x2) + 2 * $padding[0] - $dilation[0] * ($kernel_size[0] - 1) - "
               "1) / $stride[0] + 1"},
              {"w",
               "(select($q, $x2, $x3) + 2 * $padding[1] - $dilation[1] * ($kernel_size[1] - 1) - "
               "1) / $stride[1] + 1"},
              {"y1", "select($q, $h, $out_channels)"},
              {"y2", "select($q, $w, $h)"},
              {"y3", "select($q, $out_channels, $w)"},
              {"R", "select($q, UInt16PerTensor, T)"}}}},
    {.rule = "conv_3d",
     .operands = {"%x:tensor<[$b, $c, $x0, $x1, $x2], T, D>"},
     .results = {"%y:tensor<[$b, $out_channels, $d, $h, $w], T, D>"},
     .let = {{{"d", "($x0 - $kernel_size[0]) / $stride[0] + 1"},
              {"h", "($x1 - $kernel_size[1]) / $stride[1] + 1"},
              {"w", "($x2 - $kernel_size[2]) / $stride[2] + 1"}}}},
    {"copy", {"%src:tensor<[$s..], U, E>", "%dst:tensor<[$n..], T, D>"}, {kLikeX}},
    {"cum_sum", {kX}, {kLikeX}},
    {"embedding",
     {"%ids:tensor<[$n..], I, D>"},
     {"%y:tensor<[$n.., $hidden_size], R, D>"},
     {{{"R", "$dtype"}}}},
    {"equal", {kA, kB}, {kTruths}, {kBroadcast}},
    {"extent", {kX}, {"%y:tensor<[1], Int64, D>"}},
    {.rule = "extremum", .operands = {kX}, .results = {kResult}, .let = {{kReduced}}},
    {"fill", {kX}, {kLikeX}},
    {"flash_attention2", {kFour}, {kLikeFour}},
    {.rule = "gather",
     .operands = {"%table:tensor<[$n..], T, D>", "%indices:tensor<[$i..], I, E>"},
     .results = {kResult},
     .let = {{{"at", "axis($dim, length($n..))"},
              {"r..", "concat(concat(take($n.., $at), $i..), drop($n.., $at + 1))"}}}},
    {.rule = "kv_cache",
     .operands = {kFour, "%v:tensor<[$v0, $v1, $v2, $v3], U, E>"},
     .results = {"%k:tensor<[$x0, $a, $b, $x3], T, D>", "%w:tensor<[$x0, $a, $b, $x3], U, E>"},
     .let = {{{"a", "select($use_fa2, $past + $x1, $x1)"},
              {"b", "select($use_fa2, $x2, $past + $x2)"}}}},
    {"layer_norm", {kX}, {kLikeX}},
    {"layer_norm_2d", {kFour}, {kLikeFour}},
    {.rule = "linear",
     .operands = {"%x:tensor<[$n.., $k], T, D>"},
     .results = {"%y:tensor<[$n.., $out_channels], R, D>"},
     .let = {{{"R",
               "select(starts_with($impl_type, KaiLinear_f32_) || $impl_type == GGUF, Float32, "
               "select(starts_with($impl_type, KaiLinear_f16_) || starts_with($impl_type, "
               "KaiLinear_fp16_), Float16, select(starts_with($impl_type, QNN_LPBQ_), "
               "UInt16PerTensor, T)))"}}}},
    {"linear",
     {"%x:tensor<[$n.., $k], T, D>", "%to:tensor<[$o..], U, E>"},
     {"%y:tensor<[$o..], U, E>"}},
    {"linear",
     {"%x:tensor<[$n.., $k], T, D>", "%bias", "%to:tensor<[$o..], U, E>"},
     {"%y:tensor<[$o..], U, E>"}},
    {"logical", {kX}, {kLikeX}},
    {"logical", {kA, kB}, {kTruths}, {kBroadcast}},
    {"masked_scatter", {kX, "%mask:tensor<[$m..], M, E>", "%src:tensor<[$s..], U, F>"}, {kLikeX}},
    {"match_shape", {kX}, {kResult}, {{{"r..", "$shape"}}}},
    {.rule = "matmul",
     .operands = {"%a:tensor<[$b.., $a0, $a1], T, D>", "%b:tensor<[$c.., $b0, $b1], U, E>"},
     .results = {"%y:tensor<[$b.., $m, $n], T, D>"},
     .let = {{{"m", "select($transpose_a, $a1, $a0)"},
              {"n", "select($transpose_b, $b0, $b1)"},
              {"k", "select($transpose_a, $a0, $a1)"},
              {"l", "select($transpose_b, $b1, $b0)"}}},
     .where = {"$k == $l", "multiplies rows of $k by columns of $l"}},
    {"multimodal_rope", {kFour}, {kLikeFour}},
    {.rule = "paged_attention",
     .operands = {kFour, "%k:tensor<[$k..], U, E>", "%v:tensor<[$v..], V, F>",
                  "%rows:tensor<[$l], I, G>"},
     .results = {"%y:tensor<[$x0, $x1, $x2, $x3], R, D>", "%w:tensor<[$x0, $x2, $x1, $l], R, D>"},
     .let = {{{"R", "select($impl_type == AllFp32, Float32, T)"}}}},
    {.rule = "permute",
     .operands = {kX},
     .results = {kResult},
     .let = {{{"r..", "gather($n.., $axis)"}}}},
    {"radix_attention", {kFour}, {"%y:tensor<[$x0, $x1, $x2, $D_V], T, D>"}},
    {"random_uniform",
     {"%state:tensor<[2], Int64, D>"},
     {"%y:tensor<[$r..], Float32, D>", "%next:tensor<[2], Int64, D>"},
     {{{"r..", "$shape"}}}},
    {.rule = "reduce", .operands = {kX}, .results = {kResult}, .let = {{kReduced}}},
    {.rule = "repeat",
     .operands = {kX},
     .results = {kResult},
     .let = {{{"r..", "set($n.., $dim, $n..[$dim] * $repeat_times)"}}}},
    {.rule = "reshape",
     .operands = {kX},
     .results = {kResult},
     .let = {{{"r..",
               "select(-1 in $shape, set($shape, find($shape, -1), product($n..) / "
               "-product($shape)), $shape)"}}}},
    {"rms_norm", {kX}, {kLikeX}},
    {"rope", {kFour}, {kLikeFour}},
    {"same", {kX}, {kLikeX}},
    {"scatter", {kX}, {kLikeX}},
    {"softmax", {kX}, {kLikeX}},
    {.rule = "swa_sink_attention",
     .operands = {kFour, "%k:tensor<[$k0, $k1, $k2, $k3], U, E>",
                  "%v:tensor<[$v0, $v1, $v2, $v3], V, F>"},
     .results = {"%y:tensor<[$x0, $x1, $x2, $v3], V, F>"}},
    {"top_k", {kX}, {kResult, "%at:tensor<[$r..], Int32, D>"}, {{{"r..", "set($n.., $dim, $k)"}}}},
    {.rule = "transpose",
     .operands = {kX},
     .results = {kResult},
     .let = {{{"r..", "set(set($n.., $dim0, $n..[$dim1]), $dim1, $n..[$dim0])"}}}},
    {"unary", {kX}, {kLikeX}},
    {"unary_float", {kX}, {kLikeX}},
    {.rule = "view",
     .operands = {kX},
     .results = {kResult},
     .let = {{{"r..",
               "select(-1 in $to_shape, set($to_shape, find($to_shape, -1), product($n..) / "
               "-product($to_shape)), $to_shape)"}}}},
    {"vision_rope", {kFour}, {kLikeFour}},
    {"where", {"%c:tensor<[$c..], B, E>", kX}, {kLikeX}},
    {"x2x", {kX}, {"%y:tensor<[$n..], T, E>"}, {{{"E", "$device"}}}},
};
static_assert(std::ranges::is_sorted(kSignatures, {}, &RuleSignature::rule));

}  // namespace

std::span<const RuleSignature> signatures_of(InferFn rule) {
  if (!rule) return {};
  const auto named = std::ranges::find(rules::all(), rule, &rules::NamedRule::function);
  if (named == rules::all().end()) return {};
  const auto* first = std::ranges::lower_bound(kSignatures, named->name, {}, &RuleSignature::rule);
  const auto* last = std::ranges::upper_bound(kSignatures, named->name, {}, &RuleSignature::rule);
  return {first, last};
}

}  // namespace mir

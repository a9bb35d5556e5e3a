// The table of all rules, sorted by name.
#include "dialects/rules.hpp"

#include <algorithm>

namespace mir::rules {

namespace {

constexpr NamedRule kAll[] = {
    {"absolute", absolute},
    {"argsort", argsort},
    {"binary", binary},
    {"binary_real", binary_real},
    {"cast_type", cast_type},
    {"causal_mask", causal_mask},
    {"compare", compare},
    {"compress", compress},
    {"concat", concat},
    {"conv_1d", conv_1d},
    {"conv_2d", conv_2d},
    {"conv_3d", conv_3d},
    {"copy", copy},
    {"cum_sum", cum_sum},
    {"einsum", einsum},
    {"embedding", embedding},
    {"equal", equal},
    {"extent", extent},
    {"extremum", extremum},
    {"fill", fill},
    {"flash_attention2", flash_attention2},
    {"gather", gather},
    {"generic", generic},
    {"index", index},
    {"interpolate", interpolate},
    {"iota", iota},
    {"istft", istft},
    {"kv_cache", kv_cache},
    {"layer_norm", layer_norm},
    {"layer_norm_2d", layer_norm_2d},
    {"linear", linear},
    {"logical", logical},
    {"masked_scatter", masked_scatter},
    {"match_shape", match_shape},
    {"matmul", matmul},
    {"multimodal_rope", multimodal_rope},
    {"pad", pad},
    {"paged_attention", paged_attention},
    {"permute", permute},
    {"radix_attention", radix_attention},
    {"random_uniform", random_uniform},
    {"reduce", reduce},
    {"repeat", repeat},
    {"reshape", reshape},
    {"rms_norm", rms_norm},
    {"rope", rope},
    {"same", same},
    {"scatter", scatter},
    {"slice", slice},
    {"softmax", softmax},
    {"split", split},
    {"stack", stack},
    {"stft", stft},
    {"swa_sink_attention", swa_sink_attention},
    {"top_k", top_k},
    {"transpose", transpose},
    {"unary", unary},
    {"unary_float", unary_float},
    {"view", view},
    {"vision_rope", vision_rope},
    {"where", where},
    {"x2x", x2x},
};
static_assert(std::ranges::is_sorted(kAll, {}, &NamedRule::name));

}  // namespace

std::span<const NamedRule> all() {
  return kAll;
}

}  // namespace mir::rules

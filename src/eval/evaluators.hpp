// Evaluators by family: each computes the results of a prepared call. The table in table.cpp binds
// them to ops; an op whose kernel takes its operands as they are needs no function here.
#pragma once

#include "eval/call.hpp"

namespace mir::eval {

// attention.cpp
Result<void> flash_attention2(EvalCall& call);
Result<void> paged_attention(EvalCall& call);
Result<void> radix_attention(EvalCall& call);
Result<void> swa_sink_attention(EvalCall& call);

// convolution.cpp
Result<void> conv(EvalCall& call);
Result<void> interpolate(EvalCall& call);
Result<void> pad(EvalCall& call);

// elementwise.cpp
Result<void> absolute(EvalCall& call);
Result<void> clip(EvalCall& call);
Result<void> where(EvalCall& call);

// generic.cpp
Result<void> generic(EvalCall& call);

// indexing.cpp
Result<void> compress(EvalCall& call);
Result<void> embedding(EvalCall& call);
Result<void> gather(EvalCall& call);
Result<void> index(EvalCall& call);
Result<void> masked_scatter(EvalCall& call);
Result<void> scatter(EvalCall& call);

// linear.cpp
Result<void> einsum(EvalCall& call);
Result<void> linear(EvalCall& call);
Result<void> matmul(EvalCall& call);

// loop_kernel.cpp
Result<void> loop_kernel(EvalCall& call);

// norm.cpp
Result<void> causal_mask(EvalCall& call);
Result<void> layer_norm(EvalCall& call);
Result<void> layer_norm_2d(EvalCall& call);
Result<void> rms_norm(EvalCall& call);
Result<void> softmax(EvalCall& call);

// rope.cpp
Result<void> multimodal_rope(EvalCall& call);
Result<void> rope(EvalCall& call);
Result<void> vision_rope(EvalCall& call);

// movement.cpp
Result<void> concat(EvalCall& call);
Result<void> copy(EvalCall& call);
Result<void> extent(EvalCall& call);
Result<void> fill(EvalCall& call);
Result<void> iota(EvalCall& call);
Result<void> random_uniform(EvalCall& call);
Result<void> permute(EvalCall& call);
Result<void> repeat(EvalCall& call);
Result<void> slice(EvalCall& call);
Result<void> split(EvalCall& call);
Result<void> stack(EvalCall& call);
Result<void> transpose(EvalCall& call);
/// Result 0 is operand 0 under the result's extents, bytes shared.
Result<void> same_bytes(EvalCall& call);
Result<void> param(EvalCall& call);
Result<void> match_shape(EvalCall& call);
/// The result stays as it was allocated: zeros.
Result<void> no_content(EvalCall& call);

// cache.cpp
/// Checks that the cache has a name, holds as many tokens as `past` states, and has room. Reads
/// extents only.
Result<void> admit_tokens(EvalCall& call);
Result<void> kv_cache(EvalCall& call);

// reduce.cpp
Result<void> argsort(EvalCall& call);
Result<void> cum_sum(EvalCall& call);
Result<void> mean(EvalCall& call);
Result<void> reduce_max(EvalCall& call);
Result<void> reduce_min(EvalCall& call);
Result<void> reduce_sum(EvalCall& call);
Result<void> top_k(EvalCall& call);

// signal.cpp
Result<void> istft(EvalCall& call);
Result<void> stft(EvalCall& call);

}  // namespace mir::eval

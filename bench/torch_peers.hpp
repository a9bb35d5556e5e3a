// PyTorch's kernels to compare ours with, where it is installed (libtorch).
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace mir::bench {

/// True if libtorch was found when the build was configured.
bool has_torch();

/// A computation on operands of its own; empty where PyTorch has no such one.
using TorchCall = std::function<void()>;

/// An op of kernel_bench on a matrix [rows, width].
TorchCall torch_rows(std::string_view op, std::int64_t rows, std::int64_t width, unsigned threads);

struct TorchHeads {
  std::int64_t heads, queries, keys, width;
  bool causal;
};
/// Attention as `_scaled_dot_product_attention` has it, with keys and values for every head.
TorchCall torch_attention(const TorchHeads& heads, unsigned threads);

struct TorchImage {
  std::int64_t channels, outputs, extent, kernel, stride, padding;
};
TorchCall torch_conv(const TorchImage& image, unsigned threads);

}  // namespace mir::bench

// Kernels of other libraries that kernel_bench compares with, if they are installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/fast/context.hpp"

namespace mir::bench {

/// y = x W^T with one matrix of weights [outputs, depth], in the library's own order if it has one.
class PeerProduct {
 public:
  virtual ~PeerProduct() = default;
  virtual void run(const float* x, float* y) = 0;
};

struct Peer {
  const char* name;
  const char* type;          ///< of the weights, as kernel_bench calls it
  std::size_t weight_bytes;  ///< of one element
  std::unique_ptr<PeerProduct> (*make)(std::int64_t rows, std::int64_t depth, std::int64_t outputs,
                                       const float* weight, unsigned threads);
};

/// Libraries found when the build was configured.
std::span<const Peer> peers();

}  // namespace mir::bench

// What kernel_bench compares with: the machine's limits, and other libraries where they are
// installed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "mir/kernels/fast/context.hpp"

namespace mir::bench {

/// Runs multiply-adds in registers in every thread; returns how many operations that were, two for
/// each multiply-add.
double multiply_adds(fast::Context& context);

/// Reads all of the memory, a part in each thread; returns a sum of it.
std::uint64_t read_all(const fast::LargePages& memory, fast::Context& context);

/// y = x W^T with one matrix of weights [outputs, depth], in the library's own order if it has one.
class PeerProduct {
 public:
  virtual ~PeerProduct() = default;
  virtual void run(const float* x, float* y) = 0;
};

struct Peer {
  const char* name;
  std::unique_ptr<PeerProduct> (*make)(std::int64_t rows, std::int64_t depth, std::int64_t outputs,
                                       const float* weight, unsigned threads);
};

/// Those found when the build was configured.
std::span<const Peer> peers();

}  // namespace mir::bench

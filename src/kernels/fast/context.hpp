// Resources of a run of fast kernels: instruction set, threads and scratch memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "kernels/fast/large_pages.hpp"
#include "kernels/fast/thread_pool.hpp"
#include "kernels/isa.hpp"

namespace mir::fast {

/// Threads, instruction set and scratch memory; used by one kernel at a time.
///
/// Kernels of this folder trust their arguments: extents are not negative, pointers reach what
/// extents and strides say, sizes in bytes fit 63 bits. The planner checks all of that. The same
/// arguments give the same bits with any number of threads on one instruction set.
class Context {
 public:
  explicit Context(unsigned threads, IsaLevel isa = detected_isa_level())
      : pool_(threads), isa_(isa) {}

  ThreadPool& pool() { return pool_; }
  IsaLevel isa() const { return isa_; }

  /// `count` floats, 64-byte aligned, of any content; valid until the next call. Grows and is kept,
  /// so that a kernel that runs again allocates nothing.
  std::span<float> scratch(std::int64_t count);

 private:
  ThreadPool pool_;
  IsaLevel isa_;
  LargePages scratch_;
};

}  // namespace mir::fast

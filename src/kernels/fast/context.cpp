// Scratch memory that a context lends to kernels.
#include "kernels/fast/context.hpp"

#include <new>

namespace mir::fast {

std::span<float> Context::scratch(std::size_t count) {
  const std::size_t bytes = count * sizeof(float);
  if (scratch_.size() < bytes) {
    scratch_ = LargePages();
    scratch_ = LargePages(bytes);
    if (scratch_.size() < bytes) throw std::bad_alloc();
  }
  return {reinterpret_cast<float*>(scratch_.data()), count};
}

}  // namespace mir::fast

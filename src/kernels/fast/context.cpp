// Scratch memory that a context lends to kernels.
#include "kernels/fast/context.hpp"

#include <new>

namespace mir::fast {

std::span<float> Context::scratch(std::int64_t count) {
  const auto bytes = static_cast<std::uint64_t>(count) * sizeof(float);
  if (scratch_.size() < bytes) {
    scratch_ = LargePages();
    scratch_ = LargePages(bytes);
    if (scratch_.size() < bytes) throw std::bad_alloc();
  }
  return {reinterpret_cast<float*>(scratch_.data()), static_cast<std::size_t>(count)};
}

}  // namespace mir::fast

// The devices that dumps name.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace mir {

/// Sorted. Early dumps have a `k` before each.
inline std::span<const std::string_view> device_names() {
  static constexpr std::array<std::string_view, 8> kNames = {
      "Ascend", "AscendHost", "CPU", "CUDA", "CUDAHost", "OpenCL", "QNN", "Unknown"};
  return kNames;
}

}  // namespace mir

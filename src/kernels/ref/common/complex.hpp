// Arithmetic on complex numbers.
#pragma once

#include <string_view>

#include "kernels/ref/view.hpp"

namespace mir::ref {

enum class Arithmetic : std::uint8_t { kAdd, kSub, kMul, kDiv };

bool is_complex(DType dtype);

/// The contract of add, sub, mul and div in mir/kernels/ref/elementwise.hpp for a complex `out`.
Result<void> complex_binary(std::string_view kernel, Arithmetic arithmetic, const View& a,
                            const View& b, const MutableView& out);

}  // namespace mir::ref

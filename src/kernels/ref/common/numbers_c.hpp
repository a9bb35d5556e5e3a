// Conversions and elementary functions that C out writes as text, as functions of C++.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

namespace mir::ref::c {

// The names in the text are those of C, also beside functions of kernels with such names.
using std::copysign;
using std::fabs;
using std::floor;
using std::int64_t;
using std::memcpy;
using std::sqrt;
using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

#include "kernels/ref/common/numbers_c.inc"

}  // namespace mir::ref::c

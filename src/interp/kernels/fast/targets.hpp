// Which of Highway's targets the fast kernels are compiled for. Included before any Highway header,
// of which it includes none.
#pragma once

// Three levels of x86 suffice: what lies between gains nothing and costs a compilation each.
// Vectors of SVE have no size at compile time, which blocks of registers need; NEON serves there.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

// Which of Highway's targets the fast kernels are compiled for. Included before any Highway header,
// of which it includes none.
#pragma once

// Three levels of x86 suffice: what lies between gains nothing and costs a compilation each.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)

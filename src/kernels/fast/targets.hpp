// Highway targets that the fast kernels are compiled for. Include this before any Highway header;
// it includes none itself.
#pragma once

// Three levels of x86 suffice: what lies between gains nothing and costs a compilation each.
// Vectors of SVE have no size at compile time, which blocks of registers need; NEON serves there.
#define MIR_NO_TARGETS \
  (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)

#ifdef MIR_CHECKED_BUILD
// Sanitizers make each level several times as dear to compile, and find in one what they find in
// all.
#define HWY_DISABLED_TARGETS (MIR_NO_TARGETS | HWY_AVX3)
#else
#define HWY_DISABLED_TARGETS MIR_NO_TARGETS
#endif

// A microkernel, of which there is one for each number of rows, or a step of it: part of the loop
// that calls it. Sanitizers make such loops so large that compilers take several times as long as
// for functions.
#ifdef MIR_CHECKED_BUILD
#define MIR_MICROKERNEL HWY_NOINLINE
#else
#define MIR_MICROKERNEL HWY_INLINE
#endif

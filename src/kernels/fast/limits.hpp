// Measured peak rates of the machine, to compare kernels with.
#pragma once

#include "kernels/fast/context.hpp"

namespace mir::fast {

/// Rates of all threads of a context together.
struct MachineLimits {
  double flop_per_second = 0;         ///< Float32, two for each multiply-add
  double code_flop_per_second = 0;    ///< of codes of 4 or 8 bits, summed in integers
  double bfloat_flop_per_second = 0;  ///< of BFloat16 by their own instruction, else as Float32
  double bytes_per_second = 0;        ///< read from memory that no cache holds
};

/// The best of several short measurements, a quarter of a second in all. Memory is read from pages
/// of 2 MiB where there are some; a rate is 0 when memory is short.
MachineLimits measure_limits(Context& context);

/// One measurement: every thread does multiply-adds in registers. The number of operations done.
double multiply_adds(Context& context);
/// Like multiply_adds(), with codes of 4 or 8 bits and the instructions that their kernels use.
double multiply_codes(int bits, Context& context);
/// Like multiply_adds(), with BFloat16. Returns 0 if the instruction set has no BFloat16 products.
double multiply_bfloats(Context& context);

/// One measurement: reads all of the memory, a part in each thread. A sum of it.
std::uint64_t read_all(std::span<const std::byte> memory, Context& context);

}  // namespace mir::fast

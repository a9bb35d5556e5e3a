// Kernels: sets of kernels, their options, and functions of the caller.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"

namespace mir {

class Op;

/// Which kernels compute. Both give the same bits with any number of threads.
enum class KernelSet : std::uint8_t {
  kRef,   ///< the meaning: short loops in double, one thread, the same bits on every machine
  kFast,  ///< blocked, threaded, vectorised; within the bounds of the op pages
};

/// In which type products with weights of Float32, BFloat16 and Float16 take their factors.
enum class Activations : std::uint8_t {
  kFloat32,   ///< activations and weights as they are
  kBFloat16,  ///< both rounded to BFloat16, weights when they are packed
};

/// Instruction sets that kernels are written for, as levels of which each includes those before it.
/// Reference kernels compute the same bits at every level; the others document their bounds.
enum class IsaLevel : std::uint8_t {
  kScalar,      ///< what every machine has
  kAvx2,        ///< AVX2, FMA, BMI2 and F16C
  kAvx512,      ///< AVX-512 F, CD, BW, DQ and VL
  kAvx512Vnni,  ///< products of 8-bit and 16-bit integers
  kAvx512Bf16,  ///< products of bfloat16
};

/// Computes an op that has no kernel: one tensor per result from the operands. Called from one
/// thread at a time; what it captures is its own to keep alive.
using CustomOp =
    std::function<Result<std::vector<Tensor>>(const Op& op, std::span<const Tensor> operands)>;
/// By name without device ("linalg.MyOp") or without dialect too ("MyOp").
using CustomOps = std::map<std::string, CustomOp, std::less<>>;

/// Arithmetic and memory traffic of one or several kernel calls.
struct Work {
  /// Operations of products, two for each multiply-add: linear layers, matrix products,
  /// convolutions, attention. Everything else counts none: memory bounds it.
  double flop = 0;
  /// Of these, products of codes of 4 or 8 bits and of BFloat16, which have instructions of their
  /// own.
  double code_flop = 0;
  double bfloat_flop = 0;
  /// Bytes that are read and written when every operand, parameter and result moves once.
  double bytes = 0;

  Work& operator+=(const Work& other) {
    flop += other.flop;
    code_flop += other.code_flop;
    bfloat_flop += other.bfloat_flop;
    bytes += other.bytes;
    return *this;
  }
};

class Schedule;

/// One kernel call that was timed. Conditions, loops and calls that have plans of their own are not
/// timed, but the kernels in them.
struct KernelTiming {
  using Clock = std::chrono::steady_clock;

  const Schedule* schedule = nullptr;  ///< of the run, or of a region, block or call in it
  std::size_t step = 0;                ///< of the schedule: the last one that the call computes
  std::string_view kernel;             ///< "Linear + residual", "TopKOp (ref)"; valid for the call
  Clock::time_point begin;
  Clock::time_point end;
  Work work;
};

}  // namespace mir

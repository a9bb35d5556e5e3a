// Measures the peak arithmetic rate and memory bandwidth of the machine.
#include "kernels/fast/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/limits.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"

#ifndef MIR_KERNELS_FAST_LIMITS_TYPES_
#define MIR_KERNELS_FAST_LIMITS_TYPES_

namespace mir::fast {

inline constexpr std::int64_t kRounds = 100000;
inline constexpr int kChains = 12;

struct LimitsTable {
  std::int64_t lanes;
  float (*multiply_adds)();
  /// Exclusive or of all words of 8 bytes; `bytes` is a multiple of 256.
  std::uint64_t (*sum_of_words)(const std::byte* from, std::size_t bytes);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

/// As many independent chains as hide the latency of a multiply-add.
float multiply_add_rounds() {
  const Floats d;
  FloatVector sums[kChains];
  HWY_UNROLL(12)
  for (int i = 0; i < kChains; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  const FloatVector factor = hn::Set(d, 0.999F), term = hn::Set(d, 0.001F);
  for (std::int64_t round = 0; round < kRounds; ++round) {
    HWY_UNROLL(12)
    for (int i = 0; i < kChains; ++i) sums[i] = hn::MulAdd(sums[i], factor, term);
  }
  HWY_UNROLL(12)
  for (int i = 1; i < kChains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  return hn::GetLane(sums[0]);
}

/// All words added without carries. Four chains, fetched as far ahead as weights are: the hardware
/// stops at pages.
std::uint64_t sum_of_words(const std::byte* from, std::size_t bytes) {
  const hn::CappedTag<std::uint64_t, 8> d;
  constexpr std::size_t kBytes = hn::MaxLanes(d) * sizeof(std::uint64_t);
  constexpr std::size_t kStep = std::max<std::size_t>(4 * kBytes, 64);
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  const auto load = [&](std::size_t at) HWY_ATTR {
    return hn::LoadU(d, reinterpret_cast<const std::uint64_t*>(from + at));
  };
  for (std::size_t i = 0; i < bytes; i += kStep) {
    for (std::size_t line = 0; line < kStep; line += 64) {
      hwy::Prefetch(from + i + line + kPrefetchBytes);
    }
    for (std::size_t j = 0; j < kStep; j += 4 * kBytes) {
      s0 = hn::Xor(s0, load(i + j));
      s1 = hn::Xor(s1, load(i + j + kBytes));
      s2 = hn::Xor(s2, load(i + j + 2 * kBytes));
      s3 = hn::Xor(s3, load(i + j + 3 * kBytes));
    }
  }
  HWY_ALIGN std::uint64_t words[hn::MaxLanes(d)];
  hn::Store(hn::Xor(hn::Xor(s0, s1), hn::Xor(s2, s3)), d, words);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) sum ^= word;
  return sum;
}

}  // namespace

constexpr LimitsTable kTable = {
    .lanes = kLanes, .multiply_adds = multiply_add_rounds, .sum_of_words = sum_of_words};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(LimitsTable);

/// Returns the highest amount per second among `repeats` calls of a body that returns the amount.
template <class Body>
double best_rate(int repeats, const Body& body) {
  using Clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto begin = Clock::now();
    const double amount = body();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    if (seconds > 0) best = std::max(best, amount / seconds);
  }
  return best;
}

}  // namespace

double multiply_adds(Context& context) {
  const LimitsTable& table = tables.at(context.isa());
  const unsigned threads = context.pool().threads();
  std::vector<float> sums(threads);
  context.pool().for_each(threads, [&](std::int64_t task, unsigned) {
    sums[static_cast<std::size_t>(task)] = table.multiply_adds();
  });
  // A volatile store keeps the compiler from removing the computation.
  volatile float sink = sums.front();
  static_cast<void>(sink);
  return 2.0 * kRounds * kChains * static_cast<double>(table.lanes) * threads;
}

std::uint64_t read_all(std::span<const std::byte> memory, Context& context) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  constexpr std::size_t kApart = 8;  // sums of threads lie in cache lines of their own
  std::vector<std::uint64_t> sums(context.pool().threads() * kApart);
  const LimitsTable& table = tables.at(context.isa());
  context.pool().for_each(
      static_cast<std::int64_t>(memory.size() / kPart), [&](std::int64_t part, unsigned thread) {
        sums[kApart * thread] ^=
            table.sum_of_words(memory.data() + static_cast<std::size_t>(part) * kPart, kPart);
      });
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all ^= sum;
  return all;
}

MachineLimits measure_limits(Context& context) {
  MachineLimits limits;
  limits.flop_per_second = best_rate(20, [&] { return multiply_adds(context); });
  for (const int bits : {4, 8}) {
    const double rate = best_rate(20, [&] { return multiply_codes(bits, context); });
    limits.code_flop_per_second = std::max(limits.code_flop_per_second, rate);
  }
  limits.bfloat_flop_per_second =
      std::max(limits.flop_per_second, best_rate(20, [&] { return multiply_bfloats(context); }));
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  const LargePages memory(kBytes);
  if (memory.size() < kBytes) return limits;
  std::memset(memory.data(), 1, kBytes);
  volatile std::uint64_t sink = 0;
  limits.bytes_per_second = best_rate(4, [&] {
    sink = sink ^ read_all({memory.data(), kBytes}, context);
    return static_cast<double>(kBytes);
  });
  return limits;
}

}  // namespace mir::fast

#endif  // HWY_ONCE

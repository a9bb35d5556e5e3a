#include "mir/kernels/fast/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/limits.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "micro-inl.h"

#ifndef MIR_KERNELS_FAST_LIMITS_TYPES_
#define MIR_KERNELS_FAST_LIMITS_TYPES_

namespace mir::fast {

inline constexpr std::int64_t kRounds = 100000;
inline constexpr int kChains = 12;

struct LimitsTable {
  std::int64_t lanes;
  float (*multiply_adds)();
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

}  // namespace

constexpr LimitsTable kTable = {.lanes = kLanes, .multiply_adds = multiply_add_rounds};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "target_tables.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(LimitsTable);

/// Amount per second of the fastest of `repeats` calls of a body that gives the amount.
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
  // What is stored must not be computed in vain.
  volatile float sink = sums.front();
  static_cast<void>(sink);
  return 2.0 * kRounds * kChains * static_cast<double>(table.lanes) * threads;
}

std::uint64_t read_all(std::span<const std::byte> memory, Context& context) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  constexpr std::size_t kApart = 8;  // sums of threads lie in cache lines of their own
  std::vector<std::uint64_t> sums(context.pool().threads() * kApart);
  context.pool().for_each(
      static_cast<std::int64_t>(memory.size() / kPart), [&](std::int64_t part, unsigned thread) {
        const std::byte* from = memory.data() + static_cast<std::size_t>(part) * kPart;
        std::uint64_t four[4] = {};  // chains enough to wait for memory alone
        for (std::size_t i = 0; i < kPart; i += sizeof(four)) {
          std::uint64_t words[4];
          std::memcpy(words, from + i, sizeof(words));
          for (std::size_t j = 0; j < 4; ++j) four[j] ^= words[j];
        }
        sums[kApart * thread] ^= four[0] ^ four[1] ^ four[2] ^ four[3];
      });
  std::uint64_t all = 0;
  for (const std::uint64_t sum : sums) all ^= sum;
  return all;
}

MachineLimits measure_limits(Context& context) {
  MachineLimits limits;
  limits.flop_per_second = best_rate(20, [&] { return multiply_adds(context); });
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

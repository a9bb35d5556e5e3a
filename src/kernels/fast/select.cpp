// Vectorised selection by a condition, conversions between float types, and index generation.
#include "kernels/fast/select.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/fast/targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fast/select.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h, once for each target.
#include "kernels/fast/matrix/micro-inl.h"
#include "kernels/fast/vector_math-inl.h"

#ifndef MIR_KERNELS_FAST_SELECT_TYPES_
#define MIR_KERNELS_FAST_SELECT_TYPES_

namespace mir::fast {

struct SelectTable {
  /// Elements of 4 bytes; conditions side by side, a and b `a_step` and `b_step` apart, 0 or 1.
  void (*select)(const std::byte* condition, const float* a, std::int64_t a_step, const float* b,
                 std::int64_t b_step, float* out, std::int64_t count);
  /// Float32 from and to BFloat16 and Float16.
  void (*from_bfloat)(const std::byte* from, float* to, std::int64_t count);
  void (*to_bfloat)(const float* from, std::byte* to, std::int64_t count);
  void (*from_half)(const std::byte* from, float* to, std::int64_t count);
  /// Null if vector instructions do not round as the reference does.
  void (*to_half)(const float* from, std::byte* to, std::int64_t count);
};

}  // namespace mir::fast

#endif  // once

HWY_BEFORE_NAMESPACE();
namespace mir::fast::HWY_NAMESPACE {
namespace {

using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using Bytes = hn::Rebind<std::uint8_t, Floats>;

HWY_INLINE FloatVector load_stepped(const float* from, std::int64_t step, std::int64_t i,
                                    std::int64_t count) {
  return step == 0 ? hn::Set(Floats(), *from) : load_first(from + i, count);
}

/// Calls body(first, count) for vectors of elements; the last one need not be full.
template <class Body>
HWY_INLINE void for_vectors(std::int64_t count, Body body) {
  const std::int64_t whole = count - count % kLanes;
  for (std::int64_t i = 0; i < whole; i += kLanes) body(i, kLanes);
  if (whole < count) body(whole, count - whole);
}

void select(const std::byte* condition, const float* a, std::int64_t a_step, const float* b,
            std::int64_t b_step, float* out, std::int64_t count) {
  for_vectors(count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    std::uint8_t padded[kLanes] = {};
    std::memcpy(padded, condition + i, static_cast<std::size_t>(n));
    const auto truth = hn::PromoteTo(Ints(), hn::LoadU(Bytes(), padded));
    const auto is_false = hn::RebindMask(Floats(), hn::Eq(truth, hn::Zero(Ints())));
    const FloatVector chosen =
        hn::IfThenElse(is_false, load_stepped(b, b_step, i, n), load_stepped(a, a_step, i, n));
    store_first(chosen, out + i, n);
  });
}

template <class T>
void widen_elements(const std::byte* from, float* to, std::int64_t count) {
  for_vectors(count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    T padded[kLanes] = {};
    std::memcpy(static_cast<void*>(padded), from + 2 * i, static_cast<std::size_t>(2 * n));
    store_results(load_floats(padded), to + i, n);
  });
}

void to_bfloat(const float* from, std::byte* to, std::int64_t count) {
  const hn::Rebind<std::uint16_t, Floats> halves;
  for_vectors(count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    const FloatVector v = load_first(from + i, n);
    std::uint16_t rounded[kLanes];
    hn::StoreU(hn::TruncateTo(halves, hn::ShiftRight<16>(round_to_bfloat(v))), halves, rounded);
    std::memcpy(to + 2 * i, rounded, static_cast<std::size_t>(2 * n));
  });
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
void to_half(const float* from, std::byte* to, std::int64_t count) {
  const hn::Rebind<hwy::float16_t, Floats> halves;
  for_vectors(count, [=](std::int64_t i, std::int64_t n) HWY_ATTR {
    hwy::float16_t rounded[kLanes];
    hn::StoreU(hn::DemoteTo(halves, as_stored(load_first(from + i, n))), halves, rounded);
    std::memcpy(to + 2 * i, static_cast<const void*>(rounded), static_cast<std::size_t>(2 * n));
  });
}
#else
constexpr void (*to_half)(const float*, std::byte*, std::int64_t) = nullptr;
#endif

}  // namespace

constexpr SelectTable kTable = {.select = select,
                                .from_bfloat = widen_elements<hwy::bfloat16_t>,
                                .to_bfloat = to_bfloat,
                                .from_half = widen_elements<hwy::float16_t>,
                                .to_half = to_half};

}  // namespace mir::fast::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "kernels/fast/broadcast_runs.hpp"
#include "kernels/fast/chunks.hpp"
#include "kernels/fast/target_tables.hpp"
#include "kernels/ref/movement.hpp"

namespace mir::fast {

namespace {

MIR_FAST_TABLES(SelectTable);

/// An element of any type as its bits.
template <std::size_t kBytes>
struct Bits {
  std::byte bytes[kBytes];
};

template <class T>
void select_each(const Run<3>& run, const std::byte* condition, const T* a, const T* b, T* out) {
  for (std::int64_t i = 0; i < run.count; ++i) {
    out[i] = condition[i * run.step[0]] != std::byte{0} ? a[i * run.step[1]] : b[i * run.step[2]];
  }
}

}  // namespace

void select(std::size_t element_bytes, const BroadcastOperand& condition, const BroadcastOperand& a,
            const BroadcastOperand& b, const BroadcastResult& out, Context& context) {
  const SelectTable& table = tables.at(context.isa());
  for_each_run<3>({&condition, &a, &b}, out, context, [&](const Run<3>& run) {
    const std::byte* const truth = condition.data + run.at[0];
    const auto each = [&]<class T>(T) {
      const auto* const from = reinterpret_cast<const T*>(a.data) + run.at[1];
      const auto* const other = reinterpret_cast<const T*>(b.data) + run.at[2];
      auto* const to = reinterpret_cast<T*>(out.data) + run.out;
      if constexpr (std::is_same_v<T, float>) {
        if (run.step[0] == 1) {
          return table.select(truth, from, run.step[1], other, run.step[2], to, run.count);
        }
      }
      select_each(run, truth, from, other, to);
    };
    switch (element_bytes) {
      case 1:
        return each(std::uint8_t{});
      case 2:
        return each(std::uint16_t{});
      case 4:
        return each(float{});
      case 8:
        return each(std::uint64_t{});
      default:
        return each(Bits<16>{});
    }
  });
}

Result<void> cast(DType from_type, const std::byte* from, DType to_type, std::byte* to,
                  std::int64_t count, Context& context) {
  const auto element = ref::element_cast(from_type, to_type);
  if (!element) return element.error();
  const SelectTable& table = tables.at(context.isa());
  const bool from_floats = from_type == DType::kFloat32, to_floats = to_type == DType::kFloat32;
  const auto from_bytes = static_cast<std::int64_t>(info(from_type).unit_bytes);
  const auto to_bytes = static_cast<std::int64_t>(info(to_type).unit_bytes);
  const Chunks chunks = cut(count, kTaskElements, 64);
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    const std::int64_t n = chunks.length(task);
    const std::byte* const x = from + chunks.first(task) * from_bytes;
    std::byte* const y = to + chunks.first(task) * to_bytes;
    const auto* const floats = reinterpret_cast<const float*>(x);
    if (to_floats && from_type == DType::kBFloat16) {
      return table.from_bfloat(x, reinterpret_cast<float*>(y), n);
    }
    if (to_floats && from_type == DType::kFloat16) {
      return table.from_half(x, reinterpret_cast<float*>(y), n);
    }
    if (from_floats && to_type == DType::kBFloat16) return table.to_bfloat(floats, y, n);
    if (from_floats && to_type == DType::kFloat16 && table.to_half != nullptr) {
      return table.to_half(floats, y, n);
    }
    for (std::int64_t i = 0; i < n; ++i) element->convert(x, i, y, i);
  });
  return {};
}

Result<void> iota(const IotaResult& out, const ref::Sequence& sequence, Context& context) {
  const auto element = ref::sequence_element(out.dtype);
  if (!element) return element.error();
  const std::size_t bytes = info(out.dtype).unit_bytes;
  const std::int64_t rows = out.inner == 0 ? 0 : out.outer * out.length;
  const Chunks chunks =
      cut(rows, std::max<std::int64_t>(kTaskElements / std::max<std::int64_t>(out.inner, 1), 1));
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned) {
    for (std::int64_t i = 0; i < chunks.length(task); ++i) {
      const std::int64_t row = chunks.first(task) + i;
      std::byte* const first = out.data + static_cast<std::size_t>(row * out.inner) * bytes;
      element->write(sequence, row % out.length, first);
      for (std::int64_t k = 1; k < out.inner; ++k) {
        std::memcpy(first + static_cast<std::size_t>(k) * bytes, first, bytes);
      }
    }
  });
  return {};
}

}  // namespace mir::fast

#endif  // HWY_ONCE

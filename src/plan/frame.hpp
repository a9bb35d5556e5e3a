// Values of a run as nodes see them: memory with extents and strides.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "eval/evaluate.hpp"
#include "kernels/fast/context.hpp"
#include "kernels/ref/view.hpp"
#include "mir/tensor.hpp"
#include "plan/binder.hpp"
#include "plan/plan_value.hpp"
#include "plan/step_work.hpp"

namespace mir {

struct TensorRef {
  static constexpr std::size_t kMaxRank = kMaxPlannedRank;

  std::byte* data = nullptr;
  DType dtype = DType::kFloat32;
  std::uint8_t rank = 0;
  std::array<std::int64_t, kMaxRank> extents = {};
  std::array<std::int64_t, kMaxRank> strides = {};  ///< in elements

  std::span<const std::int64_t> shape() const { return {extents.data(), rank}; }
  TensorExtents type() const { return {dtype, shape()}; }
  std::int64_t extent(int from_end) const { return extents[rank - from_end]; }
  std::int64_t stride(int from_end) const { return strides[rank - from_end]; }
  std::int64_t elements() const {
    std::int64_t count = 1;
    for (const std::int64_t extent : shape()) count *= extent;
    return count;
  }
  /// Elements of a Float32 tensor.
  float* floats() const {
    assert(dtype == DType::kFloat32);
    return reinterpret_cast<float*>(data);
  }
  ref::View view() const { return {dtype, data, shape(), {strides.data(), rank}}; }
  ref::MutableView mutable_view() const { return {dtype, data, shape(), {strides.data(), rank}}; }
  /// True if elements of the last dimension are neighbours.
  bool has_rows() const { return rank > 0 && (extent(1) <= 1 || stride(1) == 1); }
};

/// The value as it is in row-major order at `data`.
TensorRef row_major_at(const TensorRef& value, std::byte* data);

/// A copy between two values of one element type and equal extents, of elements that are one
/// storage unit each.
void copy_elements(const TensorRef& from, const TensorRef& to, fast::Context& context);

/// A tensor of its own, in row-major order, with the elements of a value.
Result<Tensor> to_tensor(const TensorRef& value, fast::Context& context);
/// Like to_tensor(), into a tensor of the value's element type and extents with bytes of its own.
void write(const TensorRef& value, Tensor& tensor, fast::Context& context);
/// Gives a value the elements of a tensor of its element type and extents.
void assign(const TensorRef& value, const Tensor& tensor, fast::Context& context);

struct PlanRun;

/// A value of a plan as kernels see it. Values that are not planned are tensors alone.
struct Frame {
  std::span<const PlanValue> values;
  std::span<TensorRef> tensors;  ///< of planned values; empty when there are none
  /// Values that are whole tensors somewhere, by index: inputs, constants and parameters in
  /// row-major order, and those of home kTensor. Null for values that only have a place in memory.
  std::span<const Tensor* const> whole;
  std::span<Tensor> made;  ///< of home kTensor, by index
  fast::Context& context;
  const EvalEnvironment& environment;
  Binder& binder;                ///< values of symbols; results bind those that are still open
  const PlanRun* run = nullptr;  ///< of which this is a part; null while a plan is made
  /// Gives the values of the phase that a step begins their extents and places; nothing for other
  /// steps. A node of such a step calls it when all symbols of its results have their values, and
  /// before it writes them. Empty while a plan is made.
  std::function<Result<void>(std::size_t step)> begin_phase = {};

  const TensorRef& operator[](PlanValueIndex index) const { return tensors[index]; }

  TensorExtents extents(PlanValueIndex index) const;
  /// Returns the value as a tensor; a copy if it is not a tensor.
  Result<Tensor> tensor(PlanValueIndex index) const;
  /// Makes a tensor a value, which has its element type and extents.
  void set(PlanValueIndex index, Tensor tensor);
};

}  // namespace mir

// Reference kernels as calls on operands that can be laid out and changed one by one.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "array.hpp"

namespace mir::ref::operands_test {

using test::Array;
using Views = std::span<const View>;
using Outputs = std::span<const MutableView>;

/// What a kernel is called with; without values, the numbers are random and positive.
struct Operand {
  DType dtype = DType::kFloat32;
  Dims extents;
  std::vector<double> values = {};
};

struct Call {
  std::string name;
  std::vector<Operand> in, out;
  std::function<Result<void>(Views, Outputs)> run;
  /// Wrong operands that the kernel takes all the same, and rightly: see `wrong_operands`.
  std::vector<std::string> takes = {};
};

inline Operand f32(Dims extents, std::vector<double> values = {}) {
  return {DType::kFloat32, std::move(extents), std::move(values)};
}
inline Operand i32(Dims extents, std::vector<double> values = {}) {
  return {DType::kInt32, std::move(extents), std::move(values)};
}

enum class Layout { kDense, kSpread, kBackwards };

/// An operand in memory: dense, with the dimensions in the other order and a gap after each
/// element, or with the last element first.
class Placed {
 public:
  Placed(const Operand& operand, Layout layout)
      : extents_(operand.extents),
        memory_(operand.dtype, memory_extents(operand, layout)),
        values_(operand.values) {
    strides_ = row_major_strides(memory_.extents());
    if (layout == Layout::kSpread) {
      strides_.pop_back();
      std::reverse(strides_.begin(), strides_.end());
    }
    if (layout == Layout::kBackwards) {
      for (std::int64_t& stride : strides_) stride = -stride;
      first_ = static_cast<std::int64_t>(memory_.size()) - 1;
    }
    for (std::size_t i = 0; i < values_.size(); ++i) memory_.set(place(i), values_[i]);
  }

  MutableView view() {
    auto* data = static_cast<std::byte*>(static_cast<MutableView>(memory_).data);
    const auto width = static_cast<std::int64_t>(info(memory_.dtype()).unit_bytes);
    return {memory_.dtype(), data + first_ * width, extents_, strides_};
  }
  std::vector<double> values() const {
    std::vector<double> all;
    for (std::size_t i = 0; i < count(); ++i) all.push_back(memory_[place(i)]);
    return all;
  }
  /// Whether only elements were written.
  bool rest_is_intact() const {
    std::vector<double> rest = memory_.values();
    for (std::size_t i = 0; i < count(); ++i) rest[place(i)] = 0;
    return memory_.guards_intact() && std::ranges::count(rest, 0) == std::ssize(rest);
  }

 private:
  static Dims memory_extents(const Operand& operand, Layout layout) {
    if (layout != Layout::kSpread) return operand.extents;
    Dims extents(operand.extents.rbegin(), operand.extents.rend());
    extents.push_back(2);
    return extents;
  }
  std::size_t count() const {
    std::size_t count = 1;
    for (const std::int64_t extent : extents_) count *= static_cast<std::size_t>(extent);
    return count;
  }
  /// Where in memory the i-th element in row-major order lies.
  std::size_t place(std::size_t i) const {
    std::int64_t at = first_, rest = static_cast<std::int64_t>(i);
    for (std::size_t dim = extents_.size(); dim-- > 0; rest /= extents_[dim]) {
      at += rest % extents_[dim] * strides_[dim];
    }
    return static_cast<std::size_t>(at);
  }

  Dims extents_, strides_;
  Array memory_;
  std::vector<double> values_;
  std::int64_t first_ = 0;
};

struct Outcome {
  Result<void> done;
  std::vector<std::vector<double>> values;  ///< of the outputs
  bool rest_is_intact = true;
};

/// Runs a call with operand `turned` (inputs, then outputs) in a layout, all of them with -1.
inline Outcome run(const Call& call, int turned, Layout layout) {
  std::vector<Placed> placed;
  for (const auto* operands : {&call.in, &call.out}) {
    for (const Operand& operand : *operands) {
      const bool turns = turned < 0 || turned == static_cast<int>(placed.size());
      placed.emplace_back(operand, turns ? layout : Layout::kDense);
    }
  }
  std::vector<View> in;
  std::vector<MutableView> out;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (i < call.in.size()) in.push_back(placed[i].view());
    if (i >= call.in.size()) out.push_back(placed[i].view());
  }
  Outcome outcome{.done = call.run(in, out), .values = {}};
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (i >= call.in.size()) outcome.values.push_back(placed[i].values());
    outcome.rest_is_intact &= placed[i].rest_is_intact();
  }
  return outcome;
}

}  // namespace mir::ref::operands_test

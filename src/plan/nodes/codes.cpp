// Codes of values that are quantised per tensor, to Float32 and back.
#include <algorithm>
#include <type_traits>

#include "plan/nodes/nodes.hpp"

namespace mir {

namespace {

constexpr std::int64_t kElementsPerTask = 8192;

/// body(first, end) for parts of [0, count).
template <class Body>
void in_parts(std::int64_t count, fast::ThreadPool& pool, Body body) {
  pool.for_each((count + kElementsPerTask - 1) / kElementsPerTask,
                [&](std::int64_t part, unsigned) {
                  const std::int64_t first = part * kElementsPerTask;
                  body(first, std::min(count, first + kElementsPerTask));
                });
}

/// fn(std::type_identity<T>{}) with T the integer that codes are stored in; one of those that
/// has_simple_codes() admits.
template <class Fn>
void with_integer(DType dtype, Fn fn) {
  switch (storage_type(dtype)) {
    case DType::kInt8:
      return fn(std::type_identity<std::int8_t>{});
    case DType::kUInt8:
      return fn(std::type_identity<std::uint8_t>{});
    case DType::kInt16:
      return fn(std::type_identity<std::int16_t>{});
    default:
      return fn(std::type_identity<std::uint16_t>{});
  }
}

std::int64_t zero_of(const ref::Quantisation& codes) {
  return codes.zero_points.empty() ? 0 : codes.zero_points.front();
}

class RealNode final : public PlanNode {
 public:
  RealNode(std::size_t step, PlanValueIndex from, PlanValueIndex to, const ref::Quantisation& codes)
      : PlanNode(step, {from}, {to}), codes_(codes) {}

  /// Codes less their zero point have 17 bits: exact in double, rounded once.
  Result<void> run(Frame& frame) const override {
    const TensorRef &from = frame[operands()[0]], &to = frame[results()[0]];
    const double scale = codes_.scales.front();
    const auto zero = static_cast<double>(zero_of(codes_));
    with_integer(from.dtype, [&]<class T>(std::type_identity<T>) {
      const auto* const codes = reinterpret_cast<const T*>(from.data);
      float* const reals = to.floats();
      in_parts(from.elements(), frame.context.pool(), [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          reals[i] = static_cast<float>(scale * (static_cast<double>(codes[i]) - zero));
        }
      });
    });
    return {};
  }

  std::string name() const override { return "dequantise"; }

 private:
  const ref::Quantisation& codes_;
};

class CodeNode final : public PlanNode {
 public:
  CodeNode(std::size_t step, PlanValueIndex from, PlanValueIndex to, const ref::Quantisation& codes)
      : PlanNode(step, {from}, {to}), codes_(codes) {}

  /// As ref::quantise.
  Result<void> run(Frame& frame) const override {
    const TensorRef &from = frame[operands()[0]], &to = frame[results()[0]];
    const double scale = codes_.scales.front();
    const auto zero = static_cast<double>(zero_of(codes_));
    const auto low = static_cast<double>(codes_.low), high = static_cast<double>(codes_.high);
    const double missing = std::clamp(zero, low, high);
    with_integer(to.dtype, [&]<class T>(std::type_identity<T>) {
      const float* const reals = from.floats();
      auto* const codes = reinterpret_cast<T*>(to.data);
      in_parts(from.elements(), frame.context.pool(), [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i) {
          constexpr double kThreeHalvesOf2To52 = 0x1.8p52;
          const double x = static_cast<double>(reals[i]);
          const double steps = std::clamp(x / scale, low - zero, high - zero);
          const double nearest = (steps + kThreeHalvesOf2To52) - kThreeHalvesOf2To52;
          codes[i] = static_cast<T>(static_cast<std::int32_t>(x == x ? nearest + zero : missing));
        }
      });
    });
    return {};
  }

  std::string name() const override { return "quantise"; }

 private:
  const ref::Quantisation& codes_;
};

class CodeProductNode final : public PlanNode {
 public:
  CodeProductNode(std::size_t step, PlanValueIndex x, const ref::Quantisation& codes,
                  const LinearPart& part, std::vector<float> scales)
      : PlanNode(step, {x}, {part.out}),
        zero_(static_cast<std::int32_t>(zero_of(codes))),
        weight_(part.weight),
        bias_(part.bias),
        scales_(std::move(scales)) {}

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &out = frame[results()[0]];
    const std::int64_t rows = weight_->depth == 0 ? 0 : x.elements() / weight_->depth;
    const bool fits = x.extent(1) == weight_->depth && out.extent(1) == weight_->outputs &&
                      out.elements() == rows * weight_->outputs;
    if (!fits) return require(false, "extents of input, weight and result do not fit together");
    fast::linear_codes({.weight = weight_,
                        .x = x.data,
                        .is_unsigned = storage_type(x.dtype) == DType::kUInt8,
                        .rows = rows,
                        .zero = zero_,
                        .scales = scales_.data(),
                        .bias = bias_.defined() ? bias_.as<float>().data() : nullptr,
                        .out = out.floats()},
                       frame.context);
    return {};
  }

  Work work(const Frame& frame) const override {
    Work work = PlanNode::work(frame);
    const std::int64_t depth = std::max<std::int64_t>(weight_->depth, 1);
    work += work_of_product(*weight_, frame[operands()[0]].elements() / depth);
    return work;
  }

  std::string name() const override { return "Linear of codes"; }

 private:
  std::int32_t zero_;
  const fast::PackedMatrix* weight_;
  Tensor bias_;
  std::vector<float> scales_;
};

}  // namespace

bool has_simple_codes(DType dtype, const ref::Quantisation& codes) {
  const DType stored = storage_type(dtype);
  return !codes.axis && codes.block == 0 && codes.code_bits == 0 && codes.scales.size() == 1 &&
         (stored == DType::kInt8 || stored == DType::kUInt8 || stored == DType::kInt16 ||
          stored == DType::kUInt16);
}

std::unique_ptr<PlanNode> real_node(std::size_t step, PlanValueIndex from, PlanValueIndex to,
                                    const ref::Quantisation& codes) {
  return std::make_unique<RealNode>(step, from, to, codes);
}

std::unique_ptr<PlanNode> code_product_node(std::size_t step, PlanValueIndex x,
                                            const ref::Quantisation& codes, const LinearPart& part,
                                            std::vector<float> scales) {
  return std::make_unique<CodeProductNode>(step, x, codes, part, std::move(scales));
}

std::unique_ptr<PlanNode> code_node(std::size_t step, PlanValueIndex from, PlanValueIndex to,
                                    const ref::Quantisation& codes) {
  return std::make_unique<CodeNode>(step, from, to, codes);
}

}  // namespace mir

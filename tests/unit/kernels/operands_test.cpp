// Every reference kernel on operands of any strides, and on one operand that does not fit.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernel_call.hpp"
#include "kernels/ref/attention.hpp"
#include "kernels/ref/convolution.hpp"
#include "kernels/ref/einsum.hpp"
#include "kernels/ref/elementwise.hpp"
#include "kernels/ref/gather.hpp"
#include "kernels/ref/matmul.hpp"
#include "kernels/ref/movement.hpp"
#include "kernels/ref/norm.hpp"
#include "kernels/ref/pad.hpp"
#include "kernels/ref/quantise.hpp"
#include "kernels/ref/reduce.hpp"
#include "kernels/ref/rope.hpp"
#include "kernels/ref/scatter.hpp"
#include "kernels/ref/signal.hpp"
#include "kernels/ref/softmax.hpp"
#include "kernels/ref/sort.hpp"
#include "kernels/ref/unary.hpp"

namespace mir::ref {
namespace operands_test {

template <class Kernel>
Call unary(const std::string& name, Kernel kernel, std::vector<std::string> takes = {}) {
  return {name,
          {f32({2, 3})},
          {f32({2, 3})},
          [kernel](Views in, Outputs out) { return kernel(in[0], out[0]); },
          std::move(takes)};
}

template <class Kernel>
Call binary(const std::string& name, Kernel kernel, DType result = DType::kFloat32) {
  return {name,
          {f32({2, 3, 4}), f32({3, 1})},
          {{result, {2, 3, 4}}},
          [kernel](Views in, Outputs out) { return kernel(in[0], in[1], out[0]); },
          {"in1 has a rank of one more", "out0 has a rank of one more"}};
}

/// With numbers some of which are equal.
Call equality() {
  Call call = binary("equal", equal, DType::kBool);
  for (int i = 0; i < 24; ++i) call.in[0].values.push_back(i % 5);
  call.in[1].values = {0, 3, 1};
  return call;
}

template <class Kernel>
Call reduction(const std::string& name, Kernel kernel) {
  return {name,
          {f32({2, 3, 4})},
          {f32({2, 4})},
          [kernel](Views in, Outputs out) { return kernel(in[0], 1, out[0]); },
          {"in0 has extent 4 in dimension 1"}};
}

std::vector<Call> elementwise_calls() {
  return {
      unary("abs", abs),
      unary("neg", neg),
      unary("exp", exp),
      unary("log", log),
      unary("sin", sin),
      unary("cos", cos),
      unary("relu", relu),
      unary("sigmoid", sigmoid),
      unary("silu", silu),
      unary("gelu", gelu),
      unary("quick_gelu", quick_gelu),
      unary("clip",
            [](const View& x, const MutableView& out) {
              return clip(x, Array(x.dtype, {}, {0}), Array(x.dtype, {}, {1}), out);
            }),
      unary("copy", copy, {"out0 has a rank of one more"}),
      unary("cast", cast, {"in0 is of another type", "out0 is of another type"}),
      binary("add", add),
      binary("sub", sub),
      binary("mul", mul),
      binary("div", div),
      equality(),
      {"where",
       {{DType::kBool, {2, 1}, {1, 0}}, f32({2, 3}), f32({3})},
       {f32({2, 3})},
       [](Views in, Outputs out) { return where(in[0], in[1], in[2], out[0]); },
       {"in2 has a rank of one more", "out0 has a rank of one more"}},
      reduction("reduce_max", reduce_max),
      reduction("reduce_min", reduce_min),
      reduction("reduce_sum", reduce_sum),
      reduction("mean", mean),
  };
}

std::vector<Call> movement_calls() {
  return {
      {"concat",
       {f32({2, 1, 3}), f32({2, 2, 3})},
       {f32({2, 3, 3})},
       [](Views in, Outputs out) { return concat(in, 1, out[0]); }},
      {"stack",
       {f32({2, 3}), f32({2, 3})},
       {f32({2, 2, 3})},
       [](Views in, Outputs out) { return stack(in, 1, out[0]); }},
      {"repeat",
       {f32({2, 3, 2})},
       {f32({2, 6, 2})},
       [](Views in, Outputs out) { return repeat(in[0], 1, 2, out[0]); }},
      {"pad",
       {f32({3, 4}), f32({}, {7})},
       {f32({5, 5})},
       [](Views in, Outputs out) {
         return pad(in[0], Dims{1, 0}, PadMode::kConstant, in[1], out[0]);
       },
       {"in0 has extent 4 in dimension 0", "in0 has extent 5 in dimension 1",
        "out0 has extent 6 in dimension 0", "out0 has extent 6 in dimension 1"}},
      {"pad reflect",
       {f32({3, 4}), f32({}, {7})},
       {f32({5, 5})},
       [](Views in, Outputs out) {
         return pad(in[0], Dims{1, 0}, PadMode::kReflect, in[1], out[0]);
       },
       {"in0 has extent 4 in dimension 0", "in0 has extent 5 in dimension 1",
        "in1 has a rank of one more", "out0 has extent 6 in dimension 0",
        "out0 has extent 6 in dimension 1"}},
      {"gather",
       {f32({2, 5, 3}), i32({2, 2}, {4, 0, 1, 1})},
       {f32({2, 2, 2, 3})},
       [](Views in, Outputs out) { return gather(in[0], in[1], 1, out[0]); },
       {"in0 has extent 6 in dimension 1"}},
      {"embedding",
       {i32({2, 2}, {4, 0, 1, 1}), f32({5, 3})},
       {f32({2, 2, 3})},
       [](Views in, Outputs out) { return embedding(in[0], in[1], out[0]); },
       {"in1 has extent 6 in dimension 0"}},
      {"scatter",
       {f32({3, 4}), i32({2, 4}, {2, 0, 1, 1, 0, 1, 2, 0}), f32({2, 4})},
       {f32({3, 4})},
       [](Views in, Outputs out) {
         return scatter(in[0], in[1], in[2], 0, ScatterReduction::kNone, out[0]);
       }},
      {"argsort",
       {f32({2, 4, 2})},
       {i32({2, 4, 2})},
       [](Views in, Outputs out) { return argsort(in[0], 1, true, out[0]); },
       {"in0 is of another type"}},
      {"top_k",
       {f32({2, 4, 2})},
       {f32({2, 3, 2}), i32({2, 3, 2})},
       [](Views in, Outputs out) { return top_k(in[0], 1, {}, out[0], out[1]); },
       {"in0 has extent 5 in dimension 1"}},
  };
}

std::vector<Call> product_calls() {
  const auto product = [](bool a, bool b) {
    return [a, b](Views in, Outputs out) {
      return matmul(in[0], in[1], {.transpose_a = a, .transpose_b = b}, out[0]);
    };
  };
  return {
      {"matmul",
       {f32({2, 3, 4}), f32({4, 5})},
       {f32({2, 3, 5})},
       product(false, false),
       {"in1 has a rank of one more"}},
      {"matmul a'b'",
       {f32({2, 4, 3}), f32({1, 5, 4})},
       {f32({2, 3, 5})},
       product(true, true),
       {"in1 has extent 2 in dimension 0"}},
      {"linear",
       {f32({2, 3, 4}), f32({5, 4}), f32({5})},
       {f32({2, 3, 5})},
       [](Views in, Outputs out) { return linear(in[0], in[1], &in[2], out[0]); }},
      {"einsum",
       {f32({2, 3}), f32({3, 4})},
       {f32({4, 2})},
       [](Views in, Outputs out) {
         const IndexNumbers operands[] = {{0, 1}, {1, 2}}, result = {2, 0};
         return einsum(in, operands, result, out[0]);
       }},
      {"conv",
       {f32({2, 4, 5, 6}), f32({6, 2, 3, 2}), f32({6})},
       {f32({2, 6, 5, 3})},
       [](Views in, Outputs out) {
         return conv(in[0], in[1], &in[2],
                     {.stride = {1, 2}, .padding = {1, 0}, .dilation = {1, 1}, .groups = 2},
                     out[0]);
       },
       {"in0 has extent 7 in dimension 3"}},
      {"interpolate",
       {f32({2, 3, 4, 5})},
       {f32({2, 3, 7, 3})},
       [](Views in, Outputs out) {
         return interpolate(in[0], {.sampling = Sampling::kLinear}, out[0]);
       },
       {"in0 has extent 5 in dimension 2", "in0 has extent 6 in dimension 3",
        "out0 has extent 8 in dimension 2", "out0 has extent 4 in dimension 3"}},
      {"attention",
       {f32({2, 3, 4, 2}), f32({2, 5, 2, 2}), f32({2, 5, 2, 3}),
        f32({3, 5}, {0, 0, 0, 0, 0, 0, -2, 0, 0, 0, 0, 0, -2, 0, 0}), f32({4})},
       {f32({2, 3, 4, 3}), f32({2, 4, 3, 5})},
       [](Views in, Outputs out) {
         return attention({.q = in[0], .k = in[1], .v = in[2], .mask = &in[3], .sinks = &in[4]}, {},
                          out[0], &out[1]);
       }},
      {"attention by rows",
       {f32({2, 3, 4, 2}), f32({2, 9, 2, 2}), f32({2, 9, 2, 3}), i32({5}, {3, 8, 0, 1, 7}),
        i32({5}, {0, 1, 2, 8, 5})},
       {f32({2, 3, 4, 3})},
       [](Views in, Outputs out) {
         return attention(
             {.q = in[0], .k = in[1], .v = in[2], .key_rows = &in[3], .value_rows = &in[4]}, {},
             out[0], nullptr);
       },
       {"in1 has extent 10 in dimension 1", "in2 has extent 10 in dimension 1"}},
  };
}

std::vector<Call> row_calls() {
  const Quantisation by_channel{.axis = 1,
                                .low = -128,
                                .high = 127,
                                .code_bits = 8,
                                .scales = {0.5, 0.25, 0.125},
                                .zero_points = {1, 0, -3}};
  return {
      {"softmax",
       {f32({2, 3, 4})},
       {f32({2, 3, 4})},
       [](Views in, Outputs out) { return softmax(in[0], 1, out[0]); }},
      {"causal_mask",
       {f32({2, 3, 4, 5})},
       {f32({2, 3, 4, 5})},
       [](Views in, Outputs out) { return causal_mask(in[0], 2, false, out[0]); }},
      {"rms_norm",
       {f32({2, 3, 4}), f32({4})},
       {f32({2, 3, 4})},
       [](Views in, Outputs out) { return rms_norm(in[0], &in[1], {.epsilon = 0.1}, out[0]); }},
      {"layer_norm",
       {f32({2, 3, 4}), f32({3, 4}), f32({3, 4})},
       {f32({2, 3, 4})},
       [](Views in, Outputs out) {
         return layer_norm(in[0], &in[1], &in[2], {.epsilon = 0.1, .normalised_dims = 2}, out[0]);
       }},
      {"rope",
       {f32({2, 3, 4, 6}), f32({2, 4, 3}), f32({2, 4, 3})},
       {f32({2, 3, 4, 6})},
       [](Views in, Outputs out) { return rope(in[0], in[1], in[2], {}, out[0]); },
       {"in1 has extent 4 in dimension 2", "in2 has extent 4 in dimension 2"}},
      {"rope of a part",
       {f32({2, 4, 3, 6}), f32({4, 3}), f32({4, 3})},
       {f32({2, 4, 3, 6})},
       [](Views in, Outputs out) {
         return rope(in[0], in[1], in[2], {.layout = RopeLayout::kBSHD, .partial_dim = 4}, out[0]);
       },
       {"in1 has a rank of one more", "in1 has extent 4 in dimension 1",
        "in2 has a rank of one more", "in2 has extent 4 in dimension 1"}},
      {"dequantise",
       {{DType::kInt8, {2, 3, 4}}},
       {f32({2, 3, 4})},
       [by_channel](Views in, Outputs out) { return dequantise(in[0], by_channel, out[0]); }},
      {"quantise",
       {f32({2, 3, 4})},
       {{DType::kInt8, {2, 3, 4}}},
       [by_channel](Views in, Outputs out) { return quantise(in[0], by_channel, out[0]); }},
      {"round_activations",
       {f32({2, 32})},
       {f32({2, 32})},
       [](Views in, Outputs out) { return round_activations(in[0], out[0]); }},
      {"stft",
       {f32({2, 16}), f32({8})},
       {f32({2, 5, 3, 2})},
       [](Views in, Outputs out) {
         return stft(in[0], in[1], {.n_fft = 8, .hop_length = 4}, out[0]);
       },
       {"in0 has extent 17 in dimension 1"}},
      {"istft",
       {f32({2, 5, 3, 2}), f32({8})},
       {f32({2, 16})},
       [](Views in, Outputs out) {
         return istft(in[0], in[1], {.n_fft = 8, .hop_length = 4}, out[0]);
       },
       {"in0 has extent 4 in dimension 2", "out0 has extent 17 in dimension 1"}},
  };
}

/// One call of every kernel, its operands filled with numbers.
std::vector<Call> calls() {
  std::vector<Call> all;
  for (auto list : {elementwise_calls, movement_calls, product_calls, row_calls}) {
    for (Call& call : list()) all.push_back(std::move(call));
  }
  for (Call& call : all) {
    unsigned seed = 1;
    for (Operand& operand : call.in) {
      if (!operand.values.empty()) continue;
      operand.values = test::random_array(operand.dtype, operand.extents, seed++, 3).values();
      for (double& value : operand.values) value = std::fabs(value) + 0.25;
    }
  }
  return all;
}

struct WrongCall {
  std::string what;
  Call call;
};

/// The call with one operand that has another element type, a dimension more in front, or one more
/// in an extent.
std::vector<WrongCall> wrong_operands(const Call& call) {
  std::vector<WrongCall> wrong;
  for (std::size_t i = 0; i < call.in.size() + call.out.size(); ++i) {
    const bool is_in = i < call.in.size();
    const std::size_t number = is_in ? i : i - call.in.size();
    const std::string name = (is_in ? "in" : "out") + std::to_string(number);
    const Operand& right = is_in ? call.in[number] : call.out[number];
    const auto add = [&](const std::string& what, DType dtype, Dims extents) {
      wrong.push_back({name + what, call});
      Operand& operand = (is_in ? wrong.back().call.in : wrong.back().call.out)[number];
      operand = {dtype, std::move(extents)};
    };
    const bool is_float = right.dtype == DType::kFloat32;
    add(" is of another type", is_float ? DType::kInt16 : DType::kFloat64, right.extents);
    Dims more = right.extents;
    more.insert(more.begin(), 2);
    add(" has a rank of one more", right.dtype, more);
    for (std::size_t dim = 0; dim < right.extents.size(); ++dim) {
      Dims longer = right.extents;
      ++longer[dim];
      add(" has extent " + std::to_string(longer[dim]) + " in dimension " + std::to_string(dim),
          right.dtype, longer);
    }
  }
  return wrong;
}

/// Calls with one option, axis or index that does not fit.
std::vector<Call> wrong_options() {
  std::vector<Call> wrong;
  const auto add = [&](std::string name, std::vector<Operand> in, std::vector<Operand> out,
                       std::function<Result<void>(Views, Outputs)> run) {
    wrong.push_back({std::move(name), std::move(in), std::move(out), std::move(run)});
  };
  for (const std::int64_t axis : {-4, 3}) {
    const std::string at = " at axis " + std::to_string(axis);
    const Operand x = f32({2, 2, 2});
    const auto on = [&](const std::string& name, std::vector<Operand> in, std::vector<Operand> out,
                        auto kernel) {
      add(name + at, std::move(in), std::move(out),
          [axis, kernel](Views a, Outputs b) { return kernel(a, axis, b); });
    };
    on("softmax", {x}, {x}, [](Views a, auto k, Outputs b) { return softmax(a[0], k, b[0]); });
    on("mean", {x}, {f32({2, 2})}, [](Views a, auto k, Outputs b) { return mean(a[0], k, b[0]); });
    on("reduce_max", {x}, {f32({2, 2})},
       [](Views a, auto k, Outputs b) { return reduce_max(a[0], k, b[0]); });
    on("argsort", {x}, {i32({2, 2, 2})},
       [](Views a, auto k, Outputs b) { return argsort(a[0], k, false, b[0]); });
    on("top_k", {x}, {x, i32({2, 2, 2})},
       [](Views a, auto k, Outputs b) { return top_k(a[0], k, {}, b[0], b[1]); });
    on("concat", {x}, {x}, [](Views a, auto k, Outputs b) { return concat(a, k, b[0]); });
    on("repeat", {x}, {x}, [](Views a, auto k, Outputs b) { return repeat(a[0], k, 1, b[0]); });
    on("gather", {x, i32({2})}, {x},
       [](Views a, auto k, Outputs b) { return gather(a[0], a[1], k, b[0]); });
    on("scatter", {x, i32({2, 2, 2}), x}, {x}, [](Views a, auto k, Outputs b) {
      return scatter(a[0], a[1], a[2], k, ScatterReduction::kNone, b[0]);
    });
  }
  for (const double index : {-3, 2}) {  // -2 is the first of two
    const std::string at = " with index " + std::to_string(static_cast<int>(index));
    add("gather" + at, {f32({2, 2}), i32({2}, {0, index})}, {f32({2, 2})},
        [](Views a, Outputs b) { return gather(a[0], a[1], 0, b[0]); });
    add("embedding" + at, {i32({2}, {0, index}), f32({2, 2})}, {f32({2, 2})},
        [](Views a, Outputs b) { return embedding(a[0], a[1], b[0]); });
    add("scatter" + at, {f32({2}), i32({2}, {0, index}), f32({2})}, {f32({2})},
        [](Views a, Outputs b) {
          return scatter(a[0], a[1], a[2], 0, ScatterReduction::kNone, b[0]);
        });
    for (const bool of_keys : {true, false}) {
      const Operand bad = i32({2}, {0, index}), good = i32({2}, {0, 1});
      add("attention by rows" + at,
          {f32({1, 2, 1, 2}), f32({1, 2, 1, 2}), of_keys ? bad : good, of_keys ? good : bad},
          {f32({1, 2, 1, 2})}, [](Views a, Outputs b) {
            return attention(
                {.q = a[0], .k = a[1], .v = a[1], .key_rows = &a[2], .value_rows = &a[3]}, {}, b[0],
                nullptr);
          });
    }
  }
  const ConvOptions convolutions[] = {
      {{0, 1}, {0, 0}, {1, 1}, 1},  {{1, 0}, {0, 0}, {1, 1}, 1}, {{1, 1}, {-1, 0}, {1, 1}, 1},
      {{1, 1}, {0, -1}, {1, 1}, 1}, {{1, 1}, {0, 0}, {0, 1}, 1}, {{1, 1}, {0, 0}, {1, 0}, 1},
      {{1, 1}, {0, 0}, {1, 1}, 0},  {{1, 1}, {0, 0}, {1, 1}, 3}, {{1, 1}, {0, 0}, {1, 1}, -1},
      {{1}, {0, 0}, {1, 1}, 1},     {{1, 1}, {0}, {1, 1}, 1},    {{1, 1}, {0, 0}, {1}, 1}};
  for (const ConvOptions& options : convolutions) {
    add("conv", {f32({1, 2, 3, 3}), f32({2, 2, 1, 1})}, {f32({1, 2, 3, 3})},
        [options](Views a, Outputs b) { return conv(a[0], a[1], nullptr, options, b[0]); });
  }
  for (const std::int64_t part : {-2, 3, 8}) {
    add("rope of " + std::to_string(part), {f32({1, 1, 2, 6}), f32({2, 4}), f32({2, 4})},
        {f32({1, 1, 2, 6})},
        [part](Views a, Outputs b) { return rope(a[0], a[1], a[2], {.partial_dim = part}, b[0]); });
  }
  for (const std::int64_t dims : {-1, 3}) {
    add("layer_norm of " + std::to_string(dims), {f32({2, 2})}, {f32({2, 2})},
        [dims](Views a, Outputs b) {
          return layer_norm(a[0], nullptr, nullptr, {.normalised_dims = dims}, b[0]);
        });
  }
  for (const std::int64_t before : {-1, 2}) {
    add("pad by " + std::to_string(before), {f32({2}), f32({}, {1})}, {f32({3})},
        [before](Views a, Outputs b) {
          return pad(a[0], Dims{before}, PadMode::kConstant, a[1], b[0]);
        });
  }
  return wrong;
}

TEST_SUITE_BEGIN("operands of reference kernels");

TEST_CASE("strides change nothing, and only elements are written") {
  for (const Call& call : calls()) {
    CAPTURE(call.name);
    const Outcome want = run(call, -1, Layout::kDense);
    REQUIRE(want.done);
    for (const auto& values : want.values) {
      CHECK(std::ranges::count(values, 0) != std::ssize(values));
    }
    for (int turned = -1; turned < std::ssize(call.in) + std::ssize(call.out); ++turned) {
      for (const Layout layout : {Layout::kSpread, Layout::kBackwards}) {
        CAPTURE(turned);
        CAPTURE(layout);
        const Outcome found = run(call, turned, layout);
        REQUIRE(found.done);
        CHECK(found.values == want.values);
        CHECK(found.rest_is_intact);
      }
    }
  }
}

TEST_CASE("an operand that does not fit is refused before anything is written") {
  for (const Call& right : calls()) {
    std::vector<std::string> taken;
    for (const WrongCall& wrong : wrong_operands(right)) {
      CAPTURE(right.name);
      CAPTURE(wrong.what);
      const Outcome found = run(wrong.call, -1, Layout::kDense);
      if (found.done) {
        taken.push_back(wrong.what);
        continue;
      }
      for (const auto& values : found.values) {
        CHECK(std::ranges::count(values, 0) == std::ssize(values));
      }
    }
    CAPTURE(right.name);
    CHECK(taken == right.takes);
  }
}

TEST_CASE("an option, axis or index that does not fit is refused before anything is written") {
  for (const Call& call : wrong_options()) {
    CAPTURE(call.name);
    const Outcome found = run(call, -1, Layout::kDense);
    CHECK_FALSE(found.done);
    for (const auto& values : found.values) {
      CHECK(std::ranges::count(values, 0) == std::ssize(values));
    }
  }
}

TEST_SUITE_END();

}  // namespace operands_test
}  // namespace mir::ref

// Row kernels, attention and convolution of libtorch, or stubs if it is not installed.
#include "torch_peers.hpp"

#if defined(MIR_BENCH_TORCH)

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#if defined(MIR_BENCH_OPENBLAS)
#include <cblas.h>
#endif

#include <utility>

namespace mir::bench {

namespace {

using at::Tensor;

/// Sets the thread number of the following calls. PyTorch makes new threads whenever the number is
/// set, so it is set only if it changes. Its products may be OpenBLAS's, whose own threads would
/// compete with its.
void set_threads(int threads) {
#if defined(MIR_BENCH_OPENBLAS)
  openblas_set_num_threads(1);
#endif
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

template <class Compute>
TorchCall call(unsigned threads, Compute compute) {
  return [threads, compute = std::move(compute)]() mutable {
    const c10::InferenceMode no_gradients;
    set_threads(static_cast<int>(threads));
    compute();
  };
}

struct Operands {
  Tensor x, second, row, out;
  std::int64_t width;
};

struct RowsOp {
  std::string_view name;
  void (*run)(Operands& o);
};
/// Results go to memory that is there, as ours do, where an op can.
constexpr RowsOp kRowsOps[] = {
    {"softmax", [](Operands& o) { at::_softmax_out(o.out, o.x, -1, false); }},
    {"rms_norm",
     [](Operands& o) {
       // PyTorch 1.13 has no RMSNorm, so it is written as models write it.
       const Tensor scale = at::rsqrt(at::mean(o.x * o.x, {-1}, true) + 1e-6);
       at::mul_out(o.out, o.x * scale, o.row);
     }},
    {"layer_norm", [](Operands& o) { o.out = at::layer_norm(o.x, {o.width}, o.row, o.row, 1e-6); }},
    {"silu", [](Operands& o) { at::silu_out(o.out, o.x); }},
    {"gelu", [](Operands& o) { at::gelu_out(o.out, o.x, "tanh"); }},
    {"log", [](Operands& o) { at::log_out(o.out, o.x); }},
    {"sin", [](Operands& o) { at::sin_out(o.out, o.x); }},
    {"cast to Float16", [](Operands& o) { o.out = o.x.to(at::kHalf); }},
    {"sum of rows", [](Operands& o) { o.out = at::sum(o.x, {-1}); }},
    {"maximum of rows", [](Operands& o) { o.out = at::amax(o.x, {-1}); }},
    {"mean of columns", [](Operands& o) { o.out = at::mean(o.x, {0}); }},
    {"softmax of columns", [](Operands& o) { at::_softmax_out(o.out, o.x, 0, false); }},
    {"add", [](Operands& o) { at::add_out(o.out, o.x, o.second); }},
};

}  // namespace

bool has_torch() {
  return true;
}

TorchCall torch_rows(std::string_view op, std::int64_t rows, std::int64_t width, unsigned threads) {
  for (const RowsOp& each : kRowsOps) {
    if (each.name != op) continue;
    Operands operands{.x = at::rand({rows, width}) * 2 - 1,
                      .second = at::rand({rows, width}),
                      .row = at::rand({width}),
                      .out = at::empty({rows, width}),
                      .width = width};
    return call(threads, [run = each.run, operands]() mutable { run(operands); });
  }
  return {};
}

TorchCall torch_attention(const TorchHeads& heads, unsigned threads) {
  const Tensor q = at::rand({1, heads.heads, heads.queries, heads.width});
  const Tensor k = at::rand({1, heads.heads, heads.keys, heads.width}), v = k.clone();
  // PyTorch's causal mask sees keys 0 to i for query i. For one query that is key 0 alone, so no
  // mask is passed.
  const bool masked = heads.causal && heads.queries > 1;
  return call(threads, [=] { at::_scaled_dot_product_attention(q, k, v, {}, 0.0, false, masked); });
}

TorchCall torch_conv(const TorchImage& image, unsigned threads) {
  const Tensor x = at::rand({1, image.channels, image.extent, image.extent});
  const Tensor weight = at::rand({image.outputs, image.channels, image.kernel, image.kernel});
  return call(threads, [=] {
    at::conv2d(x, weight, {}, {image.stride, image.stride}, {image.padding, image.padding});
  });
}

}  // namespace mir::bench

#else

namespace mir::bench {

bool has_torch() {
  return false;
}
TorchCall torch_rows(std::string_view, std::int64_t, std::int64_t, unsigned) {
  return {};
}
TorchCall torch_attention(const TorchHeads&, unsigned) {
  return {};
}
TorchCall torch_conv(const TorchImage&, unsigned) {
  return {};
}

}  // namespace mir::bench

#endif

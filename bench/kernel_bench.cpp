// Speed of the fast kernels, with the machine's limits and peers in the same run.
//
//   kernel_bench [--benchmark_...]
//
// Counters: FLOP of arithmetic and B of memory that must move, each per second. bench/README.md
// says how to read them.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernel_peers.hpp"
#include "kernels/fast/attention.hpp"
#include "kernels/fast/elementwise.hpp"
#include "kernels/fast/limits.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "kernels/fast/matrix/product.hpp"
#include "kernels/fast/reduction.hpp"
#include "kernels/fast/rows.hpp"
#include "kernels/fast/select.hpp"
#include "torch_peers.hpp"

namespace {

using namespace mir;
using namespace mir::fast;
using benchmark::State;

/// Weights are cycled through this much, so that each product reads them from memory.
constexpr std::size_t kColdBytes = std::size_t{192} << 20;

std::vector<float> random_floats(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::mt19937 bits(1);
  for (float& v : values) v = static_cast<float>(bits()) * 0x1p-31F - 1;
  return values;
}

void count(State& state, double flop, double bytes) {
  const auto rate = [&](double each) {
    return benchmark::Counter(each * static_cast<double>(state.iterations()),
                              benchmark::Counter::kIsRate);
  };
  if (flop > 0) state.counters["FLOP"] = rate(flop);
  if (bytes > 0) state.counters["B"] = rate(bytes);
}

/// With one thread its processor time counts, so that other work on the machine disturbs little.
template <class Body>
void add(std::string name, unsigned threads, Body body) {
  name += fmt::format("/threads:{}", threads);
  auto* const registered =
      benchmark::RegisterBenchmark(name.c_str(), [=](State& state) { body(state, threads); });
  registered->Unit(benchmark::kMicrosecond);
  if (threads > 1) registered->UseRealTime();
}

/// The peer of a kernel that is named `name`, by the same measure of work.
void add_torch(const std::string& name, unsigned threads, double flop, double bytes,
               std::function<bench::TorchCall(unsigned threads)> make) {
  if (!bench::has_torch()) return;
  add(name + "/PyTorch", threads, [=](State& state, unsigned n) {
    const bench::TorchCall call = make(n);
    if (!call) return state.SkipWithError("PyTorch has no such op");
    for (auto _ : state) call();
    count(state, flop, bytes);
  });
}

// Limits.

void add_limits(unsigned threads) {
  add("limit/multiply-add", threads, [](State& state, unsigned n) {
    Context context(n);
    double flop = 0;
    for (auto _ : state) flop = multiply_adds(context);
    count(state, flop, 0);
  });
  add("limit/read", threads, [](State& state, unsigned n) {
    Context context(n);
    const LargePages memory(kColdBytes);
    std::fill_n(reinterpret_cast<char*>(memory.data()), memory.size(), 1);
    for (auto _ : state)
      benchmark::DoNotOptimize(read_all({memory.data(), memory.size()}, context));
    count(state, 0, static_cast<double>(memory.size()));
  });
}

// Products.

struct Product {
  std::int64_t rows, depth, outputs;
};
constexpr Product kProducts[] = {
    {1, 1536, 1536}, {1, 1536, 8960},   {1, 8960, 1536},   {1, 896, 4864},   {16, 1536, 8960},
    {16, 896, 4864}, {128, 1536, 1536}, {128, 1536, 8960}, {128, 896, 4864}, {512, 1536, 1536}};

struct Element {
  const char* name;
  DType dtype;
  Activations activations = Activations::kFloat32;
};
constexpr Element kElements[] = {{"Float32", DType::kFloat32},
                                 {"BFloat16", DType::kBFloat16},
                                 {"BFloat16 activations", DType::kBFloat16, Activations::kBFloat16},
                                 {"Float16", DType::kFloat16},
                                 {"GGUF_Q8_0", DType::kGgufQ8_0},
                                 {"GGUF_Q4_0", DType::kGgufQ4_0},
                                 {"MIR_Q4_A32", DType::kMirQ4A32},
                                 {"GGUF_Q5_0", DType::kGgufQ5_0},
                                 {"GGUF_Q5_1", DType::kGgufQ5_1},
                                 {"GGUF_Q2_K", DType::kGgufQ2K},
                                 {"GGUF_Q3_K", DType::kGgufQ3K},
                                 {"GGUF_Q4_K", DType::kGgufQ4K},
                                 {"GGUF_Q5_K", DType::kGgufQ5K},
                                 {"GGUF_Q6_K", DType::kGgufQ6K},
                                 {"Int8", DType::kInt8}};

double product_flop(const Product& p) {
  return 2.0 * static_cast<double>(p.rows * p.depth * p.outputs);
}

/// Weights, packed or as they are, as often as makes kColdBytes.
struct ColdWeights {
  ColdWeights(std::size_t each_) : each((each_ + 63) / 64 * 64), copies(kColdBytes / each + 1) {
    memory = LargePages(each * copies);
  }
  std::span<std::byte> copy(std::size_t i) const {
    return {memory.data() + i % copies * each, each};
  }
  std::size_t each, copies;
  LargePages memory;
};

/// Linear layers; elements of type Int8 select products of codes.
void run_linear(State& state, unsigned threads, const Product& p, const Element& element) {
  Context context(threads);
  const auto& [name, dtype, activations] = element;
  const std::vector<float> x = random_floats(p.rows * p.depth);
  const std::vector<float> scales(static_cast<std::size_t>(p.outputs), 1.0F);
  const std::vector<std::byte> weight(
      *storage_bytes(dtype, static_cast<std::uint64_t>(p.outputs * p.depth)), std::byte{0x3c});
  const ColdWeights weights(packed_bytes(dtype, p.outputs, p.depth, context.isa(), activations));
  std::vector<PackedMatrix> packed;
  for (std::size_t i = 0; i < weights.copies; ++i) {
    packed.push_back(
        pack(weight.data(), dtype, p.outputs, p.depth, weights.copy(i), context, activations));
  }
  std::vector<float> out(static_cast<std::size_t>(p.rows * p.outputs));
  std::size_t i = 0;
  for (auto _ : state) {
    const PackedMatrix& matrix = packed[i++ % packed.size()];
    if (dtype == DType::kInt8) {
      linear_codes({.weight = &matrix,
                    .x = reinterpret_cast<const std::byte*>(x.data()),
                    .rows = p.rows,
                    .scales = scales.data(),
                    .out = out.data()},
                   context);
      continue;
    }
    linear(matrix,
           {.rows = {.x = x.data(), .x_stride = p.depth, .rows = p.rows},
            .out = out.data(),
            .out_stride = p.outputs},
           context);
  }
  count(state, product_flop(p), static_cast<double>(weight.size()));
}

void run_peer(State& state, unsigned threads, const Product& p, const bench::Peer& peer) {
  const std::vector<float> x = random_floats(p.rows * p.depth);
  const std::vector<float> weight = random_floats(p.outputs * p.depth);
  const std::size_t copies = kColdBytes / (weight.size() * peer.weight_bytes) + 1;
  std::vector<float> out(static_cast<std::size_t>(p.rows * p.outputs));
  std::vector<std::unique_ptr<bench::PeerProduct>> products;
  for (std::size_t i = 0; i < copies; ++i) {
    products.push_back(peer.make(p.rows, p.depth, p.outputs, weight.data(), threads));
  }
  std::size_t i = 0;
  for (auto _ : state) products[i++ % copies]->run(x.data(), out.data());
  count(state, product_flop(p), static_cast<double>(weight.size() * peer.weight_bytes));
}

void add_products(unsigned threads) {
  for (const Product& p : kProducts) {
    const std::string shape = fmt::format("{}x{}x{}", p.rows, p.depth, p.outputs);
    for (const Element& element : kElements) {
      if (element.dtype != DType::kInt8 && !is_packable(element.dtype, p.depth)) continue;
      add(fmt::format("linear/{}/{}", shape, element.name), threads,
          [=](State& state, unsigned n) { run_linear(state, n, p, element); });
    }
    for (const bench::Peer& peer : bench::peers()) {
      add(fmt::format("linear/{}/{}/{}", shape, peer.type, peer.name), threads,
          [=](State& state, unsigned n) { run_peer(state, n, p, peer); });
    }
  }
}

// Attention.

struct Heads {
  std::int64_t heads, kv_heads, queries, keys, width;
  bool causal;
};
constexpr Heads kHeads[] = {{12, 12, 128, 128, 128, false}, {12, 12, 512, 512, 128, false},
                            {12, 12, 1, 512, 128, false},   {16, 16, 256, 256, 80, false},
                            {14, 2, 128, 128, 64, true},    {14, 2, 512, 512, 64, true},
                            {14, 2, 1, 512, 64, true},      {14, 2, 1, 8192, 64, true}};

double attention_flop(const Heads& h) {
  double pairs = static_cast<double>(h.queries * h.keys);
  if (h.causal) pairs -= static_cast<double>(h.queries * (h.queries - 1)) / 2;
  return 4 * pairs * static_cast<double>(h.heads * h.width);
}

double attention_bytes(const Heads& h) {
  return 8.0 * static_cast<double>((h.heads * h.queries + h.kv_heads * h.keys) * h.width);
}

void run_attention(State& state, unsigned threads, const Heads& h) {
  Context context(threads);
  const std::vector<float> q = random_floats(h.heads * h.queries * h.width);
  const std::vector<float> k = random_floats(h.kv_heads * h.keys * h.width), v = k;
  std::vector<float> out(q.size());
  AttentionOperands o{.q = q.data(), .k = k.data(), .v = v.data(), .out = out.data()};
  o.batches = 1;
  o.heads = h.heads;
  o.kv_heads = h.kv_heads;
  o.queries = h.queries;
  o.keys = h.keys;
  o.width = o.value_width = h.width;
  o.scale = 0.1F;
  o.causal = h.causal;
  for (auto* strides : {&o.q_strides, &o.out_strides}) {
    (*strides)[1] = h.queries * h.width;
    (*strides)[2] = h.width;
  }
  for (auto* strides : {&o.k_strides, &o.v_strides}) {
    (*strides)[1] = h.keys * h.width;
    (*strides)[2] = h.width;
  }
  for (auto _ : state) attention(o, context);
  count(state, attention_flop(h), attention_bytes(h));
}

void add_attention(unsigned threads) {
  for (const Heads& h : kHeads) {
    const std::string name = fmt::format("attention/h{}:{} q{} k{} d{}{}", h.heads, h.kv_heads,
                                         h.queries, h.keys, h.width, h.causal ? " causal" : "");
    add(name, threads, [=](State& state, unsigned n) { run_attention(state, n, h); });
    add_torch(name, threads, attention_flop(h), attention_bytes(h), [=](unsigned n) {
      return bench::torch_attention({h.heads, h.queries, h.keys, h.width, h.causal}, n);
    });
  }
}

// Products of values of the run, and convolutions.

struct HeadProduct {
  std::int64_t heads, rows, depth, columns;
  bool transpose_b;
};
constexpr HeadProduct kHeadProducts[] = {
    {16, 680, 80, 680, true}, {16, 680, 680, 80, false}, {1, 512, 1536, 1536, false}};

void run_matmul(State& state, unsigned threads, const HeadProduct& p) {
  Context context(threads);
  const std::vector<float> a = random_floats(p.heads * p.rows * p.depth);
  const std::vector<float> b = random_floats(p.heads * p.depth * p.columns);
  std::vector<float> out(static_cast<std::size_t>(p.heads * p.rows * p.columns));
  MatMulOperands o{.a = a.data(),
                   .b = b.data(),
                   .out = out.data(),
                   .rows = p.rows,
                   .depth = p.depth,
                   .columns = p.columns,
                   .a_row = p.depth,
                   .b_step = p.transpose_b ? 1 : p.columns,
                   .b_column = p.transpose_b ? p.depth : 1,
                   .out_row = p.columns,
                   .batch_rank = 1};
  o.batches[0] = p.heads;
  o.a_strides[0] = p.rows * p.depth;
  o.b_strides[0] = p.depth * p.columns;
  o.out_strides[0] = p.rows * p.columns;
  for (auto _ : state) matmul(o, context);
  count(state, 2.0 * static_cast<double>(p.heads * p.rows * p.depth * p.columns),
        static_cast<double>((a.size() + b.size() + out.size()) * sizeof(float)));
}

struct Image {
  std::int64_t channels, outputs, extent, kernel, stride;

  std::int64_t padding() const { return stride == 1 ? kernel / 2 : 0; }
  std::int64_t places() const { return (extent + 2 * padding() - kernel) / stride + 1; }
  std::int64_t weights() const { return outputs * channels * kernel * kernel; }
  double flop() const { return 2.0 * static_cast<double>(weights() * places() * places()); }
  double bytes() const {
    return 4.0 * static_cast<double>(channels * extent * extent + weights() +
                                     outputs * places() * places());
  }
};
constexpr Image kImages[] = {{64, 64, 56, 3, 1}, {256, 256, 14, 3, 1}, {3, 1280, 364, 14, 14}};

void run_conv(State& state, unsigned threads, const Image& i) {
  Context context(threads);
  const std::int64_t padding = i.padding(), places = i.places();
  const std::vector<float> x = random_floats(i.channels * i.extent * i.extent);
  const std::vector<float> weight = random_floats(i.weights());
  std::vector<float> out(static_cast<std::size_t>(i.outputs * places * places));
  const ConvOperands o{.x = x.data(),
                       .weight = weight.data(),
                       .out = out.data(),
                       .batches = 1,
                       .inputs = i.channels,
                       .outputs = i.outputs,
                       .x_extents = {1, i.extent, i.extent},
                       .kernel = {1, i.kernel, i.kernel},
                       .out_extents = {1, places, places},
                       .stride = {1, i.stride, i.stride},
                       .padding = {0, padding, padding}};
  for (auto _ : state) conv(o, context);
  count(state, i.flop(), i.bytes());
}

void add_computed_products(unsigned threads) {
  for (const HeadProduct& p : kHeadProducts) {
    add(fmt::format("matmul/{}x{}x{}x{}{}", p.heads, p.rows, p.depth, p.columns,
                    p.transpose_b ? " transposed" : ""),
        threads, [=](State& state, unsigned n) { run_matmul(state, n, p); });
  }
  for (const Image& i : kImages) {
    const std::string name = fmt::format("conv/{}->{} {}x{} kernel {} stride {}", i.channels,
                                         i.outputs, i.extent, i.extent, i.kernel, i.stride);
    add(name, threads, [=](State& state, unsigned n) { run_conv(state, n, i); });
    add_torch(name, threads, i.flop(), i.bytes(), [=](unsigned n) {
      return bench::torch_conv({i.channels, i.outputs, i.extent, i.kernel, i.stride, i.padding()},
                               n);
    });
  }
}

// Rows and elements.

struct RowsOp {
  const char* name;
  double passes;  ///< how often the matrix is read or written at least
  void (*run)(const Rows& rows, const float* second, Context& context);
};
constexpr RowsOp kRowsOps[] = {
    {"softmax", 2, [](const Rows& r, const float*, Context& c) { softmax(r, c); }},
    {"rms_norm", 2,
     [](const Rows& r, const float* w, Context& c) {
       rms_norm(r, {.weight = w, .epsilon = 1e-6F}, c);
     }},
    {"layer_norm", 2,
     [](const Rows& r, const float* w, Context& c) { layer_norm(r, w, w, 1e-6F, c); }},
    {"silu", 2,
     [](const Rows& r, const float*, Context& c) {
       unary(Unary::kSilu, r.x, r.out, r.rows * r.width, c);
     }},
    {"gelu", 2,
     [](const Rows& r, const float*, Context& c) {
       unary(Unary::kGelu, r.x, r.out, r.rows * r.width, c);
     }},
    {"log", 2,
     [](const Rows& r, const float*, Context& c) {
       unary(Unary::kLog, r.x, r.out, r.rows * r.width, c);
     }},
    {"sin", 2,
     [](const Rows& r, const float*, Context& c) {
       unary(Unary::kSin, r.x, r.out, r.rows * r.width, c);
     }},
    {"cast to Float16", 1.5,
     [](const Rows& r, const float*, Context& c) {
       benchmark::DoNotOptimize(cast(DType::kFloat32, reinterpret_cast<const std::byte*>(r.x),
                                     DType::kFloat16, reinterpret_cast<std::byte*>(r.out),
                                     r.rows * r.width, c));
     }},
    {"sum of rows", 1,
     [](const Rows& r, const float*, Context& c) {
       reduce(Reduction::kSum, {.x = r.x, .out = r.out, .outer = r.rows, .length = r.width}, c);
     }},
    {"maximum of rows", 1,
     [](const Rows& r, const float*, Context& c) {
       reduce(Reduction::kMax, {.x = r.x, .out = r.out, .outer = r.rows, .length = r.width}, c);
     }},
    {"mean of columns", 1,
     [](const Rows& r, const float*, Context& c) {
       reduce(Reduction::kMean, {.x = r.x, .out = r.out, .length = r.rows, .inner = r.width}, c);
     }},
    {"softmax of columns", 2,
     [](const Rows& r, const float*, Context& c) {
       softmax_along({.x = r.x, .out = r.out, .length = r.rows, .inner = r.width}, c);
     }},
    {"add", 3,
     [](const Rows& r, const float* b, Context& c) {
       binary(
           Binary::kAdd, {.data = reinterpret_cast<const std::byte*>(r.x), .strides = {1}},
           {.data = reinterpret_cast<const std::byte*>(b), .strides = {1}},
           {.data = reinterpret_cast<std::byte*>(r.out), .rank = 1, .extents = {r.rows * r.width}},
           c);
     }},
};
constexpr std::pair<std::int64_t, std::int64_t> kMatrices[] = {
    {1, 1536}, {128, 1536}, {512, 1536}, {6144, 512}, {1, 8960}, {128, 8960}, {512, 8960}};

void run_rows(State& state, unsigned threads, const RowsOp& op, std::int64_t rows,
              std::int64_t width) {
  Context context(threads);
  const std::vector<float> x = random_floats(rows * width), second = x;
  std::vector<float> out(x.size());
  const Rows operands{.x = x.data(),
                      .x_stride = width,
                      .out = out.data(),
                      .out_stride = width,
                      .rows = rows,
                      .width = width};
  for (auto _ : state) op.run(operands, second.data(), context);
  count(state, 0, op.passes * static_cast<double>(x.size() * sizeof(float)));
}

void add_rows(unsigned threads) {
  for (const RowsOp& op : kRowsOps) {
    for (const auto& [rows, width] : kMatrices) {
      const std::string name = fmt::format("{}/{}x{}", op.name, rows, width);
      add(name, threads, [&op, rows = rows, width = width](State& state, unsigned n) {
        run_rows(state, n, op, rows, width);
      });
      add_torch(name, threads, 0, op.passes * 4.0 * static_cast<double>(rows * width),
                [&op, rows = rows, width = width](unsigned n) {
                  return bench::torch_rows(op.name, rows, width, n);
                });
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  for (const unsigned threads : {1U, 2U}) {
    add_limits(threads);
    add_products(threads);
    add_attention(threads);
    add_computed_products(threads);
    add_rows(threads);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

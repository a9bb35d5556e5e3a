// Matrix products of OpenBLAS and oneDNN, to compare kernel speeds with.
#include "kernel_peers.hpp"

#include <vector>

#if defined(MIR_BENCH_OPENBLAS)
#include <cblas.h>
#endif
#if defined(MIR_BENCH_DNNL)
#include <omp.h>

#include <oneapi/dnnl/dnnl.hpp>
#endif

namespace mir::bench {

namespace {

#if defined(MIR_BENCH_OPENBLAS)

class OpenBlasProduct : public PeerProduct {
 public:
  OpenBlasProduct(std::int64_t rows, std::int64_t depth, std::int64_t outputs, const float* weight,
                  unsigned threads)
      : rows_(static_cast<int>(rows)),
        depth_(static_cast<int>(depth)),
        outputs_(static_cast<int>(outputs)),
        threads_(static_cast<int>(threads)),
        weight_(weight, weight + outputs * depth) {}

  void run(const float* x, float* y) override {
    openblas_set_num_threads(threads_);
    if (rows_ == 1) {
      cblas_sgemv(CblasRowMajor, CblasNoTrans, outputs_, depth_, 1, weight_.data(), depth_, x, 1, 0,
                  y, 1);
    } else {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows_, outputs_, depth_, 1, x, depth_,
                  weight_.data(), depth_, 0, y, outputs_);
    }
  }

 private:
  int rows_, depth_, outputs_, threads_;
  std::vector<float> weight_;
};

#endif

#if defined(MIR_BENCH_DNNL)

/// An inner product with weights in the order that the library asks for.
class DnnlProduct : public PeerProduct {
 public:
  DnnlProduct(std::int64_t rows, std::int64_t depth, std::int64_t outputs, const float* weight,
              unsigned threads)
      : threads_(static_cast<int>(threads)) {
    using namespace dnnl;
    using Tag = memory::format_tag;
    omp_set_num_threads(threads_);
    const auto f32 = memory::data_type::f32;
    const memory::desc x({rows, depth}, f32, Tag::ab), y({rows, outputs}, f32, Tag::ab);
    const memory::desc any({outputs, depth}, f32, Tag::any), plain({outputs, depth}, f32, Tag::ab);
    const auto kind = prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    const inner_product_forward::primitive_desc desc(engine_, kind, x, any, y);
#else
    const inner_product_forward::primitive_desc desc({kind, x, any, y}, engine_);
#endif
    weight_ = memory(desc.weights_desc(), engine_);
    memory from(plain, engine_, const_cast<float*>(weight));
    reorder(from, weight_).execute(stream_, from, weight_);
    x_ = memory(x, engine_, nullptr);
    y_ = memory(y, engine_, nullptr);
    product_ = inner_product_forward(desc);
    stream_.wait();
  }

  void run(const float* x, float* y) override {
    omp_set_num_threads(threads_);
    x_.set_data_handle(const_cast<float*>(x));
    y_.set_data_handle(y);
    product_.execute(stream_,
                     {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, weight_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  int threads_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory weight_, x_, y_;
  dnnl::inner_product_forward product_;
};

/// Products of 8-bit integers with sums as Float32. Activations are codes already: rounding them is
/// not counted.
class DnnlIntegerProduct : public PeerProduct {
 public:
  DnnlIntegerProduct(std::int64_t rows, std::int64_t depth, std::int64_t outputs,
                     const float* weight, unsigned threads)
      : threads_(static_cast<int>(threads)), codes_(static_cast<std::size_t>(rows * depth), 1) {
    using namespace dnnl;
    using Tag = memory::format_tag;
    omp_set_num_threads(threads_);
    const auto s8 = memory::data_type::s8;
    const memory::desc x({rows, depth}, memory::data_type::u8, Tag::ab);
    const memory::desc y({rows, outputs}, memory::data_type::f32, Tag::ab);
    const memory::desc any({outputs, depth}, s8, Tag::any), plain({outputs, depth}, s8, Tag::ab);
    const auto kind = prop_kind::forward_inference;
#if DNNL_VERSION_MAJOR >= 3
    const inner_product_forward::primitive_desc desc(engine_, kind, x, any, y);
#else
    const inner_product_forward::primitive_desc desc({kind, x, any, y}, engine_);
#endif
    std::vector<std::int8_t> codes(static_cast<std::size_t>(outputs * depth));
    for (std::size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<std::int8_t>(weight[i] * 127);
    }
    weight_ = memory(desc.weights_desc(), engine_);
    memory from(plain, engine_, codes.data());
    reorder(from, weight_).execute(stream_, from, weight_);
    x_ = memory(x, engine_, codes_.data());
    y_ = memory(y, engine_, nullptr);
    product_ = inner_product_forward(desc);
    stream_.wait();
  }

  void run(const float*, float* y) override {
    omp_set_num_threads(threads_);
    y_.set_data_handle(y);
    product_.execute(stream_,
                     {{DNNL_ARG_SRC, x_}, {DNNL_ARG_WEIGHTS, weight_}, {DNNL_ARG_DST, y_}});
    stream_.wait();
  }

 private:
  int threads_;
  std::vector<std::uint8_t> codes_;
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  dnnl::memory weight_, x_, y_;
  dnnl::inner_product_forward product_;
};

#endif

template <class Product>
[[maybe_unused]] std::unique_ptr<PeerProduct> make(std::int64_t rows, std::int64_t depth,
                                                   std::int64_t outputs, const float* weight,
                                                   unsigned threads) {
  return std::make_unique<Product>(rows, depth, outputs, weight, threads);
}

}  // namespace

std::span<const Peer> peers() {
  static constexpr Peer kNone[] = {{"none", "", 0, nullptr}};
  static constexpr Peer kPeers[] = {
#if defined(MIR_BENCH_OPENBLAS)
    {"OpenBLAS", "Float32", 4, make<OpenBlasProduct>},
#endif
#if defined(MIR_BENCH_DNNL)
    {"oneDNN", "Float32", 4, make<DnnlProduct>},
    {"oneDNN", "8-bit", 1, make<DnnlIntegerProduct>},
#endif
    kNone[0]
  };
  return std::span(kPeers).first(std::size(kPeers) - 1);
}

}  // namespace mir::bench

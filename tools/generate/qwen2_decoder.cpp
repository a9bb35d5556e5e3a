// Builds a small Qwen2-style decoder module, its weights and rotary tables.
#include "qwen2_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <utility>

#include "kernels/ref/elementary.hpp"
#include "mir/codes/weights.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"

namespace mir::generate {
namespace {

constexpr std::int64_t kLargestExtent = 1 << 24;
constexpr std::int64_t kMostLayers = 1000;
constexpr std::string_view kSinTable = "rope.sin";
constexpr std::string_view kCosTable = "rope.cos";

std::string weight_of(std::string_view path) {
  return fmt::format("{}.weight", path);
}

class DecoderBuilder {
 public:
  /// `as_graph`: the decoder is a graph of this name instead of the body of the module.
  DecoderBuilder(IRContext& context, const DecoderShape& shape, Diagnostics& diagnostics,
                 std::string_view as_graph = {})
      : context_(context), shape_(shape), diagnostics_(diagnostics), as_graph_(as_graph) {}

  Module* build() {
    Module& module = context_.create_module("main");
    Rewriter rewriter(module);
    rewriter.set_version(1);
    const Dim index_extents[] = {Dim(1), length_};
    const Type* const indices = context_.tensor(index_extents, DType::kInt64);
    const std::array<const Type*, 2> inputs = {indices, indices};
    const bool is_graph = !as_graph_.empty();
    body_ = rewriter.create_block(
        module.body(), std::span<const Type* const>(inputs).first(is_graph ? 0 : inputs.size()));
    Builder builder(module, diagnostics_);
    builder_ = &builder;
    parameters();
    builder.set_insertion_point_to_end(*body_);
    if (is_graph) builder.subgraph(as_graph_, inputs);
    const Block& around = *builder.insertion_block();
    ids_ = &around.arguments()[0];
    positions_ = &around.arguments()[1];
    builder.set_name(*ids_, ValueName::symbol(context_.intern("ids")));
    builder.set_name(*positions_, ValueName::symbol(context_.intern("positions")));
    Value* const logits = entry();
    builder.set_name(*logits, ValueName::symbol(context_.intern("logits")));
    if (is_graph) give(logits);
    model();
    for (std::int64_t i = 0; i < shape_.layers; ++i) {
      layer(i);
      attention(i);
      feed_forward(i);
    }
    builder.set_insertion_point_to_end(*body_);
    if (is_graph) {
      builder.return_op({});
    } else {
      give(logits);
    }
    if (!diagnostics_.has_errors()) return &module;
    context_.release(module);
    return nullptr;
  }

 private:
  using Values = std::initializer_list<Value*>;

  // -- parameters -------------------------------------------------------------------------------

  void parameters() {
    builder_->subgraph("init", {}, "notype");
    const auto [hidden, ffn, vocab] = std::tuple(shape_.hidden, shape_.ffn, shape_.vocab);
    const std::int64_t queries = shape_.heads * shape_.head_dim;
    const std::int64_t keys = shape_.kv_heads * shape_.head_dim;
    parameter("model.embed_tokens", {vocab, hidden});
    for (const std::string_view table : {kSinTable, kCosTable})
      parameter(table, {shape_.max_positions, shape_.head_dim});
    for (std::int64_t i = 0; i < shape_.layers; ++i) {
      const std::string path = layer_path(i);
      parameter(path + ".input_layernorm", {hidden});
      projection(path + ".self_attn.q_proj", queries, hidden, true);
      projection(path + ".self_attn.k_proj", keys, hidden, true);
      projection(path + ".self_attn.v_proj", keys, hidden, true);
      projection(path + ".self_attn.o_proj", hidden, queries, false);
      parameter(path + ".post_attention_layernorm", {hidden});
      projection(path + ".mlp.gate_proj", ffn, hidden, false);
      projection(path + ".mlp.up_proj", ffn, hidden, false);
      projection(path + ".mlp.down_proj", hidden, ffn, false);
    }
    parameter("model.norm", {hidden});
    projection("lm_head", vocab, hidden, false);
  }

  void parameter(std::string_view path, std::vector<std::int64_t> extents) {
    declare(weight_of(path), extents, DType::kFloat32);
  }
  void projection(const std::string& path, std::int64_t out, std::int64_t in, bool bias) {
    declare(weight_of(path), {out, in}, shape_.projection_dtype);
    if (bias) declare(path + ".bias", {out}, DType::kFloat32);
  }
  void declare(const std::string& symbol, const std::vector<std::int64_t>& extents, DType dtype) {
    const std::vector<Dim> dims(extents.begin(), extents.end());
    builder_->parameter(symbol, context_.tensor(dims, dtype));
  }

  // -- graphs -----------------------------------------------------------------------------------

  /// Look-ups by token id and by position, then the model.
  Value* entry() {
    Value* const state = look_up("model.embed_tokens", ids_, shape_.vocab, shape_.hidden);
    Value* const sin = look_up(kSinTable, positions_, shape_.max_positions, shape_.head_dim);
    Value* const cos = look_up(kCosTable, positions_, shape_.max_positions, shape_.head_dim);
    return call("model", {state, sin, cos}, logits_type());
  }

  void model() {
    const auto [state, sin, cos] = graph<3>("model", {state_type(), table_type(), table_type()});
    Value* x = state;
    for (std::int64_t i = 0; i < shape_.layers; ++i)
      x = call(layer_path(i), {x, sin, cos}, state_type());
    x = norm("model.norm", x);
    if (shape_.last_logits) x = last_token(x);
    give(linear("lm_head", x, shape_.hidden, shape_.vocab, false));
  }

  void layer(std::int64_t index) {
    const std::string path = layer_path(index);
    const auto [x, sin, cos] = graph<3>(path, {state_type(), table_type(), table_type()});
    Value* const attended =
        call(path + ".self_attn", {norm(path + ".input_layernorm", x), sin, cos}, state_type());
    Value* const residual = linalg::Add::build(*builder_, attended, x);
    Value* const fed =
        call(path + ".mlp", {norm(path + ".post_attention_layernorm", residual)}, state_type());
    give(linalg::Add::build(*builder_, fed, residual));
  }

  void attention(std::int64_t index) {
    const std::string path = layer_path(index) + ".self_attn";
    const auto [x, sin, cos] = graph<3>(path, {state_type(), table_type(), table_type()});
    const std::int64_t width = shape_.heads * shape_.head_dim;
    Value* q = heads_of(path + ".q_proj", x, shape_.heads);
    Value* k = heads_of(path + ".k_proj", x, shape_.kv_heads);
    Value* const v = heads_of(path + ".v_proj", x, shape_.kv_heads);
    q = rotate(path + ".q_rope", q, sin, cos);
    k = rotate(path + ".k_rope", k, sin, cos);
    const auto [keys, values] = cache(path + ".kv_cache", index, k, v);

    Value* scores = linalg::MatMul::build(*builder_, q, keys, {.transpose_b = true});
    scores = linalg::Mul::build(*builder_, scores, scale());
    scores = linalg::CausalMask::build(*builder_, scores, {}, {.path = path + ".mask"});
    scores = linalg::Softmax::build(*builder_, scores, {.axis = -1}, {.path = path + ".softmax"});
    Value* mixed = linalg::MatMul::build(*builder_, scores, values, {.transpose_b = false});
    mixed = view(swap_heads(mixed), {Dim(1), length_, Dim(width)});
    give(linear(path + ".o_proj", mixed, width, shape_.hidden, false));
  }

  void feed_forward(std::int64_t index) {
    const std::string path = layer_path(index) + ".mlp";
    const auto [x] = graph<1>(path, {state_type()});
    Value* const gate = linear(path + ".gate_proj", x, shape_.hidden, shape_.ffn, false);
    Value* const act = linalg::SiLU::build(*builder_, gate, {.path = path + ".act"});
    Value* const up = linear(path + ".up_proj", x, shape_.hidden, shape_.ffn, false);
    give(linear(path + ".down_proj", linalg::Mul::build(*builder_, act, up), shape_.ffn,
                shape_.hidden, false));
  }

  // -- ops --------------------------------------------------------------------------------------

  Value* look_up(std::string_view table, Value* ids, std::int64_t rows, std::int64_t columns) {
    return linalg::Embedding::build(*builder_, ids, {.vocab_size = rows, .hidden_size = columns},
                                    {.path = table});
  }
  Value* linear(std::string_view path, Value* x, std::int64_t in, std::int64_t out, bool bias) {
    return linalg::Linear::build(*builder_, std::array{x},
                                 {.in_channels = in, .out_channels = out, .bias = bias},
                                 {.path = path});
  }
  Value* norm(std::string_view path, Value* x) {
    return linalg::RMSNorm::build(*builder_, std::array{x}, {.epsilon = shape_.rms_epsilon},
                                  {.path = path});
  }
  Value* view(Value* x, const std::vector<Dim>& extents) {
    std::vector<const Attr*> elements;
    for (const Dim extent : extents)
      elements.push_back(extent.is_constant() ? integer(extent.constant()) : context_.dim(extent));
    return linalg::View::build(*builder_, x, {.to_shape = context_.array(elements)});
  }
  /// [1, S, E] to [1, 1, E].
  Value* last_token(Value* x) {
    const Attr* const all = context_.dict({});
    const NamedAttr bounds[] = {{context_.intern("start"), integer(-1)},
                                {context_.intern("end"), integer(0)},
                                {context_.intern("step"), integer(1)}};
    const Attr* const indices[] = {all, context_.dict(bounds), all};
    return linalg::Slice::build(*builder_, x, {.indices = context_.array(indices)});
  }
  /// [1, S, heads, D] to [1, heads, S, D] and back.
  Value* swap_heads(Value* x) {
    return linalg::Transpose::build(*builder_, x, {.dim0 = 1, .dim1 = 2});
  }
  Value* heads_of(std::string_view path, Value* x, std::int64_t count) {
    Value* const y = linear(path, x, shape_.hidden, count * shape_.head_dim, true);
    return swap_heads(view(y, {Dim(1), length_, Dim(count), Dim(shape_.head_dim)}));
  }
  Value* rotate(std::string_view path, Value* x, Value* sin, Value* cos) {
    return linalg::RoPE::build(*builder_, x, sin, cos,
                               {.input_type = "BHSD",
                                .rope_theta = shape_.rope_theta,
                                .max_position_embeddings = shape_.max_positions},
                               {.path = path});
  }
  Value* scale() {
    const double value = 1.0 / std::sqrt(static_cast<double>(shape_.head_dim));
    return builder_->constant(tensor({Dim(1)}), std::span(&value, 1));
  }
  std::pair<Value*, Value*> cache(std::string_view path, std::int64_t index, Value* k, Value* v) {
    const Op* const made =
        builder_->build("linalg.CPU.KVCacheOp", std::array{k, v},
                        {{key::kCache, context_.symbol_ref(fmt::format("cache.layers.{}", index))},
                         {key::kQHead, integer(shape_.heads)},
                         {key::kKvHead, integer(shape_.kv_heads)},
                         {key::kHeadDim, integer(shape_.head_dim)},
                         {key::kLayerIdx, integer(index)},
                         {key::kPast, context_.dim(context_.dims().symbol("past"))},
                         {key::kCapacity, integer(shape_.max_positions)}},
                        path);
    if (made == nullptr) return {nullptr, nullptr};
    return {made->result(0), made->result(1)};
  }

  // -- structure --------------------------------------------------------------------------------

  template <std::size_t N>
  std::array<Value*, N> graph(std::string_view symbol, const std::array<const Type*, N>& types) {
    builder_->set_insertion_point_to_end(*body_);
    builder_->subgraph(symbol, types);
    std::array<Value*, N> arguments{};
    for (std::size_t i = 0; i < N; ++i) arguments[i] = &builder_->insertion_block()->arguments()[i];
    return arguments;
  }
  Value* call(std::string_view callee, Values operands, const Type* result) {
    if (std::ranges::find(operands, nullptr) != operands.end()) return nullptr;
    return builder_->call(callee, std::span(operands.begin(), operands.size()), {&result, 1})
        ->result();
  }
  void give(Value* result) {
    if (result != nullptr) builder_->return_op({&result, 1});
  }

  const Attr* integer(std::int64_t value) { return context_.integer(value); }
  const TensorType* tensor(const std::vector<Dim>& extents) {
    return context_.tensor(extents, DType::kFloat32);
  }
  const Type* state_type() { return tensor({Dim(1), length_, Dim(shape_.hidden)}); }
  const Type* table_type() { return tensor({Dim(1), length_, Dim(shape_.head_dim)}); }
  const Type* logits_type() {
    return tensor({Dim(1), shape_.last_logits ? Dim(1) : length_, Dim(shape_.vocab)});
  }
  static std::string layer_path(std::int64_t index) {
    return fmt::format("model.layers.{}", index);
  }

  IRContext& context_;
  const DecoderShape& shape_;
  Diagnostics& diagnostics_;
  std::string_view as_graph_;
  const Dim length_ = context_.dims().symbol("S");
  Builder* builder_ = nullptr;
  Block* body_ = nullptr;
  Value* ids_ = nullptr;
  Value* positions_ = nullptr;
};

}  // namespace

std::optional<std::string> problem_with(const DecoderShape& shape) {
  const std::pair<std::string_view, std::int64_t> extents[] = {
      {"layers", shape.layers},     {"hidden", shape.hidden},
      {"heads", shape.heads},       {"kv-heads", shape.kv_heads},
      {"head-dim", shape.head_dim}, {"ffn", shape.ffn},
      {"vocab", shape.vocab},       {"max-positions", shape.max_positions}};
  for (const auto& [name, extent] : extents) {
    const std::int64_t most = name == "layers" ? kMostLayers : kLargestExtent;
    if (extent < 1 || extent > most)
      return fmt::format("{} is {}, expected 1 to {}", name, extent, most);
  }
  if (shape.heads % shape.kv_heads != 0)
    return fmt::format("{} kv-heads do not divide {} heads", shape.kv_heads, shape.heads);
  if (shape.head_dim % 2 != 0)
    return fmt::format("head-dim is {}, expected an even number", shape.head_dim);
  if (shape.heads * shape.head_dim > kLargestExtent)
    return fmt::format("{} heads of {} exceed {}", shape.heads, shape.head_dim, kLargestExtent);
  const std::int64_t lanes = info(shape.projection_dtype).lanes;
  for (const std::int64_t depth : {shape.hidden, shape.heads * shape.head_dim, shape.ffn}) {
    if (depth % lanes != 0) return fmt::format("blocks of {} do not fill rows of {}", lanes, depth);
  }
  if (!(shape.rope_theta > 1) || !std::isfinite(shape.rope_theta))
    return fmt::format("rope-theta is {}, expected a number above 1", shape.rope_theta);
  if (!(shape.rms_epsilon >= 0) || !std::isfinite(shape.rms_epsilon))
    return fmt::format("rms-epsilon is {}, expected a number of at least 0", shape.rms_epsilon);
  return std::nullopt;
}

Module* build_qwen2_decoder(IRContext& context, const DecoderShape& shape,
                            Diagnostics& diagnostics) {
  return DecoderBuilder(context, shape, diagnostics).build();
}

Module* build_qwen2_graphs(IRContext& context, const DecoderShape& shape,
                           Diagnostics& diagnostics) {
  return DecoderBuilder(context, shape, diagnostics, "decoder").build();
}
Result<Tensor> rope_table(RopeTable table, const DecoderShape& shape) {
  auto tensor = Tensor::allocate(DType::kFloat32, {shape.max_positions, shape.head_dim});
  if (!tensor) return tensor;
  const std::span<float> values = tensor->as_mutable<float>();
  const auto width = static_cast<std::size_t>(shape.head_dim);
  const double log_theta = ref::log(shape.rope_theta);
  for (std::size_t i = 0; i < width / 2; ++i) {
    const double exponent = -2.0 * static_cast<double>(i) / static_cast<double>(width);
    const double frequency = ref::exp(exponent * log_theta);
    for (std::size_t p = 0; p < values.size() / width; ++p) {
      const double angle = static_cast<double>(p) * frequency;
      const double value = table == RopeTable::kSin ? ref::sin(angle) : ref::cos(angle);
      values[p * width + i] = values[p * width + width / 2 + i] = static_cast<float>(value);
    }
  }
  return tensor;
}

Result<std::vector<NamedTensor>> decoder_weights(const Module& module, const DecoderShape& shape,
                                                 const WeightSource& source) {
  std::vector<NamedTensor> weights;
  const auto tensor_for = [&](std::string_view name, const TensorType& type) -> Result<Tensor> {
    if (name == weight_of(kSinTable)) return rope_table(RopeTable::kSin, shape);
    if (name == weight_of(kCosTable)) return rope_table(RopeTable::kCos, shape);
    Shape extents;
    for (const Dim extent : type.dims()) extents.push_back(extent.constant());
    auto found = source.find({.name = name,
                              .dtype = *type.dtype(),
                              .shape = std::move(extents),
                              .convert_floats = true});
    if (!found) return found.error();
    if (!*found)
      return Error{diag::kTensorNotFound,
                   fmt::format("'{}' has no tensor '{}'", source.spec(), name)};
    return **std::move(found);
  };
  const Op* const init = module.lookup_symbol("init").op;
  if (init == nullptr) return weights;
  for (const Op* op : init->first_region()->only_block().ops()) {
    const Value& parameter = *op->result();
    const std::string_view name = module.context().text(parameter.symbol());
    auto tensor = tensor_for(name, *parameter.tensor_type());
    if (!tensor) return tensor.error();
    weights.push_back({std::string(name), *std::move(tensor)});
  }
  return weights;
}

}  // namespace mir::generate

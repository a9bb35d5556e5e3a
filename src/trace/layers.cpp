// Values, operators and layers of models.
#include <array>

#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "trace/backend.hpp"

namespace mir::trace {

namespace {

/// Two operands of an operator as values: a number takes the element type of the other one.
std::array<Var, 2> both(const Operand& a, const Operand& b) {
  const Operand& value = a.number ? b : a;
  std::array<Var, 2> operands{a.value, b.value};
  Backend* const backend = Backend::of({&value.value, 1});
  if (backend == nullptr) return {};
  const Operand* const given[] = {&a, &b};
  for (std::size_t i = 0; i < 2; ++i) {
    if (!given[i]->number || value.value.type() == nullptr || !value.value.type()->dtype())
      continue;
    operands[i] = backend->literal(backend->tensor_type({1}, *value.value.type()->dtype()),
                                   *given[i]->number, given[i]->place);
  }
  return operands;
}

template <class T>
Var binary(const Operand& a, const Operand& b) {
  const auto [x, y] = both(a, b);
  return apply<T>(x, y, a.place);
}

/// One op with parameters, named after the present graph and `name`.
template <class Build>
Vars layer(std::span<const Var> operands, std::string_view name,
           std::initializer_list<std::pair<std::string_view, const TensorType*>> parameters,
           const Build& build, Place place, bool has_state = false) {
  Backend* const backend = Backend::of(operands);
  if (backend == nullptr) return {};
  const std::string path = backend->path_of(name);
  if (has_state && path.empty()) {
    backend->error(place, diag::kMissingPath, "a cache needs a name");
    return {};
  }
  std::vector<Parameter> all;
  for (const auto& [suffix, type] : parameters) {
    if (type != nullptr) all.push_back({path + std::string(suffix), type});
  }
  const BuildOp op = [&](Builder& builder, std::span<Value* const> of) {
    return detail::op_of(build(builder, of, OpPlace{.path = path}));
  };
  return backend->apply({.operands = operands,
                         .build = op,
                         .parameters = all,
                         .state = has_state ? std::string_view(path) : std::string_view()},
                        place);
}

const TensorType* vector_type(const Var& x) {
  const Dim last = x.dim(-1);
  if (x.is_empty() || !x.type()->dtype()) return nullptr;
  return x.backend()->context().tensor(std::span(&last, 1), *x.type()->dtype());
}

}  // namespace

// -- values ---------------------------------------------------------------------------------------

Dim Var::dim(std::int64_t dim) const {
  const auto count = static_cast<std::int64_t>(rank());
  const std::int64_t at = dim < 0 ? dim + count : dim;
  return at < 0 || at >= count ? Dim::unknown() : type_->dims()[static_cast<std::size_t>(at)];
}

Var Var::view(Extents extents, Place place) const {
  if (is_empty()) return {};
  IRContext& context = backend_->context();
  std::vector<const Attr*> shape;
  for (const Extent& each : extents) {
    shape.push_back(each.dim.is_constant() ? context.integer(each.dim.constant())
                                           : context.dim(each.dim));
  }
  return apply<linalg::View>(*this, {.to_shape = context.array(shape)}, place);
}

Var Var::transpose(std::int64_t dim0, std::int64_t dim1, Place place) const {
  return apply<linalg::Transpose>(*this, {.dim0 = dim0, .dim1 = dim1}, place);
}

Var Var::slice(std::int64_t dim, std::int64_t begin, std::int64_t end, Place place) const {
  if (is_empty()) return {};
  IRContext& context = backend_->context();
  const NamedAttr bounds[] = {{key::kStart, context.integer(begin)},
                              {key::kEnd, context.integer(end)},
                              {key::kStep, context.integer(1)}};
  std::vector<const Attr*> indices(rank(), context.dict({}));
  const std::int64_t at = dim < 0 ? dim + static_cast<std::int64_t>(rank()) : dim;
  if (at < 0 || at >= static_cast<std::int64_t>(rank())) {
    backend_->error(place, diag::kAxisOutOfRange,
                    fmt::format("dimension {} of a slice, expected one of rank {}", dim, rank()));
    return {};
  }
  indices[static_cast<std::size_t>(at)] = context.dict(bounds);
  return apply<linalg::Slice>(*this, {.indices = context.array(indices)}, place);
}

Var Var::cast(DType dtype, Place place) const {
  return apply<linalg::CastType>(*this, {.dtype = name_of(dtype)}, place);
}

Vars apply_op(std::span<const Var> operands, const BuildOp& build, Place place) {
  Backend* const backend = Backend::of(operands);
  return backend == nullptr ? Vars()
                            : backend->apply({.operands = operands, .build = build}, place);
}

// -- operators ------------------------------------------------------------------------------------

Var operator+(const Operand& a, const Operand& b) {
  return binary<linalg::Add>(a, b);
}
Var operator-(const Operand& a, const Operand& b) {
  return binary<linalg::Sub>(a, b);
}
Var operator*(const Operand& a, const Operand& b) {
  return binary<linalg::Mul>(a, b);
}
Var operator/(const Operand& a, const Operand& b) {
  return binary<linalg::Div>(a, b);
}
Var operator-(const Operand& a) {
  return apply<linalg::Neg>(a.value, a.place);
}
Var operator<(const Operand& a, const Operand& b) {
  return binary<linalg::Less>(a, b);
}
Var operator<=(const Operand& a, const Operand& b) {
  return binary<linalg::LessEqual>(a, b);
}
Var operator>(const Operand& a, const Operand& b) {
  return binary<linalg::Greater>(a, b);
}
Var operator>=(const Operand& a, const Operand& b) {
  return binary<linalg::GreaterEqual>(a, b);
}

namespace {

template <class T>
Var reduced(const Var& x, std::int64_t dim, bool keep_dim, Place place) {
  if (x.is_empty()) return {};
  const Attr* const of = x.backend()->context().integer(dim);
  return apply<T>(x, {.dim = of, .keep_dim = keep_dim}, place);
}

}  // namespace

Var reduce_sum(const Var& x, std::int64_t dim, bool keep_dim, Place place) {
  return reduced<linalg::ReduceSum>(x, dim, keep_dim, place);
}
Var reduce_mean(const Var& x, std::int64_t dim, bool keep_dim, Place place) {
  return reduced<linalg::Mean>(x, dim, keep_dim, place);
}
Var reduce_max(const Var& x, std::int64_t dim, bool keep_dim, Place place) {
  return reduced<linalg::ReduceMax>(x, dim, keep_dim, place);
}
Var reduce_min(const Var& x, std::int64_t dim, bool keep_dim, Place place) {
  return reduced<linalg::ReduceMin>(x, dim, keep_dim, place);
}

Var exp(const Var& x, Place place) {
  return apply<linalg::Exp>(x, place);
}
Var relu(const Var& x, Place place) {
  return apply<linalg::ReLU>(x, place);
}
Var silu(const Var& x, Place place) {
  return apply<linalg::SiLU>(x, place);
}
Var gelu(const Var& x, Place place) {
  return apply<linalg::GELU>(x, place);
}
Var softmax(const Var& x, std::int64_t axis, Place place) {
  return apply<linalg::Softmax>(x, {.axis = axis}, place);
}
Var matmul(const Var& a, const Var& b, const MatMulOptions& options, Place place) {
  return apply<linalg::MatMul>(
      a, b, {.transpose_a = options.transpose_a, .transpose_b = options.transpose_b}, place);
}
Var concat(std::initializer_list<Var> parts, std::int64_t dim, Place place) {
  return detail::only(apply_op(
      std::span(parts.begin(), parts.size()),
      [&](Builder& builder, std::span<Value* const> of) {
        return detail::op_of(linalg::Concat::build(builder, of, {.dim = dim}));
      },
      place));
}

// -- layers ---------------------------------------------------------------------------------------

Var Linear::operator()(const Var& x, Place place) const {
  if (x.is_empty()) return {};
  IRContext& context = x.backend()->context();
  const Dim in = x.dim(-1);
  const Dim extents[] = {Dim(out_), in};
  const TensorType* const weight = context.tensor(extents, options_.dtype);
  const TensorType* const bias =
      options_.bias ? context.tensor(std::span(extents, 1), DType::kFloat32) : nullptr;
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    const auto channels = in.is_constant() ? std::optional(in.constant()) : std::nullopt;
    return linalg::Linear::build(
        builder, of, {.in_channels = channels, .out_channels = out_, .bias = options_.bias}, at);
  };
  return detail::only(layer({&x, 1}, name_, {{".weight", weight}, {".bias", bias}}, build, place));
}

Var Embedding::operator()(const Var& ids, Place place) const {
  if (ids.is_empty()) return {};
  const TensorType& table = ids.backend()->tensor_type({rows_, columns_}, DType::kFloat32);
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    return linalg::Embedding::build(builder, of[0], {.vocab_size = rows_, .hidden_size = columns_},
                                    at);
  };
  return detail::only(layer({&ids, 1}, name_, {{".weight", &table}}, build, place));
}

Var RMSNorm::operator()(const Var& x, Place place) const {
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    return linalg::RMSNorm::build(builder, of, {.epsilon = epsilon_}, at);
  };
  return detail::only(layer({&x, 1}, name_, {{".weight", vector_type(x)}}, build, place));
}

Var LayerNorm::operator()(const Var& x, Place place) const {
  if (x.is_empty()) return {};
  IRContext& context = x.backend()->context();
  const Dim last = x.dim(-1);
  const Attr* const extent =
      last.is_constant() ? context.integer(last.constant()) : context.dim(last);
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    return linalg::LayerNorm::build(builder, of[0],
                                    {.normalized_shape = context.array(std::span(&extent, 1)),
                                     .elementwise_affine = true,
                                     .bias = true,
                                     .eps = epsilon_},
                                    at);
  };
  const TensorType* const type = vector_type(x);
  return detail::only(layer({&x, 1}, name_, {{".weight", type}, {".bias", type}}, build, place));
}

KVCache::Both KVCache::operator()(const Var& keys, const Var& values, Place place) const {
  const Var operands[] = {keys, values};
  Backend* const backend = Backend::of(operands);
  if (backend == nullptr) return {};
  IRContext& context = backend->context();
  const std::string cache = backend->path_of(name_);
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    return linalg::KVCache::build(builder, of[0], of[1],
                                  {.q_head = options_.q_heads,
                                   .kv_head = options_.kv_heads,
                                   .head_dim = options_.head_dim,
                                   .cache = context.symbol_ref(cache),
                                   .layer_idx = options_.layer,
                                   .capacity = options_.capacity,
                                   .past = context.dim(context.dims().symbol("past"))},
                                  at);
  };
  const Vars all = layer(operands, name_, {}, build, place, true);
  return all.size() == 2 ? Both{all[0], all[1]} : Both{};
}

Var RoPE::operator()(const Var& x, const Var& sin, const Var& cos, Place place) const {
  const Var operands[] = {x, sin, cos};
  const auto build = [&](Builder& builder, std::span<Value* const> of, const OpPlace& at) {
    return linalg::RoPE::build(
        builder, of[0], of[1], of[2],
        {.input_type = "BHSD", .rope_theta = theta_, .max_position_embeddings = max_positions_},
        at);
  };
  return detail::only(layer(operands, name_, {}, build, place));
}

// -- modules and control flow ---------------------------------------------------------------------

Var Graph::operator()(const Vars& operands, const std::function<Var(const Vars&)>& body,
                      Place place) const {
  return detail::only(call(
      operands, [&](const Vars& arguments) { return Vars{body(arguments)}; }, place));
}

Vars Graph::call(const Vars& operands, const std::function<Vars(const Vars&)>& body,
                 Place place) const {
  Backend* const backend = Backend::of(operands);
  return backend == nullptr ? Vars() : backend->call(name_, operands, body, place);
}

Vars if_else(const Var& condition, const std::function<Vars()>& then,
             const std::function<Vars()>& otherwise, Place place) {
  Backend* const backend = Backend::of({&condition, 1});
  return backend == nullptr ? Vars() : backend->if_else(condition, then, otherwise, place);
}

Vars while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                const std::function<Vars(const Vars&)>& body, Place place) {
  Backend* const backend = Backend::of(carried);
  return backend == nullptr ? Vars() : backend->while_loop(carried, condition, body, place);
}

Vars for_loop(const Operand& first, const Operand& last, const Operand& step, const Vars& carried,
              const std::function<Vars(const Var&, const Vars&)>& body, Place place) {
  Backend* const backend = Backend::of(carried);
  if (backend == nullptr) return {};
  // Numbers take the type of a bound that is a value.
  DType dtype = DType::kInt64;
  Vars bounds;
  for (const Operand* each : {&first, &last, &step}) {
    if (!each->number && each->value.is_empty()) return {};
    if (!each->number) dtype = each->value.type()->dtype().value_or(dtype);
    bounds.push_back(each->value);
  }
  const Operand* const given[] = {&first, &last, &step};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (given[i]->number)
      bounds.at(i) =
          backend->literal(backend->tensor_type({1}, dtype), *given[i]->number, given[i]->place);
    if (bounds[i].is_empty()) return {};
  }
  return backend->for_loop(bounds, carried, body, place);
}

// -- models ---------------------------------------------------------------------------------------

Dim Tracer::symbol(std::string_view name, Place place) const {
  return backend_.symbol(name, place);
}
Var Tracer::input(std::string_view name, Extents extents, DType dtype, Place place) {
  return backend_.input(name, backend_.tensor_type(extents, dtype), place);
}
void Tracer::output(std::string_view name, const Var& value, Place place) {
  backend_.output(name, value, place);
}
Var Tracer::parameter(std::string_view name, Extents extents, DType dtype, Place place) {
  return backend_.parameter(name, backend_.tensor_type(extents, dtype), place);
}
Var Tracer::constant(double number, DType dtype, Place place) {
  return backend_.literal(backend_.tensor_type({1}, dtype), number, place);
}
bool Tracer::is_eager() const {
  return backend_.is_eager();
}

}  // namespace mir::trace

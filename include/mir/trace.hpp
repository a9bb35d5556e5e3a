// Models written in C++. The same code traces a module, or computes at once.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/diagnostic.hpp"
#include "mir/dim.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/tensor.hpp"

namespace mir {

class WeightSet;

namespace trace {

class Backend;
class Executor;
class Tracer;

#ifdef __cpp_lib_source_location
/// The place of a call in the code of the model. Locations of ops and errors name it.
using Place = std::source_location;
#else
/// The place of a call, for compilers whose library has no std::source_location (Clang 14).
class Place {
 public:
  static constexpr Place current(const char* file = __builtin_FILE(),
                                 std::uint32_t line = __builtin_LINE(),
                                 std::uint32_t column = __builtin_COLUMN()) {
    Place place;
    place.file_ = file;
    place.line_ = line;
    place.column_ = column;
    return place;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr std::uint32_t line() const { return line_; }
  constexpr std::uint32_t column() const { return column_; }

 private:
  const char* file_ = "";
  std::uint32_t line_ = 0, column_ = 0;
};
#endif

/// An extent: a number, or an expression of symbols.
struct Extent {
  template <std::integral T>
  Extent(T number) : dim(static_cast<std::int64_t>(number)) {}
  Extent(Dim expression) : dim(expression) {}

  Dim dim;
};
using Extents = std::initializer_list<Extent>;

/// A number that all elements of a constant have, and its type.
struct Literal {
  const TensorType* type = nullptr;
  double number = 0;
};

/// A value of a model: what an op computes, an input, a parameter or a constant. Copies mean the
/// same value. It is empty after an error, and so is what is computed from it. It must not outlive
/// the run of the model.
class Var {
 public:
  Var() = default;

  bool is_empty() const { return backend_ == nullptr; }
  /// The type, with symbolic extents. Null if the value is empty.
  const TensorType* type() const { return type_; }
  std::size_t rank() const { return type_ == nullptr ? 0 : type_->dims().size(); }
  /// Extent of dimension `dim`, which may be negative and then counts from the end; unknown if the
  /// value is empty or has no such dimension.
  Dim dim(std::int64_t dim) const;
  /// The tensor, if the model computes at once and an op or an input made the value; else null.
  const Tensor* tensor() const { return tensor_ ? &*tensor_ : nullptr; }
  /// The backend that carries out calls with this value; null if the value is empty.
  Backend* backend() const { return backend_; }

  /// Returns the elements in another shape. One extent may be -1.
  Var view(Extents extents, Place place = Place::current()) const;
  /// Exchanges two dimensions.
  Var transpose(std::int64_t dim0, std::int64_t dim1, Place place = Place::current()) const;
  /// The elements from `begin` to before `end` of dimension `dim`. An `end` of 0 after a negative
  /// `begin` is the end of the dimension.
  Var slice(std::int64_t dim, std::int64_t begin, std::int64_t end,
            Place place = Place::current()) const;
  Var cast(DType dtype, Place place = Place::current()) const;

 private:
  friend class Backend;
  friend class Recorder;
  friend class Executor;

  Backend* backend_ = nullptr;
  const TensorType* type_ = nullptr;
  Value* value_ = nullptr;            // of a traced module
  Symbol parameter_{};                // set if the value is one
  std::optional<Tensor> tensor_{};    // of a run
  std::optional<Literal> literal_{};  // set if the value is a constant
};

/// Several values. One that is not there, as after an error, is empty.
class Vars : public std::vector<Var> {
 public:
  using vector::vector;
  Var operator[](std::size_t i) const { return i < size() ? vector::operator[](i) : Var(); }
};

/// An operand of an operator: a value, or a number that takes the element type of the other
/// operand.
struct Operand {
  Operand(const Var& var, Place at = Place::current()) : value(var), place(at) {}
  Operand(double literal, Place at = Place::current()) : number(literal), place(at) {}

  Var value{};
  std::optional<double> number{};
  Place place;
};

Var operator+(const Operand& a, const Operand& b);
Var operator-(const Operand& a, const Operand& b);
Var operator*(const Operand& a, const Operand& b);
Var operator/(const Operand& a, const Operand& b);
Var operator-(const Operand& a);
// Comparisons of elements; the results are of type Bool.
Var operator<(const Operand& a, const Operand& b);
Var operator<=(const Operand& a, const Operand& b);
Var operator>(const Operand& a, const Operand& b);
Var operator>=(const Operand& a, const Operand& b);

Var exp(const Var& x, Place place = Place::current());
Var relu(const Var& x, Place place = Place::current());
Var silu(const Var& x, Place place = Place::current());
Var gelu(const Var& x, Place place = Place::current());
Var softmax(const Var& x, std::int64_t axis = -1, Place place = Place::current());
// Reductions of dimension `dim`, which stays as one of extent 1 if `keep_dim` is true.
Var reduce_sum(const Var& x, std::int64_t dim, bool keep_dim = true,
               Place place = Place::current());
Var reduce_mean(const Var& x, std::int64_t dim, bool keep_dim = true,
                Place place = Place::current());
Var reduce_max(const Var& x, std::int64_t dim, bool keep_dim = true,
               Place place = Place::current());
Var reduce_min(const Var& x, std::int64_t dim, bool keep_dim = true,
               Place place = Place::current());
struct MatMulOptions {
  bool transpose_a = false, transpose_b = false;
};
Var matmul(const Var& a, const Var& b, const MatMulOptions& options = {},
           Place place = Place::current());
Var concat(std::initializer_list<Var> parts, std::int64_t dim, Place place = Place::current());

/// Makes an op, given its operands. Null if it cannot be made.
using BuildOp = std::function<Op*(Builder& builder, std::span<Value* const> operands)>;

/// Any op: calls `build` with the operands, in the module that is traced or in one that is run at
/// once. Returns its results; none after an error or with an empty operand.
Vars apply_op(std::span<const Var> operands, const BuildOp& build, Place place = Place::current());

namespace detail {
inline Op* op_of(Op* op) {
  return op;
}
inline Op* op_of(Value* value) {
  return value == nullptr ? nullptr : value->defining_op();
}
inline Var only(const Vars& results) {
  return results.empty() ? Var() : results.front();
}
}  // namespace detail

/// An op of one result by its class of mir/linalg_ops.hpp: `apply<linalg::Sqrt>(x)`,
/// `apply<linalg::Softmax>(x, {.axis = -1})`.
template <class T>
Var apply(const Var& x, Place place = Place::current()) {
  return detail::only(apply_op(
      std::span(&x, 1),
      [](Builder& b, std::span<Value* const> of) { return detail::op_of(T::build(b, of[0])); },
      place));
}
template <class T>
Var apply(const Var& x, const typename T::Options& options, Place place = Place::current()) {
  return detail::only(apply_op(
      std::span(&x, 1),
      [&](Builder& b, std::span<Value* const> of) {
        return detail::op_of(T::build(b, of[0], options));
      },
      place));
}
template <class T>
Var apply(const Var& x, const Var& y, Place place = Place::current()) {
  return detail::only(apply_op(
      std::vector{x, y},
      [](Builder& b, std::span<Value* const> of) {
        return detail::op_of(T::build(b, of[0], of[1]));
      },
      place));
}
template <class T>
Var apply(const Var& x, const Var& y, const typename T::Options& options,
          Place place = Place::current()) {
  return detail::only(apply_op(
      std::vector{x, y},
      [&](Builder& b, std::span<Value* const> of) {
        return detail::op_of(T::build(b, of[0], of[1], options));
      },
      place));
}

// Layers: ops with parameters. Their parameters are named after the graph and the layer:
// `model.layers.0.mlp.up_proj.weight`.

struct LinearOptions {
  bool bias = false;
  DType dtype = DType::kFloat32;  ///< of the weight
};
/// `x W^T + b` over the last dimension of x, which must be a number.
class Linear {
 public:
  Linear(std::string_view name, std::int64_t out_channels, const LinearOptions& options = {})
      : name_(name), out_(out_channels), options_(options) {}
  Var operator()(const Var& x, Place place = Place::current()) const;

 private:
  std::string name_;
  std::int64_t out_;
  LinearOptions options_;
};

/// Rows of a table, by their numbers.
class Embedding {
 public:
  Embedding(std::string_view name, std::int64_t rows, std::int64_t columns)
      : name_(name), rows_(rows), columns_(columns) {}
  Var operator()(const Var& ids, Place place = Place::current()) const;

 private:
  std::string name_;
  std::int64_t rows_, columns_;
};

/// Root mean square norm over the last dimension.
class RMSNorm {
 public:
  explicit RMSNorm(std::string_view name, double epsilon = 1e-6) : name_(name), epsilon_(epsilon) {}
  Var operator()(const Var& x, Place place = Place::current()) const;

 private:
  std::string name_;
  double epsilon_;
};

/// Layer norm over the last dimension, with weight and bias.
class LayerNorm {
 public:
  explicit LayerNorm(std::string_view name, double epsilon = 1e-5)
      : name_(name), epsilon_(epsilon) {}
  Var operator()(const Var& x, Place place = Place::current()) const;

 private:
  std::string name_;
  double epsilon_;
};

struct KVCacheOptions {
  std::int64_t q_heads = 0, kv_heads = 0, head_dim = 0;
  std::int64_t layer = 0;
  std::int64_t capacity = 0;  ///< most tokens
};
/// Appends keys and values [1, heads, tokens, head_dim] to those of earlier runs, and returns all
/// of them. `$past` is the number of earlier tokens.
class KVCache {
 public:
  KVCache(std::string_view name, const KVCacheOptions& options) : name_(name), options_(options) {}
  struct Both {
    Var keys, values;
  };
  Both operator()(const Var& keys, const Var& values, Place place = Place::current()) const;

 private:
  std::string name_;
  KVCacheOptions options_;
};

/// Sinusoidal position embedding of [1, heads, tokens, head_dim] by tables [1, tokens, head_dim].
class RoPE {
 public:
  RoPE(std::string_view name, double theta, std::int64_t max_positions)
      : name_(name), theta_(theta), max_positions_(max_positions) {}
  Var operator()(const Var& x, const Var& sin, const Var& cos,
                 Place place = Place::current()) const;

 private:
  std::string name_;
  double theta_;
  std::int64_t max_positions_;
};

// Modules and control flow.

/// A graph: `Graph("mlp")({x}, body)` calls `body` with arguments in place of the operands. While
/// tracing it makes a graph whose name is that of the graphs around it and this one, and a call.
/// The layers in it have names below it. A second call with operands of the same types calls the
/// graph again: its body must do what the first body did, and a traced model does not call it. A
/// body may use parameters and constants from outside, but no other values. Needs an operand; does
/// nothing without one.
class Graph {
 public:
  explicit Graph(std::string_view name) : name_(name) {}
  Var operator()(const Vars& operands, const std::function<Var(const Vars& arguments)>& body,
                 Place place = Place::current()) const;
  /// For bodies with several results.
  Vars call(const Vars& operands, const std::function<Vars(const Vars& arguments)>& body,
            Place place = Place::current()) const;

 private:
  std::string name_;
};

/// The results of `then` if `condition`, one element of Bool, holds, otherwise those of
/// `otherwise`. A run at once calls only one of them, a traced model both.
Vars if_else(const Var& condition, const std::function<Vars()>& then,
             const std::function<Vars()>& otherwise, Place place = Place::current());

/// Calls `body` as long as `condition` holds, with `carried` first and then with what it returned.
Vars while_loop(const Vars& carried, const std::function<Var(const Vars& carried)>& condition,
                const std::function<Vars(const Vars& carried)>& body,
                Place place = Place::current());

/// Calls `body` with each index `first`, `first + step`, ... below `last` and with what it returned
/// before, at first `carried`. An index has one element. Bounds that are numbers take the type of a
/// bound that is a value; without one, they are Int64.
Vars for_loop(const Operand& first, const Operand& last, const Operand& step, const Vars& carried,
              const std::function<Vars(const Var& index, const Vars& carried)>& body,
              Place place = Place::current());

// Running the code of a model.

/// Inputs, outputs and parameters of a model.
class Tracer {
 public:
  explicit Tracer(Backend& backend) : backend_(backend) {}

  /// A symbolic extent: `$S`.
  Dim symbol(std::string_view name, Place place = Place::current()) const;
  Var input(std::string_view name, Extents extents, DType dtype = DType::kFloat32,
            Place place = Place::current());
  void output(std::string_view name, const Var& value, Place place = Place::current());
  /// A parameter as a value, by its whole name.
  Var parameter(std::string_view name, Extents extents, DType dtype = DType::kFloat32,
                Place place = Place::current());
  /// A tensor of one element.
  Var constant(double number, DType dtype = DType::kFloat32, Place place = Place::current());
  /// True if the model computes at once.
  bool is_eager() const;

 private:
  Backend& backend_;
};

/// The code of a model: declares inputs, computes and declares outputs. It must do the same each
/// time that it is called.
using Model = std::function<void(Tracer& tracer)>;

/// Traces `model` into a portable module of this name, which verifies. Returns null after
/// reporting errors at the lines of the model. The context must have the built-in dialects.
Module* trace_module(IRContext& context, std::string_view name, const Model& model,
                     Diagnostics& diagnostics);

/// Runs models at once, op by op, with reference kernels. The results have the bits of a run of the
/// traced module with reference kernels. What caches hold stays from run to run.
class EagerRun {
 public:
  /// `weights` must outlive this.
  EagerRun(IRContext& context, const WeightSet& weights);
  ~EagerRun();
  EagerRun(const EagerRun&) = delete;
  EagerRun& operator=(const EagerRun&) = delete;

  using Tensors = std::map<std::string, Tensor, std::less<>>;
  /// Returns the outputs by their names; no value after reporting errors at the lines of the model.
  std::optional<Tensors> run(const Model& model, const Tensors& inputs, Diagnostics& diagnostics);
  /// Empties the caches.
  void reset();

 private:
  std::unique_ptr<Executor> executor_;
};

}  // namespace trace
}  // namespace mir

// Reference functions of one operand: signs, roundings, exponentials and activations.
#include "kernels/ref/unary.hpp"

#include <cmath>
#include <concepts>
#include <limits>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"
#include "kernels/ref/common/numbers_c.hpp"
#include "kernels/ref/elementary.hpp"

namespace mir::ref {
namespace {

template <class T, class Op>
void apply(const View& x, const MutableView& out, Op op) {
  const T* from = static_cast<const T*>(x.data);
  T* to = static_cast<T*>(out.data);
  for_each_offset<2>(out.extents, {x.strides, out.strides},
                     [&](Offsets<2> at) { to[at[1]] = store<T>(op(load<T>(from[at[0]]))); });
}

Result<void> check(std::string_view kernel, const View& x, const MutableView& out) {
  if (auto ok = check_one_dtype(kernel, {x, out}); !ok) return ok;
  return check_same_extents(kernel, x, out);
}

template <class Op>
Result<void> on_floating(std::string_view kernel, const View& x, const MutableView& out, Op op) {
  if (auto ok = check(kernel, x, out); !ok) return ok;
  return with_floating(kernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    apply<T>(x, out, op);
    return {};
  });
}

template <class Op>
Result<void> on_numbers(std::string_view kernel, const View& x, const MutableView& out, Op op) {
  if (auto ok = check(kernel, x, out); !ok) return ok;
  return with_number(kernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    apply<T>(x, out, op);
    return {};
  });
}

struct Neg {
  double operator()(double x) const { return -x; }
  template <std::integral T>
  T operator()(T x) const {
    return static_cast<T>(0 - static_cast<std::uint64_t>(x));
  }
};

struct Abs {
  double operator()(double x) const { return std::fabs(x); }
  template <std::integral T>
  T operator()(T x) const {
    return x < 0 ? Neg{}(x) : x;
  }
};

struct Sign {
  double operator()(double x) const { return c::mir_sign(x); }
  template <std::integral T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

struct Relu {
  double operator()(double x) const { return c::mir_relu(x); }
  template <std::integral T>
  T operator()(T x) const {
    return x < 0 ? T{0} : x;
  }
};

/// Absolute value of a complex number, scaled by its larger part.
double magnitude_of(double re, double im) {
  if (std::isinf(re) || std::isinf(im)) return std::numeric_limits<double>::infinity();
  const double a = std::fabs(re), b = std::fabs(im);
  const double large = a < b ? b : a, small = a < b ? a : b;
  if (large == 0 || large != large) return large + small;
  const double ratio = small / large;
  return large * std::sqrt(1.0 + ratio * ratio);
}

template <class Part>
void apply_magnitude(const View& x, const MutableView& out) {
  const Part* from = static_cast<const Part*>(x.data);
  float* to = static_cast<float*>(out.data);
  for_each_offset<2>(out.extents, {x.strides, out.strides}, [&](Offsets<2> at) {
    const Part* number = from + 2 * at[0];
    to[at[1]] = narrow_to_float(magnitude_of(number[0], number[1]));
  });
}

}  // namespace

Result<void> abs(const View& x, const MutableView& out) {
  return on_numbers("abs", x, out, Abs{});
}

Result<void> magnitude(const View& x, const MutableView& out) {
  if (x.dtype != DType::kComplexFP32 && x.dtype != DType::kComplexFP64) {
    return dtype_error("magnitude", x.dtype);
  }
  if (out.dtype != DType::kFloat32) return dtype_error("magnitude", out.dtype);
  if (auto ok = check_views("magnitude", {x, out}); !ok) return ok;
  if (auto ok = check_same_extents("magnitude", x, out); !ok) return ok;
  if (x.dtype == DType::kComplexFP32) {
    apply_magnitude<float>(x, out);
  } else {
    apply_magnitude<double>(x, out);
  }
  return {};
}

Result<void> neg(const View& x, const MutableView& out) {
  return on_numbers("neg", x, out, Neg{});
}

Result<void> exp(const View& x, const MutableView& out) {
  return on_floating("exp", x, out, [](double v) { return exp(v); });
}

Result<void> log(const View& x, const MutableView& out) {
  return on_floating("log", x, out, [](double v) { return log(v); });
}

Result<void> sin(const View& x, const MutableView& out) {
  return on_floating("sin", x, out, [](double v) { return sin(v); });
}

Result<void> cos(const View& x, const MutableView& out) {
  return on_floating("cos", x, out, [](double v) { return cos(v); });
}

Result<void> sign(const View& x, const MutableView& out) {
  return on_numbers("sign", x, out, Sign{});
}

Result<void> floor(const View& x, const MutableView& out) {
  return on_floating("floor", x, out, [](double v) { return std::floor(v); });
}

Result<void> ceil(const View& x, const MutableView& out) {
  return on_floating("ceil", x, out, [](double v) { return std::ceil(v); });
}

Result<void> round(const View& x, const MutableView& out) {
  return on_floating("round", x, out, c::mir_round);
}

Result<void> trunc(const View& x, const MutableView& out) {
  return on_floating("trunc", x, out, [](double v) { return std::trunc(v); });
}

Result<void> sqrt(const View& x, const MutableView& out) {
  return on_floating("sqrt", x, out, [](double v) { return std::sqrt(v); });
}

Result<void> rsqrt(const View& x, const MutableView& out) {
  return on_floating("rsqrt", x, out, [](double v) { return rsqrt(v); });
}

Result<void> tanh(const View& x, const MutableView& out) {
  return on_floating("tanh", x, out, [](double v) { return tanh(v); });
}

Result<void> erf(const View& x, const MutableView& out) {
  return on_floating("erf", x, out, [](double v) { return erf(v); });
}

Result<void> relu(const View& x, const MutableView& out) {
  return on_numbers("relu", x, out, Relu{});
}

Result<void> sigmoid(const View& x, const MutableView& out) {
  return on_floating("sigmoid", x, out, [](double v) { return sigmoid(v); });
}

Result<void> silu(const View& x, const MutableView& out) {
  return on_floating("silu", x, out, c::mir_silu);
}

Result<void> gelu(const View& x, const MutableView& out) {
  return on_floating("gelu", x, out, c::mir_gelu);
}

Result<void> quick_gelu(const View& x, const MutableView& out) {
  return on_floating("quick_gelu", x, out, c::mir_quick_gelu);
}

Result<void> clip(const View& x, const View& low, const View& high, const MutableView& out) {
  if (auto ok = check("clip", x, out); !ok) return ok;
  if (auto ok = check_one_dtype("clip", {x, low, high}); !ok) return ok;
  return with_number("clip", x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const Wide<T> least = load<T>(*static_cast<const T*>(low.data));
    const Wide<T> most = load<T>(*static_cast<const T*>(high.data));
    apply<T>(x, out, [least, most](Wide<T> v) {
      const Wide<T> raised = v < least ? least : v;
      return raised > most ? most : raised;
    });
    return {};
  });
}

}  // namespace mir::ref

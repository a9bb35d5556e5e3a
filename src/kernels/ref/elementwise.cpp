// Reference arithmetic, comparisons, logic and selection with broadcasting.
#include "kernels/ref/elementwise.hpp"

#include <cmath>
#include <concepts>
#include <functional>
#include <utility>

#include "kernels/ref/common/complex.hpp"
#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/extreme.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

// Integers wrap: the operations are done on the bit patterns, where overflow is defined.
template <class T>
T wrapped(std::uint64_t bits) {
  return static_cast<T>(bits);
}

struct Add {
  static constexpr auto kArithmetic = Arithmetic::kAdd;
  double operator()(double a, double b) const { return a + b; }
  template <std::integral T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  }
};

struct Sub {
  static constexpr auto kArithmetic = Arithmetic::kSub;
  double operator()(double a, double b) const { return a - b; }
  template <std::integral T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
  }
};

struct Mul {
  static constexpr auto kArithmetic = Arithmetic::kMul;
  double operator()(double a, double b) const { return a * b; }
  template <std::integral T>
  T operator()(T a, T b) const {
    return wrapped<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
  }
};

struct Div {
  static constexpr auto kArithmetic = Arithmetic::kDiv;
  double operator()(double a, double b) const { return a / b; }
  template <std::integral T>
  T operator()(T a, T b) const {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub{}(T{0}, a);
    return a / b;
  }
};

struct Rem {
  double operator()(double a, double b) const { return std::fmod(a, b); }
  template <std::integral T>
  T operator()(T a, T b) const {
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return a % b;
  }
};

struct BroadcastPair {
  Dims a;
  Dims b;
};

Result<BroadcastPair> broadcast(const View& a, const View& b, const MutableView& out) {
  auto a_strides = broadcast_strides(a, out.extents);
  if (!a_strides) return a_strides.error();
  auto b_strides = broadcast_strides(b, out.extents);
  if (!b_strides) return b_strides.error();
  return BroadcastPair{std::move(*a_strides), std::move(*b_strides)};
}

template <class Op>
Result<void> real_binary(std::string_view kernel, const View& a, const View& b,
                         const MutableView& out, Op op) {
  if (auto ok = check_one_dtype(kernel, {a, b, out}); !ok) return ok;
  const auto strides = broadcast(a, b, out);
  if (!strides) return strides.error();
  return with_number(kernel, a.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const T* left = static_cast<const T*>(a.data);
    const T* right = static_cast<const T*>(b.data);
    T* result = static_cast<T*>(out.data);
    for_each_offset<3>(out.extents, {strides->a, strides->b, out.strides}, [&](Offsets<3> at) {
      result[at[2]] = store<T>(op(load<T>(left[at[0]]), load<T>(right[at[1]])));
    });
    return {};
  });
}

template <class Op>
Result<void> binary(std::string_view kernel, const View& a, const View& b, const MutableView& out,
                    Op op) {
  if (is_complex(out.dtype)) return complex_binary(kernel, Op::kArithmetic, a, b, out);
  return real_binary(kernel, a, b, out, op);
}

/// Writes `holds(a, b)` for each pair of elements of type T.
template <class T, class Relation>
void relate_elements(const View& a, const View& b, const BroadcastPair& strides,
                     const MutableView& out, Relation holds) {
  const T* left = static_cast<const T*>(a.data);
  const T* right = static_cast<const T*>(b.data);
  auto* result = static_cast<std::uint8_t*>(out.data);
  for_each_offset<3>(out.extents, {strides.a, strides.b, out.strides}, [&](Offsets<3> at) {
    result[at[2]] = holds(load<T>(left[at[0]]), load<T>(right[at[1]]));
  });
}

Result<BroadcastPair> relatable(std::string_view kernel, const View& a, const View& b,
                                const MutableView& out) {
  if (auto ok = check_one_dtype(kernel, {a, b}); !ok) return ok.error();
  if (auto ok = check_views(kernel, {out}); !ok) return ok.error();
  if (!is_truth_type(out.dtype)) return dtype_error(kernel, out.dtype);
  return broadcast(a, b, out);
}

template <class Relation>
Result<void> relate(std::string_view kernel, const View& a, const View& b, const MutableView& out,
                    Relation holds) {
  const auto strides = relatable(kernel, a, b, out);
  if (!strides) return strides.error();
  return with_number_or_bool(kernel, a.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    relate_elements<T>(a, b, *strides, out, holds);
    return {};
  });
}

template <class Relation>
Result<void> relate_truths(std::string_view kernel, const View& a, const View& b,
                           const MutableView& out, Relation holds) {
  if (a.dtype != DType::kBool) return dtype_error(kernel, a.dtype);
  const auto strides = relatable(kernel, a, b, out);
  if (!strides) return strides.error();
  relate_elements<Bool>(a, b, *strides, out, holds);
  return {};
}

}  // namespace

Result<void> add(const View& a, const View& b, const MutableView& out) {
  return binary("add", a, b, out, Add{});
}

Result<void> sub(const View& a, const View& b, const MutableView& out) {
  return binary("sub", a, b, out, Sub{});
}

Result<void> mul(const View& a, const View& b, const MutableView& out) {
  return binary("mul", a, b, out, Mul{});
}

Result<void> div(const View& a, const View& b, const MutableView& out) {
  return binary("div", a, b, out, Div{});
}

Result<void> maximum(const View& a, const View& b, const MutableView& out) {
  return real_binary("maximum", a, b, out, [](auto x, auto y) { return extreme_of<1>(x, y); });
}

Result<void> minimum(const View& a, const View& b, const MutableView& out) {
  return real_binary("minimum", a, b, out, [](auto x, auto y) { return extreme_of<-1>(x, y); });
}

Result<void> rem(const View& a, const View& b, const MutableView& out) {
  return real_binary("rem", a, b, out, Rem{});
}

Result<void> equal(const View& a, const View& b, const MutableView& out) {
  return relate("equal", a, b, out, std::equal_to<>());
}

Result<void> not_equal(const View& a, const View& b, const MutableView& out) {
  return relate("not_equal", a, b, out, std::not_equal_to<>());
}

Result<void> less(const View& a, const View& b, const MutableView& out) {
  return relate("less", a, b, out, std::less<>());
}

Result<void> less_equal(const View& a, const View& b, const MutableView& out) {
  return relate("less_equal", a, b, out, std::less_equal<>());
}

Result<void> greater(const View& a, const View& b, const MutableView& out) {
  return relate("greater", a, b, out, std::greater<>());
}

Result<void> greater_equal(const View& a, const View& b, const MutableView& out) {
  return relate("greater_equal", a, b, out, std::greater_equal<>());
}

Result<void> logical_and(const View& a, const View& b, const MutableView& out) {
  return relate_truths("logical_and", a, b, out, std::logical_and<>());
}

Result<void> logical_or(const View& a, const View& b, const MutableView& out) {
  return relate_truths("logical_or", a, b, out, std::logical_or<>());
}

Result<void> logical_xor(const View& a, const View& b, const MutableView& out) {
  return relate_truths("logical_xor", a, b, out, std::not_equal_to<>());
}

Result<void> logical_not(const View& x, const MutableView& out) {
  return relate_truths("logical_not", x, x, out, [](auto value, auto) { return value == 0; });
}

Result<void> where(const View& cond, const View& a, const View& b, const MutableView& out) {
  if (!is_truth_type(cond.dtype)) return dtype_error("where", cond.dtype);
  if (auto ok = check_views("where", {cond}); !ok) return ok;
  if (auto ok = check_one_dtype("where", {a, b, out}); !ok) return ok;
  const auto cond_strides = broadcast_strides(cond, out.extents);
  if (!cond_strides) return cond_strides.error();
  const auto strides = broadcast(a, b, out);
  if (!strides) return strides.error();
  return with_bits("where", a.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const auto* chosen = static_cast<const std::uint8_t*>(cond.data);
    const T* left = static_cast<const T*>(a.data);
    const T* right = static_cast<const T*>(b.data);
    T* result = static_cast<T*>(out.data);
    for_each_offset<4>(
        out.extents, {*cond_strides, strides->a, strides->b, out.strides},
        [&](Offsets<4> at) { result[at[3]] = chosen[at[0]] != 0 ? left[at[1]] : right[at[2]]; });
    return {};
  });
}

}  // namespace mir::ref

// Complex addition, subtraction, multiplication and division with broadcasting.
#include "kernels/ref/common/complex.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

struct Complex {
  double re = 0, im = 0;
};

template <class Part>
Complex read_complex(const void* data, std::int64_t at) {
  const Part* parts = static_cast<const Part*>(data) + 2 * at;
  return {parts[0], parts[1]};
}

template <class T>
Complex read_real(const void* data, std::int64_t at) {
  return {static_cast<double>(load<T>(static_cast<const T*>(data)[at])), 0.0};
}

/// Reads the element at an offset.
struct Reader {
  Complex (*at)(const void* data, std::int64_t offset) = nullptr;
};

Result<Reader> reader_of(std::string_view kernel, DType dtype) {
  if (dtype == DType::kComplexFP32) return Reader{read_complex<float>};
  if (dtype == DType::kComplexFP64) return Reader{read_complex<double>};
  Reader reader;
  const auto found =
      with_number(kernel, dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
        reader.at = read_real<T>;
        return {};
      });
  if (!found) return found.error();
  return reader;
}

/// (a c + b d + i (b c - a d)) / (c^2 + d^2), with the divisor scaled by a power of two so that
/// its squares neither overflow nor vanish.
Complex quotient(Complex x, Complex y) {
  const double largest = std::max(std::fabs(y.re), std::fabs(y.im));
  const int exponent = largest > 0 && largest - largest == 0 ? std::ilogb(largest) : 0;
  const double c = std::ldexp(y.re, -exponent), d = std::ldexp(y.im, -exponent);
  const double square = c * c + d * d;
  return {std::ldexp((x.re * c + x.im * d) / square, -exponent),
          std::ldexp((x.im * c - x.re * d) / square, -exponent)};
}

Complex compute(Arithmetic arithmetic, Complex x, Complex y) {
  switch (arithmetic) {
    case Arithmetic::kAdd:
      return {x.re + y.re, x.im + y.im};
    case Arithmetic::kSub:
      return {x.re - y.re, x.im - y.im};
    case Arithmetic::kMul:
      return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
    case Arithmetic::kDiv:
      break;
  }
  return quotient(x, y);
}

template <class Part>
Result<void> fill(Arithmetic arithmetic, Reader read_a, const View& a, Reader read_b, const View& b,
                  const MutableView& out) {
  const auto a_strides = broadcast_strides(a, out.extents);
  if (!a_strides) return a_strides.error();
  const auto b_strides = broadcast_strides(b, out.extents);
  if (!b_strides) return b_strides.error();
  Part* result = static_cast<Part*>(out.data);
  for_each_offset<3>(out.extents, {*a_strides, *b_strides, out.strides}, [&](Offsets<3> at) {
    const Complex z = compute(arithmetic, read_a.at(a.data, at[0]), read_b.at(b.data, at[1]));
    result[2 * at[2]] = store<Part>(z.re);
    result[2 * at[2] + 1] = store<Part>(z.im);
  });
  return {};
}

}  // namespace

bool is_complex(DType dtype) {
  return info(dtype).type_class == DTypeClass::kComplex;
}

Result<void> complex_binary(std::string_view kernel, Arithmetic arithmetic, const View& a,
                            const View& b, const MutableView& out) {
  if (auto ok = check_views(kernel, {a, b, out}); !ok) return ok;
  for (const View* view : {&a, &b}) {
    if (is_complex(view->dtype) && view->dtype != out.dtype)
      return dtype_error(kernel, view->dtype);
  }
  const auto read_a = reader_of(kernel, a.dtype), read_b = reader_of(kernel, b.dtype);
  if (!read_a) return read_a.error();
  if (!read_b) return read_b.error();
  return out.dtype == DType::kComplexFP32 ? fill<float>(arithmetic, *read_a, a, *read_b, b, out)
                                          : fill<double>(arithmetic, *read_a, a, *read_b, b, out);
}

}  // namespace mir::ref

// Maximum, minimum, sum, mean and cumulative sum along a dimension.
#include "kernels/ref/reduce.hpp"

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/extreme.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

// A reduction is built without elements, is given each one, and yields its value for their count.

template <class W, int kSign>
struct Extreme {
  W best{};
  bool found = false;

  void add(W v) {
    best = found ? extreme_of<kSign>(best, v) : v;
    found = true;
  }
  W result(std::int64_t) const { return best; }
};

template <class W>
struct Sum {
  W sum{};

  void add(W v) {
    if constexpr (std::is_integral_v<W>) {
      sum = static_cast<W>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(v));
    } else {
      sum += v;
    }
  }
  W result(std::int64_t) const { return sum; }
};

template <class W>
struct Average : Sum<W> {
  W result(std::int64_t count) const {
    if (std::is_integral_v<W> && count == 0) return W{0};
    return this->sum / static_cast<W>(count);
  }
};

template <class W>
using Maximum = Extreme<W, 1>;
template <class W>
using Minimum = Extreme<W, -1>;

/// x as rows to reduce, one per element of out.
struct Rows {
  Dims outer_extents;
  Dims x_strides;
  Dims out_strides;
  Dims row_extents;
  Dims row_strides;

  std::int64_t row_elements() const { return element_count({{}, nullptr, row_extents, {}}); }
  std::int64_t count() const { return element_count({{}, nullptr, outer_extents, {}}); }
};

Result<Rows> split(std::string_view kernel, const View& x, std::optional<std::int64_t> axis,
                   const MutableView& out) {
  if (!axis) {
    if (element_count(out) != 1) return shape_error(kernel, "the result is not one element");
    return Rows{{},
                {},
                {},
                Dims(x.extents.begin(), x.extents.end()),
                Dims(x.strides.begin(), x.strides.end())};
  }
  const auto dim = normalise_axis(*axis, x.rank());
  if (!dim) return dim.error();
  Rows rows{without(x.extents, *dim),
            without(x.strides, *dim),
            Dims(out.strides.begin(), out.strides.end()),
            {x.extents[*dim]},
            {x.strides[*dim]}};
  Dims out_extents(out.extents.begin(), out.extents.end());
  if (out.rank() == x.rank() && out.extents[*dim] == 1) {
    out_extents = without(out.extents, *dim);
    rows.out_strides = without(out.strides, *dim);
  }
  if (out_extents == rows.outer_extents) return rows;
  return shape_error(kernel, "the result does not have the remaining extents");
}

template <template <class> class Reduction>
Result<void> reduce(std::string_view kernel, const View& x, std::optional<std::int64_t> axis,
                    const MutableView& out, bool needs_elements = false) {
  if (auto ok = check_one_dtype(kernel, {x, out}); !ok) return ok;
  const auto rows = split(kernel, x, axis, out);
  if (!rows) return rows.error();
  const std::int64_t length = rows->row_elements();
  if (needs_elements && length == 0 && rows->count() != 0) {
    return shape_error(kernel, "no elements to choose from");
  }
  return with_number(kernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out.data);
    for_each_offset<2>(rows->outer_extents, {rows->x_strides, rows->out_strides}, [&](auto at) {
      Reduction<Wide<T>> reduction;
      for_each_offset<1>(rows->row_extents, {rows->row_strides},
                         [&](Offsets<1> in) { reduction.add(load<T>(from[at[0] + in[0]])); });
      to[at[1]] = store<T>(reduction.result(length));
    });
    return {};
  });
}

}  // namespace

Result<void> reduce_max(const View& x, std::optional<std::int64_t> axis, const MutableView& out) {
  return reduce<Maximum>("reduce_max", x, axis, out, true);
}

Result<void> reduce_min(const View& x, std::optional<std::int64_t> axis, const MutableView& out) {
  return reduce<Minimum>("reduce_min", x, axis, out, true);
}

Result<void> reduce_sum(const View& x, std::optional<std::int64_t> axis, const MutableView& out) {
  return reduce<Sum>("reduce_sum", x, axis, out);
}

Result<void> cum_sum(const View& x, const CumSum& how, const MutableView& out) {
  constexpr std::string_view kKernel = "cum_sum";
  if (auto ok = check_one_dtype(kKernel, {x, out}); !ok) return ok;
  if (auto ok = check_same_extents(kKernel, x, out); !ok) return ok;
  const auto dim = normalise_axis(how.axis, x.rank());
  if (!dim) return dim.error();
  const std::int64_t length = x.extents[*dim];
  const Dims outer = without(x.extents, *dim), x_strides = without(x.strides, *dim),
             out_strides = without(out.strides, *dim);
  return with_number(kKernel, x.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    const T* from = static_cast<const T*>(x.data);
    T* to = static_cast<T*>(out.data);
    for_each_offset<2>(outer, {x_strides, out_strides}, [&](Offsets<2> at) {
      Sum<Wide<T>> before;
      for (std::int64_t i = 0; i < length; ++i) {
        const std::int64_t place = how.reverse ? length - 1 - i : i;
        Sum<Wide<T>> with = before;
        with.add(load<T>(from[at[0] + place * x.strides[*dim]]));
        const Sum<Wide<T>>& sum = how.exclusive ? before : with;
        to[at[1] + place * out.strides[*dim]] = store<T>(sum.result(i));
        before = with;
      }
    });
    return {};
  });
}

Result<void> mean(const View& x, std::optional<std::int64_t> axis, const MutableView& out) {
  return reduce<Average>("mean", x, axis, out);
}

}  // namespace mir::ref

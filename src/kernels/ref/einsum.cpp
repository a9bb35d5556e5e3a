// Reference einsum: one loop nest over all indices, with sums in a fixed order.
#include "kernels/ref/einsum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/loop.hpp"

namespace mir::ref {
namespace {

constexpr std::string_view kEinsum = "einsum";

/// Extents by index, and for each tensor its stride by index; out is the last tensor.
struct Nest {
  Dims extents;
  std::vector<Dims> strides;

  /// Enters a tensor; false where two extents of an index differ and neither is 1.
  bool add(const View& view, std::span<const std::size_t> numbers) {
    strides.emplace_back(extents.size(), 0);
    for (std::size_t dim = 0; dim < numbers.size(); ++dim) {
      std::int64_t& extent = extents[numbers[dim]];
      if (view.extents[dim] == 1) continue;
      if (extent != 1 && extent != view.extents[dim]) return false;
      extent = view.extents[dim];
      strides.back()[numbers[dim]] += view.strides[dim];
    }
    return true;
  }

  std::int64_t offset(std::size_t tensor, std::span<const std::int64_t> index) const {
    return std::inner_product(index.begin(), index.end(), strides[tensor].begin(), std::int64_t{0});
  }
};

Result<void> check_numbers(std::span<const View> inputs, std::span<const IndexNumbers> operands,
                           std::span<const std::size_t> result, const View& out) {
  if (inputs.empty() || operands.size() != inputs.size() || result.size() != out.extents.size()) {
    return shape_error(kEinsum, "indices are not given for each operand and dimension");
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (auto ok = check_one_dtype(kEinsum, {out, inputs[i]}); !ok) return ok;
    const bool known = std::ranges::all_of(operands[i], [](std::size_t n) { return n < kMaxRank; });
    if (!known || operands[i].size() != inputs[i].extents.size()) {
      return shape_error(kEinsum, fmt::format("the indices of operand {} do not fit", i));
    }
  }
  for (const std::size_t number : result) {
    const bool named = std::ranges::any_of(operands, [number](const IndexNumbers& numbers) {
      return std::ranges::find(numbers, number) != numbers.end();
    });
    if (!named || std::ranges::count(result, number) != 1) {
      return shape_error(kEinsum, "an index of the result is no operand's, or twice there");
    }
  }
  return {};
}

/// The nest of all operands and out, which has the extents of its indices.
Result<Nest> make_nest(std::span<const View> inputs, std::span<const IndexNumbers> operands,
                       std::span<const std::size_t> result, const View& out) {
  Nest nest{Dims(kMaxRank, 1), {}};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!nest.add(inputs[i], operands[i])) {
      return shape_error(kEinsum, fmt::format("an index of operand {} has two extents", i));
    }
  }
  for (std::size_t dim = 0; dim < result.size(); ++dim) {
    if (out.extents[dim] != nest.extents[result[dim]]) {
      return shape_error(kEinsum, "the result does not have the extents of its indices");
    }
  }
  if (!nest.add(out, result)) return shape_error(kEinsum, "the result does not fit");
  return nest;
}

template <class T>
Wide<T> product_at(std::span<const View> inputs, const Nest& nest,
                   std::span<const std::int64_t> index) {
  const auto factor = [&](std::size_t i) {
    return load<T>(static_cast<const T*>(inputs[i].data)[nest.offset(i, index)]);
  };
  Wide<T> product = factor(0);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if constexpr (kIsFloating<T>) {
      product *= factor(i);
    } else {
      product = static_cast<Wide<T>>(static_cast<std::uint64_t>(product) *
                                     static_cast<std::uint64_t>(factor(i)));
    }
  }
  return product;
}

template <class W>
void add_to(W& sum, W term) {
  if constexpr (std::is_integral_v<W>) {
    sum = static_cast<W>(static_cast<std::uint64_t>(sum) + static_cast<std::uint64_t>(term));
  } else {
    sum += term;
  }
}

}  // namespace

Result<void> einsum(std::span<const View> inputs, std::span<const IndexNumbers> operands,
                    std::span<const std::size_t> result, const MutableView& out) {
  if (auto ok = check_numbers(inputs, operands, result, out); !ok) return ok;
  const auto nest = make_nest(inputs, operands, result, out);
  if (!nest) return nest.error();
  // Indices of the result, then those that are summed.
  Dims kept(kMaxRank, 1), summed = nest->extents;
  for (const std::size_t number : result) {
    kept[number] = nest->extents[number];
    summed[number] = 1;
  }
  return with_number(kEinsum, out.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
    Dims index(kMaxRank);
    for_each_index(kept, [&](std::span<const std::int64_t> outer) {
      Wide<T> sum{};
      for_each_index(summed, [&](std::span<const std::int64_t> inner) {
        std::ranges::transform(outer, inner, index.begin(), std::plus<>());
        add_to(sum, product_at<T>(inputs, *nest, index));
      });
      static_cast<T*>(out.data)[nest->offset(inputs.size(), outer)] = store<T>(sum);
    });
    return {};
  });
}

}  // namespace mir::ref

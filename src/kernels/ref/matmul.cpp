// Reference matrix products and linear layers: every sum runs over k in order, in double.
#include "kernels/ref/matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/ref/common/operands.hpp"
#include "kernels/ref/common/values.hpp"

namespace mir::ref {
namespace {

/// Two dimensions of an operand at some batch index.
struct Matrix {
  std::array<std::int64_t, 2> extents;
  std::array<std::int64_t, 2> strides;

  Matrix transposed() const { return {{extents[1], extents[0]}, {strides[1], strides[0]}}; }
  std::int64_t rows() const { return extents[0]; }
  std::int64_t columns() const { return extents[1]; }
};

Matrix last_two(const View& view) {
  const std::size_t m = view.extents.size() - 2;
  return {{view.extents[m], view.extents[m + 1]}, {view.strides[m], view.strides[m + 1]}};
}

/// Row `row` of a matrix that lies `offset` elements into `whole`.
View row_of(const View& whole, std::int64_t offset, const Matrix& matrix, std::int64_t row) {
  View view = sub_view(whole, offset + row * matrix.strides[0], 0, 0);
  view.extents = std::span(matrix.extents).last(1);
  view.strides = std::span(matrix.strides).last(1);
  return view;
}

/// Two numbers that are computed with side by side, each as it would be alone.
using Two = double __attribute__((vector_size(2 * sizeof(double))));

/// This many rows of a are multiplied side by side; each sum is still one chain over k.
constexpr std::size_t kRows = 8;
struct RowSums {
  Two pairs[kRows / 2] = {};

  double row(std::size_t r) const { return pairs[r / 2][r % 2]; }
  void set(std::size_t r, double value) { pairs[r / 2][r % 2] = value; }
};

/// sums of row r: sum_k a[k] of row r times b[k].
RowSums dot(const std::vector<RowSums>& a, const std::vector<double>& b) {
  Two s0 = {};
  Two s1 = {};
  Two s2 = {};
  Two s3 = {};
  for (std::size_t k = 0; k < b.size(); ++k) {
    s0 += a[k].pairs[0] * b[k];
    s1 += a[k].pairs[1] * b[k];
    s2 += a[k].pairs[2] * b[k];
    s3 += a[k].pairs[3] * b[k];
  }
  return {{s0, s1, s2, s3}};
}

/// So many rows of a meet each row of b that is read.
constexpr std::size_t kGroups = 2;
using RowGroups = std::array<std::vector<RowSums>, kGroups>;

/// One product: operands, their matrices as [M, K], [N, K], [M, N], and the offsets of these.
struct Product {
  View a;
  View b;
  const View* bias;
  MutableView out;
  Matrix a_matrix;
  Matrix b_matrix;
  Matrix out_matrix;

  void run(std::int64_t a_at, std::int64_t b_at, std::int64_t out_at) const;
  void run_rows(std::int64_t first, std::int64_t count, const RowGroups& a_columns,
                std::int64_t b_at, std::int64_t out_at) const;
};

/// Rows first .. first + count - 1 of the result.
void Product::run_rows(std::int64_t first, std::int64_t count, const RowGroups& a_columns,
                       std::int64_t b_at, std::int64_t out_at) const {
  std::vector<double> b_row(static_cast<std::size_t>(b_matrix.columns()));
  for (std::int64_t n = 0; n < b_matrix.rows(); ++n) {
    read_values(row_of(b, b_at, b_matrix, n), b_row);
    double offset = 0;
    if (bias != nullptr) read_values(sub_view(*bias, n * bias->strides[0], 0, 0), {&offset, 1});
    RowSums sums;
    for (std::size_t r = 0; r < static_cast<std::size_t>(count); ++r) {
      if (r % kRows == 0) sums = dot(a_columns[r / kRows], b_row);
      double value = sums.row(r % kRows);
      if (bias != nullptr) value += offset;
      const std::int64_t at = out_at +
                              (first + static_cast<std::int64_t>(r)) * out_matrix.strides[0] +
                              n * out_matrix.strides[1];
      write_values(sub_view(out, at, 0, 0), {&value, 1});
    }
  }
}

void Product::run(std::int64_t a_at, std::int64_t b_at, std::int64_t out_at) const {
  const auto depth = static_cast<std::size_t>(a_matrix.columns());
  RowGroups a_columns;
  std::vector<double> row(depth);
  constexpr auto kStep = static_cast<std::int64_t>(kRows * kGroups);
  for (std::int64_t first = 0; first < a_matrix.rows(); first += kStep) {
    const std::int64_t count = std::min(kStep, a_matrix.rows() - first);
    for (std::int64_t r = 0; r < count; ++r) {
      const auto at = static_cast<std::size_t>(r);
      std::vector<RowSums>& group = a_columns[at / kRows];
      group.resize(depth);
      read_values(row_of(a, a_at, a_matrix, first + r), row);
      for (std::size_t k = 0; k < depth; ++k) group[k].set(at % kRows, row[k]);
    }
    run_rows(first, count, a_columns, b_at, out_at);
  }
}

std::string text(const Matrix& m) {
  return fmt::format("[{}, {}]", m.rows(), m.columns());
}

Result<void> check_matrices(const Product& p) {
  if (p.a_matrix.columns() == p.b_matrix.columns() && p.a_matrix.rows() == p.out_matrix.rows() &&
      p.b_matrix.rows() == p.out_matrix.columns()) {
    return {};
  }
  return shape_error("matmul", fmt::format("{} times the transpose of {} is not {}",
                                           text(p.a_matrix), text(p.b_matrix), text(p.out_matrix)));
}

Result<void> check_batches(const View& a, const View& b, const View& out) {
  const std::size_t batches = a.extents.size() - 2;
  if (!same_extents(a.extents.first(batches), out.extents.first(batches))) {
    return shape_error("matmul", "batch extents of the first operand and the result differ");
  }
  for (std::size_t dim = 0; b.rank() != 2 && dim < batches; ++dim) {
    const std::int64_t from = a.extents[dim];
    const std::int64_t into = b.extents[dim];
    if (from == into || (into > 0 && from % into == 0)) continue;
    return shape_error("matmul", fmt::format("batch extent {} does not divide {}", into, from));
  }
  return {};
}

/// The offsets of batch number `batch`, row-major over a's batch extents.
void run_batch(const Product& p, std::int64_t batch) {
  std::int64_t a_at = 0;
  std::int64_t b_at = 0;
  std::int64_t out_at = 0;
  for (std::size_t dim = p.a.extents.size() - 2; dim-- > 0;) {
    const std::int64_t extent = p.a.extents[dim];
    const std::int64_t index = batch % extent;
    batch /= extent;
    a_at += index * p.a.strides[dim];
    out_at += index * p.out.strides[dim];
    if (p.b.rank() != 2) b_at += index / (extent / p.b.extents[dim]) * p.b.strides[dim];
  }
  p.run(a_at, b_at, out_at);
}

}  // namespace

Result<void> matmul(const View& a, const View& b, const MatMulOptions& options,
                    const MutableView& out) {
  if (auto ok = check_floating("matmul", {a, b, out}); !ok) return ok;
  if (a.rank() < 2 || b.rank() < 2 || out.rank() != a.rank() ||
      (b.rank() != 2 && b.rank() != a.rank())) {
    return shape_error("matmul",
                       fmt::format("ranks {} and {} to {}", a.rank(), b.rank(), out.rank()));
  }
  if (auto ok = check_batches(a, b, out); !ok) return ok;
  const Matrix left = last_two(a);
  const Matrix right = last_two(b);
  const Product product{a,
                        b,
                        nullptr,
                        out,
                        options.transpose_a ? left.transposed() : left,
                        options.transpose_b ? right : right.transposed(),
                        last_two(out)};
  if (auto ok = check_matrices(product); !ok) return ok;
  if (element_count(out) == 0) return {};
  const std::int64_t batches =
      element_count(out) / (product.out_matrix.rows() * product.out_matrix.columns());
  for (std::int64_t batch = 0; batch < batches; ++batch) run_batch(product, batch);
  return {};
}

Result<void> linear(const View& x, const View& weight, const View* bias, const MutableView& out) {
  const View& offset = bias != nullptr ? *bias : weight;
  if (auto ok = check_floating("linear", {x, weight, offset, out}); !ok) return ok;
  if (x.rank() < 1 || weight.rank() != 2 || out.rank() != x.rank() ||
      x.extents.back() != weight.extents[1] || out.extents.back() != weight.extents[0] ||
      !same_extents(x.extents.first(x.extents.size() - 1),
                    out.extents.first(x.extents.size() - 1))) {
    return shape_error("linear", "input, weight and result do not fit");
  }
  if (bias != nullptr && (bias->rank() != 1 || bias->extents[0] != weight.extents[0])) {
    return shape_error("linear", "the bias does not have one element per output channel");
  }
  if (element_count(out) == 0) return {};
  // A vector is a matrix of one row.
  Dims x_extents(x.extents.begin(), x.extents.end());
  Dims out_extents(out.extents.begin(), out.extents.end());
  Dims x_strides(x.strides.begin(), x.strides.end());
  Dims out_strides(out.strides.begin(), out.strides.end());
  if (x.rank() == 1) {
    for (Dims* dims : {&x_extents, &out_extents}) dims->insert(dims->begin(), 1);
    for (Dims* dims : {&x_strides, &out_strides}) dims->insert(dims->begin(), 0);
  }
  const View input{x.dtype, x.data, x_extents, x_strides};
  const MutableView result{out.dtype, out.data, out_extents, out_strides};
  const Product product{input,           weight, bias, result, last_two(input), last_two(weight),
                        last_two(result)};
  const std::int64_t batches =
      element_count(out) / (product.out_matrix.rows() * product.out_matrix.columns());
  for (std::int64_t batch = 0; batch < batches; ++batch) run_batch(product, batch);
  return {};
}

}  // namespace mir::ref

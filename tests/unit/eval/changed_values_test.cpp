// What every changed example computes, as changed_values.txt stores it; UPDATE_GOLDEN=1 writes it
// anew.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "../dialects/changed_examples.hpp"
#include "../stored_lines.hpp"
#include "eval/parameters.hpp"
#include "mir/dialects.hpp"
#include "one_op.hpp"

namespace mir::test {
namespace {

constexpr std::int64_t kExtent = 2;  // of every symbol
// Examples with larger operands or parameters would take most of the time.
constexpr std::size_t kMostBytes = 400'000;

/// Numbers of both signs that differ from their neighbours; small numbers from 0 on as integers.
double number_at(DType dtype, std::int64_t i, std::size_t seed) {
  const auto mixed = static_cast<std::int64_t>((static_cast<std::uint64_t>(i) * 7 + seed * 5) % 11);
  if (info(dtype).type_class == DTypeClass::kFloat) {
    return static_cast<double>(mixed - 5) * 0.375 + static_cast<double>(i % 3) * 0.0625;
  }
  return static_cast<double>(dtype == DType::kBool ? mixed % 2 : mixed % 3);
}

Tensor filled(DType dtype, const Shape& shape, std::size_t seed) {
  auto made = Tensor::allocate(dtype, shape);
  REQUIRE(made);
  const std::size_t width = info(dtype).unit_bytes;
  std::vector<std::byte> repeated(33 * width);  // number_at() has this period
  for (std::size_t i = 0; i < 33; ++i) {
    const auto bits = encode_element(dtype, number_at(dtype, static_cast<std::int64_t>(i), seed));
    REQUIRE(bits);
    std::memcpy(repeated.data() + i * width, &*bits, width);
  }
  const std::size_t size = made->bytes().size();
  for (std::size_t at = 0; at < size; at += repeated.size()) {
    std::memcpy(made->mutable_bytes() + at, repeated.data(), std::min(repeated.size(), size - at));
  }
  return *made;
}

/// The extents of a tensor, of which those with symbols are kExtent.
Shape shape_of(const TensorType& type) {
  Shape shape;
  for (const Dim dim : type.dims()) shape.push_back(dim.is_constant() ? dim.constant() : kExtent);
  return shape;
}

/// `Float32 [2, 3] sum moment`: the moment is a sum that the order of the elements changes.
std::string summary(const Tensor& tensor) {
  double sum = 0, moment = 0;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const double value = element_as_double(tensor, i);
    sum += std::isfinite(value) ? value : 1000;
    moment += (std::isfinite(value) ? value : 1000) * static_cast<double>(i % 13 + 1);
  }
  return fmt::format("{} [{}] {:.6g} {:.6g}", info(tensor.dtype()).name,
                     fmt::join(tensor.shape(), ", "), sum, moment);
}

/// The results of the op of a line, or its error; empty for what no kernel computes, and for what
/// the rules refuse, whose answers testdata/unit/dialects/changed_examples.txt has.
std::string computed(const std::string& line) {
  OneOp one(line);
  const Op& op = one.op();
  if (!is_executable(op)) return "";
  for (const char* symbol : {"M", "N", "S"}) one.bind(symbol, kExtent);
  std::vector<Tensor> operands;
  std::size_t bytes = 0;
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    const auto* type = dyn_cast<TensorType>(op.operand(i)->type());
    if (type == nullptr || !type->dtype()) return "no tensor";
    if (info(*type->dtype()).lanes != 1) return "packed";
    operands.push_back(filled(*type->dtype(), shape_of(*type), i));
    bytes += operands.back().bytes().size();
  }
  const auto* operand = operands.empty() ? nullptr : dyn_cast<TensorType>(op.operand(0)->type());
  const auto* result =
      op.result_count() == 0 ? nullptr : dyn_cast<TensorType>(op.result(0)->type());
  for (const OwnedParameter& owned : owned_parameters(op)) {
    for (const WeightRow& weight : op.row()->weights) {
      const auto extents =
          parameter_extents(weight, op.module().context(), operand, result, op.attributes());
      if (weight.suffix != owned.suffix || !extents) continue;
      Tensor parameter = filled(DType::kFloat32, *extents, owned.suffix.size());
      bytes += parameter.bytes().size();
      one.parameter(op.module().context().text(owned.symbol), std::move(parameter));
    }
  }
  if (bytes > kMostBytes) return "";
  const auto results = one.run(operands);
  if (!results) {
    const int code = static_cast<int>(results.error().code);
    if (code >= 500 && code < 600) return "";
    return fmt::format("{} {}", code, results.error().message);
  }
  std::vector<std::string> all;
  for (const Tensor& each : *results) all.push_back(summary(each));
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string named_op(const std::string& line) {
  return line.substr(0, line.find(" | "));
}

TEST_CASE("every example with one change computes what is stored") {
  std::vector<std::string> found;
  testing::for_each_changed_example([&](const OpRow& row, const testing::Changed& each) {
    CAPTURE(each.line);
    const std::string results = computed(each.line);
    if (!results.empty())
      found.push_back(fmt::format("{} | {} | {}", row.name, each.what, results));
  });
  const std::vector<std::string> wanted =
      stored_lines("testdata/unit/eval/changed_values.txt", found);
  std::set<std::string> ops;
  for (const std::string& line : wanted) ops.insert(named_op(line));
  REQUIRE(ops.size() > 50);
  // Of an op that was added since, nothing is stored yet.
  std::size_t next = 0;
  for (const std::string& line : found) {
    if (!ops.contains(named_op(line))) continue;
    REQUIRE(next < wanted.size());
    REQUIRE(line == wanted[next++]);
  }
  CHECK(next == wanted.size());
}

}  // namespace
}  // namespace mir::test

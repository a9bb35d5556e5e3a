#include "one_op.hpp"

namespace mir::test {

namespace generic_op {

using Values = std::vector<double>;

std::string number(std::string_view dtype) {
  return "tensor<[], " + std::string(dtype) + ", CPU>";
}

/// A generic op of operands with open extents, whose region passes on its last argument or runs
/// `step` on all of them.
std::string op(const std::string& attributes, const std::vector<std::string>& operands,
               const std::string& result, const std::string& step = "",
               std::string_view computed = "Float64") {
  std::string line = "linalg.CPU.GenericOp [" + attributes + "] (", inside, names;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const std::string at = std::to_string(i), separator = i == 0 ? "" : ", ";
    const std::string dtype = operands[i].starts_with("Int32") ? "Int32" : std::string(computed);
    const std::string element = operands[i].substr(0, operands[i].find(' '));
    const std::string shape = operands[i].substr(operands[i].find(' ') + 1);
    line += separator + "%" + at + ":tensor<" + shape + ", " + element + ", CPU>";
    inside += separator + "%a" + at + ":" + number(dtype);
    names = step.empty() ? "%a" + at : names + separator + "%a" + at;
  }
  const std::string passed = (step.empty() ? names : "%b") + ":" + number(computed);
  line += ") -> (%9:" + result + ") {\n(" + inside + ") -> (" + passed + ") {\n";
  if (!step.empty()) line += "linalg.CPU." + step + " (" + names + ") -> (" + passed + ")\n";
  return line + "cf.YieldOp (" + passed + ") -> ()\n}\n}";
}

const std::string kVector = "Float32 [?]", kOne = "tensor<[], Float32, CPU>";

}  // namespace generic_op

using generic_op::kOne;
using generic_op::kVector;
using generic_op::op;
using generic_op::Values;

TEST_CASE("a generic op sums the products that a matrix product has") {
  OneOp product(op("loops:{i:2, j:2, k:3}, maps:[[$i, $k], [$k, $j], [$i, $j]], sums:{k:add}",
                   {"Float32 [2, 3]", "Float32 [3, 2]"}, "tensor<[2, 2], Float32, CPU>", "MulOp"));
  CHECK(product.values({floats({2, 3}, {1, 2, 3, 4, 5, 6}), floats({3, 2}, {1, 0, 0, 1, 1, 1})}) ==
        Values{4, 5, 10, 11});
}

TEST_CASE("sums of several kinds are joined from the inside") {
  const std::string largest = "loops:{i:2, k:2}, maps:[[$i, $k], []], sums:{i:max, k:add}";
  OneOp nested(op(largest, {"Float32 [2, 2]"}, kOne));
  CHECK(nested.values({floats({2, 2}, {5, -9, 1, 2})}) == Values{3});
  // A sum in one accumulator is in the order of all loops.
  OneOp flat(op("loops:{i:2, k:2}, maps:[[$i, $k], []], sums:{i:add, k:add}", {"Float64 [2, 2]"},
                "tensor<[], Float64, CPU>"));
  CHECK(flat.values({tensor(DType::kFloat64, {2, 2}, {1e100, 1, -1e100, 1})}) == Values{1});
}

TEST_CASE("nothing to sum is 0, nothing to choose from ends the run") {
  const std::vector<Tensor> none = {floats({0}, {})};
  CHECK(OneOp(op("loops:{i:0}, maps:[[$i], []], sums:{i:add}", {kVector}, kOne)).values(none) ==
        Values{0});
  CHECK(OneOp(op("loops:{i:0}, maps:[[$i], []], sums:{i:mul}", {kVector}, kOne)).values(none) ==
        Values{1});
  CHECK(OneOp(op("loops:{i:0}, maps:[[$i], []], sums:{i:max}, start:[-2.5]", {kVector}, kOne))
            .values(none) == Values{-2.5});
  OneOp largest(op("loops:{i:0}, maps:[[$i], []], sums:{i:max}", {kVector}, kOne));
  CHECK(largest.error(none) ==
        "801 'GenericOp': element 0 of a result is the largest or least of nothing");
  // The loops around an empty one still run.
  OneOp around(
      op("loops:{i:2, k:0, l:3}, maps:[[$k], []], sums:{i:max, k:add, l:add}", {kVector}, kOne));
  CHECK(around.values(none) == Values{0});
}

TEST_CASE("a copy keeps the bits of a NaN, a sum does not") {
  Tensor x = floats({1}, {0});
  x.as_mutable<std::uint32_t>().front() = 0xffc01234u;
  OneOp copy(op("loops:{i:1}, maps:[[$i], [$i]]", {"Float32 [1]"}, "tensor<[1], Float32, CPU>"));
  const auto copied = copy.run({x});
  REQUIRE(copied);
  CHECK(copied->front().as<std::uint32_t>().front() == 0xffc01234u);
  OneOp sum(op("loops:{i:1}, maps:[[$i], []], sums:{i:add}", {"Float32 [1]"}, kOne));
  const auto summed = sum.run({x});
  REQUIRE(summed);
  CHECK(summed->front().as<std::uint32_t>().front() == 0x7fc00000u);
}

TEST_CASE("integers wrap in their type") {
  OneOp sum(op("loops:{i:2}, maps:[[$i], []], sums:{i:add}", {"Int64 [2]"},
               "tensor<[], Int64, CPU>", "", "Int64"));
  auto x = Tensor::allocate(DType::kInt64, {2});
  REQUIRE(x);
  x->as_mutable<std::int64_t>()[0] = std::numeric_limits<std::int64_t>::max();
  x->as_mutable<std::int64_t>()[1] = 2;
  const auto found = sum.run({*x});
  REQUIRE(found);
  CHECK(found->front().as<std::int64_t>().front() == std::numeric_limits<std::int64_t>::min() + 1);
}

TEST_CASE("maps that the run checks name the iteration") {
  OneOp rows(op("loops:{i:2}, maps:[[$i], [$r], [$i]], indices:{r:0}, dtypes:[Float32]",
                {"Int32 [2]", "Float32 [3]"}, "tensor<[2], Float32, CPU>"));
  const Tensor table = floats({3}, {5, 6, 7});
  CHECK(rows.values({tensor(DType::kInt32, {2}, {2, 0}), table}) == Values{7, 5});
  CHECK(rows.error({tensor(DType::kInt32, {2}, {2, 3}), table}) ==
        "803 'GenericOp': $i = 1, $r = 3 makes the index in dimension 0 of operand 1 3, expected "
        "one below 3");
}

TEST_CASE("iterations fill more than one strip") {
  const std::int64_t count = 5000;
  Values all(static_cast<std::size_t>(count), 1);
  OneOp sum(op("loops:{i:5000}, maps:[[$i], []], sums:{i:add}", {"Float32 [5000]"}, kOne, "NegOp"));
  CHECK(sum.values({floats({count}, all)}) == Values{-5000});
  OneOp tiles(op("loops:{t:50, r:100}, maps:[[4999-100*$t-$r], [100*$t+$r]]", {"Float32 [5000]"},
                 "tensor<[5000], Float32, CPU>", "NegOp"));
  all.front() = 3;
  const Values turned = tiles.values({floats({count}, all)});
  CHECK(turned.back() == -3);
  CHECK(turned.front() == -1);
}

}  // namespace mir::test

#include "eval/parameters.hpp"
#include "mir/codes/runs.hpp"
#include "one_op.hpp"

namespace mir::test {

using Values = std::vector<double>;

namespace {

OneOp cache(const std::string& attributes, const std::string& name = "<name=\"kv\"> ") {
  return OneOp("linalg.CPU.KVCacheOp " + name + "[q_head:2, kv_head:1, head_dim:1" + attributes +
               "] (%0:tensor<[1, 1, $S, 1], Float32, CPU>, %1:tensor<[1, 1, $S, 1], Float32, CPU>) "
               "-> (%2:tensor<[1, 1, ?, 1], Float32, CPU>, %3:tensor<[1, 1, ?, 1], Float32, CPU>)");
}

Tensor tokens(const Values& values) {
  return floats({1, 1, static_cast<std::int64_t>(values.size()), 1}, values);
}

}  // namespace

TEST_CASE("a cache gives everything that it was ever given") {
  OneOp op = cache(", cache:@cache.0");
  const auto first = op.run({tokens({1, 2}), tokens({5, 6})});
  REQUIRE(first);
  const auto second = op.run({tokens({3}), tokens({7})});
  REQUIRE(second);
  CHECK(values_of(second->at(0)) == Values{1, 2, 3});
  CHECK(values_of(second->at(1)) == Values{5, 6, 7});
  CHECK(values_of(first->at(0)) == Values{1, 2});
  CHECK(op.cached() == 3);
}

TEST_CASE("a cache gives single bytes back") {
  OneOp op(
      "linalg.CPU.KVCacheOp <name=\"kv\"> [q_head:1, kv_head:1, head_dim:1] "
      "(%0:tensor<[1, 1, $S, 1], Float8E4M3, CPU>, %1:tensor<[1, 1, $S, 1], Float8E4M3, CPU>) -> "
      "(%2:tensor<[1, 1, ?, 1], Float8E4M3, CPU>, %3:tensor<[1, 1, ?, 1], Float8E4M3, CPU>)");
  const auto token = [](double value) { return tensor(DType::kFloat8E4M3, {1, 1, 1, 1}, {value}); };
  const auto first = op.run({token(5), token(-6)});
  REQUIRE(first);
  CHECK(values_of(first->at(0)) == Values{5});
  CHECK(values_of(first->at(1)) == Values{-6});
  const auto none = tensor(DType::kFloat8E4M3, {1, 1, 0, 1}, {});
  const auto second = op.run({none, none});
  REQUIRE(second);
  CHECK(values_of(second->at(1)) == Values{-6});
}

TEST_CASE("a cache refuses more tokens than its capacity and stays as it is") {
  OneOp op = cache(", capacity:3");
  REQUIRE(op.run({tokens({1, 2}), tokens({1, 2})}));
  CHECK(op.error({tokens({3, 4}), tokens({3, 4})}) ==
        "817 'KVCacheOp': cache '@kv' holds 2 of 3 tokens, 2 more do not fit");
  CHECK(op.cached() == 2);
  CHECK(op.run({tokens({3}), tokens({3})}));
}

TEST_CASE("a cache refuses tokens that do not fit what it holds") {
  OneOp op = cache("");
  REQUIRE(op.run({tokens({1}), tokens({1})}));
  const Tensor batch = floats({2, 1, 1, 1}, {1, 2});
  CHECK(op.error({batch, batch}).starts_with("816 "));
  const Tensor half = tensor(DType::kFloat16, {1, 1, 1, 1}, {1});
  CHECK(op.error({half, half}).starts_with("816 "));
}

TEST_CASE("a stated past must be what the cache holds") {
  OneOp op = cache(", past:$past");
  op.bind("past", 1);
  CHECK(op.error({tokens({1}), tokens({1})}) ==
        "816 'KVCacheOp': cache '@kv' holds 0 tokens, 'past' says 1");
}

TEST_CASE("a cache needs a name") {
  OneOp op = cache("", "");
  CHECK(op.error({tokens({1}), tokens({1})}).starts_with("815 "));
  OneOp named = cache("");
  const auto refused = evaluate(named.op(), std::vector{tokens({1}), tokens({1})}, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == diag::kNotExecutable);
}

TEST_CASE("the dimension of heads may follow that of positions") {
  OneOp op(
      "linalg.CPU.KVCacheOp <name=\"kv\"> [q_head:2, kv_head:2, head_dim:1, use_fa2:true] "
      "(%0:tensor<[1, $S, 2, 1], Float32, CPU>, %1:tensor<[1, $S, 2, 1], Float32, CPU>) -> "
      "(%2:tensor<[1, ?, 2, 1], Float32, CPU>, %3:tensor<[1, ?, 2, 1], Float32, CPU>)");
  REQUIRE(op.run({floats({1, 1, 2, 1}, {1, 2}), floats({1, 1, 2, 1}, {3, 4})}));
  const auto held = op.run({floats({1, 1, 2, 1}, {5, 6}), floats({1, 1, 2, 1}, {7, 8})});
  REQUIRE(held);
  CHECK(held->front().shape() == Shape{1, 2, 2, 1});
  CHECK(values_of(held->front()) == Values{1, 2, 5, 6});
}

TEST_CASE("constants are one value for all or one each") {
  const auto constant = [&](const std::string& type, const std::string& values) {
    OneOp op("linalg.CPU.NegOp(%0:" + type + "[constant:" + values + "]) -> (%1:" + type + ")");
    return constant_tensor(*op.op().operand(0));
  };
  CHECK(values_of(*constant("tensor<[2], Float32, CPU>", "[0.5]")) == Values{0.5, 0.5});
  CHECK(values_of(*constant("tensor<[2], Int16, CPU>", "[-3, 4]")) == Values{-3, 4});
  CHECK(values_of(*constant("tensor<[1], Int64, CPU>", "[7]")) == Values{7});
  const auto code = [&](const std::string& type, const std::string& values) {
    const auto made = constant(type, values);
    return made.ok() ? DiagCode{} : made.error().code;
  };
  CHECK(code("tensor<[3], Float32, CPU>", "[1, 2]") == diag::kConstantInvalid);
  CHECK(code("tensor<[$S], Float32, CPU>", "[1]") == diag::kConstantInvalid);
  CHECK(code("tensor<[1], Int8, CPU>", "[300]") == diag::kConstantInvalid);
  CHECK(code("tensor<[1], Float32, CPU>", "[abc]") == diag::kConstantInvalid);
}

TEST_CASE("an op owns the parameters that its row and attributes say") {
  OneOp op(
      "linalg.CPU.LinearOp <name=\"p\"> [bias:false] (%0:tensor<[1, 2], Float32, CPU>) -> "
      "(%1:tensor<[1, 1], Float32, CPU>)");
  const auto owned = owned_parameters(op.op());
  REQUIRE(owned.size() == 1);
  CHECK(op.op().module().context().text(owned[0].symbol) == "p.weight");
  CHECK(owns_parameter(op.op(), ".weight"));
  CHECK_FALSE(owns_parameter(op.op(), ".bias"));
}

}  // namespace mir::test

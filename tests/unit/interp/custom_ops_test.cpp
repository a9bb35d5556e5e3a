#include "mir/codes/limits.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/session.hpp"
#include "module_text.hpp"

namespace mir::test {

namespace {

/// Two ops that no dialect declares.
const char* const kPlugin = R"(
@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>) {
  linalg.CPU.Twice (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>)
  linalg.CPU.Swap [axis:0] (%y:tensor<[2], Float32, CPU>) -> (%z:tensor<[2], Float32, CPU>)
  cf.ReturnOp (%z:tensor<[2], Float32, CPU>) -> ()
}
)";

Result<std::vector<Tensor>> twice(const Op&, std::span<const Tensor> operands) {
  const float* x = operands[0].as<float>().data();
  return std::vector{floats({2}, {x[0] * 2.0, x[1] * 2.0})};
}

Result<std::vector<Tensor>> swap(const Op& op, std::span<const Tensor> operands) {
  const Attr* axis = op.attribute("axis");
  if (axis == nullptr || axis->integer() != 0) {
    return Error{diag::kAttributeOutOfRange, "the axis is not 0"};
  }
  const float* x = operands[0].as<float>().data();
  return std::vector{floats({2}, {x[1], x[0]})};
}

/// A session with these callbacks; its errors where there is none.
struct Custom {
  explicit Custom(CustomOps ops, const char* module = kPlugin) : text(module) {
    SessionOptions options;
    options.custom_ops = std::move(ops);
    session = Session::create(*text.module, options, problems);
  }
  std::vector<double> run() {
    const auto outputs = session->run(std::vector{floats({2}, {1, 3})}, problems);
    return outputs ? values_of(outputs->front()) : std::vector<double>();
  }
  Text text;
  Diagnostics problems;
  std::optional<Session> session;
};

}  // namespace

TEST_CASE("callbacks compute ops without a kernel, by name with or without the dialect") {
  Custom custom({{"linalg.Twice", twice}, {"Swap", swap}});
  REQUIRE(custom.session.has_value());
  CHECK(custom.run() == std::vector<double>{6, 2});
}

TEST_CASE("an op that nobody computes is refused by its name") {
  const Custom custom({{"Twice", twice}});
  CHECK(errors_of(custom.problems) ==
        std::vector<std::string>{"810 nothing computes 'linalg.Swap'"});
}

TEST_CASE("callbacks for ops that have a kernel or do not occur are refused") {
  const char* const negate = R"(
@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
  linalg.CPU.NegOp (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[2], Float32, CPU>) -> ()
}
)";
  CHECK(errors_of(Custom({{"NegOp", twice}}, negate).problems) ==
        std::vector<std::string>{"810 'linalg.NegOp' has a kernel, nothing else can compute it"});
  CHECK(errors_of(Custom({{"Twice", twice}}, negate).problems) ==
        std::vector<std::string>{"810 no op that runs is named 'Twice'"});
}

TEST_CASE("what a callback returns is checked, and its errors name the op") {
  const auto error_of = [](const CustomOp& first) {
    Custom custom({{"Twice", first}, {"Swap", swap}});
    REQUIRE(custom.session.has_value());
    CHECK(custom.run().empty());
    return errors_of(custom.problems).at(0);
  };
  using Operands = std::span<const Tensor>;
  const auto none = [](const Op&, Operands) -> Result<std::vector<Tensor>> {
    return std::vector<Tensor>();
  };
  CHECK(error_of(none) == "812 'Twice': 0 tensors were computed for 1 results");
  const auto undefined = [](const Op&, Operands) -> Result<std::vector<Tensor>> {
    return std::vector<Tensor>(1);
  };
  CHECK(error_of(undefined).starts_with("812 'Twice': 1 tensors"));
  const auto longer = [](const Op&, Operands) -> Result<std::vector<Tensor>> {
    return std::vector{floats({3}, {1, 2, 3})};
  };
  CHECK(error_of(longer).starts_with("812 result 0 of 'Twice' is Float32 [3], declared is "));
  const auto fails = [](const Op&, Operands) -> Result<std::vector<Tensor>> {
    return Error{diag::kLimitExceeded, "out of luck"};
  };
  CHECK(error_of(fails).ends_with(" 'Twice': out of luck"));
}

}  // namespace mir::test

// Generated dialects: an op that runs by its body gives the bits of its body in its place.
#include <fmt/format.h>

#include <random>

#include "ir/rewrite/bodies.hpp"
#include "mir/rewriter.hpp"
#include "mir/session.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;

namespace {

/// Random dialects whose ops keep the type of their operands, and a module that uses them.
class Generator {
 public:
  explicit Generator(std::uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string all = "@made [mir_version:2] () -> () {\n";
    const int ops = 2 + below(4);
    for (int i = 0; i < ops; ++i) all += declaration(i);
    return all + "}\n" + module(ops);
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  std::string any_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(below(static_cast<int>(words.size())))];
  }

  /// `name` of a value that is there already.
  std::string value() { return any_of(values_); }

  std::string line(int op, const std::string& result) {
    switch (below(op == 0 ? 5 : 6)) {
      case 0:
        return fmt::format("linalg.D.{}(%{}) -> (%{})",
                           any_of({"NegOp", "AbsOp", "TanhOp", "SiLUOp"}), value(), result);
      case 1:
        return fmt::format("linalg.D.{}(%{}, %{}) -> (%{})",
                           any_of({"AddOp", "SubOp", "MulOp", "MaximumOp"}), value(), value(),
                           result);
      case 2:
        return fmt::format("linalg.D.SoftmaxOp [axis:-1] (%{}) -> (%{})", value(), result);
      case 3:
        return fmt::format("linalg.D.MulOp(%{}, %c{}:tensor<[1], T, D>[constant:[$by]]) -> (%{})",
                           value(), result, result);
      case 4:
        return fmt::format("linalg.D.AddOp(%{}, %c{}:tensor<[1], T, D>[constant:[{}.5]]) -> (%{})",
                           value(), result, below(7), result);
      default: {
        const int callee = below(op);
        return fmt::format("made.Op{}Op [by:$by] ({}) -> (%{})", callee, operands(callee), result);
      }
    }
  }

  std::string operands(int op) {
    std::string list;
    const int count = are_many_[static_cast<std::size_t>(op)] ? 1 + below(3) : 2;
    for (int i = 0; i < count; ++i) list += fmt::format("{}%{}", i == 0 ? "" : ", ", value());
    return list;
  }

  std::string declaration(int op) {
    const bool is_many = below(3) == 0;
    are_many_.push_back(is_many);
    std::string text = fmt::format(
        "    dialect.OpOp @Op{}Op [attributes:{{by:{{type:float, default:0.75}}}}] {{\n        ",
        op);
    const std::string type = below(2) == 0 ? "tensor<[$n..], T, D>" : "tensor<[$B.., $k], T, D>";
    if (is_many) {
      text += fmt::format("(%xs:{}[many:true]) -> (%y:{}) {{\n", type, type);
      text +=
          "            linalg.D.StackOp [dim:0] (%xs) -> (%all)\n"
          "            linalg.D.ReduceSumOp [dim:0, keep_dim:false] (%all) -> (%a)\n";
      values_ = {"a"};
    } else {
      text += fmt::format("(%a:{}, %b:{}) -> (%y:{}) {{\n", type, type, type);
      values_ = {"a", "b"};
    }
    const int lines = 1 + below(5);
    for (int i = 0; i < lines; ++i) {
      const std::string result = i + 1 == lines ? "y" : fmt::format("v{}", i);
      text += "            " + line(op, result) + "\n";
      values_.push_back(result);
    }
    return text + "            cf.ReturnOp (%y) -> ()\n        }\n    }\n";
  }

  std::string module(int ops) {
    const std::string type =
        fmt::format("tensor<{}, Float32, CPU>", any_of({"[5]", "[2, 3]", "[$S, 4]", "[1, $S, 2]"}));
    std::string text =
        fmt::format("@main [mir_version:2] (%p:{}, %q:{}) -> (%z:{}) {{\n", type, type, type);
    values_ = {"p", "q"};
    const int lines = 1 + below(4);
    for (int i = 0; i < lines; ++i) {
      const int op = below(ops);
      const std::string result = i + 1 == lines ? "z" : fmt::format("w{}", i);
      const std::string by = below(2) == 0 ? "" : fmt::format("[by:{}.25] ", below(3));
      text += fmt::format("    made.Op{}Op {}({}) -> (%{})\n", op, by, operands(op), result);
      values_.push_back(result);
    }
    return text + "    cf.ReturnOp (%z) -> ()\n}\n";
  }

  std::mt19937 random_;
  std::vector<std::string> values_;
  std::vector<bool> are_many_;
};

/// The bytes of the output on fixed inputs.
std::vector<std::byte> run(const Module& module, KernelSet kernels) {
  Diagnostics diagnostics;
  SessionOptions options;
  options.kernels = kernels;
  auto session = Session::create(module, options, diagnostics);
  for (const Diagnostic& each : diagnostics.sorted()) MESSAGE(each.message);
  REQUIRE(session);
  DimBindings dims;
  dims.bind(module.context().intern("S"), 3);
  const std::vector<std::string> arguments = {"p=random:1", "q=random:2"};
  const auto inputs = load_inputs(*session, arguments, dims);
  REQUIRE(inputs);
  const auto outputs = session->run(*inputs, diagnostics);
  for (const Diagnostic& each : diagnostics.sorted()) MESSAGE(each.message);
  REQUIRE(outputs);
  const auto bytes = outputs->front().bytes();
  return {bytes.begin(), bytes.end()};
}

bool replace_all(Module& module) {
  Rewriter rewriter(module);
  Diagnostics found;
  bool has_changed = true;
  while (has_changed) {
    has_changed = false;
    walk(module, module.body(), WalkOrder::kPreOrder, [&](Op& op) {
      if (has_body(op)) has_changed |= replace_by_body(rewriter, op, found);
      return WalkResult::WALK_CONTINUE;
    });
  }
  return !found.has_errors() && verify(module, found);
}

}  // namespace

TEST_CASE("an op that runs by its body gives the bits of the body in its place") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    const std::string text = Generator(seed).text();
    CAPTURE(text);
    Declared read(text);
    REQUIRE(read.problems == "");
    Module& module = *read.modules.back();
    // What is printed is the same dialect and the same module.
    Declared again(print(*read.modules.front()) + print(module));
    REQUIRE(again.problems == "");
    CHECK(print(*again.modules.back()) == print(module));
    const auto ref = run(module, KernelSet::kRef), fast = run(module, KernelSet::kFast);
    CHECK(run(*again.modules.back(), KernelSet::kRef) == ref);
    REQUIRE(replace_all(module));
    CHECK(print(module).find("made.") == std::string::npos);
    CHECK(run(module, KernelSet::kRef) == ref);
    CHECK(run(module, KernelSet::kFast) == fast);
  }
}

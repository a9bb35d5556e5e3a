// A rewrite has one owner: what follows from the traits of a row is done by `simplify`, for all
// element types that the op takes, and by no pattern of the library.
#include <fmt/format.h>

#include <regex>

#include "known_passes.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

namespace mir::test {
namespace {

constexpr std::string_view kTypes[] = {"Float32", "BFloat16", "Int8", "Int32", "UInt16", "Bool"};

/// An op with a trait from which a rewrite follows.
struct TraitCase {
  std::string name;
  std::string head;  ///< of its example: name and attributes
  Trait trait;
  std::size_t before, after;  ///< ops of this kind
};

std::vector<TraitCase> trait_cases() {
  std::vector<TraitCase> cases;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      const auto add = [&](Trait trait, std::size_t before, std::size_t after) {
        if (!has(row.traits, trait)) return;
        std::string head(row.example.substr(0, row.example.find("(%")));
        // Of a move: to the shape that the value has.
        head = std::regex_replace(head, std::regex(R"(shape:\[[^\]]*\])"), "shape:[2, 3]");
        head = std::regex_replace(head, std::regex("device:QNN"), "device:CPU");
        cases.push_back(
            {fmt::format("{}.{}", dialect->name, row.name), head, trait, before, after});
      };
      add(Trait::kInvolution, 2, 0);
      add(Trait::kIdempotent, 2, 1);
      // A cast always changes the type.
      if (row.name != "CastOp") add(Trait::kSameBytes, 1, 0);
    }
  }
  return cases;
}

/// The op once or twice in a row; empty if it does not take the element type.
std::string module_with(const TraitCase& of, std::string_view dtype) {
  const std::string type = fmt::format("tensor<[2, 3], {}, CPU>", dtype);
  std::string ops = fmt::format("{}(%x:{}) -> (%y:{})\n", of.head, type, type);
  if (of.before == 2) ops += fmt::format("{}(%y:{}) -> (%z:{})\n", of.head, type, type);
  const std::string_view result = of.before == 2 ? "%z" : "%y";
  std::string text = fmt::format(
      "@main [mir_version:1] (%x:{1}) -> ({0}:{1}) {{\n{2}cf.ReturnOp ({0}:{1}) -> ()\n}}\n",
      result, type, ops);
  Reading reading(text);
  Diagnostics found;
  const bool is_sound = reading.errors().empty() && verify(*reading.modules.front(), found);
  return is_sound ? text : std::string();
}

std::size_t count_of(const Module& module, std::string_view name) {
  std::size_t count = 0;
  for_each_op(module, [&](const Op& op) { count += op.name() == name ? 1 : 0; });
  return count;
}

TEST_CASE("simplify applies the traits of every row, to every element type") {
  Passes known;
  const auto cases = trait_cases();
  CHECK(cases.size() > 12);
  for (const TraitCase& each : cases) {
    CAPTURE(each.name);
    std::size_t tried = 0;
    for (const std::string_view dtype : kTypes) {
      const std::string text = module_with(each, dtype);
      if (text.empty()) continue;
      CAPTURE(text);
      ++tried;
      Reading reading(text);
      CHECK(count_of(reading.module(), each.name) == each.before);
      CHECK(known.run(reading.module(), "simplify") == Lines{});
      CHECK(count_of(reading.module(), each.name) == each.after);
    }
    CHECK(tried > 0);
  }
}

TEST_CASE("no pattern of the library does what follows from a trait") {
  Passes known;
  for (const std::string_view pass : {"simplify-algebra", "simplify-shapes"}) {
    for (const TraitCase& each : trait_cases()) {
      for (const std::string_view dtype : kTypes) {
        const std::string text = module_with(each, dtype);
        if (text.empty()) continue;
        CAPTURE(pass);
        CAPTURE(text);
        Reading reading(text);
        const std::string before = print(reading.module());
        CHECK(known.run(reading.module(), pass) == Lines{});
        CHECK(print(reading.module()) == before);
      }
    }
  }
}

TEST_CASE("transposes of the same two dimensions undo each other, however they are written") {
  Passes known;
  const auto left = [&](std::string_view first, std::string_view second, std::string_view middle,
                        std::string_view dtype = "Float32") {
    const auto type = [&](std::string_view dims) {
      return fmt::format("tensor<[{}], {}, CPU>", dims, dtype);
    };
    Reading reading(
        fmt::format("@main [mir_version:1] (%x:{0}) -> (%z:{0}) {{\n"
                    "linalg.CPU.TransposeOp [{1}] (%x:{0}) -> (%y:{2})\n"
                    "linalg.CPU.TransposeOp [{3}] (%y:{2}) -> (%z:{0})\n"
                    "cf.ReturnOp (%z:{0}) -> ()\n}}\n",
                    type("3, 3, 3"), first, type(middle), second));
    CHECK(known.run(reading.module(), "simplify") == Lines{});
    return count_of(reading.module(), "linalg.TransposeOp");
  };
  CHECK(left("dim0:0, dim1:1", "dim0:0, dim1:1", "3, 3, 3") == 0);
  CHECK(left("dim0:0, dim1:1", "dim0:1, dim1:0", "3, 3, 3") == 0);
  CHECK(left("dim0:0, dim1:2", "dim0:-1, dim1:-3", "3, 3, 3") == 0);
  CHECK(left("dim0:0, dim1:2", "dim0:-1, dim1:-3", "3, 3, 3", "Int8") == 0);
  CHECK(left("dim0:0, dim1:1", "dim0:1, dim1:2", "3, 3, 3") == 2);
  // One dimension exchanged with itself is nothing.
  CHECK(left("dim0:1, dim1:-2", "dim0:0, dim1:2", "3, 3, 3") == 1);
  for (const std::string_view pass : {"simplify-algebra", "simplify-shapes"}) {
    Reading reading(
        "@main [mir_version:1] (%x:tensor<[3, 3], Float32, CPU>) -> (%z:tensor<[3, 3], Float32, "
        "CPU>) {\n"
        "linalg.CPU.TransposeOp [dim0:0, dim1:1] (%x) -> (%y:tensor<[3, 3], Float32, CPU>)\n"
        "linalg.CPU.TransposeOp [dim0:-1, dim1:0] (%y) -> (%z:tensor<[3, 3], Float32, CPU>)\n"
        "cf.ReturnOp (%z) -> ()\n}\n");
    CHECK(known.run(reading.module(), pass) == Lines{});
    CHECK(count_of(reading.module(), "linalg.TransposeOp") == 2);
  }
}

}  // namespace
}  // namespace mir::test

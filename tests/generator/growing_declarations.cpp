// Texts that grow by declared ops, types, symbols and arguments.
#include <fmt/format.h>

#include <iterator>

#include "growing_parts.hpp"

namespace mir::test {

namespace {

// -- declarations ---------------------------------------------------------------------------------

std::string dialect(std::size_t n) {
  return "@d [mir_version:2] () -> () {\n" +
         each(n,
              "dialect.OpOp @A{i}Op [aliases:[B{i}]] {{\n(%x:tensor<[$n..], T, D>) -> "
              "(%y:tensor<[$n..], T, D>) {{\nlinalg.D.SiLUOp (%x) -> (%y)\ncf.ReturnOp (%y) -> "
              "()\n}}\n}}\n") +
         "}\n";
}
std::string dialect_types(std::size_t n) {
  return "@d [mir_version:2] () -> () {\n" + each(n, "dialect.TypeOp @t{i}\n") + "}\n";
}
std::string declared_ops(std::size_t n) {
  return dialect(n) + versioned("", last(n),
                                each(n, "d.A{i}Op (%{i}) -> (%{j}:{T})\n") + "cf.ReturnOp (%" +
                                    last(n) + ") -> ()\n");
}
std::string declared_symbols(std::size_t n) {
  return "@main [mir_version:2, symbols:{" + each(n, "S{i}:{{min:1, max:64}}", ", ") + "}] (" +
         each(n, "%{i}:tensor<[$S{i}], Float32, CPU>", ", ") + ") -> (" +
         each(n, "%r{i}:tensor<[$S{i}], Float32, CPU>", ", ") + ") {\n" +
         each(n, "linalg.CPU.SiLUOp (%{i}) -> (%r{i}:tensor<[$S{i}], Float32, CPU>)\n") +
         "cf.ReturnOp (" + each(n, "%r{i}", ", ") + ") -> ()\n}\n";
}
std::string unused_symbols(std::size_t n) {
  return "@main [mir_version:2, symbols:{" + each(n, "S{i}:{{min:1, max:64}}", ", ") +
         fmt::format("}}] (%0:{0}) -> (%0:{0}) {{\ncf.ReturnOp (%0) -> ()\n}}\n", kType);
}
std::string arguments(std::size_t n) {
  return "@main [mir_version:1] (" + each(n, "%{i}:{T}", ", ") + ") -> (" +
         each(n, "%{i}:{T}", ", ") + ") {\n" + "cf.ReturnOp (" + each(n, "%{i}", ", ") +
         ") -> ()\n}\n";
}
/// Each op of the loop computes the same in each iteration, whatever the symbols are.
std::string symbols_of_a_loop(std::size_t n) {
  constexpr std::string_view kRow = "tensor<[$S0], Float32, CPU>";
  return "@main [mir_version:2, symbols:{" + each(n, "S{i}:{{min:1, max:64}}", ", ") +
         fmt::format(
             "}}] (%0:{0}, %n:tensor<[1], Int32, CPU>) -> (%r:{0}) {{\n"
             "cf.ForOp (%n, %n, %n, %0) -> (%r:{0}) {{\n"
             "(%k:tensor<[1], Int32, CPU>, %s:{0}) -> (%t:{0}) {{\n",
             kRow) +
         each(n, fmt::format("linalg.CPU.SiLUOp (%{{i}}) -> (%{{j}}:{})\n", kRow)) +
         fmt::format("linalg.CPU.AddOp (%s, %{}) -> (%t:{})\ncf.YieldOp (%t) -> ()\n}}\n}}\n", n,
                     kRow) +
         "cf.ReturnOp (%r) -> ()\n}\n";
}

constexpr GrowingText kDeclarationTexts[] = {
    {"arguments", arguments},
    {"ops of a dialect", dialect},
    {"types of a dialect", dialect_types},
    {"uses of ops of a dialect", declared_ops},
    {"declared symbols", declared_symbols},
    {"declared symbols without use", unused_symbols},
    {"declared symbols of a loop", symbols_of_a_loop},
};

}  // namespace

std::span<const GrowingText> growing_declarations() {
  return kDeclarationTexts;
}

}  // namespace mir::test

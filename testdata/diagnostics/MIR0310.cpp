// Cause: A program builds an operation without result types, and the operation has no rule that
// infers them.
//
// Fix: Use `create`, which takes the result types.
#include <doctest/doctest.h>

#include <vector>

#include "mir/dialects.hpp"
#include "mir/ops.hpp"

using namespace mir;

TEST_CASE("MIR0310: refused") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Builder builder(module, diagnostics, {});
  CHECK(builder.build("tensor.CPU.alloc", {}) == nullptr);
  REQUIRE(diagnostics.error_count() == 1);
  const Diagnostic error = diagnostics.sorted().front();
  CHECK(spelling(error.code) == "MIR0310");
  CHECK(error.message == "result types of 'tensor.CPU.alloc' cannot be inferred and must be given");
}

TEST_CASE("MIR0310: accepted") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Builder builder(module, diagnostics, {});
  const std::vector<const Type*> types = {context.tensor(std::vector{Dim(2)}, DType::kFloat32)};
  CHECK(builder.create({.name = context.op_name("tensor.CPU.alloc"), .result_types = types}) !=
        nullptr);
  CHECK_FALSE(diagnostics.has_errors());
}

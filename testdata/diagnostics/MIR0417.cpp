// Cause: An operation uses a value from a region that is not visible to it. Values outside a graph
// are not visible inside it, and the reverse. In text, such a name is undefined; only a program
// that moves operations causes this error.
//
// Fix: Pass the value as an argument of the graph, or return it.
#include <doctest/doctest.h>

#include <vector>

#include "mir/dialects.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"
#include "mir/verify.hpp"

using namespace mir;

TEST_CASE("MIR0417: refused") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Rewriter(module).set_version(1);
  const std::vector<const Type*> types = {context.tensor(std::vector{Dim(2)}, DType::kFloat32)};
  Builder builder(module, diagnostics, types);
  Value* outside = &module.body().only_block().arguments()[0];
  builder.subgraph("f", types);
  Value* inside = linalg::Neg::build(builder, outside);
  builder.return_op(std::vector{inside});
  builder.set_insertion_point_to_end(module.body().only_block());
  builder.return_op({});
  CHECK_FALSE(verify(module, diagnostics));
  REQUIRE(diagnostics.error_count() == 1);
  const Diagnostic error = diagnostics.sorted().front();
  CHECK(spelling(error.code) == "MIR0417");
  CHECK(error.message ==
        "operand 0 of 'linalg.NegOp' belongs to a region that is not seen from here");
}

TEST_CASE("MIR0417: accepted") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Rewriter(module).set_version(1);
  const std::vector<const Type*> types = {context.tensor(std::vector{Dim(2)}, DType::kFloat32)};
  Builder builder(module, diagnostics, types);
  builder.subgraph("f", types);
  Value* inside = linalg::Neg::build(builder, &builder.insertion_block()->arguments()[0]);
  builder.return_op(std::vector{inside});
  builder.set_insertion_point_to_end(module.body().only_block());
  builder.return_op({});
  CHECK(verify(module, diagnostics));
}

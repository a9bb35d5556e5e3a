// Cause: The calling program cancelled the run. Caches have their content from before the run.
//
// Fix: This is not an error. Run again to get the outputs.
#include <doctest/doctest.h>

#include <stop_token>
#include <vector>

#include "mir/dialects.hpp"
#include "mir/linalg_ops.hpp"
#include "mir/ops.hpp"
#include "mir/session.hpp"

using namespace mir;

TEST_CASE("MIR0824: refused") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Rewriter(module).set_version(1);
  const std::vector<const Type*> types = {context.tensor(std::vector{Dim(2)}, DType::kFloat32)};
  Builder builder(module, diagnostics, types);
  Value* input = &module.body().only_block().arguments()[0];
  builder.return_op(std::vector{linalg::Neg::build(builder, input)});
  auto session = Session::create(module, {}, diagnostics);
  const auto tensor = Tensor::allocate(DType::kFloat32, {2});
  REQUIRE((session && tensor));
  std::stop_source source;
  source.request_stop();
  RunOptions options;
  options.stop = source.get_token();
  CHECK_FALSE(session->run({{*tensor}}, diagnostics, options));
  REQUIRE(diagnostics.error_count() == 1);
  const Diagnostic error = diagnostics.sorted().front();
  CHECK(spelling(error.code) == "MIR0824");
  CHECK(error.message == "the run was stopped after 0 of 1 steps");
}

TEST_CASE("MIR0824: accepted") {
  IRContext context;
  register_builtin_dialects(context);
  Diagnostics diagnostics;
  Module& module = context.create_module();
  Rewriter(module).set_version(1);
  const std::vector<const Type*> types = {context.tensor(std::vector{Dim(2)}, DType::kFloat32)};
  Builder builder(module, diagnostics, types);
  Value* input = &module.body().only_block().arguments()[0];
  builder.return_op(std::vector{linalg::Neg::build(builder, input)});
  auto session = Session::create(module, {}, diagnostics);
  const auto tensor = Tensor::allocate(DType::kFloat32, {2});
  REQUIRE((session && tensor));
  CHECK(session->run({{*tensor}}, diagnostics));
}

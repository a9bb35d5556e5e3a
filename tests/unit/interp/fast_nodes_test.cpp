#include "planned.hpp"

namespace mir::test {

TEST_CASE("fast: reductions, softmax along any dimension and all rotations are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%a:tensor<[2, $S, 3, 8], Float32, CPU>, %b:tensor<[2, $S, 3, 8], Float32, CPU>, %c:tensor<[2, 3, 8], Float32, CPU>, %d:tensor<[2, $S, 3, 1], Float32, CPU>, %e:tensor<[1], Float32, CPU>, %f:tensor<[1, $S, 3, 8], Float32, CPU>, %g:tensor<[2, $S, 3, 8], Float32, CPU>, %h:tensor<[2, $S, 3, 8], Float32, CPU>) {
  linalg.CPU.VisionRoPEOp (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%a:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.MultimodalRoPEOp [input_type:BSHD] (%x:tensor<[2, $S, 3, 8], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>, %t:tensor<[$S, 4], Float32, CPU>) -> (%b:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.MeanOp [dim:1] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%c:tensor<[2, 3, 8], Float32, CPU>)
  linalg.CPU.ReduceMaxOp [dim:-1, keep_dim:true] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%d:tensor<[2, $S, 3, 1], Float32, CPU>)
  linalg.CPU.ReduceSumOp [dim:all] (%a:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%e:tensor<[1], Float32, CPU>)
  linalg.CPU.ReduceMinOp [dim:0, keep_dim:true] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%f:tensor<[1, $S, 3, 8], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:1] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%g:tensor<[2, $S, 3, 8], Float32, CPU>)
  linalg.CPU.SoftmaxOp [axis:-2] (%b:tensor<[2, $S, 3, 8], Float32, CPU>) -> (%h:tensor<[2, $S, 3, 8], Float32, CPU>)
  cf.ReturnOp (%a:tensor<[2, $S, 3, 8], Float32, CPU>, %b:tensor<[2, $S, 3, 8], Float32, CPU>, %c:tensor<[2, 3, 8], Float32, CPU>, %d:tensor<[2, $S, 3, 1], Float32, CPU>, %e:tensor<[1], Float32, CPU>, %f:tensor<[1, $S, 3, 8], Float32, CPU>, %g:tensor<[2, $S, 3, 8], Float32, CPU>, %h:tensor<[2, $S, 3, 8], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  REQUIRE(runner.session().plan() != nullptr);
  for (const std::string& name : runner.session().plan()->node_names()) {
    CHECK(name.find("(ref)") == name.npos);
  }
  const std::vector<Tensor> inputs = {pattern({2, 5, 3, 8}), pattern({5, 4})};
  check_close(runner.run(inputs), reference.run(inputs));
}

TEST_CASE("fast: choices, comparisons, conversions and elementary functions are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%w:tensor<[2, $S, 8], Float32, CPU>, %m:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %h:tensor<[2, $S, 8], Float16, CPU>, %i:tensor<[2, $S, 8], Int32, CPU>, %s:tensor<[2, $S, 8], Float32, CPU>, %c:tensor<[2, $S, 8], Float32, CPU>, %l:tensor<[2, $S, 8], Float32, CPU>) {
  linalg.CPU.EqualOp (%x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%e:tensor<[2, $S, 8], Bool, CPU>)
  linalg.CPU.WhereOp (%e:tensor<[2, $S, 8], Bool, CPU>, %x:tensor<[2, $S, 8], Float32, CPU>, %y:tensor<[1, 8], Float32, CPU>) -> (%w:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.MaskedScatterOp (%x:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %0:tensor<[1], Float32, CPU>[constant:[5]]) -> (%m:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.CastTypeOp [dtype:Float16] (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%h:tensor<[2, $S, 8], Float16, CPU>)
  linalg.CPU.CastTypeOp [dtype:Int32] (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%i:tensor<[2, $S, 8], Int32, CPU>)
  linalg.CPU.SinOp (%x:tensor<[2, $S, 8], Float32, CPU>) -> (%s:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.CosOp (%s:tensor<[2, $S, 8], Float32, CPU>) -> (%1:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.ClipOp [min_val:0.9, max_val:0.95] (%1:tensor<[2, $S, 8], Float32, CPU>) -> (%c:tensor<[2, $S, 8], Float32, CPU>)
  linalg.CPU.LogOp (%c:tensor<[2, $S, 8], Float32, CPU>) -> (%l:tensor<[2, $S, 8], Float32, CPU>)
  cf.ReturnOp (%w:tensor<[2, $S, 8], Float32, CPU>, %m:tensor<[2, $S, 8], Float32, CPU>, %e:tensor<[2, $S, 8], Bool, CPU>, %h:tensor<[2, $S, 8], Float16, CPU>, %i:tensor<[2, $S, 8], Int32, CPU>, %s:tensor<[2, $S, 8], Float32, CPU>, %c:tensor<[2, $S, 8], Float32, CPU>, %l:tensor<[2, $S, 8], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  REQUIRE(runner.session().plan() != nullptr);
  for (const std::string& name : runner.session().plan()->node_names()) {
    CHECK(name.find("(ref)") == name.npos);
  }
  // The first row of x is y, so there is something equal.
  const std::vector<Tensor> inputs = {pattern({2, 11, 8}), pattern({1, 8})};
  check_close(runner.run(inputs), reference.run(inputs));
}

TEST_CASE("fast: picking, copying into a value and filling are fast nodes") {
  const std::string text = R"(
@main [mir_version:1] (%x:tensor<[3, $S, 4], Float32, CPU>, %y:tensor<[2, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>, %j:tensor<[2], Int32, CPU>) -> (%a:tensor<[3, 2, 3, 4], Float32, CPU>, %b:tensor<[2, 3, $S, 4], Float32, CPU>, %c:tensor<[3, $S, 2], Float32, CPU>, %d:tensor<[2, 2, 2, 3], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>, %g:tensor<[3, $S, 4], Float32, CPU>, %h:tensor<[3, $S, 4], Float32, CPU>) {
  linalg.CPU.GatherOp [dim:1] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%a:tensor<[3, 2, 3, 4], Float32, CPU>)
  linalg.CPU.GatherOp [dim:0] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%b:tensor<[2, 3, $S, 4], Float32, CPU>)
  linalg.CPU.GatherOp [dim:-1] (%x:tensor<[3, $S, 4], Float32, CPU>, %j:tensor<[2], Int32, CPU>) -> (%c:tensor<[3, $S, 2], Float32, CPU>)
  linalg.CPU.IndexOp [indices:[[2, 0], {"start":1,"end":5,"step":3}, 1]] (%x:tensor<[3, $S, 4], Float32, CPU>, %i:tensor<[2, 3], Int64, CPU>) -> (%d:tensor<[2, 2, 2, 3], Float32, CPU>)
  linalg.CPU.NegOp (%x:tensor<[3, $S, 4], Float32, CPU>) -> (%n:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{"start":1,"end":3}, {"start":2,"end":3}, {}]] (%y:tensor<[2, 4], Float32, CPU>, %n:tensor<[3, $S, 4], Float32, CPU>) -> (%e:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{"start":0,"end":1}, {"start":0,"end":2}, {}]] (%y:tensor<[2, 4], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>) -> (%f:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.CopyOp [indices:[{}, {}, {"start":0,"end":4,"step":2}]] (%c:tensor<[3, $S, 2], Float32, CPU>, %f:tensor<[3, $S, 4], Float32, CPU>) -> (%g:tensor<[3, $S, 4], Float32, CPU>)
  linalg.CPU.FillOp [type:specific, value:0.75] (%n:tensor<[3, $S, 4], Float32, CPU>) -> (%h:tensor<[3, $S, 4], Float32, CPU>)
  cf.ReturnOp (%a:tensor<[3, 2, 3, 4], Float32, CPU>, %b:tensor<[2, 3, $S, 4], Float32, CPU>, %c:tensor<[3, $S, 2], Float32, CPU>, %d:tensor<[2, 2, 2, 3], Float32, CPU>, %e:tensor<[3, $S, 4], Float32, CPU>, %g:tensor<[3, $S, 4], Float32, CPU>, %h:tensor<[3, $S, 4], Float32, CPU>) -> ()
}
)";
  Runner runner(text, fast()), reference(text);
  REQUIRE(runner.session().plan() != nullptr);
  for (const std::string& name : runner.session().plan()->node_names()) {
    CHECK(name.find("(ref)") == name.npos);
  }
  const auto inputs = [](double index) {
    return std::vector<Tensor>{pattern({3, 5, 4}), pattern({2, 4}),
                               tensor(DType::kInt64, {2, 3}, {0, 2, -3, 1, 1, index}),
                               tensor(DType::kInt32, {2}, {3, -4})};
  };
  check_close(runner.run(inputs(-1)), reference.run(inputs(-1)));
  // An index that one of the tables does not have.
  CHECK(runner.error(inputs(3)) == reference.error(inputs(3)));
  CHECK(runner.error(inputs(3)).starts_with("803 "));
}

}  // namespace mir::test

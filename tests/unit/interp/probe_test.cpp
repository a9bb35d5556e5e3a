#include "mir/interp/probe.hpp"

#include "module_text.hpp"

namespace mir::test {

namespace {

/// Two activations of a graph, and one op beside.
const char* const kTwice = R"(
@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>) {
  graph.SubGraphOp @a.b <CPU> { (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
    linalg.CPU.NegOp (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%y:tensor<[2], Float32, CPU>) -> ()
  } }
  graph.CallGraphOp @a.b (%x:tensor<[2], Float32, CPU>) -> (%0:tensor<[2], Float32, CPU>)
  linalg.CPU.AbsOp (%0:tensor<[2], Float32, CPU>) -> (%12:tensor<[2], Float32, CPU>)
  graph.CallGraphOp @a.b (%12:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
  cf.ReturnOp (%2:tensor<[2], Float32, CPU>) -> ()
}
)";

bool selects(const char* patterns, const ResultPlace& place) {
  const auto probe = Probe::parse(patterns);
  REQUIRE(probe.ok());
  return probe->selects(place);
}

}  // namespace

TEST_CASE("a result has the graph it is made in, its activation, its name and its op") {
  Runner runner(kTwice);
  const ResultPlaces places(runner.session().schedule());
  CHECK(render(places.of(0, 0)) == "@a.b%y");
  CHECK(render(places.of(1, 0)) == "@main%12");
  CHECK(render(places.of(2, 0)) == "@a.b#1%y");
  CHECK(places.of(2, 0).op == "linalg.NegOp");
  Runner graph(kTwice, "a.b");
  CHECK(render(ResultPlaces(graph.session().schedule()).of(0, 0)) == "@a.b%y");
}

TEST_CASE("patterns select by value, graph and op") {
  const ResultPlace place{.graph = "model.layers.0", .value = "45", .op = "linalg.AddOp"};
  for (const char* yes : {"%45", "%4?", "%*", "@model.*", "@model.layers.0%45", "@*%45",
                          "linalg.AddOp", "*Add*", "%1,%45", "@*.0"}) {
    CAPTURE(yes);
    CHECK(selects(yes, place));
  }
  for (const char* no : {"%4", "%455", "@model", "@model.*%46", "@other%45", "Add", "%?"}) {
    CAPTURE(no);
    CHECK_FALSE(selects(no, place));
  }
  for (const char* bad : {"", "%", "@", "@a%", "@%1", "Add%1", "%1,,%2"}) {
    CAPTURE(bad);
    CHECK_FALSE(Probe::parse(bad).ok());
  }
}

TEST_CASE("a pattern that means nothing is named") {
  Runner runner(kTwice);
  const Schedule* schedules[] = {&runner.session().schedule()};
  CHECK(Probe::parse("%y,@a.*,linalg.AbsOp")->check(schedules).ok());
  const auto unknown = Probe::parse("%y,%x")->check(schedules);
  REQUIRE_FALSE(unknown.ok());
  CHECK(unknown.error().message == "no result is meant by '%x'");
}

}  // namespace mir::test

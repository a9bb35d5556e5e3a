#include "interp/probe.hpp"

#include "../plan/planned.hpp"

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
  REQUIRE(probe);
  return probe->selects(place);
}

}  // namespace

TEST_CASE("a result has the graph it is made in, its activation, its name and its op") {
  Runner runner(kTwice);
  const ResultPlaces places(runner.schedule());
  CHECK(render(places.of(0, 0)) == "@a.b%y");
  CHECK(render(places.of(1, 0)) == "@main%12");
  CHECK(render(places.of(2, 0)) == "@a.b#1%y");
  CHECK(places.of(2, 0).op == "linalg.NegOp");
  Runner graph(kTwice, "a.b");
  CHECK(render(ResultPlaces(graph.schedule()).of(0, 0)) == "@a.b%y");
}

TEST_CASE("results of ops that were inlined and fused keep their graph and activation") {
  const Runner runner(kTwice, fast());
  CHECK(runner.schedule().calls().size() == 1);
  CHECK(runner.plan().node_names() == std::vector<std::string>{"Neg + Abs + Neg"});
  const ResultPlaces places(runner.schedule());
  // What a graph returns has its name where it is called.
  CHECK(render(places.of(0, 0)) == "@a.b%0");
  CHECK(render(places.of(1, 0)) == "@main%12");
  CHECK(render(places.of(2, 0)) == "@a.b#1%2");
}

TEST_CASE("a run that fails names the calls that were inlined around the op") {
  const std::string ids = "tensor<[1], Int32, CPU>", rows = "tensor<[1, 2], Float32, CPU>";
  std::string text = "@main [mir_version:1] (%i:" + ids + ") -> (%y:" + rows + ") {\n";
  text +=
      "tensor.CPU.register () -> (%w:tensor<[4, 2], Float32, CPU>[@e.weight])[symbol:e.weight]\n";
  text.insert(text.rfind("tensor.CPU.register"), "graph.SubGraphOp @init <notype> { () -> () {\n");
  text += "} }\ngraph.SubGraphOp @in <CPU> { (%i:" + ids + ") -> (%r:" + rows + ") {\n" +
          "linalg.CPU.EmbeddingOp <name=\"e\"> [vocab_size:4, hidden_size:2] (%i) -> (%r:" + rows +
          ")\ncf.ReturnOp (%r) -> ()\n} }\n" + "graph.SubGraphOp @mid <CPU> { (%i:" + ids +
          ") -> (%r:" + rows + ") {\ngraph.CallGraphOp @in (%i) -> (%r:" + rows +
          ")\ncf.ReturnOp (%r) -> ()\n} }\ngraph.CallGraphOp @mid (%i) -> (%y:" + rows +
          ")\ncf.ReturnOp (%y) -> ()\n}\n";
  for (const RunnerOptions& options : {RunnerOptions(), fast()}) {
    Runner runner(text, options);
    Diagnostics problems;
    Tensor outside = *Tensor::allocate(DType::kInt32, {1});
    outside.as_mutable<std::int32_t>()[0] = 7;
    CHECK_FALSE(runner.session().run({&outside, 1}, problems));
    const auto found = problems.sorted();
    REQUIRE(found.size() == 1);
    const SourceFile& file = *runner.context().sources().file_of(1);
    std::vector<std::string> calls;
    for (const Note& note : found.front().notes) {
      const std::string_view rest = file.text().substr(note.at.begin - file.base());
      calls.emplace_back(rest.substr(0, rest.find(" (")));
    }
    CHECK(calls == std::vector<std::string>{"graph.CallGraphOp @in", "graph.CallGraphOp @mid"});
  }
}

TEST_CASE("what a call results in is found under the names of all calls that return it") {
  const std::string type = "tensor<[2], Float32, CPU>";
  Runner runner(
      "@main [mir_version:1] (%x:" + type + ") -> (%out:" + type + ") {\n" +
      "graph.SubGraphOp @in <CPU> { (%x:" + type + ") -> (%y:" + type + ") {\n" +
      "linalg.CPU.NegOp (%x:" + type + ") -> (%y:" + type + ")\n" + "cf.ReturnOp (%y:" + type +
      ") -> ()\n} }\n" + "graph.SubGraphOp @mid <CPU> { (%x:" + type + ") -> (%m:" + type +
      ") {\n" + "graph.CallGraphOp @in (%x:" + type + ") -> (%m:" + type + ")\n" +
      "cf.ReturnOp (%m:" + type + ") -> ()\n} }\n" + "graph.CallGraphOp @mid (%x:" + type +
      ") -> (%out:" + type + ")\n" + "graph.CallGraphOp @mid (%x:" + type + ") -> (%other:" + type +
      ")\n" + "cf.ReturnOp (%out:" + type + ") -> ()\n}\n");
  const Schedule& schedule = runner.schedule();
  const ResultPlaces places(schedule);
  REQUIRE(schedule.steps().size() == 2);
  std::vector<std::string> names;
  for (std::size_t step = 0; step < 2; ++step) {
    for (const ResultPlace& place : places.of_calls(step, 0)) {
      CHECK(place.op == "graph.CallGraphOp");
      names.push_back(render(place));
    }
  }
  CHECK(names == std::vector<std::string>{"@mid%m", "@main%out", "@mid#1%m", "@main%other"});
  const auto probe = Probe::parse("@main%out");
  REQUIRE(probe);
  const auto first = probe->selected(places, 0, 0);
  REQUIRE(first.has_value());
  CHECK(render(*first) == "@main%out");
  CHECK_FALSE(probe->selected(places, 1, 0).has_value());
  CHECK(render(*Probe::parse("%y,%out")->selected(places, 0, 0)) == "@in%y");
  const Schedule* const schedules[] = {&schedule};
  CHECK(probe->check(schedules));
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
    CHECK_FALSE(Probe::parse(bad));
  }
}

TEST_CASE("a pattern that means nothing is named") {
  Runner runner(kTwice);
  const Schedule* schedules[] = {&runner.schedule()};
  CHECK(Probe::parse("%y,@a.*,linalg.AbsOp")->check(schedules));
  const auto unknown = Probe::parse("%y,%x")->check(schedules);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message == "no result is meant by '%x'");
}

}  // namespace mir::test

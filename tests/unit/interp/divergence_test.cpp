#include "interp/divergence.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "interp/dump.hpp"
#include "interp/run_report.hpp"
#include "mir/codes/runs.hpp"
#include "module_text.hpp"
#include "weights/write_tensors.hpp"

namespace mir::test {

namespace {

/// A chain of ops on [2, $S] with `first` and `second` in its middle.
std::string chain(const std::string& name, const std::string& middle) {
  const std::string type = ":tensor<[2, $S], Float32, CPU>";
  return "@" + name + " [mir_version:1] (%x" + type + ") -> (%y" + type + ") {\n" +
         "linalg.CPU.SiLUOp (%x" + type + ") -> (%a" + type + ")\n" + middle +
         "linalg.CPU.MulOp (%c" + type + ", %x" + type + ") -> (%d" + type + ")\n" +
         "linalg.CPU.ExpOp (%d" + type + ") -> (%y" + type + ")\n" + "cf.ReturnOp (%y" + type +
         ") -> ()\n}\n";
}

std::string unary(const std::string& op, const std::string& from, const std::string& to) {
  const std::string type = ":tensor<[2, $S], Float32, CPU>";
  return "linalg.CPU." + op + " (%" + from + type + ") -> (%" + to + type + ")\n";
}

/// Two sessions in one context, compared over one run.
struct Pair {
  Pair(const std::string& first, const std::string& second, const ComparisonRules& rules = {}) {
    register_builtin_dialects(context);
    for (const std::string& text : {first, second}) {
      const SourceFile* file = context.sources().add("test.mir", text);
      const auto modules = read_modules(*file, context, problems);
      for (const std::string& each : errors_of(problems)) MESSAGE(each);
      REQUIRE(modules.size() == 1);
      REQUIRE(verify(*modules[0], problems));
      sessions.push_back(*Session::create(*modules[0], {}, problems));
    }
    auto made = search_against(sessions[1], sessions[0], rules, problems);
    REQUIRE(made);
    search = *std::move(made);
  }

  bool run(const std::vector<Tensor>& inputs) {
    RunOptions options;
    options.observe = [&](const StepResults& step) { return search->observe(step); };
    REQUIRE(search->begin(0, 0, inputs));
    return sessions[0].run(inputs, problems, options).has_value() && search->end();
  }

  IRContext context;
  Diagnostics problems;
  std::vector<Session> sessions;
  std::unique_ptr<DivergenceSearch> search;
};

std::vector<Tensor> some_inputs() {
  return {floats({2, 3}, {0.1, -0.2, 0.3, 2, -3, 0.5})};
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "mir-dump-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// Dumps every result of a run.
void dump_run(Session& session, const std::string& folder, Diagnostics& problems) {
  auto writer = DumpWriter::create(folder);
  REQUIRE(writer);
  const ResultPlaces places(SessionAccess::schedule(session));
  RunOptions options;
  options.observe = [&](const StepResults& step) -> Result<void> {
    for (std::uint32_t i = 0; i < step.results.size(); ++i) {
      auto added = writer->add(0, places.of(step.step, i), step.results[i]);
      if (!added) return added;
    }
    return {};
  };
  REQUIRE(session.run(some_inputs(), problems, options).has_value());
  REQUIRE(writer->finish());
}

}  // namespace

TEST_CASE("runs of one module agree in all bits") {
  const std::string text = chain("one", unary("GELUOp", "a", "c"));
  Pair pair(text, text);
  CHECK(pair.run(some_inputs()));
  CHECK(pair.search->counts().equal_bits == 4);
  CHECK_FALSE(pair.search->found().has_value());
}

TEST_CASE("the first op that differs on equal operands is found, not those after it") {
  Pair pair(chain("one", unary("GELUOp", "a", "c")), chain("two", unary("QuickGELUOp", "a", "c")));
  CHECK_FALSE(pair.run(some_inputs()));
  REQUIRE(pair.search->found().has_value());
  const ComparedResult& found = *pair.search->found();
  CHECK(found.step == 1);
  CHECK(found.op->is(OpId::kLinalgGELU));
  CHECK(found.other_op->is(OpId::kLinalgQuickGELU));
  CHECK(render(found.place) == "@one%c");
  REQUIRE(found.comparison.has_value());
  CHECK(found.comparison->over_tolerance > 0);
  CHECK(errors_of(pair.problems).at(0).starts_with("826 'GELUOp' is the first op whose operands"));
}

TEST_CASE("differences within the tolerance are not passed on") {
  // The other module adds 1e-7 at one op; after it both runs see the same operands.
  const std::string type = ":tensor<[2, $S], Float32, CPU>";
  const std::string nudge = "linalg.CPU.AddOp (%a" + type +
                            ", %n:tensor<[1], Float32, CPU>[constant:[1e-7]]) -> (%c" + type +
                            ")\n";
  const std::string still = "linalg.CPU.AddOp (%a" + type +
                            ", %n:tensor<[1], Float32, CPU>[constant:[0]]) -> (%c" + type + ")\n";
  Pair pair(chain("one", still), chain("two", nudge));
  CHECK(pair.run(some_inputs()));
  CHECK(pair.search->counts().equal_bits == 3);
  CHECK(pair.search->counts().within_tolerance == 1);
  TolerancePolicy exact;
  REQUIRE(exact.add("exact"));
  Pair strict(chain("one", still), chain("two", nudge), {.tolerances = exact});
  CHECK_FALSE(strict.run(some_inputs()));
  CHECK(strict.search->found()->step == 1);
}

TEST_CASE("steps without a partner are stepped over") {
  const std::string plain = chain("one", unary("GELUOp", "a", "c"));
  const std::string longer =
      chain("one", unary("NegOp", "a", "m") + unary("NegOp", "m", "n") + unary("GELUOp", "n", "c"));
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    Pair pair(swapped ? longer : plain, swapped ? plain : longer);
    CHECK(pair.run(some_inputs()));
    CHECK(pair.search->counts().equal_bits == 4);
    CHECK(pair.search->counts().without_partner == (swapped ? 2 : 0));
  }
}

TEST_CASE("steps between others without a partner are paired") {
  // Of Neg, Exp and Sin, Neg, Cos only Neg is common.
  const auto middle = [](const std::string& head, const std::string& tail) {
    return head + unary("NegOp", "a", "m") + unary(tail, "m", "t") +
           "linalg.CPU.MulOp (%a:tensor<[2, $S], Float32, CPU>, %a:tensor<[2, $S], Float32, CPU>) "
           "-> "
           "(%c:tensor<[2, $S], Float32, CPU>)\n";
  };
  const std::string one = chain("one", middle("", "ExpOp"));
  const std::string two = chain("one", middle(unary("SinOp", "a", "h"), "CosOp"));
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    Pair pair(swapped ? two : one, swapped ? one : two);
    CHECK(pair.run(some_inputs()));
    CHECK(pair.search->counts().without_partner == (swapped ? 2 : 1));
  }
}

TEST_CASE("a result of other extents diverges") {
  const std::string in = "@m [mir_version:1] (%x:tensor<[4, 2], Float32, CPU>) -> ";
  const auto sums = [&](int dim, const std::string& type) {
    return in + "(%y:" + type + ") {\nlinalg.CPU.ReduceSumOp [dim:" + std::to_string(dim) +
           "] (%x:tensor<[4, 2], Float32, CPU>) -> (%y:" + type + ")\ncf.ReturnOp (%y:" + type +
           ") -> ()\n}\n";
  };
  Pair pair(sums(0, "tensor<[2], Float32, CPU>"), sums(1, "tensor<[4], Float32, CPU>"));
  CHECK_FALSE(pair.run({floats({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8})}));
  CHECK(pair.search->found()->difference == "it is Float32 [2], the other Float32 [4]");
}

TEST_CASE("caches of both runs stay equal over many runs") {
  Text text(kAttention);
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  Diagnostics problems;
  SessionOptions options;
  options.weights = &weights;
  auto first = Session::create(*text.module, options, problems);
  options.share_parameters = &*first;
  options.weights = nullptr;
  auto second = Session::create(*text.module, options, problems);
  REQUIRE(second.has_value());
  auto search = search_against(*second, *first, {}, problems);
  REQUIRE(search);
  RunOptions run;
  run.observe = [&](const StepResults& step) { return (*search)->observe(step); };
  for (std::size_t i = 0; i < 3; ++i) {
    const std::vector<Tensor> inputs = {floats({1, 1, 4}, {1, 2, 3, static_cast<double>(i)})};
    REQUIRE((*search)->begin(i, 0, inputs));
    REQUIRE(first->run(inputs, problems, run).has_value());
    REQUIRE((*search)->end());
  }
  CHECK(second->cache_length("kv") == 3);
  CHECK((*search)->counts().equal_bits == 3 * 14);
}

TEST_CASE("a dump is found again and its first other value is named") {
  const Folder folder;
  Pair pair(chain("one", unary("GELUOp", "a", "c")), chain("one", unary("QuickGELUOp", "a", "c")));
  dump_run(pair.sessions[0], folder.path(), pair.problems);
  const auto dump = RecordedResults::open_folder(folder.path());
  REQUIRE(dump);
  CHECK(dump->unused().size() == 4);
  for (const bool planted : {false, true}) {
    CAPTURE(planted);
    Session& session = pair.sessions[planted ? 1 : 0];
    const auto search = search_against(*dump, session, {});
    RunOptions options;
    options.observe = [&](const StepResults& step) { return search->observe(step); };
    REQUIRE(search->begin(0, 0, some_inputs()));
    CHECK(session.run(some_inputs(), pair.problems, options).has_value() == !planted);
    CHECK(search->counts().equal_bits == (planted ? 1 : 4));
    if (planted) CHECK(search->found()->place.value == "c");
  }
  const auto none = search_against(*dump, pair.sessions[0], {});
  RunOptions options;
  options.observe = [&](const StepResults& step) { return none->observe(step); };
  REQUIRE(none->begin(1, 0, some_inputs()));  // the dump has no such run
  CHECK(pair.sessions[0].run(some_inputs(), pair.problems, options).has_value());
  CHECK(none->counts().without_partner == 4);
}

TEST_CASE("a dump keeps types that NPY lacks") {
  const Folder folder;
  auto writer = DumpWriter::create(folder.path());
  REQUIRE(writer);
  const ResultPlace place{.graph = "g", .value = "v", .op = "linalg.NegOp"};
  const Tensor brain = tensor(DType::kBFloat16, {2, 1}, {1.5, -2});
  REQUIRE(writer->add(0, place, brain));
  CHECK_FALSE(RecordedResults::open_folder(folder.path()));  // not finished
  REQUIRE(writer->finish());
  const auto found = RecordedResults::open_folder(folder.path())->find(0, place, {});
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((*found)->tensor.dtype() == DType::kBFloat16);
  CHECK((*found)->tensor.shape() == Shape{2, 1});
  CHECK(values_of((*found)->tensor) == std::vector<double>{1.5, -2});
  CHECK(DumpWriter::create(folder.path()));
  CHECK_FALSE(RecordedResults::open_folder(folder.path()));  // the index of the last dump is gone
}

TEST_CASE("an index that is none is refused") {
  const Folder folder;
  const auto refused = [&](const std::string& text) {
    std::ofstream(folder.path() + "/index.json") << text;
    const auto dump = RecordedResults::open_folder(folder.path());
    REQUIRE_FALSE(dump);
    return dump.error().code == diag::kDumpMalformed;
  };
  const std::string value = R"({"value": "1", "file": "a.npy", "dtype": "Float32", "shape": [1]})";
  for (
      const std::string& text :
      {std::string(), std::string("[]"), std::string(R"({"schema": 2, "values": []})"),
       std::string(R"({"schema": 1, "values": {}})"),
       std::string(R"({"schema": 1, "values": [1]})"),
       R"({"schema": 1, "values": [)" + value + "," + value + "]}",
       std::string(
           R"({"schema": 1, "values": [{"value": "1", "file": "a", "dtype": "F", "shape": []}]})"),
       std::string(
           R"({"schema": 1, "values": [{"value": "1", "file": "a", "dtype": "Bool", "shape": [-1]}]})")}) {
    CAPTURE(text);
    CHECK(refused(text));
  }
}

TEST_CASE("a comparison to the end has every result, with equal operands or own ones") {
  const std::string first = chain("one", unary("GELUOp", "a", "c"));
  const std::string second = chain("two", unary("QuickGELUOp", "a", "c"));
  for (const Continuation continuation : {Continuation::kShared, Continuation::kOwn}) {
    const bool shares = continuation == Continuation::kShared;
    CAPTURE(shares);
    Pair pair(first, second, {.continuation = continuation});
    CHECK(pair.run(some_inputs()));
    const auto& results = pair.search->results();
    REQUIRE(results.size() == 4);
    CHECK(results[0].agrees());
    CHECK_FALSE(results[1].agrees());
    CHECK(results[1].comparison->sqnr.value < 60);
    // After the difference, results agree only if their operands do.
    CHECK(results[2].agrees() == shares);
    CHECK(pair.search->counts().beyond_tolerance == (shares ? 1 : 3));
    REQUIRE(pair.search->found().has_value());
    CHECK(pair.search->found()->place.value == "c");
  }
}

TEST_CASE("results of layers are found in a tensor file, with extents of 1 or without") {
  const Folder folder;
  const std::string text =
      "@m [mir_version:2] (%x:tensor<[1, 2], Float32, CPU>) -> (%z:tensor<[1, 2], Float32, CPU>) "
      "{\n"
      "graph.SubGraphOp @half <CPU> { (%a:tensor<[1, 2], Float32, CPU>) -> (%c:tensor<[1, 2], "
      "Float32, CPU>) {\n"
      "linalg.CPU.SiLUOp <name=\"half.act\"> (%a) -> (%b)\n"
      "linalg.CPU.NegOp (%b) -> (%c)\ncf.ReturnOp (%c) -> ()\n} }\n"
      "graph.CallGraphOp @half (%x) -> (%y)\nlinalg.CPU.NegOp (%y) -> (%z)\n"
      "cf.ReturnOp (%z) -> ()\n}\n";
  const Text module(text);
  Diagnostics problems;
  REQUIRE(verify(*module.module, problems));
  auto session = Session::create(*module.module, {}, problems);
  REQUIRE(session);
  const std::vector<Tensor> inputs = {floats({1, 2}, {1, 0})};
  const double act = 0.7310585786300049;
  const std::string path = folder.path() + "/captured.safetensors";
  const std::vector<NamedTensor> captured = {{"half.act", floats({2}, {act, 0})},
                                             {"half", floats({1, 2}, {-act, -0.0})},
                                             {"half#1", floats({1, 2}, {5, 5})},
                                             {"other", floats({1}, {1})}};
  REQUIRE(write_tensors(path, TensorFormat::kSafetensors, plans_of(captured)));
  const auto recorded = RecordedResults::open_file(path);
  REQUIRE(recorded);
  const auto search = search_against(*recorded, *session, {});
  RunOptions options;
  options.observe = [&](const StepResults& step) { return search->observe(step); };
  REQUIRE(search->begin(0, 0, inputs));
  CHECK(session->run(inputs, problems, options).has_value());
  CHECK(search->counts().equal_bits + search->counts().within_tolerance == 2);
  CHECK(search->counts().without_partner == 1);
  CHECK(recorded->unused() == std::vector<std::string>{"half#1", "other"});
  REQUIRE(search->begin(1, 0, inputs));
  CHECK_FALSE(session->run(inputs, problems, options).has_value());
  CHECK(search->found()->place.value == "c");
}

TEST_CASE("codes of a device are compared as numbers with floats, as codes with integers") {
  const Folder folder;
  std::ofstream(folder.path() + "/out.raw", std::ios::binary).write("\x83\x7d", 2);
  const std::string head = R"({"schema": 1, "values": [{"layer": "act", "dtype": "UInt8", )";
  std::ofstream(folder.path() + "/index.json")
      << head << R"("shape": [2], "scale": 0.25, "zero_point": 128, "file": "out.raw"}]})";
  const auto recorded = RecordedResults::open_folder(folder.path());
  REQUIRE(recorded);
  const std::vector<std::string> layers = {"none", "act"};
  const auto found = recorded->find(0, {.graph = "m", .value = "1", .op = {}}, layers);
  REQUIRE(found);
  REQUIRE(found->has_value());
  CHECK((*found)->tensor.dtype() == DType::kUInt8);
  CHECK(values_of(*(*found)->numbers()) == std::vector<double>{0.75, -0.75});
  CHECK(recorded->unused().empty());
  // A file of another size is an error of the folder.
  std::ofstream(folder.path() + "/out.raw", std::ios::binary).write("abc", 3);
  const auto damaged = recorded->find(0, {.graph = "m", .value = "1", .op = {}}, layers);
  REQUIRE_FALSE(damaged);
  CHECK(damaged.error().code == diag::kDumpMalformed);
}

TEST_CASE("codes may have a scale for each index of an axis") {
  const Folder folder;
  std::ofstream(folder.path() + "/out.raw", std::ios::binary).write("\1\2\3\4\5\6", 6);
  const std::vector<std::string> layers = {"act"};
  const auto numbers = [&](const std::string& rest) -> Result<std::vector<double>> {
    std::ofstream(folder.path() + "/index.json")
        << R"({"schema": 1, "values": [{"layer": "act", "dtype": "UInt8", "file": "out.raw", )"
        << rest << "}]}";
    const auto recorded = RecordedResults::open_folder(folder.path());
    if (!recorded) return recorded.error();
    const auto found = recorded->find(0, {.graph = "m", .value = "1", .op = {}}, layers);
    REQUIRE(found);
    return values_of(*(*found)->numbers());
  };
  const auto rows = numbers(R"("shape": [2, 3], "scale": [1, 10], "zero_point": [0, 1])");
  REQUIRE(rows);
  CHECK(*rows == std::vector<double>{1, 2, 3, 30, 40, 50});
  const auto columns = numbers(R"("shape": [2, 3], "scale_axis": 1, "scale": [1, 2, 4])");
  REQUIRE(columns);
  CHECK(*columns == std::vector<double>{1, 4, 12, 4, 10, 24});
  const auto middle =
      numbers(R"("shape": [1, 3, 2], "scale_axis": 1, "scale": [1, 2, 4], "zero_point": 1)");
  REQUIRE(middle);
  CHECK(*middle == std::vector<double>{0, 1, 4, 6, 16, 20});
  for (const char* const wrong :
       {R"("shape": [2, 3], "scale": [1, 2, 4])",
        R"("shape": [2, 3], "scale_axis": 2, "scale": [1, 2])",
        R"("shape": [2, 3], "scale": [1, 2], "zero_point": [1, 2, 3])",
        R"("shape": [2, 3], "scale": [1, 0])", R"("shape": [2, 3], "scale": [])",
        R"("shape": [2, 3], "scale": "1")"}) {
    CAPTURE(wrong);
    const auto refused = numbers(wrong);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == diag::kDumpMalformed);
  }
}

}  // namespace mir::test

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>

#include "interp/describe.hpp"
#include "interp/summary.hpp"
#include "mir/session.hpp"
#include "module_text.hpp"
#include "weights/formats/npy.hpp"
#include "weights/formats/npz.hpp"

namespace mir::test::ports_test {

using Values = std::vector<double>;
using Arguments = std::vector<std::string>;

namespace {

const char* const kLookUp = R"(
@main [mir_version:1] (%ids:tensor<[1, $S], Int64, CPU>, %7:tensor<[1, $S, 2], Float32, CPU>) -> (%y:tensor<[1, $S, 2], Float32, CPU>, %ids:tensor<[1, $S], Int64, CPU>) {
  graph.SubGraphOp @init <CPU> { () -> () {
    tensor.CPU.register () -> (%w:tensor<[5, 2], Float32, CPU>[@e.weight])[symbol:e.weight]
  } }
  linalg.CPU.EmbeddingOp <name="e"> [vocab_size:5, hidden_size:2] (%ids:tensor<[1, $S], Int64, CPU>) -> (%t:tensor<[1, $S, 2], Float32, CPU>)
  linalg.CPU.AddOp (%t:tensor<[1, $S, 2], Float32, CPU>, %7:tensor<[1, $S, 2], Float32, CPU>) -> (%y:tensor<[1, $S, 2], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, $S, 2], Float32, CPU>, %ids:tensor<[1, $S], Int64, CPU>) -> ()
}
)";

template <class T>
std::string error_of(const Result<T>& result) {
  REQUIRE_FALSE(result);
  return std::to_string(static_cast<int>(result.error().code)) + " " + result.error().message;
}

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "mir-interp-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("ports are named, numbered by id or counted") {
  Runner runner(kLookUp);
  const auto ports = runner.session().inputs();
  REQUIRE(ports.size() == 2);
  CHECK(*find_port(ports, "ids", "input") == 0);
  CHECK(*find_port(ports, "%ids", "input") == 0);
  CHECK(*find_port(ports, "%7", "input") == 1);
  CHECK(*find_port(ports, "1", "input") == 1);
  CHECK(error_of(find_port(ports, "7", "input")) == "819 no input is '7'; there are: '%ids', '%7'");
  CHECK(error_of(find_port(ports, "", "input")) ==
        "819 there are 2 inputs, say which is meant: '%ids', '%7'");
  CHECK(*find_port(std::span(ports).first(1), "", "input") == 0);
}

TEST_CASE("an input with extents of its own binds those that the others need") {
  Runner runner(kLookUp);
  const auto inputs = load_inputs(runner.session(), Arguments{"%7=zeros", "ids=[[4, 0, 1]]"}, {});
  REQUIRE(inputs);
  CHECK(values_of(inputs->at(0)) == Values{4, 0, 1});
  CHECK(inputs->at(1).shape() == Shape{1, 3, 2});
  CHECK(runner.run(*inputs)[0].shape() == Shape{1, 3, 2});
}

TEST_CASE("random integers stay inside the table that they index") {
  Runner runner(kLookUp);
  DimBindings dims;
  REQUIRE(add_binding(dims, runner.context(), "S=64"));
  const auto inputs = load_inputs(runner.session(), Arguments{"0=random:3", "1=zeros"}, dims);
  REQUIRE(inputs);
  const TensorSummary summary = summarise(inputs->at(0));
  CHECK(summary.min == 0);
  CHECK(summary.max == 4);
  runner.run(*inputs);
}

TEST_CASE("inputs that are missing, given twice or without extents are refused") {
  Runner runner(kLookUp);
  const Session& session = runner.session();
  CHECK(error_of(load_inputs(session, Arguments{"ids=[[1]]"}, {})) ==
        "820 input 1 '%7' (tensor<[1, $S, 2], Float32, CPU>) has no value; give "
        "--input=1=FILE.npy, or random:1, zeros or a number for FILE.npy");
  CHECK(error_of(load_inputs(session, Arguments{"ids=[[1]]", "0=[[1]]"}, {})) ==
        "820 input '%ids' is given twice");
  CHECK(error_of(load_inputs(session, Arguments{"*=zeros", "ids=[[1]]", "*=iota"}, {})) ==
        "820 '*' is given twice: it is each input that no other argument names");
  CHECK(error_of(load_inputs(session, Arguments{"ids=zeros", "1=zeros"}, {})) ==
        "822 input '%ids' is tensor<[1, $S], Int64, CPU>: $S in it needs a value; give --bind=S=N");
  CHECK(error_of(load_inputs(session, Arguments{"ids=[[1]]", "1=[1, 2, 3]"}, {})) ==
        "607 input '%7': 3 values nested as [3], declared is tensor<[1, $S, 2], Float32, CPU> with "
        "extents [1, 1, 2]");
  CHECK(error_of(load_inputs(session, Arguments{"ids=[1, 2]", "1=zeros"}, {})) ==
        "607 input '%ids': 2 values nested as [2], declared is tensor<[1, $S], Int64, CPU>");
  CHECK(
      error_of(load_inputs(session, Arguments{"ids=nothing", "1=zeros"}, {})).starts_with("608 "));
}

TEST_CASE("one argument gives all inputs that no other names") {
  Runner runner(kLookUp);
  for (const Arguments& each :
       {Arguments{"ids=[[1]]", "*=iota"}, Arguments{"*=iota", "ids=[[1]]"}}) {
    const auto given = load_inputs(runner.session(), each, {});
    const auto named = load_inputs(runner.session(), Arguments{"ids=[[1]]", "1=iota"}, {});
    REQUIRE(given);
    REQUIRE(named);
    REQUIRE(given->size() == named->size());
    for (std::size_t i = 0; i < given->size(); ++i) {
      CHECK(std::ranges::equal((*given)[i].bytes(), (*named)[i].bytes()));
    }
  }
}

TEST_CASE("an extent beyond 64 bits has another error than one without a value") {
  Runner runner(
      "@main [mir_version:1] (%x:tensor<[$S*$S], Float32, CPU>) -> () {\n"
      "cf.ReturnOp () -> ()\n}\n");
  DimBindings dims;
  REQUIRE(add_binding(dims, runner.context(), "S=4294967296"));
  CHECK(error_of(load_inputs(runner.session(), Arguments{"zeros"}, dims)) ==
        "822 input '%x' is tensor<[$S*$S], Float32, CPU>: an extent of it divides by 0 or does not "
        "fit 64 bits");
}

TEST_CASE("symbols that no extent of the module has are named") {
  Runner runner(kLookUp);
  const Module& module = runner.schedule().module();
  DimBindings dims;
  REQUIRE(add_binding(dims, runner.context(), "S=1"));
  CHECK(check_bindings(dims, module));
  REQUIRE(add_binding(dims, runner.context(), "T=1"));
  CHECK(error_of(check_bindings(dims, module)) ==
        "900 no extent of module 'main' has '$T'; it has $S; did you mean '$S'?");
}

TEST_CASE("symbols are found beside entries of annotations that are empty") {
  Runner runner(
      "@main [mir_version:1] (%x:tensor<[$S], Int8, CPU>) -> (%y:tensor<[$S], Int8, CPU>) {\n"
      "linalg.CPU.CopyOp [quant_recipe:QuantAnnotation(inputs_0:QuantSpec(Raw(type: Int8), "
      "uuid=4), , )] (%x, %x) -> (%y)\ncf.ReturnOp (%y) -> ()\n}\n");
  CHECK(extent_symbols(runner.schedule().module()) == std::vector<std::string>{"S"});
}

TEST_CASE("bindings are a name and an extent") {
  IRContext context;
  DimBindings dims;
  REQUIRE(add_binding(dims, context, "$S=16"));
  CHECK(add_binding(dims, context, "S=16"));
  CHECK(dims.find(context.intern("S")) == 16);
  for (const char* bad : {"S", "=3", "S=", "S=x", "S=-1", "S=17", "S=1 "}) {
    CAPTURE(bad);
    CHECK(error_of(add_binding(dims, context, bad)).starts_with("900 "));
  }
}

TEST_CASE("outputs go to files and come back as expectations") {
  const Folder folder;
  Runner runner(kLookUp);
  const Session& session = runner.session();
  const auto ports = session.outputs();
  const auto outputs = runner.run(*load_inputs(session, Arguments{"ids=[[4, 0]]", "1=iota"}, {}));
  const std::string all = folder.file("all.npz"), one = folder.file("one.npy");
  const auto files = parse_output_files(ports, Arguments{all, "ids=" + one});
  REQUIRE(files);
  REQUIRE(write_outputs(ports, *files, outputs));
  const auto expected = parse_expectations(
      ports, Arguments{"y=" + all + ":y", "ids=" + one, "1=[[4, 0]]", "y=" + all + ":z"});
  REQUIRE(expected);
  REQUIRE(expected->size() == 4);
  CHECK(expected->at(0).port == 0);
  const auto hash = [&](std::size_t i) {
    const auto tensor = load_expected(ports, expected->at(i), outputs[expected->at(i).port]);
    REQUIRE(tensor);
    return hash_bytes(*tensor);
  };
  CHECK(hash(0) == hash_bytes(outputs[0]));
  CHECK(hash(1) == hash_bytes(outputs[1]));
  CHECK(hash(2) == hash_bytes(outputs[1]));
  CHECK(error_of(load_expected(ports, expected->at(3), outputs[0])).starts_with("606 "));
  CHECK(error_of(parse_output_files(ports, Arguments{one})).starts_with("819 "));
  CHECK(error_of(parse_output_files(ports, Arguments{"y=out.txt"})).starts_with("608 "));
  CHECK(error_of(parse_expectations(ports, Arguments{"z=zeros"})).starts_with("819 "));
}

TEST_CASE("a summary tells range, mean and NaNs, and its hash tells bits apart") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const TensorSummary summary = summarise(floats({1, 4}, {1, -2, nan, 4}));
  CHECK(render(summary).starts_with("Float32 [1, 4], min -2, max 4, mean 1, 1 NaN, hash "));
  CHECK(hash_bytes(floats({1}, {0.0})) != hash_bytes(floats({1}, {-0.0})));
  CHECK(render(summarise(floats({0}, {}))).starts_with("Float32 [0], min 0, max 0, mean 0, hash "));
}

TEST_CASE("a summary of many elements has their exact moments") {
  std::vector<double> values(5000);
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 97) - 20 + (i > 3000 ? 1000 : 0);
    sum += values[i];
  }
  const double mean = sum / 5000;
  for (const double value : values) squares += (value - mean) * (value - mean);
  values.push_back(std::numeric_limits<double>::infinity());
  values.push_back(std::numeric_limits<double>::quiet_NaN());
  const TensorSummary summary = summarise(tensor(DType::kFloat64, {5002}, values));
  CHECK(summary.deviation == doctest::Approx(std::sqrt(squares / 5000)).epsilon(1e-12));
  CHECK(summary.infinities == 1);
  CHECK(summary.nans == 1);
  CHECK(summary.zeros == 31);
  CHECK(summary.min == -20);
  const TensorSummary whole =
      summarise(tensor(DType::kInt16, {3000}, std::vector<double>(3000, -7)));
  CHECK(whole.mean == -7);
  CHECK(whole.deviation == 0);
}

TEST_CASE("the largest elements of the last row are ranked") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto row = top_elements(floats({2, 4}, {9, 9, 9, 9, nan, 1, 3, 3}), 3);
  REQUIRE(row);
  REQUIRE(row->size() == 3);
  CHECK(row->at(0).index == 2);
  CHECK(row->at(1).index == 3);
  CHECK(row->at(2).index == 1);
  CHECK(top_elements(floats({1}, {5}), 9)->size() == 1);
  auto whole = Tensor::allocate(DType::kInt64, {3});
  REQUIRE(whole);
  constexpr std::int64_t kLarge = std::int64_t{1} << 53;
  std::ranges::copy(std::array{kLarge, kLarge + 1, kLarge - 1},
                    whole->as_mutable<std::int64_t>().begin());
  const auto exact = top_elements(*whole, 2);
  REQUIRE(exact);
  CHECK(exact->at(0).index == 1);
  CHECK(exact->at(0).value == ElementNumber(kLarge + 1));
  CHECK(exact->at(1).index == 0);
  CHECK_FALSE(top_elements(floats({0}, {}), 1));
  CHECK_FALSE(top_elements(floats({}, {1}), 1));
}

TEST_CASE("a description lists what a run needs without running") {
  Text text(kAttention);
  Diagnostics problems;
  const auto schedule = Schedule::build(*text.module, "", problems);
  REQUIRE(schedule.has_value());
  const Description open = describe(*schedule, {});
  REQUIRE(open.inputs.size() == 1);
  CHECK(open.inputs[0].name == "x");
  CHECK_FALSE(open.inputs[0].bytes.has_value());
  CHECK_FALSE(open.memory.has_value());
  REQUIRE(open.symbols.size() == 2);
  CHECK(open.symbols[0].name == "S");
  CHECK(open.symbols[0].origin == "input 0 '%x'");
  CHECK(open.symbols[1].origin == "length of cache '@kv'");
  REQUIRE(open.parameters.size() == 3);
  CHECK(open.parameters[0].bytes == 64);
  REQUIRE(open.caches.size() == 1);
  CHECK(open.caches[0].capacity == 6);
  CHECK(open.steps == 13);
  CHECK(open.calls == 1);
  DimBindings dims;
  REQUIRE(add_binding(dims, text.context, "S=2"));
  REQUIRE(add_binding(dims, text.context, "past=0"));
  const Description bound = describe(*schedule, dims);
  CHECK(bound.inputs[0].bytes == 32);
  REQUIRE(bound.memory.has_value());
  CHECK(render(bound) == test::Part{"  2 linalg.LinearOp\n"});
  CHECK(to_json(bound) == test::Part{"\"schema\": 1"});
  CHECK(to_json(open) == test::Part{"\"memory\": null"});
}

TEST_CASE("a description shows sizes in units of 1024") {
  const auto size_of = [](std::int64_t bytes) {
    const std::string type = "tensor<[" + std::to_string(bytes) + "], Int8, CPU>";
    Text text("@main [mir_version:1] (%x:" + type + ") -> () {\ncf.ReturnOp () -> ()\n}\n");
    Diagnostics problems;
    const auto schedule = Schedule::build(*text.module, "", problems);
    REQUIRE(schedule.has_value());
    const std::string all = render(describe(*schedule, {}));
    const auto from = all.find(">  ") + 3;
    return all.substr(from, all.find('\n', from) - from);
  };
  CHECK(size_of(0) == "0 B");
  CHECK(size_of(1023) == "1023 B");
  CHECK(size_of(1024) == "1.0 KiB");
  CHECK(size_of(1536) == "1.5 KiB");
  CHECK(size_of((std::int64_t{1} << 20) - 1) == "1024.0 KiB");
  CHECK(size_of(std::int64_t{1} << 20) == "1.0 MiB");
  CHECK(size_of(std::int64_t{1} << 30) == "1.0 GiB");
  CHECK(size_of(std::int64_t{1} << 40) == "1.0 TiB");
  CHECK(size_of(std::int64_t{1} << 50) == "1.0 PiB");
  CHECK(size_of(std::int64_t{1} << 60) == "1.0 EiB");
  CHECK(size_of(std::int64_t{1} << 62) == "4.0 EiB");
}

TEST_CASE("a description counts each op, symbol and cache once") {
  Text text(kAttention);
  Diagnostics problems;
  const auto schedule = Schedule::build(*text.module, "", problems);
  REQUIRE(schedule.has_value());
  CHECK(render(describe(*schedule, {})) == R"(module 'main'
inputs (1):
  %x: tensor<[1, $S, 4], Float32, CPU>
outputs (1):
  %y: tensor<[1, $S, 4], Float32, CPU>
symbols (2):
  $S: from input 0 '%x'
  $past: from length of cache '@kv'
parameters (3):
  @q.weight: tensor<[4, 4], Float32, CPU>  64 B
  @k.weight: tensor<[2, 4], Float32, CPU>  32 B
  @k.bias: tensor<[2], Float32, CPU>  8 B
caches (1):
  @kv: 1 heads of 2, at most 6 tokens
steps: 13, calls: 1
  1 linalg.CausalMaskOp
  1 linalg.KVCacheOp
  2 linalg.LinearOp
  2 linalg.MatMulOp
  1 linalg.MulOp
  1 linalg.SoftmaxOp
  2 linalg.TransposeOp
  3 linalg.ViewOp
memory: not known, give $S a value with --bind
)");
}

TEST_CASE("a summary counts what is not finite and ranks it last") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const TensorSummary summary = summarise(floats({1, 5}, {nan, infinity, -infinity, 0, nan}));
  CHECK(summary.nans == 2);
  CHECK(summary.infinities == 2);
  CHECK(summary.zeros == 1);
  CHECK(summary.min == -infinity);
  CHECK(summary.max == infinity);
  CHECK(summary.deviation == 0);
  CHECK(render(summary) == test::Part{", 2 NaN, 2 infinite, hash "});
  CHECK(render(summarise(floats({1}, {1}))) == test::Part{"mean 1, hash "});
  const TensorSummary nothing = summarise(floats({2}, {nan, nan}));
  CHECK(nothing.min == 0);
  CHECK(nothing.mean == 0);
  const auto row = top_elements(floats({1, 6}, {nan, -infinity, 2, nan, 2, infinity}), 6);
  REQUIRE(row);
  std::vector<std::int64_t> order;
  for (const RankedElement& each : *row) order.push_back(each.index);
  CHECK(order == std::vector<std::int64_t>{5, 2, 4, 1, 0, 3});
}

}  // namespace mir::test::ports_test

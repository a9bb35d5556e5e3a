#include "mir/session.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "interp/summary.hpp"
#include "module_text.hpp"
#include "weights/formats/safetensors.hpp"

namespace mir::test {

using Values = std::vector<double>;

namespace {

/// `count` states of four numbers, different for every position.
Tensor states(std::int64_t first, std::int64_t count) {
  Values values;
  for (std::int64_t i = first * 4; i < (first + count) * 4; ++i) {
    values.push_back(static_cast<double>(i % 7) * 0.25 - 0.5);
  }
  return floats({1, count, 4}, values);
}

std::vector<std::uint64_t> hashes(const std::vector<Tensor>& tensors) {
  std::vector<std::uint64_t> all;
  for (const Tensor& tensor : tensors) all.push_back(hash_bytes(tensor));
  return all;
}

/// Errors of create() on a text, with these weights.
std::vector<std::string> refusals(const std::string& text, const WeightSet* weights) {
  Text source(text);
  Diagnostics problems;
  CHECK_FALSE(
      Session::create(*source.module, {.entry = {}, .weights = weights}, problems).has_value());
  return errors_of(problems);
}

const char* const kTwoInputs = R"(
@main [mir_version:1] (%a:tensor<[2, $S], Float32, CPU>, %b:tensor<[$S, $T+$S], Float32, CPU>) -> (%y:tensor<[2, $T+$S], Float32, CPU>) {
  linalg.CPU.MatMulOp [transpose_b:false] (%a:tensor<[2, $S], Float32, CPU>, %b:tensor<[$S, $T+$S], Float32, CPU>) -> (%y:tensor<[2, $T+$S], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[2, $T+$S], Float32, CPU>) -> ()
}
)";

Tensor zeros(Shape shape) {
  return *Tensor::allocate(DType::kFloat32, std::move(shape));
}

}  // namespace

TEST_CASE("values for which a relation does not hold are refused") {
  Runner runner(R"(
@main [mir_version:2, where:["$S <= $T", "$S % $U == 0"]] (%a:tensor<[$S], Float32, CPU>, %b:tensor<[$T], Float32, CPU>, %c:tensor<[$U], Float32, CPU>) -> (%y:tensor<[$S], Float32, CPU>) {
  linalg.CPU.SliceOp [indices:[{start:0, end:$S}]] (%b) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)");
  const auto errors = [&](std::int64_t s, std::int64_t t, std::int64_t u,
                          const RunOptions& options = {}) {
    const Tensor inputs[] = {zeros({s}), zeros({t}), zeros({u})};
    Diagnostics problems;
    const bool runs = runner.session().run(inputs, problems, options).has_value();
    CHECK(runs == !problems.has_errors());
    return errors_of(problems);
  };
  CHECK(errors(4, 4, 2).empty());
  CHECK(errors(0, 0, 3).empty());
  CHECK(errors(5, 4, 5) == std::vector<std::string>{
                               "830 '$T' is 4 by extent 0 of input 1 '%b', the module requires $S "
                               "<= $T where '$S' is 5 by extent 0 of input 0 '%a'"});
  CHECK(errors(4, 5, 3).size() == 1);
  CHECK(errors(4, 5, 0).size() == 1);
  RunOptions options;
  options.dims.bind(runner.context().intern("S"), 5);
  options.dims.bind(runner.context().intern("T"), 4);
  CHECK(errors(5, 4, 5, options).size() == 1);
}

TEST_CASE("a value that its declaration excludes is refused") {
  Runner runner(R"(
@main [mir_version:2, symbols:{S:{min:2, max:8, multiple:2}}] (%a:tensor<[1, $S], Float32, CPU>) -> (%y:tensor<[$S/2, 2], Float32, CPU>) {
  linalg.CPU.ViewOp [to_shape:[-1, 2]] (%a) -> (%y)
  cf.ReturnOp (%y) -> ()
}
)");
  const auto errors = [&](Shape shape, const RunOptions& options = {}) {
    const Tensor inputs[] = {zeros(std::move(shape))};
    Diagnostics problems;
    const bool runs = runner.session().run(inputs, problems, options).has_value();
    CHECK(runs == !problems.has_errors());
    return errors_of(problems);
  };
  CHECK(errors({1, 8}).empty());
  const std::string refused =
      "830 '$S' is 3 by extent 1 of input 0 '%a', its declaration admits 2 to 8, a multiple of 2";
  CHECK(errors({1, 3}) == std::vector{refused});
  CHECK(errors({1, 0}).size() == 1);
  CHECK(errors({1, 10}).size() == 1);
  RunOptions options;
  options.dims.bind(runner.context().intern("S"), 5);
  CHECK(errors({1, 8}, options) ==
        std::vector<std::string>{"830 '$S' is 5 by the caller, its declaration admits 2 to 8, a "
                                 "multiple of 2"});
}

TEST_CASE("a prompt at once and token by token give the same bits") {
  Runner prompt(kAttention), steps(kAttention);
  const auto whole = prompt.run({states(0, 5)});
  REQUIRE(whole.size() == 1);
  CHECK(whole[0].shape() == Shape{1, 5, 4});
  Values joined;
  for (std::int64_t i = 0; i < 5; ++i) {
    const auto one = steps.run({states(i, 1)});
    const Values values = values_of(one[0]);
    joined.insert(joined.end(), values.begin(), values.end());
  }
  CHECK(joined == values_of(whole[0]));
  CHECK(steps.session().cache_length("kv") == 5);
  // A prompt in two parts, too.
  steps.session().reset();
  CHECK(steps.session().cache_length("kv") == 0);
  CHECK_FALSE(steps.session().cache_length("other").has_value());
  steps.run({states(0, 2)});
  const Values rest = values_of(steps.run({states(2, 3)})[0]);
  CHECK(rest == Values(joined.begin() + 8, joined.end()));
}

TEST_CASE("runs repeat bit for bit whatever the number of threads") {
  SessionOptions eight;
  eight.threads = 8;
  Runner first(kAttention), second(kAttention, eight);
  const auto hash = hashes(first.run({states(0, 4)}));
  CHECK(hashes(second.run({states(0, 4)})) == hash);
  first.session().reset();
  CHECK(hashes(first.run({states(0, 4)})) == hash);
  first.session().reset();
  CHECK(hashes(first.run({states(1, 4)})) != hash);
}

TEST_CASE("a cache that is full refuses the run and keeps its content") {
  Runner runner(kAttention);
  runner.run({states(0, 4)});
  CHECK(runner.error({states(4, 3)}) ==
        "817 'KVCacheOp': cache '@kv' holds 4 of 6 tokens, 3 more do not fit");
  CHECK(runner.session().cache_length("kv") == 4);
  runner.run({states(4, 2)});
  CHECK(runner.session().cache_length("kv") == 6);
  runner.session().reset();
  runner.run({states(0, 6)});
}

TEST_CASE("a run that fails after a cache was written leaves it as it was") {
  Runner runner(R"(
@main [mir_version:1] (%x:tensor<[1, 1, $S, 1], Float32, CPU>, %i:tensor<[1], Int32, CPU>) -> (%y:tensor<[1, 1, 1, 1], Float32, CPU>) {
  linalg.CPU.KVCacheOp <name="kv"> [q_head:1, kv_head:1, head_dim:1] (%x:tensor<[1, 1, $S, 1], Float32, CPU>, %x:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%k:tensor<[1, 1, ?, 1], Float32, CPU>, %v:tensor<[1, 1, ?, 1], Float32, CPU>)
  linalg.CPU.GatherOp [dim:2] (%k:tensor<[1, 1, ?, 1], Float32, CPU>, %i:tensor<[1], Int32, CPU>) -> (%y:tensor<[1, 1, 1, 1], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, 1, 1, 1], Float32, CPU>) -> ()
}
)");
  const Tensor x = floats({1, 1, 2, 1}, {1, 2});
  const auto index = [](double i) { return tensor(DType::kInt32, {1}, {i}); };
  runner.run({x, index(1)});
  CHECK(runner.error({x, index(4)}).starts_with("803 "));
  CHECK(runner.session().cache_length("kv") == 2);
  CHECK(values_of(runner.run({x, index(3)})[0]) == Values{2});
}

TEST_CASE("symbols are bound by inputs and every other extent is checked against them") {
  Runner runner(kTwoInputs);
  CHECK(runner.run({zeros({2, 3}), zeros({3, 5})})[0].shape() == Shape{2, 5});
  CHECK(runner.error({zeros({2, 3}), zeros({4, 5})}) ==
        "821 extent 0 of input 1 '%b' is 4, expected $S = 3 where '$S' is 3 by extent 1 of input 0 "
        "'%a'");
  CHECK(runner.error({zeros({2, 3}), zeros({3, 2})}) ==
        "821 extent 1 of input 1 '%b' is 2, which $S+$T cannot be where '$S' is 3 by extent 1 of "
        "input 0 '%a'");
  CHECK(runner.error({zeros({3, 3}), zeros({3, 5})}).starts_with("821 extent 0 of input 0 "));
  RunOptions stated;
  stated.dims.bind(runner.context().intern("T"), 1);
  CHECK(
      runner.error({zeros({2, 3}), zeros({3, 5})}, stated) ==
      "821 extent 1 of input 1 '%b' is 5, expected $S+$T = 4 where '$S' is 3 by extent 1 of input "
      "0 '%a', '$T' is 1 by the caller");
}

TEST_CASE("inputs of a wrong number, rank or element type are refused") {
  Runner runner(kTwoInputs);
  CHECK(runner.error({zeros({2, 3})}) == "820 1 inputs are given, module 'main' takes 2");
  CHECK(runner.error({zeros({2, 3}), zeros({3})}) ==
        "818 input 1 '%b' is Float32 [3], expected tensor<[$S, $S+$T], Float32, CPU>");
  CHECK(runner.error({zeros({2, 3}), ints({3, 5}, Values(15, 0))}).starts_with("818 "));
  CHECK(runner.error({zeros({2, 3}), Tensor()}).starts_with("818 "));
}

TEST_CASE("a result that is not what its type says ends the run") {
  Text text(R"(
@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>) -> (%y:tensor<[$T], Float32, CPU>) {
  linalg.CPU.SliceOp [indices:[{"start":1}]] (%x:tensor<[$S], Float32, CPU>) -> (%a:tensor<[$T], Float32, CPU>)
  linalg.CPU.SliceOp [indices:[{"start":2}]] (%x:tensor<[$S], Float32, CPU>) -> (%y:tensor<[$T], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[$T], Float32, CPU>) -> ()
}
)");
  Diagnostics problems;
  auto session = Session::create(*text.module, {}, problems);
  REQUIRE(session.has_value());
  CHECK_FALSE(session->run(std::vector{zeros({5})}, problems).has_value());
  CHECK(
      errors_of(problems) ==
      std::vector<std::string>{
          "812 result 0 of 'SliceOp' is Float32 [3], declared is tensor<[$T], Float32, CPU>: "
          "extent 0 of result 0 of 'SliceOp' is 3, expected $T = 4 where '$T' is 4 by extent 0 of "
          "result 0 of 'SliceOp'"});
}

TEST_CASE("errors in graphs say which calls led there") {
  Runner runner(kAttention);
  runner.run({states(0, 6)});
  Diagnostics problems;
  CHECK_FALSE(runner.session().run(std::vector{states(6, 1)}, problems).has_value());
  const auto found = problems.sorted();
  REQUIRE(found.size() == 1);
  CHECK(found[0].at.known());
  REQUIRE(found[0].notes.size() == 1);
  CHECK(found[0].notes[0].message == "called here");
}

TEST_CASE("every parameter without a value is named") {
  const auto missing = refusals(kAttention, nullptr);
  REQUIRE(missing.size() == 1);
  CHECK(missing[0] ==
        "813 no weight source has 3 parameters: '@q.weight' (tensor<[4, 4], Float32, CPU>), "
        "'@k.weight' (tensor<[2, 4], Float32, CPU>), '@k.bias' (tensor<[2], Float32, CPU>)");
}

TEST_CASE("a parameter of unknown extents is refused") {
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  const auto problems = refusals(R"(
@main [mir_version:1] (%x:tensor<[$S], Float32, CPU>) -> (%y:tensor<[$S], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> { () -> () {
    tensor.CPU.register () -> (%w:tensor<[$S], Float32, CPU>[@w])[symbol:w]
  } }
  linalg.CPU.AddOp (%x:tensor<[$S], Float32, CPU>, %w:tensor<[$S], Float32, CPU>[@w]) -> (%y:tensor<[$S], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[$S], Float32, CPU>) -> ()
}
)",
                                 &weights);
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].starts_with("607 parameter '@w' is tensor<"));
}

TEST_CASE("parameters may be operands and constants must hold what they state") {
  const auto text = [](const std::string& constant) {
    return R"(
@main [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> (%y:tensor<[2], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> { () -> () {
    tensor.CPU.register () -> (%w:tensor<[2], Float32, CPU>[@w])[symbol:w]
  } }
  linalg.CPU.MulOp (%x:tensor<[2], Float32, CPU>, %w:tensor<[2], Float32, CPU>[@w]) -> (%t:tensor<[2], Float32, CPU>)
  linalg.CPU.AddOp (%t:tensor<[2], Float32, CPU>, %c:tensor<[2], Float32, CPU>[constant:)" +
           constant + R"(]) -> (%y:tensor<[2], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[2], Float32, CPU>) -> ()
}
)";
  };
  WeightSet weights;
  REQUIRE(weights.add("splat:2"));
  Text source(text("[10, 20]"));
  Diagnostics problems;
  auto session = Session::create(*source.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session.has_value());
  const auto outputs = session->run(std::vector{floats({2}, {1, 3})}, problems);
  REQUIRE(outputs.has_value());
  CHECK(values_of(outputs->front()) == Values{12, 26});
  CHECK(refusals(text("[1, 2, 3]"), &weights)[0].starts_with("814 "));
}

TEST_CASE("a graph can be run by itself") {
  Runner whole(kAttention), graph(kAttention, "attend");
  CHECK(graph.schedule().calls().size() == 1);
  CHECK(hashes(graph.run({states(0, 3)})) == hashes(whole.run({states(0, 3)})));
}

TEST_CASE("entries of a session share parameters and caches") {
  Text text(kAttention);
  WeightSet weights;
  REQUIRE(weights.add("random:1"));
  Diagnostics problems;
  auto session = Session::create(
      *text.module, {.entry = {}, .weights = &weights, .further_entries = {"attend"}}, problems);
  REQUIRE(session.has_value());
  CHECK(session->entry_count() == 2);
  CHECK(SessionAccess::schedule(*session, 1).title() == "graph '@attend'");
  Runner whole(kAttention);
  const Values all = values_of(whole.run({states(0, 5)})[0]);
  RunOptions decode;
  decode.entry = 1;
  REQUIRE(session->run(std::vector{states(0, 3)}, problems).has_value());
  CHECK(session->cache_bindings(1).find(text.context.intern("past")) == 3);
  const auto rest = session->run(std::vector{states(3, 2)}, problems, decode);
  REQUIRE(rest.has_value());
  CHECK(values_of(rest->front()) == Values(all.begin() + 12, all.end()));
  decode.entry = 2;
  CHECK_FALSE(session->run(std::vector{states(0, 1)}, problems, decode).has_value());
  CHECK(errors_of(problems) ==
        std::vector<std::string>{"823 the session has 2 entries, number 2 is not among them"});
}

TEST_CASE("steps on one cache append one after the other, and no tokens are no change") {
  Runner runner(R"(
@main [mir_version:1] (%x:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%k:tensor<[1, 1, ?, 1], Float32, CPU>, %l:tensor<[1, 1, ?, 1], Float32, CPU>) {
  linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:1, past:$past] (%x:tensor<[1, 1, $S, 1], Float32, CPU>, %x:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%k:tensor<[1, 1, ?, 1], Float32, CPU>, %v:tensor<[1, 1, ?, 1], Float32, CPU>)
  linalg.CPU.NegOp (%x:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%n:tensor<[1, 1, $S, 1], Float32, CPU>)
  linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:1] (%n:tensor<[1, 1, $S, 1], Float32, CPU>, %n:tensor<[1, 1, $S, 1], Float32, CPU>) -> (%l:tensor<[1, 1, ?, 1], Float32, CPU>, %w:tensor<[1, 1, ?, 1], Float32, CPU>)
  cf.ReturnOp (%k:tensor<[1, 1, ?, 1], Float32, CPU>, %l:tensor<[1, 1, ?, 1], Float32, CPU>) -> ()
}
)");
  const auto first = runner.run({floats({1, 1, 2, 1}, {1, 2})});
  CHECK(values_of(first[0]) == Values{1, 2});
  CHECK(values_of(first[1]) == Values{1, 2, -1, -2});
  const auto none = runner.run({floats({1, 1, 0, 1}, {})});
  CHECK(values_of(none[0]) == Values{1, 2, -1, -2});
  CHECK(runner.session().cache_length("c") == 4);
  CHECK(values_of(runner.run({floats({1, 1, 1, 1}, {5})})[1]) == Values{1, 2, -1, -2, 5, -5});
}

TEST_CASE(
    "a slice's bound in symbols that falls below 0 ends the run: only numbers count from the end") {
  const std::string x = "tensor<[$S], Float32, CPU>", part = "tensor<[3], Float32, CPU>";
  const std::string indices = R"([indices:[{"start":$S-6,"end":$S-3}]] )";
  const std::string ops[] = {
      "SliceOp " + indices + "(%x:" + x + ") -> (%y:" + part + ")",
      "IndexOp " + indices + "(%x:" + x + ") -> (%y:" + part + ")",
      "CopyOp " + indices + "(%p:" + part + ", %x:" + x + ") -> (%y:" + x + ")"};
  for (const std::string& op : ops) {
    CAPTURE(op);
    const std::string& type = op.starts_with("Copy") ? x : part;
    const std::string text = "@main [mir_version:1] (%x:" + x + ", %p:" + part +
                             ") -> (%y:" + type + ") {\nlinalg.CPU." + op +
                             "\ncf.ReturnOp (%y:" + type + ") -> ()\n}\n";
    for (const KernelSet kernels : {KernelSet::kRef, KernelSet::kFast}) {
      SessionOptions options;
      options.kernels = kernels;
      Runner runner(text, options);
      CHECK(runner.run({floats({6}, {1, 2, 3, 4, 5, 6}), floats({3}, {7, 8, 9})}).size() == 1);
      const std::string error = runner.error({floats({4}, {1, 2, 3, 4}), floats({3}, {7, 8, 9})});
      CHECK_MESSAGE(error.find("$S-6 is -2, an extent is at least 0") != error.npos, error);
    }
  }
}

TEST_CASE("a run reports progress and can be stopped between steps") {
  Runner runner(kAttention);
  std::stop_source source;
  RunOptions options;
  options.stop = source.get_token();
  std::size_t last = 0;
  options.progress = [&](std::size_t done, std::size_t total) {
    CHECK(total == runner.schedule().steps().size());
    CHECK(done == last + 1);
    last = done;
    if (done == 7) source.request_stop();
  };
  CHECK(runner.error({states(0, 2)}, options) == "824 the run was stopped after 7 of 13 steps");
  CHECK(runner.session().cache_length("kv") == 0);
  runner.run({states(0, 2)});
}

TEST_CASE("the file that lost its end is found among several") {
  std::string paths[2];
  for (std::size_t i = 0; i < 2; ++i) {
    paths[i] = (std::filesystem::temp_directory_path() /
                ("mir-files-" + std::to_string(::getpid()) + "-" + std::to_string(i)))
                   .string();
    const auto name = [&](const char* which) { return which + std::to_string(i); };
    REQUIRE(write_safetensors(paths[i], std::vector<NamedTensor>{{name("a"), zeros({2048})},
                                                                 {name("b"), zeros({2048})}}));
  }
  const auto declared = [](const char* w) {
    return fmt::format(
        "tensor.CPU.register () -> (%{0}:tensor<[2048], Float32, CPU>[@{0}])"
        "[symbol:{0}]\n",
        w);
  };
  const auto sum = [](const char* x, const char* w, const char* y) {
    return fmt::format(R"(
  linalg.CPU.ParamOp [name:"{1}", shape:[2048]] () -> (%{1}:tensor<[2048], Float32, CPU>)
  linalg.CPU.AddOp (%{0}, %{1}) -> (%{2}:tensor<[2048], Float32, CPU>))",
                       x, w, y);
  };
  Text text(
      "@main [mir_version:1] (%x:tensor<[2048], Float32, CPU>) -> (%y:tensor<[2048], Float32, "
      "CPU>) { graph.SubGraphOp @init <CPU> { () -> () {" +
      declared("a0") + declared("b0") + declared("a1") + declared("b1") + "} }" +
      sum("x", "a0", "p") + sum("p", "b0", "q") + sum("q", "a1", "r") + sum("r", "b1", "y") +
      "\n  cf.ReturnOp (%y) -> ()\n}\n");
  WeightSet weights;
  for (const auto& path : paths) REQUIRE(weights.add(path));
  Diagnostics problems;
  auto session = Session::create(*text.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session);
  CHECK(session->run(std::vector{zeros({2048})}, problems));
  REQUIRE(::truncate(paths[1].c_str(), 200) == 0);
  CHECK_FALSE(session->run(std::vector{zeros({2048})}, problems));
  for (const auto& path : paths) std::filesystem::remove(path);
  const auto errors = errors_of(problems);
  REQUIRE(errors.size() == 1);
  const bool names_it = errors[0].find("parameter '@a1'") != std::string::npos ||
                        errors[0].find("parameter '@b1'") != std::string::npos;
  CHECK_MESSAGE(names_it, errors[0]);
}

TEST_CASE("a run whose weights lose their end returns nothing") {
  const auto path = (std::filesystem::temp_directory_path() /
                     ("mir-session-" + std::to_string(::getpid()) + ".safetensors"))
                        .string();
  REQUIRE(write_safetensors(path, std::vector<NamedTensor>{{"w", zeros({4096})}}));
  Text text(R"(
@main [mir_version:1] (%x:tensor<[4096], Float32, CPU>) -> (%y:tensor<[4096], Float32, CPU>) {
  tensor.CPU.register () -> (%w:tensor<[4096], Float32, CPU>[@w]) [symbol:w]
  linalg.CPU.AddOp (%x, %w:tensor<[4096], Float32, CPU>[@w]) -> (%y:tensor<[4096], Float32, CPU>)
  cf.ReturnOp (%y) -> ()
}
)");
  WeightSet weights;
  REQUIRE(weights.add(path));
  Diagnostics problems;
  auto session = Session::create(*text.module, {.entry = {}, .weights = &weights}, problems);
  REQUIRE(session);
  CHECK(session->run(std::vector{zeros({4096})}, problems));
  REQUIRE(::truncate(path.c_str(), 200) == 0);
  CHECK_FALSE(session->run(std::vector{zeros({4096})}, problems));
  std::filesystem::remove(path);
  CHECK(errors_of(problems) ==
        std::vector<std::string>{"6 the file of parameter '@w' was shortened during the run"});
}

}  // namespace mir::test

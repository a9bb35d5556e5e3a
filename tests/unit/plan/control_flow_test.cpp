// Structured control flow: conditions and loops in runs of both kernel sets.
#include <fmt/format.h>

#include <limits>
#include <random>
#include <thread>

#include "interp/summary.hpp"
#include "planned.hpp"

namespace mir::test::control {

namespace {

/// A text in which `$v`, `$i`, `$l` and `$b` are types: four Float32, one Int32, one Int64, one
/// Bool.
std::string typed(std::string text) {
  const std::pair<std::string_view, std::string_view> types[] = {
      {"$v", "tensor<[4], Float32, CPU>"},
      {"$i", "tensor<[1], Int32, CPU>"},
      {"$l", "tensor<[1], Int64, CPU>"},
      {"$b", "tensor<[1], Bool, CPU>"}};
  for (const auto& [name, type] : types) {
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at)) {
      text.replace(at, name.size(), type);
    }
  }
  return text;
}

Tensor int32(std::int64_t number) {
  return tensor(DType::kInt32, {1}, {static_cast<double>(number)});
}
Tensor truth(bool value) {
  return tensor(DType::kBool, {1}, {value ? 1.0 : 0.0});
}

/// What a text gives by reference kernels, after seeing that fast ones give the same bits.
std::vector<Tensor> both(const std::string& text, const std::vector<Tensor>& inputs) {
  Runner ref(typed(text));
  const std::vector<Tensor> expected = ref.run(inputs);
  for (const unsigned threads : {1U, 2U}) {
    RunnerOptions options = fast();
    options.threads = threads;
    Runner runner(typed(text), options);
    for (int again = 0; again < 2; ++again) {
      const auto found = runner.run(inputs);
      REQUIRE(found.size() == expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        CHECK(hash_bytes(found[i]) == hash_bytes(expected[i]));
      }
    }
  }
  return expected;
}

std::string loop(std::string_view body, std::string_view bounds = "%lo, %hi, %st") {
  return fmt::format(R"(
@main [mir_version:2] (%x:$v, %lo:$i, %hi:$i, %st:$i) -> (%y:$v, %x:$v) {{
  cf.ForOp ({}, %x) -> (%y:$v) {{
    (%i:$i, %a:$v) -> (%b:$v) {{
      {}
      cf.YieldOp (%b) -> ()
    }}
  }}
  cf.ReturnOp (%y, %x) -> ()
}})",
                     bounds, body);
}

}  // namespace

TEST_CASE("a condition selects a region, which sees the values around it") {
  const std::string text = R"(
@main [mir_version:2] (%x:$v, %c:$b) -> (%y:$v, %z:$v) {
  linalg.CPU.AddOp (%x, %x) -> (%d:$v)
  cf.IfOp (%c) -> (%y:$v, %z:$v) {
    () -> (%p:$v, %x:$v) {
      linalg.CPU.MulOp (%d, %x) -> (%p:$v)
      cf.YieldOp (%p, %x) -> ()
    }
    () -> (%d:$v, %q:$v) {
      linalg.CPU.NegOp (%x) -> (%q:$v)
      cf.YieldOp (%d, %q) -> ()
    }
  }
  cf.ReturnOp (%y, %z) -> ()
})";
  const Tensor x = floats({4}, {1, 2, 3, -4});
  const auto chosen = both(text, {x, truth(true)}), other = both(text, {x, truth(false)});
  CHECK(values_of(chosen[0]) == std::vector<double>{2, 8, 18, 32});
  CHECK(values_of(chosen[1]) == std::vector<double>{1, 2, 3, -4});
  CHECK(values_of(other[0]) == std::vector<double>{2, 4, 6, -8});
  CHECK(values_of(other[1]) == std::vector<double>{-1, -2, -3, 4});
}

TEST_CASE("a loop runs for each index below the last one, and leaves what it does not write") {
  const std::string text = loop("linalg.CPU.AddOp (%a, %x) -> (%b:$v)");
  const Tensor x = floats({4}, {1, 2, 3, -4});
  struct Case {
    std::int64_t first, last, step, runs;
  };
  for (const auto& [first, last, step, runs] :
       {Case{0, 3, 1, 3}, Case{0, 0, 1, 0}, Case{5, 2, 1, 0}, Case{-3, 4, 3, 3}, Case{1, 2, 7, 1},
        Case{2147483640, 2147483647, 5, 2}}) {
    const auto found = both(text, {x, int32(first), int32(last), int32(step)});
    const auto factor = static_cast<double>(runs + 1);
    CHECK(values_of(found[0]) == std::vector<double>{factor, 2 * factor, 3 * factor, -4 * factor});
    CHECK(values_of(found[1]) == values_of(x));
  }
}

TEST_CASE("a loop runs over all of 64 bits") {
  constexpr std::string_view kLoop = R"(
@main [mir_version:2] (%x:$v) -> (%y:$v) {{
  cf.ForOp (%l:$l[constant:[{}]], %h:$l[constant:[9223372036854775807]], %s:$l[constant:[{}]], %x) -> (%y:$v) {{
    (%i:$l, %a:$v) -> (%b:$v) {{
      linalg.CPU.AddOp (%a, %one:tensor<[1], Float32, CPU>[constant:[1.0]]) -> (%b:$v)
      cf.YieldOp (%b) -> ()
    }}
  }}
  cf.ReturnOp (%y) -> ()
}})";
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto iterations = [&](std::int64_t first, std::int64_t step) {
    const Tensor x = floats({4}, {0, 0, 0, 0});
    return values_of(both(fmt::format(fmt::runtime(kLoop), first, step), {x})[0]).front();
  };
  CHECK(iterations(kLeast, kMost) == 3);
  CHECK(iterations(-1, kMost) == 2);
  CHECK(iterations(0, kMost) == 1);
  CHECK(iterations(kMost - 3, 2) == 2);
}

TEST_CASE("a loop equals its iterations written one after the other") {
  std::mt19937 random(7);
  const std::string bodies[] = {
      "linalg.CPU.MulOp ({a}, {x}) -> ({b}:$v)", "linalg.CPU.SiLUOp ({a}) -> ({b}:$v)",
      "linalg.CPU.LinearOp <name=\"m\"> [in_channels:4, out_channels:4, bias:true] ({a}) -> "
      "({b}:$v)",
      "linalg.CPU.SoftmaxOp [axis:-1] ({a}) -> ({b}:$v)"};
  const std::string init = R"(
  graph.SubGraphOp @init <notype> { () -> () {
    tensor.CPU.register () -> (%w:tensor<[4, 4], Float32, CPU>[@m.weight])[symbol:m.weight]
    tensor.CPU.register () -> (%v:$v[@m.bias])[symbol:m.bias] } })";
  const auto line = [](std::string text, std::string_view a, std::string_view b) {
    for (const auto& [name, value] :
         {std::pair<std::string_view, std::string_view>{"{a}", a}, {"{b}", b}, {"{x}", "%x"}}) {
      for (auto at = text.find(name); at != text.npos; at = text.find(name)) {
        text.replace(at, name.size(), value);
      }
    }
    return text + "\n";
  };
  for (int round = 0; round < 20; ++round) {
    std::string body, whole, last = "%x";
    const std::size_t ops = 1 + random() % 3;
    const int runs = static_cast<int>(random() % 5);
    std::vector<std::size_t> kinds;
    for (std::size_t i = 0; i < ops; ++i) kinds.push_back(random() % std::size(bodies));
    for (std::size_t i = 0; i < ops; ++i) {
      body += line(bodies[kinds[i]], i == 0 ? "%a" : fmt::format("%t{}", i - 1),
                   i + 1 == ops ? "%b" : fmt::format("%t{}", i));
    }
    for (int run = 0; run < runs; ++run) {
      for (std::size_t i = 0; i < ops; ++i) {
        const std::string next = fmt::format("%r{}_{}", run, i);
        whole += line(bodies[kinds[i]], last, next);
        last = next;
      }
    }
    const std::string looped = fmt::format(
        "@main [mir_version:2] (%x:$v) -> (%y:$v) {{{}\n"
        "cf.ForOp (%l:$i[constant:[0]], %h:$i[constant:[{}]], %s:$i[constant:[1]], %x) -> (%y:$v) "
        "{{ (%i:$i, %a:$v) -> (%b:$v) {{\n{}cf.YieldOp (%b) -> () }} }}\n"
        "cf.ReturnOp (%y) -> ()\n}}",
        init, runs, body);
    const std::string unrolled =
        fmt::format("@main [mir_version:2] (%x:$v) -> ({}:$v) {{{}\n{}cf.ReturnOp ({}) -> ()\n}}",
                    last, init, whole, last);
    CAPTURE(looped);
    const Tensor x = floats({4}, {0.5, -1.25, 2, 0.125});
    CHECK(hash_bytes(Runner(typed(looped)).run({x})[0]) ==
          hash_bytes(Runner(typed(unrolled)).run({x})[0]));
    // Without fusion: regions end it.
    CHECK(hash_bytes(Runner(typed(looped), fast(Fusion::kOff)).run({x})[0]) ==
          hash_bytes(Runner(typed(unrolled), fast(Fusion::kOff)).run({x})[0]));
  }
}

TEST_CASE("loops nest, call graphs, and may carry nothing or several values") {
  const std::string text = R"(
@main [mir_version:2] (%x:$v, %n:$i) -> (%y:$v, %k:$i) {
  graph.SubGraphOp @twice <CPU> { (%a:$v) -> (%b:$v) {
    linalg.CPU.AddOp (%a, %a) -> (%b:$v)
    cf.ReturnOp (%b) -> () } }
  cf.ForOp (%z:$i[constant:[0]], %n, %o:$i[constant:[1]], %x, %z) -> (%y:$v, %k:$i) {
    (%i:$i, %a:$v, %c:$i) -> (%e:$v, %d:$i) {
      graph.CallGraphOp @twice (%a) -> (%t:$v)
      cf.ForOp (%z:$i[constant:[0]], %i, %o:$i[constant:[1]], %t, %c) -> (%e:$v, %d:$i) {
        (%j:$i, %f:$v, %g:$i) -> (%h:$v, %m:$i) {
          linalg.CPU.SubOp (%f, %x) -> (%h:$v)
          linalg.CPU.AddOp (%g, %i) -> (%m:$i)
          cf.YieldOp (%h, %m) -> ()
        }
      }
      cf.ForOp (%z:$i[constant:[0]], %i, %o:$i[constant:[1]]) -> () {
        (%j:$i) -> () { cf.YieldOp () -> () }
      }
      cf.YieldOp (%e, %d) -> ()
    }
  }
  cf.ReturnOp (%y, %k) -> ()
})";
  // a: 1 -> 2 -> 4-1=3 -> 6-2=4; k: 0, 0+1, 1+2+2
  const auto found = both(text, {floats({4}, {1, 2, 3, -4}), int32(3)});
  CHECK(values_of(found[0]) == std::vector<double>{4, 8, 12, -16});
  CHECK(values_of(found[1]) == std::vector<double>{5});
}

TEST_CASE("a while loop ends when its condition fails, and can be stopped") {
  const std::string text = R"(
@main [mir_version:2] (%x:$v, %limit:tensor<[1], Float32, CPU>) -> (%y:$v) {
  cf.WhileOp (%x) -> (%y:$v) {
    (%a:$v) -> (%d:$v) {
      linalg.CPU.AddOp (%a, %a) -> (%d:$v)
      linalg.CPU.ReduceMaxOp [dim:0, keep_dim:true] (%d) -> (%m:tensor<[1], Float32, CPU>)
      linalg.CPU.LessOp (%m, %limit) -> (%go:$b)
      cf.ConditionOp (%go, %d) -> ()
    }
    (%e:$v) -> (%f:$v) {
      linalg.CPU.AddOp (%e, %x) -> (%f:$v)
      cf.YieldOp (%f) -> ()
    }
  }
  cf.ReturnOp (%y) -> ()
})";
  // 1, 2+1=3, 6+1=7, 14 >= 10
  const auto found = both(text, {floats({4}, {1, 0, 0.5, -1}), floats({1}, {10})});
  CHECK(values_of(found[0]) == std::vector<double>{14, 0, 7, -14});
  for (const bool is_fast : {false, true}) {
    Runner runner(typed(text), is_fast ? fast() : RunnerOptions{});
    std::stop_source stop;
    std::jthread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      stop.request_stop();
    });
    RunOptions options;
    options.stop = stop.get_token();
    CHECK(
        runner.error({floats({4}, {0, 0, 0, 0}), floats({1}, {10})}, options).starts_with("824 "));
    RunOptions limited;
    limited.most_iterations = 1000;
    CHECK(runner.error({floats({4}, {0, 0, 0, 0}), floats({1}, {10})}, limited)
              .find("'WhileOp' reached the limit of iterations") != std::string::npos);
    limited.most_iterations = 3;
    runner.run({floats({4}, {1, 0, 0.5, -1}), floats({1}, {10})}, limited);
  }
}

TEST_CASE("symbolic extents hold in regions, and values that do not fit their types end a run") {
  const std::string text = R"(
@main [mir_version:2] (%x:tensor<[$S, 4], Float32, CPU>, %n:$i) -> (%y:tensor<[$S, 4], Float32, CPU>) {
  cf.ForOp (%z:$i[constant:[0]], %n, %o:$i[constant:[1]], %x) -> (%y:tensor<[$S, 4], Float32, CPU>) {
    (%i:$i, %a:tensor<[$S, 4], Float32, CPU>) -> (%b:tensor<[$S, 4], Float32, CPU>) {
      linalg.CPU.MulOp (%a, %x) -> (%b:tensor<[$S, 4], Float32, CPU>)
      cf.YieldOp (%b) -> ()
    }
  }
  cf.ReturnOp (%y) -> ()
})";
  for (const std::int64_t rows : {2, 5}) {
    const auto found = both(text, {pattern({rows, 4}), int32(2)});
    CHECK(found[0].shape() == Shape{rows, 4});
  }
  for (const bool is_fast : {false, true}) {
    Runner runner(typed(loop("linalg.CPU.AddOp (%a, %x) -> (%b:$v)")),
                  is_fast ? fast() : RunnerOptions{});
    const Tensor x = floats({4}, {1, 2, 3, 4});
    CHECK(runner.error({x, int32(0), int32(3), int32(0)}).find("the step of 'ForOp' is 0") !=
          std::string::npos);
    Runner growing(typed(R"(
@main [mir_version:2] (%x:tensor<[?], Float32, CPU>, %n:$i) -> (%y:tensor<[2], Float32, CPU>) {
  cf.ForOp (%z:$i[constant:[0]], %n, %o:$i[constant:[1]], %f:tensor<[2], Float32, CPU>[constant:[1.0, 2.0]]) -> (%y:tensor<[2], Float32, CPU>) {
    (%i:$i, %a:tensor<[2], Float32, CPU>) -> (%x:tensor<[?], Float32, CPU>) {
      cf.YieldOp (%x) -> ()
    }
  }
  cf.ReturnOp (%y) -> ()
})"),
                   is_fast ? fast() : RunnerOptions{});
    CHECK(values_of(growing.run({floats({2}, {3, 4}), int32(2)})[0]) == std::vector<double>{3, 4});
    CHECK(growing.error({floats({3}, {3, 4, 5}), int32(2)}).find("declared is tensor<[2]") !=
          std::string::npos);
  }
}

TEST_CASE("a profile times the kernels in control flow, and an observer sees its results") {
  for (const bool is_fast : {false, true}) {
    Runner runner(typed(loop("linalg.CPU.AddOp (%a, %x) -> (%b:$v)")),
                  is_fast ? fast() : RunnerOptions{});
    RunOptions options;
    std::vector<std::string> timed;
    options.timed = [&](const KernelTiming& timing) { timed.emplace_back(timing.kernel); };
    const std::vector<Tensor> inputs{floats({4}, {1, 2, 3, 4}), int32(0), int32(2), int32(1)};
    runner.run(inputs, options);
    const std::string add = is_fast ? "Add" : "AddOp";
    CHECK(timed == std::vector<std::string>{add, add});
    std::vector<double> seen;
    options.observe = [&](const StepResults& step) -> Result<void> {
      seen = values_of(step.results[0]);
      return {};
    };
    runner.run(inputs, options);
    CHECK(seen == std::vector<double>{3, 6, 9, 12});
  }
}

TEST_CASE("an error inside a region names the operation") {
  Runner runner(typed(loop("linalg.CPU.ClipOp [min_val:1.0, max_val:2.0] (%a) -> (%b:$v)")));
  CHECK(values_of(runner.run({floats({4}, {0, 1, 2, 3}), int32(0), int32(1), int32(1)})[0]) ==
        std::vector<double>{1, 1, 2, 2});
}

namespace {

/// Keys and values of `tokens` tokens: one head of two elements.
std::string keys(std::string_view tokens) {
  return fmt::format("tensor<[1, 1, {}, 2], Float32, CPU>", tokens);
}

/// A step on the cache `@c`; `past` is a number or a symbol.
std::string step(std::string_view operand, std::string_view result, std::string_view past,
                 std::string_view tokens) {
  return fmt::format(
      "linalg.CPU.KVCacheOp [cache:@c, q_head:1, kv_head:1, head_dim:2, past:{}] ({}, {}) -> "
      "({}:{}, {}v:{})",
      past, operand, operand, result, keys(tokens), result, keys(tokens));
}

/// A prefill, then a step in each turn of a loop, which sums up what the cache holds. The first
/// result of the prefill is an output: a longer cache must not move it.
std::string decoder() {
  return fmt::format(R"(
@main [mir_version:2] (%x:{0}, %t:{1}, %n:$i) -> (%first:{0}, %sum:tensor<[1, 1, 1, 2], Float32, CPU>) {{
  {2}
  cf.ForOp (%z:$i[constant:[0]], %n, %o:$i[constant:[1]], %zero:tensor<[1, 1, 1, 2], Float32, CPU>[constant:[0, 0]]) -> (%sum:tensor<[1, 1, 1, 2], Float32, CPU>) {{
    (%i:$i, %a:tensor<[1, 1, 1, 2], Float32, CPU>) -> (%b:tensor<[1, 1, 1, 2], Float32, CPU>) {{
      {3}
      linalg.CPU.ReduceSumOp [dim:2, keep_dim:true] (%all) -> (%s:tensor<[1, 1, 1, 2], Float32, CPU>)
      linalg.CPU.AddOp (%a, %s) -> (%b:tensor<[1, 1, 1, 2], Float32, CPU>)
      cf.YieldOp (%b) -> ()
    }}
  }}
  cf.ReturnOp (%first, %sum) -> ()
}})",
                     keys("$S"), keys("1"), step("%x", "%first", "0", "$S"),
                     step("%t", "%all", "$past", "$past+1"));
}

}  // namespace

TEST_CASE("a loop appends to a cache, whose length each turn binds anew") {
  const std::string text = typed(decoder());
  for (const bool is_fast : {false, true}) {
    Runner runner(text, is_fast ? fast() : RunnerOptions{});
    const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), t = floats({1, 1, 1, 2}, {10, 20});
    const auto found = runner.run({x, t, int32(100)});
    CHECK(values_of(found[0]) == std::vector<double>{1, 2, 3, 4});
    // In turn i, from 1: the prefill and i tokens.
    CHECK(values_of(found[1]) == std::vector<double>{4.0 * 100 + 10 * 5050, 6.0 * 100 + 20 * 5050});
    CHECK(runner.session().cache_length("c") == 102);
    CHECK(runner.error({x, t, int32(1)}).find("holds 102 tokens, 'past' says 0") !=
          std::string::npos);
    runner.session().reset();
    CHECK(values_of(runner.run({x, t, int32(1)})[1]) == std::vector<double>{14, 26});
    CHECK(runner.session().cache_length("c") == 3);
  }
}

TEST_CASE("a run that fails in a loop leaves caches as they were") {
  for (const bool is_fast : {false, true}) {
    Runner runner(typed(decoder()), is_fast ? fast() : RunnerOptions{});
    const Tensor x = floats({1, 1, 2, 2}, {1, 2, 3, 4}), t = floats({1, 1, 1, 2}, {10, 20});
    RunOptions options;
    options.most_iterations = 3;
    CHECK(runner.error({x, t, int32(10)}, options).find("limit of iterations") !=
          std::string::npos);
    CHECK(runner.session().cache_length("c") == 0);
    CHECK(values_of(runner.run({x, t, int32(1)})[1]) == std::vector<double>{14, 26});
  }
}

TEST_CASE("a region of a condition appends to a cache, or not") {
  const std::string text = typed(fmt::format(R"(
@main [mir_version:2] (%t:{0}, %c:$b) -> (%m:tensor<[1, 1, 2], Float32, CPU>) {{
  cf.IfOp (%c) -> (%m:tensor<[1, 1, 2], Float32, CPU>) {{
    () -> (%s:tensor<[1, 1, 2], Float32, CPU>) {{
      {1}
      linalg.CPU.ReduceMaxOp [dim:2] (%all) -> (%s:tensor<[1, 1, 2], Float32, CPU>)
      cf.YieldOp (%s) -> ()
    }}
    () -> (%zero:tensor<[1, 1, 2], Float32, CPU>) {{
      cf.YieldOp (%zero:tensor<[1, 1, 2], Float32, CPU>[constant:[0, 0]]) -> ()
    }}
  }}
  cf.ReturnOp (%m) -> ()
}})",
                                             keys("1"), step("%t", "%all", "$past", "$past+1")));
  for (const bool is_fast : {false, true}) {
    Runner runner(text, is_fast ? fast() : RunnerOptions{});
    const auto run = [&](double value, bool holds) {
      return values_of(runner.run({floats({1, 1, 1, 2}, {value, -value}), truth(holds)})[0]);
    };
    CHECK(run(3, true) == std::vector<double>{3, -3});
    CHECK(run(9, false) == std::vector<double>{0, 0});
    CHECK(run(2, true) == std::vector<double>{3, -2});
    CHECK(runner.session().cache_length("c") == 2);
  }
}

TEST_CASE("a call passes other extents for the symbols of a graph, which are its own") {
  const std::string text = R"(
@main [mir_version:2] (%x:tensor<[$S, 4], Float32, CPU>, %v:tensor<[1, 4], Float32, CPU>) -> (%a:tensor<[$S, 4], Float32, CPU>, %b:tensor<[1, 4], Float32, CPU>, %c:tensor<[3*$S, 4], Float32, CPU>) {
  graph.SubGraphOp @twice <CPU> {
    (%y:tensor<[$S, 4], Float32, CPU>) -> (%z:tensor<[$S, 4], Float32, CPU>) {
      linalg.CPU.AddOp (%y, %y) -> (%z:tensor<[$S, 4], Float32, CPU>)
      cf.ReturnOp (%z) -> ()
    }
  }
  graph.SubGraphOp @outer <CPU> {
    (%o:tensor<[$T, 4], Float32, CPU>) -> (%p:tensor<[$T, 4], Float32, CPU>) {
      graph.CallGraphOp @twice (%o) -> (%p:tensor<[$T, 4], Float32, CPU>)
      cf.ReturnOp (%p) -> ()
    }
  }
  graph.CallGraphOp @twice (%x) -> (%a)
  graph.CallGraphOp @twice (%v) -> (%b)
  linalg.CPU.ConcatOp [dim:0] (%x, %x, %a) -> (%all:tensor<[3*$S, 4], Float32, CPU>)
  graph.CallGraphOp @outer (%all) -> (%c)
  cf.ReturnOp (%a, %b, %c) -> ()
})";
  for (const std::int64_t rows : {2, 5, 2}) {
    const auto found = both(text, {pattern({rows, 4}), floats({1, 4}, {1, 2, 3, 4})});
    CHECK(found[0].shape() == Shape{rows, 4});
    CHECK(values_of(found[1]) == std::vector<double>{2, 4, 6, 8});
    CHECK(found[2].shape() == Shape{3 * rows, 4});
  }
}

}  // namespace mir::test::control

// The same code of a model, traced and computed at once.
#include "mir/trace.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mir/dialects.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/session.hpp"
#include "mir/verify.hpp"
#include "mir/weights.hpp"

using namespace mir;

namespace trace_test {

using namespace mir::trace;

namespace {

Tensor floats(Shape shape, double scale = 1) {
  Tensor tensor = *Tensor::allocate(DType::kFloat32, std::move(shape));
  std::int64_t i = 0;
  for (float& each : tensor.as_mutable<float>()) {
    each = static_cast<float>(scale * std::sin(static_cast<double>(++i)));
  }
  return tensor;
}

Tensor integers(Shape shape, std::int64_t first) {
  Tensor tensor = *Tensor::allocate(DType::kInt64, std::move(shape));
  for (std::int64_t& each : tensor.as_mutable<std::int64_t>()) {
    each = first;
    if (first < std::numeric_limits<std::int64_t>::max()) ++first;
  }
  return tensor;
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  return {tensor.bytes().begin(), tensor.bytes().end()};
}

/// A context with the built-in dialects, and random weights.
struct Setting {
  Setting() {
    register_builtin_dialects(context);
    REQUIRE(weights.add("random:7"));
  }

  Module* traced(const Model& model) {
    Module* const module = trace_module(context, "main", model, diagnostics);
    INFO(errors());
    REQUIRE(module != nullptr);
    return module;
  }
  std::string errors() { return render(diagnostics, context.sources(), {}); }

  IRContext context;
  WeightSet weights;
  Diagnostics diagnostics;
};

/// Runs a model traced and at once, several times in a row, and compares the outputs.
void check_runs(const Model& model, std::span<const EagerRun::Tensors> runs) {
  Setting setting;
  Module* const module = setting.traced(model);
  CAPTURE(print(*module));
  auto session =
      Session::create(*module, {.entry = "", .weights = &setting.weights}, setting.diagnostics);
  REQUIRE(session);
  EagerRun eager(setting.context, setting.weights);
  for (const EagerRun::Tensors& inputs : runs) {
    std::vector<Tensor> ordered;
    for (const Port& port : session->inputs()) ordered.push_back(inputs.at(port.name));
    const auto expected = session->run(ordered, setting.diagnostics);
    INFO(setting.errors());
    REQUIRE(expected);
    const auto outputs = eager.run(model, inputs, setting.diagnostics);
    INFO(setting.errors());
    REQUIRE(outputs);
    REQUIRE(outputs->size() == expected->size());
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const std::string& name = session->outputs()[i].name;
      CAPTURE(name);
      REQUIRE(outputs->contains(name));
      CHECK(outputs->at(name).shape() == (*expected)[i].shape());
      CHECK(bytes_of(outputs->at(name)) == bytes_of((*expected)[i]));
    }
  }
  // The text of the module reads back as an equal module.
  const std::string text = print(*module);
  const SourceFile* file = setting.context.sources().add("traced.mir", text);
  const auto again = read_modules(*file, setting.context, setting.diagnostics);
  REQUIRE(again.size() == 1);
  CHECK(print(*again.front()) == text);
}

constexpr std::int64_t kHidden = 16, kHeads = 4, kKeyHeads = 2, kHeadDim = 4, kMost = 32;

Var attention(const Var& x, const Var& sin, const Var& cos, std::int64_t layer) {
  const Dim length = x.dim(1);
  const auto heads = [&](const char* name, std::int64_t count) {
    return Linear(name, count * kHeadDim, {.bias = true})(x)
        .view({1, length, count, kHeadDim})
        .transpose(1, 2);
  };
  const Var q = RoPE("q_rope", 10000, kMost)(heads("q_proj", kHeads), sin, cos);
  const Var k = RoPE("k_rope", 10000, kMost)(heads("k_proj", kKeyHeads), sin, cos);
  const auto [keys, values] =
      KVCache("kv_cache", {.q_heads = kHeads,
                           .kv_heads = kKeyHeads,
                           .head_dim = kHeadDim,
                           .layer = layer,
                           .capacity = kMost})(k, heads("v_proj", kKeyHeads));
  const Var scores = apply<linalg::CausalMask>(matmul(q, keys, {.transpose_b = true}) * 0.5,
                                               {.sliding_window = false});
  const Var mixed = matmul(softmax(scores), values).transpose(1, 2).view({1, length, kHidden});
  return Linear("o_proj", kHidden)(mixed);
}

/// Two layers with a cache each, whose last logits are an output.
void decoder(Tracer& t) {
  const Dim length = t.symbol("S");
  const Var ids = t.input("ids", {1, length}, DType::kInt64);
  const Var positions = t.input("positions", {1, length}, DType::kInt64);
  const Var sin = Embedding("rope.sin", kMost, kHeadDim)(positions);
  const Var cos = Embedding("rope.cos", kMost, kHeadDim)(positions);
  Var x = Embedding("embed_tokens", 50, kHidden)(ids);
  for (std::int64_t i = 0; i < 2; ++i) {
    x = Graph("layers." + std::to_string(i))({x, sin, cos}, [&](const Vars& in) {
      const Var attended =
          Graph("self_attn")({RMSNorm("input_layernorm")(in[0]), in[1], in[2]},
                             [&](const Vars& of) { return attention(of[0], of[1], of[2], i); });
      const Var residual = attended + in[0];
      return residual + Graph("mlp")({RMSNorm("norm")(residual)}, [](const Vars& of) {
               return Linear("down",
                             kHidden)(silu(Linear("gate", 24)(of[0])) * Linear("up", 24)(of[0]));
             });
    });
  }
  t.output("logits", Linear("lm_head", 50)(LayerNorm("norm")(x).slice(1, -1, 0)));
}

}  // namespace

TEST_SUITE("trace") {
  TEST_CASE("a decoder with caches has the same bits traced and at once, step by step") {
    const std::vector<EagerRun::Tensors> runs = {
        {{"ids", integers({1, 5}, 3)}, {"positions", integers({1, 5}, 0)}},
        {{"ids", integers({1, 1}, 40)}, {"positions", integers({1, 1}, 5)}},
        {{"ids", integers({1, 2}, 7)}, {"positions", integers({1, 2}, 6)}}};
    check_runs(decoder, runs);
  }

  TEST_CASE("layers and graphs are named after the graphs around them, ops after their lines") {
    Setting setting;
    const std::string text = print(*setting.traced(decoder));
    for (const char* part :
         {"graph.SubGraphOp @layers.1.self_attn <CPU>", "graph.CallGraphOp @layers.1.mlp (",
          "[@layers.0.mlp.gate.weight]", "<name=\"layers.1.self_attn.q_rope\">",
          "(%ids:tensor<[1, $S], Int64, CPU>, %positions:tensor<[1, $S], Int64, CPU>) -> "
          "(%logits:tensor<[1, 1, 50], Float32, CPU>)"}) {
      CAPTURE(part);
      CHECK(text.find(part) != std::string::npos);
    }
    CHECK(text.find("trace_test.cpp\":") != std::string::npos);
    CHECK(text.starts_with("@main [mir_version:1]"));
  }

  TEST_CASE("caches of a run at once begin empty again after a reset") {
    Setting setting;
    EagerRun eager(setting.context, setting.weights);
    const EagerRun::Tensors inputs = {{"ids", integers({1, 3}, 3)},
                                      {"positions", integers({1, 3}, 0)}};
    const auto first = eager.run(decoder, inputs, setting.diagnostics);
    const auto second = eager.run(decoder, inputs, setting.diagnostics);
    eager.reset();
    const auto third = eager.run(decoder, inputs, setting.diagnostics);
    REQUIRE(first);
    REQUIRE(second);
    REQUIRE(third);
    CHECK(bytes_of(first->at("logits")) != bytes_of(second->at("logits")));
    CHECK(bytes_of(first->at("logits")) == bytes_of(third->at("logits")));
  }

  TEST_CASE("conditions and loops are lambdas") {
    const Model model = [](Tracer& t) {
      const Var x = t.input("x", {2, 3});
      const Var limit = t.input("limit", {1});
      const Var weight = t.parameter("scale", {3});
      const Vars halved = while_loop(
          {limit, t.constant(0)}, [&](const Vars& of) { return of[0] > 1.5; },
          [&](const Vars& of) {
            return Vars{of[0] / 2, of[1] + 1};
          });
      const Var chosen = if_else(
          halved[1] <= 2, [&] { return Vars{x * weight}; }, [&] { return Vars{-x + 0.25}; })[0];
      const Var sum = for_loop(0, 4, 1, {chosen}, [&](const Var& i, const Vars& of) {
        return Vars{of[0] + i.cast(DType::kFloat32) * 0.5};
      })[0];
      t.output("y", sum);
      t.output("count", halved[1]);
    };
    const auto run = [](float limit) {
      Tensor bound = floats({1});
      bound.as_mutable<float>()[0] = limit;
      return EagerRun::Tensors{{"x", floats({2, 3})}, {"limit", bound}};
    };
    const std::vector<EagerRun::Tensors> runs = {run(1), run(5), run(100)};
    check_runs(model, runs);
  }

  TEST_CASE("operators take numbers on either side, and outputs may be inputs or one value twice") {
    const Model model = [](Tracer& t) {
      const Var x = t.input("x", {t.symbol("N"), 4});
      const Var y = concat({2.0 * x - 1.0, exp(x) / (relu(x) + 0.5)}, 1);
      t.output("y", gelu(y));
      t.output("sum", reduce_sum(y, 0) + reduce_max(y, -1) * reduce_min(y, 1));
      t.output("mean", reduce_mean(y, 1, false));
      t.output("same", x);
      t.output("twice", y);
      t.output("again", y);
      t.output("constant", t.constant(3));
      t.output("parameter", t.parameter("p", {2, 2}));
    };
    const std::vector<EagerRun::Tensors> runs = {{{"x", floats({1, 4})}}, {{"x", floats({5, 4})}}};
    check_runs(model, runs);
  }

  TEST_CASE("a graph is traced once for equal operands") {
    Setting setting;
    int calls = 0;
    const Model model = [&](Tracer& t) {
      Var x = t.input("x", {4});
      for (int i = 0; i < 3; ++i) {
        x = Graph("half")({x}, [&](const Vars& of) {
          ++calls;
          return of[0] * 0.5;
        });
      }
      t.output("y", x);
    };
    const std::string text = print(*setting.traced(model));
    CHECK(calls == 1);
    std::size_t found = 0;
    for (std::size_t at = 0; (at = text.find("CallGraphOp @half", at)) != text.npos; ++at) ++found;
    CHECK(found == 3);
  }

  TEST_CASE("errors are at the line of the model, and follow from nothing else") {
    struct Case {
      Model model;
      std::string message;
      int line;
    };
    const Case cases[] = {
        {[](Tracer& t) {
           const Var x = t.input("x", {2, 3});
           const Var y = matmul(x, x);
           t.output("y", y + 1.0);
         },
         "error[MIR0500]", __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           t.output("y", Graph("g")({x}, [&](const Vars& of) { return of[0] + x; }));
         },
         "the value is not visible here: a graph takes values as operands, a body returns them",
         __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2, 4});
           const Var y = Linear("a", 4)(x);
           t.output("y", Linear("a", 5)(y));
         },
         "parameter 'a.weight' is tensor<[5, 4], Float32, CPU>, and was tensor<[4, 4], Float32, "
         "CPU> before",
         __LINE__ - 4},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           t.input("x", {2});
           t.output("y", x);
         },
         "input 'x' is declared twice", __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           const auto grow = [](const Vars& of) { return Vars{concat({of[0], of[0]}, 0)}; };
           const auto holds = [](const Vars& of) { return of[0] < 1; };
           t.output("y", while_loop({x}, holds, grow)[0]);
         },
         "the body of a loop returns values of other types than it takes", __LINE__ - 2},
        {[](Tracer& t) {
           t.input("x", {2});
           t.output("y", Var());
         },
         "output 'y' has no value", __LINE__ - 2},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           t.output("y", x + t.parameter("", {2}));
         },
         "a layer or parameter needs a name", __LINE__ - 2},
        {[](Tracer& t) {
           const Var x = t.input("x", {2, t.symbol("N")});
           t.output("y", Linear("l", 3)(x));
         },
         "parameter 'l.weight' is tensor<[3, $N], Float32, CPU>, expected numbers as extents",
         __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2, 2});
           t.output("y", x.slice(-3, 0, 1));
         },
         "dimension -3 of a slice, expected one of rank 2", __LINE__ - 2},
        {[](Tracer& t) {
           const Var x = t.input("x", {2}, DType::kInt64);
           t.output("y", x * 0.5);
         },
         "'0.5' is not a value of type Int64", __LINE__ - 2},
        {[](Tracer& t) {
           const Dim n = t.symbol("a b");
           t.output("y", t.input("x", {2, 2}).view({n, 4}));
         },
         "'a b' cannot name a symbolic extent, expected a word", __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2, 3});
           for (int i = 0; i < 2; ++i) {
             Graph("g")({x}, [](const Vars& of) { return matmul(of[0], of[0]); });
           }
         },
         "'MatMulOp'", __LINE__ - 3},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           Graph("g")({x}, [](const Vars&) { return Var(); });
         },
         "the body returns an empty value", __LINE__ - 2},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           const auto more = [](const Vars& of) { return of[0] + 1.0; };
           t.output("y", Graph("a.weight")({x}, more) + Linear("a", 2)(x));
         },
         "'a.weight' has the name of a", __LINE__ - 2}};
    for (const Case& each : cases) {
      CAPTURE(each.message);
      Setting setting;
      CHECK(trace_module(setting.context, "main", each.model, setting.diagnostics) == nullptr);
      const std::string errors = setting.errors();
      CAPTURE(errors);
      CHECK(setting.diagnostics.error_count() == 1);
      CHECK(errors.find(each.message) != std::string::npos);
      CHECK(errors.find("trace_test.cpp:" + std::to_string(each.line) + ":") != std::string::npos);
    }
  }

  TEST_CASE("a run at once refuses what a traced model refuses") {
    const std::pair<Model, const char*> cases[] = {
        {[](Tracer& t) {
           t.input("x", {2});
           t.output("y", t.input("x", {2}));
         },
         "input 'x' is declared twice"},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           Graph("g")({x}, [&](const Vars& of) {
             t.output("y", of[0]);
             return of[0];
           });
         },
         "output 'y' is declared inside a graph, a branch or a loop"},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           for_loop(0, 2, 1, {x, x}, [](const Var&, const Vars& of) { return Vars{of[0]}; });
         },
         "the body of a loop returns values of other types than it takes"},
        {[](Tracer& t) {
           const Var x = t.input("x", {2});
           const Var number = reduce_max(x, 0).cast(DType::kInt64);
           if_else(
               number, [&] { return Vars{x}; }, [&] { return Vars{-x}; });
         },
         "expected one"}};
    for (const auto& each : cases) {
      const Model& model = each.first;
      const char* const message = each.second;
      CAPTURE(message);
      Setting traced, at_once;
      CHECK(trace_module(traced.context, "main", model, traced.diagnostics) == nullptr);
      CHECK(traced.errors().find(message) != std::string::npos);
      EagerRun eager(at_once.context, at_once.weights);
      CHECK_FALSE(eager.run(model, {{"x", floats({2})}}, at_once.diagnostics));
      CHECK(at_once.errors().find(message) != std::string::npos);
    }
  }

  TEST_CASE("values of another model are refused") {
    Setting setting, other;
    EagerRun eager(other.context, other.weights);
    const Model model = [&](Tracer& t) {
      const Var x = t.input("x", {2});
      const Model inner = [&](Tracer& run) { t.output("y", x + run.input("x", {2})); };
      CHECK(eager.run(inner, {{"x", floats({2})}}, other.diagnostics));
    };
    CHECK(trace_module(setting.context, "main", model, setting.diagnostics) == nullptr);
    CHECK(setting.errors().find("a value of another model is used") != std::string::npos);
  }

  TEST_CASE("a model that throws leaves the names of the next run as they are") {
    Setting setting;
    EagerRun eager(setting.context, setting.weights);
    bool is_broken = true;
    const Model model = [&](Tracer& t) {
      const Var x = t.input("x", {2, 2});
      t.output("y", Graph("g")({x}, [&](const Vars& of) {
                 if (is_broken) throw std::runtime_error("broken");
                 return Linear("l", 2)(of[0]);
               }));
    };
    const EagerRun::Tensors inputs = {{"x", floats({2, 2})}};
    CHECK_THROWS(eager.run(model, inputs, setting.diagnostics));
    is_broken = false;
    const auto after = eager.run(model, inputs, setting.diagnostics);
    EagerRun fresh(setting.context, setting.weights);
    const auto expected = fresh.run(model, inputs, setting.diagnostics);
    REQUIRE(after);
    REQUIRE(expected);
    CHECK(bytes_of(after->at("y")) == bytes_of(expected->at("y")));
  }

  TEST_CASE("indices of loops are exact up to the largest integer") {
    const Model model = [](Tracer& t) {
      const Var first = t.input("first", {1}, DType::kInt64);
      const Var last = t.input("last", {1}, DType::kInt64);
      const Var step = t.input("step", {1}, DType::kInt64);
      t.output("sum", for_loop(first, last, step, {last - last},
                               [](const Var& i, const Vars& of) { return Vars{of[0] + i}; })[0]);
    };
    const auto run = [](std::int64_t first, std::int64_t last, std::int64_t step) {
      return EagerRun::Tensors{{"first", integers({1}, first)},
                               {"last", integers({1}, last)},
                               {"step", integers({1}, step)}};
    };
    constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
    const std::vector<EagerRun::Tensors> runs = {
        run((std::int64_t{1} << 53) + 1, kLargest, kLargest), run(kLargest - 1, kLargest, 1),
        run(kLowest, kLargest, kLargest)};
    check_runs(model, runs);
  }

  TEST_CASE("a branch with a cache of its own number of tokens has the same bits") {
    const Model model = [](Tracer& t) {
      const Var x = t.input("x", {1, 1, t.symbol("S"), 4});
      const Var condition = t.input("condition", {1});
      const KVCacheOptions options{.q_heads = 1, .kv_heads = 1, .head_dim = 4, .capacity = 16};
      const Var always = KVCache("always", options)(x, x).keys;
      const Var sum = reduce_sum(x, 2);
      const Var kept = if_else(
          condition > 0.0,
          [&] { return Vars{reduce_sum(KVCache("sometimes", options)(x, x).keys, 2)}; },
          [&] { return Vars{sum}; })[0];
      t.output("y", reduce_sum(always, 2) + kept);
    };
    const auto run = [](std::int64_t tokens, float number) {
      Tensor condition = floats({1});
      condition.as_mutable<float>()[0] = number;
      return EagerRun::Tensors{{"x", floats({1, 1, tokens, 4})}, {"condition", condition}};
    };
    const std::vector<EagerRun::Tensors> runs = {run(2, 1), run(1, -1), run(3, 1)};
    check_runs(model, runs);
  }

  TEST_CASE("a run at once reports wrong inputs and the line of what fails") {
    const Model model = [](Tracer& t) {
      const Dim n = t.symbol("N");
      const Var x = t.input("x", {n, 2});
      const Var y = t.input("y", {n});
      t.output("z", x + y);
    };
    const auto errors_of = [&](const EagerRun::Tensors& inputs) {
      Setting setting;
      EagerRun eager(setting.context, setting.weights);
      CHECK_FALSE(eager.run(model, inputs, setting.diagnostics));
      return setting.errors();
    };
    CHECK(errors_of({{"x", floats({3, 2})}}).find("input 'y' has no value") != std::string::npos);
    CHECK(errors_of({{"x", floats({3, 2})}, {"y", floats({2})}})
              .find("input 'y' is Float32 [2], expected tensor<[$N], Float32, CPU>") !=
          std::string::npos);
    CHECK(errors_of({{"x", floats({3, 2})}, {"y", floats({3})}}).find("trace_test.cpp:") !=
          std::string::npos);
  }
}

}  // namespace trace_test

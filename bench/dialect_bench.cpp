// Reading a dialect of 100 ops with bodies, and a module that uses them.
//
//   dialect_bench
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "mir/dialects.hpp"
#include "mir/module.hpp"

namespace {

using namespace mir;

constexpr int kOps = 100;

/// Four kinds of ops in turn: with a pack and a condition, any number of operands, an attribute in
/// the types, an expression.
std::string dialect_text() {
  std::string text = "@many [mir_version:2] () -> () {\n";
  for (int i = 0; i < kOps / 4; ++i) {
    text += fmt::format(
        "    dialect.OpOp @Route{0}Op [attributes:{{k:{{type:int, required:true, range:[1, "
        "64]}}}}, "
        "where:{{\"$k <= $E\":\"asks for $k of $E experts\"}}, summary:\"Routes.\"] {{\n"
        "        (%x:tensor<[$B.., $K], T, D>, %w:tensor<[$E, $K], T, D>) -> "
        "(%p:tensor<[$B.., $k], T, D>, %i:tensor<[$B.., $k], Int32, D>) {{\n"
        "            linalg.D.MatMulOp [transpose_b:true] (%x, %w) -> (%s)\n"
        "            linalg.D.SoftmaxOp [axis:-1] (%s) -> (%q)\n"
        "            linalg.D.TopKOp [k:$k, dim:-1] (%q) -> (%p, %i)\n"
        "            cf.ReturnOp (%p, %i) -> ()\n        }}\n    }}\n"
        "    dialect.OpOp @Sum{0}Op [summary:\"A sum.\"] {{\n"
        "        (%xs:tensor<[$n..], T, D>[many:true]) -> (%y:tensor<[$n..], T, D>) {{\n"
        "            linalg.D.StackOp [dim:0] (%xs) -> (%s)\n"
        "            linalg.D.ReduceSumOp [dim:0, keep_dim:false] (%s) -> (%y)\n"
        "            cf.ReturnOp (%y) -> ()\n        }}\n    }}\n"
        "    dialect.OpOp @Scale{0}Op [attributes:{{by:{{type:float, default:0.5}}}}] {{\n"
        "        (%x:tensor<[$n..], T, D>) -> (%y:tensor<[$n..], T, D>) {{\n"
        "            linalg.D.MulOp(%x, %f:tensor<[1], T, D>[constant:[$by]]) -> (%y)\n"
        "            cf.ReturnOp (%y) -> ()\n        }}\n    }}\n"
        "    dialect.OpOp @Half{0}Op {{\n"
        "        (%x:tensor<[$B.., 2*$h], T, D>) -> (%y:tensor<[$B.., $h], T, D>) {{\n"
        "            linalg.D.SplitOp [dim:-1, split_size_or_sections:[$h, $h]] (%x) -> (%y, %r)\n"
        "            cf.ReturnOp (%y) -> ()\n        }}\n    }}\n",
        i);
  }
  return text + "}\n";
}

void read_dialect(benchmark::State& state) {
  const std::string text = dialect_text();
  for (auto _ : state) {
    state.PauseTiming();
    auto context = std::make_unique<IRContext>();
    register_builtin_dialects(*context);
    const SourceFile* file = context->sources().add("many.mir", text);
    Diagnostics diagnostics;
    state.ResumeTiming();
    benchmark::DoNotOptimize(read_modules(*file, *context, diagnostics));
    state.PauseTiming();
    if (diagnostics.has_errors() || context->find_dialect("many") == nullptr) {
      state.SkipWithError("the dialect is not read");
    }
    context.reset();
    state.ResumeTiming();
  }
  state.counters["ops"] = kOps;
}
BENCHMARK(read_dialect)->Unit(benchmark::kMicrosecond);

/// A text of equal length in ops of linalg, for comparison.
void read_module(benchmark::State& state) {
  std::string text = "@main [mir_version:1] (%x0:tensor<[4, 8], Float32, CPU>) -> () {\n";
  const int lines = static_cast<int>(dialect_text().size() / 64);
  for (int i = 0; i < lines; ++i) {
    text += fmt::format("    linalg.CPU.AddOp(%x{}, %x{}) -> (%x{}:tensor<[4, 8], Float32, CPU>)\n",
                        i, i, i + 1);
  }
  text += "    cf.ReturnOp () -> ()\n}\n";
  for (auto _ : state) {
    state.PauseTiming();
    auto context = std::make_unique<IRContext>();
    register_builtin_dialects(*context);
    const SourceFile* file = context->sources().add("main.mir", text);
    Diagnostics diagnostics;
    state.ResumeTiming();
    benchmark::DoNotOptimize(read_modules(*file, *context, diagnostics));
    state.PauseTiming();
    context.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(read_module)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();

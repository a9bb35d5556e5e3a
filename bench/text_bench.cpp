// Speed of text: scan, parse, text to IR, IR to text, format, verify.
//
//   text_bench FILE... [--benchmark_...]
//
// Each figure is bytes of the file per second of one core. bench/README.md says how to make the
// large inputs and how to compare with a peer.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <deque>

#include "mir/dialects.hpp"
#include "mir/format.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"
#include "support/file_io.hpp"
#include "syntax/lexer.hpp"

namespace {

using namespace mir;

void count_bytes(benchmark::State& state, const SourceFile& file) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * file.size());
}

void scan_text(benchmark::State& state, const SourceFile& file) {
  for (auto _ : state) {
    Diagnostics diagnostics;
    Lexer lexer(file, diagnostics);
    std::size_t tokens = 0;
    while (lexer.next() != TokenKind::kEnd) ++tokens;
    benchmark::DoNotOptimize(tokens);
  }
  count_bytes(state, file);
}

void parse_text(benchmark::State& state, const SourceFile& file) {
  for (auto _ : state) {
    Diagnostics diagnostics;
    benchmark::DoNotOptimize(parse(file, diagnostics));
  }
  count_bytes(state, file);
}

void format_text(benchmark::State& state, const SourceFile& file) {
  Diagnostics diagnostics;
  const auto tree = parse(file, diagnostics);
  for (auto _ : state) benchmark::DoNotOptimize(format(*tree));
  count_bytes(state, file);
}

struct Read {
  explicit Read(const SourceFile& file) {
    register_builtin_dialects(context);
    modules = read_modules(file, context, diagnostics);
  }
  IRContext context;
  Diagnostics diagnostics;
  std::vector<Module*> modules;
};

void text_to_ir(benchmark::State& state, const SourceFile& file) {
  double bytes = 0;
  for (auto _ : state) {
    auto read = std::make_unique<Read>(file);
    state.PauseTiming();
    bytes = static_cast<double>(read->context.memory());
    for (const Module* module : read->modules) bytes += static_cast<double>(module->memory());
    read.reset();
    state.ResumeTiming();
  }
  count_bytes(state, file);
  state.counters["ir_bytes_per_byte"] = bytes / file.size();
}

void ir_to_text(benchmark::State& state, const SourceFile& file) {
  const Read read(file);
  std::size_t written = 0;
  for (auto _ : state) {
    written = 0;
    print(read.modules, [&](std::string_view piece) { written += piece.size(); });
    benchmark::DoNotOptimize(written);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * written));
}

void verify_ir(benchmark::State& state, const SourceFile& file) {
  const Read read(file);
  std::size_t ops = 0;
  for (auto _ : state) {
    ops = 0;
    for (const Module* module : read.modules) {
      Diagnostics diagnostics;
      benchmark::DoNotOptimize(verify(*module, diagnostics));
      ops += module->op_id_end();
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * ops));
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (argc < 2) {
    std::fprintf(stderr, "usage: text_bench FILE... [--benchmark_...]\n");
    return 2;
  }
  SourceManager sources;
  for (int i = 1; i < argc; ++i) {
    auto text = read_file(argv[i], SourceManager::kMaxFileSize);
    const SourceFile* file = text ? sources.add(argv[i], *std::move(text)) : nullptr;
    if (file == nullptr) {
      std::fprintf(stderr, "text_bench: cannot read '%s'\n", argv[i]);
      return 3;
    }
    const auto add = [&](const char* name, void (*run)(benchmark::State&, const SourceFile&)) {
      benchmark::RegisterBenchmark((std::string(name) + " " + argv[i]).c_str(),
                                   [=](benchmark::State& state) { run(state, *file); })
          ->Unit(benchmark::kMillisecond);
    };
    add("scan", scan_text);
    add("parse", parse_text);
    add("text_to_ir", text_to_ir);
    add("ir_to_text", ir_to_text);
    add("format", format_text);
    add("verify", verify_ir);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

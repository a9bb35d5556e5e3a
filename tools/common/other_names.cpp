// Lists removed names of options, and names that other toolkits use, with the option to use here.
#include "other_names.hpp"

#include <fmt/format.h>

#include <span>

#include "passes/pipeline/foreign_passes.hpp"

namespace mir::tools {

namespace {

struct OtherName {
  std::string_view tool;  ///< empty: every tool
  std::string_view name;  ///< of the option, or `NAME=ARGUMENT`
  std::string_view use;
};

constexpr OtherName kRemoved[] = {
    {"", "group-by", "--summary"},
    {"mllm-check", "check-prefixes", "--check-prefix"},
    {"mllm-check", "jobs", "--threads"},
    {"mllm-check", "time-limit", "--timeout"},
    {"mllm-check", "format=human", "--format=text"},
    {"mllm-diff", "json", "--format=json"},
    {"mllm-diff", "normalise", "--normalize"},
    {"mllm-import", "layers", "--model-op"},
    {"mllm-interp", "atol", "--tolerance=abs=X,rel=Y"},
    {"mllm-interp", "json", "--format=json"},
    {"mllm-interp", "pipeline", "--passes"},
    {"mllm-interp", "rtol", "--tolerance=abs=X,rel=Y"},
    {"mllm-interp", "trace=pc", "--trace"},
    {"mllm-opt", "dump-dir", "--dump"},
    {"mllm-opt", "emit=cost-csv", "--emit=cost --format=csv"},
    {"mllm-opt", "emit=cost-json", "--emit=cost --format=json"},
    {"mllm-opt", "statistics=json", "--statistics --format=json"},
    {"mllm-opt", "statistics=table", "--statistics"},
    {"mllm-opt", "timing=json", "--timing --format=json"},
    {"mllm-opt", "timing=table", "--timing"},
    {"mllm-pack", "atol", "--tolerance=abs=X,rel=Y"},
    {"mllm-pack", "rtol", "--tolerance=abs=X,rel=Y"},
    {"mllm-parse", "emit=json", "--emit=ir --format=json"},
    {"mllm-parse", "emit=quant-csv", "--emit=quant --format=csv"},
    {"mllm-parse", "roundtrip=exact", "--roundtrip"},
    {"mllm-reduce", "diagnostic", "--reports"},
    {"mllm-reduce", "jobs", "--threads"},
    {"mllm-weights", "atol", "--tolerance=abs=X,rel=Y"},
    {"mllm-weights", "form", "--format"},
    {"mllm-weights", "rtol", "--tolerance=abs=X,rel=Y"},
};

/// Names of mlir-opt, opt, FileCheck, llvm-reduce, clang-format, diff and llama.cpp.
constexpr OtherName kElsewhere[] = {
    {"", "Werror", "--deny=WHAT"},
    {"", "out", "--output"},
    {"", "outfile", "--output"},
    {"", "verify-each=0", "--verify-each=no"},
    {"mllm-check", "input-file", "--input"},
    {"mllm-check", "update-golden", "--update"},
    {"mllm-diff", "brief", "--stat"},
    {"mllm-fmt", "dry-run", "--check"},
    {"mllm-fmt", "inplace", "--in-place"},
    {"mllm-fmt", "line-length", "--columns"},
    {"mllm-fmt", "write", "--in-place"},
    {"mllm-interp", "entry-point", "--entry"},
    {"mllm-interp", "model", "the name of the file alone"},
    {"mllm-interp", "pass-pipeline", "--passes"},
    {"mllm-interp", "verbose", "--probe='*'"},
    {"mllm-opt", "bind", "--passes='bind-symbols{NAME=N}'"},
    {"mllm-opt", "debug", "--trace-rewrites"},
    {"mllm-opt", "dry-run", "--print-pipeline"},
    {"mllm-opt", "emit=mlir", "--emit=module"},
    {"mllm-opt", "load-pass-plugin", "--load-passes"},
    {"mllm-opt", "mlir-pass-statistics", "--statistics"},
    {"mllm-opt", "mlir-print-debuginfo", "mllm-parse --emit=ir, which keeps loc(...)"},
    {"mllm-opt", "mlir-print-ir-after", "--print-after"},
    {"mllm-opt", "mlir-print-ir-after-all", "--print-after=all"},
    {"mllm-opt", "mlir-print-ir-after-change", "--print-after-change=all"},
    {"mllm-opt", "mlir-print-ir-before", "--print-before"},
    {"mllm-opt", "mlir-print-ir-before-all", "--print-before=all"},
    {"mllm-opt", "mlir-print-ir-tree-dir", "--dump"},
    {"mllm-opt", "mlir-print-op-generic", "mllm-fmt --full"},
    {"mllm-opt", "mlir-timing", "--timing"},
    {"mllm-opt", "opt-bisect-limit", "--rewrite-limit"},
    {"mllm-opt", "pass-pipeline", "--passes"},
    {"mllm-opt", "pass-statistics", "--statistics"},
    {"mllm-opt", "print-after-all", "--print-after=all"},
    {"mllm-opt", "print-before-all", "--print-before=all"},
    {"mllm-opt", "print-changed", "--print-after-change=all"},
    {"mllm-opt", "print-ir-after-all", "--print-after=all"},
    {"mllm-opt", "print-ir-before-all", "--print-before=all"},
    {"mllm-opt", "show-passes", "--list-passes"},
    {"mllm-opt", "stats", "--statistics"},
    {"mllm-opt", "time-passes", "--timing"},
    {"mllm-parse", "ast-dump", "--emit=syntax"},
    {"mllm-parse", "emit=ast", "--emit=syntax"},
    {"mllm-parse", "emit=mlir", "--emit=ir"},
    {"mllm-parse", "json", "--emit=ir --format=json"},
    {"mllm-parse", "show-dialects", "--list-ops"},
    {"mllm-reduce", "interestingness-test", "--test"},
    {"mllm-reduce", "pass-pipeline", "--passes"},
    {"mllm-weights", "outtype", "--dtype"},
};

bool is_of(const OtherName& row, std::string_view tool) {
  return row.tool.empty() || row.tool == tool;
}

}  // namespace

std::string use_instead(std::string_view tool, std::string_view option, std::string_view argument) {
  const std::string whole = fmt::format("{}={}", option, argument);
  for (const std::span<const OtherName> list :
       {std::span<const OtherName>(kRemoved), std::span<const OtherName>(kElsewhere)}) {
    for (const OtherName& row : list) {
      if (is_of(row, tool) && (row.name == option || row.name == whole))
        return fmt::format("; use {}", row.use);
    }
  }
  // mlir-opt has an option for each pass.
  const std::string_view pass = tool == "mllm-opt" ? pass_called_elsewhere(option) : "";
  return pass.empty() ? "" : fmt::format("; use -p {}", pass);
}

}  // namespace mir::tools

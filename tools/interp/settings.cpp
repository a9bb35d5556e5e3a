#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace mir::tools {

namespace {

constexpr Option kOptions[] = {
    {.name = "weights",
     .letter = 'w',
     .argument = "SPEC",
     .help = "take parameters from FILE (safetensors, gguf, mllm, npz), random:SEED or splat:V; "
             "later ones win",
     .repeatable = true},
    {.name = "input",
     .letter = 'i',
     .argument = "[PORT=]SPEC",
     .help = "an input as FILE.npy, FILE.npz:MEMBER, a number or list, random:SEED, zeros or iota; "
             "PORT is a name, %id or position",
     .repeatable = true},
    {.name = "output",
     .letter = 'o',
     .argument = "[PORT=]FILE",
     .help = "write an output to FILE.npy, or all of them to FILE.npz; of the last run, or of each "
             "where FILE has {run}, its number",
     .repeatable = true},
    {.name = "expect",
     .argument = "[PORT=]SPEC",
     .help = "compare an output with this tensor; exit with 1 when they differ; {run} as above",
     .repeatable = true},
    {.name = "rtol", .argument = "X", .help = "relative tolerance of floating types (by type)"},
    {.name = "atol", .argument = "X", .help = "absolute tolerance of floating types (by type)"},
    {.name = "tolerance",
     .argument = "[TYPE:]ITEMS",
     .help =
         "what --expect and --against demand of an element type or of all, with commas between: "
         "exact, abs=X, rel=X, ulp=X, correlation=X, cosine=X, topK=X",
     .repeatable = true},
    {.name = "probe",
     .argument = "PATTERNS",
     .help = "show results inside the run: %VALUE, @GRAPH, @GRAPH%VALUE or an op's name, with "
             "commas between; * and ? stand for others",
     .repeatable = true},
    {.name = "dump",
     .argument = "FOLDER",
     .help = "write all results, or those of --probe, as NPY files with an index"},
    {.name = "against",
     .argument = "PATH",
     .help = "find the first op whose operands agree with those of another module or of a dump and "
             "whose results do not; exit with 1 when there is one"},
    {.name = "against-weights",
     .argument = "SPEC",
     .help = "with --against: other parameters for the other module",
     .repeatable = true},
    {.name = "report", .argument = "FILE", .help = "write what was shown and compared as JSON"},
    {.name = "then",
     .argument = "[@GRAPH*]N",
     .help = "run N times more, with what the caches hold: the same, or this graph",
     .repeatable = true},
    {.name = "feed",
     .argument = "IN=SOURCE",
     .help = "an input of the runs of --then: %OUT or argmax(%OUT) of the run before, $past (the "
             "numbers from there on), or what --input takes; others stay as they were",
     .repeatable = true},
    {.name = "bind",
     .argument = "S=N",
     .help = "give a dimension symbol its value in the first run",
     .repeatable = true},
    {.name = "describe", .help = "run nothing: show inputs, outputs, parameters, caches, memory"},
    {.name = "json", .help = "with --describe: one JSON object"},
    {.name = "print-outputs",
     .argument = "WHEN",
     .help = "yes (default) or no: type, extents, range and hash of each output",
     .choices = "yes no"},
    {.name = "top", .argument = "K", .help = "show the K largest elements of each last row"},
    {.name = "module", .argument = "NAME", .help = "the module to run where the file has several"},
    {.name = "entry", .argument = "GRAPH", .help = "run this graph instead of the module's body"},
    {.name = "bind-op",
     .argument = "TYPE=@GRAPH",
     .help = "let a graph of the module compute the ops of this type, which have no kernel",
     .repeatable = true},
    {.name = "symbolic-dim",
     .argument = "S@inputN:D",
     .help = "make dimension D of a dump's input N the symbol $S, and all that follows from it",
     .repeatable = true},
    {.name = "assume",
     .argument = "FACT",
     .help = "grant what a dump lost: rms_eps=X or layer_norm_eps=X, the epsilons of its norms",
     .repeatable = true},
    {.name = "kernels",
     .argument = "SET",
     .help = "ref (default): the meaning of each op, the same bits everywhere; fast: blocked, "
             "vectorised and threaded; both: fast, each result compared with ref's",
     .choices = "ref fast both"},
    {.name = "fusion",
     .argument = "WHICH",
     .help = "steps that fast kernels compute as one: off, exact (the bits of the steps one by "
             "one) or all (default)",
     .choices = "off exact all"},
    {.name = "threads",
     .argument = "N",
     .help = "threads of fast kernels; results never depend on them"},
};

}  // namespace

const ToolInfo kInterpTool = {
    .name = "mllm-interp",
    .summary = "Runs a module and shows or checks what it computes.",
    .operands = "[file]",
    .options = kOptions,
    .examples = {{{"mllm-interp model.mir -w model.safetensors -i ids.npy --top=5",
                   "run a model and show the five likeliest tokens"},
                  {"mllm-interp model.mir --describe --bind=S=16 --bind=past=0",
                   "show what a run with 16 tokens needs"}}},
    .verifies = true,
};

namespace {

constexpr std::size_t kMostRuns = 1'000'000;

/// A number that is not negative.
template <class Number, class Into>
Result<void> read_number(std::string_view what, std::string_view text, Into& into) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= Number{})) {
    return Error{DiagCode::kUsage, fmt::format("{} is a number, found '{}'", what, text)};
  }
  into = value;
  return {};
}

template <class Number>
Result<void> read_option(const Arguments& arguments, std::string_view option, Number& into) {
  if (!arguments.has(option)) return {};
  return read_number<Number>(fmt::format("--{}", option), arguments.value(option), into);
}

Result<void> read_tolerances(const Arguments& arguments, TolerancePolicy& policy) {
  double value = 0;
  for (const std::string_view option : {"rtol", "atol"}) {
    if (!arguments.has(option)) continue;
    if (auto read = read_option(arguments, option, value); !read) return read;
    option == "rtol" ? policy.set_default_rel(value) : policy.set_default_abs(value);
  }
  for (const std::string& text : arguments.values("tolerance")) {
    if (auto added = policy.add(text); !added) return added;
  }
  return {};
}

Result<Stage> stage_of(std::string_view text) {
  Stage stage;
  std::string_view count = text;
  if (text.starts_with('@')) {
    const auto star = text.rfind('*');
    stage.graph = text.substr(1, star == text.npos ? text.npos : star - 1);
    count = star == text.npos ? "1" : text.substr(star + 1);
  }
  auto read = read_number<std::size_t>("the number of runs of --then", count, stage.count);
  if (!read) return std::move(read).error();
  if (stage.count > kMostRuns) {
    return Error{DiagCode::kUsage, fmt::format("--then runs at most {} times", kMostRuns)};
  }
  return stage;
}

/// `TYPE=@GRAPH`.
Result<void> bind_op(InterpSettings& settings, std::string_view text) {
  const auto equals = text.find("=@");
  const bool good = equals != text.npos && equals > 0 && equals + 2 < text.size();
  if (good) {
    const auto bound = settings.bound_ops.emplace(text.substr(0, equals), text.substr(equals + 2));
    if (bound.second) return {};
  }
  return Error{DiagCode::kUsage,
               good ? fmt::format("--bind-op binds '{}' twice", text.substr(0, equals))
                    : fmt::format("--bind-op is TYPE=@GRAPH, found '{}'", text)};
}

Result<void> read_runs(const Arguments& arguments, InterpSettings& settings) {
  for (const std::string& text : arguments.values("then")) {
    auto stage = stage_of(text);
    if (!stage) return std::move(stage).error();
    settings.stages.push_back(*std::move(stage));
  }
  for (const std::string& text : arguments.values("feed")) {
    auto feed = parse_feed(text);
    if (!feed) return Error{DiagCode::kUsage, feed.error().message};
    settings.feeds.push_back(*std::move(feed));
  }
  return {};
}

}  // namespace

Result<InterpSettings> interp_settings(const Arguments& arguments) {
  InterpSettings settings;
  for (auto read : {read_tolerances(arguments, settings.tolerances),
                    read_option(arguments, "top", settings.top),
                    read_option(arguments, "threads", settings.threads)}) {
    if (!read) return read.error();
  }
  for (const std::string& fact : arguments.values("assume")) {
    if (auto granted = grant(settings.assumed, fact); !granted) return granted.error();
  }
  for (const std::string& text : arguments.values("symbolic-dim")) {
    auto wanted = parse_symbolic_dim(text);
    if (!wanted) return wanted.error();
    settings.assumed.symbolic_dims.push_back(*std::move(wanted));
  }
  if (auto read = read_runs(arguments, settings); !read) return read.error();
  for (const std::string& text : arguments.values("bind-op")) {
    if (auto bound = bind_op(settings, text); !bound) return bound.error();
  }
  for (const std::string& patterns : arguments.values("probe")) {
    auto probe = Probe::parse(patterns);
    if (!probe) return std::move(probe).error();
    settings.probes.push_back(*std::move(probe));
  }
  if (arguments.operands().size() > 1) return Error{DiagCode::kUsage, "one file is run at a time"};
  return settings;
}

}  // namespace mir::tools

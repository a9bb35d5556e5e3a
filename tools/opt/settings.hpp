// The options of mllm-opt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect_files.hpp"
#include "granted.hpp"
#include "known_passes.hpp"
#include "load_passes.hpp"
#include "option.hpp"
#include "passes/link/link_modules.hpp"
#include "pattern_files.hpp"
#include "pipelines.hpp"
#include "report_format.hpp"
#include "target_version.hpp"
#include "verification.hpp"

namespace mir::tools {

/// Names of passes; `all` selects every pass.
struct PassNames {
  bool has_all = false;
  std::vector<std::string_view> names;  ///< as the registry has them

  bool has(std::string_view name) const;
};

/// The conditions under which a run reads facts: it has one of these passes, or proposes symbols.
FactReaders passes_that_read_facts();

enum class PipelineEnd : std::uint8_t { kFirst, kLast };

/// Passes by name with commas between, or `all`. The name of a pipeline selects the pass at one end
/// of it.
Argument<PassNames> pass_names(const PassRegistry& registry, PipelineEnd end);
/// The claim of a step about its results.
struct StepClaim {
  enum class Kind : std::uint8_t { kBits, kValue, kBound };
  Kind kind = Kind::kBits;
  double bound = 0;          ///< of kBound: in units of the largest magnitude of a result
  std::string text{"bits"};  ///< as it was given
};
/// `bits`, `value` or `bound:X`.
Argument<StepClaim> step_claim();
/// True if --dump can write a file of this name.
bool is_pass_dump(std::string_view name);
/// True if --counterexamples can write a file of this name.
bool is_counterexample(std::string_view name);

inline constexpr Choice<Generation> kGenerations[] = {{"2025-06", Generation::k2025_06},
                                                      {"2025-07", Generation::k2025_07},
                                                      {"2025-10", Generation::k2025_10},
                                                      {"2025-12", Generation::k2025_12}};

/// Output of mllm-opt for modules: their text, a report of their cost, or the extents that may be
/// symbols.
enum class OptOutput : std::uint8_t { kModule, kC, kCBlocks, kCHeader, kCost, kSymbolicDims };
inline constexpr Choice<OptOutput> kOptOutputs[] = {
    {"module", OptOutput::kModule},
    {"c", OptOutput::kC,
     "a C11 file with a function that runs the module, whose ops are decomposed before"},
    {"c-blocks", OptOutput::kCBlocks,
     "the same, with parallel loops that call a function of their index"},
    {"c-header", OptOutput::kCHeader, "its header"},
    {"cost", OptOutput::kCost,
     "operations of products, memory traffic and peak memory; bind-symbols gives symbols values "
     "first"},
    {"symbolic-dims", OptOutput::kSymbolicDims,
     "the extents of a dump's inputs that --symbolic-dim can make symbols, with what follows"}};

inline constexpr Choice<NameCollision> kNameCollisions[] = {
    {"refuse", NameCollision::kRefuse},
    {"rename", NameCollision::kRename, "the later graph gets another name"}};

enum class VerifyEach : std::uint8_t { kYes, kNo, kText };
inline constexpr Choice<VerifyEach> kVerifyEach[] = {
    {"yes", VerifyEach::kYes},
    {"no", VerifyEach::kNo},
    {"text", VerifyEach::kText, "the printed module is read and verified, too"}};

/// A graph, or with `*` or `?` a pattern, which names none.
inline References<std::string> graph_or_pattern() {
  return {{ReferenceKind::kGraph}, [](const std::string& text) {
            return text.find_first_of("*?") == text.npos
                       ? std::vector<Reference>{{ReferenceKind::kGraph, text}}
                       : std::vector<Reference>();
          }};
}

struct OptSettings {
  OptionSet& options;
  KnownPasses known{};

  OptionGroup running{options, "Running passes"};
  OptionList<std::string> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "PIPELINE",
       .help = "run passes in order: PASS, PASS{KEY=VALUE,KEY}, A,B, a pipeline "
               "(docs/pipelines.md) or @FILE; --list-passes lists them, --help=PASS shows the "
               "keys; without it, only check the module"},
      pipeline_text(known.registry)};
  Flag list_passes{options, {.name = "list-passes", .help = "list all passes and exit"}};
  Flag print_pipeline{options,
                      {.name = "print-pipeline",
                       .help = "print the pipeline, with named pipelines expanded, and exit"}};
  PatternSettings patterns{options, known.registry, dialects};
  OptionList<std::string> load_passes{
      options,
      {.name = kLoadPasses,
       .argument = "FILE",
       .help = "add the passes of a shared library (docs/howto/write-a-pass.md)",
       .turn = ReadingTurn::kPasses},
      pass_plugin(known.registry)};
  Option<unsigned> threads{
      options,
      {.name = "threads",
       .letter = 'j',
       .argument = "N",
       .help = "run passes on N graphs in parallel; the output does not depend on N"},
      number<unsigned>({.least = 1, .most = 256}),
      1};
  Flag list_passes_markdown{
      options, {.name = "list-passes-markdown", .help = "write the page docs/passes.md and exit"}};

  OptionGroup modules{options, "Modules of a file"};
  Option<std::string> module{options,
                             {.name = "module",
                              .argument = "NAME",
                              .help = "process only this module, by name or position"},
                             symbol_name(ReferenceKind::kModule)};
  Option<NameCollision> link_modules{
      options,
      {.name = "link-modules",
       .argument = "WHAT",
       .help = "make the modules of a file one, before the passes; a name that is taken",
       .implied = "refuse"},
      choice(kNameCollisions)};
  OptionList<std::string> split_module{
      options,
      {.name = "split-module",
       .argument = "PATTERN",
       .help = "after the passes, write a module for each graph of this name, in which * stands "
               "for any text; it runs alone",
       .implied = "*"},
      any_text(graph_or_pattern())};
  Flag split_input_file{options,
                        {.name = "split-input-file",
                         .help = "process the parts between '// -----' lines separately"}};
  DialectSettings dialects{options};
  const FactReaders readers = passes_that_read_facts();
  FactSettings facts{options, readers};
  Option<std::string> write_sidecar{
      options,
      {.name = "write-sidecar",
       .argument = "FILE",
       .help = "write the supplied facts, and null for each one that is lost, as a JSON file for "
               "--sidecar",
       .needs = readers.of_grants,
       .excludes = "split-input-file emit=symbolic-dims"},
      written_file("json")};
  Option<std::string> loss_report{
      options,
      {.name = "loss-report",
       .argument = "FILE",
       .help = "write what the dump lost and what replaced it; as JSON if FILE ends in .json",
       .excludes = "split-input-file emit=symbolic-dims"},
      written_file()};

  OptionGroup output{options, "Output"};
  Option<OptOutput> emit{options,
                         {.name = "emit",
                          .argument = "WHAT",
                          .help = "write the modules after the passes, or a report on them"},
                         choice(kOptOutputs),
                         OptOutput::kModule};
  Option<TableFormat> format{options,
                             {.name = "format",
                              .argument = "FORMAT",
                              .help = "write the report in this format",
                              .needs = "emit=cost timing statistics"},
                             choice(kTableFormats),
                             TableFormat::kTable};
  TargetVersionSettings target{options, "emit=c emit=c-header emit=cost emit=symbolic-dims"};
  Option<Generation> generation{options,
                                {.name = "generation",
                                 .argument = "WHEN",
                                 .help = "write this upstream version",
                                 .needs = "pass:downgrade"},
                                choice(kGenerations),
                                Generation::k2025_12};
  Option<double> peak_flops{options,
                            {.name = "peak-flops",
                             .argument = "X",
                             .help = "show the time at X operations of products in a second",
                             .otherwise = "no limit",
                             .needs = "emit=cost"},
                            number<double>({.least = 1})};
  Option<double> bandwidth{options,
                           {.name = "bandwidth",
                            .argument = "X",
                            .help = "show the time at X bytes read or written in a second",
                            .otherwise = "no limit",
                            .needs = "emit=cost"},
                           number<double>({.least = 1})};

  OptionGroup watching{options, "Watching passes"};
  OptionList<PassNames> print_before{
      options,
      {.name = "print-before",
       .argument = "A,B",
       .help = "print the module before these passes, or all, to standard error"},
      pass_names(known.registry, PipelineEnd::kFirst)};
  OptionList<PassNames> print_after{
      options,
      {.name = "print-after",
       .argument = "A,B",
       .help = "print the module after these passes, or all, to standard error"},
      pass_names(known.registry, PipelineEnd::kLast)};
  OptionList<PassNames> print_before_change{
      options,
      {.name = "print-before-change",
       .argument = "A,B",
       .help = "like --print-before, but only if the pass then changes the module"},
      pass_names(known.registry, PipelineEnd::kFirst)};
  OptionList<PassNames> print_after_change{
      options,
      {.name = "print-after-change",
       .argument = "A,B",
       .help = "like --print-after, but only if the pass changed the module"},
      pass_names(known.registry, PipelineEnd::kLast)};
  Option<std::string> dump{options,
                           {.name = "dump",
                            .argument = "FOLDER",
                            .help = "write the input, the module after each pass that changes "
                                    "it, and the diffs to numbered files in FOLDER"},
                           written_folder(is_pass_dump)};
  Flag timing{options, {.name = "timing", .help = "print the time of each pass to standard error"}};
  Flag statistics{
      options, {.name = "statistics", .help = "print the counters of each pass to standard error"}};
  Flag trace_rewrites{options,
                      {.name = "trace-rewrites",
                       .help = "print each rewrite, with its pattern and op, to standard error"}};
  OptionList<std::string> explain_no_match{
      options,
      {.name = "explain-no-match",
       .argument = "VALUE",
       .help =
           "before each pass of patterns, tell why its patterns do not match the operation that "
           "defines the value"},
      value_name()};
  Flag explain_conversion{
      options,
      {.name = "explain-conversion",
       .help = "print what a conversion does with each illegal operation, to standard error"}};

  OptionGroup testing{options, "Testing passes and finding faults"};
  Option<std::uint64_t> validate{
      options,
      {.name = "validate",
       .argument = "N",
       .help =
           "run each rewrite, and each module before and after the passes, on N random inputs "
           "and compare the results; with --validate-patterns, try N instances of each pattern"},
      number<std::uint64_t>({.least = 1}),
      1000};
  Option<double> bound{options,
                       {.name = "bound",
                        .argument = "X",
                        .help = "accept results that differ by X times the largest magnitude",
                        .otherwise = "equal results",
                        .needs = "validate",
                        .excludes = "validate-patterns"},
                       number<double>({.least = 0})};
  Option<std::uint64_t> seed{options,
                             {.name = "seed",
                              .argument = "N",
                              .help = "seed of the random inputs",
                              .needs = "validate validate-patterns validate-step"},
                             number<std::uint64_t>(),
                             0};
  OptionList<std::string> validate_patterns{
      options,
      {.name = "validate-patterns",
       .argument = "FILE",
       .help = "try whether the patterns of FILE keep what they claim, by running both sides, and "
               "exit"},
      read_file_name("*.mir")};
  Flag validate_step{
      options,
      {.name = "validate-step",
       .help = "run the modules of two files, BEFORE and AFTER, on random inputs, judge the second "
               "like what a pass made of the first, and exit",
       .excludes = "validate-patterns"}};
  Option<StepClaim> claim{
      options,
      {.name = "claim",
       .argument = "CLAIM",
       .help = "what the step keeps: bits, value (a NaN may have other bits), or bound:X, a "
               "difference of X times the largest magnitude",
       .otherwise = "bits",
       .needs = "validate-step"},
      step_claim()};
  Option<std::string> search{
      options,
      {.name = "search",
       .argument = "PIPELINE",
       .help = "try a schedule, or @FILE, with each of the values in lists <A|B>, write the one "
               "that moves least memory, and exit",
       .excludes = "passes emit validate validate-patterns validate-step"},
      pipeline_text(known.registry)};
  Option<std::uint64_t> budget{
      options,
      {.name = "budget", .argument = "N", .help = "try at most N schedules", .needs = "search"},
      number<std::uint64_t>({.least = 1, .most = 1'000'000}),
      100};
  Option<std::string> counterexamples{
      options,
      {.name = "counterexamples",
       .argument = "FOLDER",
       .help = "write a pack for each pattern or step that does not keep its claim; mllm-interp "
               "shows what differs",
       .needs = "validate validate-patterns validate-step"},
      written_folder(is_counterexample)};
  Option<std::uint64_t> rewrite_limit{
      options,
      {.name = "rewrite-limit",
       .argument = "N",
       .help = "stop after N rewrites; mllm-reduce --bisect finds the first wrong one this way",
       .otherwise = "none"},
      number<std::uint64_t>()};
  Option<std::string> reproducer{
      options,
      {.name = "reproducer",
       .argument = "FILE",
       .help = "if a pass fails, write its input and the command that repeats the failure to FILE"},
      written_file()};
  Flag verify_diagnostics{
      options,
      {.name = "verify-diagnostics",
       .help = "compare diagnostics with the file's 'expect-' comments; write no module"}};
  VerificationSettings verification{options};
  Option<VerifyEach> verify_each{
      options,
      {.name = "verify-each",
       .argument = "ANSWER",
       .help = "verify after every pass, not only before the first and after the last"},
      choice(kVerifyEach),
      VerifyEach::kYes};
  ConversionFacts conversion{};  ///< from the options that state facts
  bool reads_facts = false;      ///< the pipeline or the output does
  std::string found_sidecar =
      {};  ///< the sidecar file beside the text at hand; empty if there is none
};

}  // namespace mir::tools

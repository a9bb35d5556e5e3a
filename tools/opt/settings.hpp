// The options of mllm-opt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "granted.hpp"
#include "known_passes.hpp"
#include "option.hpp"
#include "verification.hpp"

namespace mir::tools {

/// Names of passes; `all` stands for every one.
struct PassNames {
  bool has_all = false;
  std::vector<std::string_view> names;  ///< as the registry has them

  bool has(std::string_view name) const;
};

/// Passes by name with commas between, or `all`.
Argument<PassNames> pass_names(const PassRegistry& registry);
/// A pipeline, which is read later, with the names of passes for completion.
Argument<std::string> pipeline_text(const PassRegistry& registry);

inline constexpr Choice<Generation> kGenerations[] = {
    {"2025-06", Generation::k2025_06, "kCPU, kFp32"},
    {"2025-07", Generation::k2025_07, "no names of ops"},
    {"2025-10", Generation::k2025_10, "[name=...]"},
    {"2025-12", Generation::k2025_12, "<name=...>, notes on quantisation"}};

enum class TableForm : std::uint8_t { kNone, kTable, kJson };
inline constexpr Choice<TableForm> kTableForms[] = {{"table", TableForm::kTable},
                                                    {"json", TableForm::kJson}};

inline constexpr Choice<bool> kYesNo[] = {{"yes", true}, {"no", false}};

struct OptSettings {
  OptionSet& options;
  KnownPasses known{};

  OptionList<std::string> passes{
      options,
      {.name = "passes",
       .letter = 'p',
       .argument = "PIPELINE",
       .help = "run these passes, in this order: A,B, or a pipeline (docs/pipelines.md), or @FILE "
               "with one; without it the module is only checked"},
      pipeline_text(known.registry)};
  Flag list_passes{options, {.name = "list-passes", .help = "list every pass and stop"}};
  Flag list_passes_markdown{
      options, {.name = "list-passes-markdown", .help = "the same as the page docs/passes.md"}};
  Flag print_pipeline{options,
                      {.name = "print-pipeline",
                       .help = "write the pipeline as it was understood, those with a name "
                               "written out, and stop"}};
  FactSettings facts{options};
  SidecarSettings sidecars{options};
  Option<std::string> loss_report{
      options,
      {.name = "loss-report",
       .argument = "FILE",
       .help = "write what a dump lost and what was used for it, as JSON where FILE ends in .json"},
      any_file()};
  Option<Generation> generation{options,
                                {.name = "generation",
                                 .argument = "WHEN",
                                 .help = "the version of upstream that downgrade spells"},
                                choice(kGenerations),
                                Generation::k2025_12};
  Option<unsigned> threads{options,
                           {.name = "threads",
                            .argument = "N",
                            .help = "graphs that are worked on at once; the text does not depend "
                                    "on it"},
                           number<unsigned>({.least = 1, .most = 256}),
                           1};

  OptionList<PassNames> print_before{
      options,
      {.name = "print-before",
       .argument = "A,B",
       .help = "write the module to standard error before these passes; all: before each"},
      pass_names(known.registry)};
  OptionList<PassNames> print_after{
      options,
      {.name = "print-after", .argument = "A,B", .help = "the same after these passes"},
      pass_names(known.registry)};
  OptionList<PassNames> print_before_change{
      options,
      {.name = "print-before-change",
       .argument = "A,B",
       .help = "as --print-before, where the pass then changes something"},
      pass_names(known.registry)};
  OptionList<PassNames> print_after_change{
      options,
      {.name = "print-after-change",
       .argument = "A,B",
       .help = "as --print-after, where the pass changed something"},
      pass_names(known.registry)};
  Option<std::string> dump_dir{
      options,
      {.name = "dump-dir",
       .argument = "DIR",
       .help = "write the module that is read, and that after each pass which changes it, to "
               "numbered files in DIR, with what differs"},
      any_folder()};
  Option<TableForm> timing{options,
                           {.name = "timing",
                            .argument = "FORM",
                            .help = "write the time of each pass to standard error",
                            .implied = "table"},
                           choice(kTableForms)};
  Option<TableForm> statistics{options,
                               {.name = "statistics",
                                .argument = "FORM",
                                .help = "write what each pass counted to standard error",
                                .implied = "table"},
                               choice(kTableForms)};
  Option<std::uint64_t> rewrite_limit{
      options,
      {.name = "rewrite-limit",
       .argument = "N",
       .help = "make N rewrites in all and no more: the Nth is at fault where N - 1 give no error",
       .otherwise = "none"},
      number<std::uint64_t>()};
  Flag trace_rewrites{options,
                      {.name = "trace-rewrites",
                       .help = "write each rewrite, with its pattern and op, to standard error"}};
  Option<std::string> reproducer{
      options,
      {.name = "reproducer",
       .argument = "FILE",
       .help = "keep the module before a pass that fails, with the command that repeats it"},
      any_file()};

  Option<std::string> module{
      options,
      {.name = "module", .argument = "NAME", .help = "only the module @NAME of each file"},
      symbol_name()};
  Flag split_input_file{options,
                        {.name = "split-input-file",
                         .help = "take the parts between lines '// -----' for themselves"}};
  Flag verify_diagnostics{
      options,
      {.name = "verify-diagnostics",
       .help =
           "compare what is reported with the text's 'expect-' comments; no module is written"}};
  Option<bool> verify_each{options,
                           {.name = "verify-each",
                            .argument = "ANSWER",
                            .help = "whether to check the module after each pass, or only before "
                                    "the first and after the last"},
                           choice(kYesNo),
                           true};
  VerificationSettings verification{options};
};

}  // namespace mir::tools

// The options of mllm-parse.
#pragma once

#include <span>
#include <string>

#include "dialect_files.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "option.hpp"
#include "program_input.hpp"
#include "syntax/listing.hpp"
#include "text/emit/emit.hpp"
#include "tool.hpp"
#include "verification.hpp"

namespace mir::tools {

ExitCode write_ir(const Run& run, std::span<Module* const> modules);

/// A form to show a text in: made from its tree or from its modules, or written from those.
struct Form {
  std::string (*of_tree)(const SyntaxTree& tree) = nullptr;
  std::string (*of_modules)(std::span<Module* const> modules) = nullptr;
  ExitCode (*write)(const Run& run, std::span<Module* const> modules) = nullptr;
  friend bool operator==(const Form&, const Form&) = default;
};

inline constexpr Choice<Form> kForms[] = {
    {"tokens", {.of_tree = list_tokens}},
    {"syntax", {.of_tree = list_syntax}},
    {"ir", {.write = write_ir}},
    {"json", {.of_modules = emit_json}},
    {"stats", {.of_modules = emit_stats}},
    {"dot", {.of_modules = emit_dot}},
    {"quant", {.of_modules = emit_quant}, "table of quantisations"},
    {"quant-csv", {.of_modules = emit_quant_csv}},
    {"program", {.write = write_program}, "executable JSON"}};

inline constexpr Choice<bool> kIsPortable[] = {{"dump", false}, {"portable", true}};

struct ParseSettings {
  OptionSet& options;

  OptionGroup output{options, "Output"};
  Option<Form> emit{
      options, {.name = "emit", .argument = "FORM", .help = "write another form"}, choice(kForms)};

  OptionGroup modules{options, "Modules of a file"};
  Option<std::string> module{options,
                             {.name = "module",
                              .argument = "NAME",
                              .help = "process only this module, by name or position"},
                             symbol_name(ReferenceKind::kModule)};
  Flag split_input_file{options,
                        {.name = "split-input-file",
                         .help = "process the parts between '// -----' lines separately"}};
  Option<bool> form{
      options,
      {.name = "form", .argument = "FORM", .help = "accept only modules in this form"},
      choice(kIsPortable)};
  DialectSettings dialects{options};
  VerificationSettings verification{options};
  Flag verify_diagnostics{options,
                          {.name = "verify-diagnostics",
                           .help = "compare diagnostics with the file's 'expect-' comments"}};
  Option<bool> roundtrip{options,
                         {.name = "roundtrip",
                          .argument = "exact",
                          .help = "rebuild each text from its tree and compare all bytes"},
                         choice_of<bool>({{"exact", true}})};

  OptionGroup lists{options, "Lists of what the toolkit knows"};
  Flag list_ops{options, {.name = "list-ops", .help = "list all known ops and exit"}};
  Flag list_types{options, {.name = "list-types", .help = "list all declared types and exit"}};
  Flag list_codes{options, {.name = "list-codes", .help = "list all diagnostic codes and exit"}};
  Flag list_keywords{
      options, {.name = "list-keywords", .help = "list the words that editors colour and exit"}};
  Option<std::string> print_dialect{options,
                                    {.name = "print-dialect",
                                     .argument = "DIALECT",
                                     .help = "write the module that declares a dialect and exit"},
                                    any_text(kRefersToNothing)};
  Flag list_ops_markdown{
      options, {.name = "list-ops-markdown", .help = "write the page docs/ops.md and exit"}};
  Flag list_codes_markdown{
      options,
      {.name = "list-codes-markdown", .help = "write the page docs/diagnostics.md and exit"}};
};

}  // namespace mir::tools

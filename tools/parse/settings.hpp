// The options of mllm-parse.
#pragma once

#include <cstdint>
#include <optional>
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

enum class ViewFormat : std::uint8_t { kText, kCsv, kJson };
inline constexpr Choice<ViewFormat> kViewFormats[] = {
    {"text", ViewFormat::kText}, {"csv", ViewFormat::kCsv}, {"json", ViewFormat::kJson}};

/// A view of a text: made from its tree, its modules or a picture of them, or written from modules.
struct TextView {
  using OfModules = std::string (*)(std::span<Module* const> modules);

  std::string (*of_tree)(const SyntaxTree& tree) = nullptr;
  OfModules of_modules = nullptr;
  std::string (*of_picture)(const Picture& picture) = nullptr;
  ExitCode (*write)(const Run& run, std::span<Module* const> modules) = nullptr;
  OfModules as_csv = nullptr;   ///< null without this format
  OfModules as_json = nullptr;  ///< likewise

  /// Returns the view in another format; no value without that format.
  std::optional<TextView> in(ViewFormat format) const;
  friend bool operator==(const TextView&, const TextView&) = default;
};

inline constexpr Choice<TextView> kViews[] = {
    {"tokens", {.of_tree = list_tokens}},
    {"syntax", {.of_tree = list_syntax}},
    {"ir", {.write = write_ir, .as_json = emit_json}, "the modules"},
    {"stats", {.of_modules = emit_stats}, "counts of ops, types and bytes"},
    {"dot", {.of_picture = emit_dot}, "a picture for Graphviz"},
    {"mermaid", {.of_picture = emit_mermaid}, "a picture for pull requests"},
    {"quant", {.of_modules = emit_quant, .as_csv = emit_quant_csv}, "table of quantisations"},
    {"program", {.write = write_program}, "executable JSON"}};

inline constexpr Choice<bool> kIsPortable[] = {{"dump", false}, {"portable", true}};

struct ParseSettings {
  OptionSet& options;

  OptionGroup output{options, "Output"};
  Option<TextView> emit{options,
                        {.name = "emit", .argument = "WHAT", .help = "besides the check, write"},
                        choice(kViews)};
  Option<ViewFormat> format{options,
                            {.name = "format",
                             .argument = "FORMAT",
                             .help = "write in this format",
                             .needs = "emit=ir emit=quant"},
                            choice(kViewFormats),
                            ViewFormat::kText};

  Option<std::string> where{options,
                            {.name = "where",
                             .argument = "%VALUE",
                             .help = "write where the value and its extents come from"},
                            any_text(itself(ReferenceKind::kResult))};

  OptionGroup pictures{options, "Pictures"};
  Option<std::string> graph{options,
                            {.name = "graph",
                             .argument = "@NAME",
                             .help = "draw only this graph",
                             .needs = "emit=dot emit=mermaid"},
                            symbol_name(ReferenceKind::kGraph)};
  Option<std::size_t> depth{options,
                            {.name = "depth",
                             .argument = "N",
                             .help = "draw N levels of graphs and regions inside others",
                             .otherwise = "all levels",
                             .needs = "emit=dot emit=mermaid"},
                            number<std::size_t>()};
  Flag edge_types{options,
                  {.name = "edge-types",
                   .help = "write the types of values on edges",
                   .needs = "emit=dot emit=mermaid"}};

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
  Flag roundtrip{
      options,
      {.name = "roundtrip", .help = "rebuild each text from its tree and compare all bytes"}};

  OptionGroup lists{options, "Lists of what the toolkit knows"};
  Option<std::string> list_ops{
      options,
      {.name = "list-ops",
       .argument = "TEXT",
       .help = "list all known ops and exit; those with TEXT in their name with their operands, "
               "attributes and an example",
       .implied = ""},
      any_text(kRefersToNothing)};
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

// The options that every tool has.
#pragma once

#include <optional>
#include <string>

#include "mir/diagnostic.hpp"
#include "option.hpp"
#include "option_pages.hpp"

namespace mir::tools {

enum class Colour : std::uint8_t { kAuto, kAlways, kNever };

/// A form of diagnostics; none: one SARIF document at the end.
using ReportForm = std::optional<DiagnosticFormat>;
inline constexpr Choice<ReportForm> kReportForms[] = {
    {"human", DiagnosticFormat::kHuman},
    {"line", DiagnosticFormat::kLine},
    {"json", DiagnosticFormat::kJson, "one object per line"},
    {"sarif", std::nullopt},
    {"github", DiagnosticFormat::kGithub, "annotations of a change"}};

inline constexpr Choice<Colour> kColours[] = {
    {"auto", Colour::kAuto, "on a terminal, unless NO_COLOR is set"},
    {"always", Colour::kAlways},
    {"never", Colour::kNever}};

/// A way to show the rows of a tool.
struct ToolPage {
  std::string (*make)(const ToolInfo& tool, const OptionSet& options) = nullptr;
  friend bool operator==(const ToolPage&, const ToolPage&) = default;
};
inline constexpr Choice<ToolPage> kToolPages[] = {{"man", {manual_page}},
                                                  {"bash", {bash_completion}},
                                                  {"zsh", {zsh_completion}},
                                                  {"fish", {fish_completion}},
                                                  {"json", {options_json}, "for programs"}};

/// Returns the diagnostic that has this code; an error suggests the nearest one.
Result<DiagCode> parse_code(std::string_view text);
Completion complete_codes();

/// `--help`, which takes a topic where the tool has some.
class HelpRow : public OptionRow {
 public:
  HelpRow(OptionSet& options, const ToolInfo& tool)
      : OptionRow(options,
                  {.name = "help",
                   .letter = 'h',
                   .argument = tool.topics != nullptr ? tool.topics->argument : "",
                   .help = "show this page",
                   .implied =
                       tool.topics != nullptr ? std::optional<std::string_view>("") : std::nullopt},
                  tool.topics != nullptr ? Kind::kOne : Kind::kFlag,
                  tool.topics != nullptr ? tool.topics->what : ""),
        topics_(tool.topics) {}
  Completion completion() const override {
    return topics_ != nullptr ? topics_->completion() : Completion{};
  }

 private:
  Result<void> read(std::string_view) override { return {}; }
  const ToolInfo::Topics* topics_;
};

struct CommonSettings {
  OptionSet& options;
  const ToolInfo& tool;
  OptionSet unused{};  ///< rows that the tool does not have

  OptionGroup writing{options, "Output"};
  Option<std::string> output{tool.writes_output ? options : unused,
                             {.name = "output",
                              .letter = 'o',
                              .argument = "FILE",
                              .help = "write to FILE; - is standard output"},
                             written_file(),
                             "-"};

  OptionGroup reporting{options, "Diagnostics"};
  Option<ReportForm> diagnostics{options,
                                 {.name = "diagnostics",
                                  .argument = "FORMAT",
                                  .help = "write diagnostics to standard error in this format"},
                                 choice(kReportForms),
                                 DiagnosticFormat::kHuman};
  Option<std::size_t> max_errors{
      options,
      {.name = "max-errors", .argument = "N", .help = "show at most N errors; 0 shows all"},
      number<std::size_t>(),
      20};
  Flag show_all{tool.shows_findings ? options : unused,
                {.name = "show-all",
                 .help = "list each finding that most dumps have, not only their number"}};
  Flag errors_first{tool.shows_findings ? options : unused,
                    {.name = "errors-first",
                     .help = "show the errors of all files before findings",
                     .excludes = "summary diagnostics=json diagnostics=sarif"}};
  Flag summary{options,
               {.name = "summary", .help = "count diagnostics by code instead of listing them"}};
  Option<Colour> color{options,
                       {.name = "color", .argument = "WHEN", .help = "use colours"},
                       choice(kColours),
                       Colour::kAuto};
  Option<DiagCode> explain{
      options,
      {.name = "explain", .argument = "CODE", .help = "explain a diagnostic code and exit"},
      read_by(parse_code, kRefersToNothing, complete_codes)};

  OptionGroup helping{options, "Help"};
  HelpRow help{options, tool};
  Option<ToolPage> help_as{options,
                           {.name = "help-as",
                            .argument = "FORMAT",
                            .help = "write a manual page, or completions for a shell"},
                           choice(kToolPages)};
  Flag version{options,
               {.name = "version", .help = "show the version, the commit and the kind of build"}};
};

}  // namespace mir::tools

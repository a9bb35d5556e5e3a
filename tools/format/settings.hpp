// The options of mllm-fmt.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>

#include "dialect_files.hpp"
#include "target_version.hpp"
#include "tool.hpp"

namespace mir::tools {

struct LineRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};

/// `A:B`, two line numbers in order.
std::optional<LineRange> parse_lines(std::string_view text);

struct FmtSettings {
  OptionSet& options;

  OptionGroup files{options, "Files"};
  Flag in_place{options, {.name = "in-place", .letter = 'i', .help = "rewrite the files in place"}};
  Flag check{
      options,
      {.name = "check", .help = "list the files that would change and exit with 1; write nothing"}};
  Flag diff{options,
            {.name = "diff",
             .help = "show the changes as a unified diff and exit with 1 if there are any"}};

  OptionGroup layout{options, "Layout"};
  Option<LineRange> lines{
      options,
      {.name = "lines", .argument = "A:B", .help = "format only ops that overlap lines A to B"},
      read_by(parse_lines, "two line numbers in order, A:B", kRefersToNothing)};
  Option<std::uint32_t> columns{
      options,
      {.name = "columns", .argument = "N", .help = "break lists in lines longer than N columns"},
      number<std::uint32_t>({.least = 20, .most = 100'000})};
  Flag fix{options, {.name = "fix", .help = "apply the fixes that diagnostics offer"}};

  OptionGroup rewriting{options, "Rewriting"};
  Flag shorten{
      options,
      {.name = "short", .help = "leave out what reading the text infers, and name repeated types"}};
  Flag full{options,
            {.name = "full", .help = "write the type of each operand and result, without aliases"}};
  Flag renumber{options,
                {.name = "renumber",
                 .help = "renumber storage ids and spec ids from 0 in order of first appearance"}};
  Flag modernize{options,
                 {.name = "modernize", .help = "replace spellings of older upstream versions"}};
  Flag alias_attrs{
      options,
      {.name = "alias-attrs", .help = "define repeated quantisation specs once, as #q<uuid>"}};
  Flag expand_attrs{options,
                    {.name = "expand-attrs", .help = "replace aliases by their attributes"}};
  TargetVersionSettings target{options};
  DialectSettings dialects{options, "short full target-version"};

  bool rewrites_tokens() const { return renumber || modernize || alias_attrs || expand_attrs; }
  /// True if the text of the modules depends on their meaning.
  bool reads_modules() const { return shorten || full || target.version.is_given(); }
  bool rewrites_any() const { return rewrites_tokens() || reads_modules(); }
  /// True if only the white space of the whole text changes.
  bool only_lays_out() const { return !rewrites_any() && !lines.is_given() && !columns.is_given(); }
};

}  // namespace mir::tools

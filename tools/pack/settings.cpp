#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "tools/interp/options_table.hpp"
#include "weights/pack.hpp"

namespace mir::tools {
namespace {

/// The rows of mllm-interp for what a pack can carry, behind those of this tool.
constexpr auto kOptions = [] {
  std::array<Option, 1 + std::size(kPackOptions)> rows;
  rows[0] = {.name = "output",
             .letter = 'o',
             .argument = "PATH",
             .help = "create: the pack to write; extract: the folder to write to"};
  std::transform(std::begin(kPackOptions), std::end(kPackOptions), rows.begin() + 1,
                 [](const PackOption& option) {
                   return *std::find_if(std::begin(kInterpOptions), std::end(kInterpOptions),
                                        [&](const Option& row) { return row.name == option.name; });
                 });
  return rows;
}();

static_assert(std::equal(std::begin(kPackOptions), std::end(kPackOptions), kOptions.begin() + 1,
                         [](const PackOption& a, const Option& b) {
                           return a.repeatable == b.repeatable;
                         }));

struct CommandRow {
  std::string_view name;
  PackCommand command;
  std::size_t most_files;
  bool writes;
  std::string_view operands;
};

constexpr std::size_t kAny = 10'000;
constexpr CommandRow kCommands[] = {
    {"create", PackCommand::kCreate, 1, true, "one module"},
    {"list", PackCommand::kList, kAny, false, "one pack or more"},
    {"check", PackCommand::kCheck, kAny, false, "one pack or more"},
    {"extract", PackCommand::kExtract, kAny, true, "one pack, and members of it"},
};

Error usage(std::string text) {
  return {DiagCode::kUsage, std::move(text)};
}

}  // namespace

const ToolInfo kPackTool = {
    .name = "mllm-pack",
    .summary =
        "Puts a module with its weights, inputs and expected outputs into one file, which "
        "mllm-interp runs and checks.",
    .operands = "create|list|check|extract file...",
    .options = kOptions,
    .examples = {{{"mllm-pack create model.mir -o model.mirz -w model.safetensors -i ids.npy "
                   "--expect=logits.npy",
                   "pack a model with a run of it"},
                  {"mllm-pack extract model.mirz -o folder", "get its files back"}}},
    .verifies = true,
};

Result<PackSettings> pack_settings(const Arguments& arguments) {
  const auto& operands = arguments.operands();
  if (operands.empty()) return usage("expected a command: create, list, check or extract");
  const auto* const row = std::ranges::find(kCommands, operands.front(), &CommandRow::name);
  if (row == std::end(kCommands))
    return usage(fmt::format("'{}' is no command: expected create, list, check or extract",
                             operands.front()));
  PackSettings settings{.command = row->command,
                        .files = {operands.begin() + 1, operands.end()},
                        .output = std::string(arguments.value("output"))};
  if (settings.files.empty() || settings.files.size() > row->most_files)
    return usage(fmt::format("{} takes {}", row->name, row->operands));
  if (settings.output.empty() == row->writes)
    return usage(row->writes ? fmt::format("{} needs --output", row->name)
                             : fmt::format("--output is not for {}", row->name));
  for (const PackOption& option : kPackOptions) {
    if (row->command != PackCommand::kCreate && arguments.has(option.name))
      return usage(fmt::format("--{} is not for {}", option.name, row->name));
  }
  return settings;
}

}  // namespace mir::tools

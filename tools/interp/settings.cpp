// Parses and checks the options of mllm-interp.
#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "mir/codes/usage.hpp"
#include "mir/session.hpp"
#include "run_names.hpp"

namespace mir::tools {

const ToolInfo kInterpTool = {
    .name = "mllm-interp",
    .summary =
        "Runs a module or a pack; shows results, inputs, memory and times, and compares two runs.",
    .operands = "[file]",
    .examples = {{{"mllm-interp model.mir -w model.safetensors -i ids.npy --top=5",
                   "run a model and show the five likeliest tokens"},
                  {"mllm-interp model.mir -w random:1 -i random:2 --kernels=both --tolerance=exact",
                   "find the first op that gives other bits with fast kernels"},
                  {"mllm-interp model.mirz",
                   "run a pack with its weights and inputs and check its outputs"}}},
    .files = "mir mirz",
    .files_behind = files_behind,
};

std::vector<Choice<IsaLevel>> isa_choices() {
  std::vector<Choice<IsaLevel>> choices;
  for (const IsaLevel level : isa_levels()) choices.push_back({name_of(level), level});
  return choices;
}

std::optional<ProfileFile> ProfileFile::parse(std::string_view path) {
  // The longer end comes first.
  constexpr std::pair<std::string_view, ProfileForm> kEnds[] = {
      {".trace.json", ProfileForm::kTrace},
      {".json", ProfileForm::kJson},
      {".csv", ProfileForm::kCsv}};
  for (const auto& [end, form] : kEnds) {
    if (path.ends_with(end)) return ProfileFile{std::string(path), form};
  }
  return std::nullopt;
}

References<Probe> references_of_probe() {
  constexpr auto kKind = ReferenceKind::kResult;
  return {{kKind}, [](const Probe& probe) {
            std::vector<Reference> all;
            for (const std::string_view text : probe.texts())
              all.push_back({kKind, std::string(text)});
            return all;
          }};
}

References<ProfileFile> references_of_profile() {
  constexpr auto kKind = ReferenceKind::kWrittenFile;
  return {{kKind}, [](const ProfileFile& file) {
            return std::vector<Reference>{{kKind, file.path}};
          }};
}

References<std::string> references_of_output() {
  using Kind = ReferenceKind;
  return {{Kind::kOutput, Kind::kWrittenFile}, [](const std::string& text) {
            std::vector<Reference> all;
            const std::string_view port = output_target(text).value_or("");
            const std::string_view name = port.substr(port.starts_with('%') ? 1 : 0);
            if (!name.empty()) all.push_back({Kind::kOutput, std::string(name)});
            all.push_back({Kind::kWrittenFile, text.substr(port.empty() ? 0 : port.size() + 1)});
            return all;
          }};
}

bool is_results_file(std::string_view name) {
  return name == "index.json" || name.ends_with(".npy");
}

namespace {

/// Refuses options that look into a run of C, which has no steps and enters no other graph.
Result<void> check_whole_run(const InterpSettings& settings) {
  if (!settings.runs_c()) return {};
  const auto entered = entries_of(settings.run).names;
  const std::pair<bool, std::string_view> others[] = {
      {settings.against.is_given(), "--against"},
      {settings.dump.is_given(), "--dump"},
      {!settings.probe->empty(), "--probe"},
      {static_cast<bool>(settings.profile), "--profile"},
      {!settings.profile_file->empty(), "--profile-file"},
      {settings.follows_program(), "--machine, --trace and --step-limit"},
      {settings.max_iterations.is_given(), "--max-iterations"},
      {!settings.run.bind_op->empty(), "--bind-op"},
      {entered.size() > 1 || !entered.front().empty(), "--entry and --then with a graph"},
  };
  const auto given = std::ranges::find(others, true, &std::pair<bool, std::string_view>::first);
  if (given == std::end(others)) return {};
  return Error{
      diag::kUsage,
      fmt::format("--kernels=c runs the body of a module as a whole, without {}", given->second)};
}

}  // namespace

Result<void> check_settings(const InterpSettings& settings) {
  const auto refuse = [](std::string message) { return Error{diag::kUsage, message}; };
  if (settings.isa.is_given() && *settings.isa > detected_isa_level())
    return refuse(fmt::format("--isa={}: this machine has no more than '{}'",
                              name_of(*settings.isa), name_of(detected_isa_level())));
  if (*settings.kernels == KernelChoice::kRef) {
    constexpr std::string_view kFastOnly = "is of fast kernels: --kernels=fast or --kernels=both";
    if (*settings.activations == Activations::kBFloat16)
      return refuse(fmt::format("--activations=bf16 {}", kFastOnly));
  }
  if (const auto whole = check_whole_run(settings); !whole) return whole;
  if (*settings.kernels == KernelChoice::kBoth && settings.against.is_given())
    return refuse("--kernels=both compares with ref, --against with another");
  if (settings.agreement.is_given() && *settings.kernels != KernelChoice::kBoth &&
      !settings.against.is_given())
    return refuse("--agreement needs --against or --kernels=both");
  return {};
}

}  // namespace mir::tools

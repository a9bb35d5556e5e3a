// mllm-pack: a module with all that a run of it needs in one file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "file_kind.hpp"
#include "mir/codes/weights.hpp"
#include "progress.hpp"
#include "report_text.hpp"
#include "support/characters.hpp"
#include "text_table.hpp"
#include "tools/pack/creation.hpp"
#include "tools/pack/readiness.hpp"
#include "tools/pack/settings.hpp"
#include "tools/tools.hpp"
#include "weights/pack.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

Result<Pack> open_pack(const std::string& path) {
  if (auto fits = expect_kind(path, FileKind::kPack); !fits) return std::move(fits).error();
  return Pack::open(path);
}

ExitCode create(const Run& run, PackSettings& settings) {
  const auto invocation = Invocation::of_module(run.operands().front(), settings.run);
  if (!invocation) return run.refuse(invocation.error());
  const ExitCode ready = check_readiness(run, *invocation, settings.verification);
  if (ready != ExitCode::kSuccess) return ready;
  auto plan = plan_pack(*invocation);
  if (!plan) return run.report(plan.error());
  plan->progress = byte_progress();
  const auto written = write_pack(*settings.output, *plan);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

/// One word of a command line, as a shell takes it.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) { return is_name_character(c, "_-./=:,@%+"); };
  if (std::ranges::all_of(text, is_plain)) return text;
  std::string word = "'";
  for (const char c : text) c == '\'' ? word.append("'\\''") : word.append(1, c);
  return word + "'";
}

std::string description(const std::string& path, const Pack& pack) {
  std::uint64_t bytes = 0;
  TextTable table("lrl");
  for (const auto& member : pack.members()) {
    bytes += member.bytes.size();
    table.add({member.name, fmt::format("{}", member.bytes.size()),
               fmt::format("{:016x}", member.xxh64)});
  }
  std::string command = "mllm-interp " + shell_word(pack.module());
  for (const auto& [option, values] : pack.arguments()) {
    for (const auto& value : values)
      command += " " + shell_word(fmt::format("--{}={}", option, value));
  }
  return fmt::format("{}: {} members, {} bytes\n{}  runs: {}\n", visible(path),
                     pack.members().size(), bytes, table.render(), visible(command));
}

ExitCode list(const Run& run, const std::string& path) {
  const auto pack = open_pack(path);
  if (!pack) return run.report(pack.error());
  print_report(std::string_view(description(path, *pack)));
  return ExitCode::kSuccess;
}

ExitCode check(const Run& run, const VerificationSettings& checks, const std::string& path) {
  const auto pack = open_pack(path);
  if (!pack) return run.report(pack.error());
  ExitCode code = ExitCode::kSuccess;
  std::uint64_t bytes = 0;
  for (const auto& member : pack->members()) {
    bytes += member.bytes.size();
    const auto checked = pack->check(member);
    if (!checked) code = worst(code, run.report(checked.error()));
  }
  if (code != ExitCode::kSuccess) return code;
  OptionSet rows;
  RunSettings settings{rows};  // of the pack alone
  const auto invocation = Invocation::create(path, settings);
  if (!invocation)
    return run.report(
        Error{diag::kPackMalformed, fmt::format("'{}': {}", path, invocation.error().message)});
  code = check_readiness(run, *invocation, checks);
  if (code == ExitCode::kSuccess)
    print_report("{}: {} members, {} bytes, all as they were packed\n", path,
                 pack->members().size(), bytes);
  return code;
}

ExitCode extract(const Run& run, const PackSettings& settings) {
  const std::string& path = run.operands().front();
  const auto pack = open_pack(path);
  if (!pack) return run.report(pack.error());
  const auto wanted = std::span(run.operands()).subspan(1);
  for (const auto& name : wanted) {
    if (const auto file = pack->file(name, MemberCheck::kNone); !file)
      return run.report(file.error());
  }
  std::error_code none;
  std::filesystem::create_directory(*settings.output, none);
  for (const auto& member : pack->members()) {
    if (!wanted.empty() && std::ranges::find(wanted, member.name) == wanted.end()) continue;
    if (std::filesystem::equivalent(path, fmt::format("{}/{}", *settings.output, member.name),
                                    none))
      return run.usage_error(fmt::format("member '{}' would overwrite the pack", member.name));
    const auto written = pack->extract(member, *settings.output);
    if (!written) return run.report(written.error());
  }
  return ExitCode::kSuccess;
}

template <class Do>
ExitCode for_each_pack(const Run& run, Do handle) {
  ExitCode code = ExitCode::kSuccess;
  for (const auto& path : run.operands()) code = worst(code, handle(path));
  return code;
}

ExitCode run_pack(const Run& run, PackSettings& settings) {
  switch (*settings.command) {
    case PackCommand::kCreate:
      return create(run, settings);
    case PackCommand::kList:
      return for_each_pack(run, [&](const auto& path) { return list(run, path); });
    case PackCommand::kCheck:
      return for_each_pack(
          run, [&](const auto& path) { return check(run, settings.verification, path); });
    case PackCommand::kExtract:
      return extract(run, settings);
  }
  return ExitCode::kInternal;
}

}  // namespace

const Tool mir::tools::kMllmPack = tool_of<kPackTool, run_pack>();

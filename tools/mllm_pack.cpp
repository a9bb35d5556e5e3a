// mllm-pack: a module with all that a run of it needs in one file.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>

#include "progress.hpp"
#include "text_table.hpp"
#include "tools/pack/creation.hpp"
#include "tools/pack/readiness.hpp"
#include "tools/pack/settings.hpp"
#include "weights/pack.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

ExitCode create(const Run& run, const PackSettings& settings) {
  auto run_settings =
      interp_settings({.path = settings.files.front(), .arguments = run.arguments()});
  if (!run_settings) return run.usage_error(run_settings.error().message);
  const ExitCode ready = check_readiness(run, *run_settings);
  if (ready != ExitCode::kSuccess) return ready;
  auto plan = plan_pack(*run_settings);
  if (!plan) return run.report(plan.error());
  plan->progress = byte_progress();
  const auto written = write_pack(settings.output, *plan);
  return written ? ExitCode::kSuccess : run.report(written.error());
}

/// One word of a command line, as a shell takes it.
std::string shell_word(const std::string& text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_-./=:,@%+").find(c) != std::string_view::npos;
  };
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
  return fmt::format("{}: {} members, {} bytes\n{}  runs: {}\n", path, pack.members().size(), bytes,
                     table.render(), command);
}

ExitCode list(const Run& run, const std::string& path) {
  const auto pack = Pack::open(path);
  if (!pack) return run.report(pack.error());
  fmt::print("{}", description(path, *pack));
  return ExitCode::kSuccess;
}

ExitCode check(const Run& run, const std::string& path) {
  const auto pack = Pack::open(path);
  if (!pack) return run.report(pack.error());
  ExitCode code = ExitCode::kSuccess;
  std::uint64_t bytes = 0;
  for (const auto& member : pack->members()) {
    bytes += member.bytes.size();
    const auto checked = pack->check(member);
    if (!checked) code = worst(code, run.report(checked.error()));
  }
  if (code != ExitCode::kSuccess) return code;
  auto invocation = Invocation::create(path, {});
  auto settings = invocation ? interp_settings(*std::move(invocation))
                             : Result<InterpSettings>(invocation.error());
  if (!settings)
    return run.report(
        Error{DiagCode::kPackMalformed, fmt::format("'{}': {}", path, settings.error().message)});
  code = check_readiness(run, *settings);
  if (code == ExitCode::kSuccess)
    fmt::print("{}: {} members, {} bytes, all as they were packed\n", path, pack->members().size(),
               bytes);
  return code;
}

ExitCode extract(const Run& run, const PackSettings& settings) {
  const std::string& path = settings.files.front();
  const auto pack = Pack::open(path);
  if (!pack) return run.report(pack.error());
  const auto wanted = std::span(settings.files).subspan(1);
  for (const auto& name : wanted) {
    if (const auto file = pack->file(name, MemberCheck::kNone); !file)
      return run.report(file.error());
  }
  std::error_code none;
  std::filesystem::create_directory(settings.output, none);
  for (const auto& member : pack->members()) {
    if (!wanted.empty() && std::ranges::find(wanted, member.name) == wanted.end()) continue;
    const auto written = pack->extract(member, settings.output);
    if (!written) return run.report(written.error());
  }
  return ExitCode::kSuccess;
}

ExitCode body(const Run& run) {
  const auto settings = pack_settings(run.arguments());
  if (!settings) return run.usage_error(settings.error().message);
  if (settings->command == PackCommand::kCreate) return create(run, *settings);
  if (settings->command == PackCommand::kExtract) return extract(run, *settings);
  ExitCode code = ExitCode::kSuccess;
  for (const auto& path : settings->files)
    code =
        worst(code, settings->command == PackCommand::kList ? list(run, path) : check(run, path));
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return run_tool(kPackTool, argc, argv, body);
}

// Finds test files, splits them into cases and reads the commands of each case.
#include "case_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "line_text.hpp"
#include "mir/codes/checks.hpp"
#include "mir/codes/files.hpp"
#include "regular_file.hpp"
#include "support/expectation.hpp"

namespace mir::tools {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 2> kSuffixesOfCases = {".mir", ".test"};
constexpr std::array<std::string_view, 3> kMaterial = {"data", "examples", "compatibility"};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != text.npos;
}

bool splits_by_itself(const SourceFile& file) {
  Diagnostics ignored;  // they are reported with the case
  return std::ranges::any_of(read_commands(file, {}, ignored), [](const TestCommand& command) {
    return contains(command.text, "-split-input-file");
  });
}

/// True if a command passes its output and the case to this tool, so that the checks belong to that
/// run.
bool checks_by_itself(const TestCommand& command) {
  const auto tool = command.text.find("mllm-check");
  return tool != std::string_view::npos && contains(command.text.substr(tool), "--input") &&
         contains(command.text.substr(tool), "%s");
}

bool has_comments_only(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = without_blanks(take_line(text));
    if (!line.empty() && !line.starts_with("//")) return false;
  }
  return true;
}

TestCase read_case(std::string name, const SourceFile& text, const CheckPrefixes& prefixes,
                   std::span<const TestCommand> inherited) {
  TestCase result{std::move(name), &text, {}, {}, Diagnostics(0)};
  result.commands = read_commands(text, inherited, result.problems);
  result.checks = read_checks(text, prefixes, result.problems);
  if (std::ranges::any_of(result.commands, checks_by_itself)) result.checks.clear();
  return result;
}

/// True if the first part of a file only serves the other parts.
bool is_head(std::span<const TestCase> cases) {
  const TestCase& first = cases.front();
  const bool is_quiet = first.checks.empty() && !first.problems.has_errors();
  if (!is_quiet || !has_comments_only(first.text->text())) return false;
  return first.commands.empty() || std::ranges::any_of(cases.subspan(1), [&](const TestCase& each) {
           return !each.commands.empty() && each.commands.front().at == first.commands.front().at;
         });
}

std::vector<TestCase> read_parts(const SourceFile& file, std::span<const InputPart> parts,
                                 const CheckPrefixes& prefixes, SourceManager& sources) {
  std::vector<TestCase> cases;
  for (const InputPart& part : parts) {
    const SourceFile* text = sources.add(file.name(), std::string(part.text), part.first_line);
    if (text == nullptr) break;  // impossible: there is space for a file of this size twice
    const std::span<const TestCommand> shared =
        cases.empty() ? std::span<const TestCommand>() : cases.front().commands;
    cases.push_back(
        read_case(fmt::format("{}:{}", file.name(), part.first_line), *text, prefixes, shared));
  }
  if (is_head(cases)) cases.erase(cases.begin());
  return cases;
}

}  // namespace

Result<std::vector<std::string>> find_case_files(const std::string& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (!is_folder && fs::exists(path, error)) return std::vector{path};
  std::vector<fs::path> found;
  fs::recursive_directory_iterator at(path, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (at->is_directory(error) && std::ranges::find(kMaterial, name) != kMaterial.end()) {
      at.disable_recursion_pending();
    }
    const std::string suffix = at->path().extension().string();
    const bool is_case = std::ranges::find(kSuffixesOfCases, suffix) != kSuffixesOfCases.end();
    if (at->is_regular_file(error) && is_case) {
      found.push_back(at->path());
    }
  }
  if (error) {
    return Error{diag::kFileNotReadable,
                 fmt::format("cannot read '{}': {}", path, error.message())};
  }
  std::ranges::sort(found);
  std::vector<std::string> files;
  for (const fs::path& each : found) files.push_back(each.string());
  return files;
}

std::optional<std::string> case_of_same_output(const std::string& path) {
  for (const std::string_view suffix : kSuffixesOfCases) {
    const std::string other = fs::path(path).replace_extension(suffix).string();
    std::error_code error;
    if (other == path || !fs::is_regular_file(other, error)) continue;
    auto text = read_regular_file(other, kMaxCaseSize);
    if (!text) continue;
    SourceManager sources;
    Diagnostics ignored;
    const SourceFile* file = sources.add(other, *std::move(text));
    // A module that a case reads has no commands.
    if (file != nullptr && !read_commands(*file, {}, ignored).empty()) return other;
  }
  return std::nullopt;
}

std::vector<TestCase> read_cases(const SourceFile& file, const CheckPrefixes& prefixes,
                                 SourceManager& sources) {
  const auto parts = split_input(file.text());
  std::vector<TestCase> cases;
  if (parts.size() == 1 || splits_by_itself(file)) {
    cases.push_back(read_case(file.name(), file, prefixes, {}));
  } else {
    cases = read_parts(file, parts, prefixes, sources);
  }
  for (TestCase& each : cases) {
    if (!each.commands.empty() || each.problems.has_errors()) continue;
    const SourcePos begin = each.text->base();
    each.problems.error(diag::kCheckMalformed, {begin, begin},
                        "no line '// RUN: command' says what is run");
  }
  return cases;
}

}  // namespace mir::tools

// Reads prompts from the lines of a file.
#include "prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mir/codes/generation.hpp"
#include "support/file_io.hpp"
#include "support/json_offset.hpp"
#include "support/strict_json.hpp"
#include "support/utf8.hpp"

namespace mir::tools {
namespace {

constexpr std::uint64_t kMostPromptsBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostPrompts = 100'000;
constexpr JsonRules kLineRules = {
    .max_bytes = kMostPromptsBytes, .max_depth = 16, .malformed = diag::kPromptsMalformed};

constexpr std::string_view kGaps = " \t\r";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

/// True for names that end in .jsonl, in letters of either case.
bool is_json_lines(std::string_view path) {
  constexpr std::string_view kEnd = ".jsonl";
  if (path.size() < kEnd.size()) return false;
  return std::ranges::equal(
      path.substr(path.size() - kEnd.size()), kEnd, [](char found, char expected) {
        return (found >= 'A' && found <= 'Z' ? found + 32 : found) == expected;
      });
}

/// The prompt that a line is; no value after reporting.
std::optional<std::string> text_prompt(const SourceFile& file, std::string_view line,
                                       Diagnostics& diagnostics) {
  const char* const end = line.data() + line.size();
  const char* const invalid = find_invalid_utf8(line.data(), end);
  if (invalid == end) return std::string(line);
  const SourcePos at = file.position_of(invalid);
  diagnostics.error(diag::kPromptsMalformed, {at, at + 1}, "the text is not UTF-8");
  return std::nullopt;
}

/// The prompt of a line of JSON; no value after reporting.
std::optional<std::string> json_prompt(const SourceFile& file, std::string_view line,
                                       Diagnostics& diagnostics) {
  const auto refuse = [&](std::size_t offset, std::string message) {
    const SourcePos at = file.position_of(line.data()) + static_cast<SourcePos>(offset);
    diagnostics.error(diag::kPromptsMalformed, {at, at + 1}, std::move(message));
    return std::nullopt;
  };
  const auto document = parse_strict_json(line, kLineRules);
  if (!document) return refuse(refused_json_offset(line), document.error().message);
  if (document->is_string()) return document->get<std::string>();
  const bool has_prompt = document->is_object() && document->contains("prompt");
  if (has_prompt && (*document)["prompt"].is_string())
    return (*document)["prompt"].get<std::string>();
  return refuse(line.find_first_not_of(kGaps),
                "expected a string, or an object with a string 'prompt'");
}

}  // namespace

std::optional<std::vector<std::string>> read_prompts(const std::string& path,
                                                     SourceManager& sources,
                                                     Diagnostics& diagnostics) {
  const auto refuse = [&](const Error& error) {
    diagnostics.error(error.code, {}, error.message);
    return std::nullopt;
  };
  auto text = read_file(path, kMostPromptsBytes);
  if (!text) return refuse(text.error());
  const std::string name = path == "-" ? "<stdin>" : path;
  const SourceFile* file = sources.add(name, *std::move(text));
  if (file == nullptr) return refuse(SourceManager::full(name));
  const bool is_json = is_json_lines(path);
  std::vector<std::string> prompts;
  std::string_view rest = file->text();
  if (rest.starts_with(kByteOrderMark)) rest.remove_prefix(kByteOrderMark.size());
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (is_json && line.find_first_not_of(kGaps) == line.npos)) continue;
    if (prompts.size() == kMostPrompts)
      return refuse({diag::kPromptsMalformed,
                     fmt::format("'{}' has more than {} prompts", path, kMostPrompts)});
    auto prompt =
        is_json ? json_prompt(*file, line, diagnostics) : text_prompt(*file, line, diagnostics);
    if (prompt) prompts.push_back(*std::move(prompt));
    if (diagnostics.is_full()) return std::nullopt;
  }
  if (diagnostics.has_errors()) return std::nullopt;
  if (prompts.empty())
    return refuse({diag::kPromptsMalformed, fmt::format("'{}' has no prompts", path)});
  return prompts;
}

}  // namespace mir::tools

// Argument kinds of options: texts, files, folders, numbers and choices.
#include "argument.hpp"

#include <limits>

#include "mir/codes/usage.hpp"
#include "support/suggest.hpp"

namespace mir::tools {

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  NearestName nearest(word);
  for (const std::string_view each : known) nearest.offer(each);
  return nearest.best().empty() ? "" : fmt::format("; did you mean '{}'?", nearest.best());
}

Error usage_error(std::string message) {
  return {diag::kUsage, std::move(message)};
}

std::string default_note(std::string_view text) {
  return fmt::format(" (default: {})", text);
}

std::string alternatives(std::span<const std::string> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 < words.size() ? ", " : " or ";
    text += words[i];
  }
  return text;
}

Argument<std::string> any_text(References<std::string> refers,
                               std::function<Completion()> completion) {
  Argument<std::string> argument{
      .read = [](std::string_view, std::string_view text) { return std::string(text); },
      .note = plain_note<std::string>,
      .refers = std::move(refers)};
  if (completion) argument.completion = std::move(completion);
  return argument;
}

Argument<std::string> symbol_name(ReferenceKind kind) {
  auto argument = any_text(itself(kind));
  argument.read = [](std::string_view, std::string_view text) -> Result<std::string> {
    return std::string(text.substr(text.starts_with('@') ? 1 : 0));
  };
  return argument;
}

Argument<std::string> value_name() {
  auto argument = any_text(itself(ReferenceKind::kValue));
  argument.read = [](std::string_view, std::string_view text) -> Result<std::string> {
    return std::string(text.substr(text.starts_with('%') ? 1 : 0));
  };
  return argument;
}

Argument<std::string> any_file(References<std::string> refers, std::string_view ends) {
  return any_text(std::move(refers), [ends] { return Completion{.files = ends}; });
}

Argument<std::string> read_file_name(std::string_view ends) {
  return any_file(itself(ReferenceKind::kReadFile), ends);
}

Argument<std::string> written_file(std::string_view ends) {
  return any_file(itself(ReferenceKind::kWrittenFile), ends);
}

namespace {

Argument<std::string> folder(References<std::string> refers) {
  auto argument = any_text(std::move(refers), [] { return Completion{.folders = true}; });
  argument.read = [](std::string_view option, std::string_view text) -> Result<std::string> {
    if (!text.empty() && text != "-") return std::string(text);
    return Error{diag::kUsage, fmt::format("--{} is a folder, found '{}'", option, text)};
  };
  return argument;
}

}  // namespace

Argument<std::string> read_folder() {
  return folder(itself(ReferenceKind::kReadFile));
}

Argument<std::string> written_folder(bool (*may_write)(std::string_view name)) {
  constexpr ReferenceKind kKind = ReferenceKind::kWrittenFolder;
  return folder({{kKind}, [may_write](const std::string& path) {
                   return std::vector<Reference>{{kKind, path, may_write}};
                 }});
}

Error refused_number(std::string_view option, std::string_view least, std::string_view most,
                     std::string_view found) {
  std::string range;
  if (!least.empty()) range += fmt::format(" from {}", least);
  if (!most.empty()) range += fmt::format("{} to {}", least.empty() ? " up" : "", most);
  if (most.empty() && !least.empty()) range += " on";
  return {diag::kUsage, fmt::format("--{} is a number{}, found '{}'", option, range, found)};
}

Argument<std::uint64_t> byte_size() {
  const auto read = [](std::string_view option, std::string_view text) -> Result<std::uint64_t> {
    constexpr std::pair<std::string_view, int> kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    int shift = 0;
    for (const auto& [unit, bits] : kUnits) {
      if (!text.ends_with(unit)) continue;
      text.remove_suffix(unit.size());
      shift = bits;
    }
    const auto count = number<std::uint64_t>().read(option, text);
    if (!count) return count;
    if (*count > std::numeric_limits<std::uint64_t>::max() >> shift)
      return Error{diag::kUsage, fmt::format("--{}: more than 2^64 bytes", option)};
    return *count << shift;
  };
  return {.read = read, .note = plain_note<std::uint64_t>};
}

std::string choice_note(std::span<const ChoiceText> choices) {
  std::vector<std::string> words;
  for (const auto& [word, meaning, is_default] : choices) {
    const std::string_view mark = !is_default ? "" : meaning.empty() ? "default" : "; default";
    words.push_back(meaning.empty() && mark.empty()
                        ? std::string(word)
                        : fmt::format("{} ({}{})", word, meaning, mark));
  }
  return ": " + alternatives(words);
}

Error refused_choice(std::string_view option, std::span<const std::string_view> words,
                     std::string_view found) {
  const std::vector<std::string> known(words.begin(), words.end());
  return {diag::kUsage, fmt::format("--{} is {}, found '{}'{}", option, alternatives(known), found,
                                    did_you_mean(found, words))};
}

}  // namespace mir::tools

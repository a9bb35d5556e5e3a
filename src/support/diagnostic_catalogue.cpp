// Texts of `--explain` and of the catalogue pages, read from the embedded entries.
#include "support/diagnostic_catalogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "support/catalogue_files.hpp"
#include "support/expectation.hpp"

namespace mir {

namespace {

std::string_view file_text(std::string_view name) {
  const auto files = catalogue_files();
  const auto found = std::ranges::lower_bound(files, name, {}, &CatalogueFile::name);
  return found != files.end() && found->name == name ? found->text : std::string_view();
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// `text` without blank lines at its ends, with one line end.
std::string trimmed(std::string_view text) {
  const auto end = text.find_last_not_of(" \n");
  const auto begin = text.find_first_not_of('\n');
  return end == text.npos ? "" : std::string(text.substr(begin, end + 1 - begin)) + '\n';
}

bool is_directive(std::string_view line) {
  return line.starts_with("// RUN:") || line.starts_with("// EXIT:") ||
         line.starts_with("// CHECK:");
}

/// Moves the leading comment of an entry into its prose; returns the text after it.
std::string_view take_prose(std::string_view text, CatalogueEntry& entry) {
  std::string* paragraph = nullptr;
  std::size_t used = 0;
  for (std::string_view line : lines_of(text)) {
    if (!line.starts_with("//")) break;
    used += line.size() + 1;
    if (is_directive(line)) continue;
    line.remove_prefix(std::min<std::size_t>(3, line.size()));
    if (line.starts_with("Cause: ")) paragraph = &entry.cause;
    if (line.starts_with("Fix: ")) paragraph = &entry.fix;
    if (paragraph == nullptr || line.empty()) continue;
    if (paragraph->empty()) {
      line.remove_prefix(line.find(' ') + 1);
    } else {
      *paragraph += ' ';
    }
    *paragraph += line;
  }
  return text.substr(std::min(used, text.size()));
}

struct ShownPart {
  std::string text;         ///< without its expectations
  std::string diagnostics;  ///< the diagnostics that these expect
};

ShownPart show_part(std::string part) {
  const SourceFile file("", std::move(part), 1);
  Diagnostics malformed;
  const auto expectations = read_expectations(file, malformed);
  std::vector<std::uint32_t> shown_as{0};  // number of each line, and of the last before it
  std::string kept;
  for (const std::string_view line : lines_of(file.text())) {
    const auto marker = line.find("// expect-");
    const std::string_view code = line.substr(0, marker);
    const bool keeps = code.find_first_not_of(' ') != code.npos || marker == line.npos;
    shown_as.push_back(shown_as.back() + keeps);
    if (keeps) kept.append(code.substr(0, code.find_last_not_of(' ') + 1)).append(1, '\n');
  }
  const auto blank = static_cast<std::uint32_t>(
      std::ranges::count(kept.substr(0, kept.find_first_not_of('\n')), '\n'));
  ShownPart shown{trimmed(kept), {}};
  constexpr std::string_view kWords[] = {"error", "warning", "remark", "note"};
  for (const ExpectedDiagnostic& each : expectations) {
    const auto line = std::min<std::size_t>(each.line, shown_as.size() - 1);
    const std::string code = each.code.empty() ? "" : fmt::format("[{}]", each.code);
    fmt::format_to(std::back_inserter(shown.diagnostics), "line {}: {}{}: {}\n",
                   std::max(shown_as[line], blank + 1) - blank,
                   kWords[static_cast<std::size_t>(each.kind)], code, each.text);
  }
  return shown;
}

void read_text(std::string_view text, CatalogueEntry& entry) {
  const std::string_view examples = take_prose(text, entry);
  const std::string_view prose = text.substr(0, text.size() - examples.size());
  const auto parts = split_input(examples);
  // Expectations count lines from the start of the file.
  const std::string above(static_cast<std::size_t>(std::ranges::count(prose, '\n')), '\n');
  ShownPart refused = show_part(above + std::string(parts.front().text));
  entry.refused = std::move(refused.text);
  entry.diagnostics = std::move(refused.diagnostics);
  if (parts.size() > 1) entry.accepted = show_part(std::string(parts.back().text)).text;
}

/// `text` as one types it in the folder of the entry: without `%S/`, and with `%` for `%%`.
std::string in_folder(std::string_view text) {
  std::string result(text);
  for (auto at = result.find('%'); at != result.npos; at = result.find('%', at + 1)) {
    const std::string_view rest = std::string_view(result).substr(at);
    if (rest.starts_with("%S/")) result.erase(at, 3);
    if (rest.starts_with("%%")) result.erase(at, 1);
  }
  return result;
}

/// A command as it is typed, after the files of the catalogue that it reads.
std::string typed(std::string_view command) {
  std::string out;
  constexpr std::string_view kData = "%S/data/";
  for (auto at = command.find(kData); at != command.npos; at = command.find(kData, at + 1)) {
    const std::string_view path = command.substr(at + 3, command.find_first_of(" ;|", at) - at - 3);
    const std::string_view text = file_text(path);
    if (!text.empty()) fmt::format_to(std::back_inserter(out), "$ cat {}\n{}", path, text);
  }
  return out + "$ " + in_folder(command) + '\n';
}

/// The refused command is the one with an exit status, that of a warning or remark the first one.
void read_commands(std::string_view text, CatalogueEntry& entry) {
  entry.kind = CatalogueEntry::Kind::kCommand;
  take_prose(text, entry);
  constexpr std::string_view kRun = "// RUN: ";
  std::string first, last;
  for (const std::string_view line : lines_of(text)) {
    if (line.starts_with(kRun)) {
      entry.accepted = last = typed(line.substr(kRun.size()));
      if (first.empty()) first = last;
    } else if (line.starts_with("// EXIT:") && entry.refused.empty()) {
      entry.refused = last;
    }
  }
  if (entry.refused.empty()) entry.refused = std::move(first);
}

void read_program(std::string_view text, CatalogueEntry& entry) {
  entry.kind = CatalogueEntry::Kind::kProgram;
  const std::string_view code = take_prose(text, entry);
  const auto refused = std::min(code.find("TEST_CASE("), code.size());
  const auto accepted = std::min(code.find("TEST_CASE(", refused + 1), code.size());
  entry.refused = trimmed(code.substr(refused, accepted - refused));
  entry.accepted = trimmed(code.substr(accepted));
}

/// `text` in lines of at most `width` bytes where its words allow.
std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (column != 0) out += column + 1 + word.size() > width ? '\n' : ' ';
    column = out.empty() || out.back() == '\n' ? 0 : column + 1;
    out += word;
    column += word.size();
  }
  return out + '\n';
}

std::string indented(std::string_view text) {
  std::string out;
  for (const std::string_view line : lines_of(text)) {
    out.append(line.empty() ? "" : "    ").append(line).append(1, '\n');
  }
  return out;
}

struct Group {
  unsigned first;
  std::string_view title;
};

constexpr Group kGroups[] = {
    {0, "Files and limits"},
    {100, "Lexical errors"},
    {200, "Syntax"},
    {300, "Names, types and attributes"},
    {400, "Structure"},
    {500, "Shapes and element types"},
    {600, "Tensors and weights"},
    {700, "Recovery of dumps"},
    {800, "Execution"},
    {900, "Command lines and test texts"},
};

/// Returns an empty text if no page explains the constraint.
std::string_view page_of(std::string_view constraint) {
  const auto pages = constraint_pages();
  const auto found = std::ranges::lower_bound(pages, constraint, {}, &ConstraintPage::id);
  return found != pages.end() && found->id == constraint ? found->page : std::string_view();
}

/// Lists the constraints whose violations a code reports; empty if there are none.
std::string constraint_list(DiagCode code) {
  std::string out;
  for (const CatalogueConstraint& each : catalogue_constraints()) {
    if (each.code != static_cast<int>(code)) continue;
    out += indented(
        wrapped(fmt::format("{} (docs/{}): {}", each.id, page_of(each.id), each.text), 76));
  }
  return out.empty() ? out : "\nConstraints:\n\n" + out;
}

/// Like constraint_list(), as links.
std::string constraint_links(DiagCode code) {
  std::string out;
  for (const CatalogueConstraint& each : catalogue_constraints()) {
    if (each.code != static_cast<int>(code)) continue;
    fmt::format_to(std::back_inserter(out), "{}[{}]({})", out.empty() ? "Constraints: " : ", ",
                   each.id, page_of(each.id));
  }
  return out.empty() ? out : wrapped(out + '.', 100) + '\n';
}

void append_section(std::string& page, const DiagCodeInfo& info, const CatalogueEntry& entry) {
  constexpr std::string_view kLanguages[] = {"mir", "console", "cpp"};
  const std::string_view language = kLanguages[static_cast<std::size_t>(entry.kind)];
  const auto block = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) fmt::format_to(std::back_inserter(page), "```{}\n{}```\n\n", name, text);
  };
  fmt::format_to(std::back_inserter(page), "### {}\n\n{}\n", spelling(info.code),
                 wrapped(fmt::format("*{}.* {}", info.summary, entry.cause), 100));
  block(language, entry.refused);
  block("text", entry.diagnostics);
  fmt::format_to(std::back_inserter(page), "{}\n", wrapped(entry.fix, 100));
  block(language, entry.accepted);
  page += constraint_links(info.code);
}

}  // namespace

std::string cite_constraint(std::string_view id) {
  const std::string_view page = page_of(id);
  return page.empty() ? std::string(id) : fmt::format("{}: docs/{}", id, page);
}

std::optional<CatalogueEntry> catalogue_entry(DiagCode code) {
  const std::string name = spelling(code);
  CatalogueEntry entry;
  if (const auto text = file_text(name + ".mir"); !text.empty()) {
    read_text(text, entry);
  } else if (const auto commands = file_text(name + ".test"); !commands.empty()) {
    read_commands(commands, entry);
    entry.diagnostics = in_folder(file_text(name + ".err"));
  } else if (const auto program = file_text(name + ".cpp"); !program.empty()) {
    read_program(program, entry);
  } else {
    return std::nullopt;
  }
  return entry;
}

std::string explain(DiagCode code) {
  std::string out = fmt::format("{}: {}\n", spelling(code), diagnostic_info(code).summary);
  const auto entry = catalogue_entry(code);
  if (!entry) return out;
  out += '\n' + wrapped("Cause: " + entry->cause, 80) + "\nRefused:\n\n" + indented(entry->refused);
  if (!entry->diagnostics.empty()) out += '\n' + indented(entry->diagnostics);
  return out + '\n' + wrapped("Fix: " + entry->fix, 80) + "\nAccepted:\n\n" +
         indented(entry->accepted) + constraint_list(code);
}

std::string list_diagnostics() {
  std::string out;
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    fmt::format_to(std::back_inserter(out), "{}  {}\n", spelling(info.code), info.summary);
  }
  return out;
}

std::string diagnostics_page() {
  std::string page =
      "# Diagnostics\n\n"
      "Every code with its cause, an example that is refused, what is said about it, and an "
      "example\n"
      "that is accepted. `--explain=MIRnnnn` of every tool prints one entry.\n"
      "`mllm-parse --list-codes-markdown` writes this page from the entries of the\n"
      "[catalogue](testing.md#the-diagnostics-catalogue).\n\n";
  const Group* group = std::begin(kGroups);
  for (const DiagCodeInfo& info : diagnostic_codes()) {
    while (group != std::end(kGroups) && static_cast<unsigned>(info.code) >= group->first) {
      fmt::format_to(std::back_inserter(page), "## {}\n\n", (group++)->title);
    }
    if (const auto entry = catalogue_entry(info.code)) append_section(page, info, *entry);
  }
  page.pop_back();
  return page;
}

}  // namespace mir

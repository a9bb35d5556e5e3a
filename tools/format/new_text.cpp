// Produces the text of mllm-fmt: layout, requested rewrites, versions and line ranges.
#include "format/new_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/codes/usage.hpp"
#include "mir/format.hpp"
#include "mir/print.hpp"
#include "syntax/edit.hpp"
#include "syntax/wrap_lines.hpp"
#include "text/short_text.hpp"
#include "verify/lower_version.hpp"

namespace mir::tools {

std::optional<LineRange> parse_lines(std::string_view text) {
  LineRange range;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, range.first);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') return std::nullopt;
  const auto last = std::from_chars(first.ptr + 1, end, range.last);
  if (last.ec != std::errc() || last.ptr != end) return std::nullopt;
  if (range.first == 0 || range.last < range.first) return std::nullopt;
  return range;
}

namespace {

/// A last line without an end counts.
std::size_t line_count(std::string_view text) {
  const auto ends = std::ranges::count(text, '\n');
  return static_cast<std::size_t>(ends) + (text.empty() || text.ends_with('\n') ? 0 : 1);
}

Result<std::string> text_of_lines(const SyntaxTree& tree, const LineRange& lines) {
  const SourceFile& file = tree.file();
  if (const std::size_t count = line_count(file.text()); lines.first > count) {
    return Error{diag::kUsage, fmt::format("--lines: '{}' has no line {}; it has {} lines",
                                           file.name(), lines.first, count)};
  }
  return format_lines(tree, lines.first, lines.last);
}

Result<std::string> rewritten(const SyntaxTree& tree, const FmtSettings& settings) {
  if (!settings.rewrites_tokens()) return format(tree);
  return rewrite(tree, {.expand_attributes = bool(settings.expand_attrs),
                        .modernize = bool(settings.modernize),
                        .renumber = bool(settings.renumber),
                        .alias_attributes = bool(settings.alias_attrs)});
}

Result<const SourceFile*> add_text(SourceManager& sources, const SourceFile& origin,
                                   std::string text) {
  const SourceFile* file = sources.add(origin.name(), std::move(text));
  if (file == nullptr) return SourceManager::full(origin.name());
  return file;
}

/// The text with modules of that version, which is not the latest. No value after reporting.
std::optional<std::string> lowered_text(const SyntaxTree& tree, std::int64_t version,
                                        IRContext& context, Diagnostics& diagnostics) {
  const std::vector<Module*> modules = resolve(tree, context, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  for (Module* module : modules) lower_version(*module, version, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return print(modules, tree);
}

/// The version and the types first, since their errors are shown in the text as it is. Empty after
/// reporting.
Result<std::string> with_meaning_as_asked(const SyntaxTree& given, const FmtSettings& settings,
                                          IRContext& context, Diagnostics& diagnostics) {
  if (!settings.reads_modules()) return rewritten(given, settings);
  if (!register_dialects(settings.dialects, context, diagnostics)) return std::string();
  const std::int64_t version = settings.target.version.if_given().value_or(kLatestVersion);
  std::optional<SyntaxTree> made;
  const auto take = [&](std::optional<std::string> text) -> Result<bool> {
    if (!text) return false;
    const auto file = add_text(context.sources(), given.file(), *std::move(text));
    if (!file) return file.error();
    made = parse(**file, diagnostics);
    return made.has_value();
  };
  if (version < kLatestVersion) {
    const auto taken = take(lowered_text(given, version, context, diagnostics));
    if (!taken) return taken.error();
    if (!*taken) return std::string();
  }
  const SyntaxTree& tree = made ? *made : given;
  if (settings.shorten || settings.full) {
    const auto taken = take(settings.shorten ? short_text(tree, context, diagnostics, version)
                                             : full_text(tree, context, diagnostics));
    if (!taken) return taken.error();
    if (!*taken) return std::string();
  }
  return rewritten(made ? *made : given, settings);
}

}  // namespace

Result<std::string> new_text(const SyntaxTree& tree, const FmtSettings& settings,
                             IRContext& context, Diagnostics& diagnostics) {
  if (settings.lines.is_given()) return text_of_lines(tree, *settings.lines);
  auto text = with_meaning_as_asked(tree, settings, context, diagnostics);
  if (!text || !settings.columns.is_given() || diagnostics.has_errors()) return text;
  const auto canonical = add_text(context.sources(), tree.file(), *std::move(text));
  if (!canonical) return canonical.error();
  return wrap_lines(**canonical, *settings.columns);
}

}  // namespace mir::tools

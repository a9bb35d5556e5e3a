// Groups the entries of a diff by ops, and joins changes that differ in numbers of names only.
#include "diff/diff_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "diff/op_text.hpp"
#include "mir/attribute_keys.hpp"
#include "support/terminal_text.hpp"

namespace mir {

std::string graph_of(const DiffEntry& entry) {
  return entry.graph.empty() ? fmt::format("@{}", entry.module)
                             : fmt::format("@{} / @{}", entry.module, entry.graph);
}

namespace {

/// Texts without the numbers in names, of `'model.layers.3.up'` and `@model.layers.3`, and without
/// the ids of quantisation specs. Equal numbers stay equal.
class Unnumbered {
 public:
  void add(std::string_view text) {
    bool in_quotes = false, in_symbol = false;
    char before = ' ';
    while (!text.empty()) {
      const char c = text.front();
      if (c == '\'') in_quotes = !in_quotes;
      in_symbol = c == '@' || (in_symbol && kEnds.find(c) == kEnds.npos);
      const bool in_name = in_quotes || in_symbol;
      const std::size_t digits = text_.ends_with("uuid=") ? digits_at(text)
                                 : in_name                ? number_at(before, text)
                                                          : 0;
      if (digits != 0) {
        const std::size_t next = numbers_.size();
        text_ += fmt::format("#{}", numbers_.emplace(text.substr(0, digits), next).first->second);
      } else {
        text_ += c;
      }
      before = text[std::max<std::size_t>(digits, 1) - 1];
      text.remove_prefix(std::max<std::size_t>(digits, 1));
    }
    text_ += '\n';
  }
  const std::string& text() const { return text_; }

 private:
  static constexpr std::string_view kEnds = " ,)]", kBegins = ".@'";

  static std::size_t digits_at(std::string_view text) {
    return std::min(text.find_first_not_of("0123456789"), text.size());
  }

  /// Returns the length of the number between dots that `text` begins with; 0 if it begins with
  /// none.
  static std::size_t number_at(char before, std::string_view text) {
    if (kBegins.find(before) == kBegins.npos) return 0;
    const std::size_t digits = digits_at(text);
    const bool ends = digits == text.size() || text[digits] == '.' || text[digits] == '\'' ||
                      kEnds.find(text[digits]) != kEnds.npos;
    return ends ? digits : 0;
  }

  std::string text_;
  std::unordered_map<std::string, std::size_t> numbers_;
};

std::string key_of(std::span<const DiffEntry> entries) {
  Unnumbered key;
  key.add(fmt::format("{}", fmt::underlying(entries.front().kind)));
  key.add(graph_of(entries.front()));
  key.add(entries.front().op);
  for (const DiffEntry& entry : entries) {
    key.add(entry.field);
    key.add(entry.before);
    key.add(entry.after);
  }
  return key.text();
}

bool are_of_one_op(const DiffEntry& a, const DiffEntry& b) {
  return a.kind == DiffEntry::Kind::kChanged && a.kind == b.kind && a.at_before == b.at_before &&
         a.at_after == b.at_after && a.op == b.op && graph_of(a) == graph_of(b);
}

}  // namespace

std::vector<Change> changes_of(const ModuleDiff& diff, bool each) {
  std::vector<Change> changes;
  std::unordered_map<std::string, std::size_t> known;
  for (std::span<const DiffEntry> rest(diff.entries); !rest.empty();) {
    const auto end = std::ranges::find_if_not(
        rest, [&](const DiffEntry& entry) { return are_of_one_op(rest.front(), entry); });
    const auto count = std::max<std::ptrdiff_t>(end - rest.begin(), 1);
    const auto entries = rest.first(static_cast<std::size_t>(count));
    rest = rest.subspan(entries.size());
    const auto [found, is_new] = known.emplace(key_of(entries), changes.size());
    if (is_new || each) {
      changes.push_back({entries, {}});
    } else {
      changes[found->second].alike.push_back(&entries.front());
    }
  }
  return changes;
}

/// Returns the position of an entry in the texts: ` (line 3:4, 5:6)`.
std::string lines_text(const DiffEntry& entry, const IRContext& context) {
  const std::string before = place_text(context, entry.at_before);
  const std::string after = place_text(context, entry.at_after);
  if (before.empty() && after.empty()) return "";
  return fmt::format(" (line {}{}{})", before, before.empty() || after.empty() ? "" : ", ", after);
}

std::string alike_text(const Change& change, const IRContext& context) {
  if (change.alike.empty()) return "";
  const DiffEntry& last = *change.alike.back();
  return fmt::format(" and {} alike, the last {}{}", change.alike.size(), last.op,
                     lines_text(last, context));
}

std::string styled(std::string_view colour, std::string_view given, bool coloured) {
  const std::string text = visible(given);
  return coloured ? fmt::format("{}{}{}\n", colour, text, kPlain) : fmt::format("{}\n", text);
}

namespace {

std::string fields_text(const Change& change, bool colour) {
  std::string text;
  for (const DiffEntry& entry : change.entries) {
    const std::string what = fmt::format("    {}: ", entry.field);
    if (is_renaming(entry)) {
      text += styled(kCyan, fmt::format("~{}{} renamed to {}", what, entry.before, entry.after),
                     colour);
      continue;
    }
    text += styled(kRed, fmt::format("-{}{}", what, or_none(entry.before)), colour);
    text += styled(kGreen, fmt::format("+{}{}", what, or_none(entry.after)), colour);
  }
  return text;
}

}  // namespace

std::string change_text(const Change& change, const IRContext& context, bool coloured) {
  const DiffEntry& first = change.first();
  const std::string places = lines_text(first, context) + alike_text(change, context);
  switch (first.kind) {
    case DiffEntry::Kind::kRemoved:
      return styled(kRed, fmt::format("-{}{}", first.before, places), coloured);
    case DiffEntry::Kind::kAdded:
      return styled(kGreen, fmt::format("+{}{}", first.after, places), coloured);
    case DiffEntry::Kind::kChanged:
      break;
  }
  return visible(fmt::format(" {}{}", first.op, places)) + '\n' + fields_text(change, coloured);
}

bool is_renaming(const DiffEntry& entry) {
  const std::string_view field = entry.field;
  return entry.kind == DiffEntry::Kind::kChanged && !entry.before.empty() && !entry.after.empty() &&
         entry.before != entry.after &&
         (field == key::kName || field == key::kSymbol || field.starts_with("symbol of ") ||
          field.starts_with("port of "));
}

}  // namespace mir

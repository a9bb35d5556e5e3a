// Renders a module diff as text; equal changes of several ops are shown once.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "diff/module_diff.hpp"
#include "diff/op_text.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[31m", kGreen = "\x1b[32m",
                           kCyan = "\x1b[36m", kPlain = "\x1b[0m";

/// Returns a line in a colour. Control characters of user text are made visible.
std::string styled(std::string_view colour, std::string_view given, bool coloured) {
  const std::string text = visible(given);
  return coloured ? fmt::format("{}{}{}\n", colour, text, kPlain) : fmt::format("{}\n", text);
}

std::string graph_of(const DiffEntry& entry) {
  return entry.graph.empty() ? fmt::format("@{}", entry.module)
                             : fmt::format("@{} / @{}", entry.module, entry.graph);
}

std::string_view kind_name(DiffEntry::Kind kind) {
  switch (kind) {
    case DiffEntry::Kind::kChanged:
      return "changed";
    case DiffEntry::Kind::kRemoved:
      return "removed";
    case DiffEntry::Kind::kAdded:
      return "added";
  }
  return "";
}

std::string_view or_none(std::string_view text) {
  return text.empty() ? "(none)" : text;
}

/// Changes of one pair of ops, or one op that only one text has.
struct Change {
  std::span<const DiffEntry> entries;
  std::vector<const DiffEntry*> alike;  ///< the first entries of later changes with the same text

  const DiffEntry& first() const { return entries.front(); }
};

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

bool is_renaming(const DiffEntry& entry) {
  const std::string_view field = entry.field;
  return entry.kind == DiffEntry::Kind::kChanged && !entry.before.empty() && !entry.after.empty() &&
         entry.before != entry.after &&
         (field == key::kName || field == key::kSymbol || field.starts_with("symbol of ") ||
          field.starts_with("port of "));
}

std::string diff_text(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style) {
  if (diff.entries.empty()) return "";
  std::string text = styled(kBold, fmt::format("--- {}", style.before_name), style.colour) +
                     styled(kBold, fmt::format("+++ {}", style.after_name), style.colour);
  std::string graph;
  for (const Change& change : changes_of(diff, style.each)) {
    const DiffEntry& first = change.first();
    if (graph_of(first) != graph) {
      graph = graph_of(first);
      text += styled(kCyan, fmt::format("@@ {} @@", graph), style.colour);
    }
    const std::string places = lines_text(first, context) + alike_text(change, context);
    if (first.kind == DiffEntry::Kind::kRemoved) {
      text += styled(kRed, fmt::format("-{}{}", first.before, places), style.colour);
    } else if (first.kind == DiffEntry::Kind::kAdded) {
      text += styled(kGreen, fmt::format("+{}{}", first.after, places), style.colour);
    } else {
      text += visible(fmt::format(" {}{}", first.op, places)) + '\n' +
              fields_text(change, style.colour);
    }
  }
  return text;
}

std::string diff_stat(const ModuleDiff& diff, const DiffStyle& style) {
  struct Counts {
    std::size_t of[3] = {};
  };
  std::map<std::string, Counts> graphs;
  Counts all;
  std::size_t width = 0;
  for (const DiffEntry& entry : diff.entries) {
    const auto kind = static_cast<std::size_t>(entry.kind);
    const std::string graph = visible(graph_of(entry));
    width = std::max(width, graph.size());
    ++graphs[graph].of[kind];
    ++all.of[kind];
  }
  std::string text;
  const auto number = [&](std::string_view colour, char sign, std::size_t count) {
    const std::string shown = fmt::format("{}{}", sign, count);
    return style.colour && count != 0 ? fmt::format("{}{}{}", colour, shown, kPlain) : shown;
  };
  for (const auto& [graph, counts] : graphs) {
    text += fmt::format(" {:<{}} | {} changed, {}, {}\n", graph, width, counts.of[0],
                        number(kGreen, '+', counts.of[2]), number(kRed, '-', counts.of[1]));
  }
  return text +
         fmt::format(" {} graphs differ: {} fields changed, {} operations added, {} removed\n",
                     graphs.size(), all.of[0], all.of[2], all.of[1]);
}

std::string diff_json(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style) {
  using Json = nlohmann::ordered_json;
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json entries = Json::array();
  for (const DiffEntry& entry : diff.entries) {
    entries.push_back({{"kind", kind_name(entry.kind)},
                       {"module", entry.module},
                       {"graph", text_or_null(entry.graph)},
                       {"op", entry.op},
                       {"field", text_or_null(entry.field)},
                       {"renamed", is_renaming(entry)},
                       {"before", text_or_null(entry.before)},
                       {"after", text_or_null(entry.after)},
                       {"at_before", text_or_null(place_text(context, entry.at_before))},
                       {"at_after", text_or_null(place_text(context, entry.at_after))}});
  }
  const Json document = {{"schema", 1},
                         {"before", style.before_name},
                         {"after", style.after_name},
                         {"changed", diff.count(DiffEntry::Kind::kChanged)},
                         {"added", diff.count(DiffEntry::Kind::kAdded)},
                         {"removed", diff.count(DiffEntry::Kind::kRemoved)},
                         {"differences", std::move(entries)}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace mir

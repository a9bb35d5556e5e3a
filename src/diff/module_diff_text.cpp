#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "diff/module_diff.hpp"
#include "mir/context.hpp"

namespace mir {

namespace {

constexpr std::string_view kBold = "\x1b[1m", kRed = "\x1b[31m", kGreen = "\x1b[32m",
                           kCyan = "\x1b[36m", kPlain = "\x1b[0m";

std::string styled(std::string_view colour, std::string_view text, bool coloured) {
  return coloured ? fmt::format("{}{}{}\n", colour, text, kPlain) : fmt::format("{}\n", text);
}

/// `line:column`; empty for what no text has.
std::string place_of(Location at, const IRContext& context) {
  const Span span = context.locations().span(at);
  const SourceFile* file = span.known() ? context.sources().file_of(span.begin) : nullptr;
  if (file == nullptr) return "";
  const LineColumn place = file->line_column(span.begin);
  return fmt::format("{}:{}", place.line, place.column);
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

}  // namespace

std::string diff_text(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style) {
  if (diff.entries.empty()) return "";
  std::string text = styled(kBold, fmt::format("--- {}", style.before_name), style.colour) +
                     styled(kBold, fmt::format("+++ {}", style.after_name), style.colour);
  std::string graph, op;
  for (const DiffEntry& entry : diff.entries) {
    if (graph_of(entry) != graph) {
      graph = graph_of(entry);
      text += styled(kCyan, fmt::format("@@ {} @@", graph), style.colour);
      op.clear();
    }
    const std::string before = place_of(entry.at_before, context);
    const std::string after = place_of(entry.at_after, context);
    const bool whole = entry.kind != DiffEntry::Kind::kChanged;
    if (whole) {
      op.clear();
    } else if (const std::string head = fmt::format(" {} (line {}, {})", entry.op, before, after);
               head != op) {
      op = head;
      text += op + "\n";
    }
    const std::string what = whole ? "" : fmt::format("    {}: ", entry.field);
    if (entry.kind != DiffEntry::Kind::kAdded) {
      text += styled(kRed, fmt::format("-{}{}", what, or_none(entry.before)), style.colour);
    }
    if (entry.kind != DiffEntry::Kind::kRemoved) {
      text += styled(kGreen, fmt::format("+{}{}", what, or_none(entry.after)), style.colour);
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
    const std::string graph = graph_of(entry);
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
                       {"before", text_or_null(entry.before)},
                       {"after", text_or_null(entry.after)},
                       {"at_before", text_or_null(place_of(entry.at_before, context))},
                       {"at_after", text_or_null(place_of(entry.at_after, context))}});
  }
  const Json document = {{"schema", 1},
                         {"before", style.before_name},
                         {"after", style.after_name},
                         {"changed", diff.count(DiffEntry::Kind::kChanged)},
                         {"added", diff.count(DiffEntry::Kind::kAdded)},
                         {"removed", diff.count(DiffEntry::Kind::kRemoved)},
                         {"differences", std::move(entries)}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace mir

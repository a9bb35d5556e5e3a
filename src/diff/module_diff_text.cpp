// Renders a module diff as text, counts or JSON.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "diff/diff_changes.hpp"
#include "diff/op_text.hpp"
#include "mir/context.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

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

}  // namespace

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
    text += change_text(change, context, style.colour);
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

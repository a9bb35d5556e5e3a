// Renders a module diff for reviews: as a comment in Markdown, or as a page in HTML.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "diff/diff_changes.hpp"
#include "support/counted.hpp"
#include "support/markup.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

/// The changes of one graph.
struct GraphChanges {
  std::string graph;
  std::vector<Change> changes;
  std::size_t changed = 0, added = 0, removed = 0;
};

std::vector<GraphChanges> by_graph(const ModuleDiff& diff, bool each) {
  std::vector<GraphChanges> graphs;
  std::unordered_map<std::string, std::size_t> numbers;
  const auto at = [&](const DiffEntry& entry) -> GraphChanges& {
    const auto [found, is_new] = numbers.emplace(graph_of(entry), graphs.size());
    if (is_new) graphs.emplace_back().graph = found->first;
    return graphs[found->second];
  };
  for (const DiffEntry& entry : diff.entries) {
    GraphChanges& graph = at(entry);
    graph.changed += entry.kind == DiffEntry::Kind::kChanged;
    graph.added += entry.kind == DiffEntry::Kind::kAdded;
    graph.removed += entry.kind == DiffEntry::Kind::kRemoved;
  }
  for (Change& change : changes_of(diff, each)) {
    at(change.first()).changes.push_back(std::move(change));
  }
  return graphs;
}

/// A text in the code font, also in a table of Markdown.
std::string code(std::string_view text) {
  // Characters that mean something in Markdown, between tags too, and in addresses.
  constexpr std::string_view kMarks = "*_`[]!~\\|:";
  std::string shown;
  const std::string markup = as_markup(visible(text));
  for (std::size_t i = 0; i < markup.size(); ++i) {
    const bool is_mark =
        kMarks.find(markup[i]) != kMarks.npos ||
        (markup[i] == '.' && std::string_view(markup).substr(0, i).ends_with("www"));
    shown +=
        is_mark ? fmt::format("&#{};", static_cast<int>(markup[i])) : std::string(1, markup[i]);
  }
  return fmt::format("<code>{}</code>", shown);
}

/// A fence that is longer than any in the text.
std::string fence_around(std::string_view text) {
  std::size_t longest = 2, run = 0;
  for (const char byte : text) {
    run = byte == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return std::string(longest + 1, '`');
}

std::string changes_as_text(const GraphChanges& graph, const IRContext& context) {
  std::string text;
  for (const Change& change : graph.changes) text += change_text(change, context, false);
  return text;
}

constexpr std::string_view kStyle = R"(
body { font: 14px sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: 1em 0; }
th, td { border: 1px solid #ccc; padding: 2px 8px; text-align: left; vertical-align: top; }
.sides { table-layout: fixed; width: 100%; }
.sides td { font-family: monospace; overflow-wrap: anywhere; white-space: pre-wrap; }
.before { background: #fdecec; } .after { background: #eaf7ea; } .none { background: #f5f5f5; }
@media (prefers-color-scheme: dark) {
  body { background: #1b1b1b; color: #ddd; } th, td { border-color: #555; }
  .before { background: #4a2323; } .after { background: #1f3f24; } .none { background: #262626; }
}
)";

std::string cell(std::string_view style, std::string_view text) {
  return fmt::format("<td{}>{}</td>", style.empty() ? "" : fmt::format(" class=\"{}\"", style),
                     as_markup(visible_lines(text)));
}

/// Rows of a table with two columns: an op that one text has, or the fields of a pair.
std::string rows_of(const Change& change, const IRContext& context) {
  const DiffEntry& first = change.first();
  const std::string places = lines_text(first, context) + alike_text(change, context);
  switch (first.kind) {
    case DiffEntry::Kind::kRemoved:
      return fmt::format("<tr>{}{}</tr>\n", cell("before", first.before + places),
                         cell("none", ""));
    case DiffEntry::Kind::kAdded:
      return fmt::format("<tr>{}{}</tr>\n", cell("none", ""), cell("after", first.after + places));
    case DiffEntry::Kind::kChanged:
      break;
  }
  std::string rows = fmt::format("<tr><td colspan=\"2\">{}</td></tr>\n",
                                 as_markup(visible(fmt::format("{}{}", first.op, places))));
  for (const DiffEntry& entry : change.entries) {
    const auto side = [&](std::string_view text) {
      return fmt::format("  {}: {}", entry.field, or_none(text));
    };
    rows += fmt::format("<tr>{}{}</tr>\n", cell("before", side(entry.before)),
                        cell("after", side(entry.after)));
  }
  return rows;
}

}  // namespace

std::string diff_markdown(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style,
                          std::span<const DiffCost> costs) {
  const std::vector<GraphChanges> graphs = by_graph(diff, style.each);
  std::string text =
      fmt::format("### {} and {}\n\n", code(style.before_name), code(style.after_name));
  if (graphs.empty()) text += "No difference.\n";
  if (!graphs.empty()) {
    text += "| Graph | Fields changed | Operations added | removed |\n|---|---|---|---|\n";
  }
  for (const GraphChanges& graph : graphs) {
    text += fmt::format("| {} | {} | {} | {} |\n", code(graph.graph), graph.changed, graph.added,
                        graph.removed);
  }
  if (!costs.empty()) text += "\n| Cost | Before | After |\n|---|---|---|\n";
  for (const DiffCost& cost : costs) {
    text += fmt::format("| {} | {} | {} |\n", cost.what, cost.before, cost.after);
  }
  for (const GraphChanges& graph : graphs) {
    if (graph.changes.empty()) continue;  // all are like some of another graph
    const std::string changes = changes_as_text(graph, context);
    text += fmt::format("\n<details><summary>{0}</summary>\n\n{1}diff\n{2}{1}\n\n</details>\n",
                        code(graph.graph), fence_around(changes), changes);
  }
  return text;
}

std::string diff_html(const ModuleDiff& diff, const IRContext& context, const DiffStyle& style,
                      std::span<const DiffCost> costs) {
  const std::vector<GraphChanges> graphs = by_graph(diff, style.each);
  const std::string title = fmt::format("{} and {}", as_markup(visible(style.before_name)),
                                        as_markup(visible(style.after_name)));
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n",
      title, kStyle);
  if (graphs.empty()) text += "<p>No difference.</p>\n";
  if (!costs.empty()) text += "<table>\n<tr><th>Cost</th><th>Before</th><th>After</th></tr>\n";
  for (const DiffCost& cost : costs) {
    text += fmt::format("<tr>{}{}{}</tr>\n", cell("", cost.what), cell("", cost.before),
                        cell("", cost.after));
  }
  if (!costs.empty()) text += "</table>\n";
  for (const GraphChanges& graph : graphs) {
    if (graph.changes.empty()) continue;  // all are like some of another graph
    text += fmt::format(
        "<h2>{}</h2>\n<p>{} changed, {} added, {} removed</p>\n"
        "<table class=\"sides\">\n<tr><th>{}</th><th>{}</th></tr>\n",
        code(graph.graph), counted(graph.changed, "fields"), counted(graph.added, "operations"),
        graph.removed, as_markup(visible(style.before_name)), as_markup(visible(style.after_name)));
    for (const Change& change : graph.changes) text += rows_of(change, context);
    text += "</table>\n";
  }
  return text + "</body>\n</html>\n";
}

}  // namespace mir

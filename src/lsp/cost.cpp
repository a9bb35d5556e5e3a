// The costs of ops and graphs, before any run.
#include "passes/estimate/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/features.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

/// `12.3 M`, or an expression if it has symbols.
std::string amount_text(const DimTable& table, Dim amount) {
  if (!amount.is_constant()) return table.print(amount) + " ";
  constexpr std::string_view kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  auto value = static_cast<double>(amount.constant());
  std::size_t prefix = 0;
  for (; value >= 1000 && prefix + 1 < std::size(kPrefixes); ++prefix) value /= 1000;
  if (prefix == 0) return fmt::format("{} ", amount.constant());
  return fmt::format("{:.3g} {}", value, kPrefixes[prefix]);
}

std::string work_text(const DimTable& table, const OpWork& work) {
  std::string text;
  const auto add = [&](std::string_view what, Dim amount, std::string_view unit) {
    if (amount.is_unknown() || amount == Dim(0)) return;
    if (!text.empty()) text += ", ";
    fmt::format_to(std::back_inserter(text), "{}{}{}", what, amount_text(table, amount), unit);
  };
  add("", work.flop, "FLOP");
  add("reads ", work.read, "B");
  add("writes ", work.written, "B");
  return text;
}

std::string peak_text(const DimTable& table, const Maximum& peak) {
  if (peak.is_unknown()) return "";
  const auto single = peak.single();
  return fmt::format(", peak {}B", single ? amount_text(table, *single) : peak.print(table) + " ");
}

}  // namespace

std::string cost_text(const View& view, SourcePos op_name) {
  Snapshot& now = view.now();
  if (!now.is_analysed()) return "";  // a hover does not wait for that
  const Op* op = now.op_named_at(op_name);
  if (op == nullptr) return "";
  for (const auto& module : now.costs()) {
    if (module == nullptr || module->body().graph != op->module().top()) continue;
    const DimTable& table = op->module().context().dims();
    for (const GraphCost& graph : module->graphs()) {
      if (graph.graph == op) return work_text(table, graph.work) + peak_text(table, graph.peak);
      const auto found = std::ranges::find(graph.ops, op, &OpCost::op);
      if (found != graph.ops.end()) return work_text(table, found->work);
    }
  }
  return "";
}

Json code_lenses(const View& view, bool runs_graphs) {
  Json lenses = Json::array();
  for (const auto& module : view.now().costs()) {
    if (module == nullptr) continue;
    for (const GraphCost& graph : module->graphs()) {
      view.check_stop();
      const DimTable& table = graph.graph->module().context().dims();
      std::string title = work_text(table, graph.work);
      if (runs_graphs) add_run_lenses(view, *graph.graph, lenses);
      if (title.empty()) continue;
      title += peak_text(table, graph.peak);
      lenses.push_back({{"range", view.document.range(graph.graph->span())},
                        {"command", {{"title", std::move(title)}, {"command", ""}}}});
    }
  }
  return lenses;
}

}  // namespace mir::lsp

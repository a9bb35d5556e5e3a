// Writes compared results as tables: a line for each graph, and the worst results.
#include "agreement_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "text_table.hpp"

namespace mir::tools {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The worst figures of some results.
struct WorstFigures {
  double cosine = 1;
  double sqnr = kInfinity;
  double error = 0;
  double top = 1;

  /// Figures that are not defined are left out. Results that cannot be compared have the worst.
  void add(const ComparedResult& result) {
    if (!result.comparison) {
      if (!result.agrees()) sqnr = -kInfinity;
      return;
    }
    const auto lower = [](double& worst, const Figure& figure) {
      if (figure.is_defined()) worst = std::min(worst, figure.value);
    };
    lower(cosine, result.comparison->cosine);
    lower(sqnr, result.comparison->sqnr);
    lower(top, result.comparison->top_agreement);
    error = std::max(error, result.comparison->max_abs_error);
  }

  std::vector<std::string> cells() const {
    return {fmt::format("{:.6g}", cosine), fmt::format("{:.1f}", sqnr),
            fmt::format("{:.3g}", error), fmt::format("{:.4g}", top)};
  }
};

struct GraphRow {
  std::string graph;
  std::size_t results = 0;
  std::size_t equal = 0;
  std::size_t beyond = 0;
  WorstFigures worst;
};

/// Activations of a graph, and runs, are one row.
std::vector<GraphRow> rows_of(std::span<const ComparedResult> results) {
  std::vector<GraphRow> rows;
  std::map<std::string, std::size_t, std::less<>> row_of;
  for (const ComparedResult& each : results) {
    const auto [found, is_new] = row_of.try_emplace(each.place.graph, rows.size());
    if (is_new) rows.push_back({.graph = each.place.graph, .worst = {}});
    GraphRow& row = rows[found->second];
    ++row.results;
    row.equal += each.agrees() && !each.comparison ? 1U : 0U;
    row.beyond += each.agrees() ? 0U : 1U;
    row.worst.add(each);
  }
  return rows;
}

WorstFigures figures_of(const ComparedResult& result) {
  WorstFigures figures;
  figures.add(result);
  return figures;
}

/// Results that differ, the least ratio of signal to noise first.
std::vector<const ComparedResult*> worst_of(std::span<const ComparedResult> results,
                                            std::size_t most) {
  std::vector<std::pair<double, const ComparedResult*>> ranked;
  for (const ComparedResult& each : results) {
    if (each.agrees() && !each.comparison) continue;
    ranked.emplace_back(figures_of(each).sqnr, &each);
  }
  std::ranges::stable_sort(ranked, {}, &std::pair<double, const ComparedResult*>::first);
  if (ranked.size() > most) ranked.resize(most);
  std::vector<const ComparedResult*> worst;
  for (const auto& [ratio, result] : ranked) worst.push_back(result);
  return worst;
}

void append(std::vector<std::string>& cells, std::vector<std::string> more) {
  cells.insert(cells.end(), more.begin(), more.end());
}

}  // namespace

std::string agreement_text(std::span<const ComparedResult> results, std::size_t most) {
  std::size_t top = 1;
  for (const ComparedResult& each : results) {
    if (each.comparison) top = each.comparison->top_count;
  }
  const std::vector<std::string> figures = {"cosine", "SQNR dB", "max error",
                                            fmt::format("top {}", top)};
  TextTable graphs("lrrrrrrr");
  std::vector<std::string> head = {"graph", "results", "equal bits", "beyond"};
  append(head, figures);
  graphs.add(std::move(head));
  for (const GraphRow& row : rows_of(results)) {
    std::vector<std::string> cells = {'@' + row.graph, fmt::to_string(row.results),
                                      fmt::to_string(row.equal), fmt::to_string(row.beyond)};
    append(cells, row.worst.cells());
    graphs.add(std::move(cells));
  }
  std::string text = graphs.render("");
  const auto worst = worst_of(results, most);
  if (worst.empty()) return text;
  TextTable ops("llrrrrl");
  head = {"worst results", "op"};
  append(head, figures);
  ops.add(std::move(head));
  for (const ComparedResult* each : worst) {
    const std::string run = each->run == 0 ? "" : fmt::format(", run {}", each->run);
    std::vector<std::string> cells = {render(each->place) + run, each->place.op};
    append(cells, figures_of(*each).cells());
    cells.push_back(each->agrees() ? "" : each->comparison ? "beyond" : each->difference);
    ops.add(std::move(cells));
  }
  return text + ops.render("");
}

}  // namespace mir::tools

// Reports operations, bytes and time of modules by kind of op, by graph and in total.
#include "tools/opt/cost_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "mir/control_flow.hpp"
#include "passes/estimate/cost.hpp"
#include "text_table.hpp"

namespace mir::tools {

namespace {

using Json = nlohmann::ordered_json;

struct CostRow {
  std::string scope;    ///< "kind", "graph" or "total"
  std::string name;     ///< "linalg.LinearOp", "@attend"
  std::size_t ops = 0;  ///< in the text
  Dim runs{};           ///< of all these ops, or of the graph
  OpWork work{};        ///< of all runs
  std::optional<Maximum> peak{};
  std::optional<double> seconds = 0;
};

/// The time of one run at the limits; no value if the work is not a number.
std::optional<double> time_of(const OpWork& work, const MachineRates& rates) {
  if (!work.flop.is_constant() || !work.read.is_constant() || !work.written.is_constant()) {
    return std::nullopt;
  }
  const auto at = [](std::int64_t amount, double rate) {
    return rate > 0 ? static_cast<double>(amount) / rate : 0.0;
  };
  return std::max(at(work.flop.constant(), rates.flop_per_second),
                  at(work.read.constant(), rates.bytes_per_second) +
                      at(work.written.constant(), rates.bytes_per_second));
}

class ModuleCost {
 public:
  ModuleCost(const Module& module, const MachineRates& rates)
      : table_(module.context().dims()), rates_(rates), estimate_(module) {
    CostRow total{.scope = "total", .name = "all"};
    total.runs = Dim(1);
    for (const GraphCost& graph : estimate_.graphs()) {
      const IRContext& context = module.context();
      CostRow row{.scope = "graph",
                  .name = fmt::format("@{}", context.text(graph.graph->symbol()))};
      row.runs = graph.runs;
      row.peak = graph.peak;
      for (const OpCost& each : graph.ops) {
        if (callee_of(*each.op)) continue;
        const Dim runs = table_.multiply(each.runs, graph.runs);
        CostRow& kind = kinds_.try_emplace(std::string(each.op->name())).first->second;
        kind.runs = table_.add(kind.runs, runs);
        for (CostRow* to : {&kind, &row, &total}) add(*to, each.work, runs);
      }
      graphs_.push_back(std::move(row));
    }
    total.peak = estimate_.body().peak;
    total_ = std::move(total);
  }

  /// Kinds of ops with most arithmetic come first, then those that move most bytes.
  std::vector<CostRow> rows() const {
    std::vector<CostRow> all;
    for (const auto& [name, row] : kinds_) {
      all.push_back(row);
      all.back().scope = "kind";
      all.back().name = name;
    }
    const auto size = [](const CostRow& row) {
      // In doubles, since the sum of two amounts may not fit 64 bits.
      const auto number = [](Dim amount) {
        return amount.is_constant() ? static_cast<double>(amount.constant()) : 0.0;
      };
      return std::pair(number(row.work.flop), number(row.work.read) + number(row.work.written));
    };
    std::ranges::stable_sort(all, std::greater<>(), size);
    all.insert(all.end(), graphs_.begin(), graphs_.end());
    all.push_back(total_);
    return all;
  }

 private:
  void add(CostRow& row, const OpWork& work, Dim runs) {
    ++row.ops;
    row.work = sum_of(table_, row.work, scaled(table_, work, runs));
    const auto once = time_of(work, rates_);
    if (row.seconds && once && runs.is_constant()) {
      *row.seconds += *once * static_cast<double>(runs.constant());
    } else {
      row.seconds.reset();
    }
  }

  DimTable& table_;
  MachineRates rates_;
  CostEstimate estimate_;
  std::map<std::string, CostRow> kinds_;
  std::vector<CostRow> graphs_;
  CostRow total_;
};

/// Numbers as numbers, expressions as text.
Json json_of(const DimTable& table, Dim amount) {
  return amount.is_constant() ? Json(amount.constant()) : Json(table.print(amount));
}

Json json_of(const DimTable& table, const Maximum& amount) {
  const auto single = amount.single();
  return single ? json_of(table, *single) : Json(amount.print(table));
}

Json json_of(const DimTable& table, const CostRow& row, const MachineRates& rates) {
  Json json{{"scope", row.scope},
            {"name", row.name},
            {"ops", row.ops},
            {"runs", json_of(table, row.runs)},
            {"flop", json_of(table, row.work.flop)},
            {"bytes_read", json_of(table, row.work.read)},
            {"bytes_written", json_of(table, row.work.written)}};
  if (row.peak) json["peak_bytes"] = json_of(table, *row.peak);
  if (rates.is_known()) json["seconds"] = row.seconds ? Json(*row.seconds) : Json(nullptr);
  return json;
}

std::vector<std::string> cells_of(const DimTable& table, const CostRow& row) {
  return {row.name,
          fmt::to_string(row.ops),
          table.print(row.runs),
          table.print(row.work.flop),
          table.print(row.work.read),
          table.print(row.work.written),
          row.peak ? row.peak->print(table) : ""};
}

/// A cell of RFC 4180.
std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\n\r") == cell.npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? std::string("\"\"") : std::string(1, c);
  return text + '"';
}

std::string table_of(const DimTable& table, const std::vector<CostRow>& rows,
                     const MachineRates& rates) {
  std::string text;
  for (const std::string_view scope : {"kind", "graph", "total"}) {
    TextTable lines("lrrrrrrr");
    const bool has_peak = scope != "kind";
    std::vector<std::string> head = {
        std::string(scope),          "ops", "runs", "FLOP", "bytes read", "bytes written",
        has_peak ? "peak bytes" : ""};
    if (rates.is_known()) head.emplace_back("seconds");
    lines.add(head);
    for (const CostRow& row : rows) {
      if (row.scope != scope) continue;
      std::vector<std::string> cells = cells_of(table, row);
      if (rates.is_known()) {
        cells.push_back(row.seconds ? fmt::format("{:.9f}", *row.seconds) : "?");
      }
      lines.add(std::move(cells));
    }
    text += lines.render();
  }
  return text;
}

std::string csv_of(const DimTable& table, const std::string& module,
                   const std::vector<CostRow>& rows, const MachineRates& rates) {
  std::string text;
  for (const CostRow& row : rows) {
    text += quoted(module) + ',' + row.scope;
    for (const std::string& cell : cells_of(table, row)) text += ',' + quoted(cell);
    text += rates.is_known() && row.seconds ? fmt::format(",{:.9g}\n", *row.seconds) : ",\n";
  }
  return text;
}

}  // namespace

std::string cost_head(TableFormat format) {
  if (format != TableFormat::kCsv) return "";
  return "module,scope,name,ops,runs,flop,bytes_read,bytes_written,peak_bytes,seconds\n";
}

std::string cost_report(std::span<Module* const> modules, TableFormat format,
                        const MachineRates& rates) {
  std::string text;
  Json all = Json::array();
  for (const Module* module : modules) {
    const DimTable& table = module->context().dims();
    const std::string name = fmt::format("@{}", module->context().text(module->name()));
    const std::vector<CostRow> rows = ModuleCost(*module, rates).rows();
    if (format == TableFormat::kTable) {
      text += fmt::format("module {}\n{}", name, table_of(table, rows, rates));
    } else if (format == TableFormat::kCsv) {
      text += csv_of(table, name, rows, rates);
    } else {
      Json entries = Json::array();
      for (const CostRow& row : rows) entries.push_back(json_of(table, row, rates));
      all.push_back({{"module", name}, {"rows", std::move(entries)}});
    }
  }
  if (format != TableFormat::kJson) return text;
  return Json{{"costs", std::move(all)}}.dump(-1, ' ', true) + '\n';
}

}  // namespace mir::tools

// Collects the names of ports, ops, graphs and results that run options can refer to.
#include "run_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/ports.hpp"
#include "mir/ops.hpp"
#include "mir/session.hpp"
#include "mir/walk.hpp"
#include "plan/schedule.hpp"

namespace mir::tools {

namespace {

using Kind = ReferenceKind;

void add_ops(InputNames& names, const Module& module) {
  for_each_op(module, [&](const Op& op) {
    names.add(Kind::kOp, op.name());
    names.add(Kind::kOp, op.info().mnemonic);
  });
}

void add_graphs(InputNames& names, const Region& region, const IRContext& context) {
  for_each_child(region, [&](Op& op) {
    const SubGraphOp graph = dyn_cast<SubGraphOp>(&op);
    if (!graph || graph.body() == nullptr) return;
    names.add(Kind::kGraph, context.text(op.symbol()));
    add_graphs(names, *graph.body(), context);
  });
}

/// Adds what --probe can name: in `graph` are the region's ops.
void add_results(InputNames& names, const Region& region, std::string_view graph,
                 const IRContext& context) {
  for_each_child(region, [&](Op& op) {
    if (const SubGraphOp inner = dyn_cast<SubGraphOp>(&op); inner && inner.body() != nullptr) {
      add_results(names, *inner.body(), context.text(op.symbol()), context);
      return;
    }
    for (const Value& result : op.results()) {
      const std::string value = value_name(result, context);
      names.add(Kind::kResult, op.name());
      names.add(Kind::kResult, fmt::format("@{}", graph));
      names.add(Kind::kResult, fmt::format("%{}", value));
      names.add(Kind::kResult, fmt::format("@{}%{}", graph, value));
    }
  });
}

void add_ports(InputNames& names, Kind kind, std::span<const std::string> ports) {
  for (const std::string& port : ports) names.add(kind, port);
  names.add_positions(kind, ports.size());
}

void add_ports(InputNames& names, const Region& entry, const IRContext& context) {
  std::vector<std::string> inputs, outputs;
  for (const SignaturePort& port : ports_of(entry)) {
    (port.is_output ? outputs : inputs).push_back(name_text(port.name, context));
  }
  add_ports(names, Kind::kInput, inputs);
  add_ports(names, Kind::kOutput, outputs);
}

const Region* region_of(const Module& module, const std::string& entry) {
  if (entry.empty()) return &module.body();
  const SubGraphOp graph = dyn_cast<SubGraphOp>(module.lookup_symbol(entry).op);
  return graph ? graph.body() : nullptr;
}

}  // namespace

RunEntries entries_of(const RunSettings& settings) {
  RunEntries entries{.names = {*settings.entry}, .of_run = {0}};
  for (const Stage& stage : *settings.then) {
    std::size_t entry = entries.of_run.back();
    if (stage.graph) {
      const auto known = std::ranges::find(entries.names, *stage.graph);
      entry = static_cast<std::size_t>(known - entries.names.begin());
      if (known == entries.names.end()) entries.names.push_back(*stage.graph);
    }
    entries.of_run.insert(entries.of_run.end(), stage.count, entry);
  }
  return entries;
}

InputNames names_of(const Module& module, const RunSettings& settings) {
  const OptionSet& rows = settings.options;
  const IRContext& context = module.context();
  const std::string_view name = context.text(module.name());
  InputNames names(fmt::format("module '@{}'", name));
  for (const Kind kind :
       {Kind::kGraph, Kind::kSymbol, Kind::kOp, Kind::kResult, Kind::kInput, Kind::kOutput})
    names.mention(kind);
  const Region& body = module.body();
  if (refer_to(rows, Kind::kGraph)) add_graphs(names, body, context);
  if (refer_to(rows, Kind::kOp)) add_ops(names, module);
  if (refer_to(rows, Kind::kResult)) add_results(names, body, name, context);
  if (refer_to(rows, Kind::kSymbol)) {
    for (const std::string& symbol : extent_symbols(module)) names.add(Kind::kSymbol, symbol);
  }
  for (const std::string& entry : entries_of(settings).names) {
    if (const Region* region = region_of(module, entry))
      add_ports(names, *region, module.context());
  }
  return names;
}

}  // namespace mir::tools

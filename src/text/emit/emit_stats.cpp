// Counts ops, values and other parts of modules.
#include <fmt/format.h>

#include <map>
#include <set>

#include "mir/control_flow.hpp"
#include "mir/ops.hpp"
#include "text/emit/emit.hpp"

namespace mir {

namespace {

struct Counts {
  std::map<std::string_view, std::size_t> ops;
  std::set<const Type*> types;
  std::size_t total = 0, graphs = 0, calls = 0, parameters = 0, values = 0;
  std::uint64_t parameter_bytes = 0;
  bool bytes_known = true;

  void count(const Op& op) {
    ++ops[op.name()];
    ++total;
    values += op.result_count();
    for (const Value& result : op.results()) types.insert(result.type());
    graphs += is_graph(op);
    calls += callee_of(op).has_value();
    const bool registers = op.is(OpId::kTensorRegister, OpId::kProgValueSymbol);
    if (!registers || op.result_count() == 0) return;
    ++parameters;
    const auto* type = op.result()->tensor_type();
    const auto elements = type == nullptr ? std::nullopt : type->element_count();
    const auto bytes = elements && type->dtype()
                           ? storage_bytes(*type->dtype(), static_cast<std::uint64_t>(*elements))
                           : std::nullopt;
    bytes_known = bytes_known && bytes.has_value();
    parameter_bytes += bytes.value_or(0);
  }
};

}  // namespace

std::string emit_stats(std::span<Module* const> modules) {
  std::string out;
  for (Module* module : modules) {
    Counts counts;
    walk<OpView>(*module, [&](OpView view) { counts.count(*view.op()); });
    fmt::format_to(std::back_inserter(out),
                   "module @{} ({})\n  {} operations, {} graphs, {} calls, {} results, {} types\n"
                   "  {} parameters, {}{} bytes\n",
                   module->context().text(module->name()),
                   module->is_portable() ? "portable" : "dump", counts.total, counts.graphs,
                   counts.calls, counts.values, counts.types.size(), counts.parameters,
                   counts.bytes_known ? "" : "at least ", counts.parameter_bytes);
    for (const auto& [name, count] : counts.ops) {
      fmt::format_to(std::back_inserter(out), "  {:>8}  {}\n", count, name);
    }
  }
  return out;
}

}  // namespace mir

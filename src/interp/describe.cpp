// Describes a module without running it: ports, weights, caches, kernels and peak memory.
#include "interp/describe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <unordered_set>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "interp/schedule_ports.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

namespace {

class Describer {
 public:
  Describer(const Schedule& schedule, const DimBindings& bindings)
      : schedule_(schedule),
        context_(schedule.module().context()),
        bindings_(bindings),
        declarations_(symbol_declarations(schedule.module())),
        largest_(bindings) {
    for (const SymbolDeclaration& each : declarations_) {
      const bool is_open = !bindings.find(each.name) && each.most != each.kUnbounded;
      if (is_open) largest_.bind(each.name, each.last_factor() * each.multiple);
    }
  }

  Description run() {
    description_.title = schedule_.title();
    std::size_t number = 0;
    for (const Port& port : input_ports(schedule_)) {
      description_.inputs.push_back(tensor(port.name, port.type));
      symbols_of(port.type, fmt::format("input {} '%{}'", number++, port.name));
    }
    for (const Port& port : output_ports(schedule_)) {
      description_.outputs.push_back(tensor(port.name, port.type));
    }
    for (const Value* parameter : schedule_.parameters()) {
      description_.parameters.push_back(
          tensor(std::string(context_.text(parameter->symbol())), parameter->type()));
    }
    std::map<std::string_view, std::size_t> ops;
    for (const Step& step : schedule_.steps()) ++ops[step.op->name()];
    schedule_.for_each([&](const Schedule& each) {
      for (const Step& step : each.steps()) cache(*step.op, &each == &schedule_);
    });
    for (const Step& step : schedule_.steps()) {
      for (const Value& result : step.op->results()) {
        symbols_of(result.type(), fmt::format("result of '{}'", step.op->info().mnemonic));
      }
    }
    description_.ops.assign(ops.begin(), ops.end());
    description_.steps = schedule_.steps().size();
    description_.calls = schedule_.calls().size() - 1;
    description_.memory = estimate_memory(schedule_, largest_);
    if (!description_.memory) description_.memory_gap = memory_gap();
    return std::move(description_);
  }

 private:
  Description::Tensor tensor(std::string name, const Type* type) const {
    return {std::move(name), type == nullptr ? "?" : std::string(type->spelling()),
            tensor_bytes(type, context_.dims(), bindings_)};
  }

  /// Returns why the estimate is missing. Causes that binding symbols cannot remove come first.
  std::string memory_gap() const {
    bool is_open = false;
    std::optional<Symbol> unbound;
    for (const ScheduledValue& scheduled : schedule_.values()) {
      const auto* type = scheduled.value->held_type();
      if (type == nullptr || tensor_bytes(type, context_.dims(), largest_)) continue;
      const auto is_unknown = [](Dim dim) { return dim.is_unknown(); };
      if (!type->dtype() || std::ranges::any_of(type->dims(), is_unknown)) {
        is_open = true;
      } else if (const auto found = unbound_in(type->dims())) {
        unbound = unbound.value_or(*found);
      } else {
        return fmt::format("the size of {} does not fit 63 bits", type->spelling());
      }
    }
    if (unbound) return fmt::format("give ${} a value with --bind", context_.text(*unbound));
    return is_open ? "some extents are unknown before the run" : "the sizes do not fit 64 bits";
  }

  /// The first symbol of the extents that has no value.
  std::optional<Symbol> unbound_in(std::span<const Dim> dims) const {
    for (const Dim dim : dims) {
      for (const Symbol symbol : context_.dims().symbols(dim)) {
        if (!largest_.find(symbol)) return symbol;
      }
    }
    return std::nullopt;
  }

  void symbols_of(const Type* type, const std::string& origin) {
    const TensorType* tensor_type = held_type(type);
    if (tensor_type == nullptr) return;
    for (const Dim dim : tensor_type->dims()) symbols_of(dim, origin);
  }

  void symbols_of(Dim dim, const std::string& origin) {
    for (const Symbol symbol : context_.dims().symbols(dim)) {
      if (!seen_.insert(symbol).second) continue;
      const SymbolDeclaration* declared = declarations_.find(symbol);
      description_.symbols.push_back(
          {std::string(context_.text(symbol)), origin, bindings_.find(symbol),
           declared == nullptr ? std::nullopt : std::optional(*declared)});
    }
  }

  /// A region binds the length of its caches in each run of its own.
  void cache(const Op& op, bool binds_past) {
    const Symbol name = cache_of(op);
    if (!name) return;
    const std::string text(context_.text(name));
    const Attr* past = op.attribute(key::kPast);
    if (binds_past && past != nullptr && past->kind() == AttrKind::kDim) {
      symbols_of(past->dim(), fmt::format("length of cache '@{}'", text));
    }
    if (!caches_.insert(name).second) return;
    const auto integer = [&](std::string_view key) -> std::optional<std::int64_t> {
      const Attr* value = op.attribute(key);
      const bool present = value != nullptr && value->kind() == AttrKind::kInt;
      return present ? std::optional(value->integer()) : std::nullopt;
    };
    description_.caches.push_back({text, integer(key::kKvHead).value_or(0),
                                   integer(key::kHeadDim).value_or(0), integer(key::kCapacity)});
  }

  const Schedule& schedule_;
  IRContext& context_;
  const DimBindings& bindings_;
  SymbolDeclarations declarations_;
  DimBindings largest_;  // bindings_, and the largest values of declared symbols without one
  Description description_;
  std::unordered_set<Symbol> seen_;
  std::unordered_set<Symbol> caches_;
};

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

void append(std::string& text, std::string_view title,
            const std::vector<Description::Tensor>& tensors, std::string_view sigil) {
  text += fmt::format("{} ({}):\n", title, tensors.size());
  for (const Description::Tensor& tensor : tensors) {
    text += fmt::format("  {}{}: {}{}\n", sigil, tensor.name, tensor.type,
                        tensor.bytes ? fmt::format("  {}", bytes_text(*tensor.bytes)) : "");
  }
}

}  // namespace

Description describe(const Schedule& schedule, const DimBindings& bindings) {
  return Describer(schedule, bindings).run();
}

std::string render(const Description& description) {
  std::string text = description.title + "\n";
  append(text, "inputs", description.inputs, "%");
  append(text, "outputs", description.outputs, "%");
  text += fmt::format("symbols ({}):\n", description.symbols.size());
  for (const auto& [name, origin, value, declared] : description.symbols) {
    text += fmt::format("  ${}{}: from {}{}\n", name, value ? fmt::format(" = {}", *value) : "",
                        origin, declared ? fmt::format(", {}", declared->text()) : "");
  }
  append(text, "parameters", description.parameters, "@");
  text += fmt::format("caches ({}):\n", description.caches.size());
  for (const Description::Cache& cache : description.caches) {
    text += fmt::format("  @{}: {} heads of {}{}\n", cache.name, cache.kv_heads, cache.head_dim,
                        cache.capacity ? fmt::format(", at most {} tokens", *cache.capacity) : "");
  }
  text += fmt::format("steps: {}, calls: {}\n", description.steps, description.calls);
  for (const auto& [name, count] : description.ops) text += fmt::format("  {} {}\n", count, name);
  if (!description.memory) {
    return text + fmt::format("memory: not known, {}\n", description.memory_gap);
  }
  const MemoryEstimate& memory = *description.memory;
  return text + fmt::format(
                    "memory: {} at most (parameters {}, constants {}, inputs {}, "
                    "results {}, caches {})\n",
                    bytes_text(memory.peak()), bytes_text(memory.parameters),
                    bytes_text(memory.constants), bytes_text(memory.inputs),
                    bytes_text(memory.activations), bytes_text(memory.caches));
}

std::string to_json(const Description& description) {
  using Json = nlohmann::ordered_json;
  const auto optional = [](const auto& value) { return value ? Json(*value) : Json(); };
  const auto tensors = [&](const std::vector<Description::Tensor>& list) {
    Json array = Json::array();
    for (const Description::Tensor& tensor : list) {
      array.push_back(
          {{"name", tensor.name}, {"type", tensor.type}, {"bytes", optional(tensor.bytes)}});
    }
    return array;
  };
  Json json = {{"schema", 1}, {"title", description.title}};
  json["inputs"] = tensors(description.inputs);
  json["outputs"] = tensors(description.outputs);
  json["symbols"] = Json::array();
  for (const auto& [name, origin, value, declared] : description.symbols) {
    Json symbol = {{"name", name}, {"from", origin}, {"value", optional(value)}};
    symbol["declared"] = nullptr;
    if (declared) {
      symbol["declared"] = {{"min", declared->least}, {"max", nullptr}};
      if (declared->most != declared->kUnbounded) symbol["declared"]["max"] = declared->most;
      symbol["declared"]["multiple"] = declared->multiple;
    }
    json["symbols"].push_back(std::move(symbol));
  }
  json["parameters"] = tensors(description.parameters);
  json["caches"] = Json::array();
  for (const Description::Cache& cache : description.caches) {
    json["caches"].push_back({{"name", cache.name},
                              {"kv_heads", cache.kv_heads},
                              {"head_dim", cache.head_dim},
                              {"capacity", optional(cache.capacity)}});
  }
  json["steps"] = description.steps;
  json["calls"] = description.calls;
  json["ops"] = Json::object();
  for (const auto& [name, count] : description.ops) json["ops"][name] = count;
  json["memory"] = nullptr;
  if (const auto& memory = description.memory) {
    json["memory"] = {{"peak", memory->peak()},         {"parameters", memory->parameters},
                      {"constants", memory->constants}, {"inputs", memory->inputs},
                      {"outputs", memory->outputs},     {"results", memory->activations},
                      {"caches", memory->caches}};
  }
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace mir

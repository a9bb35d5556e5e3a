// Names values after the ops that compute them.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "ir/ports.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "passes/names/rename_ports.hpp"
#include "passes/names/roles.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

class Naming {
 public:
  explicit Naming(Module& module) : context_(module.context()), rewriter_(module) {}

  /// A region that sees no values from outside, and the regions in it.
  void name_scope(Region& region, std::string_view graph) {
    graph_ = graph;
    std::unordered_set<std::string> taken;
    std::unordered_map<std::string, std::size_t> counts;
    taken_.swap(taken);
    counts_.swap(counts);
    collect(region);
    words_.clear();
    for (const SignaturePort& port : ports_of(region)) {
      if (!port.name.is_number() && !port.name.is_none()) {
        words_.emplace(port.value, name_text(port.name, context_));
      }
    }
    name(region);
    taken_.swap(taken);
    counts_.swap(counts);
  }

 private:
  /// Names that stay.
  void collect(const Region& region) {
    const auto add = [&](const Value& value) {
      if (has_word(value)) taken_.emplace(context_.text(value.name().symbol()));
    };
    for (const Value* value : region.free_values()) add(*value);
    for (const Block* block : region.blocks()) {
      for (const Value& argument : block->arguments()) add(argument);
      for (const Op* op : block->ops()) {
        for (const Value& result : op->results()) add(result);
        if (op->has(Trait::kIsolated)) continue;
        for (const Region* in = op->first_region(); in != nullptr; in = in->next()) collect(*in);
      }
    }
  }

  void name(Region& region) {
    for (Block* block : region.blocks()) {
      for (Value& argument : block->arguments()) {
        const std::string_view role = role_of_input(argument);
        if (set_to_port(argument)) continue;
        set(argument, role.empty() ? fmt::format("arg{}", argument.index()) : std::string(role));
      }
      for (Op* op : block->ops()) {
        for (Value& result : op->results()) {
          const std::string_view role = is_returned(result) ? role_of_output(result) : "";
          if (set_to_port(result)) continue;
          if (result.has_symbol()) {
            set(result, weight_of(result));
          } else {
            set(result, role.empty() ? base_of(*op) : std::string(role));
          }
        }
        if (op->has(Trait::kIsolated)) continue;
        for (Region* in = op->first_region(); in != nullptr; in = in->next()) name(*in);
      }
    }
    for (Value* value : region.free_values())
      set(*value, value->has_symbol() ? weight_of(*value) : "c");
  }

  /// `q_proj_weight` of a parameter `layers.0.q_proj.weight`.
  std::string weight_of(const Value& parameter) const {
    std::string_view name = context_.text(parameter.symbol());
    const std::size_t last = name.rfind('.');
    const std::size_t begin =
        last == name.npos || last == 0 ? name.npos : name.rfind('.', last - 1);
    if (begin != name.npos) name.remove_prefix(begin + 1);
    std::string word = as_value_name(name);
    std::ranges::replace(word, '.', '_');
    return word.empty() ? "w" : word;
  }

  std::string base_of(const Op& op) const {
    std::string_view path;
    if (op.has_path()) path = context_.text(op.path());
    if (isa<CallGraphOp>(&op)) path = context_.text(op.symbol());
    return word_for_results(op.info().mnemonic, path, graph_);
  }

  /// Names the value after a port that is a word. Returns false if it has none.
  bool set_to_port(Value& value) {
    const auto word = words_.find(&value);
    if (word == words_.end()) return false;
    set(value, as_value_name(word->second));
    return true;
  }

  static bool is_returned(const Value& value) {
    for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
      if (isa<ReturnOp>(use->user())) return true;
    }
    return false;
  }

  static bool has_word(const Value& value) {
    return !value.name().is_none() && !value.name().is_number();
  }

  void set(Value& value, const std::string& base) {
    if (has_word(value)) return;
    std::size_t& count = counts_[base];
    std::string name;
    do {
      name = count == 0 ? base : fmt::format("{}_{}", base, count);
      ++count;
    } while (!taken_.insert(name).second);
    rewriter_.set_name(value, ValueName::symbol(context_.intern(name)));
  }

  IRContext& context_;
  Rewriter rewriter_;
  std::string_view graph_;
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> counts_;  // by base
  std::unordered_map<const Value*, std::string> words_;  // ports of the scope
};

PassResult name_values(PassRun& run) {
  Module& module = run.module();
  Naming naming(module);
  naming.name_scope(module.body(), "");
  walk(module, [&](Op& op) {
    if (!op.has(Trait::kIsolated)) return WalkResult::kContinue;
    const std::string_view name =
        isa<SubGraphOp>(&op) ? module.context().text(op.symbol()) : std::string_view();
    for (Region* in = op.first_region(); in != nullptr; in = in->next()) {
      naming.name_scope(*in, name);
    }
    return WalkResult::kContinue;
  });
  Rewriter rewriter(module);
  for_each_signature(module.body(), [&](Region& each) { rename_ports(rewriter, each); });
  return run.result();
}

}  // namespace

Pass name_values_pass() {
  return {.name = "name-values",
          .summary =
              "names values that have numbers after the operations that compute or, of inputs, "
              "read them",
          .takes = PassForm::kPortable,
          .is_idempotent = true,
          .preserves = AnalysisSet::of<Dominance, CallGraph, Liveness, Aliases, SymbolRanges>(),
          .run = name_values};
}

}  // namespace mir

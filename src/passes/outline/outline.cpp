// Makes repeated parts of blocks graphs, and calls of them.
//
// note [names]: parts are repeated if they differ only in names: paths of ops, which name weights
// and states, symbols of parameters, and attributes that name states or layers. Parts with equal
// names share a graph. Other parts get graphs of their own, because a call cannot pass names: so
// each layer of a model becomes a graph.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dialects/parameters.hpp"
#include "ir/declaration_graphs.hpp"
#include "ir/extent_walk.hpp"
#include "mir/control_flow.hpp"
#include "mir/equivalence.hpp"
#include "mir/ops.hpp"
#include "passes/cse/operation_hash.hpp"
#include "passes/outline/repeats.hpp"
#include "passes/standard_passes.hpp"

namespace mir {

namespace {

constexpr std::string_view kLeast = "ops";
constexpr std::string_view kOutlined = "part";

bool can_outline(const Op& op) {
  const bool has_symbols =
      std::ranges::any_of(op.results(), [](const Value& each) { return each.has_symbol(); });
  return op.row() != nullptr && !op.has(Trait::kTerminator) && !op.has(Trait::kSymbol) &&
         op.first_region() == nullptr && op.extra().successors.empty() && !has_symbols &&
         !finds_out_symbols(op);
}

bool are_alike_values(const Value& a, const Value& b) {
  return a.type() == b.type() && a.is_free() == b.is_free() && a.has_symbol() == b.has_symbol() &&
         std::ranges::equal(a.attributes(), b.attributes());
}

bool have_alike_attributes(const Op& a, const Op& b) {
  return std::ranges::all_of(a.row()->attributes, [&](const AttrRow& row) {
    const Attr *x = effective_attribute(a, row), *y = effective_attribute(b, row);
    const bool are_equal = x == y || (x != nullptr && y != nullptr && are_same_value(*x, *y));
    return are_equal || (is_name_attribute(a, row) && x != nullptr && y != nullptr);
  });
}

/// True if two ops differ only in names and in the definitions of their operands.
bool are_alike(const Op& a, const Op& b) {
  const auto same_values = [](const Use& x, const Use& y) {
    return are_alike_values(*x.value(), *y.value());
  };
  return a.op_name().spelling == b.op_name().spelling && a.symbol() == b.symbol() &&
         states_only_row_attributes(a) == states_only_row_attributes(b) &&
         (states_only_row_attributes(a) || have_equal_attributes(a, b)) &&
         have_alike_attributes(a, b) &&
         std::ranges::equal(a.operand_uses(), b.operand_uses(), same_values) &&
         std::ranges::equal(a.results(), b.results(), are_alike_values);
}

/// True if two alike ops also have equal names.
bool have_equal_names(const Op& a, const Op& b) {
  return are_same_operation(a, b) &&
         std::ranges::equal(a.operand_uses(), b.operand_uses(), [](const Use& x, const Use& y) {
           return x.value()->symbol() == y.value()->symbol();
         });
}

/// Equal for parts whose ops are alike and have equal names.
std::size_t hash_of_names(std::span<Op* const> part) {
  std::size_t hash = part.size();
  for (const Op* op : part) {
    hash = combined_hash(hash, std::hash<Symbol>()(op->path()));
    for (const Use& use : op->operand_uses()) {
      hash = combined_hash(hash, std::hash<Symbol>()(use.value()->symbol()));
    }
    for (const AttrRow& row : op->row()->attributes) {
      const Attr* value = effective_attribute(*op, row);
      if (value != nullptr && is_name_attribute(*op, row)) {
        hash = combined_hash(hash, hash_of_value(*value));
      }
    }
  }
  return hash;
}

/// Equal for ops that are alike.
std::size_t hash_of_alike(const Op& op) {
  std::size_t hash =
      combined_hash(std::hash<Symbol>()(op.op_name().spelling), std::hash<Symbol>()(op.symbol()));
  const auto add = [&](const void* part) {
    hash = combined_hash(hash, std::hash<const void*>()(part));
  };
  for (const Use& use : op.operand_uses()) add(use.value()->type());
  for (const Value& result : op.results()) add(result.type());
  for (const AttrRow& row : op.row()->attributes) {
    const Attr* value = effective_attribute(op, row);
    if (value != nullptr && !is_name_attribute(op, row))
      hash = combined_hash(hash, hash_of_value(*value));
  }
  return hash;
}

using Part = std::span<Op* const>;

/// Where the operands of a part come from: the number of an op and a result, of a value from
/// outside in the order of first use, or nothing for a constant or parameter.
class Wiring {
 public:
  explicit Wiring(Part part) {
    std::unordered_map<const Value*, std::size_t> known;
    for (Op* op : part) {
      for (const Use& use : op->operand_uses()) {
        Value& value = *use.value();
        if (value.is_free()) continue;
        const auto [at, is_new] = known.try_emplace(&value, known.size());
        if (is_new) inputs_.push_back(&value);
        sources_.push_back(at->second);
      }
      for (const Value& result : op->results()) known.emplace(&result, known.size());
    }
  }

  /// Values from outside, in the order of first use.
  std::span<Value* const> inputs() const { return inputs_; }
  bool is_same(const Wiring& other) const { return sources_ == other.sources_; }
  /// Equal for those that are the same.
  std::size_t hash() const {
    std::size_t hash = sources_.size();
    for (const std::size_t each : sources_) hash = combined_hash(hash, each);
    return hash;
  }

 private:
  std::vector<Value*> inputs_;
  std::vector<std::size_t> sources_;
};

/// A result of a part by its position.
struct PartResult {
  std::size_t op = 0;
  std::size_t result = 0;
};

Value& value_of(Part part, PartResult at) {
  return *part[at.op]->result(at.result);
}

class Outlining {
 public:
  explicit Outlining(PassRun& run)
      : run_(run),
        context_(run.module().context()),
        rewriter_(run.module()),
        least_(static_cast<std::size_t>(run.options().integer(kLeast))) {}

  PassResult apply() {
    collect();
    std::vector<bool> is_taken(ops_.size());
    for (const Repeat& repeat : find_repeats(tokens_, least_)) {
      std::vector<Part> parts;
      for (const std::size_t start : repeat.starts) {
        const auto begin = is_taken.begin() + static_cast<std::ptrdiff_t>(start);
        const auto end = begin + static_cast<std::ptrdiff_t>(repeat.length);
        if (std::find(begin, end, true) == end) {
          parts.push_back(std::span(ops_).subspan(start, repeat.length));
        }
      }
      for (const std::vector<Part>& same : groups_of(parts)) {
        if (same.size() < 2) continue;
        for (const Part& part : same) {
          std::fill_n(is_taken.begin() + (part.data() - ops_.data()), part.size(), true);
        }
        outline(same);
      }
    }
    return run_.result();
  }

 private:
  // -- repeated parts -----------------------------------------------------------------------------

  void collect() {
    std::unordered_map<std::size_t, std::uint32_t> numbers;
    const auto add = [&](Op* op) {
      std::uint32_t token = 0;
      if (op != nullptr && can_outline(*op)) {
        const auto next = static_cast<std::uint32_t>(numbers.size() + 1);
        token = numbers.try_emplace(hash_of_alike(*op), next).first->second;
      }
      ops_.push_back(op);
      tokens_.push_back(token);
    };
    for (Op* graph : run_.analysis<CallGraph>().graphs()) {
      if (is_declaration(*graph) || graph->first_region() == nullptr) continue;
      for (const Block* block : graph->first_region()->blocks()) {
        for (Op* op : block->ops()) add(op);
        add(nullptr);
      }
    }
  }

  /// Parts that are equal but for names, each with those before it.
  static std::vector<std::vector<Part>> groups_of(std::span<const Part> parts) {
    std::vector<std::vector<Part>> groups;
    std::vector<Wiring> wirings;
    std::unordered_map<std::size_t, std::vector<std::size_t>> by_hash;  // groups
    for (const Part& part : parts) {
      const Wiring wiring(part);
      std::vector<std::size_t>& known = by_hash[wiring.hash()];
      const auto same = std::ranges::find_if(known, [&](std::size_t each) {
        return wiring.is_same(wirings[each]) && are_all(groups[each].front(), part, are_alike);
      });
      if (same != known.end()) {
        groups[*same].push_back(part);
        continue;
      }
      known.push_back(groups.size());
      groups.push_back({part});
      wirings.push_back(wiring);
    }
    return groups;
  }

  template <class Compare>
  static bool are_all(Part a, Part b, const Compare& compare) {
    return std::ranges::equal(a, b, [&](const Op* x, const Op* y) { return compare(*x, *y); });
  }

  // -- graphs and calls ---------------------------------------------------------------------------

  void outline(std::span<const Part> parts) {
    const std::vector<PartResult> results = results_of(parts);
    std::unordered_map<std::size_t, std::vector<std::pair<Part, Op*>>> by_names;
    std::size_t made = 0;
    // The ops of a graph leave their block, but can be compared still.
    for (const Part& part : parts) {
      auto& graphs = by_names[hash_of_names(part)];
      const auto same = std::ranges::find_if(
          graphs, [&](const auto& known) { return are_all(known.first, part, have_equal_names); });
      const Wiring wiring(part);
      const std::vector<Value*> inputs(wiring.inputs().begin(), wiring.inputs().end());
      Op* graph = same == graphs.end() ? create_graph(part, inputs, results) : same->second;
      Op* call = create_call(part, *graph, inputs, results);
      for (std::size_t i = 0; i < results.size(); ++i) {
        replace_outside(part, value_of(part, results[i]), *call->result(i));
      }
      if (same == graphs.end()) {
        fill(*graph, part, inputs, results);
        graphs.emplace_back(part, graph);
        ++made;
      } else {
        for (std::size_t i = part.size(); i-- > 0;) rewriter_.erase(*part[i]);
      }
      run_.count("parts replaced by calls");
    }
    run_.count("graphs made", made);
  }

  /// The results that some part hands to ops outside of it.
  static std::vector<PartResult> results_of(std::span<const Part> parts) {
    std::vector<PartResult> used;
    for (std::size_t op = 0; op < parts.front().size(); ++op) {
      for (std::size_t i = 0; i < parts.front()[op]->result_count(); ++i) {
        const auto is_used = [&](const Part& part) {
          return has_use_outside(part, value_of(part, {op, i}));
        };
        if (std::ranges::any_of(parts, is_used)) used.push_back({op, i});
      }
    }
    return used;
  }

  static bool is_outside(Part part, const Op& user) {
    const Op& first = *part.front();
    const Op* at = user.ancestor_in(*first.parent_region());
    return at == nullptr || at->block() != first.block() || at->is_before_in_block(&first) ||
           part.back()->is_before_in_block(at);
  }

  static bool has_use_outside(Part part, const Value& value) {
    for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
      if (is_outside(part, *use->user())) return true;
    }
    return false;
  }

  void replace_outside(Part part, Value& value, Value& by) {
    rewriter_.replace_uses_if(value, by,
                              [&](const Use& use) { return is_outside(part, *use.user()); });
  }

  Op* create_graph(Part part, std::span<Value* const> inputs, std::span<const PartResult> results) {
    std::vector<const Type*> types, result_types;
    for (const Value* input : inputs) types.push_back(input->type());
    for (const PartResult& each : results) result_types.push_back(value_of(part, each).type());
    Builder builder(run_.module(), ignored_);
    builder.set_insertion_point(*first_op_after_graphs());
    const std::string_view device = context_.text(part.front()->op_name().device);
    Op* graph = builder.subgraph(name_for(part), types, device.empty() ? "CPU" : device);
    rewriter_.set_result_types(*graph->first_region(), result_types);
    return graph;
  }

  Op* first_op_after_graphs() {
    for (Op* op : run_.module().body().entry()->ops()) {
      if (!is_graph(*op) && !isa<RegisterOp>(op)) return op;
    }
    return run_.module().body().entry()->back();
  }

  Op* create_call(Part part, const Op& graph, std::span<Value* const> inputs,
                  std::span<const PartResult> results) {
    std::vector<Location> locations;
    for (const Op* op : part) locations.push_back(op->location());
    std::vector<const Type*> types;
    for (const PartResult& each : results) types.push_back(value_of(part, each).type());
    rewriter_.set_insertion_point(*part.front());
    Op* call = rewriter_.create({.name = context_.op_name(OpId::kGraphCallGraph),
                                 .operands = inputs,
                                 .result_types = types,
                                 .symbol = graph.symbol(),
                                 .location = context_.locations().fused(locations)});
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value& before = value_of(part, results[i]);
      rewriter_.set_attributes(*call->result(i), before.attributes());
      // The value moves out of the scope, so its name is free there.
      if (!before.name().is_number()) rewriter_.set_name(*call->result(i), before.name());
    }
    return call;
  }

  /// Moves the ops of the part into the graph.
  void fill(Op& graph, Part part, std::span<Value* const> inputs,
            std::span<const PartResult> results) {
    Block& block = graph.first_region()->only_block();
    const std::unordered_set<const Op*> inside(part.begin(), part.end());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      rewriter_.replace_uses_if(*inputs[i], block.arguments()[i],
                                [&](const Use& use) { return inside.contains(use.user()); });
    }
    for (Op* op : part) rewriter_.move_to_end(*op, block);
    std::vector<Value*> values;
    for (const PartResult& each : results) values.push_back(&value_of(part, each));
    rewriter_.set_insertion_point_to_end(block);
    rewriter_.create({.name = context_.op_name(OpId::kCfReturn), .operands = values});
  }

  // -- names --------------------------------------------------------------------------------------

  /// The longest path that all paths of the part begin with, or `part`; with a number if it is
  /// taken.
  std::string name_for(Part part) {
    std::string name(common_path(part));
    if (name.empty()) name = kOutlined;
    const auto is_taken = [&](std::string_view each) {
      return run_.module().lookup_op(context_.intern(each)) != nullptr ||
             context_.text(run_.module().name()) == each;
    };
    std::string made = name == kOutlined ? fmt::format("{}.0", name) : name;
    std::size_t& next = next_numbers_[name];
    while (is_taken(made)) made = fmt::format("{}.{}", name, ++next);
    return made;
  }

  std::string_view common_path(Part part) const {
    std::string_view common;
    bool is_first = true;
    for (const Op* op : part) {
      if (!op->has_path() || context_.text(op->path()).empty()) continue;
      const std::string_view path = context_.text(op->path());
      if (std::exchange(is_first, false)) {
        common = path;
        continue;
      }
      while (!common.empty() && !(path.starts_with(common) &&
                                  (path.size() == common.size() || path[common.size()] == '.'))) {
        common = common.substr(
            0, common.find_last_of('.') == common.npos ? 0 : common.find_last_of('.'));
      }
    }
    return common;
  }

  PassRun& run_;
  IRContext& context_;
  Rewriter rewriter_;
  Diagnostics ignored_;
  std::size_t least_;
  std::vector<Op*> ops_;  // null between blocks
  std::vector<std::uint32_t> tokens_;
  std::unordered_map<std::string, std::size_t> next_numbers_;  // of graphs with one name
};

}  // namespace

Pass outline_pass() {
  return {.name = "outline",
          .summary = "replaces parts of blocks that repeat by calls of graphs",
          .takes = PassForm::kPortable,
          .options = {{.name = std::string(kLeast),
                       .kind = PassOption::Kind::kInteger,
                       .by_default = "4",
                       .summary = "least number of operations of a part",
                       .least = 2}},
          .preserves = AnalysisSet::of<SymbolRanges>(),
          .run = [](PassRun& run) { return Outlining(run).apply(); }};
}

}  // namespace mir

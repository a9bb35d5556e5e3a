// Upgrade step: links ops to their registered parameters.
#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "upgrade/call_order.hpp"
#include "upgrade/steps/recovery.hpp"

// Links from ops to their parameters. Ops without a name take the registered parameters in the
// order in which execution meets them: upstream registers a parameter when its op first runs, so
// the order of `@init` is the depth-first order of the calls from the module body.
// Older versions registered no weight of an RMSNorm; those get the names of upstream's models.

namespace mir {

namespace {

constexpr std::string_view kWeight = ".weight", kBias = ".bias";

bool is_functional_norm(const Op& op) {
  return op.is(OpId::kLinalgRMSNorm) && op.operand_count() == 2;
}

class LinkWalk {
 public:
  explicit LinkWalk(Recovery& recovery) : recovery_(recovery) {
    walk<RegisterOp>(recovery.module, [&](RegisterOp op) {
      if (op.value() != nullptr && op.value()->has_symbol()) parameters_.push_back(op.value());
    });
  }

  void run() {
    norms_are_registered_ = any_norm_is_registered();
    visit(recovery_.module.body(), "");
  }

 private:
  void visit(const Region& region, std::string_view graph) {
    if (region.empty()) return;
    for (Op* op : region.only_block().ops()) {
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op)) {
        // A second call of a graph registers nothing.
        const CallOrder::Entry entry = calls_.enter(call);
        if (entry && entry.is_first) visit(entry.body(), recovery_.text(entry.graph.symbol()));
      } else if (op->row() != nullptr && !op->row()->weights.empty() && !op->has_path()) {
        if (is_functional_norm(*op)) continue;  // its weight is an operand
        if (op->is(OpId::kLinalgRMSNorm) && !norms_are_registered_) {
          name_norm(*op, graph);
        } else {
          link(*op, graph);
        }
      }
    }
  }

  /// Older versions register no weight of an RMSNorm: then no parameter has the elements of one, as
  /// it would where the walk meets the first of them.
  bool any_norm_is_registered() const {
    bool any = false, fits = false;
    walk<LinalgOp>(recovery_.module, [&](LinalgOp op) {
      if (!op->is(OpId::kLinalgRMSNorm) || op->has_path() || is_functional_norm(*op.op())) {
        return;
      }
      any = true;
      fits = fits || a_weight_fits(*op.op());
    });
    return !any || fits || parameters_.empty();
  }

  bool a_weight_fits(const Op& norm) const {
    const auto* x = norm.operand_count() == 0 ? nullptr : norm.operand(0)->tensor_type();
    if (x == nullptr || x->rank() == 0) return true;
    const std::string graph = fmt::format("{}.", graph_of(norm));
    return std::ranges::any_of(parameters_, [&](const Value* parameter) {
      const auto* type = parameter->tensor_type();
      const std::string_view name = recovery_.text(parameter->symbol());
      const bool inside = graph == "." || name.starts_with(graph);
      return inside && name.ends_with(kWeight) && type != nullptr && type->rank() == 1 &&
             type->dims().front() == x->dims().back() && !has_bias(name);
    });
  }

  /// A LayerNorm registers a bias of the same extents after its weight.
  bool has_bias(std::string_view weight) const {
    const std::string bias =
        fmt::format("{}{}", weight.substr(0, weight.size() - kWeight.size()), kBias);
    return recovery_.module.lookup_symbol(bias).value != nullptr;
  }

  std::string_view graph_of(const Op& op) const {
    const Op* parent = op.parent_op();
    return isa<SubGraphOp>(parent) ? recovery_.text(parent->symbol()) : std::string_view();
  }

  /// The name that upstream's models give: by what reads the result, else as upstream numbers ops.
  void name_norm(Op& op, std::string_view graph) {
    std::string leaf;
    for (const Use* use = op.result()->first_use(); use != nullptr; use = use->next()) {
      const CallGraphOp call = dyn_cast<CallGraphOp>(use->user());
      const std::string_view callee = call ? recovery_.text(call.callee()) : std::string_view();
      if (callee.ends_with(".self_attn")) leaf = "input_layernorm";
      if (callee.ends_with(".mlp")) leaf = "post_attention_layernorm";
    }
    if (leaf.empty() && is_behind_calls_only(op)) leaf = "norm";
    const int number = norms_by_graph_[std::string(graph)]++;
    if (leaf.empty()) leaf = fmt::format("{}.{}", op.row()->type_name, number);
    const std::string name = graph.empty() ? leaf : fmt::format("{}.{}", graph, leaf);
    recovery_.rewriter.set_path(op, recovery_.context().intern(name));
    recovery_.note(op, LossEntry::Source::kAssumed, "name", name);
  }

  /// The last norm of a model follows its layers, and its graph has no other.
  static bool is_behind_calls_only(const Op& op) {
    bool calls = false;
    for (const Op* each = op.block()->front(); each != nullptr; each = each->next()) {
      if (each != &op && each->is(OpId::kLinalgRMSNorm)) return false;
      calls = calls || (isa<CallGraphOp>(each) && each->is_before_in_block(&op));
    }
    return calls;
  }

  /// The first version registered nothing: ops are called as upstream numbers those without a name.
  /// What the others own is not certain.
  void name_by_place(Op& op) {
    const std::string name = recovery_.grant_name(op);
    recovery_.rewriter.set_path(op, recovery_.context().intern(name));
    recovery_.note(op, LossEntry::Source::kAssumed, "name", name);
  }

  std::string_view symbol(std::size_t i) const { return recovery_.text(parameters_[i]->symbol()); }

  void link(Op& op, std::string_view graph) {
    const bool plain = op.is(OpId::kLinalgLinear, OpId::kLinalgEmbedding);
    if (parameters_.empty() && plain) return name_by_place(op);
    if (next_ == parameters_.size()) {
      recovery_.refuse(op, "parameters", "every registered parameter belongs to an op before it");
      return;
    }
    const std::string_view first = symbol(next_);
    const bool inside = graph.empty() || first.starts_with(fmt::format("{}.", graph));
    if (!inside || !first.ends_with(kWeight)) {
      recovery_.refuse(op, "parameters", fmt::format("the next registered one is '@{}'", first));
      return;
    }
    const std::string stem(first.substr(0, first.size() - kWeight.size()));
    ++next_;
    if (next_ < parameters_.size() && symbol(next_) == stem + std::string(kBias)) ++next_;
    recovery_.rewriter.set_path(op, recovery_.context().intern(stem));
    recovery_.note(op, LossEntry::Source::kDerived, "name", stem);
  }

  Recovery& recovery_;
  std::vector<const Value*> parameters_;
  std::size_t next_ = 0;
  bool norms_are_registered_ = true;
  std::unordered_map<std::string, int> norms_by_graph_;
  CallOrder calls_;
};

}  // namespace

void recover_links(Recovery& recovery) {
  LinkWalk(recovery).run();
}

}  // namespace mir

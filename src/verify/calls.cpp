#include <unordered_map>

#include "checks.hpp"

namespace mir::checks {

namespace {

void check_call(const CallGraphOp& call, Diagnostics& diagnostics) {
  const Op& op = *call.op();
  const SubGraphOp target = call.target();
  if (!target || target.body() == nullptr) {
    report(diagnostics, op, DiagCode::kUnknownCallee,
           fmt::format("no graph is named '@{}'", text(op, call.callee())));
    return;
  }
  if (!op.module().is_portable()) return;  // dumps print stale types at calls
  const Region& body = *target.body();
  const auto mismatch = [&](std::string_view what, std::size_t given, std::size_t wanted) {
    report(diagnostics, op, DiagCode::kCallMismatch,
           fmt::format("call of '@{}' has {} {}, the graph has {}", text(op, call.callee()), given,
                       what, wanted));
  };
  if (op.operand_count() != body.arguments().size()) {
    return mismatch("operands", op.operand_count(), body.arguments().size());
  }
  if (op.result_count() != body.results().size()) {
    return mismatch("results", op.result_count(), body.results().size());
  }
  const auto check_type = [&](std::string_view what, std::uint32_t i, const Type* given,
                              const Type* wanted) {
    if (given == nullptr || wanted == nullptr || compatible(given, wanted)) return;
    report(diagnostics, op, DiagCode::kCallMismatch,
           fmt::format("{} {} of the call of '@{}' is {}, the graph has {}", what, i,
                       text(op, call.callee()), given->spelling(), wanted->spelling()));
  };
  for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
    check_type("operand", i, op.operand(i)->type(), body.arguments()[i].type());
  }
  for (std::uint32_t i = 0; i < op.result_count(); ++i) {
    check_type("result", i, op.result(i)->type(), body.results()[i].type);
  }
}

/// Depth-first search for a graph that reaches itself.
class CycleSearch {
 public:
  explicit CycleSearch(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void visit(Op* graph) {
    State& state = states_[graph];
    if (state == State::kDone) return;
    state = State::kOpen;
    path_.push_back(graph);
    // Recursion is bounded by kDeepest.
    for (const CallGraphOp& call : calls_of(graph)) follow(call);
    path_.pop_back();
    states_[graph] = State::kDone;
  }

 private:
  enum class State { kNew, kOpen, kDone };

  static std::vector<CallGraphOp> calls_of(Op* graph) {
    std::vector<CallGraphOp> calls;
    Region* body = SubGraphOp(graph).body();
    if (body == nullptr) return calls;
    IRWriter(graph->module(), *body).walk<OpView>([&](IRWriter&, OpView op) {
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op.op())) calls.push_back(call);
      // A graph inside this one runs only when it is called.
      return isa<SubGraphOp>(op.op()) ? IRWriter::WalkResult::WALK_SKIP
                                      : IRWriter::WalkResult::WALK_CONTINUE;
    });
    return calls;
  }

  void follow(const CallGraphOp& call) {
    const SubGraphOp target = call.target();
    if (!target) return;
    if (states_[target.op()] != State::kOpen) {
      if (path_.size() < kDeepest) return visit(target.op());
      report(diagnostics_, *call.op(), DiagCode::kCallCycle,
             fmt::format("calls are nested deeper than {}", kDeepest));
      return;
    }
    std::string cycle;
    bool inside = false;
    for (const Op* graph : path_) {
      inside = inside || graph == target.op();
      if (inside) cycle += fmt::format("@{} -> ", text(*graph, graph->symbol()));
    }
    report(diagnostics_, *call.op(), DiagCode::kCallCycle,
           fmt::format("graph calls itself: {}@{}", cycle, text(*target.op(), target.symbol())));
  }

  static constexpr std::size_t kDeepest = 1000;
  Diagnostics& diagnostics_;
  std::unordered_map<const Op*, State> states_;
  std::vector<const Op*> path_;
};

}  // namespace

void calls(const Module& module, Diagnostics& diagnostics) {
  IRWriter walker(const_cast<Module&>(module));
  walker.walk<CallGraphOp>([&](IRWriter&, CallGraphOp call) {
    check_call(call, diagnostics);
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  CycleSearch search(diagnostics);
  walker.walk<SubGraphOp>([&](IRWriter&, SubGraphOp graph) {
    search.visit(graph.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

}  // namespace mir::checks

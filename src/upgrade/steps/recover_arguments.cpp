// Upgrade step: passes values that graphs use but do not define as arguments.
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "upgrade/call_order.hpp"
#include "upgrade/steps/recovery.hpp"

// Values that a graph reads and does not get: stores made outside the trace, masks made by the
// host. Storage ids are global, so the value is handed in from where the callers have it; what no
// caller has becomes an input of the module, which recover_interface then finds.

namespace mir {

namespace {

class Threading {
 public:
  explicit Threading(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {
    walk<CallGraphOp>(module_, [&](CallGraphOp call) {
      if (const SubGraphOp target = call.target()) calls_[target.op()].push_back(call.op());
    });
  }

  void run() { visit(module_.body()); }

 private:
  /// Callees first: what one lacks, its caller may lack as well.
  void visit(Region& region) {
    if (region.empty()) return;
    for (Op* op : region.only_block().ops()) {
      const CallGraphOp call = dyn_cast<CallGraphOp>(op);
      const CallOrder::Entry entry = call ? order_.enter(call) : CallOrder::Entry();
      if (!entry || !entry.is_first) continue;
      if (depth_ == kDeepest) {
        return recovery_.refuse(*op, key::kParameters,
                                fmt::format("calls are nested deeper than {}", kDeepest));
      }
      ++depth_;
      visit(entry.body());
      --depth_;
      hand_in(entry.graph);
    }
  }

  void hand_in(SubGraphOp graph) {
    Region& body = *graph.body();
    std::vector<Value*> lacking;
    for (Value* value : body.free_values()) {
      const bool lacks = value->has_uses() && !recovery_.is_given(*value);
      if (lacks && value->tensor_type() != nullptr && !value->name().is_none())
        lacking.push_back(value);
    }
    if (lacking.empty() || body.empty()) return;
    for (Op* call : calls_[graph.op()]) hand_over(*call, lacking);
    for (Value* value : lacking) {
      Value* argument = recovery_.rewriter.add_argument(body.only_block(), value->type());
      recovery_.rewriter.set_name(*argument, value->name());
      recovery_.rewriter.set_attributes(*argument, value->attributes());
      recovery_.rewriter.replace_all_uses(*value, *argument);
      recovery_.notes.undefined.insert(argument->name().raw());
      recovery_.note(*graph.op(), LossEntry::Source::kAssumed, "input",
                     describe(recovery_.context(), *argument));
    }
    recovery_.rewriter.erase_unused_free_values(body);
  }

  void hand_over(Op& call, std::span<Value* const> lacking) {
    std::vector<Value*> operands;
    for (const Use& use : call.operand_uses()) operands.push_back(use.value());
    for (const Value* value : lacking) operands.push_back(in_scope(call, *value));
    recovery_.rewriter.set_operands(call, operands);
  }

  /// The caller's latest value of that storage; one that nothing defines, where it has none.
  Value* in_scope(const Op& call, const Value& wanted) {
    for (Op* op = call.previous(); op != nullptr; op = op->previous()) {
      for (Value& result : op->results()) {
        if (result.name() == wanted.name() && result.type() == wanted.type()) return &result;
      }
    }
    Region& region = *call.parent_region();
    for (Value& argument : call.block()->arguments()) {
      if (argument.name() == wanted.name() && argument.type() == wanted.type()) return &argument;
    }
    for (Value* free : region.free_values()) {
      if (free->name() == wanted.name() && free->type() == wanted.type()) return free;
    }
    return recovery_.rewriter.create_free_value(region, wanted.type(), wanted.name());
  }

  /// Later steps follow the calls as well; they find none that lie deeper.
  static constexpr int kDeepest = 1000;
  int depth_ = 0;
  Recovery& recovery_;
  Module& module_;
  std::unordered_map<const Op*, std::vector<Op*>> calls_;
  CallOrder order_;
};

}  // namespace

void recover_arguments(Recovery& recovery) {
  Threading(recovery).run();
}

}  // namespace mir

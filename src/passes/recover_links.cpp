#include <unordered_set>
#include <vector>

#include "recovery.hpp"

// Links from ops to their parameters. Ops without a name take the registered parameters in the
// order in which execution meets them: upstream registers a parameter when its op first runs, so
// the order of `@init` is the depth-first order of the calls from the module body.

namespace mir {

namespace {

constexpr std::string_view kWeight = ".weight", kBias = ".bias";

class LinkWalk {
 public:
  explicit LinkWalk(Recovery& recovery) : recovery_(recovery) {
    IRWriter walker(recovery.module);
    walker.walk<RegisterOp>([&](IRWriter&, RegisterOp op) {
      if (op.value() != nullptr && op.value()->has_symbol()) parameters_.push_back(op.value());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
  }

  void run() { visit(recovery_.module.body(), ""); }

 private:
  void visit(const Region& region, std::string_view graph) {
    for (Op* op : region.ops()) {
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(op)) {
        const SubGraphOp target = call.target();
        // A second call of a graph registers nothing.
        if (target && target.body() != nullptr && visited_.insert(target.op()).second) {
          visit(*target.body(), recovery_.text(target.symbol()));
        }
      } else if (op->row() != nullptr && !op->row()->weights.empty() && !op->has_path()) {
        link(*op, graph);
      }
    }
  }

  std::string_view symbol(std::size_t i) const { return recovery_.text(parameters_[i]->symbol()); }

  void link(Op& op, std::string_view graph) {
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
    op.set_path(recovery_.context().intern(stem));
    recovery_.note(op, LossEntry::Source::kDerived, "name", stem);
  }

  Recovery& recovery_;
  std::vector<const Value*> parameters_;
  std::size_t next_ = 0;
  std::unordered_set<const Op*> visited_;
};

}  // namespace

void recover_links(Recovery& recovery) {
  LinkWalk(recovery).run();
}

}  // namespace mir

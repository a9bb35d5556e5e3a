// Every use against its definition.
#pragma once

#include <vector>

#include "ir/dominance_by_graph.hpp"
#include "verify/report.hpp"

namespace mir::checks {

/// Nearly every use is of an argument or a free value of the user's own region, or of a result
/// above it in its block; dominance is computed for the first other one of a graph.
class UseChecks {
 public:
  explicit UseChecks(Reporter& reporter)
      : reporter_(reporter), above_(reporter.module().op_id_end()) {}

  void enter(const Region& region) { region_ = &region; }
  void op(const Op& op);
  void leave(const Region& region) { region_ = region.parent()->parent_region(); }

 private:
  bool is_plain(const Value& value, const Op& op) const {
    if (const Op* definition = value.defining_op()) {
      return above_[definition->id()] != 0 && definition->block() == op.block();
    }
    return value.is_free() ? value.free_in() == region_ : value.argument_of() == op.block();
  }

  void check(const Use& use, const Op& op);

  Reporter& reporter_;
  const Region* region_ = nullptr;  // of the op at hand
  std::vector<char> above_;         // by op id
  DominanceByGraph dominances_;
};

inline void UseChecks::op(const Op& op) {
  for (const Use& use : op.operand_uses()) {
    if (!is_plain(*use.value(), op)) check(use, op);
  }
  above_[op.id()] = 1;
}

}  // namespace mir::checks

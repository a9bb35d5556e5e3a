// The ops that a driver has to visit.
#pragma once

#include <deque>
#include <vector>

#include "mir/module.hpp"

namespace mir {

/// A queue that holds each op at most once.
class Worklist {
 public:
  void push(Op& op) {
    if (op.id() >= waits_.size()) waits_.resize(op.module().op_id_end());
    if (waits_[op.id()]) return;
    waits_[op.id()] = true;
    ops_.push_back(&op);
  }
  /// The next op that is neither erased nor detached; null if there is none.
  Op* pop() {
    while (!ops_.empty()) {
      Op* op = ops_.front();
      ops_.pop_front();
      waits_[op->id()] = false;
      if (!op->is_erased() && op->block() != nullptr) return op;
    }
    return nullptr;
  }

 private:
  std::deque<Op*> ops_;
  std::vector<bool> waits_;  // by id
};

}  // namespace mir

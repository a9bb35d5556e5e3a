// The ops that a driver has to visit.
#pragma once

#include <vector>

#include "mir/module.hpp"
#include "support/pointer_table.hpp"

namespace mir {

/// A queue that holds each op at most once.
class Worklist {
 public:
  void push(Op& op) {
    bool& waits = waits_[&op];
    if (waits) return;
    waits = true;
    ops_.push_back(&op);
  }
  /// The next op that is neither erased nor detached; null if there is none.
  Op* pop() {
    while (next_ < ops_.size()) {
      Op* op = ops_[next_++];
      waits_[op] = false;
      if (next_ == ops_.size()) next_ = 0, ops_.clear();
      if (!op->is_erased() && op->block() != nullptr) return op;
    }
    return nullptr;
  }

 private:
  std::vector<Op*> ops_;
  std::size_t next_ = 0;  // those before it were taken
  PointerTable<bool> waits_;
};

}  // namespace mir

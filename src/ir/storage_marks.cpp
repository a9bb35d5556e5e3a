// Tells ops that only show memory from ops that compute.
#include "ir/storage_marks.hpp"

#include "mir/op.hpp"

namespace mir {

bool only_shows_memory(const Op& op) {
  if (op.is(OpId::kTensorFree)) return true;
  if (!op.is(OpId::kTensorAlloc) || op.result_count() != 1) return false;
  for (const Use* use = op.result()->first_use(); use != nullptr; use = use->next()) {
    if (!use->user()->is(OpId::kTensorFree)) return false;
  }
  return true;
}

}  // namespace mir

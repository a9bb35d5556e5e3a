// Evaluates linalg.GenericOp: walks its loops in the written order, for one result after the other,
// and runs its region on strips of iterations.
#include <fmt/format.h>

#include "eval/evaluators.hpp"
#include "eval/generic_walk.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::eval {

namespace {

/// The region computes with numbers in the type that belongs to each operand and result. Rules
/// check that of texts; this checks tensors.
Result<void> check_region(EvalCall& call) {
  const Region* region = call.op().first_region();
  const bool is_one_block = region != nullptr && !region->empty() && !region->has_several_blocks();
  const Op* end = is_one_block ? region->only_block().back() : nullptr;
  if (end == nullptr || end->operand_count() != call.result_count() ||
      region->entry_arguments().size() != call.operand_count()) {
    return call.error(diag::kNotExecutable, "its region does not fit operands and results");
  }
  const auto fits = [](const Value& number, DType dtype) {
    const TensorType* type = number.held_type();
    return type != nullptr && type->rank() == 0 && type->dtype() == accumulation_type(dtype);
  };
  for (std::size_t i = 0; i < call.operand_count(); ++i) {
    if (fits(region->entry_arguments()[i], call.operand(i).dtype())) continue;
    return call.error(diag::kDTypeMismatch,
                      fmt::format("argument {} of its region is not the number of a {}", i,
                                  name_of(call.operand(i).dtype())));
  }
  for (std::uint32_t i = 0; i < call.result_count(); ++i) {
    if (fits(*end->operand(i), call.result(i).dtype())) continue;
    return call.error(diag::kDTypeMismatch,
                      fmt::format("its region passes no number for a {} as result {}",
                                  name_of(call.result(i).dtype()), i));
  }
  return {};
}

}  // namespace

Result<void> generic(EvalCall& call) {
  if (auto fits = check_region(call); !fits) return fits;
  const auto bound = bind_generic(call);
  if (!bound) return bound.error();
  for (std::uint32_t i = 0; i < call.result_count(); ++i) {
    GenericWalk walk(call, *bound, i);
    if (auto done = walk.run(); !done) return done;
  }
  return {};
}

}  // namespace mir::eval

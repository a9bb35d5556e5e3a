// Evaluators of reductions, cumulative sums and sorting.
#include "kernels/ref/reduce.hpp"

#include <optional>

#include "eval/evaluators.hpp"
#include "kernels/ref/sort.hpp"
#include "mir/linalg_ops.hpp"

namespace mir::eval {

namespace {

/// "All dimensions" in the dumps of upstream.
constexpr std::int64_t kAllDimensions = 2147483647;

/// The dimension to reduce; none for all of them.
std::optional<std::int64_t> axis(const EvalCall& call) {
  const Attr* dim = call.attribute(key::kDim);
  const bool all = dim->kind() != AttrKind::kInt || dim->integer() == kAllDimensions;
  return all ? std::nullopt : std::optional(dim->integer());
}

}  // namespace

Result<void> mean(EvalCall& call) {
  return ref::mean(call.in(0), axis(call), call.out());
}

Result<void> reduce_max(EvalCall& call) {
  return ref::reduce_max(call.in(0), axis(call), call.out());
}

Result<void> reduce_min(EvalCall& call) {
  return ref::reduce_min(call.in(0), axis(call), call.out());
}

Result<void> reduce_sum(EvalCall& call) {
  return ref::reduce_sum(call.in(0), axis(call), call.out());
}

Result<void> cum_sum(EvalCall& call) {
  const linalg::CumSum options(call);
  return ref::cum_sum(
      call.in(0),
      {.axis = options.dim(), .exclusive = options.exclusive(), .reverse = options.reverse()},
      call.out());
}

Result<void> argsort(EvalCall& call) {
  const linalg::Argsort options(call);
  return ref::argsort(call.in(0), options.dim(), options.descending(), call.out());
}

Result<void> top_k(EvalCall& call) {
  const linalg::TopK options(call);
  return ref::top_k(call.in(0), options.dim(),
                    {.largest = options.largest(), .sorted = options.sorted()}, call.out(0),
                    call.out(1));
}

}  // namespace mir::eval

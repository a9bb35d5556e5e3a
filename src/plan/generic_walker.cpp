// Divides the walk of a generic op into tasks; elements of the result belong to one task each.
#include "plan/generic_walker.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "mir/module.hpp"
#include "plan/generic_worker.hpp"

namespace mir {

namespace {

/// Minimum number of outer tasks, for load balance.
constexpr std::int64_t kFewTasks = 64;
constexpr std::int64_t kTaskIterations = 16384;

/// How the iterations of a walk are divided. It depends on extents only.
struct Division {
  std::size_t outer_loops = 0;
  std::int64_t outer_tasks = 1;
  fast::Chunks inner;
};

Division divide(const GenericLoops& loops, bool is_one_task) {
  Division division;
  const std::int64_t inner = loops.extents.back();
  if (is_one_task || (!loops.groups.empty() && !loops.has_column)) {
    division.inner = {.total = inner, .size = std::max<std::int64_t>(inner, 1), .count = 1};
  } else {
    division.inner =
        fast::cut(inner, loops.has_column ? GenericWorker::kWidth : kTaskIterations, 16);
  }
  if (is_one_task) return division;
  const std::size_t most = loops.groups.empty() ? loops.innermost() : loops.group_starts.front();
  while (division.outer_loops < most && division.outer_tasks < kFewTasks) {
    division.outer_tasks *= loops.extents[division.outer_loops++];
    if (division.outer_tasks == 0) break;
  }
  return division;
}

/// A copy of elements that are at forms of the loops, as the kernel of copies takes it.
bool is_strided_copy(const GenericLoops& loops, const GenericShared& shared,
                     const eval::GenericStrip& strip) {
  return loops.groups.empty() && loops.counts_once && loops.is_plain() &&
         loops.operands.size() == 1 && strip.passes_on(loops.operands[0].tensor) &&
         shared.operands[loops.operands[0].tensor].dtype == shared.result.dtype &&
         loops.order.size() <= TensorRef::kMaxRank && info(shared.result.dtype).lanes == 1;
}

/// One of the tensors of a copy, with a dimension for each loop.
TensorRef along_loops(const GenericLoops& loops, const GenericLoops::Access& access,
                      const TensorRef& tensor) {
  TensorRef along = tensor;
  along.rank = static_cast<std::uint8_t>(loops.order.size());
  if (along.data != nullptr) {
    along.data +=
        loops.first[access.offset] * static_cast<std::int64_t>(info(tensor.dtype).unit_bytes);
  }
  for (std::size_t position = 0; position < loops.order.size(); ++position) {
    along.extents[position] = loops.extents[position];
    along.strides[position] = loops.step(position, access.offset);
  }
  return along;
}

/// See GenericTensors.
bool has_products(const eval::GenericStrip& strip, std::span<const TensorRef> operands) {
  bool is_passed = false, are_singles = true;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!strip.needs(i)) continue;
    is_passed = is_passed || strip.passes_on(i);
    are_singles = are_singles && operands[i].dtype == DType::kFloat32;
  }
  return are_singles && (is_passed || strip.product());
}

bool run_tasks(const GenericShared& shared, fast::Context& context) {
  const GenericLoops& loops = shared.loops;
  const Division division = divide(loops, !shared.written.empty());
  std::vector<std::unique_ptr<GenericWorker>> workers(context.pool().threads());
  workers[0] = GenericWorker::create(shared);
  if (workers[0] == nullptr) return false;
  workers[0]->begin();
  std::atomic<bool> has_succeeded = true;
  const std::int64_t parts = division.inner.count;
  context.pool().for_each(division.outer_tasks * parts, [&](std::int64_t task, unsigned thread) {
    if (!has_succeeded.load(std::memory_order_relaxed)) return;
    auto& worker = workers[thread];
    if (worker == nullptr) worker = GenericWorker::create(shared);
    const std::int64_t part = task % parts, first = division.inner.first(part);
    const bool is_done =
        worker != nullptr && worker->run({.outer_loops = division.outer_loops,
                                          .outer = task / parts,
                                          .inner = {first, first + division.inner.length(part)}});
    if (!is_done) has_succeeded.store(false, std::memory_order_relaxed);
  });
  return has_succeeded;
}

}  // namespace

bool walk_generic(const Op& op, const GenericForm& form, std::uint32_t number,
                  std::span<const TensorRef> operands, const TensorRef& result,
                  const EvalEnvironment& environment, fast::Context& context) {
  const fast::StripKernels& kernels = fast::strip_kernels(context.isa());
  const auto strip = eval::GenericStrip::create(op, number, environment, &kernels.arithmetic);
  if (!strip) return false;
  std::unique_ptr<bool[]> needs(new bool[operands.size() + 1]);
  for (std::size_t i = 0; i < operands.size(); ++i) needs[i] = strip->needs(i);
  const auto loops = compile_generic(form, number,
                                     {.operands = operands,
                                      .result = result,
                                      .needs = std::span(needs.get(), operands.size()),
                                      .has_products = has_products(*strip, operands)},
                                     op.module().context().dims(), environment.dims);
  if (!loops) return false;
  std::vector<bool> written;
  if (!loops->counts_once) written.assign(static_cast<std::size_t>(result.elements()), false);
  const Attr* start = form.results[number].start;
  const GenericShared shared{.op = op,
                             .loops = *loops,
                             .number = number,
                             .operands = operands,
                             .result = result,
                             .start = start,
                             .environment = environment,
                             .kernels = kernels,
                             .written = written};
  if (is_strided_copy(*loops, shared, *strip)) {
    const GenericLoops::Access& from = loops->operands[0];
    copy_elements(along_loops(*loops, from, operands[from.tensor]),
                  along_loops(*loops, loops->result, result), context);
    return true;
  }
  const bool leaves_out = !loops->form_conditions.empty() || !loops->conditions.empty();
  if (leaves_out && start == nullptr && result.data != nullptr) {
    std::memset(result.data, 0,
                static_cast<std::size_t>(result.elements()) * info(result.dtype).unit_bytes);
  }
  if (!run_tasks(shared, context)) return false;
  return start != nullptr || std::ranges::find(written, false) == written.end();
}

}  // namespace mir

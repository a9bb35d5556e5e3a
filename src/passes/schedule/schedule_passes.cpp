// The passes of schedules: split, tile, order, pad, pack, fuse-producer, fuse-consumer, parallel,
// vector, unroll, accumulate, and cache for the nests that they become.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mir/codes/passes.hpp"
#include "passes/schedule/cache_operand.hpp"
#include "passes/schedule/fuse_loops.hpp"
#include "passes/schedule/loop_steps.hpp"
#include "passes/schedule/pack_operand.hpp"
#include "passes/schedule/pad_loop.hpp"
#include "passes/standard_passes.hpp"
#include "support/suggest.hpp"

namespace mir {

namespace {

/// Stands for the names of loops in documents.
constexpr std::string_view kLoopKey = "LOOP";

PassResult refuse(const PassRun& run, DiagCode code, std::string message) {
  run.diagnostics().error(code, run.anchor().span(), std::move(message));
  return PassResult::kFailed;
}

/// The place of a loop that an option names; reports one that the op does not have.
std::optional<std::size_t> find_loop(const PassRun& run, const LoopForm& form,
                                     std::string_view name) {
  const IRContext& context = run.module().context();
  if (const auto found = form.find_loop(name, context)) return found;
  NearestName nearest(name);
  std::vector<std::string_view> names;
  for (const GenericForm::Range& each : form.loops) names.push_back(context.text(each.name));
  for (const std::string_view each : names) nearest.offer(each);
  Diagnostic& problem = run.diagnostics().error(
      diag::kPipeline, run.anchor().span(),
      fmt::format("the op has no loop '{}', its loops are {}", name, fmt::join(names, ", ")));
  suggest(problem, nearest.best());
  return std::nullopt;
}

/// Splits the loops that the options name. Appends the symbols of the outer and the inner loops.
bool split_named(const PassRun& run, LoopForm& form, std::vector<Symbol>& inner) {
  for (const auto& [name, tile] : run.options().keyed_integers(kLoopKey)) {
    const auto loop = find_loop(run, form, name);
    if (!loop) return false;
    auto done = split_loop(form, *loop, tile, run.module().context(), inner);
    if (done) continue;
    refuse(run, done.error().code, done.error().message);
    return false;
  }
  return true;
}

PassResult finish(const PassRun& run, const LoopForm& form) {
  Rewriter rewriter(run.module());
  write_loops(rewriter, run.anchor(), form);
  return run.result();
}

PassResult split(PassRun& run) {
  LoopForm form = read_loops(run.anchor());
  std::vector<Symbol> inner;
  return split_named(run, form, inner) ? finish(run, form) : PassResult::kFailed;
}

SumOrder sum_order(const PassRun& run) {
  return run.options().flag("bound") ? SumOrder::kFree : SumOrder::kKept;
}

PassResult tile(PassRun& run) {
  LoopForm form = read_loops(run.anchor());
  std::vector<Symbol> inner, names;
  if (!split_named(run, form, inner)) return PassResult::kFailed;
  for (const GenericForm::Range& each : form.loops) {
    if (std::ranges::find(inner, each.name) == inner.end()) names.push_back(each.name);
  }
  names.insert(names.end(), inner.begin(), inner.end());
  auto done = order_loops(form, names, sum_order(run), run.anchor());
  return done ? finish(run, form) : refuse(run, done.error().code, done.error().message);
}

PassResult order(PassRun& run) {
  LoopForm form = read_loops(run.anchor());
  std::vector<Symbol> names;
  for (const std::string_view each : run.options().texts("outer")) {
    const auto loop = find_loop(run, form, each);
    if (!loop) return PassResult::kFailed;
    names.push_back(form.loops[*loop].name);
  }
  auto done = order_loops(form, names, sum_order(run), run.anchor());
  return done ? finish(run, form) : refuse(run, done.error().code, done.error().message);
}

PassResult pad(PassRun& run) {
  Rewriter rewriter(run.module());
  for (const auto& [name, multiple] : run.options().keyed_integers(kLoopKey)) {
    const auto loop = find_loop(run, read_loops(run.anchor()), name);
    if (!loop) return PassResult::kFailed;
    const std::string why = pad_loop(rewriter, run.anchor(), *loop, multiple);
    if (why.empty()) continue;
    return refuse(run, diag::kIllegalStep, fmt::format("'{}' is not padded: {}", name, why));
  }
  return run.result();
}

/// Adds the loops that the options name to a mark. Loops that run side by side must not be summed.
PassResult state_mark(const PassRun& run, std::vector<Symbol> LoopForm::*marks,
                      bool is_side_by_side) {
  LoopForm form = read_loops(run.anchor());
  const IRContext& context = run.module().context();
  for (const std::string_view each : run.options().texts("loops")) {
    const auto loop = find_loop(run, form, each);
    if (!loop) return PassResult::kFailed;
    const Symbol name = form.loops[*loop].name;
    const bool is_summed = std::ranges::any_of(form.sums, [&](const auto& sums) {
      return std::ranges::find(sums, name, &LoopForm::Sum::loop) != sums.end();
    });
    if (is_summed && is_side_by_side) {
      return refuse(run, diag::kIllegalStep,
                    fmt::format("'{}' is a loop of a sum: its iterations change one element",
                                context.text(name)));
    }
    auto& names = form.*marks;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return finish(run, form);
}

PassResult state_parallel(PassRun& run) {
  return state_mark(run, &LoopForm::parallel, true);
}

PassResult state_vector(PassRun& run) {
  return state_mark(run, &LoopForm::vector, true);
}

PassResult state_unroll(PassRun& run) {
  return state_mark(run, &LoopForm::unroll, false);
}

PassResult accumulate_blocks(PassRun& run) {
  LoopForm form = read_loops(run.anchor());
  for (const Value& each : run.anchor().results()) {
    const TensorType* type = each.tensor_type();
    const auto number =
        type == nullptr || !type->dtype() ? std::nullopt : accumulation_type(*type->dtype());
    if (number == DType::kFloat64) continue;
    return refuse(run, diag::kIllegalStep, "a result is not of a floating type");
  }
  const SumPrecision precision =
      run.options().flag("fma") ? SumPrecision::kFused : SumPrecision::kSingle;
  auto done =
      accumulate_in(form, precision, run.options().integer("block"), run.module().context());
  return done ? finish(run, form) : refuse(run, done.error().code, done.error().message);
}

/// The operand that an option names; reports one that the op does not have.
std::optional<std::size_t> find_operand(const PassRun& run) {
  const std::int64_t number = run.options().integer("operand");
  const std::uint32_t count = run.anchor().operand_count();
  if (number < count) return static_cast<std::size_t>(number);
  refuse(run, diag::kPipeline, fmt::format("the op has no operand {}, it has {}", number, count));
  return std::nullopt;
}

PassResult pack(PassRun& run) {
  const auto operand = find_operand(run);
  if (!operand) return PassResult::kFailed;
  Rewriter rewriter(run.module());
  const std::string_view why = pack_operand(rewriter, run.anchor(), *operand);
  if (why.empty()) return run.result();
  return refuse(run, diag::kIllegalStep,
                fmt::format("operand {} is not packed: {}", *operand, why));
}

PassResult cache(PassRun& run) {
  const auto operand = find_operand(run);
  if (!operand) return PassResult::kFailed;
  Rewriter rewriter(run.module());
  const std::string why = cache_operand(rewriter, run.anchor(),
                                        {.operand = *operand,
                                         .loop = run.options().text("loop"),
                                         .space = run.options().text("space")});
  if (why.empty()) return run.result();
  return refuse(run, diag::kIllegalStep,
                fmt::format("operand {} is not cached: {}", *operand, why));
}

/// Fuses an operand, and erases its producer if nothing else reads it.
void fuse_operand(PassRun& run, Op& consumer, std::size_t operand) {
  Rewriter rewriter(run.module());
  Op& producer = *consumer.operand(operand)->defining_op();
  fuse_producer(rewriter, consumer, operand);
  if (!producer.result()->has_uses()) rewriter.erase(producer);
  run.count("ops fused");
}

PassResult fuse_producers(PassRun& run) {
  Op& consumer = run.anchor();
  const auto is_generic = [&](std::size_t operand) {
    const Op* producer = consumer.operand(operand)->defining_op();
    return producer != nullptr && producer->is(OpId::kLinalgGeneric);
  };
  if (run.options().integer("operand") >= 0) {
    const auto operand = find_operand(run);
    if (!operand) return PassResult::kFailed;
    const std::string_view why =
        !is_generic(*operand)
            ? "no generic op computes it"
            : why_apart(*consumer.operand(*operand)->defining_op(), consumer, *operand);
    if (why.empty()) {
      fuse_operand(run, consumer, *operand);
      return run.result();
    }
    return refuse(run, diag::kIllegalStep,
                  fmt::format("the producer of operand {} is not fused: {}", *operand, why));
  }
  for (std::size_t i = 0; i < consumer.operand_count();) {
    const bool fuses = is_generic(i) && consumer.operand(i)->use_count() == 1 &&
                       why_apart(*consumer.operand(i)->defining_op(), consumer, i).empty();
    // The operands of the producer are next.
    if (fuses) {
      fuse_operand(run, consumer, i);
    } else {
      ++i;
    }
  }
  return run.result();
}

PassResult fuse_consumer(PassRun& run) {
  Op& producer = run.anchor();
  const Use* use = producer.result_count() == 1 ? producer.result()->first_use() : nullptr;
  const bool has_one_user = use != nullptr && use->next() == nullptr;
  Op* user = has_one_user ? use->user() : nullptr;
  if (user == nullptr || !user->is(OpId::kLinalgGeneric)) return PassResult::kUnchanged;
  const std::string_view why = why_apart(producer, *user, use->index());
  if (!why.empty()) {
    return refuse(run, diag::kIllegalStep, fmt::format("the op is not fused: {}", why));
  }
  fuse_operand(run, *user, use->index());
  return run.result();
}

Pass step(std::string name, std::string summary, std::vector<PassOption> options,
          PassResult (*run)(PassRun&)) {
  return {.name = std::move(name),
          .summary = std::move(summary),
          .anchor = Anchor::kOp,
          .op = "linalg.GenericOp",
          .takes = PassForm::kPortable,
          .options = std::move(options),
          .preserves = AnalysisSet::of<CallGraph, SymbolRanges>(),
          .run = run};
}

PassOption tiles_option(
    std::string summary = "the iterations of a tile, by the name of the loop, such as i0=32,i1=8") {
  return {.name = std::string(kLoopKey),
          .kind = PassOption::Kind::kInteger,
          .is_list = true,
          .is_keyed = true,
          .summary = std::move(summary),
          .least = 1};
}

PassOption operand_option() {
  return {.name = "operand",
          .kind = PassOption::Kind::kInteger,
          .by_default = "0",
          .summary = "the number of the operand",
          .least = 0};
}

PassOption loops_option(std::string summary) {
  return {.name = "loops",
          .kind = PassOption::Kind::kText,
          .is_list = true,
          .summary = std::move(summary)};
}

PassOption bound_option() {
  return {.name = "bound", .summary = "permits another order of the terms of floating sums"};
}

}  // namespace

void register_schedules(PassRegistry& registry) {
  registry.add(step("split", "divides loops of generic ops into loops over tiles and in a tile",
                    {tiles_option()}, split));
  registry.add(step("tile", "splits loops of generic ops, and runs the loops in a tile innermost",
                    {tiles_option(), bound_option()}, tile));
  registry.add(
      step("order", "puts loops of generic ops into another order",
           {{.name = "outer",
             .kind = PassOption::Kind::kText,
             .is_list = true,
             .summary = "loops that run outermost, in this order; others follow as they are"},
            bound_option()},
           order));
  registry.add(step("parallel", "states loops of generic ops whose iterations may run in parallel",
                    {loops_option("loops of the results")}, state_parallel));
  registry.add(step("vector", "states loops of generic ops that may run in lanes of vectors",
                    {loops_option("loops of the results")}, state_vector));
  registry.add(step("unroll", "states loops of generic ops whose iterations are written out",
                    {loops_option("any loops; short ones are written out")}, state_unroll));
  registry.add(step("accumulate",
                    "makes floating sums of generic ops add blocks of terms in a narrower type",
                    {{.name = "type",
                      .kind = PassOption::Kind::kText,
                      .by_default = "Float32",
                      .summary = "the type of the sum of a block",
                      .choices = {"Float32"}},
                     {.name = "block",
                      .kind = PassOption::Kind::kInteger,
                      .by_default = "256",
                      .summary = "the most terms of a block",
                      .least = 1},
                     {.name = "fma",
                      .summary = "adds terms without rounding them before, as a fused "
                                 "multiply-add does"}},
                    accumulate_blocks));
  registry.add(step("pack", "copies an operand of generic ops into the order in which it is read",
                    {operand_option()}, pack));
  registry.add(step("pad",
                    "extends loops of generic ops to multiples, with elements that change no sum",
                    {tiles_option("the number that divides the extent, by loop")}, pad));
  Pass caching = step("cache",
                      "copies what loops of kernels read of an operand to a buffer of a memory "
                      "space",
                      {operand_option(),
                       {.name = "loop",
                        .kind = PassOption::Kind::kText,
                        .summary = "the innermost loop around the copy"},
                       {.name = "space",
                        .kind = PassOption::Kind::kText,
                        .by_default = "main",
                        .summary = "the memory space of the buffer"}},
                      cache);
  caching.op = "loop.KernelOp";
  registry.add(std::move(caching));
  registry.add(step("fuse-producer",
                    "computes operands of generic ops where they are read, if a generic op without "
                    "sums computes them",
                    {{.name = "operand",
                      .kind = PassOption::Kind::kInteger,
                      .by_default = "-1",
                      .summary = "the number of the operand; -1: all that nothing else reads",
                      .least = -1}},
                    fuse_producers));
  registry.add(step("fuse-consumer",
                    "computes generic ops without sums in the generic op that alone reads them", {},
                    fuse_consumer));
}

}  // namespace mir

// Runs several Float32 functions over one block of elements at a time, without temporary tensors.
#include "kernels/fast/chain.hpp"

#include <algorithm>
#include <cassert>

#include "kernels/fast/broadcast_runs.hpp"
#include "kernels/fast/elementwise_table.hpp"

namespace mir::fast {

namespace {

/// Floats of all blocks of a thread: half of a first-level cache.
constexpr std::int64_t kBlockFloats = 4096;

/// Layout of an operand of the chain relative to its result.
struct ChainOperand {
  const float* data = nullptr;
  std::int64_t step = 0;  ///< 0 or 1, where one step leads through all elements of the result
  bool is_copied = false;
  std::size_t block = 0;  ///< of a copied one
};

/// Elements of a part of a result, as functions read them.
struct ChainInput {
  const float* data = nullptr;
  std::int64_t step = 0;
};

/// Elements [first, first + count) of what an operand broadcasts to.
void copy_broadcast(const BroadcastLoops<1>& of, const float* from, std::int64_t first,
                    std::int64_t count, float* to) {
  const auto& row = of.loops[0];
  const std::int64_t step = row.strides[0];
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t in_row = first % row.extent;
    const std::int64_t length = std::min(row.extent - in_row, end - first);
    std::int64_t at = in_row * step, index = first / row.extent;
    for (std::size_t dim = 1; dim < of.rank; ++dim) {
      at += index % of.loops[dim].extent * of.loops[dim].strides[0];
      index /= of.loops[dim].extent;
    }
    if (step == 0) {
      std::fill_n(to, length, from[at]);
    } else {
      std::copy_n(from + at, length, to);
    }
    to += length;
    first += length;
  }
}

void apply(const ElementwiseTable& table, const ChainFunction& function, const ChainInput& a,
           const ChainInput& b, float* out, std::int64_t count) {
  if (const auto* binary = std::get_if<Binary>(&function)) {
    return table.binary(*binary, a.data, a.step, b.data, b.step, out, count);
  }
  assert(a.step == 1 || count == 1);
  if (const auto* unary = std::get_if<Unary>(&function)) {
    return table.unary(*unary, a.data, out, count);
  }
  const Clip& clip = std::get<Clip>(function);
  table.clip(a.data, clip.low, clip.high, out, count);
}

bool is_binary(const ChainFunction& function) {
  return std::holds_alternative<Binary>(function);
}

}  // namespace

Chain::Chain(std::vector<ChainStep> steps) : steps_(std::move(steps)) {
  assert(!steps_.empty() && steps_.size() <= kMaxSteps);
  std::array<std::size_t, kMaxSteps> last = {};  // readers, by step
  const auto for_each_source = [&](std::size_t step, auto body) {
    const std::size_t count = is_binary(steps_[step].function) ? 2 : 1;
    for (std::size_t i = 0; i < count; ++i) {
      const ChainStep::Source& source = steps_[step].sources[i];
      if (!source.is_operand) body(source.index);
    }
  };
  for (std::size_t step = 0; step < steps_.size(); ++step) {
    for_each_source(step, [&](std::size_t source) { last[source] = step; });
  }
  std::vector<std::uint8_t> free;
  for (std::size_t step = 0; step + 1 < steps_.size(); ++step) {
    // A function may overwrite its source. A block is freed once, whoever reads it twice.
    for_each_source(step, [&](std::size_t source) {
      const std::uint8_t block = block_of_[source];
      if (last[source] == step && !std::ranges::count(free, block)) free.push_back(block);
    });
    if (free.empty()) free.push_back(static_cast<std::uint8_t>(blocks_++));
    block_of_[step] = free.back();
    free.pop_back();
  }
}

void chain(const Chain& steps, std::span<const BroadcastOperand> operands,
           const BroadcastResult& out, Context& context) {
  assert(operands.size() <= Chain::kMaxOperands);
  std::array<ChainOperand, Chain::kMaxOperands> sources;
  std::size_t blocks = steps.blocks();
  std::int64_t total = 1;
  for (std::size_t dim = 0; dim < out.rank; ++dim) total *= out.extents[dim];
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const BroadcastLoops<1> loops({&operands[i]}, out);
    sources[i] = {.data = reinterpret_cast<const float*>(operands[i].data),
                  .step = loops.loops[0].strides[0],
                  .is_copied = loops.rank > 1};
    if (sources[i].is_copied) sources[i].block = blocks++;
  }
  const std::int64_t all = static_cast<std::int64_t>(std::max<std::size_t>(blocks, 1));
  const std::int64_t length = std::max<std::int64_t>(kBlockFloats / all / 64, 1) * 64;
  const std::span<float> memory = context.scratch(all * length * context.pool().threads());
  const ElementwiseTable& table = elementwise_table(context.isa());
  auto* const results = reinterpret_cast<float*>(out.data);
  const auto compute = [&](std::int64_t first, std::int64_t count, float* const scratch) {
    const auto block = [&](std::size_t index) {
      return scratch + static_cast<std::int64_t>(index) * length;
    };
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!sources[i].is_copied) continue;
      copy_broadcast(BroadcastLoops<1>({&operands[i]}, out), sources[i].data, first, count,
                     block(sources[i].block));
    }
    const auto input = [&](const ChainStep::Source& source) -> ChainInput {
      if (!source.is_operand) return {block(steps.block(source.index)), 1};
      const ChainOperand& operand = sources[source.index];
      if (operand.is_copied) return {block(operand.block), 1};
      return {operand.data + first * operand.step, operand.step};
    };
    for (std::size_t step = 0; step < steps.steps().size(); ++step) {
      const ChainStep& each = steps.steps()[step];
      const bool is_last = step + 1 == steps.steps().size();
      apply(table, each.function, input(each.sources[0]),
            is_binary(each.function) ? input(each.sources[1]) : ChainInput(),
            is_last ? results + first : block(steps.block(step)), count);
    }
  };
  const Chunks chunks = cut(total, kTaskElements, 64);
  context.pool().for_each(chunks.count, [&](std::int64_t task, unsigned thread) {
    float* const scratch = memory.data() + static_cast<std::int64_t>(thread) * all * length;
    const std::int64_t end = chunks.first(task) + chunks.length(task);
    for (std::int64_t first = chunks.first(task); first < end; first += length) {
      compute(first, std::min(length, end - first), scratch);
    }
  });
}

}  // namespace mir::fast

// Iterations of kernels: order, conditions, places of elements, races, elements without a number.
#include "dialects/loop_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "mir/codes/kernels.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/module.hpp"

namespace mir {

// -- numbers for extents --------------------------------------------------------------------------

Result<void> KernelWalk::bind(const DimBindings& around, std::int64_t most) {
  nests_.resize(body_.nests.size());
  accesses_.resize(body_.accesses.size());
  memories_.resize(body_.buffers.size());
  // Names get their slots first, because the expressions are compiled for all of them.
  for (const KernelBody::Nest& nest : body_.nests) {
    for (const GenericForm::Range& loop : nest.loops) slot_of(loop.name);
    for (const GenericForm::Index& index : nest.indices) slot_of(index.name);
    for (const GenericForm::Range& size : nest.sizes) {
      const auto value = nest.op->module().context().dims().evaluate(size.extent, around);
      if (value) sizes_.bind(size.name, *value);
    }
  }
  for (const KernelBody::Access& access : body_.accesses) {
    for (const GenericForm::Index& index : access.indices) slot_of(index.name);
  }
  values_.assign(names_.size(), 0);
  for (std::size_t i = 0; i < nests_.size(); ++i) {
    if (auto bound = bind_nest(i, around, most); !bound) return bound;
  }
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    if (auto bound = bind_buffer(i, around); !bound) return bound;
  }
  bind_levels();
  for (std::size_t i = 0; i < accesses_.size(); ++i) {
    if (auto bound = bind_access(i); !bound) return bound;
  }
  return {};
}

std::size_t KernelWalk::slot_of(Symbol name) {
  const auto found = std::ranges::find(names_, name);
  const auto slot = static_cast<std::size_t>(found - names_.begin());
  if (found == names_.end()) names_.push_back(name);
  return slot;
}

Result<CompiledExtent> KernelWalk::compiled(Dim extent, const Op& op) const {
  const Dim known = op.module().context().dims().substitute(extent, sizes_);
  auto made = known.is_unknown() ? std::nullopt : CompiledExtent::compile(known, names_);
  if (made) return *std::move(made);
  return Error{diag::kResultUnknown,
               fmt::format("an extent in a map or condition of '{}' is not known", op.name())};
}

Result<void> KernelWalk::bind_nest(std::size_t number, const DimBindings& around,
                                   std::int64_t most) {
  const KernelBody::Nest& nest = body_.nests[number];
  BoundNest& bound = nests_[number];
  IRContext& context = nest.op->module().context();
  for (std::size_t i = 0; i < nest.loops.size(); ++i) {
    const auto extent = context.dims().evaluate(nest.loops[i].extent, around);
    if (!extent) {
      return Error{diag::kResultUnknown, fmt::format("the extent of loop '${}' is not known",
                                                     context.text(nest.loops[i].name))};
    }
    is_cut_ = is_cut_ || *extent > most;
    bound.extents.push_back(std::min(*extent, most));
    bound.slots.push_back(slot_of(nest.loops[i].name));
    const bool is_parallel = std::ranges::find(nest.parallel, i) != nest.parallel.end();
    bound.levels.push_back(is_parallel ? levels_.size() : KernelBody::kNone);
    if (is_parallel) levels_.push_back({.nest = number, .slot = bound.slots.back()});
  }
  for (const SymbolRelation& each : nest.conditions) {
    auto margin = compiled(each.margin, *nest.op);
    if (!margin) return margin.error();
    bound.conditions.push_back({each.is_equation(), *std::move(margin)});
  }
  for (const GenericForm::Index& index : nest.indices) {
    bound.indices.push_back({slot_of(index.name), index.operand});
  }
  return {};
}

Result<void> KernelWalk::bind_buffer(std::size_t number, const DimBindings& around) {
  const KernelBody::Buffer& buffer = body_.buffers[number];
  Memory& memory = memories_[number];
  DimTable& dims = body_.op->module().context().dims();
  for (const Dim extent : buffer.shape.extents) {
    const auto known = dims.evaluate(extent, around);
    if (!known) {
      return Error{diag::kResultUnknown,
                   fmt::format("an extent of {} is not known", buffer_text(body_, number))};
    }
    memory.extents.push_back(*known);
    const auto product = checked_multiply(memory.elements, *known);
    if (!product) return Error{diag::kLimitExceeded, "a buffer has too many elements"};
    memory.elements = *product;
  }
  return {};
}

/// Finds the parallel loops that each buffer must be watched for: it is made outside of them and
/// written inside.
void KernelWalk::bind_levels() {
  for (std::size_t buffer = 0; buffer < memories_.size(); ++buffer) {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::size_t nest = levels_[level].nest;
      const bool is_written = std::ranges::any_of(body_.accesses, [&](const auto& access) {
        return access.is_write && access.buffer == buffer && body_.is_inside(access.nest, nest);
      });
      if (is_written && !body_.is_inside(body_.buffers[buffer].nest, nest)) {
        memories_[buffer].levels.push_back(level);
      }
    }
  }
}

Result<void> KernelWalk::bind_access(std::size_t number) {
  const KernelBody::Access& access = body_.accesses[number];
  BoundAccess& bound = accesses_[number];
  for (const Dim index : access.at) {
    auto made = compiled(index, *access.op);
    if (!made) return made.error();
    bound.at.push_back(*std::move(made));
  }
  for (const GenericForm::Index& index : access.indices) {
    bound.indices.push_back({slot_of(index.name), index.operand});
  }
  const std::vector<std::size_t>& levels = memories_[access.buffer].levels;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (body_.is_inside(access.nest, levels_[levels[i]].nest)) bound.levels.push_back(i);
  }
  return {};
}

// -- iterations -----------------------------------------------------------------------------------

Result<void> KernelWalk::run(std::int64_t most_steps) {
  most_steps_ = most_steps;
  steps_ = 0;
  if (walk_steps(0) && check_results()) return {};
  return *error_;
}

bool KernelWalk::stop(const Op& op, std::string_view broken, Error error) {
  stopped_at_ = &op;
  broken_ = broken;
  error_ = std::move(error);
  return false;
}

bool KernelWalk::count_step() {
  if (++steps_ <= most_steps_) return true;
  is_too_long_ = true;
  return stop(*body_.op, {}, {diag::kLimitExceeded, "the kernel has too many iterations"});
}

bool KernelWalk::admits(const BoundNest& nest) const {
  return std::ranges::all_of(nest.conditions, [&](const Condition& each) {
    const auto margin = each.margin.value(values_);
    return margin && (each.is_equation ? *margin == 0 : *margin >= 0);
  });
}

namespace {

/// The numbers below `count` in an order that a seed determines; 0: from the least one.
class IterationOrder {
 public:
  IterationOrder(std::int64_t count, std::uint64_t seed) : count_(count) {
    // Products of larger numbers may exceed 64 bits.
    if (seed == 0 || count < 2 || count > INT32_MAX) return;
    const std::uint64_t mixed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9u;
    first_ = static_cast<std::int64_t>((mixed >> 8) % static_cast<std::uint64_t>(count));
    step_ = 1 + static_cast<std::int64_t>((mixed >> 33) % static_cast<std::uint64_t>(count - 1));
    while (std::gcd(step_, count) != 1) ++step_;
  }
  std::int64_t operator[](std::int64_t place) const {
    return step_ == 1 ? (place + first_) % count_ : (place * step_ + first_) % count_;
  }

 private:
  std::int64_t count_, first_ = 0, step_ = 1;
};

}  // namespace

bool KernelWalk::walk_loops(std::size_t number, std::size_t loop) {
  const BoundNest& nest = nests_[number];
  if (loop == nest.extents.size()) {
    return count_step() && (!admits(nest) || walk_steps(number));
  }
  Level* level = nest.levels[loop] == KernelBody::kNone ? nullptr : &levels_[nest.levels[loop]];
  if (level != nullptr) ++level->instance;
  const IterationOrder order(nest.extents[loop],
                             level == nullptr || order_ == 0 ? 0 : order_ + level->instance);
  for (std::int64_t place = 0; place < nest.extents[loop]; ++place) {
    const std::int64_t i = order[place];
    values_[nest.slots[loop]] = i;
    if (level != nullptr) level->iteration = i;
    if (!walk_loops(number, loop + 1)) return false;
  }
  return true;
}

bool KernelWalk::read_indices(const Op& op, std::span<const Index> indices) {
  for (const Index& index : indices) {
    const auto value = integer(op, index.operand);
    if (!value) {
      return stop(op, {},
                  {diag::kIndexOutOfRange, fmt::format("operand {} of '{}' does not fit 64 bits",
                                                       index.operand, op.name())});
    }
    values_[index.slot] = *value;
  }
  return true;
}

bool KernelWalk::walk_steps(std::size_t number) {
  using Kind = KernelBody::Step::Kind;
  for (const KernelBody::Step& step : body_.nests[number].steps) {
    Done done;
    switch (step.kind) {
      case Kind::kBuffer: {
        Memory& memory = memories_[step.number];
        done = make(step.number);
        const auto elements = static_cast<std::size_t>(memory.elements);
        memory.written.assign(elements, 0);
        memory.touches.assign(elements * memory.levels.size(), Touch());
        break;
      }
      case Kind::kNest:
        if (!read_indices(*step.op, nests_[step.number].indices)) return false;
        if (!walk_loops(step.number, 0)) return false;
        break;
      case Kind::kRead:
      case Kind::kWrite:
        if (!walk_access(body_.accesses[step.number], accesses_[step.number])) return false;
        break;
      case Kind::kCompute:
        done = compute(step.number);
        break;
    }
    if (done) return stop(*step.op, {}, *std::move(done));
  }
  return true;
}

// -- elements -------------------------------------------------------------------------------------

bool KernelWalk::walk_access(const KernelBody::Access& access, const BoundAccess& bound) {
  if (!count_step() || !read_indices(*access.op, bound.indices)) return false;
  Memory& memory = memories_[access.buffer];
  std::int64_t element = 0;
  for (std::size_t dim = 0; dim < bound.at.size(); ++dim) {
    const auto index = bound.at[dim].value(values_);
    if (!index || *index < 0 || *index >= memory.extents[dim]) {
      return stop(
          *access.op, "loop_c5",
          {diag::kIndexOutOfRange,
           fmt::format("'{}' has the index {} in dimension {} of {}, expected one below {}{}",
                       access.op->name(), index ? fmt::to_string(*index) : "beyond 64 bits", dim,
                       buffer_text(body_, access.buffer), memory.extents[dim],
                       iteration_text(access.nest))});
    }
    element = element * memory.extents[dim] + *index;
  }
  if (body_.buffers[access.buffer].is_operand) {
    if (auto failed = read(access, element)) return stop(*access.op, {}, *std::move(failed));
    return true;
  }
  std::uint8_t& written = memory.written[static_cast<std::size_t>(element)];
  if (!access.is_write && written == 0 && !is_cut_) {
    return stop(*access.op, "loop_c8",
                {diag::kKernelShape,
                 fmt::format("'{}' reads {}, which nothing wrote{}", access.op->name(),
                             element_text(access.buffer, element), iteration_text(access.nest))});
  }
  if (!note_touch(access, bound, memory, element)) return false;
  auto failed = access.is_write ? write(access, element, written == 0) : read(access, element);
  if (failed) return stop(*access.op, {}, *std::move(failed));
  if (access.is_write) written = 1;
  return true;
}

bool KernelWalk::note_touch(const KernelBody::Access& access, const BoundAccess& bound,
                            Memory& memory, std::int64_t element) {
  const auto first = static_cast<std::size_t>(element) * memory.levels.size();
  for (const std::size_t place : bound.levels) {
    const Level& level = levels_[memory.levels[place]];
    Touch& touch = memory.touches[first + place];
    const std::int64_t now = level.iteration;
    const bool was_written = touch.write_instance == level.instance;
    const bool was_read = touch.read_instance == level.instance;
    if (was_written && touch.written_by != now) {
      return stop_at_race(access, element, level, touch.written_by,
                          access.is_write ? "write" : "write and read");
    }
    if (access.is_write) {
      if (was_read && (touch.read_by != now || touch.also_read_by != now)) {
        return stop_at_race(access, element, level,
                            touch.read_by != now ? touch.read_by : touch.also_read_by,
                            "read and write");
      }
      touch.write_instance = level.instance;
      touch.written_by = now;
    }
    if (access.is_write && !access.join) continue;
    if (!was_read) {
      touch.read_instance = level.instance;
      touch.read_by = touch.also_read_by = now;
    } else if (touch.read_by != now) {
      touch.also_read_by = now;
    }
  }
  return true;
}

bool KernelWalk::stop_at_race(const KernelBody::Access& access, std::int64_t element,
                              const Level& level, std::int64_t other, std::string_view what) {
  const std::string_view name = body_.op->module().context().text(names_[level.slot]);
  return stop(*access.op, "loop_c7",
              {diag::kKernelShape,
               fmt::format("iterations ${} = {} and ${} = {} of a parallel loop {} {}{}", name,
                           other, name, level.iteration, what, element_text(access.buffer, element),
                           iteration_text(access.nest))});
}

bool KernelWalk::check_results() {
  for (std::size_t i = 0; i < body_.results.size() && !is_cut_; ++i) {
    const Memory& memory = memories_[body_.results[i]];
    const auto lacking = std::ranges::find(memory.written, 0);
    if (lacking == memory.written.end()) continue;
    return stop(*body_.op, "loop_c8",
                {diag::kKernelShape,
                 fmt::format("nothing wrote {}, which is result {}",
                             element_text(body_.results[i], lacking - memory.written.begin()), i)});
  }
  return true;
}

// -- text -----------------------------------------------------------------------------------------

std::string KernelWalk::iteration_text(std::size_t nest) const {
  std::string text;
  const IRContext& context = body_.op->module().context();
  for (const std::size_t each : body_.chain(nest)) {
    for (std::size_t i = 0; i < body_.nests[each].loops.size(); ++i) {
      text += fmt::format("{}${} = {}", text.empty() ? "; " : ", ",
                          context.text(body_.nests[each].loops[i].name),
                          values_[nests_[each].slots[i]]);
    }
  }
  return text;
}

std::string KernelWalk::element_text(std::size_t buffer, std::int64_t element) const {
  std::vector<std::int64_t> index = memories_[buffer].extents;
  for (std::size_t i = index.size(); i-- > 0;) {
    const std::int64_t extent = index[i];
    index[i] = element % extent;
    element /= extent;
  }
  return fmt::format("element [{}] of {}", fmt::join(index, ", "), buffer_text(body_, buffer));
}

}  // namespace mir

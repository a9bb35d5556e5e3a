// Loops of generic ops: order, conditions, places of elements, strips.
#include "eval/generic_walk.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "kernels/ref/common/dispatch.hpp"
#include "mir/codes/kernels.hpp"
#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"

namespace mir::eval {

namespace {

/// A run of more iterations would last for days.
constexpr std::int64_t kMostIterations = std::int64_t{1} << 42;
constexpr std::size_t kMostEvents = 4096;
/// Fewer elements than this are not worth to be computed side by side.
constexpr std::int64_t kLeastColumn = 16;

std::int64_t ceiling_quotient(std::int64_t a, std::int64_t b) {
  return -*floor_quotient(-a, b);
}

/// The part of a stretch where a linear condition holds, which is `margin` for iteration 0.
Stretch where_holds(Stretch part, const BoundGeneric::Condition& condition, std::int64_t margin,
                    std::int64_t step) {
  if (step == 0) return condition.holds(margin) ? part : Stretch{0, 0};
  if (condition.comparison == SymbolRelation::Comparison::kEqual) {
    if (margin % step != 0) return {0, 0};
    const std::int64_t only = -(margin / step);
    return {std::max(part.first, only), std::min(part.last, only + 1)};
  }
  if (step > 0) return {std::max(part.first, ceiling_quotient(-margin, step)), part.last};
  return {part.first, std::min(part.last, *floor_quotient(margin, -step) + 1)};
}

/// `sizes` of the form as numbers.
DimBindings sizes_of(const GenericForm& form) {
  DimBindings sizes;
  for (const GenericForm::Range& size : form.sizes) {
    if (size.extent.is_constant()) sizes.bind(size.name, size.extent.constant());
  }
  return sizes;
}

}  // namespace

Result<BoundGeneric> bind_generic(EvalCall& call) {
  std::optional<Error> problem;
  auto form = read_generic(
      {.context = call.context(),
       .attribute = [&](AttrKey key) { return call.attribute(key); },
       .operand_count = call.operand_count(),
       .result_count = call.result_count()},
      [&](const GenericProblem& found) { problem = call.error(found.code, found.message); });
  if (!form) return *problem;
  BoundGeneric bound;
  std::int64_t iterations = 1;
  for (const GenericForm::Range& loop : form->loops) {
    if (!loop.extent.is_constant()) {
      return call.error(diag::kResultUnknown, fmt::format("the extent of loop '${}' is not known",
                                                          call.context().text(loop.name)));
    }
    bound.names.push_back(loop.name);
    bound.extents.push_back(loop.extent.constant());
    const auto product =
        checked_multiply(iterations, std::max<std::int64_t>(1, loop.extent.constant()));
    iterations = product.value_or(kMostIterations + 1);
    if (iterations > kMostIterations) {
      return call.error(diag::kLimitExceeded,
                        fmt::format("its loops have more than {} iterations", kMostIterations));
    }
  }
  for (const GenericForm::Index& index : form->indices) bound.names.push_back(index.name);
  const DimBindings sizes = sizes_of(*form);
  for (const SymbolRelation& each : form->conditions) {
    auto margin =
        CompiledExtent::compile(call.context().dims().substitute(each.margin, sizes), bound.names);
    if (!margin) return call.error(diag::kResultUnknown, "an extent in a condition is not known");
    BoundGeneric::Condition made{each.comparison, *std::move(margin)};
    for (std::size_t name = bound.extents.size(); name < bound.names.size(); ++name) {
      made.has_data = made.has_data || made.margin.depends_on(name);
    }
    bound.conditions.push_back(std::move(made));
  }
  bound.form = *std::move(form);
  return bound;
}

// -- preparation ----------------------------------------------------------------------------------

Result<BoundMap> GenericWalk::bind(std::span<const Dim> map, const Shape& extents) const {
  const DimBindings sizes = sizes_of(generic_.form);
  BoundMap bound{.indices = {}, .extents = extents, .strides = ref::row_major_strides(extents)};
  if (map.size() != extents.size())
    return call_.error(diag::kRankMismatch, "a map has another rank");
  for (const Dim each : map) {
    auto index =
        CompiledExtent::compile(call_.context().dims().substitute(each, sizes), generic_.names);
    if (!index) return call_.error(diag::kResultUnknown, "an extent in a map is not known");
    bound.is_linear = bound.is_linear && index->is_linear();
    bound.indices.push_back(*std::move(index));
  }
  return bound;
}

/// Sums of several elements side by side are in the same order for each of them, and need no
/// strip of their own for few iterations.
void GenericWalk::order_loops() {
  order_ = form_.loops;
  if (is_linear_ && !form_.sums.empty() && !order_.empty() &&
      generic_.extents[order_.back()] >= kLeastColumn) {
    column_loop_ = order_.back();
    order_.pop_back();
  }
  for (const GenericForm::SummedLoop& each : form_.sums) {
    if (groups_.empty() || groups_.back() != each.kind()) {
      groups_.push_back(each.kind());
      group_starts_.push_back(order_.size());
    }
    order_.push_back(each.loop);
  }
  if (column_loop_) order_.push_back(*column_loop_);
}

Result<void> GenericWalk::prepare() {
  auto strip = GenericStrip::create(call_.op(), number_, call_.environment());
  if (!strip) return std::move(strip).error();
  strip_ = *std::move(strip);
  values_.assign(generic_.names.size(), 0);
  maps_.resize(call_.operand_count());
  const auto read_map = [&](std::size_t operand) -> Result<void> {
    auto map = bind(generic_.form.operands[operand], call_.operand(operand).shape());
    if (!map) return std::move(map).error();
    is_linear_ = is_linear_ && map->is_linear;
    maps_[operand] = *std::move(map);
    return {};
  };
  for (std::size_t i = 0; i < call_.operand_count(); ++i) {
    if (!strip_->needs(i)) continue;
    if (auto done = read_map(i); !done) return done;
    if (strip_->passes_on(i) && form_.sums.empty() &&
        call_.operand(i).dtype() == call_.result(number_).dtype()) {
      copied_ = i;
    }
  }
  for (const GenericForm::Index& index : generic_.form.indices) {
    is_linear_ = false;
    if (maps_[index.operand]) continue;
    if (auto done = read_map(index.operand); !done) return done;
  }
  for (const auto& each : generic_.conditions) is_linear_ = is_linear_ && each.margin.is_linear();
  auto map = bind(form_.map, call_.result(number_).shape());
  if (!map) return std::move(map).error();
  result_map_ = *std::move(map);
  is_linear_ = is_linear_ && result_map_.is_linear;
  order_loops();
  const DimBindings sizes = sizes_of(generic_.form);
  DimTable& dims = call_.context().dims();
  GenericForm::Result known = form_;
  for (Dim& each : known.map) each = dims.substitute(each, sizes);
  const auto names = std::span(generic_.names).first(generic_.extents.size());
  for (std::size_t i = 0; i < generic_.form.bound_count && !form_.sums.empty(); ++i) {
    SymbolRelation bound = generic_.form.conditions[i];
    bound.margin = dims.substitute(bound.margin, sizes);
    const bool ends = std::ranges::any_of(known.map, [&](Dim index) {
      return bound_of(index, {&bound, 1}, names, dims).has_value();
    });
    if (ends) ends_.push_back(i);
  }
  Tensor& result = call_.result(number_);
  auto sums = make_generic_sums(
      groups_, column_loop_ ? GenericStrip::kLength : 1, form_.start, strip_->dtype(),
      {result.dtype(), result.mutable_bytes(), static_cast<std::int64_t>(result.elements())});
  if (!sums) return std::move(sums).error();
  sums_ = *std::move(sums);
  std::vector<Dim> extents;
  for (const std::int64_t extent : generic_.extents) extents.emplace_back(extent);
  if (!counts_each_element_once(known, names, extents, dims)) {
    written_.assign(static_cast<std::size_t>(call_.result(number_).elements()), false);
  }
  sums_->begin();
  return {};
}

// -- loops ----------------------------------------------------------------------------------------

Result<void> GenericWalk::run() {
  if (auto ready = prepare(); !ready) return ready;
  if (auto done = walk(0, 0); !done) return done;
  if (auto done = flush(); !done) return done;
  return check_written();
}

/// Runs the loops from a position of the order on. `group` is the next group of sums.
Result<void> GenericWalk::walk(std::size_t position, std::size_t group) {
  if (group == groups_.size() || group_starts_[group] != position) {
    return walk_loops(position, group);
  }
  if (group != 0) return walk_group(position, group, {});
  const std::int64_t end = column_loop_ ? generic_.extents[*column_loop_] : 1;
  Stretch part{0, 0};
  for (; part.first < end; part.first = part.last) {
    part.last = std::min(end, part.first + (column_loop_ ? GenericStrip::kLength : 1));
    const auto within = within_result(part);
    if (!within) return within.error();
    column_ = *within;
    if (column_.is_empty()) continue;
    const auto to = place(result_map_, call_.operand_count() + number_, column_);
    if (!to) return to.error();
    if (auto noted = note_written(*to, column_.last - column_.first); !noted) return noted;
    if (auto done = walk_group(position, group, *to); !done) return done;
  }
  return {};
}

/// The part whose elements are no further than bounds end the result.
Result<Stretch> GenericWalk::within_result(Stretch part) {
  if (column_loop_) values_[*column_loop_] = 0;
  for (const std::size_t each : ends_) {
    const BoundGeneric::Condition& condition = generic_.conditions[each];
    const auto margin = condition.margin.value(values_);
    if (!margin) return call_.error(diag::kLimitExceeded, "a bound exceeds 64 bits");
    const std::int64_t step = column_loop_ ? condition.margin.step(*column_loop_) : 0;
    part = where_holds(part, condition, *margin, step);
  }
  return part;
}

Result<void> GenericWalk::walk_group(std::size_t position, std::size_t group, Place to) {
  const std::int64_t count = column_.last - column_.first;
  const LoopEvent open{
      .kind = LoopEvent::Kind::kOpen, .group = group, .at = to.at, .step = to.step, .count = count};
  if (auto noted = note(open); !noted) return noted;
  if (auto done = walk_loops(position, group + 1); !done) return done;
  return note({.kind = LoopEvent::Kind::kClose, .group = group, .count = count});
}

Result<void> GenericWalk::walk_loops(std::size_t position, std::size_t group) {
  if (position + 1 >= order_.size()) return walk_innermost();
  std::int64_t& value = values_[order_[position]];
  const std::int64_t extent = generic_.extents[order_[position]];
  for (value = 0; value < extent; ++value) {
    if (auto done = walk(position + 1, group); !done) return done;
  }
  value = 0;
  return {};
}

Result<void> GenericWalk::walk_innermost() {
  Stretch part = column_loop_ ? column_ : Stretch();
  if (!column_loop_ && !order_.empty()) part.last = generic_.extents[order_.back()];
  if (!is_linear_) return walk_each(part);
  if (!order_.empty()) values_[order_.back()] = 0;
  for (const BoundGeneric::Condition& each : generic_.conditions) {
    const auto margin = each.margin.value(values_);
    if (!margin) return call_.error(diag::kLimitExceeded, "a condition exceeds 64 bits");
    part = where_holds(part, each, *margin, order_.empty() ? 0 : each.margin.step(order_.back()));
  }
  return part.is_empty() ? Result<void>() : append(part);
}

Result<void> GenericWalk::walk_each(Stretch part) {
  std::int64_t none = 0;
  std::int64_t& value = order_.empty() ? none : values_[order_.back()];
  for (std::int64_t i = part.first; i < part.last; ++i) {
    value = i;
    const auto admitted = admits_iteration();
    if (!admitted) return admitted.error();
    if (!*admitted) continue;
    if (auto done = append({i, i + 1}); !done) return done;
  }
  value = 0;
  return {};
}

/// Reads the indices that data decides where the other conditions hold, and tests the conditions.
Result<bool> GenericWalk::admits_iteration() {
  const auto all_hold = [&](bool has_data) {
    return std::ranges::all_of(generic_.conditions, [&](const BoundGeneric::Condition& each) {
      if (each.has_data != has_data) return true;
      const auto margin = each.margin.value(values_);
      return margin && each.holds(*margin);
    });
  };
  if (!all_hold(false)) return false;
  if (auto read = read_indices(); !read) return std::move(read).error();
  return all_hold(true);
}

Result<void> GenericWalk::read_indices() {
  const std::size_t first = generic_.extents.size();
  for (std::size_t i = 0; i < generic_.form.indices.size(); ++i) {
    const std::size_t operand = generic_.form.indices[i].operand;
    const auto from = place(*maps_[operand], operand, current());
    if (!from) return from.error();
    const Tensor& tensor = call_.operand(operand);
    const auto read =
        ref::with_number("generic", tensor.dtype(), [&]<class T>(std::type_identity<T>) {
          values_[first + i] = static_cast<std::int64_t>(
              ref::load<T>(tensor.as<T>()[static_cast<std::size_t>(from->at)]));
          return Result<void>();
        });
    if (!read) return read;
  }
  return {};
}

// -- elements -------------------------------------------------------------------------------------

/// The iteration at which the loops are.
Stretch GenericWalk::current() const {
  const std::int64_t at = order_.empty() ? 0 : values_[order_.back()];
  return {at, at + 1};
}

Result<GenericWalk::Place> GenericWalk::place(const BoundMap& map, std::size_t number,
                                              Stretch part) {
  if (!order_.empty()) values_[order_.back()] = part.first;
  Place found;
  for (std::size_t dim = 0; dim < map.indices.size(); ++dim) {
    const CompiledExtent& index = map.indices[dim];
    const auto first = index.value(values_);
    const std::int64_t step =
        order_.empty() || part.last - part.first == 1 ? 0 : index.step(order_.back());
    const auto way = checked_multiply(step, part.last - part.first - 1);
    const auto last = first && way ? checked_add(*first, *way) : std::nullopt;
    const auto is_inside = [&](std::int64_t at) { return at >= 0 && at < map.extents[dim]; };
    if (!last || !is_inside(*first) || !is_inside(*last)) return outside(map, number, dim, part);
    found.at += *first * map.strides[dim];
    found.step += step * map.strides[dim];
  }
  return found;
}

/// Names the first iteration of the stretch whose index is outside.
Error GenericWalk::outside(const BoundMap& map, std::size_t number, std::size_t dim, Stretch part) {
  std::optional<std::int64_t> index;
  for (std::int64_t i = part.first; i < part.last; ++i) {
    if (!order_.empty()) values_[order_.back()] = i;
    index = map.indices[dim].value(values_);
    if (!index || *index < 0 || *index >= map.extents[dim]) break;
  }
  std::string iteration;
  for (std::size_t i = 0; i < generic_.names.size(); ++i) {
    iteration += fmt::format("{}${} = {}", i == 0 ? "" : ", ",
                             call_.context().text(generic_.names[i]), values_[i]);
  }
  const bool is_result = number >= call_.operand_count();
  return call_.error(
      diag::kIndexOutOfRange,
      fmt::format("{} makes the index in dimension {} of {} {} {}, expected one below {}",
                  iteration, dim, is_result ? "result" : "operand",
                  is_result ? number - call_.operand_count() : number,
                  index ? std::to_string(*index) : "one beyond 64 bits", map.extents[dim]));
}

/// Appends iterations to the strip, which runs whenever it is full.
Result<void> GenericWalk::append(Stretch part) {
  while (!part.is_empty()) {
    const std::int64_t room = copied_ ? part.last - part.first : GenericStrip::kLength - filled_;
    const Stretch now{part.first, std::min(part.last, part.first + room)};
    if (auto done = append_at_once(now); !done) return done;
    part.first = now.last;
  }
  return {};
}

Result<void> GenericWalk::append_at_once(Stretch part) {
  const std::int64_t count = part.last - part.first;
  LoopEvent event{.kind = LoopEvent::Kind::kJoin, .count = count};
  Place to;
  if (groups_.empty()) {
    const auto found = place(result_map_, call_.operand_count() + number_, part);
    if (!found) return found.error();
    to = *found;
    if (auto noted = note_written(to, count); !noted) return noted;
    event.kind = LoopEvent::Kind::kStore;
    event.at = to.at;
    event.step = to.step;
  }
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (!maps_[i] || !strip_->needs(i)) continue;
    const auto from = place(*maps_[i], i, part);
    if (!from) return from.error();
    if (copied_) {
      copy(*from, to, count);
      return {};
    }
    if (auto read = gather(i, *from, count); !read) return read;
  }
  filled_ += count;
  if (!column_loop_) return note(event);
  event.kind = LoopEvent::Kind::kJoinEach;
  event.at = part.first - column_.first;
  if (auto noted = note(event); !noted) return noted;
  // The next iteration begins a strip of its own.
  return flush();
}

Result<void> GenericWalk::gather(std::size_t operand, Place from, std::int64_t count) {
  const Tensor& tensor = call_.operand(operand);
  return ref::with_number_or_bool(
      "generic", tensor.dtype(), [&]<class T>(std::type_identity<T>) -> Result<void> {
        using Number = std::conditional_t<ref::kIsFloating<T>, double, T>;
        const T* in = tensor.as<T>().data() + from.at;
        Number* out = reinterpret_cast<Number*>(strip_->argument(operand)) + filled_;
        for (std::int64_t i = 0; i < count; ++i) {
          if constexpr (ref::kIsFloating<T>) {
            out[i] = ref::load<T>(in[i * from.step]);
          } else {
            out[i] = in[i * from.step];
          }
        }
        return {};
      });
}

/// Moves elements with all their bits.
void GenericWalk::copy(Place from, Place to, std::int64_t count) {
  const Tensor& tensor = call_.operand(*copied_);
  const auto size = static_cast<std::int64_t>(info(tensor.dtype()).unit_bytes);
  const std::byte* in = tensor.bytes().data() + from.at * size;
  std::byte* out = call_.result(number_).mutable_bytes() + to.at * size;
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * to.step * size, in + i * from.step * size,
                static_cast<std::size_t>(size));
  }
}

Result<void> GenericWalk::note_written(Place to, std::int64_t count) {
  for (std::int64_t i = 0; i < count && !written_.empty(); ++i) {
    auto&& mark = written_[static_cast<std::size_t>(to.at + i * to.step)];
    if (mark) {
      return call_.error(
          diag::kKernelShape,
          fmt::format("element {} of result {} has two iterations", to.at + i * to.step, number_));
    }
    mark = true;
  }
  return {};
}

Result<void> GenericWalk::check_written() const {
  const auto lacking = std::ranges::find(written_, false);
  if (lacking == written_.end() || form_.start != nullptr) return {};
  return call_.error(diag::kKernelShape, fmt::format("element {} of result {} has no iteration",
                                                     lacking - written_.begin(), number_));
}

Result<void> GenericWalk::note(LoopEvent event) {
  events_.push_back(event);
  const bool is_full = filled_ == GenericStrip::kLength || events_.size() >= kMostEvents;
  return is_full ? flush() : Result<void>();
}

Result<void> GenericWalk::flush() {
  StripValues values;
  if (filled_ != 0) {
    auto computed = strip_->compute(filled_);
    if (!computed) return std::move(computed).error();
    values = *computed;
  }
  const auto taken = sums_->take(values, events_);
  events_.clear();
  filled_ = 0;
  if (!taken) return call_.error(taken.error().code, taken.error().message);
  return {};
}

}  // namespace mir::eval

// Walks the loops of a generic op: adds the steps of forms, cuts off what conditions leave out,
// sums.
#include "plan/generic_worker.hpp"

#include <algorithm>
#include <limits>

#include "kernels/ref/common/dispatch.hpp"

namespace mir {

namespace {

/// Stretches of fewer iterations share a strip with others.
constexpr std::int64_t kLeastAlone = 128;
constexpr std::size_t kMostWalkEvents = 2048;

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) {
  return -*floor_quotient(-a, b);
}

bool is_within(std::int64_t first, std::int64_t last, std::int64_t extent) {
  return first >= 0 && first < extent && last >= 0 && last < extent;
}

/// True if the negative of a number and its successor do not overflow.
bool is_countable(std::int64_t number) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() - 1;
  return number <= kMost && number >= -kMost;
}

}  // namespace

GenericWorker::GenericWorker(const GenericShared& shared, eval::GenericStrip strip)
    : shared_(shared), loops_(shared.loops), strip_(std::move(strip)) {}

std::unique_ptr<GenericWorker> GenericWorker::create(const GenericShared& shared) {
  auto strip = eval::GenericStrip::create(shared.op, shared.number, shared.environment,
                                          &shared.kernels.arithmetic);
  if (!strip) return nullptr;
  std::unique_ptr<GenericWorker> worker(new GenericWorker(shared, *std::move(strip)));
  return worker->prepare() ? std::move(worker) : nullptr;
}

// -- preparation ----------------------------------------------------------------------------------

bool GenericWorker::prepare() {
  const TensorRef& result = shared_.result;
  auto sums =
      eval::make_generic_sums(loops_.groups, loops_.has_column ? kWidth : 1, shared_.start,
                              strip_.dtype(), {result.dtype, result.data, result.elements()});
  const auto start = eval::start_number(shared_.start, strip_.dtype());
  if (!sums || !start) return false;
  sums_ = *std::move(sums);
  now_ = loops_.first;
  values_.assign(loops_.name_count + 1, 0);
  way_ = find_way();
  if (way_ == Way::kProducts || way_ == Way::kColumns) {
    columns_.resize(kWidth);
    first_ = start->defined() ? start->as<double>().front() : neutral();
    const StripArithmetic& arithmetic = shared_.kernels.arithmetic;
    const LoopSum sum = loops_.groups.front().sum;
    join_ = sum == LoopSum::kAdd   ? arithmetic.add
            : sum == LoopSum::kMul ? arithmetic.mul
            : sum == LoopSum::kMax ? arithmetic.max
                                   : arithmetic.min;
  }
  lists_.resize(loops_.name_count + 1);
  lists_of_names_.assign(loops_.name_count + 1, nullptr);
  return true;
}

double GenericWorker::neutral() const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (loops_.groups.front().sum) {
    case LoopSum::kMax:
      return -kInfinity;
    case LoopSum::kMin:
      return kInfinity;
    case LoopSum::kMul:
      return 1;
    default:
      return 0;
  }
}

GenericWorker::Way GenericWorker::find_way() const {
  if (loops_.groups.empty()) {
    const bool is_copy = loops_.operands.size() == 1 &&
                         strip_.passes_on(loops_.operands[0].tensor) &&
                         shared_.operands[loops_.operands[0].tensor].dtype == shared_.result.dtype;
    return is_copy ? Way::kCopy : Way::kStore;
  }
  const LoopSum sum = loops_.groups.front().sum;
  if (sum == LoopSum::kAnd || sum == LoopSum::kOr) return Way::kSums;  // Bool
  const bool is_double =
      strip_.dtype() == DType::kFloat64 && loops_.groups.front().precision == SumPrecision::kWide;
  if (!loops_.has_column || loops_.groups.size() != 1 || !is_double) return Way::kSums;
  const bool leaves_out = !loops_.conditions.empty() || !loops_.form_conditions.empty();
  const bool is_empty = std::ranges::find(loops_.extents, 0) != loops_.extents.end();
  // Without an iteration there is no largest element to begin with.
  if (!has_neutral(sum) && (leaves_out || is_empty)) return Way::kSums;
  const auto is_single = [&](const GenericLoops::Access& access) {
    return access.rest.empty() && shared_.operands[access.tensor].dtype == DType::kFloat32;
  };
  const bool is_passed = loops_.operands.size() == 1 && strip_.passes_on(loops_.operands[0].tensor);
  const bool is_sum_of_products = sum == LoopSum::kAdd && (is_passed || strip_.product()) &&
                                  loops_.indices.empty() && loops_.conditions.empty() &&
                                  std::ranges::all_of(loops_.operands, is_single);
  return is_sum_of_products ? Way::kProducts : Way::kColumns;
}

// -- loops ----------------------------------------------------------------------------------------

void GenericWorker::advance(std::size_t position, std::int64_t iterations) {
  const std::int64_t* const steps = loops_.steps.data() + position * now_.size();
  for (std::size_t form = 0; form < now_.size(); ++form) now_[form] += iterations * steps[form];
}

bool GenericWorker::run(const GenericTask& task) {
  std::int64_t rest = task.outer;
  for (std::size_t position = task.outer_loops; position-- > 0;) {
    const std::int64_t extent = loops_.extents[position];
    values_[loops_.order[position]] = rest % extent;
    advance(position, rest % extent);
    rest /= extent;
  }
  inner_ = task.inner;
  const bool is_done = walk(task.outer_loops, 0) && flush();
  for (std::size_t position = 0; position < task.outer_loops; ++position) {
    advance(position, -values_[loops_.order[position]]);
  }
  return is_done;
}

/// Runs the loops from a position of the order on. `group` is the next group of sums.
bool GenericWorker::walk(std::size_t position, std::size_t group) {
  if (group == loops_.groups.size() || loops_.group_starts[group] != position) {
    return walk_loops(position, group);
  }
  if (group != 0) return walk_group(position, group);
  if (!loops_.has_column) {
    column_ = within_result({0, 1});
    return column_.is_empty() || walk_group(position, group);
  }
  for (Iterations part = inner_; !part.is_empty(); part.first += kWidth) {
    column_ = within_result({part.first, std::min(part.last, part.first + kWidth)});
    if (column_.is_empty()) continue;
    const bool is_done = way_ == Way::kSums ? walk_group(position, group) : sum_columns(position);
    if (!is_done) return false;
  }
  return true;
}

/// The part whose elements are no further than bounds end the result.
Iterations GenericWorker::within_result(Iterations part) const {
  for (const std::size_t form : loops_.ends) {
    part = admitted(part, now_[form], loops_.has_column ? inner_step(form) : 0, false);
  }
  return part;
}

bool GenericWorker::walk_loops(std::size_t position, std::size_t group) {
  if (position == loops_.innermost()) return walk_innermost();
  if (way_ == Way::kProducts && position + 1 == loops_.innermost()) return add_terms(position);
  std::int64_t& value = values_[loops_.order[position]];
  const std::int64_t extent = loops_.extents[position];
  for (value = 0; value < extent; ++value) {
    if (!walk(position + 1, group)) return false;
    advance(position, 1);
  }
  advance(position, -extent);
  value = 0;
  return true;
}

bool GenericWorker::walk_group(std::size_t position, std::size_t group) {
  const std::int64_t count = column_.count();
  Event open{.kind = Event::Kind::kOpen, .group = group, .count = count};
  if (group == 0) {
    const auto to = place(loops_.result, loops_.has_column ? column_ : Iterations{0, 1});
    if (!to || !mark(*to, count)) return false;
    open.at = to->at;
    open.step = to->step;
  }
  return note(open) && walk_loops(position, group + 1) &&
         note({.kind = Event::Kind::kClose, .group = group, .count = count});
}

/// The only group of sums, for the elements of a column.
bool GenericWorker::sum_columns(std::size_t position) {
  const auto to = place(loops_.result, column_);
  if (!to || !mark(*to, column_.count())) return false;
  std::fill_n(columns_.begin(), column_.count(), first_);
  if (!walk_loops(position, 1) || !flush()) return false;
  return store_sums(*to, column_.count());
}

bool GenericWorker::walk_innermost() {
  Iterations part = loops_.has_column ? column_ : inner_;
  if (part.is_empty()) return true;
  if (loops_.is_by_element) return walk_by_element(part);
  const bool is_known = read_indices(part.first);
  return is_known && admit_range(part) && (part.is_empty() || append(part));
}

/// The last summed loop of a sum of products, with the column as the innermost loop.
bool GenericWorker::add_terms(std::size_t position) {
  const auto& factors = loops_.operands;
  const auto product = strip_.product();
  fast::ProductStrip strip;
  const auto point = [&](const GenericLoops::Access& access, std::int64_t at, std::int64_t step,
                         std::int64_t term_step, bool is_first) {
    const float* data = shared_.operands[access.tensor].floats() + at;
    (is_first ? strip.x : strip.y) = data;
    (is_first ? strip.x_column : strip.y_column) = step;
    (is_first ? strip.x_term : strip.y_term) = term_step;
  };
  const auto add = [&](Iterations part, std::int64_t terms) {
    for (std::size_t i = 0; i < factors.size(); ++i) {
      const auto from = place(factors[i], part);
      if (!from) return false;
      const std::int64_t term_step = loops_.step(position, factors[i].offset);
      point(factors[i], from->at, from->step, term_step, i == 0);
      if (product && factors.size() == 1) point(factors[i], from->at, from->step, term_step, false);
    }
    strip.sums = columns_.data() + (part.first - column_.first);
    strip.columns = part.count();
    strip.terms = terms;
    shared_.kernels.add_products(strip);
    return true;
  };
  const std::int64_t terms = loops_.extents[position];
  if (terms == 0) return true;
  if (holds_everywhere(position)) return add(column_, terms);
  for (std::int64_t term = 0; term < terms; ++term) {
    Iterations part = column_;
    if (!admit_range(part) || (!part.is_empty() && !add(part, 1))) return false;
    advance(position, 1);
  }
  advance(position, -terms);
  return true;
}

/// True if no condition and no check fails in the column for any iteration of a loop.
bool GenericWorker::holds_everywhere(std::size_t position) const {
  const auto least_and_greatest = [&](std::size_t form) {
    const std::int64_t step = inner_step(form);
    const std::int64_t first = now_[form] + step * column_.first,
                       last = now_[form] + step * (column_.last - 1),
                       way = loops_.step(position, form) * (loops_.extents[position] - 1);
    return std::pair(std::min(first, last) + std::min<std::int64_t>(way, 0),
                     std::max(first, last) + std::max<std::int64_t>(way, 0));
  };
  for (const GenericLoops::FormCondition& each : loops_.form_conditions) {
    const auto [least, greatest] = least_and_greatest(each.form);
    if (each.is_equal ? least != 0 || greatest != 0 : least < 0) return false;
  }
  for (const GenericLoops::Access& access : loops_.operands) {
    for (const GenericLoops::Check& check : access.checks) {
      const auto [least, greatest] = least_and_greatest(check.form);
      if (least < 0 || greatest >= check.extent) return false;
    }
  }
  return true;
}

// -- conditions and places ------------------------------------------------------------------------

/// The part where a margin is at least 0, or 0, which is `margin` for iteration 0.
Iterations GenericWorker::admitted(Iterations part, std::int64_t margin, std::int64_t step,
                                   bool is_equal) const {
  if (step == 0) return (is_equal ? margin == 0 : margin >= 0) ? part : Iterations{};
  if (is_equal) {
    if (margin % step != 0) return {};
    const std::int64_t only = -(margin / step);
    return {std::max(part.first, only), std::min(part.last, only + 1)};
  }
  if (step > 0) return {std::max(part.first, rounded_up_quotient(-margin, step)), part.last};
  return {part.first, std::min(part.last, *floor_quotient(margin, -step) + 1)};
}

bool GenericWorker::admit_range(Iterations& part) {
  for (const GenericLoops::FormCondition& each : loops_.form_conditions) {
    part = admitted(part, now_[each.form], inner_step(each.form), each.is_equal);
  }
  const std::size_t inner = loops_.order.back();
  for (const GenericLoops::Condition& each : loops_.conditions) {
    values_[inner] = 0;
    const auto margin = each.margin.value(values_);
    const std::int64_t step = inner < loops_.name_count ? each.margin.step(inner) : 0;
    if (!margin || !is_countable(*margin) || !is_countable(step)) return false;
    part = admitted(part, *margin, step, each.is_equal);
  }
  return true;
}

/// Reads the indices that data decides, none of which depends on the innermost loop.
bool GenericWorker::read_indices(std::int64_t inner) {
  for (std::size_t i = 0; i < loops_.indices.size(); ++i) {
    const auto from = place(loops_.indices[i], {inner, inner + 1});
    if (!from) return false;
    const TensorRef& tensor = shared_.operands[loops_.indices[i].tensor];
    const auto read =
        ref::with_number("generic", tensor.dtype, [&]<class T>(std::type_identity<T>) {
          values_[loops_.loop_count + i] = static_cast<std::int64_t>(
              ref::load<T>(reinterpret_cast<const T*>(tensor.data)[from->at]));
          return Result<void>();
        });
    if (!read) return false;
  }
  return true;
}

std::optional<GenericWorker::Place> GenericWorker::place(const GenericLoops::Access& access,
                                                         Iterations part) {
  const std::int64_t way = part.count() - 1;
  const std::int64_t step = inner_step(access.offset);
  Place found{now_[access.offset] + step * part.first, step};
  for (const GenericLoops::Check& check : access.checks) {
    const std::int64_t check_step = inner_step(check.form);
    const std::int64_t at = now_[check.form] + check_step * part.first;
    if (!is_within(at, at + check_step * way, check.extent)) return std::nullopt;
  }
  const std::size_t inner = loops_.order.back();
  for (const GenericLoops::Rest& each : access.rest) {
    values_[inner] = part.first;
    const auto at = each.index.value(values_);
    const std::int64_t rest_step = inner < loops_.name_count ? each.index.step(inner) : 0;
    const auto moved = checked_multiply(rest_step, way);
    const auto last = at && moved ? checked_add(*at, *moved) : std::nullopt;
    if (!last || !is_within(*at, *last, each.extent)) return std::nullopt;
    found.at += *at * each.stride;
    if (way != 0) found.step += rest_step * each.stride;
  }
  return found;
}

// -- strips ---------------------------------------------------------------------------------------

/// Appends iterations to the strip, which runs whenever it is full.
bool GenericWorker::append(Iterations part) {
  while (!part.is_empty()) {
    const bool is_alone = part.count() >= kLeastAlone && way_ != Way::kCopy;
    if (is_alone && filled_ != 0 && !flush()) return false;
    const std::int64_t room = way_ == Way::kCopy ? part.count() : kWidth - filled_;
    const Iterations now{part.first, std::min(part.last, part.first + room)};
    if (!append_at_once(now, is_alone)) return false;
    part.first = now.last;
  }
  return true;
}

bool GenericWorker::append_at_once(Iterations part, bool is_alone) {
  const std::int64_t count = part.count();
  Event event{.kind = Event::Kind::kJoin, .count = count};
  if (loops_.groups.empty()) {
    const auto to = place(loops_.result, part);
    if (!to || !mark(*to, count)) return false;
    if (way_ == Way::kCopy) {
      const auto from = place(loops_.operands[0], part);
      return from && copy(*from, *to, count);
    }
    event.kind = Event::Kind::kStore;
    event.at = to->at;
    event.step = to->step;
  } else if (loops_.has_column) {
    event.kind = Event::Kind::kJoinEach;
    event.at = part.first - column_.first;
  }
  for (const GenericLoops::Access& access : loops_.operands) {
    const auto from = place(access, part);
    if (!from) return false;
    const bool is_same = is_alone && from->step == 0;
    if (filled_ == 0) strip_.set_step(access.tensor, is_same ? 0 : 1);
    if (!gather(access, *from, is_same ? 1 : count)) return false;
  }
  filled_ += count;
  if (!note(event)) return false;
  return !is_alone || flush();
}

bool GenericWorker::gather(const GenericLoops::Access& access, Place from, std::int64_t count) {
  const TensorRef& tensor = shared_.operands[access.tensor];
  std::byte* const to = strip_.argument(access.tensor);
  if (tensor.dtype == DType::kFloat32) {
    shared_.kernels.widen(tensor.floats() + from.at, from.step,
                          reinterpret_cast<double*>(to) + filled_, count);
    return true;
  }
  const auto done = ref::with_number_or_bool(
      "generic", tensor.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
        using Number = std::conditional_t<ref::kIsFloating<T>, double, T>;
        const T* in = reinterpret_cast<const T*>(tensor.data) + from.at;
        Number* out = reinterpret_cast<Number*>(to) + filled_;
        for (std::int64_t i = 0; i < count; ++i) {
          if constexpr (ref::kIsFloating<T>) {
            out[i] = ref::load<T>(in[i * from.step]);
          } else {
            out[i] = in[i * from.step];
          }
        }
        return {};
      });
  return done.ok();
}

/// Moves elements with all their bits.
bool GenericWorker::copy(Place from, Place to, std::int64_t count) {
  const TensorRef& tensor = shared_.operands[loops_.operands[0].tensor];
  return ref::with_bits("generic", tensor.dtype,
                        [&]<class T>(std::type_identity<T>) {
                          const T* in = reinterpret_cast<const T*>(tensor.data) + from.at;
                          T* out = reinterpret_cast<T*>(shared_.result.data) + to.at;
                          for (std::int64_t i = 0; i < count; ++i)
                            out[i * to.step] = in[i * from.step];
                          return Result<void>();
                        })
      .ok();
}

bool GenericWorker::mark(std::int64_t at) {
  auto&& mark = shared_.written[static_cast<std::size_t>(at)];
  if (mark) return false;
  mark = true;
  return true;
}

bool GenericWorker::mark(Place to, std::int64_t count) {
  if (shared_.written.empty()) return true;
  for (std::int64_t i = 0; i < count; ++i) {
    if (!mark(to.at + i * to.step)) return false;
  }
  return true;
}

bool GenericWorker::note(const Event& event) {
  events_.push_back(event);
  return (filled_ < kWidth && events_.size() < kMostWalkEvents) || flush();
}

bool GenericWorker::flush() {
  eval::StripValues values;
  if (filled_ != 0) {
    const auto computed = strip_.compute(filled_);
    if (!computed) return false;
    values = *computed;
  }
  bool is_done = true;
  if (way_ == Way::kColumns) {
    join(values);
  } else if (way_ == Way::kStore && (!to_.empty() || shared_.result.dtype == DType::kFloat32)) {
    is_done = store(values);
  } else {
    is_done = sums_->take(values, events_).ok();
  }
  events_.clear();
  filled_ = 0;
  return is_done;
}

void GenericWorker::join(eval::StripValues values) {
  const double* next = reinterpret_cast<const double*>(values.data);
  for (const Event& event : events_) {
    double* const sums = columns_.data() + event.at;
    join_(sums, 1, next, values.step, sums, event.count);
    next += event.count * values.step;
  }
}

bool GenericWorker::store(eval::StripValues values) {
  if (to_.empty()) {
    const double* next = reinterpret_cast<const double*>(values.data);
    for (const Event& event : events_) {
      shared_.kernels.narrow(next, values.step, shared_.result.floats() + event.at, event.step,
                             event.count);
      next += event.count * values.step;
    }
    return true;
  }
  const auto done = ref::with_number_or_bool(
      "generic", shared_.result.dtype, [&]<class R>(std::type_identity<R>) {
        using T = std::conditional_t<ref::kIsFloating<R>, double, R>;
        const T* from = reinterpret_cast<const T*>(values.data);
        R* const out = reinterpret_cast<R*>(shared_.result.data);
        for (std::size_t i = 0; i < to_.size(); ++i) {
          out[to_[i]] =
              ref::store<R>(ref::load<T>(from[static_cast<std::int64_t>(i) * values.step]));
        }
        return Result<void>();
      });
  to_.clear();
  return done.ok();
}

bool GenericWorker::store_sums(Place to, std::int64_t count) {
  if (shared_.result.dtype == DType::kFloat32) {
    shared_.kernels.narrow(columns_.data(), 1, shared_.result.floats() + to.at, to.step, count);
    return true;
  }
  const auto done =
      ref::with_floating("generic", shared_.result.dtype, [&]<class R>(std::type_identity<R>) {
        R* const out = reinterpret_cast<R*>(shared_.result.data) + to.at;
        for (std::int64_t i = 0; i < count; ++i) {
          out[i * to.step] = ref::store<R>(columns_[static_cast<std::size_t>(i)]);
        }
        return Result<void>();
      });
  return done.ok();
}

}  // namespace mir

// Accumulators of generic ops: sums, products, extremes and logic in the order of the iterations.
#include "eval/generic_sums.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "eval/joins.hpp"
#include "kernels/ref/common/dispatch.hpp"
#include "kernels/ref/common/numbers_c.hpp"
#include "mir/codes/kernels.hpp"
#include "weights/elements.hpp"

namespace mir::eval {

namespace {

/// Adds numbers of Float32, whose sum in double is rounded as one in Float32 would be.
struct JoinAddSingle {
  double operator()(double a, double b) const {
    return static_cast<float>(a + static_cast<float>(b));
  }
};
/// Adds a double to a number of Float32 and rounds once to Float32.
struct JoinAddFused {
  double operator()(double a, double b) const {
    return ref::c::mir_add_once(static_cast<float>(a), b);
  }
};

/// Calls `visit` with the function of a sum, whose accumulator is a W.
template <class W, class Visit>
void with_kind(SumKind kind, const Visit& visit) {
  if constexpr (std::is_same_v<W, double>) {
    if (kind.precision == SumPrecision::kSingle) return visit(JoinAddSingle{});
    if (kind.precision == SumPrecision::kFused) return visit(JoinAddFused{});
  }
  with_join(kind.sum, visit);
}

/// Accumulators of one group, one for each element that is computed side by side.
template <class W>
class Accumulators {
 public:
  Accumulators(SumKind kind, std::int64_t width)
      : kind_(kind),
        values_(static_cast<std::size_t>(width)),
        found_(static_cast<std::size_t>(width)) {}

  void open(std::int64_t count) {
    const int neutral = kind_.sum == LoopSum::kMul || kind_.sum == LoopSum::kAnd ? 1 : 0;
    std::fill_n(values_.begin(), count, static_cast<W>(neutral));
    std::fill_n(found_.begin(), count, has_neutral(kind_.sum));
  }
  void start(W value, std::int64_t count) {
    if constexpr (std::is_same_v<W, double>) {
      if (kind_.precision != SumPrecision::kWide) value = static_cast<float>(value);
    }
    std::fill_n(values_.begin(), count, value);
    std::fill_n(found_.begin(), count, true);
  }
  /// Joins numbers to one element, in their order.
  template <class T>
  void join(const T* numbers, std::int64_t step, std::int64_t count) {
    if (count == 0) return;
    W value = values_[0];
    std::int64_t i = 0;
    if (!found_[0]) {
      value = ref::load<T>(numbers[0]);
      i = 1;
    }
    with_kind<W>(kind_, [&](auto function) {
      for (; i < count; ++i) value = function(value, W{ref::load<T>(numbers[i * step])});
    });
    values_[0] = value;
    found_[0] = true;
  }
  /// Joins one number to each of some elements.
  template <class T>
  void join_each(const T* numbers, std::int64_t step, std::int64_t at, std::int64_t count) {
    W* values = values_.data() + at;
    std::uint8_t* found = found_.data() + at;
    if (!has_neutral(kind_.sum) && std::find(found, found + count, 0) != found + count) {
      for (std::int64_t i = 0; i < count; ++i) join_one(at + i, ref::load<T>(numbers[i * step]));
      return;
    }
    with_kind<W>(kind_, [&](auto function) {
      if (step == 1) {
        for (std::int64_t i = 0; i < count; ++i) {
          values[i] = function(values[i], W{ref::load<T>(numbers[i])});
        }
      } else {
        const W number = ref::load<T>(numbers[0]);
        for (std::int64_t i = 0; i < count; ++i) values[i] = function(values[i], number);
      }
    });
  }
  /// Joins what an inner group has found. Integers have wrapped in their type T before.
  template <class T>
  void join_group(const Accumulators& inner, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (inner.found_[at] != 0) join_one(i, ref::load<T>(ref::store<T>(inner.values_[at])));
    }
  }
  /// False for a maximum or a minimum over nothing.
  bool is_found(std::size_t element) const { return found_[element] != 0; }
  W value(std::size_t element) const { return values_[element]; }

 private:
  void join_one(std::int64_t element, W number) {
    const auto at = static_cast<std::size_t>(element);
    with_kind<W>(kind_, [&](auto function) {
      values_[at] = found_[at] != 0 ? function(values_[at], number) : number;
    });
    found_[at] = true;
  }

  SumKind kind_;
  std::vector<W> values_;
  std::vector<std::uint8_t> found_;
};

/// T is the type of what the region computes, R that of the result.
template <class T, class R>
class SumsOf final : public GenericSums {
 public:
  using W = ref::Wide<T>;

  SumsOf(std::span<const SumKind> groups, std::int64_t width, Tensor start,
         const ResultMemory& result)
      : start_(std::move(start)),
        out_(reinterpret_cast<R*>(result.data), static_cast<std::size_t>(result.elements)) {
    for (const SumKind each : groups) groups_.emplace_back(each, width);
  }

  void begin() override {
    if (start_.defined()) std::ranges::fill(out_, ref::store<R>(started()));
  }

  Result<void> take(StripValues values, std::span<const LoopEvent> events) override {
    const T* next = reinterpret_cast<const T*>(values.data);
    for (const LoopEvent& event : events) {
      switch (event.kind) {
        case LoopEvent::Kind::kOpen:
          open(event);
          continue;
        case LoopEvent::Kind::kClose:
          if (auto closed = close(event); !closed) return closed;
          continue;
        case LoopEvent::Kind::kJoin:
          groups_.back().join(next, values.step, event.count);
          break;
        case LoopEvent::Kind::kJoinEach:
          groups_.back().join_each(next, values.step, event.at, event.count);
          break;
        case LoopEvent::Kind::kStore:
          for (std::int64_t i = 0; i < event.count; ++i) {
            out_[static_cast<std::size_t>(event.at + i * event.step)] =
                ref::store<R>(ref::load<T>(next[i * values.step]));
          }
          break;
      }
      next += event.count * values.step;
    }
    return {};
  }

 private:
  /// The start as the region's type has it.
  W started() const { return ref::load<T>(start_.as<T>().front()); }

  void open(const LoopEvent& event) {
    groups_[event.group].open(event.count);
    if (event.group != 0) return;
    place_ = event;
    if (start_.defined()) groups_[0].start(started(), event.count);
  }

  Result<void> close(const LoopEvent& event) {
    const Accumulators<W>& done = groups_[event.group];
    if (event.group != 0) {
      groups_[event.group - 1].template join_group<T>(done, event.count);
      return {};
    }
    for (std::int64_t i = 0; i < event.count; ++i) {
      const auto element = static_cast<std::size_t>(place_.at + i * place_.step);
      const auto at = static_cast<std::size_t>(i);
      if (!done.is_found(at)) {
        return Error{
            diag::kKernelShape,
            fmt::format("element {} of a result is the largest or least of nothing", element)};
      }
      out_[element] = ref::store<R>(done.value(at));
    }
    return {};
  }

  std::vector<Accumulators<W>> groups_;
  Tensor start_;  // undefined if there is none
  std::span<R> out_;
  LoopEvent place_;  // of the open group 0
};

}  // namespace

Result<Tensor> start_number(const Attr* start, DType computed) {
  if (start == nullptr) return Tensor();
  const std::string_view truth = start->boolean() ? "1" : "0";
  return element_of(computed, start->kind() == AttrKind::kBool ? truth : start->spelling());
}

Result<std::unique_ptr<GenericSums>> make_generic_sums(std::span<const SumKind> groups,
                                                       std::int64_t width, const Attr* start,
                                                       DType computed, const ResultMemory& result) {
  const auto first = start_number(start, computed);
  if (!first) return first.error();
  std::unique_ptr<GenericSums> sums;
  const auto done = ref::with_number_or_bool(
      "generic", result.dtype, [&]<class R>(std::type_identity<R>) -> Result<void> {
        using T = std::conditional_t<ref::kIsFloating<R>, double, R>;
        sums = std::make_unique<SumsOf<T, R>>(groups, width, *first, result);
        return {};
      });
  if (!done) return done.error();
  return sums;
}

}  // namespace mir::eval

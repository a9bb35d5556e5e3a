// Estimates the memory of a schedule, where the storages of values live as StorageLife says.
#include "plan/memory.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "dialects/parameters.hpp"
#include "ir/call_types.hpp"
#include "ir/symbol_scopes.hpp"
#include "mir/control_flow.hpp"
#include "mir/module.hpp"
#include "passes/estimate/storage_life.hpp"

namespace mir {

std::optional<std::uint64_t> tensor_bytes(const Type* type, const DimTable& dims,
                                          const DimBindings& bindings) {
  const TensorType* tensor = held_type(type);
  if (tensor == nullptr || !tensor->dtype()) return std::nullopt;
  std::uint64_t elements = 1;
  for (const Dim dim : tensor->dims()) {
    const auto extent = dims.evaluate(dim, bindings);
    if (!extent || *extent < 0 ||
        __builtin_mul_overflow(elements, static_cast<std::uint64_t>(*extent), &elements)) {
      return std::nullopt;
    }
  }
  return storage_bytes(*tensor->dtype(), elements);
}

namespace {

/// Bytes of the values of a schedule for values of its symbols. See PeakWalk.
class NumericSizes {
 public:
  using Amount = std::uint64_t;
  using Peak = std::uint64_t;

  explicit NumericSizes(const Schedule& schedule) : dims_(schedule.module().context().dims()) {
    schedule.for_each([&](const Schedule& each) {
      for (const Call& call : each.calls()) {
        if (call.op != nullptr && call.graph != nullptr) callees_.emplace(call.op, call.graph);
      }
    });
  }

  /// No value if a size has none, or a sum overflows.
  std::optional<std::uint64_t> peak_of(const Region& graph, const DimBindings& bindings) {
    const std::uint64_t peak = in_graph(graph, bindings);
    return is_known_ ? std::optional(peak) : std::nullopt;
  }

  std::uint64_t bytes_of(const Value& value) {
    const auto bytes = tensor_bytes(value.type(), dims_, *bindings_);
    is_known_ = is_known_ && bytes.has_value();
    return bytes.value_or(0);
  }
  void add(std::uint64_t& sum, std::uint64_t more) {
    is_known_ = is_known_ && !__builtin_add_overflow(sum, more, &sum);
  }
  static void subtract(std::uint64_t& sum, std::uint64_t less) { sum -= less; }
  static void raise(std::uint64_t& peak, std::uint64_t alive) { peak = std::max(peak, alive); }
  void raise(std::uint64_t& peak, std::uint64_t inside, std::uint64_t alive) {
    add(inside, alive);
    raise(peak, inside);
  }

  std::optional<std::uint64_t> peak_of_call(const Op& op) {
    const auto found = callees_.find(&op);
    const Op* graph = found == callees_.end() ? called_graph(op) : found->second;
    if (graph == nullptr) return std::nullopt;
    const Region& body = *graph->first_region();
    if (!callee_of(op) || !CallTypes::are_own(op, *graph)) return in_graph(body, *bindings_);
    const DimBindings own = numbers_passed(op, *graph, *bindings_);
    // Another call may pass other extents.
    const auto known = std::exchange(peaks_, {});
    const std::uint64_t peak = in_graph(body, own);
    peaks_ = known;
    return peak;
  }
  template <class Walk>
  std::uint64_t peak_in(const Region& region, const Walk& walk) {
    const auto owned = symbols_owned_by(region);
    if (owned.empty()) return walk();
    const DimBindings visible = without(*bindings_, owned);
    const DimBindings* const around = std::exchange(bindings_, &visible);
    const auto known = std::exchange(peaks_, {});
    const std::uint64_t peak = walk();
    peaks_ = known;
    bindings_ = around;
    return peak;
  }

 private:
  std::uint64_t in_graph(const Region& graph, const DimBindings& bindings) {
    if (const auto known = peaks_.find(&graph); known != peaks_.end()) return known->second;
    const DimBindings* const around = std::exchange(bindings_, &bindings);
    const StorageLife life(graph);
    const std::uint64_t peak = PeakWalk(life, *this).peak_of(graph);
    bindings_ = around;
    return peaks_[&graph] = peak;
  }

  const DimTable& dims_;
  const DimBindings* bindings_ = nullptr;
  std::unordered_map<const Op*, const Op*> callees_;  // of calls, and of ops with bodies
  std::unordered_map<const Region*, std::uint64_t> peaks_;
  bool is_known_ = true;
};

/// Sums up the parts of an estimate.
class Estimator {
 public:
  Estimator(const Schedule& schedule, const DimBindings& bindings)
      : schedule_(schedule), bindings_(bindings) {}

  std::optional<MemoryEstimate> run() {
    for (const Value* parameter : schedule_.parameters()) {
      add(estimate_.parameters, bytes(*parameter));
    }
    for (const ScheduledValue& scheduled : schedule_.values()) {
      if (scheduled.role == ValueRole::kConstant) add(estimate_.constants, bytes(*scheduled.value));
      if (scheduled.role == ValueRole::kInput) add(estimate_.inputs, bytes(*scheduled.value));
    }
    for (const ValueIndex index : schedule_.outputs()) {
      add(estimate_.outputs, bytes(*schedule_.values()[index].value));
    }
    for (const Step& step : schedule_.steps()) visit(step);
    const auto activations = NumericSizes(schedule_).peak_of(schedule_.entry(), bindings_);
    known_ = known_ && activations.has_value();
    estimate_.activations = activations.value_or(0);
    for (const auto& [name, size] : caches_) add(estimate_.caches, size);
    std::uint64_t all = 0;  // peak() must not wrap
    for (const std::uint64_t part : {estimate_.parameters, estimate_.constants, estimate_.inputs,
                                     estimate_.caches, estimate_.caches, estimate_.activations}) {
      add(all, part);
    }
    return known_ ? std::optional(estimate_) : std::nullopt;
  }

 private:
  std::uint64_t bytes(const Value& value) {
    const auto size = tensor_bytes(value.type(), schedule_.module().context().dims(), bindings_);
    known_ = known_ && size.has_value();
    return size.value_or(0);
  }

  void add(std::uint64_t& sum, std::uint64_t size) {
    known_ = known_ && !__builtin_add_overflow(sum, size, &sum);
  }

  /// A step of a cache leaves this much in it.
  void visit(const Step& step) {
    const Symbol cache = cache_of(*step.op);
    if (!cache) return;
    std::uint64_t cached = 0;
    for (std::uint32_t i = 0; i < step.result_count; ++i) {
      const ValueIndex index = step.first_result + i;
      if (schedule_.values()[index].storage != index) continue;
      add(cached, bytes(*schedule_.values()[index].value));
    }
    caches_[cache] = cached;
  }

  const Schedule& schedule_;
  const DimBindings& bindings_;
  std::unordered_map<Symbol, std::uint64_t> caches_;
  MemoryEstimate estimate_;
  bool known_ = true;
};

}  // namespace

std::optional<MemoryEstimate> estimate_memory(const Schedule& schedule,
                                              const DimBindings& bindings) {
  return Estimator(schedule, bindings).run();
}

}  // namespace mir

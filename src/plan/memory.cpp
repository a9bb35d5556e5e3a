// Estimates peak memory by following the lifetime of every storage through the steps.
#include "plan/memory.hpp"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "dialects/parameters.hpp"
#include "eval/evaluate.hpp"
#include "mir/module.hpp"

namespace mir {

std::optional<std::uint64_t> tensor_bytes(const Type* type, const DimTable& dims,
                                          const DimBindings& bindings) {
  const auto* tensor = dyn_cast<TensorType>(type);
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

/// Follows the life of every storage through the steps.
class Estimator {
 public:
  Estimator(const Schedule& schedule, const DimBindings& bindings)
      : schedule_(schedule), bindings_(bindings), readers_(schedule.values().size(), 0) {}

  std::optional<MemoryEstimate> run() {
    for (const Value* parameter : schedule_.parameters()) {
      add(estimate_.parameters, bytes(*parameter));
    }
    for (const ScheduledValue& scheduled : schedule_.values()) {
      if (scheduled.role == ValueRole::kConstant) add(estimate_.constants, bytes(*scheduled.value));
      if (scheduled.role == ValueRole::kInput) add(estimate_.inputs, bytes(*scheduled.value));
      ++readers_[scheduled.storage];
    }
    for (const ValueIndex index : schedule_.outputs()) {
      add(estimate_.outputs, bytes(*schedule_.values()[index].value));
    }
    for (const Step& step : schedule_.steps()) visit(step);
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

  void visit(const Step& step) {
    const Symbol cache = cache_of(*step.op);
    std::uint64_t cached = 0;
    for (std::uint32_t i = 0; i < step.result_count; ++i) {
      const ValueIndex index = step.first_result + i;
      if (schedule_.values()[index].storage != index) continue;
      const std::uint64_t size = bytes(*schedule_.values()[index].value);
      if (cache) {
        add(cached, size);
      } else {
        sizes_[index] = size;
        add(alive_, size);
      }
    }
    if (cache) caches_[cache] = cached;
    estimate_.activations = std::max(estimate_.activations, alive_);
    for (const ValueIndex index : schedule_.releases(step)) {
      const ValueIndex storage = schedule_.values()[index].storage;
      if (--readers_[storage] > 0) continue;
      const auto found = sizes_.find(storage);
      if (found != sizes_.end()) alive_ -= found->second;
    }
  }

  const Schedule& schedule_;
  const DimBindings& bindings_;
  std::vector<std::uint32_t> readers_;  // values that still hold a storage
  std::unordered_map<ValueIndex, std::uint64_t> sizes_;
  std::unordered_map<Symbol, std::uint64_t> caches_;
  MemoryEstimate estimate_;
  std::uint64_t alive_ = 0;
  bool known_ = true;
};

}  // namespace

std::optional<MemoryEstimate> estimate_memory(const Schedule& schedule,
                                              const DimBindings& bindings) {
  return Estimator(schedule, bindings).run();
}

}  // namespace mir

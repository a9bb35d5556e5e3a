// Iterations of a generic op one by one: places and conditions that are no forms of the innermost
// loop, such as quotients, remainders and indices that data decides.
#include <algorithm>

#include "kernels/ref/common/dispatch.hpp"
#include "plan/generic_worker.hpp"

namespace mir {

namespace {

/// Keeps the numbers at some positions.
void keep_only(std::span<const std::size_t> kept, std::vector<std::int64_t>& numbers) {
  for (std::size_t i = 0; i < kept.size(); ++i) numbers[i] = numbers[kept[i]];
}

}  // namespace

bool GenericWorker::walk_by_element(Iterations part) {
  const std::size_t inner = loops_.order.back();
  std::vector<std::int64_t>& at_inner = lists_[inner];
  for (; !part.is_empty(); part.first += kWidth) {
    auto count = static_cast<std::size_t>(std::min(part.count(), kWidth));
    if (filled_ + static_cast<std::int64_t>(count) > kWidth && !flush()) return false;
    at_inner.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      at_inner[i] = part.first + static_cast<std::int64_t>(i);
    }
    lists_of_names_[inner] = at_inner.data();
    if (!read_indices_by_element(count) || !admit_elements(count)) return false;
    if (count == 0) continue;
    at_.resize(count);
    Event event{.kind = Event::Kind::kJoin, .count = static_cast<std::int64_t>(count)};
    if (loops_.groups.empty()) {
      event.kind = Event::Kind::kStore;
      if (!places(loops_.result, at_)) return false;
      for (const std::int64_t to : at_) {
        if (!shared_.written.empty() && !mark(to)) return false;
      }
      to_.insert(to_.end(), at_.begin(), at_.end());
    }
    for (const GenericLoops::Access& access : loops_.operands) {
      if (!places(access, at_)) return false;
      if (way_ == Way::kCopy) {
        for (std::size_t i = 0; i < count; ++i) {
          if (!copy({at_[i], 0}, {to_[i], 0}, 1)) return false;
        }
        to_.clear();
        continue;
      }
      if (filled_ == 0) strip_.set_step(access.tensor, 1);
      if (!gather_each(access, at_)) return false;
    }
    if (way_ == Way::kCopy) continue;
    filled_ += event.count;
    if (!note(event)) return false;
  }
  return true;
}

bool GenericWorker::read_indices_by_element(std::size_t count) {
  at_.resize(count);
  for (std::size_t i = 0; i < loops_.indices.size(); ++i) {
    const std::size_t name = loops_.loop_count + i;
    lists_of_names_[name] = nullptr;
    if (!places(loops_.indices[i], at_)) return false;
    lists_[name].resize(count);
    const TensorRef& tensor = shared_.operands[loops_.indices[i].tensor];
    const auto read =
        ref::with_number("generic", tensor.dtype, [&]<class T>(std::type_identity<T>) {
          const T* from = reinterpret_cast<const T*>(tensor.data);
          for (std::size_t k = 0; k < count; ++k) {
            lists_[name][k] = static_cast<std::int64_t>(ref::load<T>(from[at_[k]]));
          }
          return Result<void>();
        });
    if (!read) return false;
    lists_of_names_[name] = lists_[name].data();
  }
  return true;
}

/// Removes iterations for which a condition does not hold from all lists.
bool GenericWorker::admit_elements(std::size_t& count) {
  std::vector<std::int64_t> margins(count);
  std::vector<std::uint8_t> is_admitted(count, 1);
  const auto require_margins = [&](bool is_equal) {
    for (std::size_t i = 0; i < count; ++i) {
      is_admitted[i] &= static_cast<std::uint8_t>(is_equal ? margins[i] == 0 : margins[i] >= 0);
    }
  };
  const std::vector<std::int64_t>& at_inner = lists_[loops_.order.back()];
  for (const GenericLoops::FormCondition& each : loops_.form_conditions) {
    const std::int64_t step = inner_step(each.form);
    for (std::size_t i = 0; i < count; ++i) margins[i] = now_[each.form] + step * at_inner[i];
    require_margins(each.is_equal);
  }
  for (const GenericLoops::Condition& each : loops_.conditions) {
    if (!each.margin.values(values_, lists_of_names_, margins)) return false;
    require_margins(each.is_equal);
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_admitted[i] != 0) kept.push_back(i);
  }
  if (kept.size() == count) return true;
  for (std::size_t name = 0; name < lists_of_names_.size(); ++name) {
    if (lists_of_names_[name] != nullptr) keep_only(kept, lists_[name]);
  }
  count = kept.size();
  return true;
}

/// The place of each iteration, which the lists have.
bool GenericWorker::places(const GenericLoops::Access& access, std::span<std::int64_t> out) {
  const std::vector<std::int64_t>& at_inner = lists_[loops_.order.back()];
  for (const GenericLoops::Check& check : access.checks) {
    const std::int64_t step = inner_step(check.form);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::int64_t at = now_[check.form] + step * at_inner[i];
      if (at < 0 || at >= check.extent) return false;
    }
  }
  const std::int64_t step = inner_step(access.offset);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = now_[access.offset] + step * at_inner[i];
  std::vector<std::int64_t> index(access.rest.empty() ? 0 : out.size());
  for (const GenericLoops::Rest& each : access.rest) {
    if (!each.index.values(values_, lists_of_names_, index)) return false;
    bool is_outside = false;
    for (std::size_t i = 0; i < out.size(); ++i) {
      is_outside |= index[i] < 0 || index[i] >= each.extent;
      out[i] += index[i] * each.stride;
    }
    if (is_outside) return false;
  }
  return true;
}

bool GenericWorker::gather_each(const GenericLoops::Access& access,
                                std::span<const std::int64_t> at) {
  const TensorRef& tensor = shared_.operands[access.tensor];
  const auto done = ref::with_number_or_bool(
      "generic", tensor.dtype, [&]<class T>(std::type_identity<T>) -> Result<void> {
        using Number = std::conditional_t<ref::kIsFloating<T>, double, T>;
        const T* in = reinterpret_cast<const T*>(tensor.data);
        Number* out = reinterpret_cast<Number*>(strip_.argument(access.tensor)) + filled_;
        for (std::size_t i = 0; i < at.size(); ++i) {
          if constexpr (ref::kIsFloating<T>) {
            out[i] = ref::load<T>(in[at[i]]);
          } else {
            out[i] = in[at[i]];
          }
        }
        return {};
      });
  return done.ok();
}

}  // namespace mir

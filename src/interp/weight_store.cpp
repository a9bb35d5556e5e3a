// Makes parameters when steps need them, and keeps or releases their tensors within a limit.
#include "interp/weight_store.hpp"

#include <algorithm>

#include "support/platform/mapped_file.hpp"

namespace mir {

WeightStore::~WeightStore() {
  // Other stores of the pool may live on; a store that was moved from has no pool.
  if (pool_ != nullptr) release_all();
}

void WeightStore::add(Symbol parameter, DType dtype, Shape shape, Weight weight) {
  note_mapping(parameter, weight);
  entries_.emplace(parameter,
                   Entry{std::make_shared<Shared>(dtype, std::move(shape), std::move(weight))});
}

void WeightStore::note_mapping(Symbol parameter, const Weight& weight) {
  const auto mapping = guarded_mapping(weight.stored().bytes());
  const bool is_known = std::ranges::any_of(
      mappings_, [&](const auto& known) { return known.first.data() == mapping.data(); });
  if (!mapping.empty() && !is_known) mappings_.emplace_back(mapping, parameter);
}

bool WeightStore::share(const WeightStore& other, Symbol parameter, DType dtype,
                        const Shape& shape) {
  const auto found = other.entries_.find(parameter);
  if (found == other.entries_.end()) return false;
  const auto& shared = found->second.shared;
  if (shared->dtype != dtype || shared->shape != shape) return false;
  note_mapping(parameter, shared->weight);
  entries_.emplace(parameter, Entry{shared});
  return true;
}

void WeightStore::add_alias(Symbol parameter, Symbol of) {
  entries_.emplace(parameter, Entry{entries_.at(of).shared});
}

Result<void> WeightStore::acquire(Symbol parameter) {
  Entry& entry = entries_.at(parameter);
  if (entry.acquired++ > 0) return {};
  Shared& shared = *entry.shared;
  const std::lock_guard lock(pool_->mutex);
  if (!shared.tensor.defined()) {
    auto tensor = shared.weight.tensor();
    if (!tensor) {
      entry.acquired = 0;
      return std::move(tensor).error();
    }
    // The stored form is not read again, or comes from the file again.
    if (shared.weight.is_made()) forget_pages(shared.weight.stored().bytes());
    const std::uint64_t bytes = tensor->bytes().size();
    if (shared.weight.is_made() && bytes <= pool_->limit - std::min(pool_->kept, pool_->limit)) {
      shared.stays = true;
      pool_->kept += bytes;
    }
    shared.tensor = *std::move(tensor);
  }
  ++shared.users;
  table_.emplace(parameter, shared.tensor);
  return {};
}

void WeightStore::release(Symbol parameter, bool for_good) {
  Entry& entry = entries_.at(parameter);
  if (--entry.acquired > 0) return;
  table_.erase(parameter);
  Shared& shared = *entry.shared;
  const std::lock_guard lock(pool_->mutex);
  if (for_good && shared.stays) {
    shared.stays = false;
    pool_->kept -= shared.tensor.bytes().size();
  }
  if (--shared.users == 0 && !shared.stays) shared.tensor = Tensor();
}

Result<void> WeightStore::acquire(std::span<const Symbol> parameters) {
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (auto done = acquire(parameters[i]); !done) {
      release(parameters.first(i), false);
      return done;
    }
  }
  return {};
}

void WeightStore::release(std::span<const Symbol> parameters, bool for_good) {
  for (const Symbol parameter : parameters) release(parameter, for_good);
}

void WeightStore::try_acquire_all_but(const std::unordered_set<Symbol>& left_out) {
  for (const auto& [parameter, entry] : entries_) {
    if (left_out.contains(parameter)) continue;
    if (!acquire(parameter)) continue;  // for the step that reads it to report
  }
}

void WeightStore::release_all() {
  for (auto& [parameter, entry] : entries_) {
    if (entry.acquired == 0) continue;
    entry.acquired = 1;
    release(parameter, false);
  }
}

std::optional<WeightOrigin> WeightStore::origin(Symbol parameter) const {
  const auto found = entries_.find(parameter);
  if (found == entries_.end()) return std::nullopt;
  const Shared& shared = *found->second.shared;
  const Tensor& stored = shared.weight.stored();
  const auto elements = element_count(shared.shape);
  if (!stored.defined() || !elements) return std::nullopt;
  return WeightOrigin{.stored = stored, .dtype = shared.dtype, .elements = *elements};
}

std::uint64_t WeightStore::stated_bytes(Symbol parameter) const {
  const Shared& shared = *entries_.at(parameter).shared;
  const auto elements = element_count(shared.shape);
  return elements ? storage_bytes(shared.dtype, static_cast<std::uint64_t>(*elements)).value_or(0)
                  : 0;
}

std::uint64_t WeightStore::stated_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [parameter, entry] : entries_) bytes += stated_bytes(parameter);
  return bytes;
}

std::uint64_t WeightStore::made_bytes() const {
  const std::lock_guard lock(pool_->mutex);
  std::uint64_t bytes = 0;
  std::unordered_set<const Shared*> counted;  // parameters may share a tensor
  for (const auto& [parameter, entry] : entries_) {
    const bool is_new = entry.shared->weight.is_made() && counted.insert(entry.shared.get()).second;
    if (is_new) bytes += entry.shared->tensor.bytes().size();
  }
  return bytes;
}

Symbol WeightStore::in_shortened_file() const {
  for (const auto& [mapping, parameter] : mappings_) {
    if (lies_in_shortened_file(mapping)) return parameter;
  }
  return {};
}

}  // namespace mir

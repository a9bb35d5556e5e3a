// Computes extents and strides of planned values, and places them in memory phase by phase.
#include "plan/plan_storage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "mir/codes/limits.hpp"
#include "mir/codes/runs.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/module.hpp"
#include "plan/layout.hpp"
#include "support/last_uses.hpp"

namespace mir {

namespace {

constexpr std::uint32_t kNoPlace = static_cast<std::uint32_t>(-1);

bool is_laid_out_alike(const PlanParts& parts, PlanValueIndex a, PlanValueIndex b) {
  const PlanValue &x = parts.values[a], &y = parts.values[b];
  return x.dtype == y.dtype && x.memory == y.memory &&
         std::ranges::equal(parts.dims_of(x), parts.dims_of(y));
}

/// The place of an operand that the node writes its result to.
std::optional<std::uint32_t> overwritten_place(const PlanParts& parts, std::uint32_t node,
                                               std::span<const std::uint32_t> place_of,
                                               const LastUses& readers) {
  const auto& operands = parts.nodes[node]->operands();
  if (parts.nodes[node]->results().size() != 1) return std::nullopt;
  const PlanValueIndex result = parts.nodes[node]->results().front();
  if (parts.values[result].home != Home::kOwn) return std::nullopt;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const PlanValueIndex owner = parts.owner_of(operands[i]);
    const std::uint16_t phase = parts.values[result].phase;
    const auto has_place = [&](PlanValueIndex index) {
      const PlanValueIndex other = parts.owner_of(index);
      return parts.values[other].phase == phase && place_of[other] == place_of[owner];
    };
    const bool may = parts.nodes[node]->may_overwrite(i) &&
                     parts.values[owner].home == Home::kOwn && readers.of(owner) == node &&
                     parts.values[owner].phase == phase &&
                     is_laid_out_alike(parts, operands[i], result) &&
                     std::ranges::count_if(operands, has_place) == 1;
    if (may) return place_of[owner];
  }
  return std::nullopt;
}

}  // namespace

PlanStorage::PlanStorage(const Schedule& schedule, const PlanParts& parts, bool overwrites)
    : schedule_(schedule), phases_(parts.phase_steps.size() + 1) {
  if (!parts.has_planned_values()) return;
  tensors_.resize(parts.values.size());
  collect_dims(parts);
  find_lifetimes(parts, overwrites);
}

Result<void> PlanStorage::bind(const PlanParts& parts, std::span<const Tensor> fixed,
                               const DimBindings& bindings, std::uint16_t number) {
  Phase& phase = phases_[number];
  if (number == 0) planned_ = 0;
  const auto is_other = evaluate_dims(phase, bindings);
  if (!is_other || *is_other || bound_ <= number) {
    bound_ = std::min<std::size_t>(bound_, number);
    if (!is_other) return is_other.error();
    if (auto ok = set_extents(parts, number); !ok) return ok;
    if (auto ok = place_values(phase); !ok) return ok;
    set_addresses(parts, fixed, number);
    bound_ = number + std::size_t{1};
  }
  planned_ += phase.planned;
  return {};
}

std::uint64_t PlanStorage::lower_bound() const {
  std::uint64_t bytes = 0;
  for (const Phase& phase : phases_) bytes += most_alive(phase.placements.values());
  return bytes;
}

/// An extent is known in the first phase that has it.
void PlanStorage::collect_dims(const PlanParts& parts) {
  std::map<std::pair<const DimExpr*, std::int64_t>, std::uint32_t> numbers;
  std::vector<std::uint16_t> phase_of;
  dim_of_.resize(parts.dims.size());
  for (PlanValueIndex index = 0; index < parts.values.size(); ++index) {
    const PlanValue& value = parts.values[index];
    if (!value.is_planned) continue;
    phases_[value.phase].values.push_back(index);
    for (std::uint32_t at = value.first_dim; at < value.first_dim + value.rank; ++at) {
      const Dim dim = parts.dims[at];
      const auto key = std::pair(dim.expr(), dim.is_constant() ? dim.constant() : 0);
      const auto [found, is_new] =
          numbers.try_emplace(key, static_cast<std::uint32_t>(dims_.size()));
      if (is_new) {
        dims_.push_back(dim);
        phase_of.push_back(value.phase);
      }
      dim_of_[at] = found->second;
      phase_of[found->second] = std::min(phase_of[found->second], value.phase);
    }
  }
  for (std::uint32_t dim = 0; dim < dims_.size(); ++dim) {
    phases_[phase_of[dim]].dims.push_back(dim);
  }
  extents_.resize(dims_.size());
}

Lifetime& PlanStorage::place(const PlanParts& parts, PlanValueIndex owner) {
  return phases_[parts.values[owner].phase].placements.values()[place_of_[owner]];
}

/// A place is alive from the node that writes it to the last node that reads it or a view of it.
/// Values inside fused nodes need no place. A result may take over the place of an operand that
/// ends there.
void PlanStorage::find_lifetimes(const PlanParts& parts, bool overwrites) {
  LastUses readers;  // of what has the place
  const auto end = static_cast<std::uint32_t>(parts.nodes.size());
  for (std::uint32_t node = 0; node < end; ++node) {
    for (const PlanValueIndex index : parts.nodes[node]->operands())
      readers.use(parts.owner_of(index), node);
  }
  for (const ValueIndex index : schedule_.outputs()) readers.keep(parts.owner_of(index));
  place_of_.assign(parts.values.size(), kNoPlace);
  const auto touch = [&](PlanValueIndex index, std::uint32_t node) {
    const PlanValueIndex owner = parts.owner_of(index);
    if (parts.values[owner].home != Home::kOwn) return;
    if (place_of_[owner] == kNoPlace) {
      Placements& placements = phases_[parts.values[owner].phase].placements;
      place_of_[owner] = static_cast<std::uint32_t>(placements.values().size());
      placements.add({.first = node, .last = node});
    }
    place(parts, owner).last = node;
  };
  for (std::uint32_t node = 0; node < end; ++node) {
    for (const PlanValueIndex index : parts.nodes[node]->operands()) touch(index, node);
    if (const auto place =
            overwrites ? overwritten_place(parts, node, place_of_, readers) : std::nullopt) {
      place_of_[parts.nodes[node]->results().front()] = *place;
    }
    for (const PlanValueIndex index : parts.nodes[node]->results()) touch(index, node);
  }
  for (const ValueIndex index : schedule_.outputs()) touch(index, end);
  keep_for_observers(parts);
}

/// Who observes a run is shown each step before a later one is computed. No node makes a view, so
/// without this the place of a view that nothing reads could hold another value by then.
void PlanStorage::keep_for_observers(const PlanParts& parts) {
  std::uint32_t computed = 0;
  for (std::uint32_t step = 0; step < schedule_.steps().size(); ++step) {
    while (computed < parts.nodes.size() && parts.nodes[computed]->step() <= step) ++computed;
    const Step& shown = schedule_.steps()[step];
    for (std::uint32_t i = 0; i < shown.result_count && computed != 0; ++i) {
      const PlanValue& value = parts.values[shown.first_result + i];
      if (value.home != Home::kView || place_of_[value.base] == kNoPlace) continue;
      std::uint32_t& last = place(parts, value.base).last;
      last = std::max(last, computed - 1);
    }
  }
}

Result<bool> PlanStorage::evaluate_dims(const Phase& phase, const DimBindings& bindings) {
  const DimTable& table = schedule_.module().context().dims();
  bool is_other = false;
  for (const std::uint32_t dim : phase.dims) {
    const auto value = table.evaluate(dims_[dim], bindings);
    if (!value || *value < 0) {
      return Error{diag::kNotExecutable,
                   fmt::format("extent {} has no value", table.print(dims_[dim]))};
    }
    is_other = is_other || extents_[dim] != *value;
    extents_[dim] = *value;
  }
  return is_other;
}

Result<void> PlanStorage::set_extents(const PlanParts& parts, std::uint16_t number) {
  refused_.reset();
  for (const PlanValueIndex index : phases_[number].values) {
    const PlanValue& value = parts.values[index];
    std::byte* const data = tensors_[index].data;
    TensorRef& tensor = tensors_[index];
    tensor = lay_out(value, [&](std::size_t i) { return extents_[dim_of_[value.first_dim + i]]; });
    tensor.data = data;
    auto bytes = bytes_of(tensor);
    if (info(tensor.dtype).lanes != 1 || !bytes || *bytes > Tensor::kMaxBytes) {
      // Allocates, so only where a tensor may be impossible.
      const auto checked =
          tensor_bytes(tensor.dtype, {tensor.shape().begin(), tensor.shape().end()});
      if (!checked) {
        refused_ = index;
        return checked.error();
      }
      bytes = *checked;
    }
    if (place_of_[index] != kNoPlace) place(parts, index).size = *bytes;
  }
  for (const PlanValueIndex index : phases_[number].values) {
    const PlanValue& value = parts.values[index];
    if (value.home != Home::kView) continue;
    if (tensors_[index].elements() != tensors_[value.base].elements()) {
      refused_ = index;
      return Error{diag::kShapeMismatch, fmt::format("a view of [{}] has extents [{}]",
                                                     fmt::join(tensors_[value.base].shape(), ", "),
                                                     fmt::join(tensors_[index].shape(), ", "))};
    }
  }
  return {};
}

Result<void> PlanStorage::place_values(Phase& phase) {
  phase.planned = phase.placements.place();
  if (phase.block.size() < phase.planned) {
    phase.block = fast::LargePages();
    phase.block = fast::LargePages(phase.planned);
    if (phase.block.size() < phase.planned) {
      return Error{diag::kLimitExceeded,
                   fmt::format("no memory for values of {} bytes", phase.planned)};
    }
  }
  return {};
}

void PlanStorage::set_addresses(const PlanParts& parts, std::span<const Tensor> fixed,
                                std::uint16_t number) {
  for (const PlanValueIndex index : phases_[number].values) {
    const PlanValue& value = parts.values[index];
    if (place_of_[index] != kNoPlace) {
      tensors_[index].data = phases_[number].block.data() + place(parts, index).offset;
    }
    // Kernels only read what is not their result.
    if (value.home == Home::kConstant || value.home == Home::kParameter) {
      tensors_[index].data = const_cast<std::byte*>(fixed[index].bytes().data());
    }
  }
  // Views of phase 0 are set with the inputs.
  if (number != 0) set_views(parts, number);
}

void PlanStorage::set_views(const PlanParts& parts, std::uint16_t number) {
  for (const PlanValueIndex index : phases_[number].values) {
    const PlanValue& value = parts.values[index];
    if (value.home != Home::kView) continue;
    tensors_[index].data = tensors_[value.base].data;
  }
}

void PlanStorage::set_inputs(const PlanParts& parts, std::span<const Tensor> inputs) {
  for (std::size_t i = 0; i < inputs.size() && !tensors_.empty(); ++i) {
    tensors_[schedule_.inputs()[i]].data = const_cast<std::byte*>(inputs[i].bytes().data());
  }
  set_views(parts, 0);
}

}  // namespace mir

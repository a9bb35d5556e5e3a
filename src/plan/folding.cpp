#include "plan/folding.hpp"

#include <algorithm>

#include "mir/module.hpp"
#include "plan/layout.hpp"

namespace mir {

namespace {

class Folder {
 public:
  Folder(PlanParts& parts, std::vector<Tensor>& fixed, const Schedule& schedule,
         const PlanOptions& options, const PlanResources& resources)
      : parts_(parts),
        fixed_(fixed),
        schedule_(schedule),
        limit_(options.folded_bytes),
        tensors_(parts.values.size()),
        whole_(parts.values.size(), nullptr),
        binder_(schedule.module().context(), {}),
        environment_{.parameters = &resources.parameters->table(),
                     .dims = &binder_.bindings(),
                     .quantisations = resources.quantisations},
        frame_{.values = parts.values,
               .tensors = tensors_,
               .whole = whole_,
               .made = {},
               .context = *resources.context,
               .environment = environment_,
               .binder = binder_} {
    for (PlanSlot slot = 0; slot < tensors_.size(); ++slot) {
      if (parts.values[slot].is_planned) set(slot, fixed[slot]);
    }
  }

  FoldedNodes run() {
    std::vector<std::unique_ptr<PlanNode>> others;
    for (auto& node : parts_.nodes) {
      if (!fold(*node)) others.push_back(std::move(node));
    }
    folded_.nodes = parts_.nodes.size() - others.size();
    parts_.nodes = std::move(others);
    release_unread();
    return folded_;
  }

 private:
  bool has_constant_extents(const PlanValue& value) const {
    return value.is_planned &&
           std::ranges::all_of(parts_.dims_of(value), [](Dim dim) { return dim.is_constant(); });
  }

  TensorRef layout_of(PlanSlot slot) const {
    const PlanValue& value = parts_.values[slot];
    return lay_out(value,
                   [&](std::size_t i) { return parts_.dims[value.first_dim + i].constant(); });
  }

  void set(PlanSlot slot, const Tensor& tensor) {
    if (!tensor.defined() || !has_constant_extents(parts_.values[slot])) return;
    tensors_[slot] = layout_of(slot);
    tensors_[slot].data = const_cast<std::byte*>(tensor.bytes().data());
    known_.insert(slot);
  }

  /// Gives a view of a known value its place.
  bool is_known(PlanSlot slot) {
    const PlanSlot owner = parts_.owner_of(slot);
    if (!known_.contains(owner)) return false;
    if (owner == slot) return true;
    if (!has_constant_extents(parts_.values[slot])) return false;
    tensors_[slot] = layout_of(slot);
    tensors_[slot].data = tensors_[owner].data;
    return tensors_[slot].elements() == tensors_[owner].elements();
  }

  bool fold(const PlanNode& node) {
    const auto is_own = [&](PlanSlot slot) {
      const PlanValue& value = parts_.values[slot];
      return value.home == Home::kOwn && has_constant_extents(value);
    };
    const bool may =
        !cache_of(*schedule_.steps()[node.step()].op) &&
        std::ranges::all_of(node.operands(), [&](auto slot) { return is_known(slot); }) &&
        std::ranges::all_of(node.results(), is_own);
    if (!may) return false;
    std::uint64_t bytes = 0;
    std::vector<Tensor> made;
    for (const PlanSlot slot : node.results()) {
      tensors_[slot] = layout_of(slot);
      const auto shape = tensors_[slot].shape();
      const auto size = bytes_of(tensors_[slot]);
      if (!size || *size > limit_ - std::min(limit_, folded_.bytes + bytes)) return false;
      bytes += *size;
      // In its own order: only the number of bytes counts.
      auto tensor = Tensor::allocate(tensors_[slot].dtype, Shape(shape.begin(), shape.end()));
      if (!tensor) return false;
      tensors_[slot].data = tensor->mutable_bytes();
      made.push_back(*std::move(tensor));
    }
    if (!node.run(frame_)) return false;
    folded_.bytes += bytes;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const PlanSlot slot = node.results()[i];
      parts_.values[slot].home = Home::kConstant;
      fixed_[slot] = std::move(made[i]);
      known_.insert(slot);
      results_.push_back(slot);
    }
    return true;
  }

  /// What only folded nodes read is done with.
  void release_unread() {
    std::set<PlanSlot> read;
    for (const auto& node : parts_.nodes) {
      for (const PlanSlot slot : node->operands()) read.insert(parts_.owner_of(slot));
    }
    for (const SlotIndex slot : schedule_.outputs()) read.insert(parts_.owner_of(slot));
    for (const PlanSlot slot : results_) {
      if (read.contains(slot)) continue;
      folded_.bytes -= fixed_[slot].bytes().size();
      fixed_[slot] = Tensor();
    }
  }

  PlanParts& parts_;
  std::vector<Tensor>& fixed_;
  const Schedule& schedule_;
  std::uint64_t limit_;
  std::vector<TensorRef> tensors_;
  std::set<PlanSlot> known_;
  std::vector<PlanSlot> results_;     // of folded nodes
  std::vector<const Tensor*> whole_;  // none: operands are copied
  Binder binder_;
  EvalEnvironment environment_;
  Frame frame_;
  FoldedNodes folded_;
};

}  // namespace

FoldedNodes fold_constants(PlanParts& parts, std::vector<Tensor>& fixed, const Schedule& schedule,
                           const PlanOptions& options, const PlanResources& resources) {
  return Folder(parts, fixed, schedule, options, resources).run();
}

}  // namespace mir

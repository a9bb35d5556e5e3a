// Runs the nodes that depend on constants only when a plan is made, and keeps their results.
#include "plan/folding.hpp"

#include <algorithm>

#include "dialects/parameters.hpp"
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
    for (PlanValueIndex index = 0; index < tensors_.size(); ++index) {
      if (parts.values[index].is_planned) set(index, fixed[index]);
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

  TensorRef layout_of(PlanValueIndex index) const {
    const PlanValue& value = parts_.values[index];
    return lay_out(value,
                   [&](std::size_t i) { return parts_.dims[value.first_dim + i].constant(); });
  }

  void set(PlanValueIndex index, const Tensor& tensor) {
    if (!tensor.defined() || !has_constant_extents(parts_.values[index])) return;
    tensors_[index] = layout_of(index);
    tensors_[index].data = const_cast<std::byte*>(tensor.bytes().data());
    known_.insert(index);
  }

  /// Gives a view of a known value its place.
  bool is_known(PlanValueIndex index) {
    const PlanValueIndex owner = parts_.owner_of(index);
    if (!known_.contains(owner)) return false;
    if (owner == index) return true;
    if (!has_constant_extents(parts_.values[index])) return false;
    tensors_[index] = layout_of(index);
    tensors_[index].data = tensors_[owner].data;
    return tensors_[index].elements() == tensors_[owner].elements();
  }

  bool fold(const PlanNode& node) {
    const auto is_own = [&](PlanValueIndex index) {
      const PlanValue& value = parts_.values[index];
      return value.home == Home::kOwn && has_constant_extents(value);
    };
    const bool may =
        !cache_of(*schedule_.steps()[node.step()].op) &&
        schedule_.control(node.step()) == nullptr &&
        std::ranges::all_of(node.operands(), [&](auto index) { return is_known(index); }) &&
        std::ranges::all_of(node.results(), is_own);
    if (!may) return false;
    std::uint64_t bytes = 0;
    std::vector<Tensor> made;
    for (const PlanValueIndex index : node.results()) {
      tensors_[index] = layout_of(index);
      const auto shape = tensors_[index].shape();
      const auto size = bytes_of(tensors_[index]);
      if (!size || *size > limit_ - std::min(limit_, folded_.bytes + bytes)) return false;
      bytes += *size;
      // In its own order: only the number of bytes counts.
      auto tensor = Tensor::allocate(tensors_[index].dtype, Shape(shape.begin(), shape.end()));
      if (!tensor) return false;
      tensors_[index].data = tensor->mutable_bytes();
      made.push_back(*std::move(tensor));
    }
    if (!node.run(frame_)) return false;
    folded_.bytes += bytes;
    for (std::size_t i = 0; i < made.size(); ++i) {
      const PlanValueIndex index = node.results()[i];
      parts_.values[index].home = Home::kConstant;
      fixed_[index] = std::move(made[i]);
      known_.insert(index);
      results_.push_back(index);
    }
    return true;
  }

  /// Releases values that only folded nodes read.
  void release_unread() {
    std::set<PlanValueIndex> read;
    for (const auto& node : parts_.nodes) {
      for (const PlanValueIndex index : node->operands()) read.insert(parts_.owner_of(index));
    }
    for (const ValueIndex index : schedule_.outputs()) read.insert(parts_.owner_of(index));
    for (const PlanValueIndex index : results_) {
      if (read.contains(index)) continue;
      folded_.bytes -= fixed_[index].bytes().size();
      fixed_[index] = Tensor();
    }
  }

  PlanParts& parts_;
  std::vector<Tensor>& fixed_;
  const Schedule& schedule_;
  std::uint64_t limit_;
  std::vector<TensorRef> tensors_;
  std::set<PlanValueIndex> known_;
  std::vector<PlanValueIndex> results_;  // of folded nodes
  std::vector<const Tensor*> whole_;     // none: operands are copied
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

// Finds ops whose bodies have state or weights that the declarations do not list.
#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "declare/reader.hpp"
#include "dialects/parameters.hpp"
#include "mir/module.hpp"
#include "mir/walk.hpp"

namespace mir::declare {

namespace {

/// Stands for state whose name an op alone does not tell.
constexpr std::string_view kManyStates = "*";

class LayerFinder {
 public:
  LayerFinder(std::span<OpDraft> drafts, std::string_view dialect, bool device_in_path)
      : drafts_(drafts), dialect_(dialect), device_in_path_(device_in_path) {
    for (const OpDraft& each : drafts) {
      by_name_.emplace(each.spec.row.name, &each);
      for (const std::string_view alias : each.spec.aliases) by_name_.emplace(alias, &each);
    }
  }

  /// Adds what the ops in bodies have until nothing is new.
  void run() {
    for (bool has_changed = true; has_changed;) {
      has_changed = false;
      for (OpDraft& draft : drafts_) has_changed = add_from_bodies(draft) || has_changed;
    }
  }

 private:
  bool add_from_bodies(OpDraft& draft) {
    const std::size_t states = draft.state.size();
    const bool was_layer = draft.declared->is_layer;
    for (const Region* region = draft.op->first_region(); region != nullptr;
         region = region->next()) {
      for_each_op(*region, [&](const Op& op) { add_from(op, draft); });
    }
    if (!draft.state.empty()) draft.declared->is_layer = true;
    return draft.state.size() != states || draft.declared->is_layer != was_layer;
  }

  void add_from(const Op& op, OpDraft& draft) {
    const OpDraft* const own = draft_of(op);
    if (own == nullptr && op.row() == nullptr) return;
    OpRow row = own == nullptr ? *op.row() : own->spec.row;
    if (own != nullptr) {
      row.attributes = own->spec.attributes;
      row.weights = own->spec.weights;
      for (const std::string& each : own->state) add_state(op, each, draft);
    } else if (has(row.effects, Effect::kReadsState | Effect::kWritesState)) {
      add_state(op, is_declared(op) ? kManyStates : "", draft);
    }
    const bool owns = std::ranges::any_of(row.weights, [&](const WeightRow& weight) {
      return owns_parameter(row, weight, op.module().context(), op.attributes());
    });
    const bool is_layer = own == nullptr ? row.is_layer : own->declared->is_layer;
    if (is_layer || (owns && !draft.declared->lists_weights)) draft.declared->is_layer = true;
  }

  static bool is_declared(const Op& op) { return op.op_id() == OpId::kNone; }

  void add_state(const Op& op, std::string_view inner, OpDraft& draft) {
    const std::string_view path = op.module().context().text(op.path());
    std::string name(kManyStates);
    if (path.starts_with(kOwnName) && inner != kManyStates) {
      const std::string suffix = std::string(path.substr(kOwnName.size())).append(inner);
      if (suffix.find('$') == suffix.npos) name = suffix;
    }
    if (std::ranges::find(draft.state, name) == draft.state.end()) draft.state.push_back(name);
  }

  /// The declaration of an op of this dialect, whose ops have no rows yet; null for other ops.
  const OpDraft* draft_of(const Op& op) const {
    const std::string_view name = op.name();
    const std::size_t first = name.find('.');
    if (first == name.npos || name.substr(0, first) != dialect_) return nullptr;
    std::string_view rest = name.substr(first + 1);
    if (device_in_path_) rest = rest.substr(rest.find('.') + 1);
    const auto found = by_name_.find(rest);
    return found == by_name_.end() ? nullptr : found->second;
  }

  std::span<OpDraft> drafts_;
  std::string_view dialect_;
  bool device_in_path_;
  std::unordered_map<std::string_view, const OpDraft*> by_name_;  // without dialect and device
};

}  // namespace

void find_layers(std::span<OpDraft> drafts, std::string_view dialect, bool device_in_path) {
  LayerFinder(drafts, dialect, device_in_path).run();
}

void set_effects(OpDraft& draft) {
  OpRow& row = draft.spec.row;
  row.is_layer = draft.declared->is_layer;
  if (draft.state.empty()) {
    row.traits = row.traits | Trait::kPure;
    return;
  }
  row.effects = Effect::kReadsState | Effect::kWritesState;
  // One state of a known name is the only one that the op touches.
  if (draft.state.size() != 1 || draft.state.front() == kManyStates) return;
  draft.spec.resource = [suffix = draft.state.front()](const Op& op) {
    std::string name(op.module().context().text(op.path()));
    name += suffix;
    if (name.starts_with('.')) name.erase(0, 1);
    return op.module().context().intern(name);
  };
}

}  // namespace mir::declare

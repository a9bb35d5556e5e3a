// Finds the version of a storage that a mention in a dump means.
#include "upgrade/storage.hpp"

#include <algorithm>

#include "mir/control_flow.hpp"
#include "mir/op.hpp"
#include "mir/walk.hpp"
#include "upgrade/steps/piece_shape.hpp"

namespace mir {

bool has_destination(const Op& op) {
  if (!op.is(OpId::kLinalgLinear) || op.operand_count() < 2 || op.result_count() != 1) return false;
  return op.operand(op.operand_count() - 1)->name() == op.result()->name();
}

namespace {

/// Value whose storage the op writes; null if there is none.
const Value* destination_of(const Op& op) {
  const bool copies = op.is(OpId::kLinalgCopy) && op.operand_count() == 2;
  return copies || has_destination(op) ? op.operand(op.operand_count() - 1) : nullptr;
}

/// The names of a value and of all that it is a slice or a view of; `has_slice` if there is a
/// slice.
struct Chain {
  std::vector<std::uint32_t> names;
  bool has_slice = false;

  explicit Chain(const Value& value) {
    const Value* at = &value;
    for (names.push_back(at->name().raw());; names.push_back(at->name().raw())) {
      const Op* op = at->defining_op();
      if (op == nullptr || op->operand_count() == 0 ||
          !op->is(OpId::kLinalgSlice, OpId::kLinalgView, OpId::kLinalgReshape)) {
        return;
      }
      has_slice = has_slice || op->is(OpId::kLinalgSlice);
      at = op->operand(0);
    }
  }
};

}  // namespace

std::unordered_set<std::uint32_t> storages_with_stored_parts(const Module& module) {
  std::unordered_set<std::uint32_t> stored, destinations;
  const auto add = [&](const Value& value) {
    const Chain chain(value);
    if (chain.has_slice) stored.insert(chain.names.begin(), chain.names.end());
  };
  for_each_op(module, [&](const Op& op) {
    const Value* destination = destination_of(op);
    if (destination == nullptr) return;
    destinations.insert(destination->name().raw());
    add(*destination);
  });
  // A graph may store into a slice that it receives.
  for_each_op(module, [&](const Op& op) {
    const Op* graph = called_graph(op);
    if (graph == nullptr || graph->first_region() == nullptr) return;
    const auto arguments = graph->first_region()->entry_arguments();
    for (std::uint32_t i = 0; i < op.operand_count() && i < arguments.size(); ++i) {
      if (destinations.contains(arguments[i].name().raw())) add(*op.operand(i));
    }
  });
  return stored;
}

Storage* Storages::find(ValueName name) {
  if (name.is_none()) return nullptr;
  const auto found = by_name_.find(name.raw());
  return found == by_name_.end() ? nullptr : &found->second;
}

Storage& Storages::of(Value& value) {
  if (Storage* known = find(value.name())) return *known;
  Storage& made = by_name_[value.name().raw()];
  made.origin = made.whole = &value;
  return made;
}

StoragePart* Storages::part(const Value& value) {
  Storage* storage = find(value.name());
  if (storage == nullptr) return nullptr;
  const auto found = std::ranges::find(storage->parts, &value, &StoragePart::value);
  return found == storage->parts.end() ? nullptr : &*found;
}

void Storages::resolve(Op& op) {
  if (by_name_.empty()) return;
  for (const Use& use : op.operand_uses()) {
    Storage* storage = find(use.value()->name());
    if (storage == nullptr) continue;
    const Meaning meaning = meant(use, *storage);
    if (meaning.value == use.value()) continue;
    const auto source = meaning.certain ? LossEntry::Source::kDerived : LossEntry::Source::kAssumed;
    const std::string_view which = meaning.value == storage->whole ? "the whole" : "a part";
    recovery_.note(op, source, fmt::format("meaning of operand {}", use.index()),
                   fmt::format("{} of {}", which, describe(recovery_.context(), *storage->whole)));
    recovery_.rewriter.set_operand(op, use.index(), meaning.value);
  }
}

namespace {

bool is_control(const Op& op) {
  return isa<CallGraphOp>(&op) || op.has(Trait::kTerminator);
}

/// Negation of a part that is joined with another part of the same storage; null if there is none.
const Op* negated_in(const Op& concat, ValueName storage) {
  if (!concat.is(OpId::kLinalgConcat)) return nullptr;
  for (const Use& use : concat.operand_uses()) {
    const Op* source = use.value()->defining_op();
    const bool negates = source != nullptr && source->is(OpId::kLinalgNeg);
    if (negates && source->operand(0)->name() == storage) return source;
  }
  return nullptr;
}

bool is_joined_with_another(const Op& negation) {
  const ValueName storage = negation.operand(0)->name();
  for (const Use* use = negation.result()->first_use(); use != nullptr; use = use->next()) {
    const Op& user = *use->user();
    if (!user.is(OpId::kLinalgConcat)) continue;
    for (const Use& each : user.operand_uses()) {
      if (each.value()->name() == storage) return true;
    }
  }
  return false;
}

}  // namespace

Storages::Meaning Storages::meant(const Use& use, Storage& storage) {
  Op& op = *use.user();
  if (storage.parts.empty()) return {storage.whole};
  const bool destination = (op.is(OpId::kLinalgCopy) && writes_operand(op, use.index())) ||
                           (has_destination(op) && use.index() + 1 == op.operand_count());
  if (destination) return {storage.parts.back().value};
  if (op.is(OpId::kLinalgSlice)) return {whole_in_front_of(op, storage), false};
  StoragePart& part = part_read_by(use, storage);
  if (is_control(op)) {
    if (part.written) return {whole_in_front_of(op, storage)};
    return {part.value, false};
  }
  const auto* part_type = part.value->tensor_type();
  const auto* whole_type = storage.whole->tensor_type();
  if (part_type == nullptr || whole_type == nullptr) return {part.value, false};
  const auto by_whole = takes_type(use, *whole_type);
  const auto by_part = takes_type(use, *part_type);
  if (by_whole.value_or(false) && !by_part.value_or(false)) {
    return {whole_in_front_of(op, storage), by_part.has_value()};
  }
  part.taken = true;
  return {part.value, false};
}

StoragePart& Storages::part_read_by(const Use& use, Storage& storage) {
  const Op& op = *use.user();
  if (op.is(OpId::kLinalgNeg) && op.result_count() == 1 && is_joined_with_another(op)) {
    return storage.parts.back();
  }
  if (negated_in(op, use.value()->name()) != nullptr) return storage.parts.front();
  while (storage.first_open < storage.parts.size() && storage.parts[storage.first_open].taken) {
    ++storage.first_open;
  }
  return storage.first_open < storage.parts.size() ? storage.parts[storage.first_open]
                                                   : storage.parts.back();
}

Value* Storages::insert(Value* source, Value* whole, const Attr* indices, Op* before,
                        const Op& at) {
  IRContext& context = recovery_.context();
  Value* operands[] = {source, whole};
  const Type* type = whole->type();
  const NamedAttr bounds{key::kIndices, indices};
  const auto* tensor = whole->tensor_type();
  const Symbol device = tensor == nullptr ? context.intern("CPU") : tensor->device();
  const OpSpec spec{.name = context.op_name(OpId::kLinalgCopy, device),
                    .operands = operands,
                    .result_types = std::span(&type, 1),
                    .attributes = std::span(&bounds, indices == nullptr ? 0 : 1),
                    .location = at.location()};
  Rewriter& rewriter = recovery_.rewriter;
  if (before != nullptr) {
    rewriter.set_insertion_point(*before);
  } else {
    rewriter.set_insertion_point_to_end(rewriter.entry_of(region_));
  }
  Op* copy = rewriter.create(spec);
  rewriter.set_name(*copy->result(), whole->name());
  const std::string part = indices == nullptr ? "" : fmt::format("{} of ", indices->spelling());
  recovery_.note(*copy, LossEntry::Source::kDerived, "stored into",
                 part + describe(recovery_.context(), *whole));
  return copy->result();
}

/// Slices in front of the writing named the storage as it was; later mentions do not mean them.
void Storages::write_back(Storage& storage, Op* before, const Op& at) {
  if (!storage.has_written) return;
  for (StoragePart& part : storage.parts) {
    if (!part.written) continue;
    storage.whole = insert(part.value, storage.whole, part.indices, before, at);
    storage.last_written = part.indices;
    storage.changed = true;
  }
  storage.forget_parts();
}

Value* Storages::whole_in_front_of(Op& op, Storage& storage) {
  write_back(storage, &op, op);
  return storage.whole;
}

void Storages::settle(Op* before) {
  // In the order of the names: the map's own depends on hashing.
  std::vector<std::uint32_t> names;
  for (const auto& [name, storage] : by_name_) names.push_back(name);
  std::ranges::sort(names);
  for (const std::uint32_t name : names) {
    Storage& storage = by_name_[name];
    if (storage.origin->is_result() || storage.parts.empty()) continue;  // it ends here
    write_back(storage, before, *storage.parts.back().value->defining_op());
  }
}

void Storages::drop_replaced() {
  for (const Value* value : replaced_) {
    Op* op = value->defining_op();
    while (op != nullptr && !op->is_erased() && op->has(Trait::kView) && op->result_count() == 1 &&
           !op->result()->has_uses()) {
      Op* const source = op->operand(0)->defining_op();
      recovery_.rewriter.erase(*op);
      op = source;
    }
  }
}

void Storages::take_results(Op& op) {
  if (by_name_.empty()) return;
  for (Value& result : op.results()) {
    Storage* storage = find(result.name());
    if (storage == nullptr) continue;
    const Value* source = op.operand_count() == 0 ? nullptr : op.operand(0);
    const auto part = std::ranges::find(storage->parts, source, &StoragePart::value);
    if (part == storage->parts.end()) {
      storage->whole = &result;
      storage->forget_parts();
      continue;
    }
    const bool view = op.has(Trait::kView);
    part->written = part->written || !view;
    storage->has_written = storage->has_written || part->written;
    part->value = &result;
  }
}

std::vector<Storages::Written> Storages::written() const {
  std::vector<Written> list;
  for (const auto& [name, storage] : by_name_) {
    const bool outside = storage.origin->is_argument() || storage.origin->is_free();
    if (storage.changed && outside) list.push_back({storage.origin, storage.whole});
  }
  std::ranges::sort(list, {}, [](const Written& each) { return each.origin->name().raw(); });
  return list;
}

}  // namespace mir

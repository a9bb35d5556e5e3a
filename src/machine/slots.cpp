#include "machine/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "machine/slot_uses.hpp"

namespace mir {

namespace {

bool is_view(const Op& launch) {
  return is_launch_of(launch, OpId::kLinalgView, OpId::kLinalgSlice);
}

bool is_slice_in_place(const Op& launch) {
  return is_launch_of(launch, OpId::kLinalgSlice) && launch.operand_count() == 1 &&
         launch.result_count() == 1 && launch.operand(0)->name() == launch.result()->name();
}

bool mentions(const Op& launch, ValueName name) {
  return std::ranges::any_of(launch.operand_uses(),
                             [&](const Use& use) { return use.value()->name() == name; });
}

bool ends_body(const Op& op) {
  return op.is(OpId::kProgLabel, OpId::kProgRet, OpId::kProgExit);
}

/// Whether what the launch negates is joined with another part of the slot after it.
bool is_joined_with_another(const Op& negation) {
  const ValueName slot = negation.operand(0)->name(), negated = negation.result()->name();
  for (const Op* op = negation.next(); op != nullptr && !ends_body(*op); op = op->next()) {
    if (is_launch_of(*op, OpId::kLinalgConcat) && mentions(*op, negated))
      return mentions(*op, slot);
  }
  return false;
}

/// Whether the launch joins a part of the slot with what another one is negated to.
bool joins_negated(const Op& launch, ValueName slot) {
  if (!is_launch_of(launch, OpId::kLinalgConcat)) return false;
  for (const Op* op = launch.previous(); op != nullptr && !ends_body(*op); op = op->previous()) {
    const bool negates = is_launch_of(*op, OpId::kLinalgNeg) && op->operand_count() == 1 &&
                         op->result_count() == 1 && op->operand(0)->name() == slot;
    if (negates && mentions(launch, op->result()->name())) return true;
  }
  return false;
}

}  // namespace

void MachineSlots::fill(std::uint32_t slot, Tensor tensor) {
  MachineSlot fresh;
  fresh.pieces.push_back(std::move(tensor));
  slots_[slot] = std::move(fresh);
}

void MachineSlots::free(ValueName name, const Op& by) {
  MachineSlot freed;
  freed.freed_by = &by;
  slots_[name.raw()] = std::move(freed);
}

/// What the caller made of the slot is its content for the body; the caller has it again unless the
/// body writes it.
void MachineSlots::enter(MachineSlot& slot, std::size_t depth) {
  if (slot.parts.empty() || slot.depth == depth || slot.outer != nullptr) return;
  MachineSlot inner;
  inner.pieces.push_back(slot.parts.back().value);
  inner.depth = depth;
  inner.outer = std::make_unique<MachineSlot>(std::move(slot));
  slot = std::move(inner);
}

// -- reading --------------------------------------------------------------------------------------

MachineSlotPart& MachineSlots::part_read_by(const Op& launch, MachineSlot& slot) {
  const ValueName name = slot.parts.front().slice->result()->name();
  if (is_launch_of(launch, OpId::kLinalgNeg) && launch.result_count() == 1 &&
      is_joined_with_another(launch)) {
    return slot.parts.back();
  }
  if (joins_negated(launch, name)) return slot.parts.front();
  const auto next = std::ranges::find(slot.parts, false, &MachineSlotPart::taken);
  return next == slot.parts.end() ? slot.parts.back() : *next;
}

std::optional<std::vector<Tensor>> MachineSlots::read(const Op& launch, std::size_t depth) {
  std::vector<Tensor> operands(launch.operand_count());
  first_operand_ = nullptr;
  for (const Use& use : launch.operand_uses()) {
    if (code_.stands_alone(use)) continue;
    MachineSlot& slot = *find(use.value()->name());
    if (!slot.parts.empty() && slot.depth != depth) {
      const bool written = std::ranges::any_of(slot.parts, &MachineSlotPart::written);
      if (written && !write_back(slot)) return std::nullopt;
      enter(slot, depth);
    }
    Tensor& operand = operands[use.index()];
    if (slot.parts.empty()) {
      operand = slot.pieces.front();
      if (slot.pieces.size() > 1 && !is_uneven(slot)) slot.pieces.pop_front();
    } else if (is_destination(use)) {
      operand = slot.parts.back().value;
    } else if (is_launch_of(launch, OpId::kLinalgSlice)) {
      auto all = whole(slot);
      if (!all) return std::nullopt;
      operand = *std::move(all);
    } else {
      operand = part_read_by(launch, slot).value;
    }
  }
  choose_pieces(launch, operands);
  if (!choose_versions(launch, operands)) return std::nullopt;
  return operands;
}

bool MachineSlots::is_uneven(const MachineSlot& slot) {
  return std::ranges::any_of(
      slot.pieces, [&](const Tensor& each) { return each.shape() != slot.pieces.front().shape(); });
}

/// Of pieces with several extents a launch reads the first with which it gives what it prints.
void MachineSlots::choose_pieces(const Op& launch, std::vector<Tensor>& operands) {
  for (const Use& use : launch.operand_uses()) {
    if (code_.stands_alone(use)) continue;
    MachineSlot& slot = *find(use.value()->name());
    if (!slot.parts.empty() || slot.pieces.size() < 2 || !is_uneven(slot)) continue;
    const auto gives = [&](const Tensor& piece) {
      operands[use.index()] = piece;
      return kernels_.gives_what_is_printed(launch, operands);
    };
    auto piece = std::ranges::find_if(slot.pieces, gives);
    if (piece == slot.pieces.end()) piece = slot.pieces.begin();
    operands[use.index()] = *piece;
    slot.pieces.erase(piece);
  }
}

/// After slices: the whole where it alone gives what the launch prints.
bool MachineSlots::choose_versions(const Op& launch, std::vector<Tensor>& operands) {
  if (is_launch_of(launch, OpId::kLinalgSlice)) return true;
  for (const Use& use : launch.operand_uses()) {
    if (code_.stands_alone(use) || is_destination(use)) continue;
    MachineSlot& slot = *find(use.value()->name());
    if (slot.parts.empty()) continue;
    MachineSlotPart& part = part_read_by(launch, slot);
    std::vector<Tensor> with_whole = operands;
    with_whole[use.index()] = slot.pieces.front();
    if (kernels_.gives_what_is_printed(launch, with_whole) &&
        !kernels_.gives_what_is_printed(launch, operands)) {
      auto all = whole(slot);
      if (!all) return false;
      operands[use.index()] = *std::move(all);
      continue;
    }
    part.taken = true;
    if (use.index() == 0) first_operand_ = &part;
  }
  return true;
}

std::optional<Tensor> MachineSlots::whole(MachineSlot& slot) {
  if (!write_back(slot)) return std::nullopt;
  return slot.pieces.front();
}

std::optional<Tensor> MachineSlots::content(MachineSlot& slot) {
  if (slot.parts.empty()) return slot.pieces.front();
  const auto next = std::ranges::find(slot.parts, false, &MachineSlotPart::taken);
  const MachineSlotPart& part = next == slot.parts.end() ? slot.parts.back() : *next;
  return part.written ? whole(slot) : std::optional(part.value);
}

// -- writing --------------------------------------------------------------------------------------

/// Slices in front of the writing held the slot as it was; later mentions do not mean them.
bool MachineSlots::write_back(MachineSlot& slot) {
  bool any = false;
  for (MachineSlotPart& part : slot.parts) {
    if (!part.written) continue;
    auto stored =
        kernels_.store(*part.slice, part.slice, part.value, slot.pieces.front(), diagnostics_);
    if (!stored) return false;
    slot.pieces = {*std::move(stored)};
    slot.changed = any = true;
  }
  if (any) slot.parts.clear();
  return true;
}

/// The product goes into the slot of its last operand.
bool MachineSlots::store(const Op& launch, Tensor value) {
  MachineSlot& slot = *find(launch.result()->name());
  Tensor& kept = slot.parts.empty() ? slot.pieces.front() : slot.parts.back().value;
  auto stored = value.elements() == kept.elements()
                    ? value.reshaped(kept.shape())
                    : Result<Tensor>(Error{DiagCode::kNotExecutable,
                                           fmt::format("{} elements are stored where there are {}",
                                                       value.elements(), kept.elements())});
  if (!stored) {
    diagnostics_.error(stored.error().code, launch.span(), stored.error().message);
    return false;
  }
  kept = *std::move(stored);
  slot.outer = nullptr;
  if (slot.parts.empty()) {
    slot.changed = true;
  } else {
    slot.parts.back().written = true;
    slot.parts.back().taken = false;
  }
  return true;
}

bool MachineSlots::copy(const Op& launch, std::size_t depth) {
  const auto operands = read(launch, depth);
  if (!operands) return false;
  MachineSlot& slot = *find(launch.operand(1)->name());
  const Op* slice = slot.parts.empty() ? nullptr : slot.parts.back().slice;
  auto stored = kernels_.store(launch, slice, (*operands)[0], slot.pieces.front(), diagnostics_);
  if (!stored) return false;
  slot.pieces = {*std::move(stored)};
  slot.parts.clear();
  slot.outer = nullptr;
  slot.changed = true;
  return true;
}

bool MachineSlots::take(const Op& launch, std::vector<Tensor> results, std::size_t depth) {
  if (launch_has_destination(launch)) return store(launch, std::move(results.front()));
  if (is_slice_in_place(launch)) {
    MachineSlot& slot = *find(launch.result()->name());
    if (slot.parts.empty()) slot.depth = depth;
    slot.parts.push_back({.slice = &launch, .value = std::move(results.front())});
    return true;
  }
  const bool in_part = first_operand_ != nullptr && launch.result_count() == 1 &&
                       launch.result()->name() == launch.operand(0)->name();
  if (in_part) {
    first_operand_->value = std::move(results.front());
    first_operand_->written = first_operand_->written || !is_view(launch);
    return true;
  }
  for (const Value& result : launch.results()) {
    const MachineSlot* old = find(result.name());
    MachineSlot fresh;
    fresh.changed =
        old != nullptr && (old->changed || (old->outer != nullptr && old->outer->changed));
    slots_[result.name().raw()] = std::move(fresh);
  }
  for (const Value& result : launch.results()) {
    slots_[result.name().raw()].pieces.push_back(std::move(results[result.index()]));
  }
  return true;
}

bool MachineSlots::leave(std::size_t depth) {
  for (auto& [name, slot] : slots_) {
    if (!slot.parts.empty() && slot.depth == depth) {
      auto left = slot.changed ? whole(slot) : content(slot);
      if (!left) return false;
      slot.pieces = {*std::move(left)};
      slot.parts.clear();
    }
    if (slot.outer != nullptr && slot.outer->depth + 1 == depth && !slot.changed) {
      MachineSlot outer = std::move(*slot.outer);
      slot = std::move(outer);
    }
  }
  return true;
}

}  // namespace mir

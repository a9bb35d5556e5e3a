// What the storage ids of a running program hold.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "machine/kernels.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// A slice of a slot's tensor, to which upstream gives the slot's own id.
struct MachineSlotPart {
  const Op* slice = nullptr;
  Tensor value;
  bool written = false;  ///< it holds what the whole does not hold yet
  bool taken = false;    ///< a launch has read it
};

struct MachineSlot {
  /// Results of one launch with one id (pieces of a split) are read in their order, one by each
  /// reader, which reads the next one of the extents that it prints; the last one stays.
  std::deque<Tensor> pieces;
  std::vector<MachineSlotPart> parts;
  std::size_t depth = 0;               ///< jumps that were open when the first part was made
  std::unique_ptr<MachineSlot> outer;  ///< as the caller left it; the body has not written it since
  const Op* freed_by = nullptr;
  bool changed = false;  ///< something was stored into it
};

/// note [which version of a slot is meant]
///
/// The id of a slice is that of what it is a slice of, and mentions print the type of either. As
/// when a program is lifted: a destination means the slice in front of it; another slice means the
/// whole; so does what is bound or returned after a part was written. Otherwise the latest version
/// is meant, unless the launch gives what it prints with the whole alone. Several slices are read
/// in their order, but where one is negated and joined with the other.
class MachineSlots {
 public:
  MachineSlots(const ProgramCode& code, MachineKernels& kernels, Diagnostics& diagnostics)
      : code_(code), kernels_(kernels), diagnostics_(diagnostics) {}

  MachineSlot* find(std::uint32_t slot) {
    const auto found = slots_.find(slot);
    return found == slots_.end() ? nullptr : &found->second;
  }
  MachineSlot* find(ValueName name) { return find(name.raw()); }
  void fill(std::uint32_t slot, Tensor tensor);
  void free(ValueName name, const Op& by);

  /// The tensors that a launch at this depth reads, in the order of its operands; undefined for
  /// those that need no slot. None after reporting.
  std::optional<std::vector<Tensor>> read(const Op& launch, std::size_t depth);
  /// Takes the results of the launch whose operands were read last; false after reporting.
  bool take(const Op& launch, std::vector<Tensor> results, std::size_t depth);
  /// `Copy`: stores its first operand into its second.
  bool copy(const Op& launch, std::size_t depth);
  /// What a binding or a caller gets; none after reporting.
  std::optional<Tensor> content(MachineSlot& slot);
  /// The slot as a whole, with what was written into parts of it; none after reporting.
  std::optional<Tensor> whole(MachineSlot& slot);
  /// Ends the parts that the body made which returns from this depth; false after reporting.
  bool leave(std::size_t depth);

 private:
  void enter(MachineSlot& slot, std::size_t depth);
  MachineSlotPart& part_read_by(const Op& launch, MachineSlot& slot);
  static bool is_uneven(const MachineSlot& slot);
  void choose_pieces(const Op& launch, std::vector<Tensor>& operands);
  bool choose_versions(const Op& launch, std::vector<Tensor>& operands);
  bool write_back(MachineSlot& slot);
  bool store(const Op& launch, Tensor value);

  const ProgramCode& code_;
  MachineKernels& kernels_;
  Diagnostics& diagnostics_;
  std::unordered_map<std::uint32_t, MachineSlot> slots_;
  MachineSlotPart* first_operand_ = nullptr;  ///< the part that the current launch reads first
};

}  // namespace mir

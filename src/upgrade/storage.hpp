// The storages of one region while its ops are followed: which value holds the whole of each, and
// which parts of it slices have named alike.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "upgrade/steps/recovery.hpp"

namespace mir {

/// Current value of a slice of a storage. Upstream gives it the storage's own name.
struct StoragePart {
  const Attr* indices = nullptr;  ///< bounds of the slice
  Value* value = nullptr;
  bool written = false;  ///< it holds what the whole does not hold yet
  bool taken = false;    ///< an op has read it
};

struct Storage {
  Value* origin = nullptr;  ///< the whole as it was when its first part was made
  Value* whole = nullptr;
  std::vector<StoragePart> parts;
  const Attr* last_written = nullptr;  ///< bounds of the part that was written last
  bool changed = false;                ///< a part was written into it
  bool has_written = false;            ///< some part is written
  std::size_t first_open = 0;          ///< all parts before this one are taken

  /// A part holds from now on what nothing has read.
  void write(StoragePart& part) {
    part.written = has_written = true;
    part.taken = false;
    first_open = 0;
  }
  void forget_parts() {
    parts.clear();
    has_written = false;
    first_open = 0;
  }
};

/// note [which version of a storage is meant]
///
/// A mention names a storage and states the type that upstream had cached for it, so after a slice
/// it may mean the slice or what was sliced. It means what gives the type that its user prints; a
/// destination means the slice in front of it; another slice means the whole; so does what is
/// returned or handed on after a part was written. Otherwise the latest version is meant. Several
/// slices are read in their order, but where one is negated and joined with the other (the second
/// half of a rotation).
class Storages {
 public:
  Storages(Recovery& recovery, Region& region) : recovery_(recovery), region_(region) {}

  /// Makes the operands of an op the versions that it means.
  void resolve(Op& op);
  /// The storage of a value; made where there is none yet.
  Storage& of(Value& value);
  Storage* find(ValueName name);
  /// The part of which this is the present value.
  StoragePart* part(const Value& value);
  /// Follows results that have the names of storages.
  void take_results(Op& op);
  /// The name means something else from here on.
  void forget(ValueName name) { by_name_.erase(name.raw()); }
  /// Stores parts of storages that were written from outside into their wholes, before the op; null
  /// for the end of the region.
  void settle(Op* before);
  /// A destination that a stored value replaces: what made it goes with drop_replaced().
  void replaced(Value& value) { replaced_.push_back(&value); }
  /// Removes the slices and views from which replaced destinations came, where nothing reads them.
  void drop_replaced();

  /// Storages that came from outside and have another content now, by their names.
  struct Written {
    Value* origin;
    Value* now;
  };
  std::vector<Written> written() const;

  /// Links a copy of `source` into a part of `whole` in front of an op; gives the whole.
  Value* insert(Value* source, Value* whole, const Attr* indices, Op* before, const Op& at);

 private:
  /// The version of a storage that a mention means; `certain` where no other can be meant.
  struct Meaning {
    Value* value;
    bool certain = true;
  };
  Meaning meant(const Use& use, Storage& storage);
  StoragePart& part_read_by(const Use& use, Storage& storage);
  Value* whole_in_front_of(Op& op, Storage& storage);
  void write_back(Storage& storage, Op* before, const Op& at);

  Recovery& recovery_;
  Region& region_;
  std::unordered_map<std::uint32_t, Storage> by_name_;
  std::vector<Value*> replaced_;
};

/// True if the op's last operand is the destination of its result.
bool has_destination(const Op& op);

/// The names (see ValueName::raw) of storages of which some graph, at any time, stores into slices.
/// The names of storages are the same in all graphs of a dump.
std::unordered_set<std::uint32_t> storages_with_stored_parts(const Module& module);

}  // namespace mir

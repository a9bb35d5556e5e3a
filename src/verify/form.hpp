// What the portable form promises of every op and value: parts, places, names of devices.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "verify/checks.hpp"
#include "verify/pointer_table.hpp"

namespace mir::checks {

class FormChecks {
 public:
  explicit FormChecks(Reporter& reporter);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region&) {}

 private:
  /// `@symbol`, `<...>` and `addr:`, where the op takes none.
  void check_parts(const Op& op);
  /// Instructions, fragments and registers.
  void check_place(const Op& op);
  void check_register(const Op& op);
  /// A step on a cache that another of its block has changed.
  void check_step(const Op& op);
  /// `place` is what reports name; `is_defined`: an op or a block gives the value.
  void check_value(const Value& value, const Op& place, bool is_defined);
  void check_annotations(std::span<const NamedAttr> attributes, const Op& place,
                         const Value* value);
  void check_parameter(const Value& value, const Op& place);
  void check_device(Symbol device, const Op& place);
  void check_device(const Type* type, const Op& place);

  Reporter& reporter_;
  IRContext& context_;
  Symbol constant_;
  bool is_wanted_;
  std::unordered_set<Symbol> devices_;           // that were looked at
  PointerTable<char> types_;                     // likewise
  std::unordered_map<Symbol, const Op*> steps_;  // by cache: the last one
};

}  // namespace mir::checks

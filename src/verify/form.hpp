// Guarantees of the portable form for every op and value: parts, places, names of devices.
#pragma once

#include <unordered_set>

#include "support/pointer_table.hpp"
#include "verify/checks.hpp"

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
  /// The parts of stored tensors that a register states.
  void check_stored_rows(const Op& op);
  void check_signature(const Region& region, const Op& graph);
  void check_stated_results(const Region& region, const Op& parent);
  /// `place` is what reports name; `may_declare`: the value may be a parameter or a constant.
  void check_value(const Value& value, const Op& place, bool may_declare);
  void check_annotations(std::span<const NamedAttr> attributes, const Op& place,
                         const Value* value);
  void report_unknown(Symbol key, const Op& place, const Value* value, std::string_view name);
  void check_scale(const NamedAttr& attribute, const Value& value, const Op& place);
  void check_parameter(const Value& value, const Op& place);
  void check_device(Symbol device, const Op& place);
  void check_device(const Type* type, const Op& place);

  Reporter& reporter_;
  IRContext& context_;
  bool is_wanted_;
  std::unordered_set<Symbol> devices_;  // that were looked at
  PointerTable<char> types_;            // likewise
};

}  // namespace mir::checks

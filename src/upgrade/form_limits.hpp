// What dumps and programs cannot express: several blocks, and symbolic extents.
#pragma once

#include <cstddef>
#include <string_view>

#include "mir/upgrade.hpp"

namespace mir {

/// True if no region of the module has several blocks. Otherwise reports each that has: control
/// flow is lost in `form` ("dump form").
bool refuse_several_blocks(const Module& module, std::string_view form, LossReport& report,
                           Diagnostics& diagnostics);

/// True if the region has exactly one block; false after reporting one that has not.
bool require_one_block(const Region& region, std::string_view form, LossReport& report,
                       Diagnostics& diagnostics);

/// Reports each parameter that is a part of a stored tensor or has another name in files: `form`
/// finds weights by the names of parameters.
void refuse_stored_views(Module& module, std::string_view form, LossReport& report,
                         Diagnostics& diagnostics);

/// Reports each op with an operand that a later version of the language added: upstream's kernel of
/// its type takes another one there, or none.
void refuse_added_operands(Module& module, std::string_view form, LossReport& report,
                           Diagnostics& diagnostics);

/// Collects values of types with symbols, to report them once: their cause is one.
class SymbolicTypes {
 public:
  /// Notes a value of this type at the op, if its extents are not all numbers.
  void note(const Op& at, const TensorType& type);

  /// Refuses `form` if there is such a value. `texts` are what print extents: "dumps".
  void refuse(std::string_view form, std::string_view texts, LossReport& report,
              Diagnostics& diagnostics) const;

 private:
  const Op* first_op_ = nullptr;
  const TensorType* first_type_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace mir

// Refuses forms that cannot express symbolic extents, with one error for all values.
#include "upgrade/symbolic_types.hpp"

#include <fmt/format.h>

#include "mir/op.hpp"
#include "mir/type.hpp"
#include "support/counted.hpp"

namespace mir {

void SymbolicTypes::note(const Op& at, const TensorType& type) {
  if (type.element_count() || count_++ != 0) return;
  first_op_ = &at;
  first_type_ = &type;
}

void SymbolicTypes::refuse(std::string_view form, std::string_view texts, LossReport& report,
                           Diagnostics& diagnostics) const {
  if (count_ == 0) return;
  report.refuse(
      *first_op_, form,
      fmt::format(
          "{} print the extents of one trace, not {}{}", texts, first_type_->spelling(),
          count_ == 1 ? "" : fmt::format(" and those of {}", counted(count_ - 1, "other values"))),
      diagnostics);
}

}  // namespace mir

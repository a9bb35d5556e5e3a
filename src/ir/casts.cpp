// Compares the types of a cast.
#include "ir/casts.hpp"

#include <fmt/format.h>

#include "mir/codes/attributes.hpp"
#include "mir/codes/shapes.hpp"

namespace mir {

const Type* type_of_cast(const Type* operand) {
  const auto* declared = dyn_cast<DialectType>(operand);
  return declared == nullptr ? nullptr : declared->held_as();
}

std::optional<Error> breach_of_cast(const Type* from, const Type* to) {
  if (from == nullptr || to == nullptr) return std::nullopt;  // which is reported
  const bool is_made = dyn_cast<TensorType>(from) != nullptr;
  const Type *const declared = is_made ? to : from, *const stated = is_made ? from : to;
  if (dyn_cast<TensorType>(declared) != nullptr || dyn_cast<TensorType>(stated) == nullptr) {
    return Error{
        diag::kNotATensor,
        fmt::format("'dialect.CastOp' casts between a declared type and a tensor, found {} "
                    "and {}",
                    from->spelling(), to->spelling())};
  }
  const auto* const tensor = dyn_cast<TensorType>(stated);
  const auto* const held = dyn_cast<TensorType>(type_of_cast(declared));
  if (held == nullptr) {
    return Error{diag::kNotATensor,
                 fmt::format("no tensor holds a value of {}: its declaration has no 'held_as'",
                             declared->spelling())};
  }
  if (held == tensor) return std::nullopt;
  return Error{
      held->dtype_name() == tensor->dtype_name() ? diag::kShapeMismatch : diag::kDTypeMismatch,
      fmt::format("'dialect.CastOp' has {} for {}, which {} holds", tensor->spelling(),
                  declared->spelling(), held->spelling())};
}

}  // namespace mir

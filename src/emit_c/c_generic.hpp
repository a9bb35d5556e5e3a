// A generic op as loops of C.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "emit_c/c_lines.hpp"
#include "emit_c/c_names.hpp"
#include "mir/op.hpp"

namespace mir::c {

/// Numbers that functions of C return.
inline constexpr int kIndexOutside = 1, kNotOneIteration = 2, kOverNothing = 3;

/// Arrays of C that a generic op reads and writes.
struct CGenericPlace {
  std::span<const std::string> operands;  ///< arrays
  std::span<const std::string> results;
  /// Returns an expression for memory of so many bytes that the op alone uses.
  std::function<std::string(std::int64_t bytes)> scratch;
};

/// Writes statements that compute the op. An error says what C out does not have.
Result<void> emit_generic(const Op& op, const CGenericPlace& place, const CNames& names,
                          CLines& out);

}  // namespace mir::c

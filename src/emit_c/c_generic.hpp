// A generic op as loops of C.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "emit_c/c_lines.hpp"
#include "emit_c/c_names.hpp"
#include "mir/op.hpp"

namespace mir::c {

/// Numbers that functions of C return.
inline constexpr int kIndexOutside = 1, kNotOneIteration = 2, kOverNothing = 3;

/// A parallel loop whose iterations are calls of a function.
struct CBlock {
  std::string index;     ///< the variable of the loop
  std::string argument;  ///< the index of the block that an iteration runs
  std::string body;      ///< lines that no `return` ends
  /// Variables around the loop: their declarations without the name, and the names.
  std::vector<std::pair<std::string, std::string>> variables;
};

/// Arrays of C that a generic op reads and writes.
struct CGenericPlace {
  std::span<const std::string> operands;  ///< arrays
  std::span<const std::string> results;
  /// Returns an expression for memory of so many bytes that the op alone uses.
  std::function<std::string(std::int64_t bytes)> scratch;
  /// Makes a function of the body and returns a call of it. Null if iterations are not called.
  std::function<std::string(const CBlock& block)> call_block{};
};

/// Replaces a loop whose text begins at `from`, and whose head is its first line, by one that calls
/// its body. `variables` are those around the loop.
void call_blocks(CLines& out, std::size_t from, const std::string& index,
                 std::vector<std::pair<std::string, std::string>> variables,
                 const CGenericPlace& place);

/// Writes statements that compute the op. An error says what C out does not have.
Result<void> emit_generic(const Op& op, const CGenericPlace& place, const CNames& names,
                          CLines& out);

}  // namespace mir::c

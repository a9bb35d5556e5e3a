// The region of a generic op as statements of C.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit_c/c_names.hpp"
#include "mir/op.hpp"

namespace mir::c {

/// The computation of one number that a region passes on.
class CRegion {
 public:
  /// `names` has what is taken around the statements. An error says what C out does not have.
  static Result<CRegion> create(const Op& op, std::uint32_t result, CNames& names);

  /// True if the number depends on an element of the operand.
  bool needs(std::size_t operand) const { return !arguments_[operand].empty(); }
  /// The variable of an element of an operand that the number depends on. Its type is
  /// number_type_of() the operand's.
  const std::string& argument(std::size_t operand) const { return arguments_[operand]; }
  /// True if the number is that of the operand.
  bool passes_on(std::size_t operand) const { return passed_ == arguments_[operand]; }
  /// The operands whose product the number is, twice the same one for a square, or the operand that
  /// it is. Empty for other numbers.
  std::span<const std::size_t> factors() const { return factors_; }
  /// Statements that compute the number from the arguments, one a line.
  std::span<const std::string> statements() const { return statements_; }
  /// The number.
  const std::string& number() const { return passed_; }

 private:
  std::vector<std::string> arguments_;
  std::vector<std::string> statements_;
  std::vector<std::size_t> factors_;
  std::string passed_;
};

/// Appends statements, the last of which defines the variable `name` as the one result of an
/// elementwise op. `operands` are names of variables of its element types. An error says what C out
/// does not have.
Result<void> add_statements(const Op& op, std::span<const std::string> operands,
                            const std::string& name, std::vector<std::string>& statements,
                            CNames& names);

/// Why the region of a generic op that was not verified does not fit its operands and results,
/// which have element types; empty if it does.
std::string_view why_no_region(const Op& op);

}  // namespace mir::c

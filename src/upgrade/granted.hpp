// Facts granted by the user, read as the IR spells them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/upgrade.hpp"

namespace mir {

/// Modules that hold what granted texts say; released with this.
class GrantedTexts {
 public:
  explicit GrantedTexts(IRContext& context) : context_(context) {}
  GrantedTexts(const GrantedTexts&) = delete;
  GrantedTexts& operator=(const GrantedTexts&) = delete;
  ~GrantedTexts();

  /// The op of `text`, which lives as long as this; null after reporting what is wrong with it.
  const Op* read(std::string_view text, const Grant& grant, Diagnostics& diagnostics);

 private:
  IRContext& context_;
  std::vector<Module*> modules_;
};

/// Returns the name of a granted note on a value in reports.
std::string note_of(const Grant& grant);  // take_corrections.cpp
constexpr std::string_view kReturnFact = "return that ends the graph";

/// Which operand is granted; none where the key is no number.
std::optional<std::size_t> operand_number(const Grant& grant);  // take_operands.cpp
/// Returns the name of a granted operand in reports.
std::string operand_fact(const Grant& grant);
/// Returns the spelling of a granted fact in --assume, before the `=`.
std::string spelling_of(const Grant& grant);      // take_operands.cpp
std::string spelling_of(const TextGrant& grant);  // settle_text.cpp
/// Reports a grant of what nothing lost.
void refuse_unused(const Module& module, const Grant& grant, LossReport& report,
                   Diagnostics& diagnostics);

/// Replaces instructions of the first programs, such as `prog.CPU.inst.SiLU+Mul`, by launches.
void expand_instructions(Module& module, LossReport& report,
                         Diagnostics& diagnostics);  // expand_instructions.cpp

/// Ends a program that nothing ends, after what the module itself runs; others stay.
void end_program(Module& module, LossReport& report);  // end_program.cpp

/// The type that the grant states; null after reporting what is wrong with it.
const Type* read_type(IRContext& context, const Grant& grant, Diagnostics& diagnostics);

}  // namespace mir

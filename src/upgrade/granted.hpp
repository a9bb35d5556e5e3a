// What the user grants, read as the IR spells it.
#pragma once

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

/// What a report calls a granted note on a value.
std::string note_of(const Grant& grant);  // take_corrections.cpp
constexpr std::string_view kReturnFact = "return that ends the graph";

/// Ends a program that nothing ends, after what the module itself runs; others stay.
void end_program(Module& module, LossReport& report);  // end_program.cpp

/// The type that the grant states; null after reporting what is wrong with it.
const Type* read_type(IRContext& context, const Grant& grant, Diagnostics& diagnostics);

}  // namespace mir

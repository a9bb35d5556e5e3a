// Ways to break a module, each with what must be found.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "mir/diagnostic.hpp"
#include "module_generator.hpp"

namespace mir::test {

struct Defect {
  std::string name;
  GeneratorOptions::Form form;  ///< of the modules that it is planted into
  DiagCode code;                ///< what must be reported, an error or a finding ...
};

struct PlantedDefect {
  std::string text;
  std::uint32_t line = 0;  ///< ... and on which line, from 1
};

/// All known ways. Names are unique.
std::span<const Defect> defects();

/// The defect, planted into the module of `seed`; none where that module has no place for it.
std::optional<PlantedDefect> plant(const Defect& defect, std::uint64_t seed);

}  // namespace mir::test

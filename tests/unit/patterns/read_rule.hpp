// Patterns of a text that tests read.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "../ir/read.hpp"
#include "patterns/pattern.hpp"

namespace mir::test {

/// Returns the first pattern of module `module` of a text, which must have no errors.
inline std::shared_ptr<const patterns::Pattern> read_rule(Reading& reading, std::size_t module) {
  for (const std::string& each : reading.errors()) MESSAGE(each);
  REQUIRE(reading.errors().empty());
  Diagnostics found;
  auto read = patterns::read_pattern(*reading.modules[module]->body().only_block().front(), found);
  for (const std::string& each : lines_of(found, reading.context)) MESSAGE(each);
  REQUIRE(read != nullptr);
  return read;
}

}  // namespace mir::test

// Long lines of canonical text, broken at lists.
#pragma once

#include <cstdint>
#include <string>

#include "mir/diagnostic.hpp"

namespace mir {

/// `canonical` with each line of more than `columns` characters broken behind commas of lists and
/// before `->`, successors and `loc`. As much as fits stays on a line; what follows is eight blanks
/// deeper. Parts without such a place stay longer. Formatting the result gives `canonical` again.
std::string wrap_lines(const SourceFile& canonical, std::uint32_t columns);

}  // namespace mir

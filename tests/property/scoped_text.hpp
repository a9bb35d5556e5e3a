// Modules whose graphs and regions have symbols of one name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace mir::test {

/// A module of version 2 with one-letter symbols that its graphs and regions bind anew: by
/// arguments, by results whose extents data decides, and by branches; or that graphs take from
/// around their calls.
std::string scoped_text(std::uint64_t seed, std::string_view name = "main");

}  // namespace mir::test

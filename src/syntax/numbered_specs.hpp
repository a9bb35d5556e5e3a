// Aliases of quantisation specs with a hole for the uuid: `#q_u16_asym(84)`.
#pragma once

#include <string>
#include <string_view>

namespace mir {

/// True if the text of an alias has a number: `#q(84)`.
constexpr bool is_numbered(std::string_view alias) {
  return alias.ends_with(')') && alias.find('<') == alias.npos;
}
/// `#q` and `84` of `#q(84)`.
constexpr std::string_view unnumbered(std::string_view alias) {
  return alias.substr(0, alias.find('('));
}
constexpr std::string_view number_of(std::string_view alias) {
  return alias.substr(alias.find('(') + 1, alias.size() - alias.find('(') - 2);
}

/// The canonical text of a spec with this uuid after its kind; empty if it has one or has no such
/// place.
std::string with_uuid(std::string_view spec, std::string_view uuid);
/// The uuid after the kind of a spec in canonical text; empty if it is not a natural number.
std::string_view uuid_of(std::string_view spec);
/// The spec without that uuid.
std::string without_uuid(std::string_view spec);

}  // namespace mir

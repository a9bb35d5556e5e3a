// Inserts the uuid of a quantisation spec after its kind, and removes it.
#include "syntax/numbered_specs.hpp"

#include "support/characters.hpp"

namespace mir {

namespace {

constexpr std::string_view kOpening = "QuantSpec(";
constexpr std::string_view kUuid = ", uuid=";

/// One past the kind, with its fields, of a spec; npos if it is malformed, as upstream's `None(,`.
std::size_t kind_end(std::string_view spec) {
  if (!spec.starts_with(kOpening)) return spec.npos;
  const std::size_t at = spec.find_first_of("(,)", kOpening.size());
  if (at == spec.npos || spec[at] != '(') return at;
  const std::size_t closed = spec.find_first_of("()", at + 1);
  return closed == spec.npos || spec[closed] == '(' || spec.substr(at, 2) == "(," ? spec.npos
                                                                                  : closed + 1;
}

}  // namespace

std::string with_uuid(std::string_view spec, std::string_view uuid) {
  const std::size_t end = kind_end(spec);
  if (end == spec.npos || spec.find(kUuid) != spec.npos) return "";
  std::string made(spec.substr(0, end));
  made.append(kUuid).append(uuid).append(spec.substr(end));
  return made;
}

std::string_view uuid_of(std::string_view spec) {
  const std::size_t end = kind_end(spec);
  if (end == spec.npos || !spec.substr(end).starts_with(kUuid)) return {};
  const std::string_view rest = spec.substr(end + kUuid.size());
  const std::string_view uuid = rest.substr(0, rest.find_first_of(",)"));
  return is_decimal(uuid) && rest.find(kUuid) == rest.npos ? uuid : std::string_view();
}

std::string without_uuid(std::string_view spec) {
  const std::size_t end = kind_end(spec);
  std::string made(spec.substr(0, end));
  return made.append(spec.substr(end + kUuid.size() + uuid_of(spec).size()));
}

}  // namespace mir

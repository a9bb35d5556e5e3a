#include "ir/context/quant_spec.hpp"

#include <algorithm>
#include <charconv>

#include "mir/type.hpp"
#include "support/number_text.hpp"

namespace mir {

namespace {

/// Takes the text up to the first of `stops` off `rest`, with the stop itself.
std::string_view take_until(std::string_view& rest, std::string_view stops) {
  const auto end = rest.find_first_of(stops);
  const std::string_view word = rest.substr(0, end);
  rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  return word;
}

void skip_blanks(std::string_view& rest) {
  while (rest.starts_with(' ') || rest.starts_with(',')) rest.remove_prefix(1);
}

}  // namespace

std::optional<std::int64_t> QuantSpec::integer(std::string_view key) const {
  for (const auto& [name, value] : fields) {
    if (name == key) return read_integer(value);
  }
  return std::nullopt;
}

namespace {

QuantSpec read(std::string_view rest) {
  constexpr std::string_view kOpen = "QuantSpec(";
  rest = rest.substr(kOpen.size(), rest.size() - kOpen.size() - 1);
  QuantSpec spec;
  const auto kind_end = rest.find_first_of("(,");
  spec.kind = rest.substr(0, kind_end);
  rest = kind_end == rest.npos ? std::string_view() : rest.substr(kind_end);
  if (rest.starts_with('(')) {
    rest.remove_prefix(1);
    // Upstream never closes `None(`: what follows it are the spec's own items.
    const bool closed = rest.find(')') != rest.npos;
    while (closed && !rest.starts_with(')')) {
      const std::string_view key = take_until(rest, ":");
      skip_blanks(rest);
      const auto end = rest.find_first_of(",)");
      spec.fields.emplace_back(key, rest.substr(0, end));
      rest = rest.substr(end);
      skip_blanks(rest);
    }
    if (closed) rest.remove_prefix(1);
  }
  skip_blanks(rest);
  while (!rest.empty()) {
    const std::string_view key = take_until(rest, "=");
    const auto value = read_integer(take_until(rest, ","));
    if (key == "uuid") spec.uuid = value;
    if (key == "solved" && value) spec.solved = *value != 0;
    skip_blanks(rest);
  }
  return spec;
}

/// Whether nothing but `solved` and the end follows the uuid.
bool ends_spec(std::string_view rest) {
  constexpr std::string_view kSolved = ", solved=";
  return rest == ")" || (rest.size() == kSolved.size() + 2 && rest.starts_with(kSolved));
}

}  // namespace

const QuantKind* find_quant_kind(std::string_view name) {
  static constexpr QuantKind kKinds[] = {
      {.name = "None", .is_raw = true},
      {.name = "Raw", .is_raw = true},
      {.name = "SymPerTensor"},
      {.name = "AsymPerTensor", .is_asymmetric = true},
      {.name = "SymPerChannel", .has_axis = true},
      {.name = "AsymPerChannel", .is_asymmetric = true, .has_axis = true},
      {.name = "SymPerBlock", .has_block = true},
      {.name = "AsymPerBlock", .is_asymmetric = true, .has_block = true},
      {.name = "LPBQ", .has_axis = true, .has_block = true, .has_two_levels = true},
  };
  const auto* const kind = std::ranges::find(kKinds, name, &QuantKind::name);
  return kind == std::end(kKinds) ? nullptr : kind;
}

QuantSpec read_quant_spec(const Attr& attribute) {
  return read(attribute.spelling());
}

QuantSpecParts split_quant_spec(std::string_view spelling) {
  constexpr std::string_view kKey = ", uuid=";
  const auto at = spelling.rfind(kKey);
  if (at == spelling.npos) return {spelling, std::nullopt};
  const char* const digits = spelling.data() + at + kKey.size();
  const char* const end = spelling.data() + spelling.size();
  std::int64_t uuid = 0;
  const auto [rest, error] = std::from_chars(digits, end, uuid);
  if (error == std::errc() && ends_spec({rest, static_cast<std::size_t>(end - rest)})) {
    return {spelling.substr(0, at), uuid};
  }
  return {spelling, read(spelling).uuid};
}

}  // namespace mir

// Reads the conditions, repetitions and names with variables of ops in bodies.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "patterns/read_template.hpp"
#include "support/counted.hpp"

namespace mir::patterns {

/// True if results of the op can be its operands; false after reporting.
bool TemplateReader::check_passed_on(const Op& op, std::string_view key) {
  if (op.result_count() <= op.operand_count() && !has(op.row()->traits, Trait::kTerminator)) {
    return true;
  }
  return refuse(op.span(),
                fmt::format("an op with '{}' passes its operands on as its results, and '{}' has "
                            "{} and {}",
                            key, op.name(), counted(op.operand_count(), "operands"),
                            counted(op.result_count(), "results")));
}

bool TemplateReader::read_repeat(const Op& op, OpTemplate& made) {
  const Attr* const stated = is_pattern_ ? nullptr : op.attribute(kRepeatKey);
  if (stated == nullptr) return true;
  const Reading reading(*this, op, {kRepeatKey, AttributePart::kValue});
  if (stated->kind() != AttrKind::kDict || stated->entries().size() != 1) {
    return refuse(op.span(), fmt::format("'repeat' is {}, expected a variable with its count, as "
                                         "{{i:$layers}}",
                                         stated->spelling()));
  }
  const NamedAttr& entry = stated->entries().front();
  std::string name(context_.text(entry.key));
  if (!name.starts_with('$')) name.insert(0, "$");
  auto count = expression(*entry.value, op.span());
  if (!count || !check_passed_on(op, kRepeatKey)) return false;
  const std::uint32_t number = number_of(name);
  if (is_bound_[number]) {
    return refuse(op.span(), fmt::format("'repeat' binds '{}', which is bound already", name));
  }
  is_bound_[number] = true;
  made.repeat = {number, *std::move(count)};
  return true;
}

bool TemplateReader::read_only_if(const Op& op, OpTemplate& made) {
  const Attr* const stated = is_pattern_ ? nullptr : op.attribute(kOnlyIfKey);
  if (stated == nullptr) return true;
  const Reading reading(*this, op, {kOnlyIfKey, AttributePart::kValue});
  made.condition = expression(*stated, op.span());
  return made.condition && check_passed_on(op, kOnlyIfKey);
}

/// `$i` in `$name.layers.$i`: a part of a name that is a variable.
bool TemplateReader::read_path_variables(const Op& op, OpTemplate& made) {
  const std::string_view suffix = made.path_suffix;
  for (std::size_t at = suffix.find('$'); at != suffix.npos; at = suffix.find('$', at + 1)) {
    const std::size_t end = std::min(suffix.find('.', at), suffix.size());
    const auto number = bare_variable(suffix.substr(at, end - at), op.span());
    if (!number) return false;
    made.path_variables.emplace_back(suffix.substr(at, end - at), *number);
  }
  return true;
}

}  // namespace mir::patterns

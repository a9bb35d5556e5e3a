// Types and attributes of dialects: `!dialect.name<...>` and `#dialect.name<...>`.
#include <fmt/format.h>

#include <algorithm>

#include "ir/context/attribute_type.hpp"
#include "ir/context/context_state.hpp"
#include "ir/context/elements.hpp"
#include "mir/codes/names.hpp"
#include "mir/context.hpp"
#include "syntax/spellings.hpp"

namespace mir {

const Attr* ParameterList::find(std::string_view name) const {
  const auto found = std::ranges::find(row->parameters, name, &AttrRow::name);
  return found == row->parameters.end()
             ? nullptr
             : values[static_cast<std::size_t>(found - row->parameters.begin())];
}

bool TypeContext::fail(std::string message) {
  message_ = std::move(message);
  return false;
}

// -- kinds ----------------------------------------------------------------------------------------

TypeKindInfo& IRContext::State::type_kind(TextTable<TypeKindInfo*>& kinds_of,
                                          std::string_view name) {
  if (TypeKindInfo** known = kinds_of.find(name)) return **known;
  type_kind_infos.push_back({texts.copy(name), nullptr, nullptr});
  kinds_of.insert(type_kind_infos.back().name, &type_kind_infos.back());
  return type_kind_infos.back();
}

void IRContext::State::register_type_kinds(const Dialect& dialect) {
  const auto declare = [&](TextTable<TypeKindInfo*>& kinds_of, std::span<const TypeRow> rows) {
    for (const TypeRow& row : rows) {
      TypeKindInfo& kind = type_kind(kinds_of, fmt::format("{}.{}", dialect.name, row.name));
      kind.dialect.publish(&dialect);
      kind.row.publish(&row);
    }
  };
  declare(type_kinds, dialect.types);
  declare(attribute_kinds, dialect.attribute_kinds);
}

/// Values that were kept as they were written, of kinds that the dialect declares.
void IRContext::State::structure_values_of(const Dialect& dialect) {
  if (dialect.types.empty() && dialect.attribute_kinds.empty()) return;
  std::vector<DialectType*> kept_types;
  std::vector<Attr*> kept_attributes;
  {
    const std::lock_guard lock(mutex);
    dialect_types.for_each([&](std::string_view, DialectType* type) {
      if (type->kind().dialect.get() == &dialect) kept_types.push_back(type);
    });
    attributes[static_cast<int>(AttrKind::kDialect)].for_each(
        [&](std::string_view spelling, Attr* value) {
          if (spelling.substr(1, spelling.find('.') - 1) == dialect.name) {
            kept_attributes.push_back(value);
          }
        });
  }
  // From now on a text that is not canonical leads to the value that it means.
  Diagnostics ignored;
  for (DialectType* type : kept_types) {
    const DialectType* structured = context.read_type(type->spelling(), 0, ignored);
    if (structured == type) continue;
    type->list_.publish(structured->list_);
    const std::lock_guard lock(mutex);
    *dialect_types.find(type->spelling()) = *dialect_types.find(structured->spelling());
  }
  auto& table = attributes[static_cast<int>(AttrKind::kDialect)];
  for (Attr* value : kept_attributes) {
    const Attr* structured = context.read_attribute(value->spelling(), 0, ignored);
    if (structured == value) continue;
    value->list_.publish(structured->list_);
    const std::lock_guard lock(mutex);
    *table.find(value->spelling()) = *table.find(structured->spelling());
  }
}

// -- parameters -----------------------------------------------------------------------------------

namespace {

/// A parameter in the one form that its type gives it, so that equal values are one attribute.
const Attr* canonical_parameter(IRContext& context, AttrType type, const Attr& value) {
  switch (type) {
    case AttrType::kFloat:
      return context.number(value.number());
    case AttrType::kDType:
      return context.word(name_of(*dtype_from_name(value.text())));
    case AttrType::kString:
    case AttrType::kDevice:
      return is_data_word(value.text()) ? context.word(value.text()) : context.string(value.text());
    default:
      return &value;
  }
}

std::string count_of_parameters(const TypeRow& row) {
  const auto required = std::ranges::count(row.parameters, true, &AttrRow::required);
  const std::size_t most = row.parameters.size();
  return fmt::format("{}{} parameter{}",
                     static_cast<std::size_t>(required) == most ? "" : "at most ", most,
                     most == 1 ? "" : "s");
}

}  // namespace

const Attr* IRContext::State::default_of(const AttrRow& row) {
  Diagnostics ignored;
  const auto list = read_elements(context, row.default_text, 0, ignored);
  if (!list || list->size() != 1 || !admits(row, *list->front().value)) return nullptr;
  return canonical_parameter(context, row.type, *list->front().value);
}

std::string IRContext::State::fault_of_count(std::string_view name, const TypeRow& row,
                                             std::size_t count) {
  if (count > row.parameters.size()) {
    return fmt::format("'{}' takes {}, found {}", name, count_of_parameters(row), count);
  }
  const auto missing = std::ranges::find(row.parameters.subspan(count), true, &AttrRow::required);
  if (missing == row.parameters.end()) return {};
  return fmt::format("'{}' needs parameter '{}', {}", name, missing->name,
                     expected_value(*missing));
}

Parameters IRContext::State::complete(std::string_view name, const TypeRow& row,
                                      std::span<const Attr* const> given) {
  Parameters made{.row = &row, .fault = fault_of_count(name, row, given.size())};
  if (!made.fault.empty()) {
    if (given.size() > row.parameters.size()) made.at = row.parameters.size();
    return made;
  }
  for (std::size_t i = 0; i < row.parameters.size(); ++i) {
    const AttrRow& each = row.parameters[i];
    const Attr* otherwise = each.required ? nullptr : default_of(each);
    const Attr* value = i < given.size() ? given[i] : otherwise;
    if (value == nullptr || !admits(each, *value)) {
      made.at = i;
      made.fault = fmt::format("parameter '{}' of '{}' is {}, expected {}", each.name, name,
                               value == nullptr ? "null" : value->spelling(), expected_value(each));
      return made;
    }
    made.values.push_back(canonical_parameter(context, each.type, *value));
    if (made.values.back() != otherwise) made.stated = i + 1;
  }
  if (!row.verify) return made;
  TypeContext checked(context, name, {&row, made.values});
  if (!row.verify(checked)) {
    made.fault = checked.message().empty()
                     ? fmt::format("'{}' does not take these parameters", name)
                     : checked.message();
  }
  made.held_as = checked.held_as();
  return made;
}

namespace {

/// Where the text of the parameters begins.
std::size_t begin_of_parameters(std::string_view spelling) {
  return std::min(spelling.find('<'), spelling.size() - 1) + 1;
}

/// `!dialect.name` of `!dialect.name<...>`.
std::string_view name_of_value(std::string_view spelling) {
  return spelling.substr(0, spelling.find('<'));
}

std::string spelling_of_value(std::string_view name, const Parameters& parameters) {
  std::string spelling(name);
  for (std::size_t i = 0; i < parameters.stated; ++i) {
    spelling += i == 0 ? "<" : ", ";
    spelling += parameters.values[i]->spelling();
  }
  if (parameters.stated != 0) spelling += '>';
  return spelling;
}

bool is_written_alike(std::string_view spelling) {
  return spelling.front() == '!' ? is_opaque_type(spelling) : is_opaque_value(spelling);
}

}  // namespace

Parameters IRContext::State::read_parameters(std::string_view spelling, const TypeRow& row,
                                             SourcePos at, Diagnostics& diagnostics) {
  const std::string_view name = name_of_value(spelling);
  const std::size_t begin = begin_of_parameters(spelling);
  const std::string_view text =
      begin == spelling.size() ? "" : spelling.substr(begin, spelling.size() - begin - 1);
  const SourcePos text_at = at == 0 ? 0 : at + static_cast<SourcePos>(begin);
  const auto list = read_elements(context, text, text_at, diagnostics);
  if (!list) return {};
  std::vector<const Attr*> given;
  for (const Element& each : *list) given.push_back(each.value);
  Parameters made = complete(name, row, given);
  if (made.fault.empty() && !is_written_alike(spelling_of_value(name, made))) {
    made.fault = fmt::format("parameters of '{}' cannot be written", name);
  }
  if (made.fault.empty()) return made;
  Span place{at, at + static_cast<SourcePos>(spelling.size())};
  if (made.at < list->size())
    place = {text_at + (*list)[made.at].begin, text_at + (*list)[made.at].end};
  diagnostics.error(diag::kTypeParameters, at == 0 ? Span{} : place, made.fault);
  return {};
}

// -- types ----------------------------------------------------------------------------------------

const ParameterList* IRContext::State::keep(const Parameters& parameters) {
  return arena.create<ParameterList>(parameters.row,
                                     arena.copy(std::span<const Attr* const>(parameters.values)));
}

DialectType* IRContext::State::unique_type(const TypeKindInfo& kind, std::string_view spelling,
                                           const Parameters& parameters) {
  const std::uint64_t hash = hash_text(spelling);
  DialectType** known = dialect_types.find(spelling, hash);
  DialectType* type = known == nullptr ? nullptr : *known;
  if (type == nullptr) {
    const std::string_view kept = texts.copy(spelling);
    type = new (arena.allocate(sizeof(DialectType), alignof(DialectType))) DialectType(kind, kept);
    dialect_types.insert(kept, hash, type);
  }
  if (parameters.row != nullptr && !type->is_structured()) {
    if (parameters.held_as != nullptr) type->held_as_.publish(parameters.held_as);
    type->list_.publish(keep(parameters));
  }
  return type;
}

const DialectType* IRContext::read_type(std::string_view spelling, SourcePos at,
                                        Diagnostics& diagnostics) {
  State& state = *state_;
  const std::string_view name = name_of_value(spelling);
  const TypeKindInfo* kind = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    DialectType** known = state.dialect_types.find(spelling);
    if (known != nullptr && (*known)->is_structured()) return *known;
    kind = &state.type_kind(state.type_kinds, name.substr(1));
    // A tensor is not written so.
    if (kind->row == nullptr || kind == state.tensor_kind) {
      return state.unique_type(*kind, spelling, {});
    }
  }
  const Parameters made = state.read_parameters(spelling, *kind->row.get(), at, diagnostics);
  const std::string canonical = made.row == nullptr ? "" : spelling_of_value(name, made);
  const std::lock_guard lock(state.mutex);
  return state.unique_type(*kind, made.row == nullptr ? spelling : canonical, made);
}

namespace {

Error wrong_parameters(std::string message) {
  return {diag::kTypeParameters, std::move(message)};
}

Error first_error(const Diagnostics& diagnostics) {
  const Diagnostic first = diagnostics.sorted().front();
  return {first.code, first.message};
}

}  // namespace

Result<const DialectType*> IRContext::dialect_type(std::string_view name,
                                                   std::span<const Attr* const> parameters) {
  const std::string whole = fmt::format("!{}", name);
  auto made = state_->make(state_->type_kinds, whole, parameters);
  if (!made) return made.error();
  const std::lock_guard lock(state_->mutex);
  return state_->unique_type(state_->type_kind(state_->type_kinds, name),
                             spelling_of_value(whole, *made), *made);
}

Result<const Type*> IRContext::parse_type(std::string_view text) {
  Diagnostics diagnostics(1);
  if (text.starts_with('!')) {
    if (!is_opaque_type(text)) return wrong_parameters(fmt::format("'{}' is not a type", text));
    const Type* type = read_type(text, 0, diagnostics);
    if (diagnostics.has_errors()) return first_error(diagnostics);
    return type;
  }
  const auto list = read_elements(*this, text, 0, diagnostics);
  if (!list) return first_error(diagnostics);
  if (list->size() != 1 || list->front().value->kind() != AttrKind::kType) {
    return wrong_parameters(fmt::format("'{}' is not a type", text));
  }
  return list->front().value->type();
}

// -- attributes -----------------------------------------------------------------------------------

Result<Parameters> IRContext::State::make(TextTable<TypeKindInfo*>& kinds_of, std::string_view name,
                                          std::span<const Attr* const> parameters) {
  const TypeRow* row = nullptr;
  {
    const std::lock_guard lock(mutex);
    TypeKindInfo** known = kinds_of.find(name.substr(1));
    if (known != nullptr && *known != tensor_kind) row = (*known)->row;
  }
  if (row == nullptr) return wrong_parameters(fmt::format("no dialect declares '{}'", name));
  Parameters made = complete(name, *row, parameters);
  if (!made.fault.empty()) return wrong_parameters(made.fault);
  if (!is_written_alike(spelling_of_value(name, made))) {
    return wrong_parameters(fmt::format("parameters of '{}' cannot be written", name));
  }
  return made;
}

const Attr* IRContext::State::unique_attribute(std::string_view spelling,
                                               const Parameters& parameters) {
  auto& table = attributes[static_cast<int>(AttrKind::kDialect)];
  const std::uint64_t hash = hash_text(spelling);
  Attr** known = table.find(spelling, hash);
  Attr* value = known == nullptr ? nullptr : *known;
  if (value == nullptr) {
    const std::string_view kept = texts.copy(spelling);
    value = new (arena.allocate(sizeof(Attr), alignof(Attr))) Attr(AttrKind::kDialect, kept);
    new (&value->list_) Published<ParameterList>();
    table.insert(kept, hash, value);
  }
  if (parameters.row != nullptr && value->row() == nullptr) value->list_.publish(keep(parameters));
  return value;
}

const Attr* IRContext::read_attribute(std::string_view spelling, SourcePos at,
                                      Diagnostics& diagnostics) {
  State& state = *state_;
  const std::string_view name = name_of_value(spelling);
  const TypeKindInfo* kind = nullptr;
  {
    const std::lock_guard lock(state.mutex);
    Attr** known = state.attributes[static_cast<int>(AttrKind::kDialect)].find(spelling);
    if (known != nullptr && (*known)->row() != nullptr) return *known;
    kind = &state.type_kind(state.attribute_kinds, name.substr(1));
    if (kind->row == nullptr) return state.unique_attribute(spelling, {});
  }
  const Parameters made = state.read_parameters(spelling, *kind->row.get(), at, diagnostics);
  const std::string canonical = made.row == nullptr ? "" : spelling_of_value(name, made);
  const std::lock_guard lock(state.mutex);
  return state.unique_attribute(made.row == nullptr ? spelling : canonical, made);
}

Result<const Attr*> IRContext::dialect_attribute(std::string_view name,
                                                 std::span<const Attr* const> parameters) {
  const std::string whole = fmt::format("#{}", name);
  auto made = state_->make(state_->attribute_kinds, whole, parameters);
  if (!made) return made.error();
  const std::lock_guard lock(state_->mutex);
  return state_->unique_attribute(spelling_of_value(whole, *made), *made);
}

}  // namespace mir

// Reads the declaration of one type: its parameters and their conditions.
#include <fmt/format.h>

#include <algorithm>

#include "declare/reader.hpp"
#include "ir/context/row_checks.hpp"
#include "mir/module.hpp"
#include "patterns/expression.hpp"
#include "support/characters.hpp"

namespace mir::declare {

namespace {

/// The parameters of a type as variables.
class Parameters : public patterns::Scope {
 public:
  explicit Parameters(std::span<const AttrRow> rows) {
    for (const AttrRow& each : rows) names_.push_back(fmt::format("${}", each.name));
  }
  std::optional<std::uint32_t> variable(std::string_view name) override {
    const auto found = std::ranges::find(names_, name);
    if (found == names_.end()) return std::nullopt;
    return static_cast<std::uint32_t>(found - names_.begin());
  }
  std::optional<std::uint32_t> value(std::string_view) override { return std::nullopt; }

 private:
  std::vector<std::string> names_;
};

struct TypeCondition {
  patterns::Expression expression;
  std::string text;
  std::string message;  ///< empty: none is stated
};

/// The conditions of `where`. Those with mistakes are reported and left out.
std::vector<TypeCondition> conditions_of(const Op& op, RowReader& reader,
                                         std::span<const AttrRow> rows) {
  IRContext& context = op.module().context();
  std::vector<TypeCondition> all;
  Parameters scope(rows);
  const auto add = [&](std::string_view text, std::string_view message) {
    auto parsed = patterns::parse_expression(text, scope, context);
    if (!parsed) {
      reader.refuse(parsed.error().message,
                    {.key = text, .part = AttributePart::kKey, .in = "where"});
      return;
    }
    all.push_back({*std::move(parsed), std::string(text), std::string(message)});
  };
  const Attr* where = op.attribute("where");
  if (where == nullptr) return all;
  if (where->kind() == AttrKind::kDict) {
    for (const NamedAttr& each : where->entries()) add(context.text(each.key), each.value->text());
  } else if (where->kind() == AttrKind::kArray) {
    for (const Attr* each : where->elements()) add(each->text(), "");
  } else {
    add(where->text(), "");
  }
  return all;
}

/// A text with variables of parameters in it.
class HolderText {
 public:
  HolderText(std::string_view text, std::span<const AttrRow> rows) : text_(text) {
    for (const AttrRow& each : rows) names_.emplace_back(each.name);
  }

  /// Returns the first variable that does not name a parameter; empty if all do.
  std::string_view unknown() const {
    std::string_view found;
    replace([&](std::string_view name) -> std::string {
      if (found.empty() && std::ranges::find(names_, name) == names_.end()) found = name;
      return {};
    });
    return found;
  }

  std::string with(std::span<const Attr* const> parameters) const {
    return replace([&](std::string_view name) {
      const auto found = std::ranges::find(names_, name);
      const Attr& value = *parameters[static_cast<std::size_t>(found - names_.begin())];
      const std::string text(value.kind() == AttrKind::kString ? value.text() : value.spelling());
      return value.kind() == AttrKind::kDim ? fmt::format("({})", text) : text;
    });
  }

 private:
  template <class Replace>
  std::string replace(const Replace& value_of) const {
    std::string made;
    std::string_view rest = text_;
    for (std::size_t at = rest.find('$'); at != rest.npos; at = rest.find('$')) {
      made += rest.substr(0, at);
      rest.remove_prefix(at + 1);
      const std::string_view name =
          rest.substr(0, std::min(rest.find_first_not_of(kWordCharacters), rest.size()));
      made += value_of(name);
      rest.remove_prefix(name.size());
    }
    return made += rest;
  }

  std::string_view text_;
  std::vector<std::string> names_;
};

/// States the tensor that holds a value of the type.
bool hold(const HolderText& holder, TypeContext& type) {
  const std::string text = holder.with(type.parameters());
  const auto held = type.context().parse_type(text);
  const auto* tensor = held ? dyn_cast<TensorType>(*held) : nullptr;
  if (tensor == nullptr || !tensor->dtype()) {
    return type.fail(
        fmt::format("'{}' is held as '{}', expected a tensor of a known element type{}",
                    type.name(), text, held ? "" : ": " + held.error().message));
  }
  type.hold_as(*tensor);
  return true;
}

}  // namespace

std::optional<TypeRowSpec> read_type(const Op& op, std::string_view dialect, RowStore& store,
                                     Diagnostics& diagnostics) {
  const std::string_view name = op.module().context().text(op.symbol());
  RowReader reader(op, fmt::format("'{}.{}'", dialect, name), store, diagnostics);
  TypeRowSpec made{
      .row = {.name = name, .summary = reader.text("summary"), .example = reader.text("example")}};
  made.parameters = reader.rows("parameters", true);
  auto conditions = conditions_of(op, reader, made.parameters);
  TypeRow whole = made.row;
  whole.parameters = made.parameters;
  if (const RowFault fault = row_checks::fault_of(whole)) {
    const std::string part = fault.part.empty() ? std::string() : fmt::format("'{}' ", fault.part);
    reader.refuse(fmt::format("{}{}", part, fault.text), {.key = fault.part, .in = "parameters"});
    return std::nullopt;
  }
  std::optional<HolderText> holder;
  if (const std::string_view text = reader.text("held_as"); !text.empty()) {
    holder.emplace(text, made.parameters);
    if (const std::string_view unknown = holder->unknown(); !unknown.empty()) {
      reader.refuse(fmt::format("'held_as' names '${}', which is not a parameter", unknown),
                    {.key = "held_as"});
      return std::nullopt;
    }
  }
  if (conditions.empty() && !holder) return made;
  made.verify = [all = std::move(conditions), holder](TypeContext& type) {
    const patterns::Bindings bindings{
        .variables = {type.parameters().begin(), type.parameters().end()}, .values = {}};
    const auto failed = std::ranges::find_if(all, [&](const TypeCondition& each) {
      return !patterns::holds(each.expression, bindings, type.context());
    });
    if (failed == all.end()) return !holder || hold(*holder, type);
    const auto value_of = [&](std::string_view variable) -> const Attr* {
      const auto rows = type.row().parameters;
      const auto row = std::ranges::find(rows, variable.substr(1), &AttrRow::name);
      return row == rows.end() ? nullptr
                               : type.parameters()[static_cast<std::size_t>(row - rows.begin())];
    };
    return type.fail(fmt::format("parameters of '{}': {}", type.name(),
                                 failed->message.empty()
                                     ? fmt::format("condition '{}' does not hold", failed->text)
                                     : fill(failed->message, value_of)));
  };
  return made;
}

}  // namespace mir::declare

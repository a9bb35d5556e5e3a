#include <fmt/format.h>

#include <algorithm>

#include "declare/reader.hpp"
#include "mir/module.hpp"
#include "patterns/expression.hpp"

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
  std::string message;
};

/// What `where` states; nothing after reporting.
std::optional<std::vector<TypeCondition>> conditions_of(const Op& op, RowReader& reader,
                                                        std::span<const AttrRow> rows) {
  IRContext& context = op.module().context();
  std::vector<TypeCondition> all;
  Parameters scope(rows);
  const auto add = [&](std::string_view text, std::string_view message) {
    auto parsed = patterns::parse_expression(text, scope, context);
    if (!parsed) return reader.refuse(parsed.error().message);
    all.push_back({*std::move(parsed), message.empty()
                                           ? fmt::format("condition '{}' does not hold", text)
                                           : std::string(message)});
    return true;
  };
  const Attr* where = op.attribute("where");
  if (where == nullptr) return all;
  bool is_good = true;
  if (where->kind() == AttrKind::kDict) {
    for (const NamedAttr& each : where->entries()) {
      is_good = is_good && add(context.text(each.key), each.value->text());
    }
  } else if (where->kind() == AttrKind::kArray) {
    for (const Attr* each : where->elements()) is_good = is_good && add(each->text(), "");
  } else {
    is_good = add(where->text(), "");
  }
  return is_good ? std::optional(std::move(all)) : std::nullopt;
}

}  // namespace

TypeRowSpec read_type(const Op& op, std::string_view dialect, RowStore& store,
                      Diagnostics& diagnostics) {
  const std::string_view name = op.module().context().text(op.symbol());
  RowReader reader(op, fmt::format("'{}.{}'", dialect, name), store, diagnostics);
  TypeRowSpec made{
      .row = {.name = name, .summary = reader.text("summary"), .example = reader.text("example")}};
  auto parameters = reader.rows("parameters", true);
  if (!parameters) return made;
  auto conditions = conditions_of(op, reader, *parameters);
  made.parameters = *std::move(parameters);
  if (!conditions || conditions->empty()) return made;
  made.verify = [all = *std::move(conditions)](TypeContext& type) {
    const patterns::Bindings bindings{
        .variables = {type.parameters().begin(), type.parameters().end()}, .values = {}};
    const auto failed = std::ranges::find_if(all, [&](const TypeCondition& each) {
      return !patterns::holds(each.expression, bindings, type.context());
    });
    return failed == all.end() ||
           type.fail(fmt::format("parameters of '{}': {}", type.name(), failed->message));
  };
  return made;
}

}  // namespace mir::declare

// Tests of chat templates, as in `x is defined`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chat/characters.hpp"
#include "chat/operations.hpp"

namespace mir::chat {
namespace {

using Test = Result<bool> (*)(const Value& operand, ArgumentReader& arguments, Budget& budget);

bool is_sequence(const Value& value) {
  return value.is_string() || value.list() != nullptr || value.dict() != nullptr ||
         value.is_undefined();
}

Result<bool> divides(const Value& operand, const Value& by, std::int64_t remainder,
                     Budget& budget) {
  const auto rest = binary_operation("%", operand, by, budget);
  if (!rest) return rest.error();
  return *rest == Value(remainder);
}

/// Compares the operand with the one argument.
template <const char* op>
Result<bool> compared(const Value& operand, ArgumentReader& arguments, Budget& budget) {
  const auto other = arguments.needed("other");
  if (!other) return other.error();
  return compare(op, operand, *other, budget);
}

constexpr char kEqual[] = "==", kUnequal[] = "!=", kLess[] = "<",
               kAtMost[] = "<=", kGreater[] = ">", kAtLeast[] = ">=", kIn[] = "in";

/// True for text whose letters all have one case, and that has such a letter.
Result<bool> has_case(const Value& operand, Budget& budget, std::string (*map)(std::string_view)) {
  const auto text = text_of(operand, budget);
  if (!text) return text.error();
  if (const auto good = budget.work(text->size() / 4); !good) return good.error();
  return map(*text) == *text && to_upper(*text) != to_lower(*text);
}

struct TestRow {
  std::string_view name;
  Test test;
};

constexpr TestRow kTests[] = {
    {"boolean",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_boolean();
     }},
    {"callable",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.macro() != nullptr;
     }},
    {"defined",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return !value.is_undefined();
     }},
    {"divisibleby",
     [](const Value& value, ArgumentReader& arguments, Budget& budget) -> Result<bool> {
       const auto by = arguments.needed("num");
       if (!by) return by.error();
       return divides(value, *by, 0, budget);
     }},
    {"eq", compared<kEqual>},
    {"equalto", compared<kEqual>},
    {"even", [](const Value& value, ArgumentReader&,
                Budget& budget) { return divides(value, Value(std::int64_t{2}), 0, budget); }},
    {"false",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_boolean() && !value.truth();
     }},
    {"float",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> { return value.is_float(); }},
    {"ge", compared<kAtLeast>},
    {"greaterthan", compared<kGreater>},
    {"gt", compared<kGreater>},
    {"in", compared<kIn>},
    {"integer",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_integer() && !value.is_boolean();
     }},
    {"iterable",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return is_sequence(value);
     }},
    {"le", compared<kAtMost>},
    {"lessthan", compared<kLess>},
    {"lower", [](const Value& value, ArgumentReader&,
                 Budget& budget) { return has_case(value, budget, to_lower); }},
    {"lt", compared<kLess>},
    {"mapping",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.dict() != nullptr;
     }},
    {"ne", compared<kUnequal>},
    {"none",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> { return value.is_none(); }},
    {"number",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_number();
     }},
    {"odd", [](const Value& value, ArgumentReader&,
               Budget& budget) { return divides(value, Value(std::int64_t{2}), 1, budget); }},
    {"sequence",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return is_sequence(value);
     }},
    {"string",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_string();
     }},
    {"true",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_boolean() && value.truth();
     }},
    {"undefined",
     [](const Value& value, ArgumentReader&, Budget&) -> Result<bool> {
       return value.is_undefined();
     }},
    {"upper", [](const Value& value, ArgumentReader&,
                 Budget& budget) { return has_case(value, budget, to_upper); }},
};

}  // namespace

Result<bool> apply_test(std::string_view name, const Value& operand, const Arguments& arguments,
                        Budget& budget) {
  const auto row = std::ranges::find(kTests, name, &TestRow::name);
  if (row == std::end(kTests))
    return template_unsupported(fmt::format("test '{}' is not supported", short_name(name)));
  const std::size_t given = arguments.positional.size() + arguments.named.size();
  if (const auto good = budget.work(given); !good) return good.error();
  ArgumentReader reader(name, arguments);
  const auto result = row->test(operand, reader, budget);
  if (!result) return result;
  const auto good = reader.finish();
  return good ? result : Result<bool>(good.error());
}

}  // namespace mir::chat

// Which parameters the op of an example owns and their extents, with all of its attributes and
// without each of them, as parameters.txt stores it; UPDATE_GOLDEN=1 writes it anew.
#include "dialects/parameters.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "../stored_lines.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"

namespace parameters_test {

using namespace mir;

namespace {

std::string dims_text(IRContext& context, const std::optional<std::vector<Dim>>& dims) {
  if (!dims) return "no rank";
  std::string text;
  for (const Dim dim : *dims) text += (text.empty() ? "" : ", ") + context.dims().print(dim);
  return "[" + text + "]";
}

/// `.weight [2, 3] own`, with the number of elements behind it if all extents are known.
std::string parameters_of(const OpRow& row, IRContext& context, const TensorType* operand,
                          const TensorType* result, std::span<const NamedAttr> attributes) {
  std::string text;
  for (const WeightRow& weight : row.weights) {
    const bool owns = owns_parameter(row, weight, context, attributes);
    const auto extents = parameter_extents(weight, context, operand, result, attributes);
    std::int64_t elements = 1;
    for (const std::int64_t extent : extents.value_or(std::vector<std::int64_t>{})) {
      elements *= extent;
    }
    text += fmt::format(
        "{}{} {}{}{}", text.empty() ? "" : "; ", weight.suffix,
        dims_text(context, parameter_dims(weight, context, operand, result, attributes)),
        owns ? " own" : "", extents ? fmt::format(" {}", elements) : "");
  }
  return text;
}

}  // namespace

TEST_CASE("the parameters of examples, with and without each attribute, are those stored") {
  std::vector<std::string> found;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.weights.empty()) continue;
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const SourceFile* file =
          context.sources().add("test", "@main () -> () {\n" + std::string(row.example) + "\n}\n");
      const auto modules = read_modules(*file, context, diagnostics);
      REQUIRE_FALSE(diagnostics.has_errors());
      const Op& op = *modules.front()->body().entry()->front();
      REQUIRE(op.operand_count() > 0);
      const TensorType* operand = op.operand(0)->tensor_type();
      const TensorType* result = op.result(0)->tensor_type();
      const auto add = [&](const std::string& what, const TensorType* from, const TensorType* to,
                           std::span<const NamedAttr> attributes) {
        found.push_back(fmt::format("{} | {} | {}", row.name, what,
                                    parameters_of(row, context, from, to, attributes)));
      };
      add("", operand, result, op.attributes());
      add("without an operand", nullptr, result, op.attributes());
      add("without a result", operand, nullptr, op.attributes());
      add("without attributes", operand, result, {});
      add("without anything", nullptr, nullptr, {});
      for (std::size_t i = 0; i < op.attributes().size(); ++i) {
        std::vector<NamedAttr> others(op.attributes().begin(), op.attributes().end());
        const std::string key(context.text(others[i].key));
        others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
        add("without " + key, operand, result, others);
        for (const Attr* value : {context.integer(-1), context.integer(0), context.integer(3),
                                  context.boolean(false), context.boolean(true)}) {
          std::vector<NamedAttr> changed(op.attributes().begin(), op.attributes().end());
          changed[i].value = value;
          add(fmt::format("{}:{}", key, value->spelling()), operand, result, changed);
        }
      }
    }
  }
  REQUIRE(found.size() > 100);
  CHECK(found == mir::test::stored_lines("testdata/unit/dialects/parameters.txt", found));
}

}  // namespace parameters_test

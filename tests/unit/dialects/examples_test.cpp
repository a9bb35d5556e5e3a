#include <algorithm>
#include <regex>

#include "dialects/listing.hpp"
#include "infer.hpp"

using namespace mir;
using mir::testing::infer_line;

TEST_CASE("the result types of every example are those that its rule gives") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.infer == nullptr) continue;
      CAPTURE(row.example);
      const auto answer = infer_line(std::string(row.example));
      CHECK(answer.error == "");
      CHECK(answer.inferred == answer.declared);
    }
  }
}

TEST_CASE("with numbers as extents, a run refuses what rows and data announce, and nothing else") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.infer == nullptr || row.effects != Effect::kNone) continue;
      CAPTURE(row.example);
      if (row.regions.max != 0) continue;  // its symbols are its own
      const std::string sums =
          std::regex_replace(std::string(row.example), std::regex("\\$past\\+\\$S"), "8");
      const std::string text = std::regex_replace(sums, std::regex("\\$[A-Za-z]+"), "4");
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const SourceFile* file =
          context.sources().add("example", "@main [mir_version:1] () -> () {\n" + text + "\n}\n");
      const auto modules = read_modules(*file, context, diagnostics);
      REQUIRE_FALSE(modules.empty());
      const Op& op = *modules.front()->body().entry()->front();
      const bool is_quantised = text.find("PerTensor") != text.npos;
      const auto given = infer(op, operand_types(op), op.attributes(), diagnostics);
      REQUIRE(given);
      // A run compares what the data decide with the declared extents.
      const bool is_open = std::ranges::any_of(*given, [](const Type* type) {
        return type == nullptr || type->spelling().find('?') != std::string_view::npos;
      });
      CHECK(may_refuse(op) == (has(row.traits, Trait::kMayRefuse) || is_open || is_quantised));
    }
  }
}

TEST_CASE(
    "every example has the attributes its row requires, no unknown ones, and fitting counts") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      CAPTURE(row.example);
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const SourceFile* file = context.sources().add(
          "example", "@main () -> () {\n" + std::string(row.example) + "\n}\n");
      const auto modules = read_modules(*file, context, diagnostics);
      REQUIRE_FALSE(diagnostics.has_errors());
      const Op* op = modules.front()->body().entry()->front();
      REQUIRE(op->row() == &row);
      CHECK(row.operands.admits(op->plain_operands().size()));
      CHECK(row.results.admits(op->result_count()));
      CHECK(row.regions.admits(op->region_count()));
      CHECK(row.successors.admits(op->extra().successors.size()));
      for (const NamedAttr& attribute : op->attributes()) {
        const std::string_view key = context.text(attribute.key);
        CAPTURE(key);
        CHECK(std::ranges::find(row.attributes, key, &AttrRow::name) != row.attributes.end());
      }
      for (const AttrRow& attribute : row.attributes) {
        CAPTURE(attribute.name);
        const Symbol key = context.intern(attribute.name);
        const bool present =
            std::ranges::find(op->attributes(), key, &NamedAttr::key) != op->attributes().end();
        CHECK((present || !attribute.required));
      }
    }
  }
}

TEST_CASE("the lists of ops have a line for every op, with what supports it") {
  IRContext context;
  register_builtin_dialects(context);
  const OpSupport support{.ref = [](OpId op) { return op != OpId::kTensorFree; },
                          .fast = [](OpId op) { return op == OpId::kLinalgAdd; }};
  const std::string lines = "\n" + list_ops(context, support);
  const std::string page = ops_index(context, support);
  std::size_t rows = 0;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      const std::string name = std::string(dialect->name) + "." + std::string(row.name);
      CAPTURE(name);
      const auto at = lines.find("\n" + name + " ");
      REQUIRE(at != lines.npos);
      const std::string line = lines.substr(at, lines.find('\n', at + 1) - at);
      CHECK(line == test::Part{" parse verify "});
      const bool inferred = row.infer != nullptr || has(row.traits, Trait::kTypedByName);
      CHECK((line.find(" infer ") != line.npos) == inferred);
      CHECK((line.find(" ref ") != line.npos) == (name != "tensor.free"));
      CHECK((line.find(" fast ") != line.npos) == (name == "linalg.AddOp"));
      CHECK(page.find("| [" + std::string(row.name) + "](") != page.npos);
      ++rows;
    }
  }
  CHECK(static_cast<std::size_t>(std::ranges::count(lines, '\n')) == rows + 1);
}

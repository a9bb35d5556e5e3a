// The dialects of the toolkit as texts: what is read from them is what code has.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "../project_files.hpp"
#include "../syntax/corpus.hpp"
#include "dialects/signatures.hpp"
#include "mir/equivalence.hpp"
#include "mir/infer.hpp"
#include "mir/parse.hpp"
#include "mir/walk.hpp"
#include "op_templates.hpp"
#include "read.hpp"

using namespace mir;
using mir::test::Declared;

namespace written_dialects_test {

namespace {

/// The text of a dialect under another name, so that it can be read beside the one of the toolkit.
std::string renamed(const Dialect& dialect) {
  std::string text = dialect_text(dialect);
  const std::string head = fmt::format("@{} ", dialect.name);
  REQUIRE(text.starts_with(head));
  return text.replace(0, head.size(), fmt::format("@{}_text ", dialect.name));
}

std::string arity_text(Arity arity) {
  return fmt::format("{}..{}", arity.min, arity.max);
}

std::string attribute_text(const AttrRow& row) {
  // Two spellings of one number are one default.
  std::string otherwise(row.default_text);
  if (row.type == AttrType::kFloat && !otherwise.empty()) {
    otherwise = fmt::format("{}", std::stod(otherwise));
  }
  return fmt::format("{} {} {} '{}' '{}' [{}] {}..{}", row.name, fmt::underlying(row.type),
                     row.required, otherwise, row.summary, fmt::join(row.choices, "|"),
                     row.range.low, row.range.high);
}

/// Everything of a row but its functions, page and version.
std::string row_text(const OpRow& row) {
  std::string text = fmt::format(
      "{} '{}' [{}] {} -> {} regions {} successors {} traits {:x} effects {:x} '{}' '{}'", row.name,
      row.type_name, fmt::join(row.aliases, "|"), arity_text(row.operands), arity_text(row.results),
      arity_text(row.regions), arity_text(row.successors), fmt::underlying(row.traits),
      fmt::underlying(row.effects), row.summary, row.example);
  for (const AttrRow& each : row.attributes) text += "\n  " + attribute_text(each);
  for (const WeightRow& each : row.weights) {
    text += fmt::format("\n  {} {} {}", each.suffix, each.present_if, each.shape);
  }
  return text + (row.resource ? "\n  resource" : "");
}

std::string row_text(const TypeRow& row) {
  std::string text = fmt::format("{} '{}' '{}'", row.name, row.summary, row.example);
  for (const AttrRow& each : row.parameters) text += "\n  " + attribute_text(each);
  return text;
}

template <class Row>
void check_rows(std::span<const Row> found, std::span<const Row> wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(row_text(found[i]) == row_text(wanted[i]));
}

/// Compares the types that rules of code give with those that the written signatures give.
class Comparison {
 public:
  explicit Comparison(IRContext& context) : context_(context) {
    for (const Dialect* each : builtin_dialects()) {
      Diagnostics diagnostics;
      const SourceFile* file = context.sources().add(std::string(each->name), renamed(*each));
      read_modules(*file, context, diagnostics);
      REQUIRE_FALSE(diagnostics.has_errors());
    }
  }

  void compare(const OpRow& row, std::string_view dialect, std::span<const Type* const> operands,
               std::span<const NamedAttr> attributes, std::size_t results, Symbol device) {
    if (std::ranges::find(operands, nullptr) != operands.end()) return;
    const auto kind = context_.find_kind(fmt::format("{}_text.{}", dialect, row.name));
    REQUIRE(kind);
    const OpRow* written = context_.info(*kind).row;
    REQUIRE(written != nullptr);
    if (!row.operands.admits(operands.size()) || !row.results.admits(results)) return;
    InferRequest request{.context = context_,
                         .row = row,
                         .operands = operands,
                         .attributes = attributes,
                         .result_count = results,
                         .device = device};
    Diagnostics of_code, of_text;
    const auto expected = infer(request, of_code);
    if (!expected) return;
    InferRequest by_text{.context = context_,
                         .row = *written,
                         .operands = operands,
                         .attributes = attributes,
                         .result_count = results,
                         .device = device};
    const auto found = infer(by_text, of_text);
    std::string line = fmt::format("{}.{}", dialect, row.name);
    for (const Type* each : operands) line += fmt::format(" {}", each->spelling());
    for (const NamedAttr& each : attributes) {
      line += fmt::format(" {}:{}", context_.text(each.key), each.value->spelling());
    }
    CAPTURE(line);
    if (!found) {
      for (const Diagnostic& each : of_text.sorted()) FAIL_CHECK(each.message);
      return;
    }
    names.emplace(row.name);
    for (std::size_t i = 0; i < expected->size(); ++i) {
      const Type* wanted = (*expected)[i];
      const Type* given = i < found->size() ? (*found)[i] : nullptr;
      if (wanted == nullptr) continue;
      if (given == nullptr) {
        untyped.emplace(row.name);
        continue;
      }
      if (given == wanted) {
        ++equal;
      } else {
        // Dumps leave out what a portable module must say, and then an extent is `?`.
        CAPTURE(given->spelling());
        CAPTURE(wanted->spelling());
        CHECK(compatible(given, wanted));
        CHECK(lacks_required(row, attributes));
      }
    }
  }

  bool lacks_required(const OpRow& row, std::span<const NamedAttr> attributes) const {
    return std::ranges::any_of(row.attributes, [&](const AttrRow& each) {
      return each.required && std::ranges::none_of(attributes, [&](const NamedAttr& stated) {
               return context_.text(stated.key) == each.name;
             });
    });
  }

  void compare(const Op& op) {
    if (op.row() == nullptr || !op.row()->infer) return;
    const std::vector<const Type*> operands = operand_types(op);
    const std::string_view name = op.name();
    compare(*op.row(), name.substr(0, name.find('.')), operands, op.attributes(), op.result_count(),
            op.device());
  }

  std::size_t equal = 0;
  std::set<std::string> names, untyped;

 private:
  IRContext& context_;
};

}  // namespace

TEST_SUITE("dialects of the toolkit as text") {
  TEST_CASE("what is read from the text of a dialect are its rows") {
    for (const Dialect* dialect : builtin_dialects()) {
      CAPTURE(dialect->name);
      const Declared read(renamed(*dialect));
      CHECK(read.problems == "");
      const Dialect* found = read.context.find_dialect(fmt::format("{}_text", dialect->name));
      REQUIRE(found != nullptr);
      CHECK(found->device_in_path == dialect->device_in_path);
      CHECK(found->attributes == dialect->attributes);
      CHECK(found->summary == dialect->summary);
      check_rows(found->rows, dialect->rows);
      check_rows(found->types, dialect->types);
      check_rows(found->attribute_kinds, dialect->attribute_kinds);
      CHECK(dialect_text(*found) == renamed(*dialect));
    }
  }

  TEST_CASE("written signatures give the types that rules give") {
    IRContext context;
    register_builtin_dialects(context);
    Comparison all(context);
    const test::OpTemplates templates(context);
    test::Random random(1);
    for (const test::OpPattern& pattern : templates.all()) {
      for (int i = 0; i < 40; ++i) {
        const test::OpPattern varied = templates.vary(pattern, random, i % 2 == 0);
        const std::vector<const Type*> operands(varied.operands.begin(), varied.operands.end());
        const std::string_view name = varied.spelling;
        all.compare(*varied.row, name.substr(0, name.find('.')), operands, varied.attributes,
                    varied.results.size(), context.intern("CPU"));
      }
    }
    for (const std::string& path : test::corpus()) {
      Diagnostics diagnostics;
      const SourceFile* file = context.sources().add(path, test::read_whole(path));
      for (const Module* module : read_modules(*file, context, diagnostics)) {
        for_each_op(*module, [&](const Op& op) { all.compare(op); });
      }
    }
    // Every rule is compared, and those without a signature are the ones that give no type.
    std::set<std::string> silent, rules;
    for (const Dialect* dialect : builtin_dialects()) {
      for (const OpRow& row : dialect->rows) {
        if (row.infer && signatures_of(row.infer).empty()) silent.emplace(row.name);
        if (row.infer) rules.emplace(row.name);
      }
    }
    CHECK(all.untyped == silent);
    CHECK(all.names == rules);
    CHECK(all.equal > 3000);
  }
}

}  // namespace written_dialects_test

// docs/ops/*.md against rows, rules and tests.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../project_files.hpp"
#include "dialects/operand_names.hpp"
#include "dialects/rules.hpp"
#include "mir/dialects.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "support/diagnostic_catalogue.hpp"

using namespace mir;
using mir::test::kRoot;
using mir::test::read_whole;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files(const char* folder, std::string_view prefix, std::string_view suffix) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(kRoot / folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(suffix)) found.push_back(entry.path());
  }
  REQUIRE_FALSE(found.empty());
  return found;
}

bool is_id(std::string_view word) {
  const auto at = word.rfind("_c");
  return at != word.npos && at != 0 && at + 2 < word.size() &&
         std::all_of(word.begin() + static_cast<std::ptrdiff_t>(at) + 2, word.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

/// Every constraint id that follows `before` in the texts.
std::vector<std::string> ids(const std::vector<fs::path>& paths, std::string_view before) {
  const auto in_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::vector<std::string> found;
  for (const fs::path& path : paths) {
    const std::string text = read_whole(path);
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t begin = at;
      while (at < text.size() && in_word(text[at])) ++at;
      const std::string_view word = std::string_view(text).substr(begin, at - begin);
      if (is_id(word) && std::string_view(text).substr(0, begin).ends_with(before)) {
        found.emplace_back(word);
      }
      if (at == begin) ++at;
    }
  }
  std::ranges::sort(found);
  return found;
}

std::set<std::string> set_of(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

std::vector<std::string> examples(const fs::path& page) {
  std::vector<std::string> blocks;
  const std::string text = read_whole(page), open = "```mir\n";
  for (auto at = text.find(open); at != text.npos; at = text.find(open, at)) {
    at += open.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

/// Constraints that no shape rule holds; tests/unit/verify ties them to text and tests.
constexpr std::string_view kVerifiers[] = {"bind",  "cache",    "constant", "control", "exit",
                                           "field", "fragment", "free",     "jump",    "launch",
                                           "loop",  "param",    "register", "ret",     "slot"};

/// Whether the rule of `op`, if there is one, gives the types that the text states.
void check_types(Op& op) {
  const OpRow* row = op.row();
  CAPTURE(op.name());
  REQUIRE(row != nullptr);
  CHECK(row->operands.admits(op.plain_operands().size()));
  CHECK(row->results.admits(op.result_count()));
  if (row->infer == nullptr) return;
  Diagnostics diagnostics;
  const auto types = infer(op, operand_types(op), op.attributes(), diagnostics);
  for (const Diagnostic& diagnostic : diagnostics.sorted()) MESSAGE(diagnostic.message);
  REQUIRE(types.has_value());
  REQUIRE(types->size() == op.result_count());
  for (std::size_t i = 0; i < op.result_count(); ++i) {
    CHECK((*types)[i]->spelling() == mir::testing::type_before_run(op, i)->spelling());
  }
}

}  // namespace

TEST_CASE("every constraint of a rule is explained on one page and refused in a test") {
  auto list = ids(files("docs/ops", "", ".md"), "\n- `");
  // Those of the machine and of control flow are the verifier's own.
  std::erase_if(list, [](const std::string& id) {
    const std::string_view family = std::string_view(id).substr(0, id.rfind("_c"));
    return std::ranges::find(kVerifiers, family) != std::end(kVerifiers);
  });
  const auto explained = set_of(list);
  CHECK(list.size() == explained.size());
  const auto checked = set_of(ids(files("src/dialects", "rules_", ".cpp"), ""));
  auto tests = files("tests/unit/dialects", "rules_", "_test.cpp");
  // Rules of regions are the verifier's.
  for (const auto& each : files("tests/unit/verify", "rules_", "_test.cpp")) tests.push_back(each);
  const auto tested = set_of(ids(tests, ""));
  CHECK(explained.size() > 60);
  CHECK(explained == checked);
  CHECK(explained == tested);
  for (const std::string& name : explained) {
    CAPTURE(name);
    const std::string rule = name.substr(0, name.rfind("_c"));
    CHECK(std::ranges::find(rules::all(), rule, &rules::NamedRule::name) != rules::all().end());
    CHECK(cite_constraint(name) == test::Part{name + ": docs/ops/"});
  }
}

TEST_CASE("every op is described on its page") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      CAPTURE(row.name);
      const std::string page = read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      std::string name(row.name);
      if (name.ends_with("Op") && row.name != "InstructionOp") name.resize(name.size() - 2);
      if (row.name == "InstructionOp") name = "prog.inst";
      if (row.name == "HintsOp") continue;  // reserved
      CHECK(page == test::Part{name});
    }
  }
}

TEST_CASE("every attribute of a linalg op is described on its page") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (dialect->name != "linalg") continue;
      const std::string page = read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      for (const AttrRow& attribute : row.attributes) {
        CAPTURE(row.name);
        CAPTURE(attribute.name);
        CHECK(page == test::Part{attribute.name});
      }
    }
  }
}

TEST_CASE("operands have names that the pages of their ops use") {
  IRContext context;
  register_builtin_dialects(context);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  std::size_t named = 0;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      const auto kind = context.find_kind(std::string(dialect->name) + "." + std::string(row.name));
      REQUIRE(kind.has_value());
      const OperandNames names = operand_names(context.info(*kind), *kind);
      if (names.names.empty() || row.page.empty()) continue;
      CAPTURE(row.name);
      CHECK((row.operands.max == Arity::kMany || names.names.size() <= row.operands.max));
      const std::string page = read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      for (const std::string& name : names.names) {
        CAPTURE(name);
        bool is_found = false;
        for (auto at = page.find(name); at != page.npos; at = page.find(name, at + 1)) {
          const std::size_t end = at + name.size();
          const bool begins = at == 0 || !is_letter(page[at - 1]);
          is_found |= begins && (end == page.size() || !is_letter(page[end]));
        }
        CHECK(is_found);
      }
      ++named;
    }
  }
  CHECK(named > 70);
}

TEST_CASE("operands of a list are numbered, and an only operand without a name is x") {
  const OperandNames list{.names = {"condition", "values"}, .has_more = true};
  CHECK(list.at(0, 3) == "condition");
  CHECK(list.at(1, 2) == "values");
  CHECK(list.at(1, 3) == "values1");
  CHECK(list.at(2, 3) == "values2");
  CHECK(OperandNames().at(0, 1) == "x");
  CHECK(OperandNames().at(1, 2) == "operand1");
}

TEST_CASE("the examples of the pages are portable and have the types that the rules give") {
  for (const fs::path& page : files("docs/ops", "", ".md")) {
    const bool has_none =
        page.stem() == "conventions" || page.stem() == "program" || page.stem() == "generic-bodies";
    CAPTURE(page.string());
    const auto blocks = examples(page);
    CHECK(blocks.empty() == has_none);
    for (const std::string& text : blocks) {
      IRContext context;
      register_builtin_dialects(context);
      Diagnostics diagnostics;
      const SourceFile* file = context.sources().add(page.string(), text);
      const auto modules = read_modules(*file, context, diagnostics);
      for (const Diagnostic& diagnostic : diagnostics.sorted()) MESSAGE(diagnostic.message);
      REQUIRE_FALSE(diagnostics.has_errors());
      REQUIRE(modules.size() == 1);
      CHECK(modules.front()->is_portable());
      walk<OpView>(*modules.front(), [&](OpView view) { check_types(*view.op()); });
    }
  }
}

TEST_CASE("every op has a section that names a constraint") {
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; };
  const auto is_about = [&](std::string_view section, std::string_view name) {
    for (auto at = section.find(name); at != section.npos; at = section.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !in_name(section[at - 1])) &&
          (end == section.size() || !in_name(section[end]) || section.substr(end, 2) == "Op")) {
        return true;
      }
    }
    return false;
  };
  const auto names_constraint = [&](std::string_view section) {
    for (auto at = section.find("_c"); at != section.npos; at = section.find("_c", at + 1)) {
      if (at != 0 && in_name(section[at - 1]) && at + 2 < section.size() &&
          section[at + 2] >= '1' && section[at + 2] <= '9') {
        return true;
      }
    }
    return false;
  };
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      CAPTURE(row.name);
      const std::string page =
          "\n" + read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      std::string name(row.name);
      if (name.ends_with("Op")) name.resize(name.size() - 2);
      if (row.name == "InstructionOp") name = "inst";
      bool found = false;
      for (std::size_t at = 0; at != page.npos && !found;) {
        const auto next = page.find("\n## ", at + 1);
        const std::string_view section = std::string_view(page).substr(at, next - at);
        found = is_about(section, name) && names_constraint(section);
        at = next;
      }
      CHECK(found);
    }
  }
}

namespace {

using Cells = std::vector<std::string>;

/// The cells of a table's line.
Cells cells_of(std::string_view line) {
  Cells cells;
  std::string_view rest = line.substr(std::min<std::size_t>(line.size(), 2));
  for (auto end = rest.find(" |"); end != rest.npos; end = rest.find(" |")) {
    cells.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(rest.size(), end + 3));
  }
  return cells;
}

/// The lines of the tables of a page, each with the heading above it and its table's first cell.
struct TableLine {
  std::string heading, title;
  Cells cells;
};

std::vector<TableLine> tables(const std::string& page) {
  std::vector<TableLine> lines;
  std::string heading, title;
  std::istringstream text(page);
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("## ")) heading = line;
    if (!line.starts_with("|")) title.clear();
    if (!line.starts_with("| ")) continue;
    const Cells cells = cells_of(line);
    if (title.empty()) title = cells.front();
    lines.push_back({heading, title, cells});
  }
  return lines;
}

std::string in_ticks(std::string_view id) {
  return "`" + std::string(id) + "`";
}

std::string describe(Arity arity) {
  const std::string least = std::to_string(arity.min);
  if (arity.max == Arity::kMany) return least + " or more";
  return arity.max == arity.min ? least : least + " to " + std::to_string(arity.max);
}

/// Whether an attribute's table says of `key` what the row says; `mnemonic` tells apart the ops of
/// one table.
bool explains(const TableLine& line, std::string_view mnemonic, const AttrRow& key) {
  const auto at = std::ranges::find(line.cells, in_ticks(key.name));
  if (at == line.cells.end() || line.cells.end() - at < 3) return false;
  const bool named = line.title == "Attribute" || line.title.ends_with(mnemonic) ||
                     (at != line.cells.begin() &&
                      (", " + line.cells.front() + ",").find(" " + std::string(mnemonic) + ",") !=
                          std::string::npos);
  return named && (at[1] == "R") == key.required && !at[1].empty() && !at[2].empty();
}

}  // namespace

TEST_CASE("ops without a shape rule have a line in their page's table") {
  std::size_t found = 0;
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.infer != nullptr || row.page == "extension") continue;
      const std::string name = std::string(dialect->name) + "." + std::string(row.name);
      CAPTURE(name);
      const auto lines = tables(read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md")));
      const auto line = std::ranges::find_if(
          lines, [&](const TableLine& each) { return each.cells.front() == in_ticks(name); });
      REQUIRE(line != lines.end());
      REQUIRE(line->cells.size() == 6);
      CHECK(line->cells[1] == describe(row.operands));
      CHECK(line->cells[2] == describe(row.results));
      CHECK(line->cells[3] == describe(row.regions));
      CHECK_FALSE(line->cells[4].empty());
      const auto cites = [&](std::string_view id) {
        return line->cells[5].find(in_ticks(id)) != std::string::npos;
      };
      const bool is_module = dialect->name == "builtin";
      CHECK(cites("op_c2"));
      CHECK(cites("op_c3") == has(row.traits, Trait::kDumpOnly));
      CHECK(cites("block_c1") == has(row.traits, Trait::kTerminator));
      CHECK(cites("symbol_c1") == (has(row.traits, Trait::kSymbol) && !is_module));
      CHECK(cites("attribute_c3") == !row.attributes.empty());
      CHECK(cites("attribute_c2") == std::ranges::any_of(row.attributes, &AttrRow::required));
      for (const AttrRow& key : row.attributes) {
        CAPTURE(key.name);
        CHECK(std::ranges::any_of(lines, [&](const TableLine& each) {
          return each.heading.find(name) != std::string::npos && explains(each, row.name, key);
        }));
      }
      ++found;
    }
  }
  CHECK(found == 45);
}

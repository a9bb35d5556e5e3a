// docs/ops/*.md against rows, rules and tests.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "../project_files.hpp"
#include "mir/dialects/dialects.hpp"
#include "mir/dialects/rules.hpp"
#include "mir/ir/infer.hpp"
#include "mir/ir/module.hpp"
#include "mir/ir/resolve.hpp"
#include "mir/ir/writer.hpp"

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

/// Every constraint id that stands behind `before` in the texts.
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
constexpr std::string_view kMachine[] = {"bind", "exit",   "fragment", "free",
                                         "jump", "launch", "ret",      "slot"};

/// Whether the rule of `op`, if there is one, gives the types that the text states.
void check_types(IRContext& context, Op& op) {
  const OpRow* row = op.row();
  CAPTURE(op.name());
  REQUIRE(row != nullptr);
  CHECK(row->operands.admits(op.operand_count()));
  CHECK(row->results.admits(op.result_count()));
  if (row->infer == nullptr) return;
  std::vector<const Type*> operands;
  for (std::size_t i = 0; i < op.operand_count(); ++i) operands.push_back(op.operand(i)->type());
  Diagnostics diagnostics;
  InferContext rule(context, row->name, operands, op.attributes(), op.result_count(), Span{},
                    diagnostics);
  const bool good = row->infer(rule);
  for (const Diagnostic& diagnostic : diagnostics.sorted()) MESSAGE(diagnostic.message);
  REQUIRE(good);
  REQUIRE(rule.results().size() == op.result_count());
  for (std::size_t i = 0; i < op.result_count(); ++i) {
    CHECK(rule.results()[i]->spelling() == op.result(i)->type()->spelling());
  }
}

}  // namespace

TEST_CASE("every constraint of a rule is explained on one page and refused in a test") {
  auto list = ids(files("docs/ops", "", ".md"), "\n- `");
  // The machine's constraints are the verifier's own.
  std::erase_if(list, [](const std::string& id) {
    const std::string_view family = std::string_view(id).substr(0, id.rfind("_c"));
    return std::ranges::find(kMachine, family) != std::end(kMachine);
  });
  const auto explained = set_of(list);
  CHECK(list.size() == explained.size());
  const auto checked = set_of(ids(files("src/ir/dialects", "rules_", ".cpp"), ""));
  const auto tested = set_of(ids(files("tests/unit/dialects", "rules_", "_test.cpp"), ""));
  CHECK(explained.size() > 60);
  CHECK(explained == checked);
  CHECK(explained == tested);
  for (const std::string& name : explained) {
    CAPTURE(name);
    const std::string rule = name.substr(0, name.rfind("_c"));
    CHECK(std::ranges::find(rules::all(), rule, &rules::NamedRule::name) != rules::all().end());
  }
}

TEST_CASE("every op stands on its page") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      CAPTURE(row.name);
      const std::string page = read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      std::string name(row.name);
      if (name.ends_with("Op") && row.name != "InstructionOp") name.resize(name.size() - 2);
      if (row.name == "InstructionOp") name = "prog.inst";
      if (row.name == "HintsOp") continue;  // reserved
      CHECK(page.find(name) != page.npos);
    }
  }
}

TEST_CASE("every attribute of a linalg op stands on its page") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (dialect->name != "linalg") continue;
      const std::string page = read_whole(kRoot / "docs/ops" / (std::string(row.page) + ".md"));
      for (const AttrRow& attribute : row.attributes) {
        CAPTURE(row.name);
        CAPTURE(attribute.name);
        CHECK(page.find(attribute.name) != page.npos);
      }
    }
  }
}

TEST_CASE("the examples of the pages are portable and have the types that the rules give") {
  for (const fs::path& page : files("docs/ops", "", ".md")) {
    const bool has_none = page.stem() == "conventions" || page.stem() == "program";
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
      IRWriter writer(*modules.front());
      writer.walk<OpView>([&](IRWriter&, OpView view) {
        check_types(context, *view.op());
        return IRWriter::WalkResult::WALK_CONTINUE;
      });
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

// testdata/diagnostics/ against the codes and against what is really reported.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "../support/sarif_objects.hpp"
#include "mir/codes/verification.hpp"
#include "mir/diagnostic.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/verify.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/expectation.hpp"

using namespace mir;
namespace fs = std::filesystem;

namespace {

const fs::path kFolder = fs::path(MIR_SOURCE_ROOT) / "testdata/diagnostics";

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_one_sentence_or_more(const std::string& text) {
  return text.size() > 8 && text.ends_with('.') && text.find('\n') == text.npos;
}

/// What the checks report of one part of an entry; holds it to the part's expectations.
std::vector<Diagnostic> check_part(const InputPart& part) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile& file = *context.sources().add("entry", std::string(part.text), part.first_line);
  Diagnostics diagnostics(0);
  const auto modules = read_modules(file, context, diagnostics);
  if (!diagnostics.has_errors()) {
    for (const Module* module : modules) verify(*module, diagnostics);
  }
  for (const Diagnostic& each : check_expectations(file, context.sources(), diagnostics).sorted()) {
    FAIL_CHECK("line ", file.line_column(each.at.begin).line, ": ", each.message);
  }
  Diagnostics malformed;
  const auto expected = read_expectations(file, malformed);
  const auto found = diagnostics.sorted();
  // Entries quote messages whole, because readers are shown what they quote.
  for (const ExpectedDiagnostic& each : expected) {
    const bool whole = std::ranges::any_of(found, [&](const Diagnostic& diagnostic) {
      return diagnostic.message == each.text ||
             std::ranges::any_of(diagnostic.notes,
                                 [&](const Note& note) { return note.message == each.text; });
    });
    CHECK_MESSAGE(whole, each.text);
  }
  SarifLog log;
  log.add(diagnostics, context.sources());
  const auto document = nlohmann::json::parse(log.finish("mllm-parse", "1"));
  for (const std::string& problem : test::sarif::Walk::problems(document)) FAIL_CHECK(problem);
  return found;
}

}  // namespace

TEST_SUITE("catalogue") {
  TEST_CASE("every code has a cause, a fix, an example that is refused and one that is accepted") {
    for (const DiagCodeInfo& info : diagnostic_codes()) {
      const std::string code = spelling(info.code);
      CAPTURE(code);
      const auto entry = catalogue_entry(info.code);
      CHECK(entry);
      if (!entry) continue;
      CHECK(is_one_sentence_or_more(entry->cause));
      CHECK(is_one_sentence_or_more(entry->fix));
      CHECK_FALSE(entry->refused.empty());
      CHECK_FALSE(entry->accepted.empty());
      const bool program = entry->kind == CatalogueEntry::Kind::kProgram;
      CHECK((program ? entry->refused.find('"' + code + '"')
                     : entry->diagnostics.find("[" + code + "]")) != std::string::npos);
    }
  }

  TEST_CASE("every entry is of a code, and of one kind") {
    for (const auto& file : fs::directory_iterator(kFolder)) {
      const fs::path path = file.path();
      CAPTURE(path.string());
      if (file.is_directory()) {
        CHECK(path.filename() == "data");
        continue;
      }
      const std::string stem = path.stem().string();
      CHECK(std::ranges::any_of(diagnostic_codes(), [&](const DiagCodeInfo& info) {
        return spelling(info.code) == stem;
      }));
      int kinds = 0;
      for (const char* suffix : {".mir", ".test", ".cpp"}) {
        kinds += fs::exists(kFolder / (stem + suffix));
      }
      CHECK(kinds == 1);
    }
  }

  TEST_CASE("the first text of an entry is refused with its code, the last is accepted") {
    for (const auto& file : fs::directory_iterator(kFolder)) {
      if (file.path().extension() != ".mir") continue;
      const std::string code = file.path().stem().string();
      CAPTURE(code);
      const std::string text = read(file.path());
      CHECK(text.find("// RUN: mllm-parse --verify-diagnostics --split-input-file %s\n") !=
            std::string::npos);
      const auto parts = split_input(text);
      REQUIRE(parts.size() > 1);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto found = check_part(parts[i]);
        if (i == 0) {
          CHECK(std::ranges::any_of(
              found, [&](const Diagnostic& each) { return spelling(each.code) == code; }));
        }
        if (i + 1 == parts.size()) CHECK(found.empty());
      }
    }
  }

  TEST_CASE("an explanation shows the code, its cause, both examples and the fix") {
    const std::string text = explain(diag::kUnknownAttribute);
    std::size_t at = 0;
    for (const char* part :
         {"MIR0408: an attribute that the operation does not have\n\nCause: ",
          "\nRefused:\n\n    @", "[axis:1]",
          "\n    line 2: error[MIR0408]: 'linalg.SiLUOp' has no attribute 'axis'\n",
          "\nFix: ", "\nAccepted:\n\n    @"}) {
      CAPTURE(part);
      at = text.find(part, at);
      REQUIRE(at != std::string::npos);
    }
    CHECK(text != test::Part{"expect-error"});
  }
}

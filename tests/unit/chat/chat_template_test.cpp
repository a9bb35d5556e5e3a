// Chat templates: texts, refusals with their places, limits. tests/oracle/templates compares with
// Jinja.
#include "chat/chat_template.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"

namespace chat_template_test {
namespace {

using namespace mir;
using chat::Value;

/// The text, or `line:column code`.
std::string rendered(const std::string& text,
                     std::vector<std::pair<std::string, Value>> variables = {}) {
  SourceManager sources;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add("t", chat::with_line_feeds(text));
  const auto parsed = chat::ChatTemplate::parse(*file, diagnostics);
  const auto result = parsed ? parsed->render(std::move(variables), 0, diagnostics) : std::nullopt;
  if (result) return *result;
  const auto found = diagnostics.sorted();
  REQUIRE(found.size() == 1);
  const LineColumn at = file->line_column(found.front().at.begin);
  return fmt::format("{}:{} {}", at.line, at.column, static_cast<int>(found.front().code));
}

std::string at(std::uint32_t line, std::uint32_t column, DiagCode code) {
  return fmt::format("{}:{} {}", line, column, static_cast<int>(code));
}

TEST_CASE("a template writes the turns of a conversation") {
  SourceManager sources;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add(
      "t",
      "{% for m in messages %}\n  {{- '<' ~ m.role ~ '>' ~ m['content'] | trim }}\n{% endfor %}\n"
      "{% if add_generation_prompt %}<model>{% endif %}\n");
  const auto parsed = chat::ChatTemplate::parse(*file, diagnostics);
  REQUIRE(parsed);
  const chat::Conversation conversation{.messages = {{"user", " Hi "}, {"model", "Yes"}}};
  CHECK(parsed->render(conversation, diagnostics) == "<user>Hi\n<model>Yes\n<model>");
}

TEST_CASE("a mistake of a template is reported at its place") {
  CHECK(rendered("ab\n{{ 'x }}") == at(2, 4, diag::kTemplateMalformed));
  CHECK(rendered("{% if a %}\n{% for b in c %}") == at(2, 1, diag::kTemplateMalformed));
  CHECK(rendered("{{ a b }}") == at(1, 6, diag::kTemplateMalformed));
  CHECK(rendered("{% include 'x' %}") == at(1, 4, diag::kTemplateUnsupported));
  CHECK(rendered("{{ 1 | urlize }}") == at(1, 8, diag::kTemplateUnsupported));
  CHECK(rendered("{{ 1 is sameas 1 }}") == at(1, 9, diag::kTemplateUnsupported));
  CHECK(rendered("\n {{ a.b }}") == at(2, 7, diag::kTemplateFailed));
  CHECK(rendered("{{ raise_exception('no') }}") == at(1, 4, diag::kTemplateFailed));
  CHECK(rendered("{{ '\xff' }}") == at(1, 5, diag::kTemplateMalformed));
}

TEST_CASE("a template takes bounded steps, memory and depth") {
  const std::string limit = fmt::format("{}", static_cast<int>(diag::kLimitExceeded));
  const auto ends = [&](const std::string& text) {
    const std::string result = rendered(text);
    INFO(text.substr(0, 60), " -> ", result.substr(0, 60));
    CHECK(result.ends_with(" " + limit));
  };
  const std::string loops =
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}";
  ends(loops);
  ends("{{ 'x' * 999999999999 }}");
  ends("{{ [1] * 999999999999 }}");
  ends(
      "{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for a in range(99) %}"
      "{% set ns.s = ns.s + ns.s %}{% endfor %}");
  ends(
      "{% set ns = namespace(l=[]) %}{% for a in range(9999) %}{% set ns.l = [ns.l] %}{% endfor "
      "%}");
  ends("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}");
  ends("{{ " + std::string(5000, '(') + "1" + std::string(5000, ')') + " }}");
  ends("{{ " + std::string(5000, '[') + std::string(5000, ']') + " }}");
  std::string sum = "{{ 1";
  for (int i = 0; i < 5000; ++i) sum += " + 1";
  ends(sum + " }}");
  std::string nested;
  for (int i = 0; i < 5000; ++i) nested += "{% if 1 %}";
  ends(nested);
  std::string negations = "{{ ";
  for (int i = 0; i < 5000; ++i) negations += "not ";
  ends(negations + "1 }}");
}

TEST_CASE("values that would hold themselves are refused") {
  const std::string unsupported = fmt::format(" {}", static_cast<int>(diag::kTemplateUnsupported));
  CHECK(rendered("{% set ns = namespace() %}{% set ns.x = ns %}").ends_with(unsupported));
  CHECK(rendered("{% set ns = namespace() %}{% set ns.x = [ns] %}").ends_with(unsupported));
  CHECK(rendered("{% macro f() %}{% endmacro %}{% set ns = namespace(f=f) %}")
            .ends_with(unsupported));
  CHECK(rendered("{% set f = range %}{{ f(2) }}").ends_with(unsupported));
}

}  // namespace
}  // namespace chat_template_test

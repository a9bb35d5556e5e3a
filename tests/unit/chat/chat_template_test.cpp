// Chat templates: texts, refusals with their places, limits. tests/oracle/templates compares with
// Jinja.
#include "chat/chat_template.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "../seeds.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"

namespace chat_template_test {
namespace {

using namespace mir;
using chat::Value;

/// The text, or `line:column code`.
std::string rendered(const std::string& text,
                     std::vector<std::pair<std::string, Value>> variables = {},
                     const chat::RenderLimits& limits = {}) {
  SourceManager sources;
  Diagnostics diagnostics;
  const SourceFile* file = sources.add("t", chat::with_line_feeds(text));
  const auto parsed = chat::ChatTemplate::parse(*file, diagnostics);
  const auto result =
      parsed ? parsed->render(std::move(variables), 0, diagnostics, limits) : std::nullopt;
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
  if (!test::kIsSanitized) ends(loops);
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

/// True if a fiftieth of the usual limits of work and memory ends a rendering. Under those limits,
/// what the templates below do without being counted would run for minutes or years.
bool ends_soon(const std::string& text) {
  const std::string result = rendered(text, {}, {.steps = 400'000, .bytes = std::size_t{5} << 20});
  return result.ends_with(fmt::format(" {}", static_cast<int>(diag::kLimitExceeded)));
}

std::string many(int count, const std::string& part) {
  std::string text;
  for (int i = 0; i < count; ++i) text += part;
  return text;
}

TEST_CASE("comparisons of shared lists and objects take bounded steps") {
  for (const std::string make : {"[a,a,a]", "{'x': a, 'y': a, 'z': a}"}) {
    const std::string set = "{% set a=[0] %}" + many(45, "{% set a=" + make + " %}");
    const std::string both =
        set + "{% set b=a %}{% set a=[1] %}" + many(45, "{% set a=" + make + " %}");
    CHECK(rendered(set + "{{ a == a }}") == "True");
    CHECK(rendered(both + "{{ a == b }}") == "False");
    // The lists are equal but different.
    const std::string twice = set + "{% set b=a %}" + set;
    for (const std::string use : {"a == b", "b in [a]", "[a, b] | unique", "[a] < [b]"})
      if (use == "a == b" || make[0] == '[') CHECK(ends_soon(twice + "{{ " + use + " }}"));
  }
  CHECK(rendered("{{ [1, {'a': [2]}] == [1.0, {'a': [2]}] }}") == "True");
  CHECK(rendered("{{ (1, 2) == [1, 2] }} {{ {'a': 1} == {'a': 2} }}") == "False False");
  CHECK(rendered("{{ {'a': 1} in [{'a': 1}] }} {{ [[1], [1]] | unique | list }}") == "True [[1]]");
}

TEST_CASE("lookups of names are counted") {
  std::string variables, members = "{% set ns = namespace() %}";
  for (int i = 0; i < 4'000; ++i) {
    variables += fmt::format("{{% set v{}=1 %}}", i);
    members += fmt::format("{{% set ns.v{}=1 %}}", i);
  }
  for (const std::string& text : {variables, members}) CHECK(ends_soon(text));
}

TEST_CASE("searches in texts are counted") {
  const std::string set = "{% set t = 'a'*200000 %}{% set p = 'a'*100000+'b' %}";
  for (const std::string use :
       {"p in t", "t.find(p)", "t.rfind(p)", "t.count(p)", "t.split(p)", "t.rsplit(p)",
        "t.replace(p, '')", "t | replace(p, '')", "t.strip(p + 'c')"})
    CHECK(ends_soon(set + "{{ (" + use + ") is defined }}"));
  CHECK(rendered("{{ 'b' in 'abc' }} {{ 'abcabc'.rfind('bc') }} {{ 'abcabc'.find('bc') }} "
                 "{{ 'aaaa'.count('aa') }} {{ 'a-b-c'.rsplit('-', 1) }} {{ 'xax'.strip('x') }} "
                 "{{ 'äöü'.find('ü') }} {{ ''.find('') }} {{ 'ab'.rfind('') }}") ==
        "True 4 1 2 ['a-b', 'c'] a 2 0 2");
  // Loops with a long text each.
  const std::string loop = "{% for i in range(2000) %}{% set x = (";
  for (const std::string use : {"t[5]", "t[0:1]", "t | length", "t.startswith(t)", "t < t",
                                "t | trim('a')", "t.isspace()", "t == t"})
    CHECK(ends_soon("{% set t = 'a'*200000 %}" + loop + use + ") %}{% endfor %}"));
}

TEST_CASE("texts are counted before they grow") {
  const std::string set = "{% set t = 'a'*200000 %}";
  CHECK(ends_soon(set + "{{ '" + many(100, "%s") + "' % (" + many(100, "t,") + ") }}"));
  CHECK(ends_soon(set + "{{ '" + many(100, "{0}") + "'.format(t) }}"));
  CHECK(ends_soon(set + "{{ range(99) | list | tojson(separators=(t, t)) }}"));
  CHECK(ends_soon(set + "{{ ([t] * 99) | sort }}"));
  CHECK(ends_soon("{{ ('\n' * 160000).splitlines() | length }}"));
  CHECK(ends_soon("{{ ('a ' * 160000).split() | length }}"));
  CHECK(ends_soon("{{ strftime_now('%A' * 540000) }}"));
}

TEST_CASE("code points count as characters") {
  CHECK(rendered("{{ 'aäb€c'[3] }} {{ 'aäb€c'[-4] }} {{ 'aäb€c'[1:4] }} {{ 'aäb€c'[::-1] }} "
                 "{{ 'aäb€c'[::2] }} {{ 'aäb€c'[-2::-2] }} {{ 'äß' | upper }} "
                 "{{ ['ä'] }} {{ 'aäb' | length }} {{ 'ab'[5:1:-1] }}|{{ ''[::-1] }}|") ==
        "€ ä äb€ c€bäa abc €ä ÄSS ['ä'] 3 ||");
}

TEST_CASE("parts of Jinja that are not supported are refused") {
  const std::string unsupported = fmt::format(" {}", static_cast<int>(diag::kTemplateUnsupported));
  for (const std::string text : {"{{ cycler('a') }}", "{{ joiner() }}", "{{ lipsum() }}",
                                 "{% macro f() %}{{ varargs }}{% endmacro %}{{ f() }}",
                                 "{% macro f() %}{{ caller() }}{% endmacro %}{{ f() }}",
                                 "{% macro f() %}{{ kwargs }}{% endmacro %}{{ f() }}",
                                 "{% for a, (b, c) in [[1, [2, 3]]] %}{% endfor %}",
                                 "{% for a in [1] %}{{ loop([1]) }}{% endfor %}",
                                 "{{ [{'a': 1}] | map(attribute='a', foo=1) | list }}"}) {
    INFO(text);
    CHECK(rendered(text).ends_with(unsupported));
  }
  const std::string malformed = fmt::format(" {}", static_cast<int>(diag::kTemplateMalformed));
  CHECK(rendered("{% for a in [1] %}{% set b %}{% break %}{% endset %}{% endfor %}")
            .ends_with(malformed));
  CHECK(rendered("{% for a in [1] %}{% filter upper %}{% continue %}{% endfilter %}{% endfor %}")
            .ends_with(malformed));
  const std::string failed = fmt::format(" {}", static_cast<int>(diag::kTemplateFailed));
  CHECK(rendered("{{ 'a' | trim(5) }}").ends_with(failed));
  CHECK(rendered("{{ 'a'.replace() }}").ends_with(failed));
  CHECK(rendered("{{ 'a'.replace('a') }}").ends_with(failed));
}

TEST_CASE("nested maps are bounded") {
  CHECK(ends_soon("{{ 'a' | map(" + many(20'000, "'map',") + "'upper') | list }}"));
  CHECK(rendered("{{ [['a']] | map('map', 'upper') | map('list') | list }}") == "[['A']]");
}

TEST_CASE("values that would hold themselves are refused") {
  const std::string unsupported = fmt::format(" {}", static_cast<int>(diag::kTemplateUnsupported));
  CHECK(rendered("{% set ns = namespace() %}{% set ns.x = ns %}").ends_with(unsupported));
  CHECK(rendered("{% set ns = namespace() %}{% set ns.x = [ns] %}").ends_with(unsupported));
  CHECK(rendered("{% macro f() %}{% endmacro %}{% set ns = namespace(f=f) %}")
            .ends_with(unsupported));
  CHECK(rendered("{% set f = range %}{{ f(2) }}").ends_with(unsupported));
  CHECK(rendered("{{ {'f': range}.f(1) }}").ends_with(unsupported));
  CHECK(rendered("{{ [range][0](1) }}").ends_with(unsupported));
}

}  // namespace
}  // namespace chat_template_test

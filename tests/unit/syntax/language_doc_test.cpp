// docs/language.md and grammar/parser.yy say the same, and every example in the document is true.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "mir/tensor.hpp"
#include "read.hpp"
#include "support/file_io.hpp"

using namespace mir;
using mir::test::errors;

namespace {

using Names = std::set<std::string>;
/// What each rule or production mentions, but for itself.
using Rules = std::map<std::string, Names>;

struct Block {
  std::string info;  // after the opening fence
  std::string text;
  int line = 0;  // of the fence
};

std::string read(const char* path) {
  auto text = read_file(path, 1u << 20);
  REQUIRE(text);
  return *text;
}

const std::string& document() {
  static const std::string text = read(MIR_LANGUAGE_DOC);
  return text;
}

std::vector<Block> blocks() {
  std::vector<Block> list;
  std::istringstream lines(document());
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("```")) {
      if (!inside) list.push_back({line.substr(3), "", number});
      inside = !inside;
    } else if (inside) {
      list.back().text += line + "\n";
    }
  }
  return list;
}

Names words_of(const std::string& text) {
  static const std::regex kWord("[A-Za-z_]+");
  Names words;
  for (std::sregex_iterator at(text.begin(), text.end(), kWord), end; at != end; ++at) {
    words.insert(at->str());
  }
  return words;
}

/// Rules of `text`, each `name <separator> symbols ;`.
Rules rules_of(const std::string& text, char separator) {
  Rules rules;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ';');) {
    const auto split = part.find(separator);
    if (split == part.npos) continue;
    const Names name = words_of(part.substr(0, split));
    REQUIRE(name.size() == 1);
    rules[*name.begin()] = words_of(part.substr(split + 1));
    rules[*name.begin()].erase(*name.begin());
  }
  return rules;
}

Rules rules_of_document() {
  std::string text;
  for (const Block& block : blocks()) {
    if (block.info == "ebnf") text += block.text;
  }
  return rules_of(text, '=');
}

/// The rules of the grammar without actions, comments and recovery from errors.
Rules rules_of_grammar() {
  std::string text = read(MIR_PARSER_YY);
  text = text.substr(text.find("\n%%\n") + 4);
  text = text.substr(0, text.find("\n%%\n"));
  std::string plain;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0) i = text.find('\n', i);
    depth += text[i] == '{' ? 1 : 0;
    if (depth == 0) plain += text[i];
    depth -= text[i] == '}' ? 1 : 0;
  }
  Rules rules = rules_of(std::regex_replace(plain, std::regex("%empty"), ""), ':');
  for (const char* recovery : {"misplaced", "misplaced_body", "resumed", "resumed_body"}) {
    rules.erase(recovery);
    for (auto& [name, symbols] : rules) symbols.erase(recovery);
  }
  return rules;
}

/// Whole texts that a block shows a part of.
std::vector<std::string> texts_of(const Block& block) {
  if (block.info == "mir file") return {block.text};
  if (block.info == "mir op" || block.info == "mir refused") {
    return {"@main () -> () {\n" + block.text + "}\n"};
  }
  std::vector<std::string> list;
  std::istringstream lines(block.text);
  for (std::string line; std::getline(lines, line);) {
    const std::string op = block.info == "mir value"       ? "a.b (" + line + ") -> ()"
                           : block.info == "mir type"      ? "a.b (%0:" + line + ") -> ()"
                           : block.info == "mir attribute" ? "a.b [" + line + "]"
                                                           : "";
    list.push_back("@main () -> () { " + op + " }");
  }
  return list;
}

std::string names_only(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += name + " ";
  return text;
}

}  // namespace

TEST_SUITE("language document") {
  TEST_CASE("each rule of the grammar has one production that mentions the same symbols") {
    const Rules grammar = rules_of_grammar(), written = rules_of_document();
    REQUIRE(grammar.size() > 50);
    for (const auto& rule : grammar) {
      CAPTURE(rule.first);
      REQUIRE(written.contains(rule.first));
      CHECK(names_only(written.at(rule.first)) == names_only(rule.second));
    }
    for (const auto& production : written) {
      CAPTURE(production.first);
      CHECK(grammar.contains(production.first));
    }
  }

  TEST_CASE("examples follow each group of productions") {
    const std::vector<Block> list = blocks();
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i].info != "ebnf") continue;
      CAPTURE(list[i].line);
      CHECK(std::count(list[i].text.begin(), list[i].text.end(), ';') <= 10);
      CHECK((i + 1 < list.size() && list[i + 1].info.starts_with("mir ")));
    }
  }

  TEST_CASE("every example is read, and what is said to be refused is refused") {
    int examples = 0;
    for (const Block& block : blocks()) {
      if (!block.info.starts_with("mir ")) continue;
      for (const std::string& text : texts_of(block)) {
        CAPTURE(block.line);
        CAPTURE(text);
        if (block.info == "mir refused") {
          CHECK_FALSE(errors(text).empty());
        } else {
          CHECK(errors(text) == std::vector<std::string>());
        }
        ++examples;
      }
    }
    CHECK(examples > 30);
  }

  TEST_CASE("every line that is said to be refused takes part in an error") {
    std::size_t mistakes = 0;
    for (const Block& block : blocks()) {
      if (block.info == "mir refused") mistakes += errors(texts_of(block).front()).size();
    }
    CHECK(mistakes == 5);
  }

  TEST_CASE("every kind of token occurs in an example") {
    Names seen;
    for (const Block& block : blocks()) {
      if (!block.info.starts_with("mir ") || block.info == "mir refused") continue;
      for (const std::string& text : texts_of(block)) {
        for (const auto& [kind, spelling] : mir::test::tokens(text)) seen.insert(kind);
      }
    }
    for (int i = static_cast<int>(TokenKind::kSymbol); i < kTokenKinds; ++i) {
      const auto name = std::string(enumerator_name(static_cast<TokenKind>(i)));
      CAPTURE(name);
      CHECK(seen.contains(name));
    }
  }

  TEST_CASE("every terminal of the grammar is described") {
    const std::string grammar = read(MIR_PARSER_YY);
    static const std::regex kTokens("\n%token ([A-Z_ ]+)");
    int terminals = 0;
    for (std::sregex_iterator at(grammar.begin(), grammar.end(), kTokens), end; at != end; ++at) {
      for (const std::string& name : words_of((*at)[1])) {
        if (name == "END" || name.starts_with("RESUME")) continue;
        CAPTURE(name);
        CHECK(document() == test::Part{"`" + name + "`"});
        ++terminals;
      }
    }
    CHECK(terminals == kTokenKinds - static_cast<int>(TokenKind::kSymbol));
  }

  TEST_CASE("every element type is in the document") {
    for (const DTypeInfo& row : dtype_table()) {
      CAPTURE(std::string(row.name));
      CHECK(document() == test::Part{"`" + std::string(row.name) + "`"});
    }
  }
}

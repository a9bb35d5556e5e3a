#include "syntax/source_tokens.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace mir;

namespace {

/// Whether the op `a.b <op>` states `%1`, and then its symbol, its attributes and both.
std::string stated_by(const std::string& op) {
  SourceManager sources;
  Diagnostics diagnostics;
  const auto tree = parse(*sources.add("f", "@m () -> () {\na.b " + op + "\n}\n"), diagnostics);
  REQUIRE_MESSAGE(tree, op);
  const SourceTokens tokens(*tree);
  const auto at = tree->file().base() + static_cast<SourcePos>(tree->file().text().find("a.b"));
  const auto pieces = tokens.pieces(at);
  REQUIRE(pieces.size() == 1);
  const auto mentions = tokens.mentions(pieces[0]);
  const auto says = [&](const char* word, bool symbol, bool attributes) {
    const auto states = [&](const TypedMention& each) {
      return each.name == "1" && each.has_symbol >= symbol && each.has_attributes >= attributes;
    };
    return std::ranges::any_of(mentions, states) ? std::string(word) : std::string();
  };
  return says("type", false, false) + says(" symbol", true, false) +
         says(" attributes", false, true) + says(" both", true, true);
}

}  // namespace

TEST_CASE("a mention states what follows it, up to the next value or the end of its list") {
  const std::string type = "tensor<[2], Float32, CPU>", one = "%1:" + type, two = "%2:" + type;
  CHECK(stated_by("(%1) -> ()").empty());
  CHECK(stated_by("(" + two + "[@w][k:1]) -> ()").empty());
  CHECK(stated_by("(%11:" + type + "[@w]) -> ()").empty());
  CHECK(stated_by("(" + one + ") -> ()") == "type");
  CHECK(stated_by("(" + one + "[@w]) -> ()") == "type symbol");
  CHECK(stated_by("(" + one + "[k:1]) -> ()") == "type attributes");
  CHECK(stated_by("(" + one + "[@w][k:1]) -> ()") == "type symbol attributes both");
  CHECK(stated_by("() -> (" + one + "[@w])") == "type symbol");
  for (const std::string& next : {two, std::string("%2")}) {
    CAPTURE(next);
    CHECK(stated_by("(" + one + ", " + next + "[@w][k:1]) -> ()") == "type");
  }
  CHECK(stated_by("(" + one + ") -> (" + two + "[@w][k:1])") == "type");
  CHECK(stated_by("(" + one + ") -> () [k:1]") == "type");
  CHECK(stated_by("(%1, " + one + "[@w]) -> ()") == "type symbol");
  CHECK(stated_by("(" + one + "[@w], " + one + "[k:1]) -> ()") == "type symbol attributes");
}

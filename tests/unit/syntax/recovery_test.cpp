#include <doctest/doctest.h>

#include "mir/codes/syntax.hpp"
#include "read.hpp"
#include "syntax/damage.hpp"

using namespace mir;
using mir::test::errors;
using mir::test::module_of;

namespace {

using Lines = std::vector<std::string>;

const std::string kGood = "linalg.CPU.ReLUOp(%0:tensor<[2], F, C>) -> (%1:tensor<[2], F, C>)";

/// The errors of one faulty op, on line 5, between good ones.
Lines errors_of(const std::string& op) {
  return errors(module_of({kGood, op, kGood, kGood}));
}

/// A module of about one of everything, small enough to damage at each byte.
const std::string kSmall =
    "#l = \"x\"\n"
    "@main [mir_version:1] (%0:tensor<[1, $S], Float32, CPU>) -> () {\n"
    "  // note\n"
    "  graph.SubGraphOp @g.0 <CPU> [symbol:g.0] {\n"
    "    (%0:tensor<[1,2], F, C, #l>) -> () {\n"
    "      addr:0x1 linalg.CPU.LinearOp <name=\"a\"> [k:\"v\", b:c d] (%0[@w][q:1]) -> (%1)\n"
    "      prog.jump m.__entry[offset:-1]\n"
    "      cf.br () -> ()[q:QuantSpec(None(, uuid=1), o:{\"a\":[1, 2.5]}] [^b(%1)] loc(\"f\":1)\n"
    "    ^b(%2):\n"
    "      cf.ReturnOp (%2[constant:[0.5]]) -> ()\n"
    "    }\n"
    "  }\n"
    "}\n";

}  // namespace

TEST_SUITE("recovery") {
  TEST_CASE("five separate mistakes are five errors, each at its place") {
    CHECK(errors(module_of({"a.b (%0 -> (%1)",                    // ')' missing
                            "a.b [k=1] (%0) -> (%1)",             // '=' for ':'
                            "a.b (%0:tensor<[2, F, C>) -> (%1)",  // ']' missing
                            kGood,                                //
                            "this is no operation",               //
                            kGood,                                //
                            "a.b (%0) -> (%1)[o:{\"a\":[1}]",     // ']' missing
                            kGood})) ==
          Lines{"4:9 MIR0201 expected ')', '[', ',' or ':', found '->'",
                "5:7 MIR0103 unexpected character '=' in an attribute list",
                "6:20 MIR0103 unexpected character 'F' in the dimensions of a tensor type",
                "8:1 MIR0203 expected an operation or '}', found word 'this'",
                "10:27 MIR0201 expected ',' or ']', found '}'"});
  }

  TEST_CASE("a missing or extra bracket in a head is one error") {
    CHECK(errors_of("a.b (%0) -> (%1") ==
          Lines{"5:16 MIR0201 expected ')', '[', ',' or ':', found word 'linalg'"});
    CHECK(errors_of("a.b %0) -> (%1)") ==
          Lines{"5:5 MIR0201 expected an operation or '}', found value '%0'"});
    CHECK(errors_of("a.b (%0)) -> (%1)") == Lines{"5:9 MIR0201 expected '->', found ')'"});
    CHECK(errors_of("a.b (%0) (%1)") == Lines{"5:10 MIR0201 expected '->', found '('"});
    CHECK(errors_of("a.b (%0) -> %1)") == Lines{"5:13 MIR0201 expected '(', found value '%1'"});
    CHECK(errors_of("a.b (%0,) -> (%1)") == Lines{"5:9 MIR0201 expected value, found ')'"});
    CHECK(errors_of("a.b (") == Lines{"5:6 MIR0201 expected ')' or value, found word 'linalg'"});
    CHECK(errors_of("a.b <CPU (%0) -> (%1)").size() == 1);
    CHECK(errors_of("a.b () -> () loc(\"f\":1").size() == 1);
  }

  TEST_CASE("a mistake in an attribute list is one error") {
    CHECK(errors_of("a.b [k:1]] (%0) -> (%1)") ==
          Lines{"5:10 MIR0201 expected an operation or '}', found ']'"});
    CHECK(errors_of("a.b [k 1] (%0) -> (%1)") ==
          Lines{"5:8 MIR0201 expected ':', found attribute key '1'"});
    CHECK(errors_of("a.b [k:1,] (%0) -> (%1)") ==
          Lines{"5:10 MIR0201 expected attribute key, found ']'"});
    CHECK(errors_of("a.b [k:1 (%0) -> (%1)").size() == 1);
    CHECK(errors_of("a.b (%0) -> (%1)[k:1") ==
          Lines{"5:21 MIR0201 expected ']' or ',', found attribute key 'linalg.CPU.ReLUOp'"});
    CHECK(errors_of("a.b (%0[constant:[1, 2]) -> (%1)") ==
          Lines{"5:24 MIR0201 expected ']' or ',', found ')'"});
  }

  TEST_CASE("a mistake in a type is one error") {
    CHECK(errors_of("a.b (%0:tenser<[2], F, C>) -> ()") ==
          Lines{"5:9 MIR0201 expected type, found word 'tenser'"});
    CHECK(errors_of("a.b (%0:tensor[2], F, C>) -> ()").size() == 1);
    CHECK(errors_of("a.b (%0:tensor<[2], F, C) -> ()") ==
          Lines{"5:25 MIR0103 unexpected character ')' in a tensor type"});
    CHECK(errors_of("a.b (%0:tensor<[2], F>) -> ()") ==
          Lines{"5:22 MIR0201 expected ',', found '>'"});
    CHECK(errors_of("a.b (%0:tensor<[2] F, C>) -> ()") ==
          Lines{"5:20 MIR0201 expected ',', found word 'F'"});
  }

  TEST_CASE("a mistake in JSON or a quantisation spec is one error") {
    CHECK(errors_of("a.b [o:{\"k\":false] () -> ()") ==
          Lines{"5:18 MIR0201 expected ',' or '}', found ']'"});
    CHECK(errors_of("a.b [o:{\"k\" false}] () -> ()") ==
          Lines{"5:13 MIR0201 expected ':', found 'false'"});
    CHECK(errors_of("a.b [o:{\"k:false}] () -> ()") ==
          Lines{"5:9 MIR0104 string without a closing quote"});
    CHECK(errors_of("a.b [q:QuantSpec(Raw(type: Int8), uuid=1] () -> ()") ==
          Lines{"5:41 MIR0103 unexpected character ']' in a quantisation spec"});
    CHECK(errors_of("a.b [q:QuantSpec(Raw(type Int8), uuid=1)] () -> ()") ==
          Lines{"5:27 MIR0201 expected ':', found word 'Int8'"});
    CHECK(errors_of("a.b [q:QuantAnnotation(inputs_0:QuantSpec(Raw(), uuid=1), ] () -> ()") ==
          Lines{"5:59 MIR0103 unexpected character ']' in a quantisation annotation"});
  }

  TEST_CASE("texts that never close are one error on their line") {
    CHECK(errors_of("a.b [k:\"v] () -> ()") == Lines{"5:8 MIR0104 string without a closing quote"});
    CHECK(errors_of("a.b [k:\"v\\\"] () -> ()").size() == 1);
    CHECK(errors_of("a.b <name=\"n () -> ()") ==
          Lines{"5:5 MIR0104 op name without a closing quote and bracket"});
    CHECK(errors_of("prog.jump \"m.__entry[offset:1]") ==
          Lines{"5:11 MIR0104 string without a closing quote"});
    CHECK(errors_of("a.b [k:#x.y<\"z>] () -> ()") ==
          Lines{"5:8 MIR0104 string without a closing quote"});
  }

  TEST_CASE("a mistake in a region header is one error") {
    const auto with_header = [](const std::string& header) {
      return errors_of("graph.SubGraphOp @x <CPU> {\n" + header + "\n" + kGood + "\n}\n}");
    };
    CHECK(with_header("() -> () {").empty());
    CHECK(with_header("( -> () {") == Lines{"6:3 MIR0201 expected ')' or value, found '->'"});
    CHECK(with_header("() () {") == Lines{"6:4 MIR0201 expected '->', found '('"});
    CHECK(with_header("() -> ()") ==
          Lines{"6:9 MIR0201 expected '{', found operation 'linalg.CPU.ReLUOp'"});
    CHECK(errors_of("graph.SubGraphOp @x <CPU>\n() -> () {\n" + kGood + "\n}\n}").size() == 1);
  }

  TEST_CASE("braces that do not pair up are one error") {
    CHECK(errors_of("}").size() == 1);
    CHECK(errors("@main () -> () {\n}\n}\n") ==
          Lines{"3:1 MIR0205 expected a module or an alias, found '}'"});
    CHECK(errors("@main () -> () {\n  a.b {\n}\n") ==
          Lines{"2:8 MIR0207 expected '}' at the end of the body"});
    CHECK(errors("@main () -> ()\n  a.b\n}\n") ==
          Lines{"1:15 MIR0207 expected '{' before the body that follows"});
    CHECK(errors("@main () -> ()\na.b\n}\n") ==
          Lines{"1:15 MIR0201 expected '{', found operation 'a.b'"});
  }

  TEST_CASE("a missing brace is found by the indents of lines") {
    const std::string text =
        "@main [d:{k:1}] () -> () {\n"
        "    graph.SubGraphOp @g <CPU> [symbol:g] { // {\n"
        "        () -> () {\n"
        "            cf.IfOp (%c) -> (%y) {\n"
        "                () -> (%a) {\n"
        "                    cf.br () -> () [^loop]\n"
        "                ^loop:\n"
        "                    a.b\n"
        "                } // }\n"
        "\n"
        "                () -> (%b) {\n"
        "                }\n"
        "            }\n"
        "        }\n"
        "    }\n"
        "    a.c { }\n"
        "}\n"
        "@other () -> () {\n"
        "    a.b [k:\"{}{\", l:\"}\"]\n"
        "}\n";
    REQUIRE(errors(text).empty());
    std::size_t tried = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const bool ends_line = text.find_first_not_of(" /{}", at + 1) == text.find('\n', at);
      const bool opens = text[at] == '{' && text[at - 1] == ' ' && ends_line;
      const bool closes = text[at] == '}' && text[text.find_last_not_of(' ', at - 1)] == '\n';
      const bool is_comment = text.substr(at - std::min<std::size_t>(at, 3), 3) == "// ";
      if ((!opens && !closes) || is_comment || text.substr(at, 3) == "{ }") continue;
      std::string damaged = text;
      damaged.erase(at, 1);
      CAPTURE(damaged);
      const auto missing = missing_brace(damaged);
      if (at + 2 == text.size()) {  // the end of the text, which has an error of its own
        CHECK_FALSE(missing);
        continue;
      }
      ++tried;
      REQUIRE(missing);
      CHECK(missing->brace == text[at]);
      const Lines found = errors(damaged);
      REQUIRE(found.size() == 1);
      CHECK(found[0].find("MIR0207") != std::string::npos);
      std::string repaired = damaged;
      repaired.insert(missing->at, opens ? " {" : " }");
      CHECK(errors(repaired).empty());
    }
    CHECK(tried == 13);
    // Two braces, a layout that does not tell, and a line that was deleted.
    CHECK_FALSE(missing_brace("@m () -> ()\n    a.b\n        () -> () {\n    }\n    }\n}\n"));
    CHECK_FALSE(missing_brace("@m () -> () {\na.b {\n() -> ()\n}\n}\n}\n"));
    CHECK_FALSE(missing_brace("@m () -> () {\n    a.b {\n            a.c\n        }\n    }\n}\n"));
    CHECK_FALSE(missing_brace("@m () -> () {\n    a.b\n    }\n}\n"));
    CHECK_FALSE(missing_brace("@m () -> () {\n    a.b [k:{]\n}\n"));
    // An op with results has a body for regions only, so that the last brace is one too many.
    CHECK_FALSE(missing_brace("@m () -> () {\n    a.b () -> ()\n        a.c\n    }\n}\n"));
  }

  TEST_CASE("a missing brace is found in a long text") {
    constexpr int kOps = 1000;
    const auto text_without = [](int open) {
      std::string text = "@m () -> () {\n";
      for (int i = 0; i < kOps; ++i) text += i == open ? "    a.b {\n" : "    a.b {\n    }\n";
      return text + "}\n";
    };
    CHECK_FALSE(missing_brace(text_without(kOps)));
    for (const int open : {0, 1, 500, kOps - 1}) {
      CAPTURE(open);
      const auto missing = missing_brace(text_without(open));
      REQUIRE(missing);
      CHECK(missing->brace == '}');
      CHECK(missing->opening == 14 + 16 * static_cast<std::size_t>(open) + 8);
    }
  }

  TEST_CASE("a brace that is not closed is an error beside others") {
    CHECK(errors("@main () -> () {\n  a.b = c\n  a.b\n") ==
          Lines{"2:7 MIR0201 expected an operation or '}', found '='",
                "3:6 MIR0201 expected an operation or '}', found end of file"});
    CHECK(errors("@main () -> () {\n  a.b \"} {\n  a.b\n}\n").size() == 1);
  }

  TEST_CASE("a closing brace too many is one error, and the module goes on") {
    const std::string head = "@main () -> () {\n",
                      graph = "g.s {\n() -> () {\n" + kGood + "\n}\n}\n";
    CHECK(errors(head + graph + "}\n" + graph + "}\n") ==
          Lines{"8:1 MIR0205 expected a module or an alias, found operation 'g.s'"});
    CHECK(errors(head + "a.b = c\n" + graph + "}\n" + graph + "}\n").size() == 1);
    const std::string early = "g.s {\n() -> () {\n" + kGood + "\n}\n" + kGood + "\n}\n}\n";
    CHECK(errors(head + early + graph + graph + "}\n").size() == 1);
    CHECK(errors(head + graph + "}\n// done\n@other () -> () {\n}\n").empty());
  }

  TEST_CASE("modules on one line recover at their braces") {
    CHECK(errors("@a () -> () { g.s { () -> () { a.b ( -> () } } }\n@b () -> () { a.b () -> }\n") ==
          Lines{"1:38 MIR0201 expected ')' or value, found '->'",
                "2:25 MIR0201 expected '(', found '}'"});
  }

  TEST_CASE("text outside modules is an error and the next module is still read") {
    CHECK(errors("() -> () {\n  a.b\n}\n@m () -> () {\n  a.b (\n}\n") ==
          Lines{"1:1 MIR0201 expected a module or an alias, found '('",
                "5:8 MIR0201 expected ')' or value, found '}'"});
    CHECK(errors("main () -> () {\n}\n").size() == 1);
    CHECK(errors("@m () -> () {\n}\ntrailing text\n") ==
          Lines{"3:1 MIR0205 expected a module or an alias, found word 'trailing'"});
  }

  TEST_CASE("a text without a module is refused") {
    CHECK(errors("") == Lines{"1:1 MIR0204 the file contains no module"});
    CHECK(errors(" \n// only a comment\n#a = \"x\"\n") ==
          Lines{"1:1 MIR0204 the file contains no module"});
  }

  TEST_CASE("bytes that are no text are refused at their place") {
    using namespace std::string_literals;
    CHECK(errors("@main () -> () {\n\0}\n"s) == Lines{"2:1 MIR0101 NUL byte in the text"});
    CHECK(errors("@main () -> () {\n//\0\n}\n"s) == Lines{"2:3 MIR0101 NUL byte in the text"});
    CHECK(errors(module_of({"a.b [k:x y\0]"s})).size() == 1);
    for (const char* bad : {"\xff", "\xc0\xaf", "\xe2\x95", "\xed\xa0\x80", "\xf4\x90\x80\x80"}) {
      CHECK(errors("@main () -> () {\n// " + std::string(bad) + "\n}\n") ==
            Lines{"2:4 MIR0102 byte that is not part of UTF-8 text"});
    }
    CHECK(errors("@main () -> () {\n// \u2550 \U0001f600\n}\n").empty());
  }

  TEST_CASE("a log line in a dump is named as such") {
    const Lines expected = {
        "5:19 MIR0105 terminal escape sequence: a log line was printed into the dump"};
    CHECK(errors_of("a.b (%0:tensor<[2]\x1b[31m[NYI] f.cpp:3 Unknown data type\x1b[0m\n"
                    "Unknow, CPU>) -> (%1)") == expected);
    CHECK(errors_of("\x1b[31m[NYI]\x1b[0m note\n").size() == 1);
  }

  TEST_CASE("the second line of a comment needs its own slashes") {
    SourceManager sources;
    const SourceFile& file = *sources.add("test.mir", module_of({"// one\ntwo, and", kGood}));
    Diagnostics diagnostics;
    CHECK_FALSE(parse(file, diagnostics));
    const auto list = diagnostics.sorted();
    REQUIRE(list.size() == 1);
    CHECK(list[0].code == diag::kTextInOpPosition);
    CHECK(file.line_column(list[0].at.begin).line == 5);
    CHECK(list[0].hint ==
          "every line of a comment needs its own '//'; an upgrade takes --assume='comment=TEXT' "
          "for what "
          "upstream printed without");
  }

  TEST_CASE("likely mistakes carry a hint") {
    const auto hint = [](const std::string& op) {
      SourceManager sources;
      Diagnostics diagnostics;
      parse(*sources.add("test.mir", module_of({op})), diagnostics);
      return diagnostics.has_errors() ? diagnostics.sorted()[0].hint : "";
    };
    CHECK(hint("%1 = a.b (%0)") ==
          "results follow the operands: 'dialect.Name (operands) -> (results)'");
    CHECK(hint("a.b [k=1]") == "attributes are written key:value");
    CHECK(hint("nonsense") ==
          "an operation is named 'dialect.Name', a comment starts with '//'; an upgrade takes "
          "--assume='comment=TEXT' for one that does not");
    CHECK(hint("}\n}\n}\na.b") ==
          "operations must be inside a module; a '}' before this may be one too many");
  }

  TEST_CASE("an equals sign in an attribute list is repaired by a colon, elsewhere by nothing") {
    const auto repairs = [](const std::string& op) {
      SourceManager sources;
      Diagnostics diagnostics;
      const SourceFile& file = *sources.add("test.mir", module_of({op}));
      parse(file, diagnostics);
      std::string list;
      for (const Diagnostic& each : diagnostics.sorted()) {
        for (const FixIt& fix : each.fixes) {
          list += std::string(file.slice(fix.at)) + " to " + fix.replacement + "\n";
        }
      }
      return list;
    };
    CHECK(repairs("a.b [k=1]") == "= to :\n");
    CHECK(repairs("a.b [k;1]").empty());
    CHECK(repairs("a.b (%0=1)").empty());
  }

  TEST_CASE("a long text is quoted up to its 40th byte, in whole characters") {
    const auto quoted = [](const std::string& text) {
      const auto list = errors("@m () -> () {\na.b () <name=\"" + text + "\">\n}\n");
      return list.empty() ? "" : list.front();
    };
    const std::string before = "2:8 MIR0201 expected '->', found op name '<name=\"";
    const std::string x(31, 'x'), e = "\u00e9", o = "\u00f3";
    CHECK(quoted(x) == before + x + "\">'");
    CHECK(quoted(x + "xxx") == before + x + "xx...'");
    CHECK(quoted(x + "x" + e) == before + x + "x...'");
    CHECK(quoted(x + "x" + o) == before + x + "x...'");
    CHECK(quoted(x + "xx" + e) == before + x + "xx...'");
    CHECK(quoted(x + "\u20ac") == before + x + "...'");
  }

  TEST_CASE("the error limit ends the work") {
    std::string text = "@main () -> () {\n";
    for (int i = 0; i < 1000; ++i) text += "a.b (\n";
    SourceManager sources;
    Diagnostics diagnostics(7);
    CHECK_FALSE(parse(*sources.add("test.mir", text + "}\n"), diagnostics));
    CHECK(diagnostics.error_count() == 7);
  }

  TEST_CASE("a module cut at any byte is one error") {
    REQUIRE(errors(kSmall).empty());
    for (std::size_t length = 0; length + 2 < kSmall.size(); ++length) {
      CAPTURE(kSmall.substr(0, length));
      CHECK(errors(kSmall.substr(0, length)).size() == 1);
    }
  }

  TEST_CASE("what stands beside a brace or a slash of a skipped line hides neither it nor an op") {
    const std::string mistake = "MIR0201 expected an operation or '}', found '='";
    for (const char* opens : {"{", "{ ", "{// c", "{ // c", "{// {", "{// }", "/ {", "/{", "a/b {",
                              "} {", "}/{", "x// c"}) {
      CAPTURE(opens);
      const bool has_body = std::string(opens) != "x// c";
      const std::string op = std::string("a.b = ") + opens;
      const Lines found = has_body ? errors(module_of({kGood, op, kGood, "}", kGood}))
                                   : errors(module_of({kGood, op, kGood, kGood}));
      CHECK(found == Lines{"5:5 " + mistake});
    }
    for (const char* closes : {"}", "} ", "}// c", "} // c", "}// {", "}/ c", "x }", "/ }"}) {
      CAPTURE(closes);
      CHECK(errors(module_of({"a.Outer () -> () {", std::string("a.b = ") + closes, kGood})) ==
            Lines{"5:5 " + mistake});
    }
  }

  TEST_CASE("between modules reading goes on at the next module or alias, not at ops") {
    const auto lines = [](const std::string& junk, const std::string& next) {
      Lines places;
      for (const std::string& error : errors("@a () -> () {\n}\n" + junk + next))
        places.push_back(error.substr(0, error.find(' ')));
      return places;
    };
    for (const char* junk : {"junk\n", "junk\n a.b () -> ()\n", "junk {\n}\n}\n", "junk\n^b:\n",
                             "junk // @c\n", "junk\n// c\nmore\n"}) {
      CAPTURE(junk);
      CHECK(lines(junk, "@b () -> () {\n}\n") == Lines{"3:1"});
      CHECK(lines(junk, "  #l = \"x\"\n") == Lines{"3:1"});
      CHECK(lines(junk, "@b () -> () {\n a.b = c\n}\n").size() == 2);
    }
  }

  TEST_CASE("a missing byte is at most two errors and a missing line is too") {
    for (std::size_t i = 0; i < kSmall.size(); ++i) {
      std::string text = kSmall;
      text.erase(i, 1);
      CAPTURE(text);
      CHECK(errors(text).size() <= 2);
    }
    for (std::size_t begin = 0; begin < kSmall.size(); begin = kSmall.find('\n', begin) + 1) {
      std::string text = kSmall;
      text.erase(begin, kSmall.find('\n', begin) + 1 - begin);
      CAPTURE(text);
      CHECK(errors(text).size() <= 2);
    }
  }

  TEST_CASE("any byte anywhere is read or refused") {
    for (const char inserted : std::string("()[]{}<>\"',:;=%@^#!/\\$-.\n\t\0\x1b\xc3 a0", 32)) {
      for (std::size_t i = 0; i <= kSmall.size(); ++i) {
        std::string text = kSmall;
        text.insert(i, 1, inserted);
        CAPTURE(text);
        CHECK(errors(text).size() <= 4);
      }
    }
  }

  TEST_CASE("texts without quotes are searched for their end in linear time") {
    constexpr std::size_t kSize = 1u << 19;
    for (const char* unit :
         {"@a ", "a.b @x ", "prog.jump x ", "linalg.C.x+ ", "} ", "a.b <name=\"a\"> ", "loc(\n",
          "(%a ", "a.b [k:", "a.b @<", "<", "(", "["}) {
      CAPTURE(unit);
      std::string text = "@main () -> () {\n";
      while (text.size() < kSize) text += unit;
      errors(text);
      CHECK_FALSE(mir::test::tokens(text).empty());
    }
  }
}

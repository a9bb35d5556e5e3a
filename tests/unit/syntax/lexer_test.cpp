#include <doctest/doctest.h>

#include <algorithm>

#include "read.hpp"

using namespace mir;
using mir::test::errors;
using mir::test::tokens;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The only token of its kind in `text`.
std::string only(const std::string& kind, const std::string& text) {
  const Pairs list = tokens(text);
  const auto is_kind = [&](const auto& token) { return token.first == kind; };
  if (std::count_if(list.begin(), list.end(), is_kind) != 1) return "<not once>";
  return std::find_if(list.begin(), list.end(), is_kind)->second;
}

std::string kinds(const std::string& text) {
  std::string list;
  for (const auto& [kind, ignored] : tokens(text)) list += (list.empty() ? "" : " ") + kind;
  return list;
}

/// The kind and text of the value of a single attribute.
std::pair<std::string, std::string> value_of(const std::string& text) {
  const Pairs list = tokens("a.b [k:" + text + "]");
  if (list.size() != 6) return {"<" + std::to_string(list.size()) + " tokens>", ""};
  return list[4];
}

using Pair = std::pair<std::string, std::string>;

}  // namespace

TEST_SUITE("lexer") {
  TEST_CASE("heads: names, addresses, symbols, groups and arrows") {
    CHECK(tokens("addr:0x00000000000026 linalg.CPU.LinearOp @s <CPU> <name=\"m.q\"> -> ^bb0") ==
          Pairs{{"Address", "addr:0x00000000000026"},
                {"OpName", "linalg.CPU.LinearOp"},
                {"Symbol", "@s"},
                {"Angle", "<CPU>"},
                {"NameAngle", "<name=\"m.q\">"},
                {"Arrow", "->"},
                {"BlockName", "^bb0"}});
    CHECK(only("Address", "addr : 0xFFffffffffffffff prog.ret") == "addr : 0xFFffffffffffffff");
    CHECK(only("NameSquare", "linalg.CPU.X [ name = \"a b\" ] ()") == "[ name = \"a b\" ]");
    CHECK(only("Angle", "a.b <x<y>, \">\">(") == "<x<y>, \">\">");
  }

  TEST_CASE("a location is one token and a word without a dot is no op") {
    CHECK(only("Loc", "a.b () -> () loc(fused[\"a)\", (1)])") == "loc(fused[\"a)\", (1)])");
    CHECK(kinds("location") == "Word");
  }

  TEST_CASE("symbols in heads end before the next part of the op") {
    CHECK(only("Symbol", "graph.X @model.layers.0 <CPU>") == "@model.layers.0");
    CHECK(only("Symbol", "graph.X @b-c/d e:1.x (%1:tensor<[1], F, C>)") == "@b-c/d e:1.x");
    CHECK(only("Symbol", "graph.X @ (%1:tensor<[1], F, C>)") == "@");
    CHECK(only("Symbol", "graph.X @\"any (text) {\" ()") == "@\"any (text) {\"");
    CHECK(only("Symbol", "graph.X @s // note") == "@s");
    CHECK(only("Symbol", "graph.X @s{") == "@s");
  }

  TEST_CASE("names without quotes hold letters, digits and five signs") {
    for (char c = ' '; c <= '~'; ++c) {
      CAPTURE(c);
      const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      const bool is_word = is_letter || (c >= '0' && c <= '9') || c == '_';
      const bool is_name = is_word || std::string_view(".$/-").find(c) != std::string_view::npos;
      const std::string name = std::string("x") + c + "y";
      CHECK(tokens("graph.X @" + name + "\n")[1] == Pair{"Symbol", is_name ? "@" + name : "@x"});
      CHECK(tokens("prog.jump " + name + "[offset:1]")[1] == Pair{"Label", is_name ? name : "x"});
      if (c != ':' && c != ',' && c != ']') {  // what ends a key or a value anyway
        const Pairs keys = tokens("a.b [k:v, " + name + ":1]");
        CHECK(keys[4] == Pair{"Bare", is_name ? "v" : "v, " + name + ":1"});
      }
      if (c != ']') {
        CHECK(value_of(std::string("1 + $") + c) ==
              Pair{is_word ? "Dim" : "Bare", c == ' ' ? "1 + $" : std::string("1 + $") + c});
      }
    }
  }

  TEST_CASE("a label that goes on behind __entry is a word") {
    CHECK(only("Label", "prog.jump a b.__entry") == "a b.__entry");
    CHECK(only("Label", "prog.jump a.__entryx[offset:1]") == "a.__entryx");
    CHECK(tokens("prog.jump a b.__entry_")[1] == Pair{"Label", "a"});
  }

  TEST_CASE("a plug-in mnemonic is any text up to the next part of the op") {
    CHECK(only("OpName", "linalg.CPU.my+op 2 [name=\"a\"](%1:tensor<[1], F, C>)") ==
          "linalg.CPU.my+op 2");
    CHECK(only("OpName", "linalg.CPU.register<Linear>() -> ()") == "linalg.CPU.register");
  }

  TEST_CASE("op names are quoted, not escaped") {
    CHECK(only("NameAngle", "a.b <name=\"x\">y\\\">(") == "<name=\"x\">y\\\">");
  }

  TEST_CASE("the label of a jump is bare, quoted or ends in __entry") {
    CHECK(only("Label", "prog.jump m.layers.0.__entry[offset:-3]") == "m.layers.0.__entry");
    CHECK(only("Label", "prog.jump a b[0].__entry[offset:1]") == "a b[0].__entry");
    CHECK(only("Label", "prog.jump \"a [b\"[offset:1]") == "\"a [b\"");
    CHECK(kinds("prog.jump // where to\n  there prog.ret") == "OpName Label OpName");
  }

  TEST_CASE("a value with its type in canonical spacing is one token") {
    CHECK(tokens("a.b (%8:tensor<[1, ?, $S], Float32, CPU>)")[2] ==
          Pair{"TypedValue", "%8:tensor<[1, ?, $S], Float32, CPU>"});
    CHECK(kinds("a.b (%8 :tensor<[1],Float32,CPU>)") ==
          "OpName LParen Value Colon Tensor Less ShapeOpen Dim ShapeClose Comma Word Comma Word "
          "Greater RParen");
  }

  TEST_CASE("a type that occurred before ends where scanning it ends") {
    const std::string known = "%1:tensor<[1, 192, 1536], Float32, CPU>";
    const std::string others[] = {known,
                                  "%22:tensor<[1, 192, 1536], Float32, CPU>",
                                  "%:tensor<[1, 192, 1536], Float32, CPU>",
                                  "%1:tensor<[1, 192, 1536], Float32, GPU>",
                                  "%1:tensor<[1, 192, 1536], Float16, CPU>",
                                  "%1:tensor<[1, 192, 1535], Float32, CPU>",
                                  "%1:tensor<[1], Float32, CPU>"};
    for (const std::string& other : others) {
      CAPTURE(other);
      const Pairs list = tokens("a.b (" + known + "," + other + " , " + known + ") -> ()");
      const auto values = std::ranges::count(list, "TypedValue", &Pair::first);
      CHECK(values == 3);
      CHECK(std::ranges::count(list, Pair{"TypedValue", other}) == (other == known ? 3 : 1));
    }
    const std::string encoded = "%1:tensor<[1, 192, 1536], Float32, CPU, \"e\">";
    CHECK(kinds("a.b (" + known + ", " + encoded) ==
          "OpName LParen TypedValue Comma " + kinds("a.b (" + encoded).substr(14));
    CHECK(kinds("a.b (" + known + ", " + known.substr(0, known.size() - 1)) !=
          kinds("a.b (" + known + ", " + known));
  }

  TEST_CASE("value names hold any text up to the colon") {
    CHECK(only("Value", "a.b (%:tensor<[1,2], F, C>)") == "%");
    CHECK(only("Value", "a.b (%a-b c:tensor<[1,2], F, C>)") == "%a-b c");
    CHECK(only("TypedValue", "a.b (%a.$1-:tensor<[1, 2], F, C>)") == "%a.$1-:tensor<[1, 2], F, C>");
  }

  TEST_CASE("dimensions are integers, question marks and expressions") {
    for (const char* dim : {"16", "-1", "?", "$S", "$past + $S", "4*($S+1)", "$S/4", "$S%4"}) {
      CAPTURE(dim);
      CHECK(only("Dim", std::string("a.b (%1:tensor< [") + dim + " ],F,C>)") == dim);
    }
    CHECK(kinds("a.b (%1:tensor<[],F,C>)") != test::Part{"Dim"});
  }

  TEST_CASE("types of other dialects are kept whole") {
    CHECK(only("OpaqueType", "a.b (%1:!tt.tile<32x32, bf16, <\">\">>)") ==
          "!tt.tile<32x32, bf16, <\">\">>");
    CHECK(only("OpaqueType", "a.b (%1:!tt.token)") == "!tt.token");
  }

  TEST_CASE("attribute values have the kind that their whole text has") {
    CHECK(value_of("3") == Pair{"Int", "3"});
    CHECK(value_of("-2147483648") == Pair{"Int", "-2147483648"});
    CHECK(value_of("1e-06") == Pair{"Float", "1e-06"});
    CHECK(value_of("-.5") == Pair{"Float", "-.5"});
    CHECK(value_of("-inf") == Pair{"Float", "-inf"});
    CHECK(value_of("true") == Pair{"True", "true"});
    CHECK(value_of("false") == Pair{"False", "false"});
    CHECK(value_of("null") == Pair{"Null", "null"});
    CHECK(value_of("\"a \\\" ] b\"") == Pair{"String", "\"a \\\" ] b\""});
    CHECK(value_of("@cache.0") == Pair{"Symbol", "@cache.0"});
    CHECK(value_of("@\"a b\"") == Pair{"Symbol", "@\"a b\""});
    CHECK(value_of("#layout") == Pair{"Hash", "#layout"});
    CHECK(value_of("#tt.layout<(d0) -> (d0), [1]>") ==
          Pair{"Hash", "#tt.layout<(d0) -> (d0), [1]>"});
    CHECK(value_of("$past+$S") == Pair{"Dim", "$past+$S"});
    CHECK(value_of("tensor<[1], Int8, CPU>") == Pair{"Type", "tensor<[1], Int8, CPU>"});
    CHECK(value_of("!tt.token") == Pair{"OpaqueType", "!tt.token"});
    CHECK(value_of("<InvalidAttribute NYI>") == Pair{"Invalid", "<InvalidAttribute NYI>"});
    CHECK(value_of("QuantSpec(Raw(type: Int8), uuid=1, solved=0)") ==
          Pair{"QuantSpec", "QuantSpec(Raw(type: Int8), uuid=1, solved=0)"});
  }

  TEST_CASE("attribute values have the same kind in any place of a list") {
    CHECK(
        kinds("a.b [k:3, l:-1.5, m:true, n:false, o:null, p:word, q:$S, r:a$S]") ==
        "OpName LBracket Key Colon Int Comma Key Colon Float Comma Key Colon True Comma Key Colon "
        "False Comma Key Colon Null Comma Key Colon Bare Comma Key Colon Dim Comma Key Colon "
        "Bare RBracket");
  }

  TEST_CASE("an unquoted string may be empty and may hold commas, blanks and brackets") {
    CHECK(value_of("") == Pair{"Bare", ""});
    CHECK(tokens("a.b [k:, l:1]")[4] == Pair{"Bare", ""});
    CHECK(value_of("m.layers.0") == Pair{"Bare", "m.layers.0"});
    CHECK(value_of("3x") == Pair{"Bare", "3x"});
    CHECK(value_of("nullable") == Pair{"Bare", "nullable"});
    CHECK(value_of("QNN Linear per-tensor W8A16") == Pair{"Bare", "QNN Linear per-tensor W8A16"});
    CHECK(value_of("one, two (three)") == Pair{"Bare", "one, two (three)"});
    CHECK(tokens("a.b [k:one, two, l:3]")[4] == Pair{"Bare", "one, two"});
    CHECK(tokens("a.b [k:one, \"two\":3]")[4] == Pair{"Bare", "one"});
  }

  TEST_CASE("attribute keys are words, quoted or odd") {
    CHECK(only("Key", "a.b [qnn_graph-name.$0 :1]") == "qnn_graph-name.$0");
    CHECK(only("Key", "a.b [\"a: b\":1]") == "\"a: b\"");
    CHECK(only("Key", "a.b [odd key!:1]") == "odd key!");
  }

  TEST_CASE("arrays and dictionaries nest") {
    CHECK(kinds("a.b [k:{\"a\":[1, -2.5e3, null], b:{}, \"c\":word, d:$S+1}]") ==
          "OpName LBracket Key Colon DictOpen String Colon ArrayOpen Int Comma Float Comma Null "
          "ArrayClose Comma Word Colon DictOpen DictClose Comma String Colon Word Comma Word Colon "
          "Dim DictClose RBracket");
    CHECK(kinds("a.b [k:[nan, inf, -0, true, @s, #a.b<1>]]") ==
          "OpName LBracket Key Colon ArrayOpen Float Comma Float Comma Int Comma True Comma Symbol "
          "Comma Hash ArrayClose RBracket");
  }

  TEST_CASE("quantisation specs in other spacings come in pieces") {
    CHECK(kinds("a.b [q:QuantSpec( Raw(type:Int8),uuid=1)]") ==
          "OpName LBracket Key Colon QuantSpecOpen Word DataLParen Word FieldColon Word DataRParen "
          "Comma Word Equal Int DataRParen RBracket");
    CHECK(kinds("a.b [q:QuantSpec(None(, uuid=5, solved=0)]") ==
          "OpName LBracket Key Colon QuantSpecOpen NoneOpen Comma Word Equal Int Comma Word Equal "
          "Int DataRParen RBracket");
    CHECK(kinds("a.b [q:QuantAnnotation(inputs_0:QuantSpec(Raw(), uuid=1), , )]") ==
          "OpName LBracket Key Colon QuantAnnotationOpen Word Colon QuantSpec Comma Comma "
          "DataRParen RBracket");
  }

  TEST_CASE("brackets that open a symbol or a successor list differ from attribute lists") {
    CHECK(kinds("a.b (%1[ @w x][k:1]) [^bb1, ^bb2(%1)]") ==
          "OpName LParen Value LBracketSymbol Symbol RBracket LBracket Key Colon Int RBracket "
          "RParen LBracketBlock BlockName Comma BlockName LParen Value RParen RBracket");
    CHECK(only("Symbol", "a.b (%1[@ w x ])") == "@ w x");
  }

  TEST_CASE("white space and comments separate tokens and mean nothing else") {
    const std::string close = "a.b(%1:tensor<[1,2],F,C>)->()[k:1,l:[2]]";
    const std::string wide =
        "a.b\r\n(\t%1 : // why\n tensor < [ 1 , 2 ] , F , C > ) -> ( ) [ k : 1 , l : [ 2 ] ]";
    CHECK(kinds(close) == kinds(wide));
  }

  TEST_CASE("comments end numbers, extents, names and keys") {
    const auto same = [](const std::string& text) {
      std::string without = text;
      for (auto at = without.find("//"); at != without.npos; at = without.find("//", at)) {
        without.erase(at, without.find('\n', at) - at);
      }
      CAPTURE(text);
      CHECK(kinds(text) == kinds(without));
    };
    same("a.b [k:3 // why\n, l:-2.5e1//\n]");
    same("a.b [k:true // x\n, l:null // y\n, m:$S // z\n, n:2*$S/4//\n, o:? // p\n]");
    same("a.b [k:word, // next\n l:3, // last\n // key\n \"m\" // colon\n :4]");
    same(
        "a.b [key // colon\n :4] (%x // x\n, %y//\n) -> (%z // z\n : // type\n tensor<[1], F, C>)");
    same(
        "a.b (%1:tensor // type\n < // shape\n [2 // rows\n, $S//\n, 4*$S/2 // x\n, ? // y\n] // "
        "dtype\n"
        ", F // device\n, C // end\n >)");
    same("a.b [t:tensor // type\n <[1], F, C>] () -> () [ // blocks\n ^bb1]");
    same("graph.SubGraphOp @some name // why\n <CPU> ( // inputs\n %x)");
    same("prog.jump x.y // the .__entry follows\n [offset:3]");
    CHECK(value_of("$S // x\n") == Pair{"Dim", "$S"});
    CHECK(value_of("3 // x\n") == Pair{"Int", "3"});
    CHECK(value_of("a // x") == Pair{"Bare", "a // x"});
    CHECK(value_of("$S a// x\n") == Pair{"Dim", "$S a"});
  }

  TEST_CASE("comments are text where only text can be") {
    CHECK(value_of("\"http://x\"") == Pair{"String", "\"http://x\""});
    CHECK(value_of("http://x") == Pair{"Bare", "http://x"});
    CHECK(kinds("// a.b [k:1]\r\n//\n") == "");
  }

  TEST_CASE("a byte order mark is skipped") {
    CHECK(tokens("\xef\xbb\xbf@main")[0] == Pair{"Symbol", "@main"});
  }

  TEST_CASE("a token longer than 16 MiB is refused") {
    const std::string text(1u << 24, 'x');
    const auto list = errors(test::module_of({"a.b [k:\"" + text + "\"] () -> ()"}));
    REQUIRE(list.size() == 1);
    CHECK(list[0] == "4:8 MIR0107 token longer than 16 MiB");
    const std::string fits(text.size() - 3, 'x');
    CHECK(errors(test::module_of({"a.b [k:\"" + fits + "\"] () -> ()"})).empty());
  }
}

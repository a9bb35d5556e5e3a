// Short ways for tests to parse and print.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "mir/format.hpp"
#include "mir/parse.hpp"

namespace mir::test {

/// A text with its tree; no tree when the text has an error.
struct Parsed {
  explicit Parsed(std::string text) : file(*sources->add("test.mir", std::move(text))) {
    Diagnostics diagnostics;
    tree = parse(file, diagnostics);
    for (const Diagnostic& diagnostic : diagnostics.sorted()) errors += diagnostic.message + "\n";
  }
  std::unique_ptr<SourceManager> sources = std::make_unique<SourceManager>();
  const SourceFile& file;
  std::optional<SyntaxTree> tree;
  std::string errors;
};

/// The canonical layout of `text`; its errors when it has any.
inline std::string formatted(std::string text) {
  const Parsed parsed(std::move(text));
  return parsed.tree ? format(*parsed.tree) : "error: " + parsed.errors;
}

/// `ops` in a module, and the layout of such a module without the module's own lines and indent.
inline std::string formatted_ops(const std::string& ops) {
  std::string text = formatted("@main () -> () {\n" + ops + "\n}\n");
  constexpr std::string_view kHead = "@main () -> () {\n";
  constexpr std::string_view kTail = "}\n";
  if (!text.starts_with(kHead) || !text.ends_with(kTail)) return text;
  text = text.substr(kHead.size(), text.size() - kHead.size() - kTail.size());
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    const std::string line = text.substr(at, end - at);
    result += (line.starts_with("    ") ? line.substr(4) : line) + "\n";
    at = end + 1;
  }
  result.pop_back();
  return result;
}

inline std::string without_space(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') result += c;
  }
  return result;
}

/// A text that has every construct of the language.
inline constexpr std::string_view kEveryConstruct = R"(// head comment
#q1 = QuantSpec (Raw (type : Int8) , uuid = 5)  // alias
#q2 = [ 1,2 , {"a" : [1, 2], "t": tensor<[1,2], X , Y>} ]
@main [mir_version : 1] (%0:tensor<[1,$S +  2], Float32, CPU, {"a": 1, b : [1,2]}>) -> () { // trail
graph.SubGraphOp @init <notype> { () -> () { } }
graph.SubGraphOp @deinit <notype> { () -> () {
// inside
} } // end
  linalg.CPU.LinearOp < name = "x y" > [a:b, c:d,e : {"a": [1, 2],"b":{"c" : 2}}] (%0 : tensor<[1], Float32,CPU> [@w ] [symbol: w] [constant: [0.5,1]]) -> ( %1 ) loc( "a" :  3 )
  linalg.CPU.MyOp [ name="x"] (%0) -> ()
  linalg.CPU.LinearOp [a:b] (%0) -> (%1)
  linalg.CPU.my+op x(%0) -> (%1)
  linalg.CPU.X
  loc(a)
  linalg.CPU.register <Linear> () -> () [symbol:x]
  a.b.C @sym <x> [attrs:1] (%0) -> (%1) [x:QuantAnnotation(inputs_0 : QuantSpec(Raw(type: X)), , )] [^bb0 (%1), ^bb1] {
     ^bb0(%a:tensor<[], A, B>) : x.y(%1) -> ()
     ^bb1: prog.ret loc(x) prog.ret
  } { (%1) -> () { } (%2:tensor<[4, 8], Float32, CPU>) -> () { x.y } }
  a.c(%0, // first
     // second
     %1) -> (%2) // third
   // own
  prog.jump model.__entry [offset: 3] addr : 0x0 prog.mode_config [flag:1] cf.ReturnOp(%0) -> ()
  prog.kernel_launch(%0)->(%1)[op_type:, op_options:{"a":null}, t:QuantSpec(None(, uuid=5), b:true, f:-1.5e3, n:@s]
  tensor.CPU.register()->(%1:tensor<[?], F, C>)[x:QNN a b
   , "q":1, e:$S*2]
}
// between
@second () -> () {
}
// tail
)";

}  // namespace mir::test

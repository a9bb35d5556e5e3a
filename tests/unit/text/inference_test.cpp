// Types of results that a text leaves out: they follow from all of the text, in any order.
#include <fmt/format.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../ir/isomorphic.hpp"
#include "../ir/read.hpp"
#include "../seeds.hpp"
#include "mir/format.hpp"
#include "mir/infer.hpp"
#include "mir/rewriter.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "syntax/edit.hpp"
#include "syntax/token_stream.hpp"
#include "syntax/wrap_lines.hpp"
#include "text/short_text.hpp"
#include "text/type_mentions.hpp"

using namespace mir;
using mir::test::Isomorphism;
using mir::test::Reading;

namespace inference_test {

namespace {

using Lines = std::vector<std::string>;

/// `t[2]` stands for a type of floats, `b[1]` for one of truth values, `i[1]` for one of integers.
std::string with_types(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_type = at + 1 < text.size() && text[at + 1] == '[' && at > 0 &&
                         (text[at - 1] == ':' || text[at - 1] == ' ') &&
                         std::string_view("tbi").find(text[at]) != std::string_view::npos;
    if (!is_type) {
      out += text[at];
      continue;
    }
    const std::size_t end = text.find(']', at);
    const std::string_view dtype = text[at] == 't' ? "Float32" : text[at] == 'b' ? "Bool" : "Int32";
    out += fmt::format("tensor<{}, {}, CPU>", text.substr(at + 1, end - at), dtype);
    at = end;
  }
  return out;
}

/// Errors of reading and, without any, of verification.
Lines errors(std::string_view text) {
  Reading reading(with_types(text));
  if (!reading.errors().empty()) return reading.errors();
  Diagnostics found;
  for (const Module* module : reading.modules) verify(*module, found);
  Lines lines;
  for (const Diagnostic& each : found.sorted()) {
    if (each.severity == Severity::kError) {
      lines.push_back(fmt::format("{} {}", spelling(each.code), each.message));
    }
  }
  return lines;
}

/// The extents of the value of this name, the first one in the text.
std::string extents_of(const Module& module, std::string_view name) {
  std::string found = "nothing";
  for_each_op(module, [&](const Op& op) {
    for (const Value& result : op.results()) {
      if (found != "nothing" || module.context().text(result.name().symbol()) != name) continue;
      const std::string_view type = result.type() == nullptr ? "none" : result.type()->spelling();
      found = type.substr(type.find('[') + 1, type.find(']') - type.find('[') - 1);
    }
  });
  return found;
}

std::string extents_of(std::string_view text, std::string_view name) {
  Reading reading(with_types(text));
  return extents_of(reading.module(), name);
}

std::string changed(const std::string& text, const auto& change) {
  IRContext context;
  register_builtin_dialects(context);
  const SourceFile* file = context.sources().add("test.mir", text);
  Diagnostics diagnostics;
  const auto tree = parse(*file, diagnostics);
  REQUIRE(tree);
  const auto made = change(*tree, context, diagnostics);
  for (const std::string& line : mir::test::lines_of(diagnostics, context)) MESSAGE(line);
  REQUIRE(made);
  return *made;
}

/// The text without some of the types that reading it finds again.
std::string with_some_types(const std::string& text, std::mt19937_64& random) {
  return changed(text, [&](const SyntaxTree& tree, IRContext& context, Diagnostics& diagnostics) {
    MentionedTypes found = type_mentions(tree, context, diagnostics);
    for (TypeMention& each : found.mentions) each.is_redundant &= random() % 2 == 0;
    TokenStream stream(tree);
    leave_types_out(stream, tree.file(), found.mentions);
    return std::optional(stream.print());
  });
}

/// Every form of the text reads back, verifies and has the IR of the text.
void check_forms(const std::string& text, std::uint64_t seed) {
  CAPTURE(text);
  Reading reading(text);
  Module& module = reading.module();
  CHECK(errors(text) == Lines{});
  for_each_op(module, [](const Op& op) {
    for (const Value& result : op.results()) CHECK(result.type() != nullptr);
  });
  std::mt19937_64 random(seed);
  const std::string printed = print(module);
  const std::string brief = changed(printed, [](const auto& tree, auto& context, auto& found) {
    return short_text(tree, context, found);
  });
  const auto full = [](const auto& tree, auto& context, auto& found) {
    return full_text(tree, context, found);
  };
  const auto renumber = [](const auto& tree, auto&, auto&) {
    return rewrite(tree, {.renumber = true});
  };
  const auto wrap = [](const auto& tree, auto&, auto&) {
    return std::optional(wrap_lines(SourceFile("canonical.mir", format(tree), 1), 60));
  };
  for (const std::string& form :
       {printed, brief, changed(printed, full), changed(brief, full), changed(printed, renumber),
        changed(brief, renumber), changed(printed, wrap), changed(brief, wrap),
        with_some_types(printed, random), with_some_types(text, random)}) {
    CAPTURE(form);
    Reading again(form);
    REQUIRE(again.errors() == Lines{});
    CHECK(errors(form) == Lines{});
    // Aliases of types need version 2, and full text has the lowest that it needs.
    Rewriter(again.module()).set_version(module.version());
    CHECK(Isomorphism(module, again.module()).difference() == "");
  }
}

// -- an op that counts ----------------------------------------------------------------------------

std::size_t inferences = 0;

bool infer_counted(InferContext& op) {
  ++inferences;
  op.result(op.operand_type(0));
  return true;
}
constexpr OpRow kCountedRows[] = {
    {.name = "AnOp",
     .operands = at_least(1),
     .results = exactly(1),
     .traits = Trait::kPure,
     .infer = infer_counted,
     .summary = "Counts how often its types are inferred.",
     .example = "counted.AnOp (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)"},
};
constexpr Dialect kCounted{.name = "counted", .rows = kCountedRows, .summary = "Counts."};

/// How often reading the text infers types of these ops.
std::size_t inferences_of(std::string_view text) {
  IRContext context;
  register_builtin_dialects(context);
  REQUIRE(context.register_dialect(kCounted).ok());
  const SourceFile* file = context.sources().add("test.mir", with_types(text));
  Diagnostics diagnostics;
  inferences = 0;
  const auto modules = read_modules(*file, context, diagnostics);
  CHECK(mir::test::lines_of(diagnostics, context) == Lines{});
  for_each_op(*modules.front(), [](const Op& op) {
    for (const Value& result : op.results()) CHECK(result.type() != nullptr);
  });
  return inferences;
}

// -- random texts ---------------------------------------------------------------------------------

/// A module of version 2 that states types where the language asks for them, and sometimes
/// elsewhere: conditions, loops, calls of graphs above and below, and extents that data decides.
class TextWithoutTypes {
 public:
  explicit TextWithoutTypes(std::uint64_t seed) : random_(seed) {}

  std::string make() {
    for (int graph = 0; graph < 2; ++graph) graphs_.push_back(graph_text(graph));
    Values values{{"%x"}, {"%x", "%u"}};
    std::string body;
    for (int i = 0; i < 8; ++i) {
      if (one_in(4)) add_graph(body);
      body += operation(values, 0);
    }
    while (!graphs_.empty()) add_graph(body);
    const std::string known = any(values.known), open = any(values.any);
    return with_types(
        fmt::format("@main [mir_version:2] (%x:t[4], %u:t[?], %c:b[1], %n:i[1], %m:b[4]) -> "
                    "(%out.0:t[4], %out.1:t[?]) {{\n{}cf.ReturnOp ({}, {}) -> ()\n}}\n",
                    body, known, open));
  }

 private:
  struct Values {
    std::vector<std::string> known;  // of 4 elements
    std::vector<std::string> any;
  };

  bool one_in(std::uint64_t n) { return random_() % n == 0; }
  const std::string& any(const std::vector<std::string>& names) {
    return names[names.size() - 1 - random_() % std::min<std::size_t>(names.size(), 5)];
  }
  std::string name() { return fmt::format("%v{}", ++names_); }
  void add_graph(std::string& body) {
    if (graphs_.empty()) return;
    body += graphs_.back();
    graphs_.pop_back();
  }
  std::string define(Values& values, bool is_known) {
    const std::string made = name();
    values.any.push_back(made);
    if (is_known) values.known.push_back(made);
    return made;
  }

  std::string graph_text(int number) {
    return fmt::format(
        "graph.SubGraphOp @g{0} <CPU> {{\n(%a:t[4]) -> (%b:t[4]) {{\n"
        "{1}linalg.CPU.AbsOp(%a) -> (%b)\ncf.ReturnOp (%b) -> ()\n}}\n}}\n",
        number, number == 0 ? "graph.CallGraphOp @g1 (%a) -> (%deep)\n" : "");
  }

  /// Ops of a region, and the value that it passes on.
  std::pair<std::string, std::string> region(Values values, int depth, bool is_known) {
    std::string text;
    for (std::uint64_t n = random_() % 3; n-- > 0;) text += operation(values, depth + 1);
    return {text, any(is_known ? values.known : values.any)};
  }

  std::string operation(Values& values, int depth) {
    switch (random_() % (depth < 2 ? 9 : 6)) {
      case 0: {
        const std::string x = any(values.any);
        const bool is_known = std::ranges::find(values.known, x) != values.known.end();
        return fmt::format("linalg.CPU.NegOp({}) -> ({})\n", x, define(values, is_known));
      }
      case 1: {
        const std::string x = any(values.known), y = any(values.known);
        return fmt::format("linalg.CPU.AddOp({}, {}) -> ({})\n", x, y, define(values, true));
      }
      case 2: {
        const std::string x = any(values.known);
        return fmt::format("linalg.CPU.CompressOp [dim:0] ({}, %m) -> ({})\n", x,
                           define(values, false));
      }
      case 3: {
        const std::string x = any(values.known);
        return fmt::format("linalg.CPU.CompressOp [dim:0] ({}, %m) -> ({}:t[$N{}])\n", x,
                           define(values, false), names_);
      }
      case 4: {
        const std::string x = any(values.known);
        return fmt::format("graph.CallGraphOp @g{} ({}) -> ({})\n", random_() % 2, x,
                           define(values, true));
      }
      case 5: {
        const std::string x = any(values.known);
        const std::string made = define(values, true);
        return fmt::format("linalg.CPU.MulOp({0}:t[4], {0}) -> ({1}{2})\n", x, made,
                           one_in(2) ? ":t[4]" : "");
      }
      case 6: {
        const std::string x = any(values.known), i = name(), s = name();
        Values inside = values;
        inside.known.push_back(s);
        inside.any.push_back(s);
        const auto [text, passed] = region(inside, depth, true);
        return fmt::format(
            "cf.ForOp (%n, %n, %n, {0}) -> ({1}) {{\n({2}:i[1], {3}:t[4]) -> ({4}) {{\n{5}"
            "cf.YieldOp ({4}) -> ()\n}}\n}}\n",
            x, define(values, true), i, s, passed, text);
      }
      default: {
        const bool is_known = one_in(2);
        const auto [first, a] = region(values, depth, is_known);
        const auto [second, b] = region(values, depth, is_known);
        const bool is_open = !is_known && a != b;
        const std::string made = define(values, is_known);
        return fmt::format(
            "cf.IfOp (%c) -> ({0}{1}) {{\n() -> ({2}) {{\n{3}cf.YieldOp ({2}) -> ()\n}}\n"
            "() -> ({4}) {{\n{5}cf.YieldOp ({4}) -> ()\n}}\n}}\n",
            made, is_open ? ":t[?]" : "", a, first, b, second);
      }
    }
  }

  std::mt19937_64 random_;
  int names_ = 0;
  std::vector<std::string> graphs_;
};

constexpr std::string_view kHead =
    "@main [mir_version:2] (%x:t[4], %c:b[1], %n:i[1], %m:b[4]) -> () {\n";
constexpr std::string_view kEnd = "cf.ReturnOp () -> ()\n}\n";
constexpr std::string_view kGraph =
    "graph.SubGraphOp @f <CPU> {\n(%a:t[4]) -> (%b:t[4]) {\nlinalg.CPU.AbsOp(%a) -> (%b)\n"
    "cf.ReturnOp (%b) -> ()\n}\n}\n";

}  // namespace

TEST_SUITE("inference") {
  TEST_CASE("results of ops that wait for each other get types in any order of the text") {
    const std::string text = fmt::format(
        "{}graph.CallGraphOp @f (%x) -> (%p)\n"
        "cf.IfOp (%c) -> (%q) {{\n() -> (%p) {{\ncf.YieldOp (%p) -> ()\n}}\n"
        "() -> (%r) {{\ngraph.CallGraphOp @f (%p) -> (%r)\ncf.YieldOp (%r) -> ()\n}}\n}}\n"
        "cf.ForOp (%n, %n, %n, %q) -> (%s) {{\n(%i:i[1], %k:t[4]) -> (%l) {{\n"
        "cf.IfOp (%c) -> (%l) {{\n() -> (%q) {{\ncf.YieldOp (%q) -> ()\n}}\n"
        "() -> (%k) {{\ncf.YieldOp (%k) -> ()\n}}\n}}\ncf.YieldOp (%l) -> ()\n}}\n}}\n"
        "linalg.CPU.AddOp(%s, %q) -> (%t)\n{}{}",
        kHead, kGraph, kEnd);
    for (const char* name : {"p", "q", "r", "s", "l", "t"}) CHECK(extents_of(text, name) == "4");
    check_forms(with_types(text), 0);
  }

  TEST_CASE("a use in a block above its definition waits for the type") {
    const std::string text =
        "@main [mir_version:2] (%x:t[4]) -> (%y:t[4]) {\n"
        "cf.BranchOp () -> () [^first]\n"
        "^second:\nlinalg.CPU.AbsOp(%a) -> (%y)\ncf.ReturnOp (%y) -> ()\n"
        "^first:\nlinalg.CPU.NegOp(%x) -> (%a)\ncf.BranchOp () -> () [^second]\n}\n";
    CHECK(errors(text) == Lines{});
    CHECK(extents_of(text, "y") == "4");
    check_forms(with_types(text), 0);
  }

  TEST_CASE("an extent that one branch leaves unknown is unknown") {
    const auto text_with = [](std::string_view first, std::string_view second,
                              std::string_view result) {
      return fmt::format(
          "{}linalg.CPU.CompressOp [dim:0] (%x, %m) -> (%k)\n"
          "cf.IfOp (%c) -> (%z{}) {{\n() -> ({}) {{\ncf.YieldOp ({}) -> ()\n}}\n"
          "() -> ({}) {{\ncf.YieldOp ({}) -> ()\n}}\n}}\nlinalg.CPU.NegOp(%z) -> (%y)\n{}",
          kHead, result, first, first, second, second, kEnd);
    };
    CHECK(extents_of(text_with("%k", "%x", ""), "y") == "?");
    CHECK(extents_of(text_with("%x", "%k", ""), "y") == "?");
    CHECK(extents_of(text_with("%x", "%x", ""), "y") == "4");
    CHECK(extents_of(text_with("%x", "%k", ":t[$N]"), "y") == "$N");
  }

  TEST_CASE("a mention below completes a type before it decides others") {
    const std::string text = fmt::format(
        "{}linalg.CPU.CompressOp [dim:0] (%x, %m) -> (%k)\n"
        "linalg.CPU.NegOp(%k) -> (%l)\nlinalg.CPU.AbsOp(%k:t[$N]) -> (%o)\n{}",
        kHead, kEnd);
    for (const char* name : {"k", "l", "o"}) CHECK(extents_of(text, name) == "$N");
    const std::string twice = fmt::format(
        "{}linalg.CPU.CompressOp [dim:0] (%x, %m) -> (%k)\n"
        "linalg.CPU.NegOp(%k:t[$N]) -> (%l)\nlinalg.CPU.AbsOp(%k:t[$M]) -> (%o)\n{}",
        kHead, kEnd);
    CHECK(errors(twice) == Lines{"4:18 MIR0309 value is used as tensor<[$M], Float32, CPU>, "
                                 "defined as tensor<[$N], Float32, CPU>"});
  }

  TEST_CASE("the signature of the region that returns a value completes its type") {
    const auto module_with = [](std::string_view output, std::string_view weight) {
      return fmt::format(
          "@main [mir_version:1] (%x:t[1, 4]) -> (%y:{}) {{\n"
          "graph.SubGraphOp @init <CPU> {{\n() -> () {{\n"
          "tensor.CPU.register () -> (%w:{}[@up.weight])[symbol:up.weight]\n}}\n}}\n"
          "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%x) -> (%y)\n"
          "cf.ReturnOp (%y) -> ()\n}}\n",
          output, weight);
    };
    CHECK(extents_of(module_with("t[1, 8]", "t[8, 4]"), "y") == "1, 8");
    // The number of elements does not tell the extents of flattened weights.
    CHECK(extents_of(module_with("t[1, 8]", "t[32]"), "y") == "1, 8");
    CHECK(errors(module_with("t[1, 8]", "t[32]")) == Lines{});
    // A parameter tells what the op does not state.
    CHECK(extents_of(module_with("t[1, ?]", "t[8, 4]"), "y") == "1, 8");
    CHECK(errors(module_with("t[1, ?]", "t[8, 4]")) == Lines{});
    CHECK(errors(module_with("t[1, 6]", "t[8, 4]")) ==
          Lines{"MIR0405 result 0 of the module is %y:tensor<[1, 8], Float32, CPU>, its signature "
                "states %y:tensor<[1, 6], Float32, CPU>"});
    CHECK(errors(module_with("t[1, ?]", "t[32]")) ==
          Lines{"MIR0811 result 0 of 'linalg.LinearOp' is tensor<[1, ?], Float32, CPU>, and "
                "neither 'out_channels' nor a parameter determines extent 1"});
    check_forms(with_types(module_with("t[1, 8]", "t[32]")), 0);
    check_forms(with_types(module_with("t[1, ?]", "t[8, 4]")), 0);
  }

  TEST_CASE("a type that hides that branches differ is not left out") {
    const std::string text = with_types(
        "@main [mir_version:2] (%c:b[1], %m:b[4], %x:t[4]) -> (%y:t[?]) {\n"
        "linalg.CPU.CompressOp [dim:0] (%x, %m) -> (%n:t[$N])\n"
        "cf.IfOp (%c) -> (%y:t[?]) {\n() -> (%x) {\ncf.YieldOp (%x) -> ()\n}\n"
        "() -> (%n) {\ncf.YieldOp (%n) -> ()\n}\n}\ncf.ReturnOp (%y) -> ()\n}\n");
    check_forms(text, 0);
  }

  TEST_CASE("a signature without types has those of what is returned, and so have its calls") {
    const std::string text =
        "@main [mir_version:2] (%x:t[4]) -> (%y) {\n"
        "graph.CallGraphOp @f (%x) -> (%y)\n"
        "graph.SubGraphOp @f <CPU> {\n(%a:t[4]) -> (%b) {\n"
        "graph.CallGraphOp @g (%a) -> (%b)\ncf.ReturnOp (%b) -> ()\n}\n}\n"
        "graph.SubGraphOp @g <CPU> {\n(%a:t[4]) -> (%b) {\n"
        "linalg.CPU.AbsOp(%a) -> (%b)\ncf.ReturnOp (%b) -> ()\n}\n}\n"
        "cf.ReturnOp (%y) -> ()\n}\n";
    CHECK(errors(text) == Lines{});
    CHECK(extents_of(text, "y") == "4");
    Reading reading(with_types(text));
    CHECK(reading.module().body().result_types()[0]->spelling() == "tensor<[4], Float32, CPU>");
    check_forms(with_types(text), 0);
  }

  TEST_CASE("a parameter below gives a ParamOp and a product their types") {
    const std::string text =
        "@main [mir_version:1] (%x:t[1, 4]) -> () {\n"
        "linalg.CPU.ParamOp [name:up.weight, shape:[]] () -> (%p)\n"
        "linalg.CPU.LinearOp <name=\"up\"> [bias:false] (%x) -> (%y)\n"
        "linalg.CPU.NegOp(%y) -> (%z)\n"
        "graph.SubGraphOp @init <CPU> {\n() -> () {\n"
        "tensor.CPU.register () -> (%w:t[8, 4][@up.weight])[symbol:up.weight]\n}\n}\n"
        "cf.ReturnOp () -> ()\n}\n";
    CHECK(extents_of(text, "p") == "8, 4");
    CHECK(extents_of(text, "z") == "1, 8");
    check_forms(with_types(text), 0);
  }

  TEST_CASE("a result that nothing gives a type is reported once") {
    CHECK(errors(fmt::format("{}my.CPU.OwnOp(%x) -> (%a)\nlinalg.CPU.NegOp(%a) -> (%b)\n"
                             "cf.IfOp (%c) -> (%z) {{\n() -> (%b) {{\ncf.YieldOp (%b) -> ()\n}}\n"
                             "() -> (%b) {{\ncf.YieldOp (%b) -> ()\n}}\n}}\n{}",
                             kHead, kEnd)) ==
          Lines{"2:22 MIR0304 result needs a type: no rule infers it here"});
    CHECK(errors("@main [mir_version:2] (%x:t[4]) -> (%y:t[4]) {\n"
                 "cf.BranchOp () -> () [^a]\n^a:\nlinalg.CPU.AbsOp(%p) -> (%q)\n"
                 "linalg.CPU.AbsOp(%q) -> (%p)\ncf.ReturnOp (%x) -> ()\n}\n") ==
          Lines{"4:26 MIR0304 result needs a type: the types of its operands depend on it"});
  }

  TEST_CASE("each op that waits is inferred once") {
    constexpr int kOps = 300;
    // From above, from a call of a graph below, and from the block below.
    std::string above, blocks;
    for (int i = 0; i < kOps; ++i) {
      above += fmt::format("counted.AnOp (%v{0}, %v0, %v{0}) -> (%v{1})\n", i, i + 1);
      blocks = fmt::format("^b{0}:\ncounted.AnOp (%v{0}, %v0) -> (%v{1})\n{2}\n", i, i + 1,
                           i + 1 == kOps ? std::string("cf.ReturnOp () -> ()")
                                         : fmt::format("cf.BranchOp () -> () [^b{}]", i + 1)) +
               blocks;
    }
    CHECK(inferences_of(
              fmt::format("@main [mir_version:2] (%v0:t[4]) -> () {{\n{}{}", above, kEnd)) == kOps);
    CHECK(inferences_of(fmt::format("{}graph.CallGraphOp @f (%x) -> (%v0)\n{}{}{}", kHead, above,
                                    kGraph, kEnd)) == kOps);
    CHECK(inferences_of(fmt::format(
              "@main [mir_version:2] (%v0:t[4]) -> () {{\ncf.BranchOp () -> () [^b0]\n{}}}\n",
              blocks)) == kOps);
  }

  TEST_CASE("random modules without types read, and all of their forms mean the same") {
    for (const std::uint64_t seed : test::seeds_of(600)) {
      CAPTURE(seed);
      check_forms(TextWithoutTypes(seed).make(), seed);
    }
  }
}

}  // namespace inference_test

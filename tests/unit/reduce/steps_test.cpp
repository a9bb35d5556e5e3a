// The edits that each reduction step offers, and the text that each of them leaves.
#include "reduce/steps.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "../passes/known_passes.hpp"
#include "../short_types.hpp"
#include "support/alignment.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;

namespace steps_test {

namespace {

Lines lines_without_indent(const std::string& text) {
  Lines lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    lines.push_back(line.substr(std::min(line.find_first_not_of(' '), line.size())));
    begin = end + 1;
  }
  return lines;
}

/// The lines that one text alone has: "-" and the number of those of `before`, "+" and each of
/// `after`.
std::string difference(const std::string& before, const std::string& after) {
  const Lines from = lines_without_indent(before), to = lines_without_indent(after);
  Lines known;
  const auto ids = [&](const Lines& lines) {
    std::vector<std::uint32_t> list;
    for (const std::string& line : lines) {
      const auto at = std::ranges::find(known, line);
      list.push_back(static_cast<std::uint32_t>(at - known.begin()));
      if (at == known.end()) known.push_back(line);
    }
    return list;
  };
  std::string text;
  std::size_t i = 0, j = 0;
  const auto until = [&](std::size_t x, std::size_t y) {
    if (i < x) text += fmt::format("-{}\n", x - i);
    i = x;
    for (; j < y; ++j) text += fmt::format("+{}\n", test::with_short_types(to[j]));
  };
  const auto one = ids(from), other = ids(to);
  for (const AlignedPair& each : align(one, other)) {
    until(static_cast<std::size_t>(each.before), static_cast<std::size_t>(each.after));
    ++i, ++j;
  }
  until(from.size(), to.size());
  return text;
}

const reduce::Step& step_named(std::string_view name) {
  const auto steps = reduce::all_steps();
  const auto found = std::ranges::find(steps, name, &reduce::Step::name);
  REQUIRE(found != steps.end());
  return *found;
}

/// What the edits [first, last) of a step, applied together, do to a text.
std::string edited(const reduce::Step& step, const std::string& text, std::size_t first,
                   std::size_t last) {
  const Passes passes;
  Diagnostics found;
  const auto draft = reduce::Draft::read(text, passes.registry, found);
  REQUIRE(draft != nullptr);
  const std::string before = draft->text();
  const reduce::Edits edits = step.offer(*draft);
  for (std::size_t i = first; i < last; ++i) edits.list[i]();
  if (edits.finish) edits.finish();
  if (draft->has_failed()) return "fails\n";
  const std::string change = difference(before, draft->text());
  return change.empty() ? "nothing\n" : change;
}

std::size_t count_of(const reduce::Step& step, const std::string& text) {
  const Passes passes;
  Diagnostics found;
  const auto draft = reduce::Draft::read(text, passes.registry, found);
  REQUIRE(draft != nullptr);
  return step.offer(*draft).list.size();
}

/// What each edit of a step does on its own, in the order of the edits.
std::string each_edit(std::string_view name, const std::string& text) {
  const reduce::Step& step = step_named(name);
  std::string all;
  for (std::size_t i = 0; i < count_of(step, text); ++i) {
    all += fmt::format("{}:\n{}", i, edited(step, text, i, i + 1));
  }
  return "\n" + all;
}

/// What all edits of a step do together.
std::string all_edits(std::string_view name, const std::string& text) {
  const reduce::Step& step = step_named(name);
  return "\n" + edited(step, text, 0, count_of(step, text));
}

/// A graph that a graph calls, twice, and the module once; with an input that is not used.
const std::string kCalls =
    R"(@main [mir_version:1] (%x:tensor<[2], Float32, CPU>, %y:tensor<[2], Float32, CPU>, %n:tensor<[3], Float32, CPU>) -> (%d:tensor<[2], Float32, CPU>, %e:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @inner <CPU> {
        (%a:tensor<[2], Float32, CPU>, %b:tensor<[2], Float32, CPU>) -> (%p:tensor<[2], Float32, CPU>, %q:tensor<[2], Float32, CPU>) {
            linalg.CPU.NegOp (%a) -> (%p:tensor<[2], Float32, CPU>)
            linalg.CPU.SiLUOp (%p) -> (%q:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%p, %q) -> ()
        }
    }
    graph.SubGraphOp @outer <CPU> {
        (%a:tensor<[2], Float32, CPU>, %b:tensor<[2], Float32, CPU>) -> (%t:tensor<[2], Float32, CPU>) {
            graph.CallGraphOp @inner (%a, %b) -> (%p:tensor<[2], Float32, CPU>, %q:tensor<[2], Float32, CPU>)
            graph.CallGraphOp @inner (%q, %a) -> (%s:tensor<[2], Float32, CPU>, %t:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%t) -> ()
        }
    }
    graph.CallGraphOp @outer (%x, %y) -> (%c:tensor<[2], Float32, CPU>)
    linalg.CPU.AddOp (%c, %y) -> (%d:tensor<[2], Float32, CPU>)
    linalg.CPU.AbsOp (%c) -> (%e:tensor<[2], Float32, CPU>)
    cf.ReturnOp (%d, %e) -> ()
}
)";

/// Parameters, attributes and constants.
const std::string kAttributes =
    R"(@main [mir_version:1] (%x:tensor<[2, 6], Float32, CPU>[k:1, l:2]) -> (%z:tensor<[2, 4], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[4, 6], Float32, CPU>[@fc.weight])[symbol:fc.weight]
        }
    }
    linalg.CPU.AddOp (%x, %c:tensor<[6], Float32, CPU>[constant:[9, 2, 3, 4, 5, 6]]) -> (%s:tensor<[2, 6], Float32, CPU>)
    linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {k:6, l:7}]] (%s) -> (%z:tensor<[2, 4], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";

const std::string kSymbols =
    R"(@main [mir_version:1] (%x:tensor<[2, $S], Float32, CPU>, %y:tensor<[$T, 3], Float32, CPU>) -> (%z:tensor<[2, $S], Float32, CPU>) {
    linalg.CPU.NegOp (%x) -> (%z:tensor<[2, $S], Float32, CPU>)
    cf.ReturnOp (%z) -> ()
}
)";

/// A call before its graph, a fused region, and types that only a call of a graph knows.
const std::string kRegions =
    R"(@main [mir_version:2] (%x:tensor<[6], Float32, CPU>) -> (%z:tensor<[6], Float32, CPU>) {
    graph.CallGraphOp @f (%x) -> (%y:tensor<[6], Float32, CPU>)
    graph.FusedOp () -> (%z:tensor<[6], Float32, CPU>) {
        () -> (%z:tensor<[6], Float32, CPU>) {
            linalg.CPU.SiLUOp (%y) -> (%s:tensor<[6], Float32, CPU>)
            cf.YieldOp (%s) -> ()
        }
    }
    graph.SubGraphOp @f <CPU> {
        (%a:tensor<[6], Float32, CPU>) -> (%b:tensor<[6], Float32, CPU>) {
            linalg.CPU.NegOp (%a) -> (%b:tensor<[6], Float32, CPU>)
            cf.ReturnOp (%b) -> ()
        }
    }
    cf.ReturnOp (%z) -> ()
}
@empty [mir_version:1] () -> () {
    cf.ReturnOp () -> ()
}
)";

/// Parts that nothing uses, and a graph without a body.
const std::string kUnused =
    R"(@main [mir_version:2] (%x:tensor<[2], Float32, CPU>) -> (%x:tensor<[2], Float32, CPU>) {
    graph.SubGraphOp @init <notype> {
        () -> () {
            tensor.CPU.register () -> (%w:tensor<[3], Float32, CPU>[@w])[symbol:w]
        }
    }
    graph.SubGraphOp @f <CPU> {
        (%a:tensor<[2], Float32, CPU>) -> (%a:tensor<[2], Float32, CPU>) {
            cf.ReturnOp (%a) -> ()
        }
    }
    linalg.CPU.NegOp <name="n"> (%x) -> (%y:tensor<[2], Float32, CPU>) loc("here")
    cf.ReturnOp (%x) -> ()
}
)";

const std::string kDump =
    R"(@main () -> () {
    graph.SubGraphOp @f <CPU> {
        (%1:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>) {
            linalg.CPU.NegOp (%1:tensor<[2], Float32, CPU>) -> (%2:tensor<[2], Float32, CPU>)
            linalg.CPU.SiLUOp [k:1] (%2:tensor<[2], Float32, CPU>) -> (%3:tensor<[2], Float32, CPU>)
            cf.ReturnOp (%3:tensor<[2], Float32, CPU>) -> ()
        }
    }
}
)";

}  // namespace

TEST_SUITE("steps of reductions") {
  TEST_CASE("a module goes unless it is the last one") {
    CHECK(each_edit("drop modules", kRegions) == R"(
0:
-16
1:
-3
)");
    CHECK(all_edits("drop modules", kRegions) == R"(
-16
)");
    CHECK(each_edit("drop modules", kCalls) == R"(
0:
nothing
)");
  }

  TEST_CASE("graphs go with their calls, whose results become inputs") {
    CHECK(each_edit("drop graphs", kCalls) == R"(
0:
-8
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %1:t[2], %3:t[2]) -> (%d:t[2], %e:t[2]) {
-4
+(%a:t[2], %b:t[2], %0:t[2], %2:t[2]) -> (%2:t[2]) {
+cf.ReturnOp (%2:t[2]) -> ()
-1
+graph.CallGraphOp @outer (%x:t[2], %y:t[2], %1:t[2], %3:t[2]) -> (%c:t[2])
1:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %0:t[2]) -> (%d:t[2], %e:t[2]) {
-10
+linalg.CPU.AddOp(%0:t[2], %y:t[2]) -> (%d:t[2])
+linalg.CPU.AbsOp(%0:t[2]) -> (%e:t[2])
)");
    CHECK(all_edits("drop graphs", kCalls) == R"(
-18
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %1:t[2], %3:t[2], %4:t[2]) -> (%d:t[2], %e:t[2]) {
+linalg.CPU.AddOp(%4:t[2], %y:t[2]) -> (%d:t[2])
+linalg.CPU.AbsOp(%4:t[2]) -> (%e:t[2])
)");
    CHECK(each_edit("drop graphs", kDump) == R"(
0:
-5
+
-2
)");
    CHECK(each_edit("drop graphs", kSymbols) == "\n");
  }

  TEST_CASE("results of dropped ops become inputs, and their operands outputs") {
    CHECK(each_edit("drop ops", kCalls) == R"(
0:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %2:t[2], %4:t[2]) -> (%d:t[2], %e:t[2]) {
-4
+(%a:t[2], %b:t[2], %0:t[2]) -> (%0:t[2], %q:t[2]) {
+linalg.CPU.SiLUOp(%0:t[2]) -> (%q:t[2])
+cf.ReturnOp (%0:t[2], %q:t[2]) -> ()
-3
+(%a:t[2], %b:t[2], %1:t[2], %3:t[2]) -> (%t:t[2]) {
+graph.CallGraphOp @inner (%a:t[2], %b:t[2], %1:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2], %a:t[2], %3:t[2]) -> (%s:t[2], %t:t[2])
-1
+graph.CallGraphOp @outer (%x:t[2], %y:t[2], %2:t[2], %4:t[2]) -> (%c:t[2])
1:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %2:t[2], %4:t[2]) -> (%d:t[2], %e:t[2]) {
-1
+(%a:t[2], %b:t[2], %0:t[2]) -> (%p:t[2], %0:t[2]) {
-2
+cf.ReturnOp (%p:t[2], %0:t[2]) -> ()
-3
+(%a:t[2], %b:t[2], %1:t[2], %3:t[2]) -> (%t:t[2]) {
+graph.CallGraphOp @inner (%a:t[2], %b:t[2], %1:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2], %a:t[2], %3:t[2]) -> (%s:t[2], %t:t[2])
-1
+graph.CallGraphOp @outer (%x:t[2], %y:t[2], %2:t[2], %4:t[2]) -> (%c:t[2])
2:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %1:t[2]) -> (%d:t[2], %e:t[2]) {
-3
+(%a:t[2], %b:t[2], %0:t[2]) -> (%t:t[2]) {
+graph.CallGraphOp @inner (%0:t[2], %a:t[2]) -> (%s:t[2], %t:t[2])
-1
+graph.CallGraphOp @outer (%x:t[2], %y:t[2], %1:t[2]) -> (%c:t[2])
3:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %1:t[2]) -> (%d:t[2], %e:t[2], %2:t[2]) {
-1
+(%a:t[2], %b:t[2], %0:t[2]) -> (%0:t[2], %q:t[2]) {
-2
+cf.ReturnOp (%0:t[2], %q:t[2]) -> ()
-1
+graph.CallGraphOp @outer (%x:t[2], %y:t[2], %1:t[2]) -> (%c:t[2], %2:t[2])
-1
+cf.ReturnOp (%d:t[2], %e:t[2], %2:t[2]) -> ()
4:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %0:t[2]) -> (%d:t[2], %e:t[2]) {
-3
+linalg.CPU.AddOp(%0:t[2], %y:t[2]) -> (%d:t[2])
+linalg.CPU.AbsOp(%0:t[2]) -> (%e:t[2])
5:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %0:t[2]) -> (%0:t[2], %e:t[2]) {
-1
-1
+cf.ReturnOp (%0:t[2], %e:t[2]) -> ()
6:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %0:t[2]) -> (%d:t[2], %0:t[2]) {
-2
+cf.ReturnOp (%d:t[2], %0:t[2]) -> ()
)");
    CHECK(all_edits("drop ops", kCalls) == R"(
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3], %2:t[2], %4:t[2], %7:t[2], %9:t[2], %11:t[2], %13:t[2], %14:t[2], %15:t[2], %16:t[2]) -> (%15:t[2], %16:t[2]) {
-4
+(%a:t[2], %b:t[2], %0:t[2], %5:t[2]) -> (%0:t[2], %5:t[2]) {
+cf.ReturnOp (%0:t[2], %5:t[2]) -> ()
-4
+(%a:t[2], %b:t[2], %1:t[2], %3:t[2], %6:t[2], %8:t[2], %10:t[2], %12:t[2]) -> (%12:t[2]) {
+cf.ReturnOp (%12:t[2]) -> ()
-4
+cf.ReturnOp (%15:t[2], %16:t[2]) -> ()
)");
    CHECK(each_edit("drop ops", kAttributes) == R"(
0:
-1
+@main [mir_version:1] (%x:t[2, 6][k:1, l:2], %0:t[2, 6]) -> (%z:t[2, 4]) {
-2
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%0:t[2, 6]) -> (%z:t[2, 4])
1:
-1
+@main [mir_version:1] (%x:t[2, 6][k:1, l:2], %0:t[2, 4]) -> (%0:t[2, 4], %s:t[2, 6]) {
-2
+cf.ReturnOp (%0:t[2, 4], %s:t[2, 6]) -> ()
)");
    CHECK(each_edit("drop ops", kRegions) == R"(
0:
-2
+@main [mir_version:2] (%x:t[6], %0:t[6]) -> (%z:t[6]) {
-1
+linalg.CPU.SiLUOp(%0:t[6]) -> (%s:t[6])
1:
-1
+@main [mir_version:2] (%x:t[6], %0:t[6]) -> (%0:t[6]) {
-6
-1
+cf.ReturnOp (%0:t[6]) -> ()
2:
-1
+@main [mir_version:2] (%x:t[6], %0:t[6]) -> (%z:t[6], %y:t[6]) {
-3
+() -> (%0:t[6]) {
+cf.YieldOp (%0:t[6]) -> ()
-1
+cf.ReturnOp (%z:t[6], %y:t[6]) -> ()
3:
-2
+@main [mir_version:2] (%x:t[6], %1:t[6]) -> (%z:t[6]) {
+graph.CallGraphOp @f (%x:t[6], %1:t[6]) -> (%y:t[6])
-3
+(%a:t[6], %0:t[6]) -> (%0:t[6]) {
+cf.ReturnOp (%0:t[6]) -> ()
)");
  }

  TEST_CASE("ops of dumps leave values without definitions") {
    CHECK(each_edit("drop ops", kDump) == R"(
0:
-1
1:
-1
)");
    CHECK(all_edits("drop ops", kDump) == R"(
-2
)");
  }

  TEST_CASE("ops of one result are replaced by the first operand of its type") {
    CHECK(each_edit("bypass ops", kCalls) == R"(
0:
-4
+(%a:t[2], %b:t[2]) -> (%a:t[2], %q:t[2]) {
+linalg.CPU.SiLUOp(%a:t[2]) -> (%q:t[2])
+cf.ReturnOp (%a:t[2], %q:t[2]) -> ()
1:
-1
+(%a:t[2], %b:t[2]) -> (%p:t[2], %p:t[2]) {
-2
+cf.ReturnOp (%p:t[2], %p:t[2]) -> ()
2:
-3
+linalg.CPU.AddOp(%x:t[2], %y:t[2]) -> (%d:t[2])
+linalg.CPU.AbsOp(%x:t[2]) -> (%e:t[2])
3:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> (%c:t[2], %e:t[2]) {
-1
-1
+cf.ReturnOp (%c:t[2], %e:t[2]) -> ()
4:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> (%d:t[2], %c:t[2]) {
-2
+cf.ReturnOp (%d:t[2], %c:t[2]) -> ()
)");
    CHECK(all_edits("bypass ops", kCalls) == R"(
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> (%x:t[2], %x:t[2]) {
-4
+(%a:t[2], %b:t[2]) -> (%a:t[2], %a:t[2]) {
+cf.ReturnOp (%a:t[2], %a:t[2]) -> ()
-4
+cf.ReturnOp (%x:t[2], %x:t[2]) -> ()
)");
    CHECK(each_edit("bypass ops", kAttributes) == R"(
0:
-2
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%x:t[2, 6][k:1, l:2]) -> (%z:t[2, 4])
)");
    CHECK(each_edit("bypass ops", kDump) == R"(
0:
-2
+linalg.CPU.SiLUOp [k:1] (%1:t[2]) -> (%3:t[2])
1:
-1
+(%1:t[2]) -> (%2:t[2]) {
-2
+cf.ReturnOp (%2:t[2]) -> ()
)");
  }

  TEST_CASE("outputs go if no call uses them") {
    CHECK(each_edit("drop outputs", kCalls) == R"(
0:
nothing
1:
-1
+(%a:t[2], %b:t[2]) -> (%q:t[2]) {
-1
+cf.ReturnOp (%q:t[2]) -> ()
-2
+graph.CallGraphOp @inner (%a:t[2], %b:t[2]) -> (%q:t[2])
+graph.CallGraphOp @inner (%q:t[2], %a:t[2]) -> (%t:t[2])
2:
nothing
3:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> (%d:t[2]) {
-1
+cf.ReturnOp (%d:t[2]) -> ()
4:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> (%e:t[2]) {
-1
+cf.ReturnOp (%e:t[2]) -> ()
)");
    CHECK(all_edits("drop outputs", kCalls) == R"(
-1
+@main [mir_version:1] (%x:t[2], %y:t[2], %n:t[3]) -> () {
-1
+(%a:t[2], %b:t[2]) -> (%q:t[2]) {
-1
+cf.ReturnOp (%q:t[2]) -> ()
-2
+graph.CallGraphOp @inner (%a:t[2], %b:t[2]) -> (%q:t[2])
+graph.CallGraphOp @inner (%q:t[2], %a:t[2]) -> (%t:t[2])
-1
+cf.ReturnOp () -> ()
)");
    CHECK(each_edit("drop outputs", kRegions) == R"(
0:
nothing
1:
-1
+@main [mir_version:2] (%x:t[6]) -> () {
-1
+cf.ReturnOp () -> ()
)");
    CHECK(each_edit("drop outputs", kDump) == "\n");
  }

  TEST_CASE("inputs without uses go, and those of one type are merged") {
    CHECK(each_edit("drop inputs", kCalls) == R"(
0:
-1
+(%a:t[2]) -> (%p:t[2], %q:t[2]) {
-2
+graph.CallGraphOp @inner (%a:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2]) -> (%s:t[2], %t:t[2])
1:
-1
+@main [mir_version:1] (%x:t[2], %y:t[2]) -> (%d:t[2], %e:t[2]) {
)");
    CHECK(all_edits("drop inputs", kCalls) == R"(
-1
+@main [mir_version:1] (%x:t[2], %y:t[2]) -> (%d:t[2], %e:t[2]) {
-1
+(%a:t[2]) -> (%p:t[2], %q:t[2]) {
-2
+graph.CallGraphOp @inner (%a:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2]) -> (%s:t[2], %t:t[2])
)");
    CHECK(each_edit("drop inputs", kDump) == "\n");
    CHECK(each_edit("merge inputs", kCalls) == R"(
0:
-1
+(%a:t[2]) -> (%p:t[2], %q:t[2]) {
-2
+graph.CallGraphOp @inner (%a:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2]) -> (%s:t[2], %t:t[2])
1:
-2
+(%a:t[2]) -> (%t:t[2]) {
+graph.CallGraphOp @inner (%a:t[2], %a:t[2]) -> (%p:t[2], %q:t[2])
-1
+graph.CallGraphOp @outer (%x:t[2]) -> (%c:t[2])
2:
-1
+@main [mir_version:1] (%x:t[2], %n:t[3]) -> (%d:t[2], %e:t[2]) {
-2
+graph.CallGraphOp @outer (%x:t[2], %x:t[2]) -> (%c:t[2])
+linalg.CPU.AddOp(%c:t[2], %x:t[2]) -> (%d:t[2])
)");
    CHECK(all_edits("merge inputs", kCalls) == R"(
-1
+@main [mir_version:1] (%x:t[2], %n:t[3]) -> (%d:t[2], %e:t[2]) {
-1
+(%a:t[2]) -> (%p:t[2], %q:t[2]) {
-3
+(%a:t[2]) -> (%t:t[2]) {
+graph.CallGraphOp @inner (%a:t[2]) -> (%p:t[2], %q:t[2])
+graph.CallGraphOp @inner (%q:t[2]) -> (%s:t[2], %t:t[2])
-2
+graph.CallGraphOp @outer (%x:t[2]) -> (%c:t[2])
+linalg.CPU.AddOp(%c:t[2], %x:t[2]) -> (%d:t[2])
)");
    CHECK(each_edit("merge inputs", kDump) == "\n");
  }

  TEST_CASE("unused ops, graphs and parameters are eliminated in portable texts") {
    CHECK(each_edit("eliminate unused parts", kUnused) == R"(
0:
-1
1:
-5
2:
-1
+
)");
    CHECK(all_edits("eliminate unused parts", kUnused) == R"(
-1
+
-1
)");
    CHECK(each_edit("eliminate unused parts", kDump) == "\n");
  }

  TEST_CASE("calls are inlined, and graphs with a body extracted") {
    CHECK(each_edit("inline calls", kCalls) == R"(
0:
-3
+linalg.CPU.NegOp(%x:t[2]) -> (%p:t[2])
-11
+linalg.CPU.NegOp(%q:t[2]) -> (%s:t[2])
+linalg.CPU.SiLUOp(%s:t[2]) -> (%c:t[2])
)");
    CHECK(each_edit("inline calls", kRegions) == R"(
0:
-1
+linalg.CPU.NegOp(%x:t[6]) -> (%y:t[6])
-6
1:
nothing
)");
    CHECK(each_edit("inline calls", kSymbols) == "\n");
    CHECK(each_edit("inline calls", kDump) == "\n");
    CHECK(each_edit("extract a graph", kCalls) == R"(
0:
-3
+@main [mir_version:1] (%a:t[2], %b:t[2]) -> (%p:t[2], %q:t[2]) {
-13
1:
-3
+@main [mir_version:1] (%a:t[2], %b:t[2]) -> (%t:t[2]) {
-7
+linalg.CPU.NegOp(%q:t[2]) -> (%s:t[2])
+linalg.CPU.SiLUOp(%s:t[2]) -> (%t:t[2])
-6
)");
    CHECK(each_edit("extract a graph", kAttributes) == "\n");
    CHECK(each_edit("extract a graph", kRegions) == R"(
0:
-10
+@main [mir_version:2] (%a:t[6]) -> (%b:t[6]) {
-3
)");
    CHECK(each_edit("extract a graph", kDump) == "\n");
  }

  TEST_CASE("symbols are bound to small numbers") {
    CHECK(each_edit("bind symbols", kSymbols) == R"(
0:
-3
+@main [mir_version:1] (%x:t[2, 1], %y:t[$T, 3]) -> (%z:t[2, 1]) {
+linalg.CPU.NegOp(%x:t[2, 1]) -> (%z:t[2, 1])
+cf.ReturnOp (%z:t[2, 1]) -> ()
1:
-3
+@main [mir_version:1] (%x:t[2, 2], %y:t[$T, 3]) -> (%z:t[2, 2]) {
+linalg.CPU.NegOp(%x:t[2, 2]) -> (%z:t[2, 2])
+cf.ReturnOp (%z:t[2, 2]) -> ()
2:
-3
+@main [mir_version:1] (%x:t[2, 3], %y:t[$T, 3]) -> (%z:t[2, 3]) {
+linalg.CPU.NegOp(%x:t[2, 3]) -> (%z:t[2, 3])
+cf.ReturnOp (%z:t[2, 3]) -> ()
3:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[1, 3]) -> (%z:t[2, $S]) {
4:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[2, 3]) -> (%z:t[2, $S]) {
5:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[3, 3]) -> (%z:t[2, $S]) {
)");
    CHECK(each_edit("bind symbols", kCalls) == "\n");
    CHECK(each_edit("bind symbols", kDump) == "\n");
  }

  TEST_CASE("extents become smaller, the largest first, with and without attributes") {
    CHECK(each_edit("shrink extents", kAttributes) == R"(
0:
-1
+@main [mir_version:1] (%x:t[2, 1][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 1][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 1][k:1, l:2], %c:t[1][constant:[9]]) -> (%s:t[2, 1])
+linalg.CPU.LinearOp <name="fc"> [in_channels:1, out_channels:4, bias:false, tags:[1, [4], {"k":1,"l":7}]] (%s:t[2, 1]) -> (%z:t[2, 4])
1:
-1
+@main [mir_version:1] (%x:t[2, 1][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 1][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 1][k:1, l:2], %c:t[1][constant:[9]]) -> (%s:t[2, 1])
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[2, 1]) -> (%z:t[2, 4])
2:
-1
+@main [mir_version:1] (%x:t[2, 2][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 2][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 2][k:1, l:2], %c:t[2][constant:[9, 2]]) -> (%s:t[2, 2])
+linalg.CPU.LinearOp <name="fc"> [in_channels:2, out_channels:4, bias:false, tags:[2, [4], {"k":2,"l":7}]] (%s:t[2, 2]) -> (%z:t[2, 4])
3:
-1
+@main [mir_version:1] (%x:t[2, 2][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 2][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 2][k:1, l:2], %c:t[2][constant:[9, 2]]) -> (%s:t[2, 2])
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[2, 2]) -> (%z:t[2, 4])
4:
-1
+@main [mir_version:1] (%x:t[2, 3][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 3][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 3][k:1, l:2], %c:t[3][constant:[9, 2, 3]]) -> (%s:t[2, 3])
+linalg.CPU.LinearOp <name="fc"> [in_channels:3, out_channels:4, bias:false, tags:[3, [4], {"k":3,"l":7}]] (%s:t[2, 3]) -> (%z:t[2, 4])
5:
-1
+@main [mir_version:1] (%x:t[2, 3][k:1, l:2]) -> (%z:t[2, 4]) {
-1
+tensor.CPU.register () -> (%w:t[4, 3][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.AddOp(%x:t[2, 3][k:1, l:2], %c:t[3][constant:[9, 2, 3]]) -> (%s:t[2, 3])
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[2, 3]) -> (%z:t[2, 4])
6:
-1
+@main [mir_version:1] (%x:t[2, 6][k:1, l:2]) -> (%z:t[2, 1]) {
-1
+tensor.CPU.register () -> (%w:t[1, 6][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:1, bias:false, tags:[6, [1], {"k":6,"l":7}]] (%s:t[2, 6]) -> (%z:t[2, 1])
+cf.ReturnOp (%z:t[2, 1]) -> ()
7:
-1
+tensor.CPU.register () -> (%w:t[1, 6][@fc.weight])[symbol:fc.weight]
8:
-1
+@main [mir_version:1] (%x:t[2, 6][k:1, l:2]) -> (%z:t[2, 2]) {
-1
+tensor.CPU.register () -> (%w:t[2, 6][@fc.weight])[symbol:fc.weight]
-2
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:2, bias:false, tags:[6, [2], {"k":6,"l":7}]] (%s:t[2, 6]) -> (%z:t[2, 2])
+cf.ReturnOp (%z:t[2, 2]) -> ()
9:
-1
+tensor.CPU.register () -> (%w:t[2, 6][@fc.weight])[symbol:fc.weight]
10:
-1
+@main [mir_version:1] (%x:t[1, 6][k:1, l:2]) -> (%z:t[1, 4]) {
-3
+linalg.CPU.AddOp(%x:t[1, 6][k:1, l:2], %c:t[6][constant:[9, 2, 3, 4, 5, 6]]) -> (%s:t[1, 6])
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[1, 6]) -> (%z:t[1, 4])
+cf.ReturnOp (%z:t[1, 4]) -> ()
11:
-1
+@main [mir_version:1] (%x:t[1, 6][k:1, l:2]) -> (%z:t[1, 4]) {
-3
+linalg.CPU.AddOp(%x:t[1, 6][k:1, l:2], %c:t[6][constant:[9, 2, 3, 4, 5, 6]]) -> (%s:t[1, 6])
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[1, 6]) -> (%z:t[1, 4])
+cf.ReturnOp (%z:t[1, 4]) -> ()
)");
    CHECK(all_edits("shrink extents", kAttributes) == R"(
-1
+@main [mir_version:1] (%x:t[1, 1][k:1, l:2]) -> (%z:t[1, 1]) {
-1
+tensor.CPU.register () -> (%w:t[1, 1][@fc.weight])[symbol:fc.weight]
-3
+linalg.CPU.AddOp(%x:t[1, 1][k:1, l:2], %c:t[1][constant:[9]]) -> (%s:t[1, 1])
+linalg.CPU.LinearOp <name="fc"> [in_channels:1, out_channels:1, bias:false, tags:[1, [1], {"k":1,"l":7}]] (%s:t[1, 1]) -> (%z:t[1, 1])
+cf.ReturnOp (%z:t[1, 1]) -> ()
)");
    CHECK(each_edit("shrink extents", kSymbols) == R"(
0:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[$T, 1]) -> (%z:t[2, $S]) {
1:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[$T, 1]) -> (%z:t[2, $S]) {
2:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[$T, 2]) -> (%z:t[2, $S]) {
3:
-1
+@main [mir_version:1] (%x:t[2, $S], %y:t[$T, 2]) -> (%z:t[2, $S]) {
4:
-3
+@main [mir_version:1] (%x:t[1, $S], %y:t[$T, 3]) -> (%z:t[1, $S]) {
+linalg.CPU.NegOp(%x:t[1, $S]) -> (%z:t[1, $S])
+cf.ReturnOp (%z:t[1, $S]) -> ()
5:
-3
+@main [mir_version:1] (%x:t[1, $S], %y:t[$T, 3]) -> (%z:t[1, $S]) {
+linalg.CPU.NegOp(%x:t[1, $S]) -> (%z:t[1, $S])
+cf.ReturnOp (%z:t[1, $S]) -> ()
)");
    CHECK(each_edit("shrink extents", kRegions) == R"(
0:
-6
+@main [mir_version:2] (%x:t[1]) -> (%z:t[1]) {
+graph.CallGraphOp @f (%x:t[1]) -> (%y:t[1])
+graph.FusedOp () -> (%z:t[1]) {
+() -> (%s:t[1]) {
+linalg.CPU.SiLUOp(%y:t[1]) -> (%s:t[1])
+cf.YieldOp (%s:t[1]) -> ()
-3
+(%a:t[1]) -> (%b:t[1]) {
+linalg.CPU.NegOp(%a:t[1]) -> (%b:t[1])
+cf.ReturnOp (%b:t[1]) -> ()
-1
+cf.ReturnOp (%z:t[1]) -> ()
1:
-6
+@main [mir_version:2] (%x:t[1]) -> (%z:t[1]) {
+graph.CallGraphOp @f (%x:t[1]) -> (%y:t[1])
+graph.FusedOp () -> (%z:t[1]) {
+() -> (%s:t[1]) {
+linalg.CPU.SiLUOp(%y:t[1]) -> (%s:t[1])
+cf.YieldOp (%s:t[1]) -> ()
-3
+(%a:t[1]) -> (%b:t[1]) {
+linalg.CPU.NegOp(%a:t[1]) -> (%b:t[1])
+cf.ReturnOp (%b:t[1]) -> ()
-1
+cf.ReturnOp (%z:t[1]) -> ()
2:
-6
+@main [mir_version:2] (%x:t[2]) -> (%z:t[2]) {
+graph.CallGraphOp @f (%x:t[2]) -> (%y:t[2])
+graph.FusedOp () -> (%z:t[2]) {
+() -> (%s:t[2]) {
+linalg.CPU.SiLUOp(%y:t[2]) -> (%s:t[2])
+cf.YieldOp (%s:t[2]) -> ()
-3
+(%a:t[2]) -> (%b:t[2]) {
+linalg.CPU.NegOp(%a:t[2]) -> (%b:t[2])
+cf.ReturnOp (%b:t[2]) -> ()
-1
+cf.ReturnOp (%z:t[2]) -> ()
3:
-6
+@main [mir_version:2] (%x:t[2]) -> (%z:t[2]) {
+graph.CallGraphOp @f (%x:t[2]) -> (%y:t[2])
+graph.FusedOp () -> (%z:t[2]) {
+() -> (%s:t[2]) {
+linalg.CPU.SiLUOp(%y:t[2]) -> (%s:t[2])
+cf.YieldOp (%s:t[2]) -> ()
-3
+(%a:t[2]) -> (%b:t[2]) {
+linalg.CPU.NegOp(%a:t[2]) -> (%b:t[2])
+cf.ReturnOp (%b:t[2]) -> ()
-1
+cf.ReturnOp (%z:t[2]) -> ()
4:
-6
+@main [mir_version:2] (%x:t[3]) -> (%z:t[3]) {
+graph.CallGraphOp @f (%x:t[3]) -> (%y:t[3])
+graph.FusedOp () -> (%z:t[3]) {
+() -> (%s:t[3]) {
+linalg.CPU.SiLUOp(%y:t[3]) -> (%s:t[3])
+cf.YieldOp (%s:t[3]) -> ()
-3
+(%a:t[3]) -> (%b:t[3]) {
+linalg.CPU.NegOp(%a:t[3]) -> (%b:t[3])
+cf.ReturnOp (%b:t[3]) -> ()
-1
+cf.ReturnOp (%z:t[3]) -> ()
5:
-6
+@main [mir_version:2] (%x:t[3]) -> (%z:t[3]) {
+graph.CallGraphOp @f (%x:t[3]) -> (%y:t[3])
+graph.FusedOp () -> (%z:t[3]) {
+() -> (%s:t[3]) {
+linalg.CPU.SiLUOp(%y:t[3]) -> (%s:t[3])
+cf.YieldOp (%s:t[3]) -> ()
-3
+(%a:t[3]) -> (%b:t[3]) {
+linalg.CPU.NegOp(%a:t[3]) -> (%b:t[3])
+cf.ReturnOp (%b:t[3]) -> ()
-1
+cf.ReturnOp (%z:t[3]) -> ()
)");
    CHECK(each_edit("shrink extents", kDump) == "\n");
  }

  TEST_CASE("attributes go that ops and values do not need") {
    CHECK(each_edit("drop attributes", kAttributes) == R"(
0:
-1
+linalg.CPU.LinearOp <name="fc"> [out_channels:4, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[2, 6]) -> (%z:t[2, 4])
1:
-1
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, bias:false, tags:[6, [4], {"k":6,"l":7}]] (%s:t[2, 6]) -> (%z:t[2, 4])
2:
-1
+linalg.CPU.LinearOp <name="fc"> [in_channels:6, out_channels:4, bias:false] (%s:t[2, 6]) -> (%z:t[2, 4])
3:
-1
+@main [mir_version:1] (%x:t[2, 6][l:2]) -> (%z:t[2, 4]) {
-1
+linalg.CPU.AddOp(%x:t[2, 6][l:2], %c:t[6][constant:[9, 2, 3, 4, 5, 6]]) -> (%s:t[2, 6])
4:
-1
+@main [mir_version:1] (%x:t[2, 6][k:1]) -> (%z:t[2, 4]) {
-1
+linalg.CPU.AddOp(%x:t[2, 6][k:1], %c:t[6][constant:[9, 2, 3, 4, 5, 6]]) -> (%s:t[2, 6])
)");
    CHECK(all_edits("drop attributes", kAttributes) == R"(
-1
+@main [mir_version:1] (%x:t[2, 6]) -> (%z:t[2, 4]) {
-2
+linalg.CPU.AddOp(%x:t[2, 6], %c:t[6][constant:[9, 2, 3, 4, 5, 6]]) -> (%s:t[2, 6])
+linalg.CPU.LinearOp <name="fc"> [bias:false] (%s:t[2, 6]) -> (%z:t[2, 4])
)");
    CHECK(each_edit("drop attributes", kDump) == R"(
0:
-1
+linalg.CPU.SiLUOp(%2:t[2]) -> (%3:t[2])
)");
  }

  TEST_CASE("constants get one number, 1 or their first") {
    CHECK(each_edit("simplify constants", kAttributes) == R"(
0:
-1
+linalg.CPU.AddOp(%x:t[2, 6][k:1, l:2], %c:t[6][constant:[1, 1, 1, 1, 1, 1]]) -> (%s:t[2, 6])
1:
-1
+linalg.CPU.AddOp(%x:t[2, 6][k:1, l:2], %c:t[6][constant:[9, 9, 9, 9, 9, 9]]) -> (%s:t[2, 6])
)");
    CHECK(all_edits("simplify constants", kAttributes) == R"(
-1
+linalg.CPU.AddOp(%x:t[2, 6][k:1, l:2], %c:t[6][constant:[1, 1, 1, 1, 1, 1]]) -> (%s:t[2, 6])
)");
    CHECK(each_edit("simplify constants", kCalls) == "\n");
  }

  TEST_CASE("locations, names and ids are simplified") {
    CHECK(each_edit("simplify names", kUnused) == R"(
0:
-1
+@main [mir_version:2] (%0:t[2]) -> (%0:t[2]) {
-2
+(%1:t[2]) -> (%1:t[2]) {
+cf.ReturnOp (%1:t[2]) -> ()
-2
+linalg.CPU.NegOp <name="n">(%0:t[2]) -> (%y:t[2]) loc("here")
+cf.ReturnOp (%0:t[2]) -> ()
1:
-1
+linalg.CPU.NegOp <name="n">(%x:t[2]) -> (%y:t[2])
2:
-1
+linalg.CPU.NegOp(%x:t[2]) -> (%y:t[2]) loc("here")
3:
-1
+@main [mir_version:2] (%0:t[2][x]) -> (%0:t[2][x]) {
-1
+tensor.CPU.register () -> (%1:t[3][@w])[symbol:w]
-2
+(%2:t[2][a]) -> (%2:t[2][a]) {
+cf.ReturnOp (%2:t[2]) -> ()
-2
+linalg.CPU.NegOp <name="n">(%0:t[2]) -> (%3:t[2]) loc("here")
+cf.ReturnOp (%0:t[2]) -> ()
4:
-1
+@main [mir_version:1] (%x:t[2]) -> (%x:t[2]) {
)");
    CHECK(all_edits("simplify names", kUnused) == R"(
-1
+@main [mir_version:1] (%0:t[2]) -> (%0:t[2]) {
-1
+tensor.CPU.register () -> (%1:t[3][@w])[symbol:w]
-2
+(%2:t[2]) -> (%2:t[2]) {
+cf.ReturnOp (%2:t[2]) -> ()
-2
+linalg.CPU.NegOp(%0:t[2]) -> (%3:t[2])
+cf.ReturnOp (%0:t[2]) -> ()
)");
    CHECK(each_edit("simplify names", kDump) == R"(
0:
nothing
)");
  }
}

}  // namespace steps_test

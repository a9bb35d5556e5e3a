// Conditions and loops whose constants decide them.
#include "known_passes.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

using namespace mir;
using mir::test::Lines;
using mir::test::Passes;
using mir::test::Reading;

namespace control_test {

namespace {

/// A module with short names for types.
std::string with_types(std::string text) {
  const std::pair<std::string_view, std::string_view> types[] = {
      {"$v", "tensor<[4], Float32, CPU>"},
      {"$i", "tensor<[1], Int32, CPU>"},
      {"$l", "tensor<[1], Int64, CPU>"},
      {"$b", "tensor<[1], Bool, CPU>"}};
  for (const auto& [name, type] : types) {
    for (auto at = text.find(name); at != text.npos; at = text.find(name, at)) {
      text.replace(at, name.size(), type);
    }
  }
  return text;
}

/// The names of ops after a pass, which must leave a module that verifies if it was one.
Lines after(const std::string& pass, const std::string& text, bool verifies = true) {
  Reading reading(with_types(text));
  Passes all;
  REQUIRE(all.run(reading.module(), pass) == Lines{});
  Diagnostics problems;
  CHECK(verify(reading.module(), problems) == verifies);
  CHECK((test::lines_of(problems, reading.context) == Lines{}) == verifies);
  Lines lines;
  for_each_op(reading.module(), [&](const Op& op) {
    if (!op.has(Trait::kTerminator)) lines.emplace_back(op.info().mnemonic);
  });
  return lines;
}

/// All ops with their values after simplify-control-flow.
Lines passed_after(const std::string& text) {
  Reading reading(with_types(text));
  Passes all;
  REQUIRE(all.run(reading.module(), "simplify-control-flow") == Lines{});
  Diagnostics problems;
  CHECK(verify(reading.module(), problems));
  CHECK(test::lines_of(problems, reading.context) == Lines{});
  Lines lines;
  const auto name_of = [&](const Value& value) {
    return " %" + std::string(reading.context.text(value.name().symbol()));
  };
  const auto add = [&](const Op& op) {
    std::string& line = lines.emplace_back(op.info().mnemonic);
    for (const Use& use : op.operand_uses()) line += name_of(*use.value());
    if (op.result_count() != 0) line += " ->";
    for (const Value& result : op.results()) line += name_of(result);
  };
  walk(reading.module(), [&](Op& op) {
    add(op);
    return WalkResult::kContinue;
  });
  return lines;
}

/// A loop from `first` to before `last` whose iteration is one Sin.
std::string loop(const std::string& first, const std::string& last, const std::string& step,
                 const std::string& index = "$i") {
  const auto bound = [&](const std::string& name, const std::string& value) {
    return value.empty() ? "%n" : name + ":" + index + "[constant:[" + value + "]]";
  };
  return "@main [mir_version:2] (%x:$v, %n:" + index + ") -> (%y:$v) {\ncf.ForOp (" +
         bound("%f", first) + ", " + bound("%l", last) + ", " + bound("%s", step) +
         ", %x) -> (%y:$v) {\n(%i:" + index +
         ", %a:$v) -> (%b:$v) {\nlinalg.CPU.SinOp (%a) -> (%b:$v)\ncf.YieldOp (%b) -> ()\n}\n}\n"
         "cf.ReturnOp (%y) -> ()\n}\n";
}

std::string condition(const std::string& value) {
  return "@main [mir_version:2] (%x:$v, %c:$b) -> (%y:$v) {\ncf.IfOp (" +
         (value.empty() ? "%c" : "%k:$b[constant:[" + value + "]]") +
         ") -> (%y:$v) {\n() -> (%a:$v) {\nlinalg.CPU.SinOp (%x) -> (%a:$v)\ncf.YieldOp (%a) -> "
         "()\n}\n() -> (%b:$v) {\nlinalg.CPU.CosOp (%x) -> (%b:$v)\ncf.YieldOp (%b) -> ()\n}\n}\n"
         "cf.ReturnOp (%y) -> ()\n}\n";
}

}  // namespace

TEST_SUITE("control flow passes") {
  TEST_CASE("structure-to-blocks: blocks of one name in several regions stay apart") {
    const std::string region =
        "() -> (%b:$v) {\ncf.BranchOp () -> () [^next]\n^next:\nlinalg.CPU.SinOp (%x) -> "
        "(%b:$v)\ncf.YieldOp (%b) -> ()\n}\n";
    CHECK(after("structure-to-blocks",
                "@main [mir_version:2] (%x:$v, %c:$b) -> (%y:$v) {\ncf.IfOp (%c) -> (%y:$v) {\n" +
                    region + region + "}\ncf.ReturnOp (%y) -> ()\n}\n") == Lines(2, "SinOp"));
  }

  TEST_CASE("unroll-loops: as many copies as the loop has iterations") {
    const auto sines = [](std::size_t count) { return Lines(count, "SinOp"); };
    const Lines kept = {"ForOp", "SinOp"};
    CHECK(after("unroll-loops", loop("0", "3", "1")) == sines(3));
    CHECK(after("unroll-loops", loop("2", "9", "3")) == sines(3));
    CHECK(after("unroll-loops", loop("2", "8", "3")) == sines(2));
    CHECK(after("unroll-loops", loop("-1", "0", "5")) == sines(1));
    CHECK(after("unroll-loops", loop("0", "8", "1")) == sines(8));
    CHECK(after("unroll-loops", loop("0", "9", "1")) == kept);
    CHECK(after("unroll-loops{most=9}", loop("0", "9", "1")) == sines(9));
    CHECK(after("unroll-loops", loop("0", "0", "1")) == kept);
    CHECK(after("unroll-loops", loop("0", "", "1")) == kept);
    CHECK(after("unroll-loops", loop("", "3", "1")) == kept);
    CHECK(after("unroll-loops", loop("-9223372036854775808", "9223372036854775807",
                                     "9223372036854775807", "$l")) == sines(3));
    CHECK(after("unroll-loops", loop("-9223372036854775808", "9223372036854775807", "1", "$l")) ==
          kept);
    CHECK(after("unroll-loops", loop("0", "3", "")) == kept);
    CHECK(after("unroll-loops", loop("0", "3", "0"), false) == kept);
    CHECK(after("unroll-loops", loop("0", "3", "-1"), false) == kept);
  }

  TEST_CASE("unroll-loops: a constant that a file replaces decides nothing") {
    std::string text = loop("0", "3", "1");
    const std::string bound = "%l:$i[constant:[3]]";
    text.insert(text.find(bound) + bound.size(), "[@bound]");
    CHECK(after("unroll-loops", text) == Lines{"ForOp", "SinOp"});
  }

  TEST_CASE("unroll-loops: nested loops stop where they would become too many operations") {
    const auto nested = [](const std::string& inner_bound) {
      return "@main [mir_version:2] (%x:$v) -> (%y:$v) {\n"
             "cf.ForOp (%f:$i[constant:[0]], %l:$i[constant:[300]], %s:$i[constant:[1]], %x) -> "
             "(%y:$v) {\n(%i:$i, %a:$v) -> (%b:$v) {\n"
             "cf.ForOp (%f, %m:$i[constant:[" +
             inner_bound +
             "]], %s, %a) -> (%b:$v) {\n(%j:$i, %c:$v) -> (%d:$v) {\n"
             "linalg.CPU.SinOp (%c) -> (%d:$v)\ncf.YieldOp (%d) -> ()\n}\n}\n"
             "cf.YieldOp (%b) -> ()\n}\n}\ncf.ReturnOp (%y) -> ()\n}\n";
    };
    CHECK(after("unroll-loops{most=300}", nested("2")) == Lines(600, "SinOp"));
    const Lines kept = after("unroll-loops{most=300}", nested("250"));
    CHECK(kept.size() == 251);
    CHECK(kept.front() == "ForOp");
    // 2^16 operations are the limit; the end of an iteration is one.
    CHECK(after("unroll-loops{most=300}", nested("217")) == Lines(300 * 217, "SinOp"));
    CHECK(after("unroll-loops{most=300}", nested("218")).size() == 219);
  }

  TEST_CASE("a loop that carries nothing") {
    const auto empty_loop = [](const std::string& last) {
      return "@main [mir_version:2] (%x:$v) -> (%x) {\ncf.ForOp (%f:$i[constant:[0]], "
             "%l:$i[constant:[" +
             last +
             "]], %s:$i[constant:[1]]) -> () {\n(%i:$i) -> () {\n"
             "cf.YieldOp () -> ()\n}\n}\ncf.ReturnOp (%x) -> ()\n}\n";
    };
    CHECK(after("unroll-loops", empty_loop("0")) == Lines{"ForOp"});
    CHECK(after("unroll-loops", empty_loop("2")) == Lines{});
    CHECK(after("simplify-control-flow", empty_loop("0")) == Lines{});
    CHECK(after("simplify-control-flow", empty_loop("1")) == Lines{});
    CHECK(after("simplify-control-flow", empty_loop("2")) == Lines{"ForOp"});
  }

  TEST_CASE("simplify-control-flow: what constants decide goes") {
    CHECK(after("simplify-control-flow", condition("true")) == Lines{"SinOp"});
    CHECK(after("simplify-control-flow", condition("false")) == Lines{"CosOp"});
    CHECK(after("simplify-control-flow", condition("")) == Lines{"IfOp", "SinOp", "CosOp"});
    CHECK(after("simplify-control-flow", loop("3", "3", "1")) == Lines{});
    CHECK(after("simplify-control-flow", loop("4", "3", "1")) == Lines{});
    CHECK(after("simplify-control-flow", loop("2", "3", "1")) == Lines{"SinOp"});
    CHECK(after("simplify-control-flow", loop("2", "4", "1")) == Lines{"ForOp", "SinOp"});
  }

  TEST_CASE("simplify-control-flow: conditions pass on what others need and cannot see") {
    const auto condition_of = [](const std::string& results, const std::string& passed,
                                 const std::string& other, const std::string& used) {
      return passed_after("@main [mir_version:2] (%x:$v, %z:$v, %c:$b) -> (" + used +
                          ") {\ncf.IfOp (%c) -> (" + results + ") {\n() -> (" + passed +
                          ") {\nlinalg.CPU.SinOp (%x) -> (%s:$v)\ncf.YieldOp (" + passed +
                          ") -> ()\n}\n() -> (" + other +
                          ") {\nlinalg.CPU.CosOp (%z) -> (%t:$v)\ncf.YieldOp (" + other +
                          ") -> ()\n}\n}\ncf.ReturnOp (" + used + ") -> ()\n}\n");
    };
    CHECK(condition_of("%p:$v, %q:$v", "%s, %x", "%t, %x", "%p, %q") ==
          Lines{"IfOp %c -> %p", "SinOp %x -> %s", "YieldOp %s", "CosOp %z -> %t", "YieldOp %t",
                "ReturnOp %p %x"});
    CHECK(condition_of("%p:$v, %q:$v, %r:$v", "%z, %s, %s", "%x, %z, %t", "%q") ==
          Lines{"IfOp %c -> %q", "SinOp %x -> %s", "YieldOp %s", "CosOp %z -> %t", "YieldOp %z",
                "ReturnOp %q"});
    // Values of both regions in another order.
    CHECK(condition_of("%p:$v, %q:$v", "%x, %z", "%z, %x", "%p, %q") ==
          Lines{"IfOp %c -> %p %q", "SinOp %x -> %s", "YieldOp %x %z", "CosOp %z -> %t",
                "YieldOp %z %x", "ReturnOp %p %q"});
  }

  TEST_CASE("simplify-control-flow: loops carry what changes and is needed") {
    const auto loop_of = [](const std::string& carried, const std::string& body,
                            const std::string& passed, const std::string& used) {
      const bool two = carried.find(',') != carried.npos;
      const std::string callee =
          "graph.SubGraphOp @g <CPU> {\n(%g:$v) -> (%g) {\n"
          "cf.ReturnOp (%g) -> ()\n}\n}\n";
      return passed_after("@main [mir_version:2] (%x:$v, %z:$v, %l:$i) -> (" + used + ") {\n" +
                          (body.find("@g") == body.npos ? "" : callee) +
                          "cf.ForOp (%f:$i[constant:[0]], %l, %e:$i[constant:[1]], " + carried +
                          ") -> (%y:$v" + (two ? ", %u:$v" : "") + ") {\n(%i:$i, %a:$v" +
                          (two ? ", %b:$v" : "") + ") -> (" + passed + ") {\n" + body +
                          "cf.YieldOp (" + passed + ") -> ()\n}\n}\ncf.ReturnOp (" + used +
                          ") -> ()\n}\n");
    };
    const std::string sine = "linalg.CPU.SinOp (%a) -> (%s:$v)\n",
                      sines = sine + "linalg.CPU.CosOp (%b) -> (%t:$v)\n";
    const Lines one = {"ForOp %f %l %e %x -> %y", "SinOp %a -> %s", "YieldOp %s", "ReturnOp %y"};
    CHECK(loop_of("%x", sine, "%s", "%y") == one);
    // %b stays what it is.
    CHECK(loop_of("%x, %z", "linalg.CPU.AddOp (%a, %b) -> (%s:$v)\n", "%s, %b", "%y, %u") ==
          Lines{"ForOp %f %l %e %x -> %y", "AddOp %a %z -> %s", "YieldOp %s", "ReturnOp %y %z"});
    CHECK(loop_of("%x, %z", sine, "%s, %b", "%y") == one);
    CHECK(loop_of("%x, %z", sine, "%b, %b", "%y, %u") ==
          Lines{"ForOp %f %l %e %x -> %y", "YieldOp %z", "ReturnOp %y %z"});
    // %b, or %a, only computes itself.
    CHECK(loop_of("%x, %z", sines, "%s, %t", "%y") == one);
    CHECK(loop_of("%x, %z", sines, "%s, %t", "%u") ==
          Lines{"ForOp %f %l %e %z -> %u", "CosOp %b -> %t", "YieldOp %t", "ReturnOp %u"});
    // Each of them computes the other, or %a both.
    CHECK(loop_of("%x, %z", sines, "%t, %s", "%y") == Lines{"ForOp %f %l %e %x %z -> %y %u",
                                                            "SinOp %a -> %s", "CosOp %b -> %t",
                                                            "YieldOp %t %s", "ReturnOp %y"});
    CHECK(loop_of("%x, %z", sines, "%s, %s", "%y") == one);
    // Calls are needed for themselves, and so is what a region of a needed op reads.
    CHECK(loop_of("%x, %z", sines + "graph.CallGraphOp @g (%t) -> (%w:$v)\n", "%s, %t", "%y") ==
          Lines{"SubGraphOp", "ReturnOp %g", "ForOp %f %l %e %x %z -> %y %u", "SinOp %a -> %s",
                "CosOp %b -> %t", "CallGraphOp %t -> %w", "YieldOp %s %t", "ReturnOp %y"});
    CHECK(loop_of(
              "%x, %z",
              "cf.IfOp (%k:$b[constant:[true]][@k]) -> (%s:$v) {\n() -> (%b) {\ncf.YieldOp (%b) -> "
              "()\n}\n() -> (%a) {\ncf.YieldOp (%a) -> ()\n}\n}\n",
              "%s, %a", "%y") == Lines{"ForOp %f %l %e %x %z -> %y %u", "IfOp %k -> %s",
                                       "YieldOp %b", "YieldOp %a", "YieldOp %s %a", "ReturnOp %y"});
    // No result is needed; other passes remove the loop.
    CHECK(loop_of("%x", sine, "%s", "%x") == Lines{"ForOp %f %l %e", "YieldOp", "ReturnOp %x"});
  }

  TEST_CASE("what a region finds out anew in each run stays in it") {
    const std::string region = R"(
linalg.CPU.CompressOp (%x, %m) -> (%k:tensor<[$T], Float32, CPU>)
linalg.CPU.ReduceSumOp [dim:0, keep_dim:true] (%k) -> (%r:tensor<[1], Float32, CPU>)
linalg.CPU.AddOp (%x, %r) -> (%b:$v)
cf.YieldOp (%b) -> ()
)";
    const std::string head =
        "@main [mir_version:2] (%x:$v, %m:tensor<[4], Bool, CPU>) -> (%y:$v) {\n";
    const std::string text =
        head +
        "cf.ForOp (%f:$i[constant:[0]], %l:$i[constant:[1]], %s:$i[constant:[1]], %x) -> (%y:$v) "
        "{\n(%i:$i, %a:$v) -> (%b:$v) {" +
        region + "}\n}\ncf.ReturnOp (%y) -> ()\n}\n";
    for (const char* pass : {"unroll-loops", "simplify-control-flow"}) {
      CHECK(after(pass, text).front() == "ForOp");
    }
  }
}

}  // namespace control_test

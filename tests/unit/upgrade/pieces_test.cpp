// Slices, splits, undefined values and implicit views, recovered by `upgrade`.
#include <algorithm>

#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace pieces_test {

namespace {

std::string slice(const std::string& whole) {
  return "linalg.CPU.SliceOp(%0:" + t(whole) + ") -> (%0:" + t(whole) + ")\n";
}

}  // namespace

TEST_SUITE("pieces") {
  TEST_CASE("what follows from a shape that was chosen of several is assumed") {
    const auto type_of_piece = [](const std::string& ops) {
      const std::string fact = "linalg.SliceOp type of result 0=";
      Upgraded module("@main () -> () {\n" + ops + "}\n");
      CHECK(module.errors() == Lines{});
      for (const Source source : {Source::kDerived, Source::kAssumed}) {
        for (const std::string& entry : module.entries(source)) {
          if (entry.starts_with(fact))
            return (source == Source::kAssumed ? "+" : "") + entry.substr(fact.size());
        }
      }
      return std::string();
    };
    const auto product = [](const std::string& a, const std::string& whole, const std::string& c) {
      return slice(whole) + "linalg.CPU.MatMulOp(%5:" + t(a) + ", %0:" + t(whole) +
             ") -> (%1:" + t(c) + ")\n";
    };
    const Lines two = {product("3, 4", "9, 5", "3, 2")};
    CHECK(type_of_piece(two.front()) == "+" + t("4, 2"));
    CHECK(recovered(two) == "+transpose_b:false");
    // [2, 4] does not come out of [9, 3], so it is read as it is.
    const Lines one = {product("3, 4", "9, 3", "3, 2")};
    CHECK(type_of_piece(one.front()) == t("4, 2"));
    CHECK(recovered(one) == "transpose_b:false");

    const auto split = [](const std::string& whole, const std::string& out) {
      const auto half = [&](int id) {
        return "linalg.CPU.TransposeOp [dim0:1, dim1:2] (%0:" + t(whole) + ") -> (%" +
               std::to_string(id) + ":" + t(out) + ")\n";
      };
      return "linalg.CPU.SplitOp(%0:" + t(whole) + ") -> (%0:" + t(whole) + ", %0:" + t(whole) +
             ")\n" + half(1) + half(2);
    };
    const auto facts = [](const std::string& ops, Source source) {
      Upgraded module("@main () -> () {\n" + ops + "}\n");
      CHECK(module.errors() == Lines{});
      Lines list = module.entries(source);
      std::erase_if(list,
                    [](const std::string& each) { return !each.starts_with("linalg.SplitOp"); });
      return list.size();
    };
    CHECK(facts(split("2, 3, 4, 5", "1, 4, 3, 5"), Source::kDerived) == 4);
    // Here the last two dimensions of [2, 3, 6, 4] may have been exchanged.
    CHECK(facts(split("2, 4, 6, 6", "2, 3, 4, 6"), Source::kDerived) == 0);

    const std::string stored = "linalg.CPU.CopyOp(%5:" + t("16") + ", %0:";
    CHECK(type_of_piece(slice("4, 8") + stored + t("4, 8") + ") -> ()\n") == "+" + t("2, 8"));
    CHECK(type_of_piece(slice("4, 9") + "linalg.CPU.CopyOp(%5:" + t("27") + ", %0:" + t("4, 9") +
                        ") -> ()\n") == t("3, 9"));
  }

  TEST_CASE("one element of a storage is the last, of one that is stored into the first") {
    const auto bounds = [](const std::string& ops) {
      Upgraded module("@main () -> () {\n" + ops + "}\n");
      CHECK(module.errors() == Lines{});
      Lines found;
      for (const LossEntry& entry : module.report.entries) {
        if (entry.fact == "indices") found.push_back(entry.used + " or " + entry.others);
      }
      return found;
    };
    const std::string last = R"([{}, {"start":-1,"end":0}])", first = R"([{}, {"end":1}])";
    // A hidden state is cut to its last token.
    const std::string whole = t("2, 5"), one = t("2, 1");
    CHECK(bounds(slice("2, 5") + "linalg.CPU.SiLUOp(%0:" + whole + ") -> (%1:" + one + ")\n") ==
          Lines{last + " or " + first});
    // An empty cache gets its first token, and what it then holds is read.
    CHECK(bounds(slice("2, 5") + "linalg.CPU.CopyOp(%5:" + one + ", %0:" + whole + ") -> ()\n" +
                 slice("2, 5") + "linalg.CPU.SiLUOp(%0:" + whole + ") -> (%1:" + one + ")\n") ==
          Lines{first + " or " + last, first + " or " + last});
    // Also where it is read before, while it is empty.
    const std::string store = "linalg.CPU.CopyOp(%5:" + one + ", %0:" + whole + ") -> ()\n";
    const std::string read = "linalg.CPU.SiLUOp(%0:" + whole + ") -> (%1:" + one + ")\n";
    CHECK(bounds(slice("2, 5") + read + slice("2, 5") + store) ==
          Lines{first + " or " + last, first + " or " + last});
    // And in a graph that only reads what its caller stores, or the other way round.
    const auto graph = [&](const std::string& ops, const std::string& results) {
      return "graph.SubGraphOp @f <CPU> {\n(%0:" + whole + ", %5:" + one + ") -> (" + results +
             ") {\n" + ops + "cf.ReturnOp (" + results + ") -> ()\n}\n}\n";
    };
    const auto call = [&](const std::string& results) {
      return "graph.CallGraphOp @f (%0:" + whole + ", %5:" + one + ") -> (" + results + ")\n";
    };
    const std::string result = "%1:" + one;
    CHECK(bounds(graph(slice("2, 5") + read, result) + slice("2, 5") + store + call(result)) ==
          Lines{first + " or " + last, first + " or " + last});
    CHECK(bounds(graph(slice("2, 5") + store, "") + slice("2, 5") + read + call("")).front() ==
          first + " or " + last);
  }

  TEST_CASE("one element that is copied from is the last, one that is read back as it was stored") {
    const std::string whole = t("2, 5"), one = t("2, 1");
    const auto bounds = [](const std::string& ops) {
      Upgraded module("@main () -> () {\n" + ops + "}\n");
      CHECK(module.errors() == Lines{});
      Lines found;
      for (const LossEntry& entry : module.report.entries) {
        if (entry.fact == "indices") found.push_back(entry.used);
      }
      return found;
    };
    const std::string last = R"([{}, {"start":-1,"end":0}])", first = R"([{}, {"end":1}])";
    CHECK(bounds(slice("2, 5") + "linalg.CPU.CopyOp(%0:" + whole + ", %7:" + one + ") -> ()\n") ==
          Lines{last});
    // A piece with an id of its own that is stored into.
    CHECK(bounds("linalg.CPU.SliceOp(%0:" + whole + ") -> (%1:" + one + ")\n" +
                 "linalg.CPU.CopyOp(%5:" + one + ", %1:" + one + ") -> ()\n") == Lines{first});
    // Nothing tells what is read at the end.
    CHECK(bounds(slice("2, 5") + "linalg.CPU.CopyOp(%5:" + one + ", %0:" + whole + ") -> ()\n" +
                 slice("2, 5")) == Lines{first, first});
  }

  TEST_CASE("equal slices that are the whole are its tiles, whatever else is sliced between them") {
    const auto read = [](int id, const std::string& piece) {
      return "linalg.CPU.SliceOp(%0:" + t("4, 8") + ") -> (%" + std::to_string(id) + ":" +
             t(piece) + ")\n";
    };
    Upgraded module("@main () -> () {\n" + read(1, "2, 8") + read(2, "4, 3") + read(3, "2, 8") +
                    "}\n");
    CHECK(module.errors() == Lines{});
    Lines found;
    for (const LossEntry& entry : module.report.entries) {
      if (entry.fact == "indices") found.push_back(entry.used);
    }
    CHECK(found == Lines{R"([{"start":0,"end":2}, {}])", R"([{}, {"end":3}])",
                         R"([{"start":2,"end":4}, {}])"});
  }

  TEST_CASE("what a graph writes into storages of its caller, and no other, is a result more") {
    const std::string type = t("4");
    const std::string text = upgraded(
        "graph.SubGraphOp @g <CPU> {\n(%0:" + type + ", %1:" + type + ") -> (%3:" + type + ") {\n" +
        "linalg.CPU.SiLUOp(%1:" + type + ") -> (%2:" + type + ")\n" +
        "linalg.CPU.CopyOp(%2:" + type + ", %0:" + type + ") -> ()\n" +
        "linalg.CPU.SiLUOp(%0:" + type + ") -> (%3:" + type + ")\n" +
        "linalg.CPU.CopyOp(%3:" + type + ", %2:" + type + ") -> ()\n" + "cf.ReturnOp(%3:" + type +
        ") -> ()\n}\n}\n" + "graph.CallGraphOp @g (%0:" + type + ", %1:" + type +
        ") -> (%3:" + type + ")\n" + "linalg.CPU.NegOp(%0:" + type + ") -> (%4:" + type + ")\n");
    CAPTURE(text);
    const auto call = text.substr(text.find("graph.CallGraphOp"));
    const auto results = call.substr(call.find("-> ("), call.find('\n') - call.find("-> ("));
    CHECK(std::ranges::count(results, '%') == 2);
    CHECK(has(text, "linalg.CPU.NegOp"));
  }

  TEST_CASE("a piece that a product reads has the shape that its stated transpose_b needs") {
    const auto piece = [](const std::string& transposed) {
      Upgraded module("@main () -> () {\n" + slice("9, 9") +
                      "linalg.CPU.MatMulOp [transpose_b:" + transposed + "] (%5:" + t("3, 4") +
                      ", %0:" + t("9, 9") + ") -> (%1:" + t("3, 2") + ")\n}\n");
      CHECK(module.errors() == Lines{});
      const Op* found = find_op(module.module().body(), "linalg.CPU.SliceOp");
      REQUIRE(found != nullptr);
      return std::string(found->result()->type()->spelling());
    };
    CHECK(piece("false") == t("4, 2"));
    CHECK(piece("true") == t("2, 4"));
  }

  TEST_CASE("a mention that means another version than the latest is in the report") {
    // The halves of a rotation, then the whole, which alone has the extents of the sum.
    const std::string whole = t("2, 8"), half = t("2, 4");
    Upgraded rotation("@main () -> () {\n" + slice("2, 8") + slice("2, 8") +
                      "linalg.CPU.NegOp(%0:" + whole + ") -> (%1:" + half +
                      ")\nlinalg.CPU.ConcatOp(%1:" + half + ", %0:" + whole + ") -> (%2:" + whole +
                      ")\nlinalg.CPU.AddOp(%2:" + whole + ", %0:" + whole + ") -> (%3:" + whole +
                      ")\n}\n");
    REQUIRE(rotation.errors() == Lines{});
    const auto meanings = [&](Source source) {
      Lines list = rotation.entries(source);
      std::erase_if(list, [](const std::string& each) {
        return each.find("meaning of operand") == each.npos;
      });
      return list;
    };
    CHECK(meanings(Source::kAssumed) ==
          Lines{"linalg.SliceOp meaning of operand 0=the whole of %0:" + whole,
                "linalg.ConcatOp meaning of operand 1=a part of %0:" + whole});
    CHECK(meanings(Source::kDerived) ==
          Lines{"linalg.AddOp meaning of operand 1=the whole of %0:" + whole});
  }
}

}  // namespace pieces_test

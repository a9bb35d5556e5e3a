// Slices, splits, undefined values and implicit views, recovered by `upgrade`.
#include <algorithm>

#include "upgraded.hpp"

using namespace mir;
using namespace mir::test;

namespace pieces_test {

namespace {

std::string slice(const std::string& whole, const std::string& more = "") {
  return "linalg.CPU.SliceOp" + more + "(%0:" + t(whole) + ") -> (%0:" + t(whole) + ")\n";
}

}  // namespace

TEST_SUITE("pieces") {
  TEST_CASE("stated bounds give the type that the next op reads") {
    const std::string text =
        upgraded(slice("4, 8", " [indices:[{}, {\"end\":3}]] ") +
                 "linalg.CPU.SiLUOp(%0:" + t("4, 8") + ") -> (%1:" + t("4, 3") + ")\n");
    CHECK(has(text, "-> (%2:" + t("4, 3") + ")\n    linalg.CPU.SiLUOp(%2:" + t("4, 3") + ")"));
  }

  TEST_CASE("a user tells the shape: the same, a product's right side, a linear map's rows") {
    CHECK(has(upgraded(slice("4, 8") + "linalg.CPU.SiLUOp(%0:" + t("4, 8") +
                       ") -> (%1:" + t("2, 8") + ")\n"),
              "[indices:[{\"end\":2}, {}]]"));
    CHECK(has(upgraded(slice("9, 4") + "linalg.CPU.MatMulOp(%5:" + t("2, 4") + ", %0:" + t("9, 4") +
                       ") -> (%1:" + t("2, 3") + ")\n"),
              "[indices:[{\"end\":3}, {}]]"));
    CHECK(has(
        upgraded("tensor.CPU.register () -> (%5:" + t("3, 8") + "[@l.weight])[symbol:l.weight]\n" +
                 slice("1, 4, 8") + "linalg.CPU.LinearOp <name=\"l\">(%0:" + t("1, 4, 8") +
                 ") -> (%1:" + t("1, 1, 3") + ")\n"),
        "[indices:[{}, {\"start\":-1,\"end\":0}, {}]]"));
  }

  TEST_CASE("of two readings of a product's right side the one that cuts less is taken") {
    // [3, 4] times rows cut to [4, 2] from [9, 2]; transposed it would have to be cut to [2, 4].
    CHECK(has(upgraded(slice("9, 2") + "linalg.CPU.MatMulOp(%5:" + t("3, 4") + ", %0:" + t("9, 2") +
                       ") -> (%1:" + t("3, 2") + ")\n"),
              "[indices:[{\"end\":4}, {}]]"));
    // [3, 2] times [2, 4] or the transpose of [4, 2], both one cut from [4, 4]: no scores, so
    // straight.
    CHECK(has(upgraded(slice("4, 4") + "linalg.CPU.MatMulOp(%5:" + t("3, 2") + ", %0:" + t("4, 4") +
                       ") -> (%1:" + t("3, 4") + ")\n"),
              "transpose_b:false"));
  }

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

  TEST_CASE("a cache that has no name is called as upstream's models call it") {
    const std::string type = t("1, 2, 3, 4");
    const auto cache = [&](const std::string& out) {
      return "linalg.CPU.KVCacheOp(%0:" + type + ", %1:" + type + ") -> (%" + out + ":" + type +
             ", %" + out + "1:" + type + ")\n";
    };
    const std::string text = upgraded(
        "graph.CallGraphOp @m.attn (%0:" + type + ", %1:" + type + ") -> (%7:" + type +
        ")\ngraph.SubGraphOp @m.attn <CPU> {\n(%0:" + type + ", %1:" + type + ") -> (%7:" + type +
        ") {\n" + cache("7") + cache("8") + "cf.ReturnOp (%7:" + type + ") -> ()\n}\n}\n");
    CHECK(has(text, "cache:@m.attn.kv_cache,"));
    CHECK(has(text, "cache:@m.attn.kv_cache.1,"));
  }

  TEST_CASE("a shape that no user tells, or that is no part, is lost") {
    const std::string lost =
        "2:1 MIR0700 linalg.SliceOp: indices is lost: no user tells the shape it needs; grant it "
        "with --assume='Slice.0.indices=...'";
    CHECK(upgraded(slice("4, 8")) == lost);
    CHECK(upgraded(slice("4, 8") + "linalg.CPU.SiLUOp(%0:" + t("4, 8") + ") -> (%1:" + t("5, 8") +
                   ")\n") == lost);
  }

  TEST_CASE("pieces of a split go to their users in order; more users than pieces are refused") {
    const std::string pieces = "%0:" + t("3, 4") + ", %0:" + t("3, 4") + ", %0:" + t("3, 4");
    const std::string split = "linalg.CPU.SplitOp(%0:" + t("3, 4") + ") -> (" + pieces + ")\n";
    const auto user = [](const std::string& type, const std::string& out) {
      return "linalg.CPU." + type + "(%0:" + t("3, 4") + ") -> (%" + out + ":" + t("1, 4") + ")\n";
    };
    const std::string text =
        upgraded(split + user("SiLUOp", "1") + user("NegOp", "2") + user("ExpOp", "3"));
    CHECK(has(text, "[dim:0, split_size_or_sections:[1]]"));
    CHECK(has(text, "-> (%4:" + t("1, 4") + ", %5:" + t("1, 4") + ", %6:"));
    CHECK(has(text, "SiLUOp(%4:"));
    CHECK(has(text, "NegOp(%5:"));
    CHECK(has(text, "ExpOp(%6:"));
    CHECK(upgraded(split + user("SiLUOp", "1") + user("NegOp", "2") + user("ExpOp", "3") +
                   user("SiLUOp", "4")) ==
          "2:1 MIR0700 linalg.SplitOp: pieces is lost: which of 3 pieces each of 4 users reads");
  }

  TEST_CASE("an elementwise user tells a shape where no other does, and a user in a callee") {
    const std::string scalar = ", %8:" + t("1") + "[constant:[2]]";
    CHECK(has(upgraded(slice("4, 8") + "linalg.CPU.MulOp(%0:" + t("4, 8") + scalar +
                       ") -> (%1:" + t("4, 3") + ")\n"),
              "[indices:[{}, {\"end\":3}]]"));
    CHECK(has(
        upgraded(slice("4, 8") + "graph.CallGraphOp @g (%0:" + t("4, 8") + ") -> (%2:" + t("2, 8") +
                 ")\ngraph.SubGraphOp @g <CPU> {\n(%0:" + t("4, 8") + ") -> (%2:" + t("2, 8") +
                 ") {\nlinalg.CPU.SiLUOp(%0:" + t("4, 8") + ") -> (%2:" + t("2, 8") +
                 ")\ncf.ReturnOp (%2:" + t("2, 8") + ") -> ()\n}\n}\n"),
        "[indices:[{\"end\":2}, {}]]"));
  }

  TEST_CASE("a slice whose users need all of it cuts nothing: the last token of one") {
    const std::string text =
        upgraded("tensor.CPU.register () -> (%5:" + t("3, 8") + "[@l.weight])[symbol:l.weight]\n" +
                 slice("1, 1, 8") + "linalg.CPU.LinearOp <name=\"l\">(%0:" + t("1, 1, 8") +
                 ") -> (%1:" + t("1, 1, 3") + ")\n");
    CHECK(has(text, "[indices:[{}, {}, {}]]"));
  }

  TEST_CASE("the source of a copy has as many elements as its destination") {
    CHECK(has(upgraded(slice("4, 8") + "linalg.CPU.CopyOp(%0:" + t("4, 8") + ", %9:" + t("4, 2") +
                       ") -> ()\n"),
              "[indices:[{}, {\"end\":2}]]"));
  }

  TEST_CASE("pieces of several extents go to the users that print them") {
    const std::string type = t("5, 4");
    const auto split = [&](const std::string& options) {
      return "linalg.CPU.SplitOp" + options + "(%0:" + type + ") -> (%0:" + type + ", %0:" + type +
             ")\n";
    };
    const std::string users = "linalg.CPU.SiLUOp(%0:" + type + ") -> (%1:" + t("3, 4") +
                              ")\nlinalg.CPU.NegOp(%0:" + type + ") -> (%2:" + t("2, 4") + ")\n";
    CHECK(has(upgraded(split("") + users), "[dim:0, split_size_or_sections:[3, 2]]"));
    const std::string text = upgraded(split(" [dim:0, split_size_or_sections:[2, 3]] ") + users);
    CHECK(has(text, "-> (%3:" + t("2, 4") + ", %4:" + t("3, 4") + ")"));
    CHECK(has(text, "SiLUOp(%4:"));
    CHECK(has(text, "NegOp(%3:"));
  }

  TEST_CASE("a piece goes into calls and out of them") {
    const std::string text = upgraded(
        slice("4, 8", " [indices:[{}, {\"end\":3}]] ") + "graph.CallGraphOp @g (%0:" + t("4, 8") +
        ") -> (%2:" + t("4, 8") + ")\nlinalg.CPU.NegOp(%2:" + t("4, 8") + ") -> (%3:" + t("4, 2") +
        ")\ngraph.SubGraphOp @g <CPU> {\n(%0:" + t("4, 8") + ") -> (%2:" + t("4, 8") +
        ") {\nlinalg.CPU.SliceOp [indices:[{}, {\"start\":1}]] (%0:" + t("4, 8") +
        ") -> (%2:" + t("4, 8") + ")\ncf.ReturnOp (%2:" + t("4, 8") + ") -> ()\n}\n}\n");
    CHECK(has(text, "(%0:" + t("4, 3") + ") -> (%2:" + t("4, 2") + ") {"));
    CHECK(has(text, "NegOp(%2:" + t("4, 2") + ")"));
  }

  TEST_CASE("what a graph reads and nobody hands it becomes an input of the module") {
    const std::string text =
        upgraded("graph.CallGraphOp @f (%0:" + t("4") + ") -> (%2:" + t("4") +
                 ")\ngraph.SubGraphOp @f <CPU> {\n(%0:" + t("4") + ") -> (%2:" + t("4") +
                 ") {\ngraph.CallGraphOp @g (%0:" + t("4") + ") -> (%2:" + t("4") +
                 ")\ncf.ReturnOp (%2:" + t("4") +
                 ") -> ()\n}\n}\ngraph.SubGraphOp @g <CPU> {\n(%0:" + t("4") +
                 ") -> (%2:" + t("4") + ") {\nlinalg.CPU.AddOp(%0:" + t("4") + ", %7:" + t("4") +
                 ") -> (%2:" + t("4") + ")\ncf.ReturnOp (%2:" + t("4") + ") -> ()\n}\n}\n");
    CHECK(has(text, "@main [mir_version:1] (%0:" + t("4") + ", %7:" + t("4") + ")"));
    CHECK(has(text, "graph.CallGraphOp @g (%0:" + t("4") + ", %7:" + t("4") + ")"));
  }

  TEST_CASE("a mention with other extents is a view, with another element count it is refused") {
    const auto two = [](const std::string& dims) {
      return "linalg.CPU.SiLUOp(%0:" + t("4, 2") + ") -> (%1:" + t("4, 2") +
             ")\nlinalg.CPU.NegOp(%1:" + t(dims) + ") -> (%2:" + t(dims) + ")\n";
    };
    CHECK(has(upgraded(two("8")), "linalg.CPU.ViewOp [to_shape:[8]] (%1:" + t("4, 2") +
                                      ") -> (%3:" + t("8") + ")\n    linalg.CPU.NegOp(%3:"));
    CHECK(upgraded(two("9")) == "3:1 MIR0700 linalg.NegOp: operand 0 is lost: it is printed as " +
                                    t("9") + ", its value is " + t("4, 2"));
  }

  TEST_CASE("a cache's heads come from its operands and the product that reads it") {
    const std::string kv = t("1, 2, 5, 4");
    CHECK(has(upgraded("linalg.CPU.KVCacheOp <name=\"c\">(%0:" + kv + ", %1:" + kv + ") -> (%2:" +
                       kv + ", %3:" + kv + ")\nlinalg.CPU.MatMulOp(%4:" + t("1, 6, 5, 4") +
                       ", %2:" + kv + ") -> (%5:" + t("1, 6, 5, 5") +
                       ")\nlinalg.CPU.NegOp(%3:" + kv + ") -> (%6:" + kv + ")\n"),
              "[use_fa2:false, kv_head:2, head_dim:4, q_head:6]"));
    CHECK(recovered({"linalg.CPU.KVCacheOp <name=\"c\">(%0:" + kv + ", %1:" + kv + ") -> (%2:" +
                     kv + ", %3:" + kv + ")"}) == "+use_fa2:false kv_head:2 head_dim:4 +q_head:2");
  }

  TEST_CASE("a cache that takes tokens first gives tokens first, which upstream prints otherwise") {
    const std::string kv = t("1, 5, 2, 4"), printed = t("1, 2, 4, 4");  // it held two tokens
    const std::string text = upgraded(
        "linalg.CPU.KVCacheOp <name=\"c\">(%0:" + kv + ", %1:" + kv + ") -> (%2:" + printed +
        ", %3:" + printed + ")\nlinalg.CPU.FlashAttention2Op(%4:" + t("1, 5, 6, 4") +
        ", %2:" + printed + ", %3:" + printed + ") -> (%5:" + t("1, 5, 6, 4") + ")\n");
    CHECK(has(text, "(%2:" + t("1, 7, 2, 4") + ", %3:" + t("1, 7, 2, 4") + ")"));
  }

  TEST_CASE("what is printed must be what the operands give") {
    CHECK(upgraded("linalg.CPU.AddOp(%0:" + t("4") + ", %1:" + t("4") + ") -> (%2:" + t("5") +
                   ")\n") == "2:1 MIR0700 linalg.AddOp: type of result 0 is lost: printed is " +
                                 t("5") + ", its operands give " + t("4"));
  }

  TEST_CASE("a named op's parameters are registered where the dump does not") {
    const std::string text =
        upgraded("linalg.CPU.LinearOp <name=\"l\"> [bias:true] (%0:" + t("2, 4") +
                 ") -> (%1:" + t("2, 3") + ")\n");
    CHECK(has(text, "(%2:" + t("3, 4") + "[@l.weight])[symbol:l.weight]"));
    CHECK(has(text, "(%3:" + t("3") + "[@l.bias])[symbol:l.bias]"));
  }

  // -- storages -----------------------------------------------------------------------------------

  TEST_CASE("the halves of a rotation: the second is negated, the first is joined behind it") {
    const auto rotation = [](const std::string& whole, const std::string& first,
                             const std::string& second, const std::string& printed) {
      return upgraded("linalg.CPU.SliceOp(%0:" + t(whole) + ") -> (%" + first + ":" + t(printed) +
                      ")\nlinalg.CPU.SliceOp(%0:" + t(whole) + ") -> (%" + second + ":" +
                      t(printed) + ")\nlinalg.CPU.NegOp(%" + second + ":" + t(printed) +
                      ") -> (%8:" + t("2, 4") + ")\nlinalg.CPU.ConcatOp(%8:" + t("2, 4") + ", %" +
                      first + ":" + t(printed) + ") -> (%9:" + t(whole) +
                      ")\nlinalg.CPU.AddOp(%0:" + t(whole) + ", %9:" + t(whole) +
                      ") -> (%10:" + t(whole) + ")\n");
    };
    // With storages of their own, and named alike as older versions do.
    for (const auto& [text, own] :
         {std::pair(rotation("2, 8", "6", "7", "2, 4"), "enable_ssa:true, "),
          std::pair(rotation("2, 8", "0", "0", "2, 8"), "")}) {
      const std::string begin = std::string("[") + own + "indices:[{}, ";
      CHECK(has(text, begin + "{\"start\":0,\"end\":4}]] (%0:"));
      CHECK(has(text, begin + "{\"start\":4,\"end\":8}]] (%0:"));
      CHECK(has(text, "ConcatOp [dim:1] (%8:"));
      CHECK(has(text, "AddOp(%0:" + t("2, 8") + ", %9:"));
    }
    const std::string alike = rotation("2, 8", "0", "0", "2, 8");
    CHECK(has(alike, "-> (%11:" + t("2, 4") + ")\n    linalg.CPU.SliceOp"));
    CHECK(has(alike, "-> (%12:" + t("2, 4") + ")\n    linalg.CPU.NegOp(%12:"));
    CHECK(has(alike, "ConcatOp [dim:1] (%8:" + t("2, 4") + ", %11:"));
  }

  TEST_CASE("a copy into a slice gives the whole with that part replaced") {
    const std::string text = upgraded(
        slice("1, 9, 4") + "linalg.CPU.CopyOp(%5:" + t("3, 4") + ", %0:" + t("1, 9, 4") +
        ") -> ()\nlinalg.CPU.NegOp(%0:" + t("1, 9, 4") + ") -> (%1:" + t("1, 9, 4") + ")\n");
    CHECK(has(text, "-> (%1:" + t("1, 9, 4") + ") {"));
    CHECK(has(text, "CopyOp [indices:[{}, {\"end\":3}, {}]] (%5:" + t("3, 4") +
                        ", %0:" + t("1, 9, 4") + ") -> (%7:"));
    CHECK(has(text, "NegOp(%7:"));
    CHECK(!has(text, "SliceOp"));
    // Nothing may read it behind: then it is an output.
    CHECK(has(upgraded(slice("1, 9, 4") + "linalg.CPU.CopyOp(%5:" + t("3, 4") +
                       ", %0:" + t("1, 9, 4") + ") -> ()\n"),
              ") -> (%7:" + t("1, 9, 4") + ") {"));
  }

  /// A store of keys outside of a graph, of which the graph writes and reads a part.
  const auto store = [](const std::string& bounds) {
    const std::string whole = t("1, 16, 2, 4"), x = t("1, 3, 8");
    return parameter("g.k.weight", "8, 8") + "\ngraph.CallGraphOp @g (%0:" + x +
           ") -> (%2:" + t("1, 3, 2, 4") + ")\ngraph.SubGraphOp @g <CPU> {\n(%0:" + x +
           ") -> (%2:" + t("1, 3, 2, 4") + ") {\nlinalg.CPU.SliceOp" + bounds + "(%7:" + whole +
           ") -> (%7:" + whole + ")\nlinalg.CPU.LinearOp <name=\"g.k\">(%0:" + x + ", %7:" + whole +
           ") -> (%7:" + whole + ")\nlinalg.CPU.ViewOp(%7:" + whole +
           ") -> (%7:" + t("1, 3, 2, 4") + ")\nlinalg.CPU.ReLUOp(%7:" + t("1, 3, 2, 4") +
           ") -> (%7:" + t("1, 3, 2, 4") + ")\nlinalg.CPU.SliceOp" + bounds +
           "(%7:" + t("1, 3, 2, 4") + ") -> (%7:" + t("1, 3, 2, 4") +
           ")\nlinalg.CPU.NegOp(%7:" + t("1, 3, 2, 4") + ") -> (%2:" + t("1, 3, 2, 4") +
           ")\ncf.ReturnOp (%2:" + t("1, 3, 2, 4") + ") -> ()\n}\n}\n";
  };

  TEST_CASE("a product stored into a slice of a store goes into the store, which is an output") {
    for (const std::string& bounds :
         {std::string(), std::string(" [indices:[{}, {\"end\":3}, {}, {}]] ")}) {
      const std::string text = upgraded(store(bounds));
      const std::string whole = t("1, 16, 2, 4"), part = t("1, 3, 2, 4");
      CHECK(has(text, "(%0:" + t("1, 3, 8") + ", %7:" + whole + ") -> (%2:" + part +
                          ", %17:" + whole + ") {"));
      CHECK(has(text, "out_channels:8, bias:false] (%0:" + t("1, 3, 8") + ") -> ("));
      CHECK(has(text, "CopyOp [indices:[{}, {\"end\":3}, {}, {}]] ("));
      CHECK(has(text, "cf.ReturnOp (%2:" + part + ", %17:" + whole + ") -> ()"));
    }
  }
}

}  // namespace pieces_test

#include "mir/dominance.hpp"

#include <random>
#include <set>

#include "read.hpp"

using namespace mir;
using mir::test::Reading;

namespace {

/// A module whose blocks `^b1`, `^b2`, .. and entry have these successors, one op in each block.
std::string flow_text(const std::vector<std::vector<int>>& successors) {
  std::string text = "@main () -> () { my.Region () -> () {\n";
  for (std::size_t i = 0; i < successors.size(); ++i) {
    if (i != 0) text += "^b" + std::to_string(i) + ":\n";
    text += "my.Op () -> ()";
    for (std::size_t j = 0; j < successors[i].size(); ++j) {
      text += (j == 0 ? " [^b" : ", ^b") + std::to_string(successors[i][j]);
    }
    text += successors[i].empty() ? "\n" : "]\n";
  }
  return text + "}\n}\n";
}

/// The region of the first op.
const Region& flow_of(Reading& reading) {
  return *reading.module().body().entry()->front()->region();
}

std::vector<const Block*> blocks_of(const Region& region) {
  std::vector<const Block*> list;
  for (const Block* block : region.blocks()) {
    list.push_back(block);
  }
  return list;
}

/// The blocks that a walk from the entry reaches without passing `avoided`.
std::set<int> reached(const std::vector<std::vector<int>>& successors, int avoided) {
  std::set<int> seen;
  std::vector<int> open{0};
  while (!open.empty()) {
    const int block = open.back();
    open.pop_back();
    if (block == avoided || !seen.insert(block).second) continue;
    for (const int next : successors[static_cast<std::size_t>(block)]) open.push_back(next);
  }
  return seen;
}

}  // namespace

TEST_SUITE("dominance") {
  TEST_CASE("a diamond is dominated by its top, not by its sides") {
    Reading reading(flow_text({{1, 2}, {3}, {3}, {}, {3}}));
    const Dominance dominance(reading.module().body());
    const auto blocks = blocks_of(flow_of(reading));
    REQUIRE(blocks.size() == 5);
    CHECK(dominance.dominates(*blocks[0], *blocks[3]));
    CHECK_FALSE(dominance.dominates(*blocks[1], *blocks[3]));
    CHECK_FALSE(dominance.dominates(*blocks[3], *blocks[0]));
    CHECK(dominance.immediate_dominator(*blocks[3]) == blocks[0]);
    CHECK(dominance.immediate_dominator(*blocks[0]) == nullptr);
    CHECK(dominance.is_reachable(*blocks[3]));
    CHECK_FALSE(dominance.is_reachable(*blocks[4]));
    CHECK(dominance.dominates(*blocks[1], *blocks[4]));
    CHECK_FALSE(dominance.dominates(*blocks[4], *blocks[3]));
  }

  TEST_CASE("dominators are the blocks that every path passes, for any flow graph") {
    std::mt19937 engine(7);
    for (int round = 0; round < 300; ++round) {
      CAPTURE(round);
      const int count = 2 + static_cast<int>(engine() % (round < 200 ? 7 : 25));
      std::vector<std::vector<int>> successors(static_cast<std::size_t>(count));
      for (auto& list : successors) {
        for (auto n = engine() % 3; n != 0; --n) {
          list.push_back(1 + static_cast<int>(engine() % static_cast<unsigned>(count - 1)));
        }
      }
      Reading reading(flow_text(successors));
      const Dominance dominance(flow_of(reading));
      const auto blocks = blocks_of(flow_of(reading));
      REQUIRE(blocks.size() == successors.size());
      const auto all = reached(successors, -1);
      for (int a = 0; a < count; ++a) {
        const auto without = reached(successors, a);
        for (int b = 0; b < count; ++b) {
          const bool expected = a == b || !all.contains(b) || !without.contains(b);
          const bool found = dominance.dominates(*blocks[static_cast<std::size_t>(a)],
                                                 *blocks[static_cast<std::size_t>(b)]);
          // An unreachable block dominates only itself and other unreachable ones.
          if (all.contains(a) || !all.contains(b)) CHECK(found == expected);
          CHECK(dominance.is_reachable(*blocks[static_cast<std::size_t>(b)]) == all.contains(b));
          // The immediate dominator is dominated by the other ones.
          const Block* nearest =
              dominance.immediate_dominator(*blocks[static_cast<std::size_t>(b)]);
          CHECK((nearest != nullptr) == (b != 0 && all.contains(b)));
          const bool is_other = nearest != nullptr && a != b && expected;
          if (is_other) {
            CHECK(dominance.dominates(*blocks[static_cast<std::size_t>(a)], *nearest));
          }
        }
      }
    }
  }

  TEST_CASE("a module's op dominates all ops in it") {
    Reading reading("@main () -> () {\nmy.A () -> ()\n}\n");
    const Dominance dominance(reading.module().body());
    const Op &top = *reading.module().top(), &a = *reading.module().body().entry()->front();
    CHECK(dominance.dominates(top, a));
    CHECK(dominance.dominates(top, top));
    CHECK_FALSE(dominance.dominates(a, top));
  }

  TEST_CASE("an op dominates the ops after it and what is nested there") {
    Reading reading(
        "@main () -> () {\nmy.A () -> (%1:tensor<[1], Float32, CPU>)\n"
        "my.B () -> () {\nmy.C () -> ()\n}\nmy.D () -> ()\n}\n");
    const Region& body = reading.module().body();
    const Dominance dominance(body);
    const Op &a = *mir::test::find_op(body, "my.A"), &b = *mir::test::find_op(body, "my.B"),
             &c = *mir::test::find_op(body, "my.C"), &d = *mir::test::find_op(body, "my.D");
    CHECK(dominance.dominates(a, c));
    CHECK(dominance.dominates(b, c));
    CHECK(dominance.dominates(a, a));
    CHECK(dominance.dominates(b, d));
    CHECK_FALSE(dominance.dominates(c, d));
    CHECK_FALSE(dominance.dominates(d, a));
    CHECK(dominance.dominates(*a.result(), c));
    CHECK_FALSE(dominance.dominates(*a.result(), a));
  }
}

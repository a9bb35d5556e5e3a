// Walks, places of ops among each other, and control-flow graphs.
#include "mir/walk.hpp"

#include "mir/flow_graph.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/upstream.hpp"
#include "read.hpp"

namespace walk_test {

using namespace mir;
using mir::test::find_op;
using mir::test::Reading;
using Names = std::vector<std::string>;

constexpr const char* kNested =
    "@main () -> () {\n"
    "my.A (%0:tensor<[2], Float32, CPU>) -> (%1:tensor<[2], Float32, CPU>)\n"
    "my.B () -> () {\nmy.C () -> ()\n^side(%2:tensor<[2], Float32, CPU>):\nmy.D () -> () {\nmy.E "
    "() "
    "-> ()\n}\n}\n"
    "graph.SubGraphOp @g <CPU> {\n(%3:tensor<[2], Float32, CPU>) -> () {\nmy.F () -> ()\n}\n}\n"
    "my.G () -> ()\n}\n";

Names names_of(const auto& visit_all) {
  Names names;
  visit_all([&](const Op& op) { names.emplace_back(op.name()); });
  return names;
}

TEST_SUITE("walks") {
  TEST_CASE("children are direct ops of all blocks, walks go on to nested ones, not into graphs") {
    Reading reading(kNested);
    Module& module = reading.module();
    Region& body = module.body();
    const Names in_module = {"my.A", "my.B", "my.C", "my.D", "my.E", "graph.SubGraphOp",
                             "my.F", "my.G"};
    const Names in_graph = {"my.A", "my.B", "my.C", "my.D", "my.E", "graph.SubGraphOp", "my.G"};
    CHECK(names_of([&](const auto& visit) { for_each_child(body, visit); }) ==
          Names{"my.A", "my.B", "graph.SubGraphOp", "my.G"});
    CHECK(names_of([&](const auto& visit) { for_each_child(*find_op(body, "my.B"), visit); }) ==
          Names{"my.C", "my.D"});
    CHECK(names_of([&](const auto& visit) { for_each_op(body, visit); }) == in_graph);
    CHECK(names_of([&](const auto& visit) {
            for_each_op({body, WalkScope::kAll}, visit);
          }) == in_module);
    CHECK(names_of([&](const auto& visit) { for_each_op(module, visit); }) == in_module);
  }

  TEST_CASE("walks that edit have the same scopes") {
    Reading reading(kNested);
    Module& module = reading.module();
    const auto visits = [&](const auto& run) {
      return names_of([&](const auto& visit) {
        run([&](Op& op) {
          visit(op);
          return WalkResult::kContinue;
        });
      });
    };
    constexpr auto kOrder = WalkOrder::kPreOrder;
    const Names in_graph = {"my.A", "my.B", "my.C", "my.D", "my.E", "graph.SubGraphOp", "my.G"};
    CHECK(visits([&](const auto& visit) { walk(module.body(), kOrder, visit); }) == in_graph);
    CHECK(visits([&](const auto& visit) { walk(module.body(), WalkOrder::kPostOrder, visit); }) ==
          Names{"my.A", "my.C", "my.E", "my.D", "my.B", "graph.SubGraphOp", "my.G"});
    CHECK(visits([&](const auto& visit) { walk(module, kOrder, visit); }).size() == 8);
    Region& graph = *find_op(module.body(), "graph.SubGraphOp")->first_region();
    CHECK(visits([&](const auto& visit) { walk(graph, kOrder, visit); }) == Names{"my.F"});
    CHECK(visits([&](const auto& visit) {
            IRWriter(module, module.body()).walk<OpView>([&](IRWriter&, OpView op) {
              visit(*op.op());
              return IRWriter::WalkResult::WALK_CONTINUE;
            });
          }) == in_graph);
    CHECK(visits([&](const auto& visit) {
            IRWriter(module).walk<OpView>([&](IRWriter&, OpView op) {
              visit(*op.op());
              return IRWriter::WalkResult::WALK_CONTINUE;
            });
          }).size() == 8);
  }

  TEST_CASE("a walk visits ops, or views of one type, with or without a result") {
    Reading reading(kNested);
    Module& module = reading.module();
    Names names, graphs;
    CHECK(walk(module, [&](Op& op) { names.emplace_back(op.name()); }));
    CHECK(names ==
          Names{"my.A", "my.B", "my.C", "my.D", "my.E", "graph.SubGraphOp", "my.F", "my.G"});
    CHECK(walk<SubGraphOp>(module, [&](SubGraphOp graph) {
      graphs.emplace_back(reading.context.text(graph.symbol()));
    }));
    CHECK(graphs == Names{"g"});
    // example [find]
    SubGraphOp first_graph;
    walk<SubGraphOp>(module, [&](SubGraphOp graph) {
      first_graph = graph;
      return WalkResult::kInterrupt;
    });
    // end
    CHECK(first_graph.op() == find_op(module.body(), "graph.SubGraphOp"));
    names.clear();
    CHECK_FALSE(walk(module.body(), WalkOrder::kPostOrder, [&](Op& op) {
      names.emplace_back(op.name());
      return op.name() == "my.D" ? WalkResult::kInterrupt : WalkResult::kContinue;
    }));
    CHECK(names == Names{"my.A", "my.C", "my.E", "my.D"});
  }

  TEST_CASE("regions are visited before the regions nested in them") {
    Reading reading(kNested);
    Names owners;
    const auto visit = [&](const Region& region) { owners.emplace_back(region.parent()->name()); };
    for_each_region(reading.module(), visit);
    CHECK(owners == Names{"builtin.ModuleOp", "my.B", "my.D", "graph.SubGraphOp"});
    owners.clear();
    for_each_region(std::as_const(reading.module().body()), visit);
    CHECK(owners == Names{"builtin.ModuleOp", "my.B", "my.D"});
  }

  TEST_CASE("values are visited with the op that has them or their region") {
    Reading reading(kNested);
    Names found;
    for_each_value(reading.module(), [&](const Value& value, const Op& op) {
      found.push_back(std::to_string(value.name().number()) + " " + std::string(op.name()));
    });
    CHECK(found == Names{"0 builtin.ModuleOp", "1 my.A", "2 my.B", "3 graph.SubGraphOp"});
    std::size_t in_graph = 0;
    for_each_value(reading.module().body(), [&](const Value&, const Op&) { ++in_graph; });
    CHECK(in_graph == 3);
  }

  TEST_CASE("the current child may be erased, and so may the current block") {
    Reading reading(kNested);
    Rewriter rewriter(reading.module());
    Region& region = *find_op(reading.module().body(), "my.B")->first_region();
    for_each_child(region, [&](Op& op) { rewriter.erase(op); });
    CHECK(region.entry()->empty());
    CHECK(region.has_several_blocks());
    for (Block* block : region.blocks()) rewriter.erase_block(*block);
    CHECK(region.blocks().empty());
  }

  TEST_CASE("blocks are traversed in both directions") {
    Reading reading(kNested);
    const Region& region = *find_op(reading.module().body(), "my.B")->first_region();
    Block* const entry = region.entry();
    Block* const side = entry->next();
    std::vector<Block*> blocks;
    for (Block* block : region.blocks()) blocks.push_back(block);
    for (Block* block : region.reversed_blocks()) blocks.push_back(block);
    CHECK(blocks == std::vector{entry, side, side, entry});
  }

  TEST_CASE("an op knows the ops around it") {
    Reading reading(kNested);
    const Region& body = reading.module().body();
    Op &b = *find_op(body, "my.B"), &d = *find_op(body, "my.D"), &e = *find_op(body, "my.E"),
       &f = *find_op(body, "my.F");
    CHECK(e.ancestor_in(body) == &b);
    CHECK(e.ancestor_in(*b.first_region()) == &d);
    CHECK(e.ancestor_in(*d.first_region()) == &e);
    CHECK(f.ancestor_in(*b.first_region()) == nullptr);
    CHECK(e.is_inside(b));
    CHECK(e.is_inside(*reading.module().top()));
    CHECK_FALSE(e.is_inside(e));
    CHECK_FALSE(b.is_inside(e));
    CHECK_FALSE(f.is_inside(b));
    CHECK(f.parent_of_kind(OpId::kGraphSubGraph) == f.parent_op());
    CHECK(e.parent_of_kind(OpId::kGraphSubGraph) == nullptr);
  }

  TEST_CASE("a region sees the regions around it up to an isolated op") {
    Reading reading(kNested);
    const Region& body = reading.module().body();
    const Region& inner = *find_op(body, "my.D")->first_region();
    const Region& graph = *find_op(body, "graph.SubGraphOp")->first_region();
    CHECK(inner.sees(inner));
    CHECK(inner.sees(body));
    CHECK_FALSE(body.sees(inner));
    CHECK(graph.sees(graph));
    CHECK_FALSE(graph.sees(body));
  }
}

TEST_SUITE("control-flow graphs") {
  TEST_CASE("edges are listed once in both directions, unknown successors are left out") {
    Reading reading(
        "@main () -> () {\nmy.Region () -> () {\n"
        "my.Go () -> () [^b, ^c, ^b, ^none]\n^b:\nmy.Go () -> () [^c]\n^c:\nmy.Go () -> () [^c, "
        "^b]\n^d:\n}\n}\n");
    const Region& region = *find_op(reading.module().body(), "my.Region")->first_region();
    const ControlFlowGraph flow(region);
    REQUIRE(flow.size() == 4);
    CHECK(flow.blocks()[0] == region.entry());
    CHECK(flow.index_of(*region.last_block()) == 3);
    using Edges = std::vector<ControlFlowGraph::Index>;
    const auto list = [](std::span<const ControlFlowGraph::Index> edges) {
      return Edges(edges.begin(), edges.end());
    };
    CHECK(list(flow.successors(0)) == Edges{1, 2});
    CHECK(list(flow.successors(2)) == Edges{2, 1});
    CHECK(list(flow.successors(3)).empty());
    CHECK(list(flow.predecessors(0)).empty());
    CHECK(list(flow.predecessors(1)) == Edges{0, 2});
    CHECK(list(flow.predecessors(2)) == Edges{0, 1, 2});
    for (const Block* block : flow.blocks()) {
      std::vector<Block*> from;
      for (const auto index : flow.predecessors(flow.index_of(*block))) {
        from.push_back(flow.blocks()[index]);
      }
      CHECK(block->predecessors() == from);
    }
  }

  TEST_CASE("a region without blocks has no edges") {
    Reading reading("@main () -> () {\nmy.Region () -> () {\n}\n}\n");
    CHECK(ControlFlowGraph(*find_op(reading.module().body(), "my.Region")->first_region()).size() ==
          0);
  }
}

}  // namespace walk_test

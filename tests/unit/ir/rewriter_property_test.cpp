// Random sequences of edits through the door: what the IR keeps twice agrees after each of them,
// text reads back as the same module, listeners and walks miss nothing.
#include "check_module.hpp"
#include "isomorphic.hpp"
#include "mir/rewriter.hpp"
#include "module_generator.hpp"
#include "random_edits.hpp"
#include "read.hpp"

using namespace mir;
using namespace mir::test;

namespace rewriter_property_test {

namespace {

/// Blocks that branch, loop and join, in regions with arguments, results above and symbols.
constexpr const char* kFlow =
    "@flow [mir_version:1] (%x:tensor<[2], Float32, CPU>) -> () {\n"
    "    my.loop (%x) -> (%r:tensor<[2], Float32, CPU>) {\n"
    "        my.start (%x) -> (%a:tensor<[2], Float32, CPU>)\n"
    "        my.cond (%a) -> () [^left(%a), ^right]\n"
    "    ^left(%b:tensor<[2], Float32, CPU>):\n"
    "        my.one (%b, %x) -> (%c:tensor<[2], Float32, CPU>, %d:tensor<[2], Float32, CPU>)\n"
    "        my.two (%c, %d) -> (%e:tensor<[2], Float32, CPU>)\n"
    "        my.br (%e) -> () [^join(%e)]\n"
    "    ^right:\n"
    "        my.nest (%a) -> () {\n"
    "            my.inner (%a) -> (%f:tensor<[2], Float32, CPU>)\n"
    "            my.use (%f, %k:tensor<[2], Float32, CPU>[constant:[1, 2]]) -> ()\n"
    "        }\n"
    "        my.br () -> () [^join(%a)]\n"
    "    ^join(%g:tensor<[2], Float32, CPU>):\n"
    "        my.more (%g) -> (%h:tensor<[2], Float32, CPU>)\n"
    "        my.cond (%h) -> () [^left(%h), ^end]\n"
    "    ^end:\n"
    "        my.stop (%h) -> ()\n"
    "    }\n"
    "    tensor.CPU.register () -> (%w:tensor<[2], Float32, CPU>[@p1])[symbol:p1]\n"
    "    my.last (%r, %w) -> ()\n"
    "}\n";

std::string text_of(std::uint64_t seed) {
  constexpr GeneratorOptions::Form kForms[] = {GeneratorOptions::Form::kPortable,
                                               GeneratorOptions::Form::kDump,
                                               GeneratorOptions::Form::kProgram};
  if (seed % 4 == 3) return kFlow;
  return generate_module({.seed = seed, .form = kForms[seed % 4], .graphs = 2, .ops = 6});
}

/// The ops that there must be, told by edits alone.
class Census : public RewriteListener {
 public:
  explicit Census(Module& module) { add_inside(*module.top()); }
  void did_insert(Op& op) override {
    add(op);
    add_inside(op);
  }
  void will_erase(Op& op) override { is_right = ops.erase(&op) == 1 && is_right && op.block(); }
  void did_move(Op& op, Block&) override { is_right = ops.contains(&op) && is_right; }
  void did_change(Op& op, OpChange) override {
    is_right = (ops.contains(&op) || op.parent_op() == nullptr) && is_right;
  }

  std::unordered_set<const Op*> ops;
  bool is_right = true;

 private:
  void add(const Op& op) { is_right = ops.insert(&op).second && is_right; }
  void add_inside(const Op& op) {
    for (Region* region = op.first_region(); region != nullptr; region = region->next()) {
      for (Block* block : region->blocks()) {
        for (Op* inner : block->ops()) {
          add(*inner);
          add_inside(*inner);
        }
      }
    }
  }
};

void check_text(const Module& module) {
  const std::string text = print(module);
  CAPTURE(text);
  Reading again(text);
  REQUIRE(again.errors() == std::vector<std::string>{});
  const Isomorphism same(module, again.module(), Isomorphism::Match::kEdited);
  REQUIRE(same.difference() == "");
}

}  // namespace

TEST_SUITE("rewriter property") {
  TEST_CASE("whatever is edited, lists, uses, order, symbols, dominance and text agree") {
    std::map<std::string, int> counts;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
      CAPTURE(seed);
      Reading reading(text_of(seed));
      Module& module = reading.module();
      ModuleChecker checker;
      REQUIRE(checker.check(module) == "");
      Census census(module);
      const ListenerScope listening(module, census);
      RandomEdits edits(module, seed);
      std::string done;
      for (int i = 0; i < 60; ++i) {
        const std::string edit = edits.step();
        if (edit.empty()) continue;
        ++counts[edit];
        done += edit + "; ";
        CAPTURE(done);
        REQUIRE(checker.check(module) == "");
        REQUIRE(census.is_right);
        REQUIRE(census.ops == checker.ops());
        if (i % 4 == 0) check_text(module);
      }
      check_text(module);
    }
    // Each edit found its places.
    CHECK(counts.size() == RandomEdits::kKinds);
    for (const auto& each : counts) CHECK_MESSAGE(each.second > 5, each.first, each.second);
  }

  TEST_CASE("a walk meets what stays once, and nothing that was erased, whatever others edit") {
    for (const WalkOrder order : {WalkOrder::kPreOrder, WalkOrder::kPostOrder}) {
      for (std::uint64_t seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        Reading reading(text_of(seed));
        Module& module = reading.module();
        struct Moves : RewriteListener {
          void did_move(Op& op, Block&) override { moved.insert(&op); }
          void did_move_block(Block& block, Region&) override {
            for (Op* op : block.ops()) moved.insert(op);
          }
          std::unordered_set<const Op*> moved;
        } moves;
        const ListenerScope listening(module, moves);
        ModuleChecker checker;
        REQUIRE(checker.check(module) == "");
        const auto before = checker.ops();
        std::map<const Op*, int> met;
        RandomEdits edits(module, seed + 1000);
        int left = 25;
        walk(module, order, [&](Op& op) {
          REQUIRE_FALSE(op.is_erased());
          ++met[&op];
          if (left-- > 0) edits.step();
          return met.size() < 2000 ? WalkResult::kContinue : WalkResult::kInterrupt;
        });
        REQUIRE(checker.check(module) == "");
        const auto has_moved = [&](const Op* op) {
          while (op != nullptr && !moves.moved.contains(op)) op = op->parent_op();
          return op != nullptr;
        };
        for (const Op* op : before) {
          if (!op->is_erased() && !has_moved(op)) CHECK_MESSAGE(met[op] == 1, op->name());
        }
      }
    }
  }

  TEST_CASE("ops put anywhere into a block keep their order numbers right") {
    IRContext context;
    register_builtin_dialects(context);
    for (const int where : {0, 1, 2, 3}) {
      Module& module = context.create_module();
      Rewriter rewriter(module);
      Block* block = rewriter.create_block(module.body());
      std::mt19937 engine(7);
      std::vector<Op*> ops;
      for (int i = 0; i < 5000; ++i) {
        const std::size_t at = where == 0   ? ops.size()
                               : where == 1 ? 0
                               : where == 2 ? ops.size() / 2
                                            : engine() % (ops.size() + 1);
        Op* op = rewriter.create_detached({.name = context.op_name("a.b")});
        rewriter.insert(*op, *block, at == ops.size() ? nullptr : ops[at]);
        ops.insert(ops.begin() + static_cast<std::ptrdiff_t>(at), op);
      }
      bool is_right = true;
      for (std::size_t i = 1; i < ops.size(); ++i) {
        is_right = is_right && ops[i - 1]->is_before_in_block(ops[i]) &&
                   !ops[i]->is_before_in_block(ops[i / 2]);
      }
      CHECK(is_right);
      context.release(module);
    }
  }
}

}  // namespace rewriter_property_test

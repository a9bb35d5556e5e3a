#include <doctest/doctest.h>

#include <string>

#include "ir/computed_op.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/op.hpp"

namespace mir::effects_test {

namespace {

/// The first op of a module with this head and body.
class FirstOp {
 public:
  FirstOp(const std::string& line, bool portable) {
    register_builtin_dialects(context_);
    const std::string head = portable ? "@main [mir_version:1] () -> () {\n" : "@main () -> () {\n";
    const SourceFile* file = context_.sources().add("test", head + line + "\n}\n");
    Diagnostics diagnostics;
    op_ = read_modules(*file, context_, diagnostics).front()->body().entry()->front();
    REQUIRE(op_ != nullptr);
  }
  const Op& operator*() const { return *op_; }

 private:
  IRContext context_;
  const Op* op_ = nullptr;
};

const std::string kPair = "(%0:tensor<[2], Float32, CPU>, %1:tensor<[2], Float32, CPU>) -> ";
const std::string kResult = "(%2:tensor<[2], Float32, CPU>)";

}  // namespace

TEST_CASE("a copy writes its second operand in a dump and nothing in a portable module") {
  const FirstOp dump("linalg.CPU.CopyOp" + kPair + "()", false);
  CHECK(writes_operand(*dump, 1));
  CHECK_FALSE(writes_operand(*dump, 0));
  CHECK_FALSE(is_pure(*dump));
  const FirstOp portable("linalg.CPU.CopyOp" + kPair + kResult, true);
  CHECK(effects_of(*portable) == Effect::kNone);
  CHECK(is_pure(*portable));
}

TEST_CASE("a cache has an effect in every form") {
  const std::string line =
      "linalg.CPU.KVCacheOp <name=\"c\"> (%0:tensor<[1, 2, 3, 4], Float32, CPU>, "
      "%1:tensor<[1, 2, 3, 4], Float32, CPU>) -> (%2:tensor<[1, 2, 3, 4], Float32, CPU>, "
      "%3:tensor<[1, 2, 3, 4], Float32, CPU>)";
  for (const bool portable : {false, true}) {
    const FirstOp cache(line, portable);
    CHECK(has(effects_of(*cache).value(), Effect::kWritesState));
    CHECK_FALSE(is_pure(*cache));
  }
}

TEST_CASE("what no dialect declares may do anything") {
  const FirstOp unknown("my.Op" + kPair + kResult, true);
  CHECK_FALSE(effects_of(*unknown));
  CHECK_FALSE(is_pure(*unknown));
  CHECK_FALSE(is_commutative(*unknown));
}

TEST_CASE("operands of a sum may change places, those of a difference may not") {
  CHECK(is_commutative(*FirstOp("linalg.CPU.AddOp" + kPair + kResult, true)));
  CHECK_FALSE(is_commutative(*FirstOp("linalg.CPU.SubOp" + kPair + kResult, true)));
}

TEST_CASE("a launch computes the op that its type names") {
  const auto launched = [](const std::string& type, const std::string& operands) {
    return computed_op(*FirstOp("prog.kernel_launch" + operands + " -> " + kResult +
                                    "[op_type:" + type + ", op_options:null]",
                                false));
  };
  const std::string one = "(%0:tensor<[2], Float32, CPU>)";
  const std::string three =
      "(%0:tensor<[2], Float32, CPU>, %1:tensor<[2], Float32, CPU>, %3:tensor<[2], Float32, CPU>)";
  CHECK(launched("SiLU", one) == OpId::kLinalgSiLU);
  CHECK(launched("SiLU", three) == OpId::kLinalgVisionRoPE);
  CHECK(launched("NoSuch", one) == OpId::kNone);
  CHECK(computed_op(*FirstOp("linalg.CPU.AddOp" + kPair + kResult, false)) == OpId::kLinalgAdd);
}

}  // namespace mir::effects_test

// The tables that hold what libraries know of ops, beside the rows that declare the ops.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "eval/evaluate.hpp"
#include "mir/dialects.hpp"
#include "plan/execution_plan.hpp"
#include "upgrade/recover/option_rules.hpp"

namespace mir::op_tables_test {

namespace {

/// An op of the build, by its row.
struct KnownOp {
  OpId id;
  const OpRow& row;

  bool has(Trait trait) const { return mir::has(row.traits, trait); }
  /// Whether a model can compute something with it.
  bool computes() const {
    return dialect_of(name_of(id)) == DialectId::kLinalg && !has(Trait::kNoMeaning) &&
           (row.infer != nullptr || has(Trait::kTypedByName));
  }
  bool loses_options() const {
    return computes() && !has(Trait::kPortableOnly) &&
           std::ranges::any_of(row.attributes, &AttrRow::required);
  }
};

/// What an op needs, and where it is to be found.
struct Need {
  std::string what;
  std::function<bool(const KnownOp&)> applies;
  std::function<bool(const KnownOp&)> is_met;
};

const Need kNeeds[] = {
    {"a reference kernel in src/eval/table.cpp", [](const KnownOp& op) { return op.computes(); },
     [](const KnownOp& op) { return is_executable(op.id); }},
    {"a reference kernel in src/eval/table.cpp, for its fast one",
     [](const KnownOp& op) { return has_fast_node(op.id); },
     [](const KnownOp& op) { return is_executable(op.id); }},
    {"a row without a maker in src/plan/plan_builder.cpp, for it is no work in a plan",
     [](const KnownOp& op) { return op.has(Trait::kSameBytes); },
     [](const KnownOp& op) { return has_fast_node(op.id); }},
    {"a rule in src/upgrade/recover/recover_options.cpp or Trait::kPortableOnly, for dumps have "
     "none of the attributes that it must have",
     [](const KnownOp& op) { return op.loses_options(); },
     [](const KnownOp& op) { return has_recovery_rule(op.id); }},
    {"a type name in its row, by which programs launch it",
     [](const KnownOp& op) { return op.computes(); },
     [](const KnownOp& op) { return !op.row.type_name.empty(); }},
};

std::vector<std::string> missing_of(const KnownOp& op) {
  std::vector<std::string> missing;
  for (const Need& need : kNeeds) {
    if (need.applies(op) && !need.is_met(op)) {
      missing.push_back(std::string(name_of(op.id)) + " needs " + need.what);
    }
  }
  return missing;
}

}  // namespace

TEST_CASE("every op of the build has what its row says that it needs") {
  IRContext context;
  register_builtin_dialects(context);
  for (std::size_t i = 0; i < kOpCount; ++i) {
    const auto id = static_cast<OpId>(i);
    const std::vector<std::string> missing = missing_of({id, *context.info(id).row});
    for (const std::string& each : missing) MESSAGE(each);
    CHECK(missing.empty());
  }
}

TEST_CASE("an op without anything needs everything") {
  const AttrRow attributes[] = {{.name = "k", .required = true}};
  OpRow row{.name = "Op", .traits = Trait::kSameBytes, .attributes = attributes};
  row.infer = [](InferContext&) { return true; };
  // Of a dialect that computes, and in no table.
  const std::vector<std::string> missing = missing_of({OpId::kLinalgRegister, row});
  CHECK(missing.size() == 4);
  for (const std::string& each : missing) CHECK(each.starts_with("linalg.register needs a"));
}

}  // namespace mir::op_tables_test

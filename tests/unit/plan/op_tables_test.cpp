// The tables that hold what libraries know of ops, beside the rows that declare the ops.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "../project_files.hpp"
#include "eval/evaluate.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "mir/dialects.hpp"
#include "passes/fuse/fused_groups.hpp"
#include "plan/fast_ops.hpp"
#include "upgrade/steps/option_rules.hpp"

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
    {"a row in src/plan/fast_ops.cpp, for it is no work in a plan",
     [](const KnownOp& op) { return op.computes() && op.has(Trait::kSameBytes); },
     [](const KnownOp& op) { return has_fast_node(op.id); }},
    {"a rule in src/upgrade/steps/recover_options.cpp or Trait::kPortableOnly, for dumps have "
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

/// What a row of the fast ops lacks.
std::vector<std::string> missing_of(const FastOp& row, const OpRow& declared) {
  std::vector<std::string> missing;
  const auto need = [&](bool is_met, std::string_view what) {
    if (!is_met) missing.push_back(std::string(name_of(row.op)) + " needs " + std::string(what));
  };
  need((row.make == nullptr) != (row.build == nullptr), "either a maker or a builder's method");
  need(row.types.operands[0].has != nullptr, "element types of operands");
  need(row.types.results[0].has != nullptr, "element types of results");
  for (const WeightRow& owned : declared.weights) {
    const bool is_bias = owned.suffix == ".bias";
    need(is_bias || owned.suffix == ".weight", "a column for another parameter");
    need((is_bias ? row.types.bias : row.types.weight).has != nullptr,
         "element types of " + std::string(owned.suffix));
  }
  need(row.bound.distances != nullptr, "an error bound");
  return missing;
}

/// How many rows of the fast ops state the function.
template <class Function>
std::ptrdiff_t rows_of(Function function) {
  return std::ranges::count_if(fast_ops(), [&](const FastOp& row) {
    const auto* stated = std::get_if<Function>(&row.function);
    return stated != nullptr && *stated == function;
  });
}

/// The first group of each match.
std::set<std::string> matches_in(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    found.insert((*it)[1]);
  }
  return found;
}

/// Kernels that the headers of a folder declare: functions that end in a context and return nothing
/// or an error.
std::set<std::string> declared_kernels(const std::filesystem::path& folder) {
  static const std::regex kKernel("\\n(?:void|Result<void>) (\\w+)\\([^;{]*Context& context\\);");
  std::set<std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    // What linear.hpp is made of.
    if (entry.path().extension() != ".hpp" || entry.path().filename() == "linear_tile.hpp")
      continue;
    all.merge(matches_in(test::read_whole(entry.path()), kKernel));
  }
  return all;
}

/// Kernels that nodes call whose makers are named where rows are, or in methods that rows name.
std::set<std::string> reached_kernels(const std::filesystem::path& plan) {
  static const std::regex kMaker("\\nstd::unique_ptr<PlanNode> (\\w+)\\("), kName("(\\w+_node)\\b"),
      kCall("fast::(\\w+)\\(");
  std::set<std::string> named;
  for (const char* file : {"fast_ops.cpp", "plan_builder.cpp", "quantised_steps.cpp"}) {
    named.merge(matches_in(test::read_whole(plan / file), kName));
  }
  named.insert("softmax_along_node");  // that of softmax_node
  std::set<std::string> all = matches_in(test::read_whole(plan / "frame.cpp"), kCall);
  for (const auto& entry : std::filesystem::directory_iterator(plan / "nodes")) {
    const std::string text = test::read_whole(entry.path());
    const bool is_named = std::ranges::any_of(
        matches_in(text, kMaker), [&](const std::string& maker) { return named.contains(maker); });
    if (is_named) all.merge(matches_in(text, kCall));
  }
  return all;
}

}  // namespace

TEST_CASE("fast ops: products end in the functions that fusion looks for") {
  for (const FastOp& row : fast_ops()) {
    const auto* function = std::get_if<fast::Unary>(&row.function);
    CHECK_MESSAGE(
        (function != nullptr && fast::is_activation(*function)) == is_epilogue_function(row.op),
        name_of(row.op));
  }
}

TEST_CASE("fast ops: chains are made of functions of Float32 elements") {
  for (const FastOp& row : fast_ops()) {
    const bool is_function = std::holds_alternative<fast::Unary>(row.function) ||
                             std::holds_alternative<fast::Binary>(row.function) ||
                             row.op == OpId::kLinalgClip;
    if (is_chain_function(row.op)) CHECK_MESSAGE(is_function, name_of(row.op));
  }
}

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

TEST_CASE("every row of the fast ops says all that a plan needs") {
  IRContext context;
  register_builtin_dialects(context);
  for (const FastOp& row : fast_ops()) {
    const std::vector<std::string> missing = missing_of(row, *context.info(row.op).row);
    for (const std::string& each : missing) MESSAGE(each);
    CHECK(missing.empty());
  }
  const OpRow& linear = *context.info(OpId::kLinalgLinear).row;
  CHECK(missing_of(FastOp{.op = OpId::kLinalgLinear}, linear).size() == 6);
}

TEST_CASE("every function of fast kernels is that of one op") {
  using fast::Reduction;
  const auto count = []<class Function>(Function) {
    std::size_t known = 0;
    for (; !name_of(static_cast<Function>(known)).empty(); ++known) {
      CAPTURE(name_of(static_cast<Function>(known)));
      CHECK(rows_of(static_cast<Function>(known)) == 1);
    }
    return known;
  };
  CHECK(count(fast::Unary::kAbs) > 10);
  CHECK(count(fast::Binary::kAdd) > 3);
  CHECK(count(fast::Comparison::kEqual) == 6);
  CHECK(count(fast::Logical::kAnd) == 4);
  for (const Reduction each :
       {Reduction::kSum, Reduction::kMean, Reduction::kMax, Reduction::kMin}) {
    CHECK(rows_of(each) == 1);
  }
}

TEST_CASE("every fast kernel is reached from a row") {
  const std::set<std::string> makers =
      matches_in(test::read_whole(test::kRoot / "src/plan/nodes/nodes.hpp"),
                 std::regex("std::unique_ptr<PlanNode> (\\w+)\\(const FastStep&"));
  CHECK(makers.size() > 20);
  const std::string rows = test::read_whole(test::kRoot / "src/plan/fast_ops.cpp");
  for (const std::string& maker : makers) {
    CHECK_MESSAGE(std::regex_search(rows, std::regex("\\b" + maker + "\\b")),
                  "no row names " << maker);
  }
  const std::set<std::string> declared = declared_kernels(test::kRoot / "src/kernels/fast");
  const std::set<std::string> reached = reached_kernels(test::kRoot / "src/plan");
  CHECK(declared.size() > 20);
  for (const std::string& kernel : declared) {
    CHECK_MESSAGE(reached.contains(kernel), "no row leads to fast::" << kernel);
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

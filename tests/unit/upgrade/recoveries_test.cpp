// What the upgrade derives, assumes and refuses, as recoveries.txt stores it; UPDATE_GOLDEN=1
// writes it anew.
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "../dialects/changed_examples.hpp"
#include "../stored_lines.hpp"
#include "dialects/parameters.hpp"
#include "mir/infer.hpp"
#include "upgraded.hpp"

namespace recoveries_test {

using namespace mir;
using namespace mir::test;
using mir::testing::Changed;

namespace {

/// The line without the attributes of its op.
std::string without_attributes(const std::string& line) {
  const auto operands = std::min(line.find("(%"), line.find("()"));
  const auto open = line.substr(0, operands).find(" [");
  return open == line.npos ? line : line.substr(0, open) + " " + line.substr(operands);
}

/// The line with the result types that the rule of its op gives; empty if the rule refuses it.
std::string with_result_types(const std::string& line) {
  Reading reading(dump({line}));
  const Op& op = *reading.module().body().entry()->front();
  Diagnostics refused;
  const auto types = infer({.context = reading.context,
                            .row = *op.row(),
                            .operands = operand_types(op),
                            .attributes = op.attributes(),
                            .result_count = op.result_count()},
                           refused);
  if (!types) return "";
  const auto arrow = line.find("->");
  std::string text = line.substr(0, arrow);
  std::string results = line.substr(arrow);
  std::size_t at = 0;
  for (const Type* type : *types) {
    const auto begin = results.find("tensor<", at);
    if (type == nullptr || begin == results.npos) return "";
    const auto end = results.find('>', begin) + 1;
    results.replace(begin, end - begin, type->spelling());
    at = begin + type->spelling().size();
  }
  return text + results;
}

/// Registers of the parameters that the op of an example owns.
std::string registers_of(const OpRow& row) {
  Reading reading(dump({std::string(row.example)}));
  const Op& op = *reading.module().body().entry()->front();
  if (!op.has_path() || op.operand_count() == 0 || op.result_count() == 0) return "";
  std::string text;
  for (const WeightRow& weight : row.weights) {
    if (!owns_parameter(row, weight, reading.context, op.attributes())) continue;
    const auto extents = parameter_extents(weight, reading.context, op.operand(0)->tensor_type(),
                                           op.result(0)->tensor_type(), op.attributes());
    if (!extents) continue;
    text += parameter(std::string(reading.context.text(op.path())) + std::string(weight.suffix),
                      fmt::format("{}", fmt::join(*extents, ", "))) +
            "\n";
  }
  return text;
}

/// The errors without their places, or the facts with `+` before those assumed and `!` before
/// other readings.
std::string told(const std::string& text) {
  Upgraded upgraded(text);
  Lines all;
  for (const std::string& error : upgraded.errors()) all.push_back(error.substr(error.find("MIR")));
  for (const LossEntry& entry : upgraded.report.entries) {
    const bool is_port = entry.fact == "input" || entry.fact == "output";
    if (entry.source == Source::kRefused || is_port) continue;
    all.push_back((entry.source == Source::kAssumed ? "+" : "") + entry.fact + "=" + entry.used +
                  (entry.others.empty() ? "" : " ! " + entry.others));
  }
  static const std::regex kType(R"(tensor<(\[[^\]]*\]), (\w+), CPU>)");
  return std::regex_replace(fmt::format("{}", fmt::join(all, "; ")), kType, "$2 $1");
}

std::string recovered_op(const std::string& line) {
  return line.substr(0, line.find(" | "));
}

}  // namespace

TEST_CASE("what examples without their attributes mean is recovered as it is stored") {
  Lines found;
  testing::for_each_changed_example([&](const OpRow& row, const Changed& change) {
    if (change.what.find(':') != change.what.npos) return;  // an attribute
    CAPTURE(change.line);
    const std::string typed = with_result_types(change.line);
    if (typed.empty()) return;
    const std::string line = without_attributes(typed);
    found.push_back(
        fmt::format("{} | {} | {}", row.name, change.what, told(dump({registers_of(row) + line}))));
  });
  const Lines wanted = stored_lines("testdata/unit/upgrade/recoveries.txt", found);
  std::set<std::string> ops;
  for (const std::string& line : wanted) ops.insert(recovered_op(line));
  REQUIRE(ops.size() > 50);
  // Of an op that was added since, nothing is stored yet.
  std::size_t next = 0;
  for (const std::string& line : found) {
    if (!ops.contains(recovered_op(line))) continue;
    REQUIRE(next < wanted.size());
    REQUIRE(line == wanted[next++]);
  }
  CHECK(next == wanted.size());
}

}  // namespace recoveries_test

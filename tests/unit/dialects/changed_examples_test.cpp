// Rules answer every changed example as changed_examples.txt stores it; UPDATE_GOLDEN=1 writes it
// anew.
#include "changed_examples.hpp"

#include <set>

#include "../stored_lines.hpp"
#include "infer.hpp"

namespace mir::testing {
namespace {

std::string answer_of(const Changed& change) {
  const Inference answer = infer_line(change.line);
  if (!change.what.starts_with("all operands")) CHECK(answer.errors <= 1);
  if (answer.error.empty()) return shape_text(answer.inferred);
  return answer.error + (answer.constraint.empty() ? "" : " (" + answer.constraint + ")");
}

/// `op | change | answer` of every change of every example.
std::vector<std::string> answers() {
  std::vector<std::string> lines;
  for_each_changed_example([&](const OpRow& row, const Changed& each) {
    CAPTURE(each.line);
    lines.push_back(fmt::format("{} | {} | {}", row.name, each.what, answer_of(each)));
  });
  return lines;
}

std::string op_of(const std::string& line) {
  return line.substr(0, line.find(" | "));
}

TEST_CASE("rules say of every example with one change what is stored") {
  const std::vector<std::string> found = answers();
  const std::vector<std::string> wanted =
      mir::test::stored_lines("testdata/unit/dialects/changed_examples.txt", found);
  std::set<std::string> ops;
  for (const std::string& line : wanted) ops.insert(op_of(line));
  REQUIRE(ops.size() > 50);
  // Of an op that was added since, nothing is stored yet.
  std::size_t next = 0;
  for (const std::string& line : found) {
    if (!ops.contains(op_of(line))) continue;
    REQUIRE(next < wanted.size());
    REQUIRE(line == wanted[next++]);
  }
  CHECK(next == wanted.size());
}

}  // namespace
}  // namespace mir::testing

// Counts in messages, a table over addresses, and what is kept where lists are joined.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "mir/codes/verification.hpp"
#include "mir/diagnostic.hpp"
#include "mir/tensor.hpp"
#include "support/counted.hpp"
#include "support/pointer_table.hpp"

using namespace mir;

namespace tables_test {

TEST_CASE("one thing is counted in the singular, any other number in the plural") {
  CHECK(counted(1, "operands") == "1 operand");
  CHECK(counted(0, "operands") == "0 operands");
  CHECK(counted(2, "operands") == "2 operands");
}

TEST_CASE("a table over addresses has one entry for each, while it grows") {
  const std::vector<char> memory(1000);
  PointerTable<int> table;
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      int& entry = table[&memory[i]];
      CHECK(entry == (round == 0 ? 0 : static_cast<int>(i) + 1));
      entry = static_cast<int>(i) + 1;
    }
  }
  for (std::size_t i = 0; i < memory.size(); ++i) {
    CHECK(table[&memory[i]] == static_cast<int>(i) + 1);
  }
}

TEST_CASE("errors that were dropped take no room of those that are appended") {
  Diagnostics all(3);
  for (int i = 0; i < 2; ++i) all.error(diag::kUnknownOp, {1, 1}, std::to_string(i));
  all.skip(Severity::kError, diag::kUnknownOp, 4);
  Diagnostics part(3);
  part.error(diag::kUnknownOp, {2, 2}, "a");
  part.error(diag::kUnknownOp, {2, 2}, "b");
  all.append(std::move(part));
  CHECK(all.sorted().size() == 3);
  CHECK(all.error_count() == 8);
  CHECK(all.dropped_error_count() == 5);
}

TEST_CASE("no bytes are borrowed as an empty tensor with an address") {
  const auto tensor = Tensor::borrow(DType::kFloat32, {0, 3}, {}, nullptr);
  REQUIRE(tensor);
  CHECK(tensor->bytes().empty());
  CHECK(tensor->bytes().data() != nullptr);
  CHECK(tensor->elements() == 0);
}

}  // namespace tables_test

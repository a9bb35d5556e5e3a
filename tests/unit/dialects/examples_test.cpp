#include "infer.hpp"

using namespace mir;
using mir::testing::infer_line;

TEST_CASE("the result types of every example are those that its rule gives") {
  for (const Dialect* dialect : builtin_dialects()) {
    for (const OpRow& row : dialect->rows) {
      if (row.infer == nullptr) continue;
      CAPTURE(row.example);
      const auto answer = infer_line(std::string(row.example));
      CHECK(answer.error == "");
      CHECK(answer.inferred == answer.declared);
    }
  }
}

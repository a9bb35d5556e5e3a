// Cause: A program registers a dialect whose name is taken, or which has a row that is not sound: a
// name that no text can hold or that another row has, a required attribute with a default, a range
// or choices that do not fit the attribute.
//
// Fix: Correct the row that the message names.
#include <doctest/doctest.h>

#include "mir/dialects.hpp"

using namespace mir;

TEST_CASE("MIR0319: refused") {
  IRContext context;
  const auto added = context.add_dialect(
      {.name = "my",
       .ops = {{.row = {.name = "ScaleOp"},
                .attributes = {{.name = "factor", .required = true, .default_text = "1.0"}}}}});
  REQUIRE_FALSE(added.ok());
  CHECK(spelling(added.error().code) == "MIR0319");
  CHECK(added.error().message == "dialect 'my': 'ScaleOp': 'factor' is required and has a default");
}

TEST_CASE("MIR0319: accepted") {
  IRContext context;
  const auto added =
      context.add_dialect({.name = "my",
                           .ops = {{.row = {.name = "ScaleOp"},
                                    .attributes = {{.name = "factor", .required = true}}}}});
  CHECK(added.ok());
}

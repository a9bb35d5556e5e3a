#include "interp/tolerance.hpp"

#include <doctest/doctest.h>

#include "mir/codes/usage.hpp"

namespace mir::test {

TEST_CASE("types have tolerances of their own until something is stated") {
  TolerancePolicy policy;
  CHECK(render(policy.of(DType::kFloat32)) == "abs 1e-06, rel 1e-05");
  CHECK(render(policy.of(DType::kComplexFP64)) == "abs 1e-12, rel 1e-10");
  CHECK(render(policy.of(DType::kBFloat16)) == "abs 0.001, rel 0.016");
  CHECK(render(policy.of(DType::kInt64)) == "exact");
  CHECK(render(policy.of(DType::kBool)) == "exact");
}

TEST_CASE("a tolerance is stated for one type or for all, the later statement wins") {
  TolerancePolicy policy;
  REQUIRE(policy.add("Float32:ulp=4,cosine=0.9"));
  CHECK(render(policy.of(DType::kFloat32)) == "abs 0, rel 0, 4 ulp, cosine >= 0.9");
  CHECK(render(policy.of(DType::kFloat16)) == "abs 0.0001, rel 0.002");
  REQUIRE(policy.add("exact"));
  CHECK(render(policy.of(DType::kFloat32)) == "exact");
  REQUIRE(policy.add("Int8:abs=1"));
  CHECK(render(policy.of(DType::kInt8)) == "abs 1, rel 0");
  CHECK(render(policy.of(DType::kInt16)) == "exact");
}

TEST_CASE("without a distance elements are not judged") {
  TolerancePolicy policy;
  REQUIRE(policy.add("correlation=0.99,top5=0.8"));
  const Tolerance tolerance = policy.of(DType::kFloat32);
  CHECK_FALSE(tolerance.judges_elements);
  CHECK(tolerance.top == 5);
  CHECK(render(tolerance) == "correlation >= 0.99, top 5 >= 0.8");
}

TEST_CASE("what is no tolerance is refused by the part that is none") {
  TolerancePolicy policy;
  for (const char* bad : {"", "abs", "abs=", "abs=-1", "abs=x", "Float33:abs=1", "top0=1", "top=1",
                          "abs=1,", "pcc=1", "Float32", "ulp=nan"}) {
    CAPTURE(bad);
    const auto added = policy.add(bad);
    REQUIRE_FALSE(added);
    CHECK(added.error().code == diag::kUsage);
  }
  CHECK(policy.add("abs=1,near=2").error().message.starts_with("'near=2' in tolerance "));
}

}  // namespace mir::test

// Angles of many turns, against sums of integers that are longer than any double.
#include <doctest/doctest.h>

#include <cmath>

#include "kernels/ref/common/numbers_c.hpp"

using namespace mir;

namespace angle_test {

TEST_CASE("an angle of many turns is reduced to the nearest multiple of a quarter of a turn") {
  struct Case {
    double x;
    int quadrant;
    double high, low;
  };
  // The first one is nearer to a multiple than any other double.
  constexpr Case kCases[] = {
      {0x1.6ac5b262ca1ffp+849, 1, 0x1.14ae72e6ba22fp-61, -0x1.73eef1477d90ep-118},
      {0x1.0p+20, 0, 0x1.58e8ec12c0aa8p-2, 0x1.95c955afd3e7bp-56},
      {0x1.0f0cf064dd592p+73, 3, 0x1.19eab99633cd8p-1, -0x1.269e0fc062c98p-57},
      {0x1.1eb2d66005835p+997, 2, -0x1.12dfe054a4296p-3, -0x1.f198369a13eecp-58},
      {0x1.0p+1023, 2, -0x1.3242cd2724ccep-1, 0x1.02166f75542a7p-59},
      {0x1.d6f3454p+26, 1, -0x1.2033bd251c60bp-3, -0x1.890d524793370p-57},
      {0x1.c6bf526340001p+52, 3, 0x1.32993c363d8acp-1, 0x1.af89d3f412ea9p-56},
      {0x1.2a05f2p+33, 0, -0x1.04b9ef621e213p-1, 0x1.657eb834d03afp-55},
      {0x1.f78a4p+24, 0, 0x1.8893dcc5c3e31p-1, -0x1.5e1503715c204p-56},
      {0x1.fffffffffffffp+1023, 2, -0x1.453020ff06b39p-8, -0x1.afad1027849e8p-62},
      {0x1.7f7ec53a8d491p+22, 0, -0x1.eacd7c60e9693p-32, -0x1.fd4d6d0ffed66p-86},
  };
  for (const Case& each : kCases) {
    for (const double sign : {1.0, -1.0}) {
      CAPTURE(sign * each.x);
      const ref::c::mir_angle found = ref::c::mir_reduce_angle(sign * each.x);
      CHECK(found.quadrant == (sign < 0 ? (4 - each.quadrant) % 4 : each.quadrant));
      const double difference = (found.high - sign * each.high) + (found.low - sign * each.low);
      CHECK(std::fabs(difference) <= 0x1p-68 * std::fabs(each.high));
      CHECK(std::fabs(found.low) <= 0x1p-53 * std::fabs(found.high));
    }
  }
}

TEST_CASE("no angle that is reduced is above an eighth of a turn") {
  double x = 1;
  for (int i = 0; i < 3000; ++i) {
    x = std::fmod(x * 1.2345678901234567 + 0.1, 0x1p1020);
    CHECK(std::fabs(ref::c::mir_reduce_angle(x).high) <= 0x1.921fb54442d19p-1);
    CHECK(std::fabs(ref::c::mir_reduce_angle(-x).high) <= 0x1.921fb54442d19p-1);
  }
}

}  // namespace angle_test

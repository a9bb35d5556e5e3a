// Reduction of an angle to an eighth of a turn.
#pragma once

namespace mir::ref {

/// x = (4 n + quadrant) pi/2 + high + low with an integer n, |high + low| <= pi/4 (a rounding
/// beyond), |low| <= half a unit of high.
struct Angle {
  int quadrant;  ///< 0 .. 3
  double high;
  double low;
};

/// Any finite x; the relative error of high + low is below 2^-68.
Angle reduce_angle(double x);

}  // namespace mir::ref

// Where a polynomial falls below zero first: events of a step are found on its own series (DESIGN 4).
#pragma once

#include <functional>

namespace mechsim {

// The first s in [0, 1] from which p(s) = p[0] + p[1] s + ... + p[degree] s^degree falls below zero, INFINITY if it never
// comes below -noise. Bounds are those of Bernstein coefficients, so a piece where it dips and comes back is not missed
// however short. `least` becomes the least value that was met on the way, if that is less than it was.
double first_below(const double* p, int degree, double noise, double& least);

// The first s in [0, 1] where p crosses zero: upwards (direction 1), downwards (-1) or either (0), when it is on the given
// side (1 or -1) at first. A touch is no crossing. INFINITY if there is none. Those are passed over that do not count.
double first_crossing(const double* p, int degree, int direction, int side, double noise,
                      const std::function<bool(double)>& counts = {});

}  // namespace mechsim

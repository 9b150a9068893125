// Forces that only push: w = q + W z, w >= 0, z >= 0, w . z = 0, for a matrix W of responses (symmetric, never negative).
#pragma once

#include <vector>

namespace mechsim {

// z, by Lemke's method (Cottle, Pang, Stone: The Linear Complementarity Problem, 4.4), columns of W one after the other.
// Where contacts repeat each other only some push: those with z > 0 are independent. Empty where there is no solution.
std::vector<double> pushes(const std::vector<double>& w, const std::vector<double>& q);

}  // namespace mechsim

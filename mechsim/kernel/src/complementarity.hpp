// Forces that only push: w = q + W z, w >= 0, z >= 0, w . z = 0.
#pragma once

#include <vector>

namespace mechsim {

struct Complementary {
    bool solved = false;
    std::vector<double> z;
    std::vector<char> acts;  // z may be more than zero there, else w may
};

// Lemke's method (Cottle, Pang, Stone: The Linear Complementarity Problem, 4.4) with lexicographic ties, columns of W one after
// the other; numbers of different units are to be scaled to about one.
Complementary complementary(const std::vector<double>& w, const std::vector<double>& q);

// z for a matrix W of responses (symmetric, never negative), whatever its units. Where contacts repeat each other only some push:
// those with z > 0 are independent. Empty where there is no solution.
std::vector<double> pushes(const std::vector<double>& w, const std::vector<double>& q);

}  // namespace mechsim

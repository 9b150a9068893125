// Loops over rows of lanes, `step` vectors each; a mask tells the lanes that take part.
#pragma once

#include <vector>

#include "block.hpp"
#include "lu.hpp"

namespace mechsim {

// found = from + sums. Where there is `low`, what rounding takes from it is kept there.
void add_lanes(const double* sums, const double* from, const long long* mask, double* low, double* found, int step);

// One correction of an unknown at a stage k <= 0, and what it amounts to.
struct Correction {
    const double *delta, *inverse_scale;
    double factor;
    double *x, *low, *change, *extent, *total;
};
void correct_unknown(const Correction& c, const long long* mask, int step);

void multiply_rows(double* rows, const double* factors, int count, int step);
void blend(const double* from, double* to, const long long* mask, std::size_t rows, int step);
// rest -= A x
void subtract_product(const SparseLU& pattern, const double* matrix, const double* x, double* rest, int step);

}  // namespace mechsim

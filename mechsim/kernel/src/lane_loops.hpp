// Loops over rows of lanes, `step` vectors each; a mask tells the lanes that take part.
#pragma once

#include <vector>

#include "block.hpp"
#include "lu.hpp"
#include "march.hpp"

namespace mechsim {

// found = from + sums. Where there is `low`, what rounding takes from it is kept there.
void add_lanes(const double* sums, const double* from, const long long* mask, double* low, double* found, int step);

// The correction of one unknown at a stage k <= 0.
struct Correction {
    int degree;
    double factor;
    const double *delta, *inverse_scale;
    double *x, *low;  // low: of what is kept beyond rounding
};

// By what corrections of a stage k <= 0 are judged: rows of one number per lane, or of one per degree and lane.
struct Judged {
    double *compared, *moved;
    const double* previous;
    double *rate, *stale, *distance, *turned, *rounding;
    const double* earlier_leverage;
    double *mismatch, *rough;
    long long *active, *finished;
};
struct Newton {
    int stage, iteration, orders;
    int matrix_order;  // the highest derivative that makes the matrix stale when it is corrected here
    bool curved;       // rows may not be linear in what is corrected
    double settled;
};
struct Verdict {
    bool some_active, some_lost;
};
// Correct the lanes that are active: how much this moves them, whether that settles them, and how fast corrections become
// smaller (see March::settle). A lane whose correction is no number is lost: it stays active, and has moved by none.
Verdict correct_unknowns(const std::vector<Correction>& corrections, const Judged& judged, const Newton& newton, int step);

// Whose matrix is not that of what was found, among the lanes of the mask.
struct Staleness {
    const double *stale, *distance, *rounding, *earlier_leverage;
};
void find_stale(const Staleness& given, const long long* mask, double tolerance, long long* stale, int step);

// What decides whether landings are too far from where the polynomials lead (see March::is_far).
struct Landing {
    const double *h, *mismatch, *rough, *off, *rounding, *distance, *turned, *speed, *earlier_leverage;
    double* missed;
    long long* far;
};
void judge_landings(const Landing& landing, const Control& control, const std::vector<double>& inverse_binomials, int step);

void clear_lanes(double* row, const long long* mask, int step);
// Who is above a bound, and whether some are.
bool find_above(const double* row, double bound, long long* found, int step);
void count_lanes(const long long* mask, long long* counts, int step);
bool any(const long long* mask, int width);
bool all(const long long* mask, int width);
// Each row times its factor; those of equations that a stage does not reach, by their offsets, are zero.
void scale_rows(double* rows, const std::vector<double>& factors, const std::vector<int>& offsets, int stage, int step);
void blend(const double* from, double* to, const long long* mask, std::size_t rows, int step);
// rest -= A x
void subtract_product(const SparseLU& pattern, const double* matrix, const double* x, double* rest, int step);

}  // namespace mechsim

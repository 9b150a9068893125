// The changes of one operation's coefficients, as the product rule has them from its recurrence in block.cpp.
#pragma once

#include "tangent.hpp"

namespace mechsim {

// At a stage k <= 0: all changes of the stage, and what they add to the rows (row-major, directions last).
void evaluate_dual(DualBlock& dual, const double* x, int width, int degrees, int stage, double* residual);
// At a stage k >= 1: the same before its solve, when what it will find counts as zero ...
void predict_dual(DualBlock& dual, int stage, double* residual);
// ... and after it.
void correct_dual(DualBlock& dual, const double* x, int width, int degrees, int stage);

// Rows of `vectors` vectors, `count` of them: each times its factor; each to its target, times its factor.
void scale_rows(Lanes* rows, const double* factors, int count, int vectors);
void place_rows(const Lanes* rows, const double* factors, Lanes* const* targets, int count, int vectors);
// target := the sum of binomial_n coefficient_n h^(n - first), n = first..last, of rows that are `step` vectors apart.
void sum_powers(const Lanes* coefficients, std::size_t step, const double* binomials, int first, int last, double h,
                Lanes* target, int vectors);
// largest := the largest of its values and those of a row, times a scale.
void note_largest(const Lanes* row, double scale, Lanes* largest, int vectors);

}  // namespace mechsim

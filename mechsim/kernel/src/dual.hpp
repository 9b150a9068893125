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

}  // namespace mechsim

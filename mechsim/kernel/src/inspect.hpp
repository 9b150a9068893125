// Do the series of a formula tell all there is about it? Those of exp(-((t - 5)/w)^2), of sin(t)^16 or of a saturated
// tanh are nearly zero where a step begins, and say nothing of what comes later.
//
// The polynomials of the unknowns are known on the whole step, so what each operation makes of them can be compared with
// its own polynomial, on parts of the step that are short beside the features of all functions (bounds of their operands'
// ranges tell), so that no pulse is too narrow to be met. Only what comes to move the mechanism counts.
#pragma once

#include <functional>
#include <vector>

#include "block.hpp"

namespace mechsim {

// The degree up to which the series of a register are known after a step of this order.
int degree_of(const Block& block, int reg, int order);

// How far an error of 1 in a row of the equations moves the mechanism within a step of length h, as a share of its size
// and speed.
using Response = std::function<double(int row, double h)>;

// By how much the registers and constants of a lane change in the step with what the motion is differentiated by, beside
// the size of the tangents: what the motion itself multiplies by zero may move them.
struct Swing {
    std::vector<double> registers, constants;
};
using SwingOf = std::function<Swing(int lane)>;

// The longest step, at most `h` and in the direction of time `direction` (1 or -1), on which the series of every
// operation follow the operation as far as the tolerance asks. `swing` is empty without tangents.
double inspect(Block& block, double h, int direction, int order, double tolerance, const Response& response,
               const SwingOf& swing = {});

// The same for a block of motions, each with a step of its own; none where h is 0.
struct Inspected {
    double h = 0;
    int direction = 1;
    double tolerance = 0;
};
using LaneResponse = std::function<double(int lane, int row, double h)>;
void inspect_motions(Block& block, std::vector<Inspected>& steps, int order, const LaneResponse& response);

}  // namespace mechsim

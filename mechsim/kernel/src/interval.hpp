// Ranges of operations over ranges of their operands. Roundings are not counted: these bounds guide, they prove nothing.
#pragma once

#include <algorithm>
#include <cmath>

#include "block.hpp"

namespace mechsim {

struct Interval {
    double low, high;
    double size() const { return std::max(std::abs(low), std::abs(high)); }
    double width() const { return high - low; }
    bool holds_zero() const { return !(low > 0 || high < 0); }
    double nearest_zero() const { return holds_zero() ? 0.0 : std::min(std::abs(low), std::abs(high)); }
};

constexpr Interval kEverything = {-INFINITY, INFINITY};

// The range of an operation, `own` being that of its polynomial (used where there is no closed form).
Interval range(const Operation& op, Interval a, Interval b, double constant, Interval own);
// The largest slope of an operation by its first operand, and by its second.
double slope_by_a(const Operation& op, Interval a, Interval b, double constant);
double slope_by_b(const Operation& op, Interval a, Interval b);
// Whether the function has no feature that is narrow beside the range of its operand.
bool is_plain(const Operation& op, Interval operand, double constant);

}  // namespace mechsim

// How the mechanism answers impulses in single rows, of gaps, frictions and bonds: see struct Direction.
#include <algorithm>
#include <cmath>

#include "march.hpp"

namespace mechsim {

// What a unit impulse in a row changes, with all joints kept; the matrix is filled, and the row rests in its factors.
std::vector<double> March::response_to(const Direction& direction) {
    std::vector<double> change(size_, 0.0);
    for (int entry : direction.pull) change[lu_.rows()[entry]] = matrix_[entry];
    for (const Gap& each : gaps_) change[each.row] = change[each.account] = 0;
    for (const Friction& each : frictions_) change[each.row] = change[each.account] = 0;
    lu_.solve(change.data());
    return change;
}

// Of all unknowns, beside nothing else; the matrix is filled. What has none of its own, as a turn angle, is as heavy as the
// heaviest.
std::vector<double> March::inertias() const {
    std::vector<double> found(size_, 0.0);
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
        const int j = lu_.rows()[entry];
        if (j == lu_.columns()[entry] && d_[j] >= 2) found[j] = std::abs(matrix_[entry]) * scales_[j] * scales_[j];
    }
    const double heaviest = found.empty() ? 0.0 : *std::max_element(found.begin(), found.end());
    for (double& inertia : found)
        if (!(inertia > 0)) inertia = heaviest;
    return found;
}

// About what a unit impulse in a row does to its rate if nothing but inertia resists.
double March::free_response(const Direction& direction, const std::vector<double>& inertias) const {
    double sum = 0;
    for (int entry : direction.gradient) {
        const int j = lu_.columns()[entry];
        sum += std::pow(matrix_[entry] * scales_[j], 2) / inertias[j];
    }
    return sum;
}

// The gradient of a row times what unknowns change by.
double March::along(const Direction& direction, const double* change) const {
    double sum = 0;
    for (int entry : direction.gradient) sum += matrix_[entry] * change[lu_.columns()[entry]];
    return sum;
}

// An impulse jumps what the leading derivative integrates to, of every unknown.
void March::add_impulse(double impulse, const std::vector<double>& response) {
    if (impulse == 0) return;
    for (int j = 0; j < size_; ++j) {
        if (d_[j] == 0) continue;
        const int derivative = d_[j] - 1;
        double factor = impulse;
        for (int k = 2; k <= derivative; ++k) factor /= k;
        add_exactly(x_.degree(derivative)[j], low_[std::size_t(derivative) * size_ + j], factor * response[j]);
    }
}

}  // namespace mechsim

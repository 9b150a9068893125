#include "roots.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "block.hpp"

namespace mechsim {

namespace {

constexpr int kMostHalvings = 54;    // of the step: then a piece is as short as rounding
constexpr int kMostNewton = 80;  // Newton's method, or halving where it would leave

constexpr double kCell = 0x1p-30;    // of a zero: within this it is found anew
constexpr int kMostBisections = 40;  // of two such cells: then nothing is between

using Bernstein = std::array<double, kMostDegrees>;

double evaluated(const double* p, int degree, double s) {
    double value = p[degree];
    for (int n = degree - 1; n >= 0; --n) value = value * s + p[n];
    return value;
}

// The zero at s, where `sign` times p falls, as a function of p alone: halving cells of a grid leads to one of the zeros that
// roundings make of it, whichever of them s is. Powers of two in the terms of p change nothing but its scale.
double settled_zero(const double* p, int degree, int sign, double s) {
    int exponent;
    std::frexp(s, &exponent);
    const double cell = std::ldexp(kCell, exponent);
    const double middle = cell * std::nearbyint(s / cell);
    double from = middle - cell, to = middle + cell;
    if (!(s > 0) || !(sign * evaluated(p, degree, from) > 0) || !(sign * evaluated(p, degree, to) < 0)) return s;
    for (int count = 0; count < kMostBisections; ++count) {
        const double half = from + 0.5 * (to - from);
        if (half == from || half == to) break;
        (sign * evaluated(p, degree, half) > 0 ? from : to) = half;
    }
    return to;
}

struct Search {
    const double* p;
    int degree;
    double noise;
    double& least;

    // Between two places where the signs differ, to rounding.
    double polished(double from, double to) const {
        double s = from + 0.5 * (to - from);
        for (int iteration = 0; iteration < kMostNewton; ++iteration) {
            double value = p[degree], slope = 0;
            for (int n = degree - 1; n >= 0; --n) {
                slope = slope * s + value;
                value = value * s + p[n];
            }
            if (value == 0) return s;
            (value > 0 ? from : to) = s;
            double next = s - value / slope;
            if (!(next > from && next < to)) next = from + 0.5 * (to - from);
            if (next == s || next == from || next == to) return next;
            if (std::abs(next - s) <= 1e-17 * std::abs(next)) return next;
            s = next;
        }
        return s;
    }

    double within(const Bernstein& b, double from, double to, int halvings) const {
        double smallest = b[0];
        int changes = 0;
        bool positive = b[0] > 0;
        for (int j = 1; j <= degree; ++j) {
            smallest = std::min(smallest, b[j]);
            if (b[j] != 0 && (b[j] > 0) != positive) {
                positive = !positive;
                ++changes;
            }
        }
        if (smallest >= -noise) {
            least = std::min(least, smallest);
            return INFINITY;
        }
        if (b[0] < -noise) {
            least = std::min(least, b[0]);
            return from;
        }
        if (changes == 0) return from;  // at the left end it is zero to rounding, and falls
        if (changes == 1 && b[0] > 0) return settled_zero(p, degree, 1, polished(from, to));
        if (halvings == kMostHalvings) return b[degree] < -noise ? from : INFINITY;
        Bernstein left, right = b;
        left[0] = b[0];
        for (int level = 1; level <= degree; ++level) {  // de Casteljau
            for (int j = 0; j <= degree - level; ++j) right[j] = 0.5 * (right[j] + right[j + 1]);
            left[level] = right[0];
        }
        const double middle = 0.5 * (from + to), first = within(left, from, middle, halvings + 1);
        return std::isfinite(first) ? first : within(right, middle, to, halvings + 1);
    }
};

}  // namespace

double first_below(const double* p, int degree, double noise, double& least) {
    while (degree > 1 && p[degree] == 0) --degree;
    double rest = 0;
    for (int n = 2; n <= degree; ++n) rest += std::abs(p[n]);
    const double slope = degree >= 1 ? p[1] : 0.0;
    if (std::min(p[0], p[0] + slope) - rest > 0) return INFINITY;  // far from zero: most gaps at most steps
    if (!std::isfinite(rest)) return INFINITY;
    // b_j = sum over n <= j of p_n (j over n) / (degree over n): only sums of parts of p_n, so nothing is lost.
    Bernstein b{};
    for (int j = 0; j <= degree; ++j) {
        double part = 1;
        for (int n = 0; n <= j; ++n) {
            b[j] += part * p[n];
            part *= double(j - n) / double(degree - n);
        }
    }
    return Search{p, degree, noise, least}.within(b, 0, 1, 0);
}

double first_crossing(const double* p, int degree, int direction, int side, double noise,
                      const std::function<bool(double)>& counts) {
    constexpr int kMostCrossings = 200;  // the other way, within a step
    Bernstein q{};
    for (int n = 0; n <= degree; ++n) q[n] = side * p[n];
    const int whole = degree;
    double from = 0, length = 1, least = 0;
    for (int count = 0; count < kMostCrossings; ++count, side = -side) {
        const double s = first_below(q.data(), degree, noise, least);
        if (!std::isfinite(s)) return s;
        if (direction != side && (!counts || counts(from + length * s)))
            return from > 0 ? settled_zero(p, whole, side, from + length * s) : s;
        // Go on behind it: about that place, in units of what is left, without the zero there, and turned over.
        for (int low = 0; low < degree; ++low)
            for (int n = degree - 1; n >= low; --n) q[n] += s * q[n + 1];
        const double rest = 1 - s;
        if (!(rest > 1e-14) || degree < 2) return INFINITY;
        double power = rest;
        for (int n = 1; n <= degree; ++n, power *= rest) q[n - 1] = -q[n] * power;
        q[degree--] = 0;
        from += length * s;
        length *= rest;
    }
    return INFINITY;
}

}  // namespace mechsim

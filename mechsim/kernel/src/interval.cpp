#include "interval.hpp"

namespace mechsim {

namespace {

constexpr double kPi = 3.14159265358979323846;

Interval hull(double a, double b, double c, double d) {
    if (std::isnan(a + b + c + d)) return kEverything;
    return {std::min(std::min(a, b), std::min(c, d)), std::max(std::max(a, b), std::max(c, d))};
}

Interval product(Interval a, Interval b) {
    return hull(a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high);
}

Interval square(Interval a) {
    const double near = a.nearest_zero(), far = a.size();
    return {near * near, far * far};
}

Interval reciprocal(Interval a) { return a.holds_zero() ? kEverything : Interval{1 / a.high, 1 / a.low}; }

Interval rising(double (*f)(double), Interval a) {
    const double low = f(a.low), high = f(a.high);
    return std::isnan(low) || std::isnan(high) ? kEverything : Interval{low, high};
}

// cos over [low, high]: extremes at whole multiples of pi.
Interval cosine(Interval a) {
    if (!(a.width() < 2 * kPi)) return {-1, 1};
    const double first = std::ceil(a.low / kPi), last = std::floor(a.high / kPi);
    const double at_low = std::cos(a.low), at_high = std::cos(a.high);
    Interval found = {std::min(at_low, at_high), std::max(at_low, at_high)};
    for (double k = first; k <= last; ++k) (std::fmod(k, 2) == 0 ? found.high : found.low) = std::fmod(k, 2) == 0 ? 1 : -1;
    return found;
}

bool holds_pole_of_tangent(Interval a) { return std::floor(a.low / kPi - 0.5) != std::floor(a.high / kPi - 0.5); }

Interval range_of_function(const Operation& op, Interval a, double constant, Interval own) {
    switch (op.function) {
        case Function::exp: return rising(std::exp, a);
        case Function::log: return rising(std::log, a);
        case Function::sin: return cosine({a.low - kPi / 2, a.high - kPi / 2});
        case Function::cos: return cosine(a);
        case Function::tan: return holds_pole_of_tangent(a) ? kEverything : rising(std::tan, a);
        case Function::sinh: return rising(std::sinh, a);
        case Function::cosh: return {std::cosh(a.nearest_zero()), std::cosh(a.size())};
        case Function::tanh: return rising(std::tanh, a);
        case Function::asin: return rising(std::asin, a);
        case Function::acos: {
            const Interval turned = rising(std::acos, {a.high, a.low});
            return {turned.low, turned.high};
        }
        case Function::atan: return rising(std::atan, a);
        case Function::power: {
            if (!(a.low > 0)) return kEverything;
            const double one = std::pow(a.low, constant), other = std::pow(a.high, constant);
            return {std::min(one, other), std::max(one, other)};
        }
        case Function::atan2:
        case Function::zero: return own;
    }
    return own;
}

double slope_of_function(const Operation& op, Interval a, Interval b, double constant) {
    const double near = a.nearest_zero(), far = a.size();
    switch (op.function) {
        case Function::exp: return std::exp(a.high);
        case Function::log: return 1 / near;
        case Function::sin:
        case Function::cos: return 1;
        case Function::tan: return holds_pole_of_tangent(a) ? INFINITY : 1 + std::pow(std::tan(a.low), 2) + std::pow(std::tan(a.high), 2);
        case Function::sinh:
        case Function::cosh: return std::cosh(far);
        case Function::tanh: return 1 - std::pow(std::tanh(near), 2);
        case Function::asin:
        case Function::acos: return far < 1 ? 1 / std::sqrt(1 - far * far) : INFINITY;
        case Function::atan: return 1 / (1 + near * near);
        case Function::power: return std::abs(constant) * std::max(std::pow(near, constant - 1), std::pow(far, constant - 1));
        case Function::atan2:
        case Function::zero: return b.size();  // the slope is a series of its own
    }
    return INFINITY;
}

}  // namespace

Interval range(const Operation& op, Interval a, Interval b, double constant, Interval own) {
    switch (op.code) {
        case Code::add: return {a.low + b.low, a.high + b.high};
        case Code::subtract: return {a.low - b.high, a.high - b.low};
        case Code::multiply: return product(a, b);
        case Code::square: return square(a);
        case Code::divide: return product(a, reciprocal(b));
        case Code::ratio: return product({constant, constant}, reciprocal(a));
        case Code::root: return rising(std::sqrt, a);
        case Code::scale: return product({constant, constant}, a);
        case Code::shift: return {a.low + constant, a.high + constant};
        case Code::function: return range_of_function(op, a, constant, own);
        case Code::total:
        case Code::rate: break;  // not in a formula
    }
    return kEverything;
}

double slope_by_a(const Operation& op, Interval a, Interval b, double constant) {
    const double near = a.nearest_zero();
    switch (op.code) {
        case Code::multiply: return b.size();
        case Code::square: return 2 * a.size();
        case Code::divide: return 1 / b.nearest_zero();
        case Code::ratio: return std::abs(constant) / (near * near);
        case Code::root: return 0.5 / std::sqrt(near);
        case Code::scale: return std::abs(constant);
        case Code::function: return slope_of_function(op, a, b, constant);
        default: return 1;
    }
}

double slope_by_b(const Operation& op, Interval a, Interval b) {
    switch (op.code) {
        case Code::multiply: return a.size();
        case Code::divide: return a.size() / (b.nearest_zero() * b.nearest_zero());
        case Code::function: return 0;  // a slope series: what it says is in the function's own value
        default: return 1;
    }
}

bool is_plain(const Operation& op, Interval u, double constant) {
    const double near = u.nearest_zero(), far = u.size();
    if (op.code != Code::function) return u.width() <= 0.5 * near;  // divide, ratio, root: something happens at zero
    switch (op.function) {
        case Function::exp:
        case Function::sinh:
        case Function::cosh:
        case Function::sin:
        case Function::cos: return u.width() <= 2;
        case Function::tanh: return u.width() <= 1 || near > 20;  // beyond 20 it is 1 to the last digit
        case Function::tan: return u.width() <= 0.5 && !holds_pole_of_tangent({u.low - u.width(), u.high + u.width()});
        case Function::log: return u.width() <= 0.5 * near;
        case Function::asin:
        case Function::acos: return u.width() <= 0.5 * (1 - far);
        case Function::atan: return u.width() <= 0.5 * (1 + near);
        case Function::power: return u.width() <= near / (1 + std::abs(constant));
        case Function::atan2:
        case Function::zero: return true;
    }
    return false;
}

}  // namespace mechsim

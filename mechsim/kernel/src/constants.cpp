#include "constants.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mechsim {

namespace {

bool is_binary(Step step) { return step >= Step::add && step <= Step::hypot; }

struct Slopes {
    double a, b;
};

// Derivatives of w = value_of(step, a, b) by a and by b.
Slopes slopes_of(Step step, double a, double b, double w) {
    switch (step) {
        case Step::value:
        case Step::parameter: return {0, 0};
        case Step::add: return {1, 1};
        case Step::subtract: return {1, -1};
        case Step::multiply: return {b, a};
        case Step::divide: return {1 / b, -w / b};
        // The exponent of a base that is not positive is a whole number, which does not change.
        case Step::power: return {b == 0 ? 0 : b * std::pow(a, b - 1), a > 0 ? std::log(a) * w : 0};
        case Step::atan2: return {b / (a * a + b * b), -a / (a * a + b * b)};
        case Step::hypot: return {w == 0 ? 0 : a / w, w == 0 ? 0 : b / w};
        case Step::root: return {0.5 / w, 0};
        case Step::exp: return {w, 0};
        case Step::log: return {1 / a, 0};
        case Step::sin: return {std::cos(a), 0};
        case Step::cos: return {-std::sin(a), 0};
        case Step::tan: return {1 + w * w, 0};
        case Step::sinh: return {std::cosh(a), 0};
        case Step::cosh: return {std::sinh(a), 0};
        case Step::tanh: return {1 - w * w, 0};
        case Step::asin: return {1 / std::sqrt(1 - a * a), 0};
        case Step::acos: return {-1 / std::sqrt(1 - a * a), 0};
        case Step::atan: return {1 / (1 + a * a), 0};
    }
    return {0, 0};
}

}  // namespace

double value_of(Step step, double a, double b) {
    switch (step) {
        case Step::value:
        case Step::parameter: return a;
        case Step::add: return a + b;
        case Step::subtract: return a - b;
        case Step::multiply: return a * b;
        case Step::divide: return a / b;
        case Step::power: return std::pow(a, b);
        case Step::atan2: return std::atan2(a, b);
        case Step::hypot: return std::hypot(a, b);
        case Step::root: return std::sqrt(a);
        case Step::exp: return std::exp(a);
        case Step::log: return std::log(a);
        case Step::sin: return std::sin(a);
        case Step::cos: return std::cos(a);
        case Step::tan: return std::tan(a);
        case Step::sinh: return std::sinh(a);
        case Step::cosh: return std::cosh(a);
        case Step::tanh: return std::tanh(a);
        case Step::asin: return std::asin(a);
        case Step::acos: return std::acos(a);
        case Step::atan: return std::atan(a);
    }
    return 0;
}

Constants::Constants(std::vector<Node> nodes, int parameters) : nodes_(std::move(nodes)), parameters_(parameters) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        if (node.step == Step::value) continue;
        const int limit = node.step == Step::parameter ? parameters_ : int(i);
        const bool inside = node.a >= 0 && node.a < limit;
        if (!inside || (is_binary(node.step) && !(node.b >= 0 && node.b < limit)))
            throw std::invalid_argument("a number is computed from one that is not known yet");
    }
}

void Constants::evaluate(const double* parameters, std::size_t sets, double* values) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        double* row = values + i * sets;
        if (node.step == Step::value) {
            std::fill_n(row, sets, node.value);
            continue;
        }
        const double* a = (node.step == Step::parameter ? parameters : values) + std::size_t(node.a) * sets;
        const double* b = is_binary(node.step) ? values + std::size_t(node.b) * sets : a;
        for (std::size_t s = 0; s < sets; ++s) row[s] = value_of(node.step, a[s], b[s]);
    }
}

void Constants::differentiate(const double* values, const double* directions, std::size_t count, double* changes) const {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        const Node& node = nodes_[i];
        double* row = changes + i * count;
        if (node.step == Step::value) {
            std::fill_n(row, count, 0.0);
            continue;
        }
        if (node.step == Step::parameter) {
            std::copy_n(directions + std::size_t(node.a) * count, count, row);
            continue;
        }
        const int other = is_binary(node.step) ? node.b : node.a;
        const Slopes slopes = slopes_of(node.step, values[node.a], values[other], values[i]);
        const double* a = changes + std::size_t(node.a) * count;
        const double* b = changes + std::size_t(other) * count;
        // What does not change takes no part: its slope may be infinite, as that of a root at zero.
        for (std::size_t s = 0; s < count; ++s)
            row[s] = (a[s] == 0 ? 0 : slopes.a * a[s]) + (b[s] == 0 || !is_binary(node.step) ? 0 : slopes.b * b[s]);
    }
}

}  // namespace mechsim

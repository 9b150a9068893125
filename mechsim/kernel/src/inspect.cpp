#include "inspect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "interval.hpp"

namespace mechsim {

namespace {

constexpr double kAlike = 1e-3;   // a polynomial this near to its operation (relative) hides no feature of it
constexpr double kMatters = 1.0;  // tolerances: a difference that does less than this is left to the step control
constexpr double kNoted = 1e-2;   // tolerances: where a difference begins that comes to matter
constexpr double kRounding = 1e-15;
constexpr int kDeepest = 50;      // halvings of a step: beyond, not even time tells moments apart
constexpr int kMostParts = 100000;
constexpr int kPlanned = 3;       // halvings before it is asked whether a part of the step matters at all
constexpr double kShorter = 0.5;  // a step is cut by this when no part of it is good
// Where operations are compared, as shares of a step or part: nothing symmetric has all its zeros there.
constexpr std::array<double, 3> kLook = {0.3090169943749474, 0.6871214994261017, 0.9697153472312054};

struct Polynomial {
    int degree = 0;
    std::array<double, kMostDegrees> c;

    double operator()(double s) const {
        double value = c[degree];
        for (int n = degree - 1; n >= 0; --n) value = value * s + c[n];
        return value;
    }
    // A range that holds all values on [0, h], by its terms.
    Interval within(double h) const {
        double reach = 0, power = 1;
        for (int n = 1; n <= degree; ++n) reach += std::abs(c[n]) * (power *= h);
        return {c[0] - reach, c[0] + reach};
    }
    // The same on [a, b], by its terms about the middle.
    Interval within(double a, double b) const {
        Polynomial moved = *this;
        const double middle = (a + b) / 2;
        for (int first = 0; first < degree; ++first)
            for (int n = degree - 1; n >= first; --n) moved.c[n] += middle * moved.c[n + 1];
        return moved.within((b - a) / 2);
    }
};

// The search in one lane of a block.
class Inspection {
  public:
    Inspection(const Block& block, int lane, int direction, int order, double tolerance, const Response& response)
        : block_(block), lane_(lane), direction_(direction), order_(order), tolerance_(tolerance), response_(response),
          inputs_(int(block.inputs.size())) {}

    double longest(double h) {
        h_ = h;
        for (int i = 0; i < int(block_.operations.size()); ++i) {
            const Operation& op = block_.operations[i];
            if (!op.counts) continue;
            switch (op.code) {
                case Code::multiply:
                case Code::square: follow_product(op, inputs_ + i); break;
                case Code::divide: follow_function(op, inputs_ + i, op.b); break;
                case Code::ratio:
                case Code::root: follow_function(op, inputs_ + i, op.a); break;
                case Code::function:
                    if (!op.is_integral()) follow_function(op, inputs_ + i, op.a);
                    break;
                default: break;  // linear operations hide nothing
            }
        }
        return h_;
    }

  private:
    Polynomial polynomial(int reg) const {
        Polynomial found;
        int degree;
        if (reg < inputs_) {
            const Input& input = block_.inputs[reg];
            degree = input.time ? 1 : input.available >= kAlways ? 0 : order_ - 1 + input.available;
        } else {
            degree = order_ - 1 + block_.operations[reg - inputs_].lead;
        }
        degree = std::min(degree, block_.degrees - 1);
        double sign = 1;
        for (int n = 0; n <= degree; ++n, sign *= direction_) found.c[n] = sign * block_.row(reg, n)[lane_];
        while (degree > 0 && found.c[degree] == 0) --degree;
        found.degree = degree;
        return found;
    }

    double constant(const Operation& op) const { return op.constant >= 0 ? block_.constant(op.constant)[lane_] : 0.0; }

    double value(const Operation& op, double a, double b) const {
        switch (op.code) {
            case Code::multiply: return a * b;
            case Code::square: return a * a;
            case Code::divide: return a / b;
            case Code::ratio: return constant(op) / a;
            case Code::root: return std::sqrt(a);
            default: return value_of(op.function, a, constant(op), 0.0);
        }
    }

    // A product of polynomials is as smooth as they are: a look here and there is enough.
    void follow_product(const Operation& op, int own) {
        const Polynomial a = polynomial(op.a), b = polynomial(op.b >= 0 ? op.b : op.a), w = polynomial(own);
        for (int cuts = 0; cuts < kDeepest; ++cuts) {
            double difference = 0, size = 0;
            for (double share : kLook) {
                const double s = share * h_, exact = value(op, a(s), b(s));
                if (!std::isfinite(exact)) difference = INFINITY;
                difference = std::max(difference, std::abs(exact - w(s)));
                size = std::max(size, std::abs(exact));
            }
            if (difference <= kAlike * size || difference * weight(own, 0, h_) <= kMatters * tolerance_) return;
            h_ *= kShorter;
        }
    }

    // The same for a function, whose features are its own: compared on parts of the step on which it has none.
    void follow_function(const Operation& op, int own, int operand) {
        const Polynomial a = polynomial(op.a), b = polynomial(op.b >= 0 ? op.b : op.a), w = polynomial(own);
        const Polynomial& u = operand == op.a ? a : b;
        if (!std::isfinite(u(h_)) || !std::isfinite(w(h_))) return;  // the step control sees to that
        for (int cuts = 0; cuts < kDeepest; ++cuts) {
            if (is_plain(op, u.within(h_), constant(op)) && difference(op, a, b, w, 0, h_).alike()) return;
            const double end = first_difference(op, own, a, b, u, w);
            if (end >= h_) return;
            if (end > 0) {
                h_ = end;
                return;
            }
            h_ *= kShorter;
        }
    }

    struct Difference {
        double difference = 0, size = 0;
        bool alike() const { return difference <= kAlike * size; }
    };

    // How far an operation and its polynomial are apart on a part of the step.
    Difference difference(const Operation& op, const Polynomial& a, const Polynomial& b, const Polynomial& w,
                          double from, double to) const {
        Difference found;
        for (double share : kLook) {
            const double s = from + share * (to - from), exact = value(op, a(s), b(s)), series = w(s);
            if (!std::isfinite(exact)) return {INFINITY, 0};  // no value there: the step must end before
            found.difference = std::max(found.difference, std::abs(exact - series));
            found.size = std::max(found.size, std::max(std::abs(exact), std::abs(series)));
        }
        return found;
    }

    struct Part {
        double from, to;
        int depth;
    };

    // Where the first difference that matters begins; h_ if there is none.
    double first_difference(const Operation& op, int own, const Polynomial& a, const Polynomial& b, const Polynomial& u,
                            const Polynomial& w) const {
        std::vector<Part> parts = {{0.0, h_, 0}};
        for (int looked = 0; !parts.empty(); ++looked) {
            const Part part = parts.back();
            parts.pop_back();
            if (looked >= kMostParts) return part.from;
            if (is_plain(op, u.within(part.from, part.to), constant(op)) || part.depth >= kDeepest) {
                const Difference found = difference(op, a, b, w, part.from, part.to);
                if (found.alike()) continue;
                const double weighs = weight(own, part.from, part.to);
                if (!(found.difference * weighs <= kMatters * tolerance_)) return foot(op, a, b, w, part.to, weighs);
                continue;
            }
            if (part.depth >= kPlanned && !matters(op, own, a, b, w, part)) continue;
            const double middle = (part.from + part.to) / 2;
            parts.push_back({middle, part.to, part.depth + 1});
            parts.push_back({part.from, middle, part.depth + 1});
        }
        return h_;
    }

    // Where a difference that matters before `end` is not yet noticed: it grows from there.
    double foot(const Operation& op, const Polynomial& a, const Polynomial& b, const Polynomial& w, double end,
                double weighs) const {
        double low = 0, high = end;
        for (int halvings = 0; halvings < kDeepest; ++halvings) {
            const double s = (low + high) / 2, exact = value(op, a(s), b(s)), difference = std::abs(exact - w(s));
            const bool small = difference * weighs <= kNoted * tolerance_ || difference <= kRounding * std::abs(exact);
            (small ? low : high) = s;
        }
        return low;
    }

    // Whether the function can do anything at all in this part of the step that its polynomial does not tell.
    bool matters(const Operation& op, int own, const Polynomial& a, const Polynomial& b, const Polynomial& w,
                 const Part& part) const {
        const Interval series = w.within(part.from, part.to);
        const Interval exact = range(op, a.within(part.from, part.to), b.within(part.from, part.to), constant(op), series);
        const double most = std::max(exact.high - series.low, series.high - exact.low);
        return !(most * weight(own, part.from, part.to) <= kNoted * tolerance_);
    }

    // How far an error of 1 in a register moves the mechanism, at most: slopes of all operations from there to the rows,
    // taken at their largest on this part of the step.
    double weight(int reg, double from, double to) const {
        const int count = inputs_ + int(block_.operations.size());
        std::vector<Interval> ranges(count);
        std::vector<double> weights(count, 0.0);
        for (int i = 0; i < inputs_; ++i) ranges[i] = polynomial(i).within(from, to);
        for (int i = inputs_; i < count; ++i) {
            const Operation& op = block_.operations[i - inputs_];
            const Interval own = op.is_integral() ? polynomial(i).within(from, to) : kEverything;
            const Interval b = op.b >= 0 && op.b < i ? ranges[op.b] : kEverything;
            ranges[i] = range(op, ranges[op.a], b, constant(op), own);
        }
        for (std::size_t o = 0; o < block_.outputs.size(); ++o) {
            const double response = response_(block_.rows[o * block_.stride + lane_], h_);
            for (int t = block_.outputs[o].first_term; t < block_.outputs[o].last_term; ++t)
                weights[block_.terms[t].reg] += response * std::abs(block_.constant(block_.terms[t].constant)[lane_]);
        }
        for (int i = count - 1; i > reg; --i) {
            const Operation& op = block_.operations[i - inputs_];
            if (weights[i] == 0) continue;
            const Interval a = ranges[op.a], b = op.b >= 0 ? ranges[op.b] : a;
            weights[op.a] += weights[i] * slope_by_a(op, a, b, constant(op));
            if (op.b >= 0 && op.b < i) weights[op.b] += weights[i] * slope_by_b(op, a, b);
        }
        return weights[reg];
    }

    const Block& block_;
    const int lane_, direction_, order_;
    const double tolerance_;
    const Response& response_;
    const int inputs_;
    double h_ = 0;
};

}  // namespace

double inspect(const Block& block, double h, int direction, int order, double tolerance, const Response& response) {
    for (int lane = 0; lane < block.lanes; ++lane)
        h = Inspection(block, lane, direction, order, tolerance, response).longest(h);
    return h;
}

}  // namespace mechsim

#include "inspect.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "interval.hpp"

namespace mechsim {

int degree_of(const Block& block, int reg, int order) {
    const int inputs = int(block.inputs.size());
    int ahead;
    if (reg < inputs) {
        const Input& input = block.inputs[reg];
        if (input.time || input.available >= kAlways) return input.time ? 1 : 0;
        ahead = input.available;
    } else {
        ahead = block.operations[reg - inputs].lead;
    }
    return std::min(order - 1 + ahead, block.degrees - 1);
}

namespace {

constexpr double kAlike = 1e-3;    // a polynomial this near to its operation (relative) hides no feature of it
constexpr double kMatters = 1.0;   // tolerances: a difference that does less than this is left to the step control
constexpr double kNoted = 1e-2;    // tolerances: where a difference begins that comes to matter
constexpr double kFaint = 1e-2;    // tolerances, of what a value has been at most: less is not looked into
constexpr double kRounding = 1e-15;  // of a value, some roundings
constexpr int kDeepest = 50;       // halvings of a step: beyond, not even time tells moments apart
constexpr int kMostParts = 20000;  // of a step: beyond, it is simply cut
constexpr int kPlanned = 2;        // halvings before it is asked whether a part of the step matters at all
constexpr double kShorter = 0.5;   // a step is cut by this when no part of it is good
// Where operations are compared, as shares of a part of the step: nothing symmetric has all its zeros there.
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
    // The same on [a, b], by its terms about the middle, with what rounding may hide there.
    Interval within(double a, double b) const {
        Polynomial moved = *this;
        const double middle = (a + b) / 2;
        for (int first = 0; first < degree; ++first)
            for (int n = degree - 1; n >= first; --n) moved.c[n] += middle * moved.c[n + 1];
        const Interval found = moved.within((b - a) / 2);
        const double rounding = kRounding * within(b).size();
        return {found.low - rounding, found.high + rounding};
    }
};

// The operand whose range decides whether a function has narrow features; -1 for products, which have none of their own.
int deciding(const Operation& op) {
    if (op.code == Code::multiply || op.code == Code::square) return -1;
    return op.code == Code::divide ? op.b : op.a;
}

double value_at(const Operation& op, double a, double b, double constant) {
    switch (op.code) {
        case Code::add: return a + b;
        case Code::subtract: return a - b;
        case Code::multiply: return a * b;
        case Code::square: return a * a;
        case Code::divide: return a / b;
        case Code::ratio: return constant / a;
        case Code::root: return std::sqrt(a);
        case Code::scale: return constant * a;
        case Code::shift: return a + constant;
        case Code::function: return value_of(op.function, a, constant, 0.0);
        case Code::total:
        case Code::rate: break;  // not in a formula
    }
    return NAN;
}

// --- the first look: all lanes at once, at little cost. Nearly always it is enough.

// Values at two moments of the step of all registers that are compared, (register, moment, lane).
MECHSIM_CLONES void evaluate_moments(Block& block, int order) {
    const int stride = block.stride;
    for (int l = 0; l < stride; l += kWidth) {
        const Lanes first = *vec(block.watch.moments.data() + l), second = *vec(block.watch.moments.data() + stride + l);
        const Lanes first_square = first * first, second_square = second * second;
        double* value = block.watch.values.data() + l;
        for (int reg : block.watch.registers) {
            // Even and odd terms apart: a sum that waits for itself at each of them would take twice as long.
            const int degree = degree_of(block, reg, order), odd = degree - 1 + degree % 2, even = degree - degree % 2;
            const auto row = [&](int n) MECHSIM_LAMBDA { return *vec(block.row(reg, n) + l); };
            Lanes one = row(even), other = one, one_odd{}, other_odd{};
            for (int n = even - 2; n >= 0; n -= 2) one = one * first_square + row(n), other = other * second_square + row(n);
            for (int n = odd; n >= 1; n -= 2)
                one_odd = one_odd * first_square + row(n), other_odd = other_odd * second_square + row(n);
            *vec(value) = one + one_odd * first;
            *vec(value + stride) = other + other_odd * second;
            value += 2 * stride;
        }
    }
}

// How far the terms of a register reach from its value at the start.
double reach(const Block& block, int reg, int lane, double h, int order) {
    double total = 0, power = 1;
    const double* row = block.row(reg, 0) + lane;
    for (int n = degree_of(block, reg, order); n > 0; --n) total += std::abs(*(row += block.stride)) * (power *= h);
    return total;
}

// Whether in this lane every operation is plainly what the polynomials of its operands make it, on the whole step.
bool is_clear(Block& block, int lane, double h, int order, double tolerance) {
    const Watch& watch = block.watch;
    const int inputs = int(block.inputs.size()), stride = block.stride;
    auto value = [&](int reg, int moment) { return watch.values[(2 * watch.places[reg] + moment) * stride + lane]; };
    for (std::size_t k = 0; k < watch.operations.size(); ++k) {
        const int own = inputs + watch.operations[k];
        const Operation& op = block.operations[watch.operations[k]];
        const double constant = op.constant >= 0 ? block.constant(op.constant)[lane] : 0.0;
        double apart = 0, size = 0;
        for (int moment = 0; moment < 2; ++moment) {
            const double exact = value_at(op, value(op.a, moment), op.b >= 0 ? value(op.b, moment) : 0.0, constant);
            const double off = std::abs(exact - value(own, moment));
            apart = off <= apart ? apart : off;  // what is no number counts as large
            size = std::max(size, std::abs(exact));
        }
        // What is small beside what it was before may be nothing but rounding, as of a mechanism at rest.
        double& peak = block.watch.peaks[k * stride + lane];
        peak = std::max(peak, size);
        if (!(apart <= std::max(kAlike * size, kFaint * tolerance * peak))) return false;
        const int operand = deciding(op);
        if (operand < 0) continue;
        const double middle = block.row(operand, 0)[lane], around = reach(block, operand, lane, h, order);
        if (!is_plain(op, {middle - around, middle + around}, constant)) return false;
    }
    return true;
}

// --- the search

// The search in one lane of a block.
class Inspection {
  public:
    Inspection(const Block& block, int lane, int direction, int order, double tolerance, const Response& response,
               Swing swing = {})
        : block_(block), lane_(lane), direction_(direction), order_(order), tolerance_(tolerance), response_(response),
          inputs_(int(block.inputs.size())), count_(inputs_ + int(block.operations.size())), values_(count_),
          roundings_(count_), weights_(count_), ranges_(count_),
          made_(count_), swing_(std::move(swing)) {
        swing_.registers.resize(count_, 0.0);
        swing_.constants.resize(block.constant_count, 0.0);
        for (int i = 0; i < inputs_; ++i) given_.push_back(polynomial(i));
        for (int i = inputs_; i < count_; ++i) series_.push_back(polynomial(i));
        for (int i : block.watch.operations) watched_.push_back(inputs_ + i);
    }

    double longest(double h) {
        h_ = h;
        for (int cuts = 0; cuts < kDeepest && !watched_.empty(); ++cuts) {
            const double end = first_difference();
            if (end >= h_) break;
            h_ = end > 0 ? end : kShorter * h_;
            if (end > 0) break;
        }
        return h_;
    }

  private:
    struct Part {
        double from, to;
        int depth;
    };

    const Operation& operation(int reg) const { return block_.operations[reg - inputs_]; }
    double constant(const Operation& op) const { return op.constant >= 0 ? block_.constant(op.constant)[lane_] : 0.0; }

    Polynomial polynomial(int reg) const {
        Polynomial found;
        int degree = degree_of(block_, reg, order_);
        double sign = 1;
        for (int n = 0; n <= degree; ++n, sign *= direction_) found.c[n] = sign * block_.row(reg, n)[lane_];
        while (degree > 0 && found.c[degree] == 0) --degree;
        found.degree = degree;
        return found;
    }

    // Where the first difference that matters begins; h_ if there is none.
    double first_difference() {
        std::vector<Part> parts = {{0.0, h_, 0}};
        for (int looked = 0; !parts.empty(); ++looked) {
            const Part part = parts.back();
            parts.pop_back();
            if (looked >= kMostParts) return part.from;
            find_ranges(part);
            const bool plain = part.depth >= kDeepest || all_plain();
            if (plain) {
                const int different = first_different(part);
                if (different >= 0) return foot(different, part.to);
                continue;
            }
            if (part.depth >= kPlanned && !can_matter(part)) continue;
            const double middle = (part.from + part.to) / 2;
            parts.push_back({middle, part.to, part.depth + 1});
            parts.push_back({part.from, middle, part.depth + 1});
        }
        return h_;
    }

    // The ranges of all registers on a part of the step: what operations make of the ranges of their operands, and what
    // their polynomials say. Where these are all of them right, as is then found, both hold; alone the former are wide.
    void find_ranges(const Part& part) {
        weighed_ = false;
        for (int i = 0; i < inputs_; ++i) ranges_[i] = made_[i] = given_[i].within(part.from, part.to);
        for (int i = inputs_; i < count_; ++i) {
            const Operation& op = operation(i);
            const Interval own = series(i).within(part.from, part.to);
            const bool has_b = op.b >= 0 && op.b < i;
            made_[i] = range(op, made_[op.a], has_b ? made_[op.b] : kEverything, constant(op), own);
            const Interval tight = range(op, ranges_[op.a], has_b ? ranges_[op.b] : kEverything, constant(op), own);
            const Interval both = {std::max(tight.low, own.low), std::min(tight.high, own.high)};
            ranges_[i] = both.low <= both.high ? both : tight;
        }
    }

    const Polynomial& series(int reg) const { return series_[reg - inputs_]; }

    // The values of all registers at a moment of the step, from those of the unknowns, and what rounding does to them.
    void find_values(double s) {
        for (int i = 0; i < inputs_; ++i) {
            values_[i] = given_[i](s);
            roundings_[i] = kRounding * (std::abs(values_[i]) + std::abs(given_[i].c[0]));
        }
        for (int i = inputs_; i < count_; ++i) {
            const Operation& op = operation(i);
            const double second = op.b >= 0 ? values_[op.b] : 0.0;
            values_[i] = op.is_integral() ? series(i)(s) : value_at(op, values_[op.a], second, constant(op));
            const Interval a = {values_[op.a], values_[op.a]};
            const bool has_b = op.b >= 0 && op.b < i;
            const Interval b = has_b ? Interval{values_[op.b], values_[op.b]} : a;
            roundings_[i] = kRounding * std::abs(values_[i]) + carried(roundings_[op.a], slope_by_a(op, a, b, constant(op)));
            if (has_b) roundings_[i] += carried(roundings_[op.b], slope_by_b(op, a, b));
        }
    }

    static double carried(double rounding, double slope) { return slope == 0 ? 0.0 : rounding * slope; }

    bool plain(int reg) const {
        const Operation& op = operation(reg);
        return deciding(op) < 0 || is_plain(op, ranges_[deciding(op)], constant(op));
    }

    // Whether no function has a feature that is narrow beside what its operand does on this part.
    bool all_plain() const {
        return std::all_of(watched_.begin(), watched_.end(), [&](int reg) { return plain(reg); });
    }

    // How far apart an operation's value and its polynomial are beyond roundings; infinitely, where there is no value.
    double difference(int reg, double s) const {
        const double exact = values_[reg], told = series(reg)(s);
        if (exact == told) return 0;
        const double apart = std::abs(exact - told);
        return std::isfinite(apart) ? std::max(0.0, apart - roundings_[reg]) : INFINITY;
    }

    // The first operation whose polynomial is not what it does on this part of the step, so that it matters; or -1.
    int first_different(const Part& part) {
        const int count = int(watched_.size());
        std::vector<double> differences(count, 0.0), sizes(count, 0.0);
        for (double share : kLook) {
            const double s = part.from + share * (part.to - part.from);
            find_values(s);
            for (int k = 0; k < count; ++k) {
                const double apart = difference(watched_[k], s);
                differences[k] = apart <= differences[k] ? differences[k] : apart;
                sizes[k] = std::max(sizes[k], std::abs(values_[watched_[k]]));
            }
        }
        for (int k = 0; k < count; ++k)
            if (!(differences[k] <= kAlike * sizes[k]) && effect(differences[k], watched_[k]) > kMatters * tolerance_)
                return watched_[k];
        return -1;
    }

    // Whether a function that is not plain can do anything in this part of the step that its polynomial does not tell.
    bool can_matter(const Part& part) {
        for (int reg : watched_) {
            if (plain(reg)) continue;
            const Interval made = made_[reg], told = series(reg).within(part.from, part.to);
            const double most = std::max(made.high - told.low, told.high - made.low);
            if (effect(most, reg) > kNoted * tolerance_) return true;
        }
        // Products of what does not matter may.
        return first_different(part) >= 0;
    }

    // Where a difference that matters before `end` is not yet noticed: it grows from there.
    double foot(int reg, double end) {
        double low = 0, high = end;
        for (int halvings = 0; halvings < kDeepest; ++halvings) {
            const double s = (low + high) / 2;
            find_values(s);
            find_ranges({s, s, 1});
            (effect(difference(reg, s), reg) <= kNoted * tolerance_ ? low : high) = s;
        }
        return low;
    }

    // How far an error in a register moves the mechanism, at most: slopes of all operations from there to the rows, taken
    // at their largest on this part of the step.
    double effect(double error, int reg) {
        if (!weighed_) weigh();
        if (weights_[reg] == 0 || error == 0) return 0;
        const double moved = weights_[reg] * error;
        return std::isnan(moved) ? INFINITY : moved;
    }

    void weigh() {
        weighed_ = true;
        std::fill(weights_.begin(), weights_.end(), 0.0);
        for (std::size_t o = 0; o < block_.outputs.size(); ++o) {
            const double response = response_(block_.rows[o * block_.stride + lane_], h_);
            for (int t = block_.outputs[o].first_term; t < block_.outputs[o].last_term; ++t)
                weights_[block_.terms[t].reg] += response * (std::abs(block_.constant(block_.terms[t].constant)[lane_]) +
                                                             swing_.constants[block_.terms[t].constant]);
        }
        for (int i = count_ - 1; i >= inputs_; --i) {
            if (weights_[i] == 0) continue;
            const Operation& op = operation(i);
            const Interval a = made_[op.a], b = op.b >= 0 ? made_[op.b] : a;
            weights_[op.a] += weights_[i] * (slope_by_a(op, a, b, constant(op)) + swing_by_a(op));
            if (op.b >= 0 && op.b < i) weights_[op.b] += weights_[i] * (slope_by_b(op, a, b) + swing_by_b(op));
        }
    }

    // What factors that change add to the slopes of products, which they may have made zero.
    double swing_by_a(const Operation& op) const {
        if (op.code == Code::multiply) return swing_.registers[op.b];
        if (op.code == Code::square) return 2 * swing_.registers[op.a];
        return op.code == Code::scale ? swing_.constants[op.constant] : 0.0;
    }
    double swing_by_b(const Operation& op) const { return op.code == Code::multiply ? swing_.registers[op.a] : 0.0; }

    const Block& block_;
    const int lane_, direction_, order_;
    const double tolerance_;
    const Response& response_;
    const int inputs_, count_;
    std::vector<Polynomial> given_, series_;  // of inputs, of operations
    std::vector<int> watched_;                // registers
    std::vector<double> values_, roundings_, weights_;
    std::vector<Interval> ranges_, made_;
    Swing swing_;
    bool weighed_ = false;
    double h_ = 0;
};

}  // namespace

double inspect(Block& block, double h, int direction, int order, double tolerance, const Response& response,
               const SwingOf& swing) {
    for (int moment = 0; moment < 2; ++moment)
        std::fill_n(block.watch.moments.data() + moment * block.stride, block.stride, direction * kLook[1 + moment] * h);
    evaluate_moments(block, order);
    for (int lane = 0; lane < block.lanes; ++lane)
        if (!is_clear(block, lane, h, order, tolerance))
            h = Inspection(block, lane, direction, order, tolerance, response, swing ? swing(lane) : Swing{}).longest(h);
    return h;
}

void inspect_motions(Block& block, std::vector<Inspected>& steps, int order, const LaneResponse& response) {
    for (int moment = 0; moment < 2; ++moment)
        for (int lane = 0; lane < block.lanes; ++lane)
            block.watch.moments[moment * block.stride + lane] = steps[lane].direction * kLook[1 + moment] * steps[lane].h;
    evaluate_moments(block, order);
    for (int lane = 0; lane < block.lanes; ++lane) {
        auto& [h, direction, tolerance] = steps[lane];
        if (h == 0 || is_clear(block, lane, h, order, tolerance)) continue;
        const Response own = [&, lane](int row, double length) { return response(lane, row / block.lanes, length); };
        h = Inspection(block, lane, direction, order, tolerance, own).longest(h);
    }
}

}  // namespace mechsim

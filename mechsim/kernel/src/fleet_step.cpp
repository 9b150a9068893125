// How long the next step of each lane is. What decides is said in step.cpp.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

MECHSIM_CLONES void largest_of(const double* coefficients, const double* inverse_scales, const std::vector<int>& unknowns,
                               double* largest, int step) {
    for (int j : unknowns)
        for (int s = 0; s < step; ++s)
            vec(largest)[s] = larger(vec(largest)[s], absolute(vec(coefficients)[j * step + s]) *
                                                          vec(inverse_scales)[j * step + s]);
}

// Of several numbers the one whose root is least is found by this (to 1e-2, of which roots leave a thousandth), so that
// only one root is taken.
double rough_log(double value) {
    int exponent;
    const double part = 2 * std::frexp(value, &exponent) - 1;  // in [0, 1)
    return exponent - 1 + part * (1.3465 - 0.3465 * part);
}

}  // namespace

// Per lane, the largest coefficient of this degree among unknowns of an offset, if it is larger than what is there.
void Fleet::largest_terms(int offset, int degree, double* largest) const {
    largest_of(polynomial_.degree(degree), inverse_scales_.data(), march_.of_offset_[offset], largest, width_ / kWidth);
}

double Fleet::largest_term(int l, int offset, int degree) const {
    double largest = 0;
    for (int j : march_.of_offset_[offset])
        largest = std::max(largest, std::abs(polynomial_.degree(degree)[at(j, l)]) * inverse_scales_[at(j, l)]);
    return largest;
}

double Fleet::fastest(int l, int degree) const {
    double largest = 0;
    for (int offset = 2; offset <= orders_; ++offset) largest = std::max(largest, largest_term(l, offset, degree));
    return largest;
}

// Steps for the lanes that are ready, whose series have just been found.
void Fleet::choose_steps() {
    const int last = march_.control_.order - 1;
    AlignedDoubles speed(width_, 0.0);
    for (int offset = 2; offset <= orders_; ++offset) largest_terms(offset, 1, speed.data());
    std::vector<AlignedDoubles> terms;  // per offset from 1 on, of the last degree and the one before
    for (int offset = 1; offset <= orders_; ++offset)
        for (int back = 0; back < 2; ++back) {
            terms.emplace_back(width_, 0.0);
            largest_terms(offset, last + offset - back, terms.back().data());
        }
    const auto longest = [&](int l, int derivative, double allowed) {
        double least = INFINITY, power = 0, quotient = INFINITY;
        for (int back = 0; back < 2; ++back)
            for (int offset = derivative + 1; offset <= orders_; ++offset) {
                const int degree = last + offset - back;
                const double largest = terms[2 * (offset - 1) + back][l] * (derivative == 1 ? degree : 1);
                const double ratio = allowed / largest;
                if (!(largest > 0) || std::isinf(ratio)) continue;
                const double log = ratio > 0 ? rough_log(ratio) / (degree - derivative) : -INFINITY;
                if (log < least) least = log, quotient = ratio, power = 1.0 / (degree - derivative);
            }
        return least < INFINITY ? std::pow(quotient, power) : INFINITY;
    };
    const double tolerance = march_.control_.tolerance;
    for (int l = 0; l < width_; ++l) {
        Lane& lane = lanes_[l];
        if (lane.phase != Phase::ready) continue;
        lane.peak_speed = std::max(lane.peak_speed, speed[l]);
        lane.speed = lane.peak_speed;
        lane.h = longest(l, 0, tolerance);
        if (!std::isfinite(lane.h)) continue;
        double power = 1;
        if (lane.peak_speed * lane.h < kSlow)
            for (int n = 2; n < degrees_; ++n) lane.speed = std::max(lane.speed, n * fastest(l, n) * (power *= lane.h));
        lane.h = march_.control_.safety * std::min(lane.h, longest(l, 1, tolerance * lane.speed));
    }
    keep_states();
    for (int l = 0; l < width_; ++l)
        if (lanes_[l].phase == Phase::ready) begin_step(l);
    inspect_steps();
    for (int l = 0; l < width_; ++l)
        if (lanes_[l].phase == Phase::ready) launch(l);
}

// The state from which the step goes, and where the step may lead.
void Fleet::begin_step(int l) {
    Lane& lane = lanes_[l];
    lane.t_before = lane.t;
    lane.t_low_before = lane.t_low;
    const bool roundings = has_roundings(l);
    // Near singular poses a march takes steps of a lower order.
    const bool careful = lane.leverage > kLowOrder && march_.control_.careful_order < march_.control_.order &&
                         !is_clear_of_pose(time_to_pose(lane.last_step, lane.earlier_leverage, lane.leverage), lane.h,
                                           fastest(l, 1));
    lane.former_leverage = lane.earlier_leverage;
    lane.earlier_leverage = lane.leverage;
    lane.left = (lane.t_end - lane.t) - lane.t_low;
    lane.h = std::min(lane.h, lane.longest);
    if (roundings || careful || std::isnan(lane.h))
        leave(l);
    else
        returns(l);
}

void Fleet::launch(int l) {
    Lane& lane = lanes_[l];
    // A last step that would leave only a sliver is taken whole.
    if (lane.h * (1 + 1e-10) >= std::abs(lane.left)) lane.h = std::abs(lane.left);
    lane.starting = false;
    lane.held = lane.h == lane.longest;
    lane.longest = INFINITY;
    lane.off = INFINITY;
    lane.redone = lane.retreated = 0;
    const bool look = outcomes_[lane.motion].statistics.steps % kLookEvery == 0 || lane.h > kLonger * lane.last_step;
    lane.phase = look ? Phase::looking : Phase::landing;
}

// Whether the last terms are nothing but roundings near a singular pose (see March::largest_roundings).
bool Fleet::has_roundings(int l) const {
    const Lane& lane = lanes_[l];
    const int last = march_.control_.order - 1;
    if (lane.leverage <= kOrdinary || last < kFewest + 1 || orders_ < 2) return false;
    const auto distance = [&](int offset, int stage) {
        return largest_term(l, offset, stage + offset - 1) / largest_term(l, offset, stage + offset);
    };
    const double ratio = distance(0, last);
    if (!(ratio > 0)) return false;
    const auto agrees = [&](double other) { return std::abs(other - ratio) <= kSamePole * ratio; };
    if (!agrees(distance(0, last - 1)) || !agrees(distance(orders_, last)) || !agrees(distance(orders_, last - 1)))
        return false;
    const int degree = last + orders_;
    return largest_term(l, orders_, degree) * std::pow(ratio, degree) < kRoundings * lane.leverage &&
           tells_pose_at(ratio, lane.last_step, lane.earlier_leverage, lane.leverage);
}

// Formulas may hide what they do from their series: steps end before that.
void Fleet::inspect_steps() {
    const bool watched = std::any_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.watched; });
    if (!watched) return;
    responses_.assign(std::size_t(size_) * width_, {});
    for (int l = 0; l < width_; ++l) {
        const Lane& lane = lanes_[l];
        const bool ready = lane.phase == Phase::ready;
        const double h = ready ? std::min(lane.h, std::abs(lane.left)) : 0.0;
        inspected_[l] = {h, lane.left < 0 ? -1 : 1, march_.control_.tolerance * (lane.speed * h < kSlow ? kSlow : 1.0)};
    }
    const LaneResponse response = [this](int lane, int row, double h) { return this->response(lane, row, h); };
    for (Block& block : blocks_)
        if (block.watched) inspect_motions(block, inspected_, march_.control_.order, response);
    for (int l = 0; l < width_; ++l)
        if (lanes_[l].phase == Phase::ready) lanes_[l].h = std::min(lanes_[l].h, inspected_[l].h);
}

double Fleet::response(int l, int row, double h) {
    if (row >= size_) return 0;  // of something that cannot move
    Responses& found = responses_[at(row, l)];
    if (!found.known) {
        found.known = true;
        std::vector<double> change(size_, 0.0);
        change[row] = 1;
        lu_->solve(change.data(), l);
        for (int j = 0; j < size_; ++j) {
            if (march_.d_[j] == 0 || march_.d_[j] < march_.c_[row]) continue;
            double& largest = found.largest[march_.d_[j] - march_.c_[row]];
            largest = std::max(largest, std::abs(change[j]) * inverse_scales_[at(j, l)]);
        }
    }
    return moved_by(found.largest, orders_, h, lanes_[l].speed);
}

}  // namespace mechsim

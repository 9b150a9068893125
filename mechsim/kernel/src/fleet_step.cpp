// How long the next step of each lane is. What decides is said in step.cpp.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"
#include "lane_math.hpp"
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

MECHSIM_CLONES void take_multiples(const double* numbers, double factor, double* found, int step) {
    for (int s = 0; s < step; ++s) vec(found)[s] = factor * vec(numbers)[s];
}

MECHSIM_CLONES void take_logarithms(double* numbers, int step) {
    const Lanes none = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) vec(numbers)[s] = vec(numbers)[s] > none ? log2_of(vec(numbers)[s]) : none - INFINITY;
}

// The step at which a term reaches what is allowed, by logarithms, where it is the shortest so far.
MECHSIM_CLONES void shorten_to(const double* allowed, const double* term, double factor, int power, double* least, int step) {
    const double inverse = 1.0 / power, log_factor = std::log2(factor);
    for (int s = 0; s < step; ++s) {
        const Lanes found = (vec(allowed)[s] - vec(term)[s] - log_factor) * inverse;
        vec(least)[s] = found < vec(least)[s] ? found : vec(least)[s];
    }
}

MECHSIM_CLONES void take_powers(const double* exponents, double* numbers, int step) {
    for (int s = 0; s < step; ++s) vec(numbers)[s] = exp2_of(vec(exponents)[s]);
}

// The speeds by which steps are judged, and steps as long as positions allow, of the lanes of the mask; whether some are slow.
MECHSIM_CLONES bool take_speeds(const double* now, const double* longest, const long long* mask, double* peak,
                                double* speed, double* h, long long* slow, int step) {
    Mask some = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Mask meant = reinterpret_cast<const Mask*>(mask)[s];
        vec(peak)[s] = meant ? larger(vec(peak)[s], vec(now)[s]) : vec(peak)[s];
        vec(speed)[s] = meant ? vec(peak)[s] : vec(speed)[s];
        vec(h)[s] = meant ? vec(longest)[s] : vec(h)[s];
        some |= reinterpret_cast<Mask*>(slow)[s] = meant & Mask(vec(peak)[s] * vec(longest)[s] < kSlow);
    }
    return (some[0] | some[1] | some[2] | some[3]) != 0;
}

// ... and as long as velocities allow, and safe.
MECHSIM_CLONES void limit_steps(const double* longest, double safety, const long long* mask, double* h, int step) {
    const Lanes none = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Mask meant = reinterpret_cast<const Mask*>(mask)[s] & Mask(absolute(vec(h)[s]) < none + INFINITY);
        const Lanes shorter = vec(longest)[s] < vec(h)[s] ? vec(longest)[s] : vec(h)[s];
        vec(h)[s] = meant ? safety * shorter : vec(h)[s];
    }
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

// The step over which the last terms stay below what is allowed, for derivative 0 or 1 of the unknowns.
void Fleet::longest_steps(int derivative, const double* allowed, double* h) {
    const int step = width_ / kWidth;
    std::fill(least_.begin(), least_.end(), INFINITY);
    for (const LastTerm& term : last_terms_)
        if (term.offset > derivative)
            shorten_to(allowed, term.logarithms.data(), derivative == 1 ? term.degree : 1.0, term.degree - derivative,
                       least_.data(), step);
    take_powers(least_.data(), h, step);
}

// What starts slowly is judged by the speed it soon has.
void Fleet::note_speed(int l, double h) {
    double power = 1;
    for (int n = 2; n < degrees_; ++n) rows_.speed[l] = std::max(rows_.speed[l], n * fastest(l, n) * (power *= h));
}

// Steps for the lanes that are ready, whose series have just been found.
void Fleet::choose_steps() {
    const int step = width_ / kWidth;
    const double tolerance = march_.control_.tolerance, safety = march_.control_.safety;
    double* speed = sums_.data();
    std::fill_n(speed, width_, 0.0);
    for (int offset = 2; offset <= orders_; ++offset) largest_terms(offset, 1, speed);
    for (LastTerm& term : last_terms_) {
        std::fill(term.logarithms.begin(), term.logarithms.end(), 0.0);
        largest_terms(term.offset, term.degree, term.logarithms.data());
        take_logarithms(term.logarithms.data(), step);
    }
    std::fill(allowed_.begin(), allowed_.end(), std::log2(tolerance));
    longest_steps(0, allowed_.data(), longest_.data());
    const bool some_slow = take_speeds(speed, longest_.data(), ready_.data(), rows_.peak_speed.data(), rows_.speed.data(),
                                       rows_.h.data(), slow_.data(), step);
    for (int l = 0; l < width_ && some_slow; ++l)
        if (slow_[l]) note_speed(l, longest_[l]);
    take_multiples(rows_.speed.data(), tolerance, allowed_.data(), step);
    take_logarithms(allowed_.data(), step);
    longest_steps(1, allowed_.data(), longest_.data());
    keep_states();
    limit_steps(longest_.data(), safety, ready_.data(), rows_.h.data(), step);
    begin_all();
    inspect_steps();
    launch_all();
}

void Fleet::begin_all() {
    if (pivots_ != reference_.get())
        others_than_plain_ = ready_;
    else if (!begin_steps(step_rows_, ready_.data(), special_.data(), others_than_plain_.data(), width_ / kWidth))
        return;
    for (int l = 0; l < width_; ++l)
        if (others_than_plain_[l]) begin_step(l);
}

void Fleet::launch_all() {
    if (!launch_steps(step_rows_, special_.data(), others_than_plain_.data(), width_ / kWidth)) return;
    for (int l = 0; l < width_; ++l)
        if (others_than_plain_[l]) launch(l);
}

// The state from which the step goes, and where the step may lead.
void Fleet::begin_step(int l) {
    Lane& lane = lanes_[l];
    rows_.t_before[l] = rows_.t[l];
    rows_.t_low_before[l] = rows_.t_low[l];
    const bool roundings = rows_.leverage[l] > kOrdinary && has_roundings(l);
    // Near singular poses a march takes steps of a lower order.
    const bool careful = rows_.leverage[l] > kLowOrder && march_.control_.careful_order < march_.control_.order &&
                         !is_clear_of_pose(time_to_pose(rows_.last_step[l], rows_.earlier_leverage[l], rows_.leverage[l]),
                                           rows_.h[l], fastest(l, 1));
    rows_.former_leverage[l] = rows_.earlier_leverage[l];
    rows_.earlier_leverage[l] = rows_.leverage[l];
    rows_.left[l] = (rows_.end[l] - rows_.t[l]) - rows_.t_low[l];
    rows_.h[l] = std::min(rows_.h[l], lane.longest);
    if (roundings || careful || std::isnan(rows_.h[l]))
        leave(l);
    else if (pivots_ != reference_.get())
        returns(l);
}

void Fleet::launch(int l) {
    Lane& lane = lanes_[l];
    double& h = rows_.h[l];
    if (h * (1 + kSliver) >= std::abs(rows_.left[l])) h = std::abs(rows_.left[l]);
    lane.starting = false;
    lane.held = h == lane.longest;
    lane.longest = INFINITY;
    rows_.off[l] = INFINITY;
    lane.redone = lane.retreated = 0;
    const bool look = taken_[l] % kLookEvery == 0 || h > kLonger * rows_.last_step[l];
    set_phase(l, look ? Phase::looking : Phase::landing);
    special_[l] = lane.held || lane.retreats > 0 ? -1 : 0;
}

// Whether the last terms are nothing but roundings near a singular pose (see March::largest_roundings).
bool Fleet::has_roundings(int l) const {
    const int last = march_.control_.order - 1;
    const double leverage = rows_.leverage[l];
    if (last < kFewest + 1 || orders_ < 2) return false;
    const auto distance = [&](int offset, int stage) {
        return largest_term(l, offset, stage + offset - 1) / largest_term(l, offset, stage + offset);
    };
    const double ratio = distance(0, last);
    if (!(ratio > 0)) return false;
    const auto agrees = [&](double other) { return std::abs(other - ratio) <= kSamePole * ratio; };
    if (!agrees(distance(0, last - 1)) || !agrees(distance(orders_, last)) || !agrees(distance(orders_, last - 1)))
        return false;
    const int degree = last + orders_;
    return largest_term(l, orders_, degree) * std::pow(ratio, degree) < kRoundings * leverage &&
           tells_pose_at(ratio, rows_.last_step[l], rows_.earlier_leverage[l], leverage);
}

// Formulas may hide what they do from their series: steps end before that.
void Fleet::inspect_steps() {
    const bool watched = std::any_of(blocks_.begin(), blocks_.end(), [](const Block& block) { return block.watched; });
    if (!watched) return;
    responses_.assign(std::size_t(size_) * width_, {});
    for (int l = 0; l < width_; ++l) {
        const bool ready = phase(l) == Phase::ready;
        const double h = ready ? std::min(rows_.h[l], std::abs(rows_.left[l])) : 0.0;
        inspected_[l] = {h, rows_.left[l] < 0 ? -1 : 1,
                         march_.control_.tolerance * (rows_.speed[l] * h < kSlow ? kSlow : 1.0)};
    }
    const LaneResponse response = [this](int lane, int row, double h) { return this->response(lane, row, h); };
    for (Block& block : blocks_)
        if (block.watched) inspect_motions(block, inspected_, march_.control_.order, response);
    for (int l = 0; l < width_; ++l)
        if (phase(l) == Phase::ready) rows_.h[l] = std::min(rows_.h[l], inspected_[l].h);
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
    return moved_by(found.largest, orders_, h, rows_.speed[l]);
}

}  // namespace mechsim

// The stages of all lanes: prediction, projection, expansion. What each does is said in march.cpp.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"
#include "lane_loops.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

constexpr double kRefined = 1e2;  // pivots that let values grow further are trusted after a step of refinement only
constexpr double kGrown = 1e5;    // and beyond this, no more: that leaves 10 digits, which refinement doubles

bool any(const std::vector<char>& lanes) { return std::find(lanes.begin(), lanes.end(), 1) != lanes.end(); }

}  // namespace

const std::vector<double>& Fleet::equation_factors(int stage) const { return march_.equation_factors_[stage + orders_]; }
const std::vector<double>& Fleet::unknown_factors(int stage) const { return march_.unknown_factors_[stage + orders_]; }

void Fleet::set_mask(const std::vector<char>& wanted) {
    for (int l = 0; l < width_; ++l) mask_[l] = wanted[l] ? -1 : 0;
}

// Put every motion that is under way where its polynomials say it is, and meet the equations there.
void Fleet::arrive() {
    for (int l = 0; l < width_; ++l) moving_[l] = lanes_[l].phase == Phase::looking || lanes_[l].phase == Phase::landing;
    set_times();
    predict();
    prepare();
    note_leverage(moving_);
}

void Fleet::set_times() {
    for (int l = 0; l < width_; ++l) {
        Lane& lane = lanes_[l];
        if (!moving_[l]) continue;
        const double signed_h = lane.left < 0 ? -lane.h : lane.h;
        if (lane.phase == Phase::looking) {
            steps_[l] = kInside * signed_h;
            times_[l] = lane.t_before + steps_[l];
            continue;
        }
        lane.t = lane.t_before;
        lane.t_low = lane.t_low_before;
        steps_[l] = signed_h;
        add_exactly(lane.t, lane.t_low, signed_h);
        if (!lane.starting && lane.h == std::abs(lane.left)) lane.t = lane.t_end, lane.t_low = 0;
        times_[l] = lane.t;
    }
    for (Block& block : blocks_)
        for (std::size_t i = 0; i < block.inputs.size(); ++i)
            if (block.inputs[i].time) std::copy(times_.begin(), times_.end(), block.row(int(i), 0));
}

void Fleet::predict() {
    set_mask(moving_);
    blend(low_before_.data(), low_.data(), mask_.data(), low_.size() / width_, width_ / kWidth);
    for (int m = 0; m <= orders_; ++m)
        for (int offset = m; offset <= orders_; ++offset) {
            double* low = m < offset ? low_.data() + at(m * size_, 0) : nullptr;
            for (int j : march_.of_offset_[offset]) {
                sum_series(polynomial_, march_.binomials_[m], m, degrees_, at(j, 0), width_ / kWidth, steps_.data(), sums_.data());
                add_lanes(sums_.data(), polynomial_.degree(m) + at(j, 0), mask_.data(), low ? low + at(j, 0) : nullptr,
                          x_.degree(m) + at(j, 0), width_ / kWidth);
            }
        }
}

// The matrices of the lanes that want new ones. Those of the others are the same as before, and so are their factors.
void Fleet::factor(const std::vector<char>& wanted) {
    std::copy(matrix_constant_.begin(), matrix_constant_.end(), fresh_.begin());
    for (Block& block : matrix_blocks_) evaluate_matrix(block, x_, times_.data(), fresh_.data());
    set_mask(wanted);
    blend(fresh_.data(), matrix_.data(), mask_.data(), march_.lu_.rows().size(), width_ / kWidth);
    for (int l = 0; l < width_; ++l)
        if (wanted[l] && !lanes_[l].probed) make_probe(l);
    lu_->factor(matrix_.data());
    for (int l = 0; l < width_; ++l) {
        if (!wanted[l]) continue;
        ++outcomes_[lanes_[l].motion].statistics.factorizations;
        lanes_[l].stale = 0;
        if (!(lu_->growth()[l] < kGrown)) lanes_[l].leaves = true;
    }
    refining_ = false;
    for (int l = 0; l < width_; ++l) refining_ |= refined_[l] = lu_->growth()[l] > kRefined;
}

// Solve in place; a lane whose pivots are poor, with a step of refinement.
void Fleet::solve(double* b) {
    if (!refining_) return lu_->solve(b);
    const std::size_t rows = size_;
    std::copy_n(b, rows * width_, right_side_.begin());
    lu_->solve(b);
    subtract_product(march_.lu_, matrix_.data(), b, right_side_.data(), width_ / kWidth);
    lu_->solve(right_side_.data());
    for (int l = 0; l < width_; ++l)
        for (std::size_t i = 0; i < rows && refined_[l]; ++i) b[i * width_ + l] += right_side_[i * width_ + l];
}

// The rows of the lanes that are active.
void Fleet::residual_of(int stage) {
    for (int l = 0; l < width_; ++l)
        if (active_[l]) ++outcomes_[lanes_[l].motion].statistics.evaluations;
    std::fill(residual_.begin(), residual_.end(), 0.0);
    set_mask(active_);
    for (Block& block : blocks_) evaluate_stage(block, x_, stage, residual_.data(), mask());
}

void Fleet::solve_stage(int stage) {
    residual_of(stage);
    const int step = width_ / kWidth;
    for (int i = 0; i < size_; ++i)
        if (stage + march_.c_[i] < 0) std::fill_n(residual_.data() + at(i, 0), width_, 0.0);
    multiply_rows(residual_.data(), equation_factors(stage).data(), size_, step);
    solve(residual_.data());
    std::fill(change_.begin(), change_.end(), 0.0);
    std::fill(extent_.begin(), extent_.end(), 0.0);
    std::fill(total_.begin(), total_.end(), 0.0);
    for (int j = 0; j < size_; ++j) {
        const int degree = stage + march_.d_[j];
        if (degree < 0) continue;
        double* low = stage < 0 ? low_.data() + at(degree * size_ + j, 0) : nullptr;
        correct_unknown({residual_.data() + at(j, 0), inverse_scales_.data() + at(j, 0), unknown_factors(stage)[j],
                         x_.degree(degree) + at(j, 0), low, change_.data() + at(degree, 0),
                         extent_.data() + at(degree, 0), total_.data()},
                        mask_.data(), step);
    }
    for (int l = 0; l < width_; ++l) {
        if (!active_[l]) continue;
        Lane& lane = lanes_[l];
        double relative = 0;
        for (int degree = 0; degree <= orders_; ++degree) {
            const double change = change_[at(degree, l)], extent = extent_[at(degree, l)];
            double& reference = compared_[at(degree, l)];
            if (degree == 0 && stage < 0) reference = 1.0;
            reference = std::max(reference, stage < 0 ? std::max(extent, change) : extent);
            if (!(change > 0)) continue;
            const double part = change / (reference > 0 ? reference : 1.0);
            relative = std::max(relative, part);
            if (stage < 0 && degree <= march_.matrix_order_) lane.stale = std::max(lane.stale, part);
        }
        moved_[l] = std::isfinite(total_[l]) ? relative : NAN;
        if (stage == -orders_) {
            lane.distance = std::max(lane.distance, change_[at(0, l)]);
            lane.rounding = kRounding * extent_[at(0, l)];
        }
        if (stage == 1 - orders_) lane.turned = std::max(lane.turned, change_[at(1, l)]);
    }
}

// Per lane, whether the correction of stage 0 just made is small beside the forces in the rows.
std::vector<char> Fleet::balanced() {
    std::fill(right_side_.begin(), right_side_.end(), 0.0);
    AlignedDoubles& force = correction_;
    std::fill(force.begin(), force.end(), 0.0);
    for (const Block& block : blocks_) add_sizes(block, force.data());
    subtract_product(march_.lu_, matrix_.data(), residual_.data(), right_side_.data(), width_ / kWidth);
    std::vector<char> found(width_);
    for (int l = 0; l < width_; ++l) {
        double largest_correction = 0, largest_force = 0;
        for (int i = 0; i < size_; ++i) {
            if (march_.c_[i] != 0) continue;
            largest_correction = std::max(largest_correction, std::abs(right_side_[at(i, l)]));
            largest_force = std::max(largest_force, force[at(i, l)]);
        }
        found[l] = largest_correction <= kSettled * largest_force;
    }
    return found;
}

// Newton at a stage k <= 0 for every lane until what is left is less than the tolerance needs (see March::settle). A lane
// that is settled waits, and its series with it.
void Fleet::settle(int stage) {
    for (int l = 0; l < width_; ++l) active_[l] = moving_[l] && lanes_[l].status == Status::reached && !lanes_[l].leaves;
    const auto& c = march_.c_;
    if (std::none_of(c.begin(), c.end(), [&](int offset) { return stage + offset >= 0; })) return residual_of(stage);
    std::fill(previous_.begin(), previous_.end(), INFINITY);
    std::fill(compared_.begin(), compared_.end(), 0.0);
    std::fill(finished_.begin(), finished_.end(), 0);
    for (int iteration = 0; any(active_); ++iteration) {
        if (stage == 0) std::fill(compared_.begin(), compared_.end(), 0.0);
        solve_stage(stage);
        for (int l = 0; l < width_; ++l)
            if (active_[l]) judge_correction(stage, iteration, l);
        if (stage == 0 && iteration > 0) judge_balance();
        for (int l = 0; l < width_ && iteration >= kMostIterations; ++l)
            if (active_[l]) fail(stage, l);
        if (stage == 0) factor_anew();
        previous_ = moved_;
    }
    if (!any(finished_)) return;
    set_mask(finished_);
    for (Block& block : blocks_) finish_stage(block, x_, stage, mask());
}

void Fleet::fail(int stage, int l) {
    lanes_[l].status = stage < 0 ? Status::not_projected : Status::not_finite;
    active_[l] = 0;
}

// How much smaller than the correction just made the next one will be (see March::contraction).
double Fleet::contraction(int stage, int l) const {
    const double moved = moved_[l];
    if (std::isfinite(previous_[l])) return std::min(1.0, moved / previous_[l]);
    const double stale = lanes_[l].stale, changed = stage < 0 || !march_.affine_ ? std::max(stale, moved) : stale;
    return std::min(1.0, kCurvature * std::max(1.0, lanes_[l].earlier_leverage) * (changed + kEpsilon));
}

void Fleet::judge_correction(int stage, int iteration, int l) {
    Lane& lane = lanes_[l];
    const double moved = moved_[l];
    if (!std::isfinite(moved)) return fail(stage, l);
    if (stage == 0 && iteration == 0) note_mismatch(lane, l);
    if (moved <= kNegligible) return void(active_[l] = 0);
    const double settled = std::max(march_.control_.settled, kNegligible) + lane.rounding;
    const bool careful = lane.earlier_leverage > kCareful;
    const bool enough = moved * contraction(stage, l) <= settled && (!careful || moved <= kSettled + lane.rounding);
    const bool rounding = iteration > 2 && moved > 0.5 * previous_[l] && moved < 1e-9;  // as close as it allows
    if (enough || rounding) finish(l);
}

void Fleet::finish(int l) {
    active_[l] = 0;
    finished_[l] = 1;
}

// Lanes whose corrections do not become smaller, but are small beside the forces, are settled too.
void Fleet::judge_balance() {
    const auto stays = [&](int l) { return active_[l] && moved_[l] > 0.1 * previous_[l]; };
    bool some = false;
    for (int l = 0; l < width_; ++l) some = some || stays(l);
    if (!some) return;
    const std::vector<char> rest = balanced();
    for (int l = 0; l < width_; ++l)
        if (stays(l) && rest[l]) finish(l);
}

// New matrices for stage 0 where those at hand are not those of the rows.
void Fleet::factor_anew() {
    for (int l = 0; l < width_; ++l) {
        const bool careful = lanes_[l].earlier_leverage > kCareful;
        wanted_[l] = active_[l] && (careful || !march_.affine_ || contraction(0, l) > kConverging);
    }
    if (!any(wanted_)) return;
    factor(wanted_);
    for (int l = 0; l < width_; ++l) active_[l] = active_[l] && !lanes_[l].leaves;
}

void Fleet::note_mismatch(Lane& lane, int l) {
    lane.rough = 0;
    for (int offset = 1; offset <= orders_; ++offset) {
        const double change = change_[at(offset, l)], extent = extent_[at(offset, l)];
        const bool seen = change > kSettled * extent;
        lane.mismatch[offset] = seen ? change : 0.0;
        if (seen) lane.rough = std::max(lane.rough, change / extent);
    }
}

void Fleet::prepare() {
    for (int l = 0; l < width_; ++l) {
        if (!moving_[l]) continue;
        lanes_[l].status = Status::reached;
        lanes_[l].distance = lanes_[l].turned = lanes_[l].rounding = 0;
        lanes_[l].leaves = false;
    }
    factor(moving_);
    for (int stage = -orders_; stage < 0; ++stage) settle(stage);
    for (int l = 0; l < width_; ++l) {
        const Lane& lane = lanes_[l];
        const double leverage = std::max(1.0, lane.earlier_leverage);
        const bool stale = lane.stale * leverage > kStale * march_.control_.tolerance + lane.rounding;
        const bool moved = leverage > kCareful && lane.distance > kRefactor + lane.rounding;
        wanted_[l] = moving_[l] && lane.status == Status::reached && (stale || moved);
    }
    if (any(wanted_)) factor(wanted_);
    settle(0);
}

void Fleet::expand() {
    for (int stage = 1; stage < march_.control_.order; ++stage) {
        series_.predict(stage, equation_factors(stage), residual_.data());
        solve(residual_.data());
        series_.correct(stage, unknown_factors(stage), march_.d_, residual_.data(), x_);
    }
    std::vector<char> ready(width_);
    for (int l = 0; l < width_; ++l) ready[l] = lanes_[l].phase == Phase::ready;
    if (std::find(ready.begin(), ready.end(), 0) == ready.end()) return std::swap(x_, polynomial_);
    set_mask(ready);
    blend(x_.values.data(), polynomial_.values.data(), mask_.data(), x_.values.size() / width_, width_ / kWidth);
}

// The states from which the next steps go.
void Fleet::keep_states() {
    for (int l = 0; l < width_; ++l) wanted_[l] = lanes_[l].phase == Phase::ready;
    set_mask(wanted_);
    blend(low_.data(), low_before_.data(), mask_.data(), low_.size() / width_, width_ / kWidth);
    blend(leverage_.data(), leverage_before_.data(), mask_.data(), size_, width_ / kWidth);
}

}  // namespace mechsim

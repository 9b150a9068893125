// The stages of all lanes: prediction, projection, expansion. What each does is said in march.cpp.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

constexpr double kRefined = 1e2;  // pivots that let values grow further are trusted after a step of refinement only
constexpr double kGrown = 1e5;    // and beyond this, no more: that leaves 10 digits, which refinement doubles

const Mask* vectors(const std::vector<long long, AlignedAllocator<long long>>& lanes) {
    return reinterpret_cast<const Mask*>(lanes.data());
}

}  // namespace

const std::vector<double>& Fleet::equation_factors(int stage) const { return march_.equation_factors_[stage + orders_]; }
const std::vector<double>& Fleet::unknown_factors(int stage) const { return march_.unknown_factors_[stage + orders_]; }

// Put every motion that is under way where its polynomials say it is, and meet the equations there.
void Fleet::arrive() {
    find_moving(phases_.data(), moving_.data(), width_ / kWidth);
    set_times();
    predict();
    prepare();
    note_leverage(moving_);
}

void Fleet::set_times() {
    take_times(step_rows_, steps_.data(), times_.data(), width_ / kWidth);
    for (Block& block : blocks_)
        for (std::size_t i = 0; i < block.inputs.size(); ++i)
            if (block.inputs[i].time) std::copy(times_.begin(), times_.end(), block.row(int(i), 0));
}

void Fleet::predict() {
    if (all(moving_.data(), width_))
        low_ = low_before_;
    else
        blend(low_before_.data(), low_.data(), moving_.data(), low_.size() / width_, width_ / kWidth);
    const int step = width_ / kWidth;
    for (int j = 0; j < size_; ++j) {
        const int offset = march_.d_[j];
        sum_series(polynomial_, offset, march_.control_.order + offset, at(j, 0), step, steps_.data(), advances_.data());
        for (int m = 0; m <= offset; ++m)
            add_lanes(advances_.data() + at(m, 0), polynomial_.degree(m) + at(j, 0), moving_.data(),
                      m < offset ? low_.data() + at(m * size_ + j, 0) : nullptr, x_.degree(m) + at(j, 0), step);
    }
}

// The matrices of the lanes that want new ones. Those of the others are the same as before, and so are their factors.
void Fleet::factor(const Masks& wanted) {
    std::copy(matrix_constant_.begin(), matrix_constant_.end(), fresh_.begin());
    for (Block& block : matrix_blocks_) evaluate_matrix(block, x_, times_.data(), fresh_.data());
    if (all(wanted.data(), width_))
        std::swap(fresh_, matrix_);
    else
        blend(fresh_.data(), matrix_.data(), wanted.data(), march_.lu_.rows().size(), width_ / kWidth);
    const bool some_new = any(unprobed_.data(), width_);
    for (int l = 0; l < width_ && some_new; ++l)
        if (wanted[l] & unprobed_[l]) make_probe(l);
    lu_->factor(matrix_.data());
    const double* growth = lu_->growth().data();
    count_lanes(wanted.data(), factorizations_.data(), width_ / kWidth);
    clear_lanes(rows_.stale.data(), wanted.data(), width_ / kWidth);
    refining_ = find_above(growth, kRefined, refined_.data(), width_ / kWidth);
    for (int l = 0; l < width_ && refining_; ++l)
        if (wanted[l] && !(growth[l] < kGrown)) lanes_[l].leaves = true, well_[l] = 0;
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
    count_lanes(active_.data(), evaluations_.data(), width_ / kWidth);
    std::fill(residual_.begin(), residual_.end(), 0.0);
    for (Block& block : blocks_) evaluate_stage(block, x_, stage, residual_.data(), vectors(active_));
}

void Fleet::solve_stage(int stage) {
    residual_of(stage);
    scale_rows(residual_.data(), equation_factors(stage), march_.c_, stage, width_ / kWidth);
    solve(residual_.data());
}

// The unknowns that a stage corrects, by what its solve has found.
void Fleet::list_corrections(int stage) {
    corrections_.clear();
    for (int j = 0; j < size_; ++j) {
        const int degree = stage + march_.d_[j];
        if (degree < 0) continue;
        double* low = stage < 0 ? low_.data() + at(degree * size_ + j, 0) : nullptr;
        corrections_.push_back({degree, unknown_factors(stage)[j], residual_.data() + at(j, 0),
                                inverse_scales_.data() + at(j, 0), x_.degree(degree) + at(j, 0), low});
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
    active_ = well_;
    const auto& c = march_.c_;
    if (std::none_of(c.begin(), c.end(), [&](int offset) { return stage + offset >= 0; })) return residual_of(stage);
    std::fill(rows_.previous.begin(), rows_.previous.end(), INFINITY);
    std::fill(compared_.begin(), compared_.end(), 0.0);
    std::fill(finished_.begin(), finished_.end(), 0);
    list_corrections(stage);
    for (int iteration = 0; any(active_.data(), width_); ++iteration) {
        if (stage == 0) std::fill(compared_.begin(), compared_.end(), 0.0);
        solve_stage(stage);
        if (!correct(stage, iteration)) break;
        if (stage == 0 && iteration > 0) judge_balance();
        for (int l = 0; l < width_ && iteration >= kMostIterations; ++l)
            if (active_[l]) fail(stage, l);
        if (stage == 0) factor_anew();
        rows_.previous = rows_.moved;
    }
    if (!any(finished_.data(), width_)) return;
    for (Block& block : blocks_) finish_stage(block, x_, stage, vectors(finished_));
}

void Fleet::fail(int stage, int l) {
    lanes_[l].status = stage < 0 ? Status::not_projected : Status::not_finite;
    active_[l] = well_[l] = 0;
}

// Correct by what was found, and see who is settled by that and who has failed; whether some are not settled.
bool Fleet::correct(int stage, int iteration) {
    const Judged judged{compared_.data(),       rows_.moved.data(),     rows_.previous.data(),
                        rows_.rate.data(),      rows_.stale.data(),     rows_.distance.data(),
                        rows_.turned.data(),    rows_.rounding.data(),  rows_.earlier_leverage.data(),
                        rows_.mismatch.data(),  rows_.rough.data(),     active_.data(),
                        finished_.data()};
    const double settled = std::max(march_.control_.settled, kNegligible);
    const Newton newton{stage, iteration, orders_, stage < 0 ? march_.matrix_order_ : -1, stage < 0 || !march_.affine_, settled};
    const Verdict verdict = correct_unknowns(corrections_, judged, newton, width_ / kWidth);
    if (!verdict.some_lost) return verdict.some_active;
    for (int l = 0; l < width_; ++l)
        if (active_[l] && std::isnan(rows_.moved[l])) fail(stage, l);
    return any(active_.data(), width_);
}

// Lanes whose corrections do not become smaller, but are small beside the forces, are settled too.
void Fleet::judge_balance() {
    const auto stays = [&](int l) { return active_[l] && rows_.moved[l] > 0.1 * rows_.previous[l]; };
    bool some = false;
    for (int l = 0; l < width_; ++l) some = some || stays(l);
    if (!some) return;
    const std::vector<char> rest = balanced();
    for (int l = 0; l < width_; ++l)
        if (stays(l) && rest[l]) active_[l] = 0, finished_[l] = -1;
}

// New matrices for stage 0 where those at hand are not those of the rows.
void Fleet::factor_anew() {
    for (int l = 0; l < width_; ++l) {
        const bool careful = rows_.earlier_leverage[l] > kCareful;
        wanted_[l] = active_[l] && (careful || !march_.affine_ || rows_.rate[l] > kConverging) ? -1 : 0;
    }
    if (!any(wanted_.data(), width_)) return;
    factor(wanted_);
    for (int l = 0; l < width_; ++l) active_[l] &= well_[l];
}

void Fleet::prepare() {
    well_ = moving_;
    for (AlignedDoubles* row : {&rows_.distance, &rows_.turned, &rows_.rounding})
        clear_lanes(row->data(), moving_.data(), width_ / kWidth);
    factor(moving_);
    for (int stage = -orders_; stage < 0; ++stage) settle(stage);
    find_stale({rows_.stale.data(), rows_.distance.data(), rows_.rounding.data(), rows_.earlier_leverage.data()},
               well_.data(), march_.control_.tolerance, wanted_.data(), width_ / kWidth);
    if (any(wanted_.data(), width_)) factor(wanted_);
    settle(0);
}

void Fleet::expand() {
    for (int stage = 1; stage < march_.control_.order; ++stage) {
        series_.predict(stage, equation_factors(stage), residual_.data());
        solve(residual_.data());
        series_.correct(stage, unknown_factors(stage), march_.d_, residual_.data(), x_);
    }
    std::swap(x_, polynomial_);
    // A step that is not over goes on by its own polynomials: few do.
    find_moving(phases_.data(), wanted_.data(), width_ / kWidth);
    if (!any(wanted_.data(), width_)) return;
    for (int l = 0; l < width_; ++l)
        if (wanted_[l]) take_back(l);
}

void Fleet::take_back(int l) {
    for (int n = 0; n < degrees_; ++n)
        for (int j = 0; j < size_; ++j) polynomial_.degree(n)[at(j, l)] = x_.degree(n)[at(j, l)];
}

// The states from which the next steps go.
void Fleet::keep_states() {
    if (all(ready_.data(), width_)) {
        low_before_ = low_;
        leverage_before_ = leverage_;
        return;
    }
    blend(low_.data(), low_before_.data(), ready_.data(), low_.size() / width_, width_ / kWidth);
    blend(leverage_.data(), leverage_before_.data(), ready_.data(), size_, width_ / kWidth);
}

}  // namespace mechsim

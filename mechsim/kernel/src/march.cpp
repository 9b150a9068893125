#include "march.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "policy.hpp"

namespace mechsim {

namespace {

double factorial(int n) {
    double f = 1;
    for (int i = 2; i <= n; ++i) f *= i;
    return f;
}

// (k + offset)! / k!, or (k + offset)! at a stage before 0, where the state itself is corrected.
double stage_factor(int stage, int offset) {
    double f = 1;
    for (int i = std::max(stage, 0) + 1; i <= stage + offset; ++i) f *= i;
    return f;
}

MECHSIM_CLONES void scale(const double* __restrict values, double factor, double* __restrict scaled, int count) {
    for (int i = 0; i < count; ++i) scaled[i] = values[i] * factor;
}

}  // namespace

March::March(int size, std::vector<int> equation_offsets, std::vector<int> variable_offsets, std::vector<double> scales,
             std::vector<double> constants, std::vector<int> matrix_rows, std::vector<int> matrix_columns,
             std::vector<double> matrix_constant, const std::vector<int>& spare, int redundant, Control control)
    : size_(size), c_(std::move(equation_offsets)), d_(std::move(variable_offsets)), scales_(std::move(scales)),
      constants_(std::move(constants)), matrix_constant_(std::move(matrix_constant)), control_(control),
      lu_(size, std::move(matrix_rows), std::move(matrix_columns)), redundant_(redundant) {
    for (int number : spare) {
        Spare row{number, -1, {}};
        for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
            if (lu_.rows()[entry] != number) continue;
            row.entries.push_back(int(entry));
            if (lu_.columns()[entry] == number) row.own = int(entry);
        }
        if (row.own < 0) throw std::invalid_argument("a row that may rest has no place for its multiplier");
        spare_.push_back(row);
    }
    may_rest_ = spare_;
    resting_.assign(size_, 0);
    for (int d : d_) largest_offset_ = std::max(largest_offset_, d);
    for (int c : c_) largest_offset_ = std::max(largest_offset_, c);
    degrees_ = control_.order + largest_offset_;
    if (control_.order < 1 || largest_offset_ >= kMostOffsets || degrees_ + largest_offset_ > kMostDegrees)
        throw std::invalid_argument("the order is beyond what the kernel's tables hold");
    lu_.allow_growth(std::max(kFactorGrowth, control_.settled / kRounding));
    of_offset_.resize(largest_offset_ + 1);
    for (int j = 0; j < size_; ++j) {
        of_offset_[d_[j]].push_back(j);
        inverse_scales_.push_back(1 / scales_[j]);
    }
    find_chains();
    for (int stage = -largest_offset_; stage < control_.order; ++stage) {
        std::vector<double> factors;
        for (int offset = 0; offset <= largest_offset_; ++offset) factors.push_back(stage_factor(stage, offset));
        equation_factors_.emplace_back();
        unknown_factors_.emplace_back();
        for (int i = 0; i < size_; ++i) equation_factors_.back().push_back(-factors[c_[i]]);
        for (int j = 0; j < size_; ++j) unknown_factors_.back().push_back(1 / factors[d_[j]]);
    }
    for (int m = 0; m <= largest_offset_; ++m) {
        binomials_.emplace_back();
        double binomial = 1;  // n over m
        for (int n = 0; n < degrees_; ++n) {
            if (n > m) binomial = binomial * n / (n - m);
            binomials_.back().push_back(n < m ? 0 : binomial);
        }
    }
}

// Unknowns that share a row belong to one kinematic chain.
void March::find_chains() {
    std::vector<int> of_row(size_, -1);  // an unknown of each row
    for (int j = 0; j < size_; ++j) chain_.push_back(j);
    const auto first_of = [&](int j) {
        while (chain_[j] != j) j = chain_[j] = chain_[chain_[j]];
        return j;
    };
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
        int& other = of_row[lu_.rows()[entry]];
        if (other < 0) other = lu_.columns()[entry];
        const int one = first_of(other), two = first_of(lu_.columns()[entry]);
        chain_[std::max(one, two)] = std::min(one, two);
    }
    for (int& first : chain_) first = first_of(first);
}

void March::ready() {
    x_.width = (size_ + int(constants_.size()) + kWidth - 1) / kWidth * kWidth;
    for (int j = 0; j < size_; ++j) {
        if (j == 0 || d_[j] != d_[j - 1]) stretches_.push_back({j, j, d_[j]});
        ++stretches_.back().last;
    }
    x_.degrees = std::max(degrees_, 3);
    x_.values.assign(std::size_t(x_.width) * x_.degrees, 0.0);
    std::copy(constants_.begin(), constants_.end(), x_.degree(0) + size_);
    polynomial_ = x_;
    low_.assign(std::size_t(size_) * std::max(largest_offset_, 1), 0.0);
    residual_.assign((first_limit() + frictions_.size() + kWidth - 1) / kWidth * kWidth, 0.0);
    for (std::size_t i = 0; i < frictions_.size(); ++i) {
        const Friction& friction = frictions_[i];
        if (friction.gap >= 0) continue;
        Block& own = blocks_[friction.limit_block];
        own.rows[std::size_t(friction.limit_output) * own.stride + friction.limit_lane] = first_limit() + int(i);  // for `response`
    }
    matrix_.assign(matrix_constant_.size() + 1, 0.0);
    for (Block& block : blocks_) {
        block.allocate(x_.degrees);
        read_constants(block);
        for (std::size_t i = 0; i < block.inputs.size(); ++i)
            if (block.inputs[i].time)
                for (int l = 0; l < block.stride; ++l) block.row(int(i), 1)[l] = 1.0;
    }
    for (Block& block : matrix_blocks_) block.allocate(1);
    step_lengths_.assign((size_ + kWidth - 1) / kWidth * kWidth, 0.0);
    advances_.assign(kMostOffsets * step_lengths_.size(), 0.0);
    for (const Block& block : matrix_blocks_)
        for (std::size_t i = 0; i < block.inputs.size(); ++i)
            for (int l = 0; l < block.lanes; ++l) {
                const int unknown = block.unknowns[i * block.stride + l], order = block.inputs[i].order;
                if (block.inputs[i].time || unknown >= size_) continue;
                if (order < d_[unknown]) matrix_order_ = std::max(matrix_order_, order);
                affine_ = affine_ && order < d_[unknown];
            }
    find_gaps();
    find_working();
}

// After stage 0 a block whose rows are linear in what a stage finds, or constant, has nothing to say, but for gaps.
void March::find_working() {
    listed_ = false;
    working_.clear();
    idle_.assign(blocks_.size(), 0);
    // Rows that are lent and open are read only where gaps are met.
    std::vector<int> open(blocks_.size(), 0);
    for (const Gap& gap : gaps_)
        if (gap.pair >= 0 && !is_closed(gap)) ++open[gap.block];
    std::vector<char> rubs(blocks_.size(), 0), acts(blocks_.size(), 0);
    for (const Friction& friction : frictions_) {
        rubs[friction.block] = 1;
        if (sticks(friction) || sense_of(friction) != 0) acts[friction.block] = 1;
    }
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        idle_[i] = (open[i] > 0 && open[i] == blocks_[i].lanes) || (rubs[i] && !acts[i]);
        if (idle_[i]) continue;
        bool& read = blocks_[i].whole = false;
        for (const Gap& gap : gaps_) read = read || gap.block == int(i);
        for (const Friction& friction : frictions_)
            read = read || friction.block == int(i) || friction.limit_block == int(i);
        for (const Watcher& watcher : watchers_) read = read || watcher.block == int(i);
        if (read || !blocks_[i].contributions.empty()) working_.push_back(&blocks_[i]);
    }
    if (tangents_) tangents_->find_working();
}

// Who changes what works adds to it after `find_working`: it is listed when it is needed.
void March::list_stages() {
    if (!std::exchange(listed_, true)) stages_.list(blocks_, working_, matrix_blocks_, -largest_offset_, tangents_ != nullptr);
}

std::size_t March::table_size() const {
    std::size_t size = 0;
    for (const auto* blocks : {&blocks_, &matrix_blocks_})
        for (const Block& block : *blocks) size += std::size_t(block.constant_count) * block.lanes;
    return size;
}

std::size_t March::row_table_size() const {
    std::size_t size = 0;
    for (const Block& block : blocks_) size += std::size_t(block.constant_count) * block.lanes;
    return size;
}

void March::set_tangents(int directions, const double* state, const double* tables, const double* constants) {
    tangents_.reset();
    if (directions == 0) return;
    tangents_ = std::make_unique<Tangents>(*this, directions, tables);
    tangents_->set_constants(constants);
    tangents_->set_state(state);
    prepared_ = expanded_ = false;
    cut_.clear();
}

void March::tune(const double* tables, std::vector<double> constants, std::vector<double> scales,
                 std::vector<double> matrix) {
    for (auto* blocks : {&blocks_, &matrix_blocks_})
        for (Block& block : *blocks) {
            block.tune(tables);
            tables += std::size_t(block.constant_count) * block.lanes;
        }
    constants_ = std::move(constants);
    scales_ = std::move(scales);
    matrix_constant_ = std::move(matrix);
    lu_.weigh({});
    for (int j = 0; j < size_; ++j) inverse_scales_[j] = 1 / scales_[j];
    std::copy(constants_.begin(), constants_.end(), x_.degree(0) + size_);
    std::copy(constants_.begin(), constants_.end(), polynomial_.degree(0) + size_);
    for (Block& block : blocks_) read_constants(block);
    stages_.tune();
}

void March::set_time(double t) {
    t_ = t;
    for (auto* blocks : {&blocks_, &matrix_blocks_})
        for (Block& block : *blocks)
            for (std::size_t i = 0; i < block.inputs.size(); ++i)
                if (block.inputs[i].time)
                    for (int l = 0; l < block.stride; ++l) block.row(int(i), 0)[l] = t;
}

void March::set_state(double t, const double* derivatives) {
    t_low_ = 0;
    set_time(t);
    std::fill(low_.begin(), low_.end(), 0.0);
    for (int n = 0; n < x_.degrees; ++n) std::fill_n(x_.degree(n), size_, 0.0);
    for (int n = 0; n < largest_offset_; ++n)
        for (int j = 0; j < size_; ++j)
            // What stage 0 finds (n == d_j) is a guess only, which a row that is not affine in it needs.
            if (n <= d_[j]) x_.degree(n)[j] = derivatives[std::size_t(n) * size_ + j] / factorial(n);
    prepared_ = continued_ = expanded_ = false;
    cut_.clear();
    written_ = NAN;
    for (Block& block : blocks_) std::fill(block.watch.peaks.begin(), block.watch.peaks.end(), 0.0);
    peak_speed_ = last_step_ = earlier_leverage_ = 0;
    longest_ = INFINITY;
    retreats_ = 0;
    met_ = false;
    met_at_ = NAN;
    event_ = fired_ = -1;
    shaken_ = false;
    happenings_.clear();
    lates_.clear();
    for (Gap& gap : gaps_) gap.zeros = 0;
    for (Friction& friction : frictions_) friction.zeros = 0;
    for (Watcher& watcher : watchers_) watcher.side = 0, watcher.crossed = false, watcher.size = 0;
}

void March::set_constant(int number, double value) {
    for (const Gap& gap : gaps_) {
        // What sticks beside a bond that lets go may have been held by that alone.
        if (gap.mode == number) shaken_ = shaken_ || (gap.bond && !frictions_.empty()), set_closed(gap, value != 0);
        shaken_ = shaken_ || (is_closed(gap) && gap.mode != number && reads(gap, number));
    }
    for (const Friction& friction : frictions_)
        if (friction.mode == number) set_rubbing(friction, value != 0, sense_of(friction));
    x_.degree(0)[size_ + number] = polynomial_.degree(0)[size_ + number] = value;
    for (Block& block : blocks_) read_constants(block);
    continued_ = prepared_ || continued_;
    prepared_ = expanded_ = false;
    cut_.clear();
    last_step_ = 0;
}

// Inputs that are constant in every lane are not read at each stage.
void March::read_constants(Block& block) const {
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        if (!block.inputs[i].time && block.inputs[i].available >= kAlways && block.inputs[i].order == 0)
            for (int l = 0; l < block.stride; ++l)
                block.row(int(i), 0)[l] = x_.degree(0)[block.unknowns[i * block.stride + l]];
}

void March::fill_matrix() {
    std::copy(matrix_constant_.begin(), matrix_constant_.end(), matrix_.begin());
    list_stages();
    stages_.fill(x_, matrix_constant_.data(), matrix_.data());
}

// What adds up to each inertia: what is constant of it, and the largest of those that an element computes together.
void March::weigh() {
    std::vector<double> weights(size_, 0.0);
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry)
        if (lu_.rows()[entry] == lu_.columns()[entry]) weights[lu_.rows()[entry]] = std::abs(matrix_constant_[entry]);
    for (const Block& block : matrix_blocks_)
        for (int l = 0; l < block.lanes; ++l) {
            double largest = 0;
            std::vector<int> found;
            for (std::size_t o = 0; o < block.outputs.size(); ++o) {
                const std::size_t entry = block.rows[o * block.stride + l];
                if (entry >= lu_.rows().size() || lu_.rows()[entry] != lu_.columns()[entry]) continue;
                double value = 0;
                for (int t = block.outputs[o].first_term; t < block.outputs[o].last_term; ++t)
                    value += block.constant(block.terms[t].constant)[l] * block.row(block.terms[t].reg, 0)[l];
                largest = std::max(largest, std::abs(value));
                found.push_back(lu_.rows()[entry]);
            }
            for (int i : found) weights[i] = std::max(weights[i], largest);
        }
    lu_.weigh(std::move(weights));
}

bool March::factor() {
    fill_matrix();
    if (!lu_.is_weighed()) weigh();
    for (const Spare& row : may_rest_) {
        if (!resting_[row.number]) continue;
        for (int entry : row.entries) matrix_[entry] = 0;
        matrix_[row.own] = 1;
    }
    stale_ = 0;
    ++statistics_.factorizations;
    const bool regular = lu_.factor(matrix_.data());
    statistics_.analyses = lu_.analyses();
    return regular;
}

// Of the rows that may rest, let those rest that say least which the others do not.
void March::choose_rows() {
    fill_matrix();
    if (!lu_.is_weighed()) weigh();
    if (!probed_) make_probe();
    std::vector<int> numbers;
    for (const Spare& row : spare_) numbers.push_back(row.number);
    for (int row : numbers) resting_[row] = 0;
    for (int row : lu_.weakest(matrix_.data(), numbers, redundant_)) resting_[row] = 1;
    lu_.set_aside();
    chosen_ = true;
}

// A row that rests says that its multiplier is zero.
void March::rest_rows(int stage) {
    for (const Spare& row : may_rest_)
        if (resting_[row.number]) residual_[row.number] = stage == 0 ? -x_.degree(0)[row.number] : 0.0;
}

void March::residual_of(int stage) {
    ++statistics_.evaluations;
    std::fill(residual_.begin(), residual_.end(), 0.0);
    stages_.evaluate(stage, x_, equation_factors_[stage + largest_offset_].data(), residual_.data());
}

// One Newton step at a stage k <= 0. Returns the correction relative to the unknowns of its kind, or to what they were: a
// mechanism may come to rest in it.
double March::solve_stage(int stage, std::array<double, kMostOffsets>& reference) {
    residual_of(stage);
    const std::vector<double>& unknown_factor = unknown_factors_[stage + largest_offset_];
    rest_rows(stage);
    lu_.solve(residual_.data());
    // Unknowns found at the same degree are of one kind: compared with the largest of them, by scale.
    auto& change = change_;
    auto& extent = extent_;
    change.fill(0.0);
    extent.fill(0.0);
    for (int j = 0; j < size_; ++j) {
        const int degree = stage + d_[j];
        if (degree < 0) continue;
        const double delta = residual_[j] * unknown_factor[j];
        double* x = x_.degree(degree) + j;
        if (stage < 0)
            add_exactly(*x, low_[std::size_t(degree) * size_ + j], delta);
        else
            *x += delta;
        const double scale = inverse_scales_[j];
        change[degree] = std::max(change[degree], std::abs(delta) * scale);
        extent[degree] = std::max(extent[degree], std::abs(*x) * scale);
        if (!std::isfinite(delta)) return delta;
    }
    // What rests pushes nothing at all: where another row is its pivot, a rounding would be left.
    if (stage == 0)
        for (const Spare& row : may_rest_)
            if (resting_[row.number]) x_.degree(0)[row.number] = 0;
    double relative = 0;
    for (int degree = 0; degree <= largest_offset_; ++degree) {
        // Positions are compared with the scale itself, which is what makes a length long or short.
        if (degree == 0 && stage < 0) reference[degree] = 1.0;
        reference[degree] = std::max(reference[degree], stage < 0 ? std::max(extent[degree], change[degree]) : extent[degree]);
        if (!(change[degree] > 0)) continue;
        const double part = change[degree] / (reference[degree] > 0 ? reference[degree] : 1.0);
        relative = std::max(relative, part);
        if (stage < 0 && degree <= matrix_order_) stale_ = std::max(stale_, part);
    }
    if (stage == -largest_offset_) {
        distance_ = std::max(distance_, change[0]);
        rounding_ = kRounding * extent[0];
    }
    if (stage == 1 - largest_offset_) {
        turned_ = std::max(turned_, change[1]);
        extent_speed_ = extent[1];
    }
    return relative;
}

// Whether the correction of stage 0 just made is small beside the forces in the rows. At rest these balance, and what is
// left of the accelerations is rounding, to which no correction is small.
bool March::balanced() const {
    std::vector<double> correction(size_, 0.0), force(residual_.size(), 0.0);
    for (const Block& block : blocks_) add_sizes(block, force.data());
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry)
        correction[lu_.rows()[entry]] += matrix_[entry] * residual_[lu_.columns()[entry]];
    double largest_correction = 0, largest_force = 0;
    for (int i = 0; i < size_; ++i) {
        if (c_[i] != 0) continue;
        largest_correction = std::max(largest_correction, std::abs(correction[i]));
        largest_force = std::max(largest_force, force[i]);
    }
    return largest_correction <= kSettled * largest_force;
}

// How much smaller than the correction just made the next one will be: as the matrix has changed since it was factored,
// or rows are curved, or as it was for the last two corrections.
double March::contraction(int stage, double moved, double previous) const {
    if (std::isfinite(previous)) return std::min(1.0, moved / previous);
    const double changed = stage < 0 || !affine_ ? std::max(stale_, moved) : stale_;
    return std::min(1.0, kCurvature * std::max(1.0, earlier_leverage_) * (changed + kEpsilon));
}

// Newton at a stage k <= 0 until what is left is less than the tolerance needs; then the series of this stage are final.
bool March::settle(int stage) {
    bool active = false;
    for (int i = 0; i < size_; ++i) active = active || stage + c_[i] >= 0;
    if (!active) {
        residual_of(stage);
        return true;
    }
    const double settled = std::max(control_.settled, kNegligible) + rounding_;
    const bool careful = earlier_leverage_ > kCareful;
    double previous = INFINITY;
    std::array<double, kMostOffsets> reference{}, first{};
    for (int iteration = 0;; ++iteration) {
        if (stage == 0) reference.fill(0.0);
        const double moved = solve_stage(stage, reference);
        if (!std::isfinite(moved)) return false;
        if (stage == 0 && iteration == 0) note_mismatch();
        if (moved <= kNegligible) return true;
        const double rate = contraction(stage, moved, previous);
        if (moved * rate <= settled && (!careful || moved <= kSettled + rounding_)) break;
        // As close as rounding allows; of what is at rest and cannot move all speeds are roundings.
        const bool still = stage == 1 - largest_offset_ && is_still(change_[1]);
        if (iteration > 2 && moved > 0.5 * previous && (moved < 1e-9 || still)) break;
        if (stage == 0 && iteration > 0 && moved > 0.1 * previous && balanced()) break;
        // What vanishes is never close beside itself: a rounding of where it came from has been taken away too.
        if (iteration == 0) first = change_;
        bool gone = stage == 0 && iteration > 1;
        for (std::size_t n = 0; n < first.size(); ++n) gone = gone && change_[n] <= kNegligible * first[n];
        if (gone) break;
        if (iteration >= kMostIterations) return false;
        if (stage == 0 && (careful || !affine_ || rate > kConverging) && !factor()) return false;
        previous = moved;
    }
    stages_.finish(stage, x_);
    return true;
}

// The first correction of stage 0, where it is more than rounding: absolute per offset, and relative.
void March::note_mismatch() {
    rough_ = 0;
    for (int offset = 1; offset <= largest_offset_; ++offset) {
        const bool seen = change_[offset] > kSettled * extent_[offset];
        mismatch_[offset] = seen ? change_[offset] : 0.0;
        if (seen) rough_ = std::max(rough_, change_[offset] / extent_[offset]);
    }
}

// Constraints missed by about a unit of length each, with signs and sizes of no special kind.
void March::make_probe() {
    probed_ = true;
    const auto is_gap = [&](int i) {
        const auto own = [&](const auto& each) { return each.row == i; };
        return std::any_of(gaps_.begin(), gaps_.end(), [&](const Gap& gap) { return own(gap) && !gap.bond; }) ||
               std::any_of(frictions_.begin(), frictions_.end(), own);
    };
    for (int i = 0; i < size_; ++i)
        if (c_[i] > 0 && !is_gap(i)) constraints_.push_back(i);
    if (constraints_.empty()) return;
    lengths_.assign(size_, 0.0);
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
        const int i = lu_.rows()[entry], j = lu_.columns()[entry];
        if (c_[i] > 0 && d_[j] > 0) lengths_[i] += std::pow(matrix_[entry] * scales_[j], 2);
    }
    probe_.assign(size_, 0.0);
    aim_ = pull_ = probe_;
    for (int i : constraints_) {
        lengths_[i] = std::sqrt(lengths_[i]);
        probe_[i] = lengths_[i] * scatter(i);
    }
}

Status March::prepare() {
    distance_ = turned_ = rounding_ = 0;
    if (redundant_ > 0 && !chosen_) choose_rows();
    bool regular = factor();
    if (!regular && redundant_ > 0) {
        choose_rows();
        regular = factor();
    }
    if (!regular) return Status::singular;
    if (!probed_) make_probe();
    if (redundant_ > 0 && !improve_choice()) return Status::singular;
    for (int stage = -largest_offset_; stage < 0; ++stage)
        if (!settle(stage)) return Status::not_projected;
    const bool stale = stale_ * std::max(1.0, earlier_leverage_) > kStale * control_.tolerance + rounding_;
    const bool moved = earlier_leverage_ > kCareful && distance_ > kRefactor + rounding_;
    if ((stale || moved) && !factor()) return Status::singular;
    if (!settle(0)) return Status::not_finite;
    prepared_ = true;
    return Status::reached;
}

// Whether a speed moves nothing by more than a rounding of its size, in the step and in a unit of time.
bool March::is_still(double speed) const { return speed * std::max(1.0, std::abs(t_ - t_before_)) <= kEpsilon; }

bool March::is_close() const {
    const double near = control_.rejection + rounding_;
    return distance_ <= near && (turned_ <= near * extent_speed_ + rounding_ || is_still(turned_));
}

void March::expand() {
    list_stages();
    // By the inverse the multiplier of a row that rests would be a rounding, not zero; near a singular pose roundings count.
    const bool often = control_.order >= kManyStages && may_rest_.empty() && largest_leverage() <= kOrdinary;
    for (int stage = 1; stage < control_.order; ++stage) {
        std::fill(residual_.begin(), residual_.end(), 0.0);
        stages_.predict(stage, equation_factors_[stage + largest_offset_].data(), residual_.data());
        const double* unknown_factor = unknown_factors_[stage + largest_offset_].data();
        rest_rows(stage);
        const double* found = often ? lu_.solve_often(residual_.data()) : lu_.solve(residual_.data());
        for (const Stretch& each : stretches_)
            scale(found + each.first, unknown_factor[each.first], x_.degree(stage + each.offset) + each.first,
                  each.last - each.first);
        stages_.correct(stage, x_);
    }
    if (tangents_) tangents_->expand();
}

}  // namespace mechsim

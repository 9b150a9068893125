#include "march.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace mechsim {

namespace {

constexpr int kAlways = 1000;        // lead of what is known at every degree (ALWAYS in kernel/plan.py)
constexpr double kSettled = 1e-11;   // a correction this small leaves a quadratic or linear remainder below rounding
constexpr int kMostIterations = 12;  // of Newton at a stage k <= 0
constexpr double kRefactor = 1e-13;  // a projection that moves further than this (relative) makes the matrix stale
constexpr double kRounding = 64 * 2.2e-16;  // of the largest position (a turn angle may be many times its scale)
constexpr double kNegligible = 1e-15;  // a correction this small (relative) leaves the series of its stage as they are
constexpr double kSlow = 1e-2;  // a step that moves less than this (of the scales) by the speed so far
constexpr double kShrink = 0.5;      // of a step that is redone
constexpr int kMostRedone = 30;
constexpr double kRough = 1e-6;      // leading derivatives missed by more than this (relative) are no rounding
constexpr double kCured = 0.1;       // a shorter step has cured a miss that fell below this part of it

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

// hi + lo := hi + lo + value, exactly but for the last bits of lo (Knuth's two-sum).
inline void add_exactly(double& hi, double& lo, double value) {
    const double y = value + lo;
    const double sum = hi + y;
    const double part = sum - hi;
    lo = (hi - (sum - part)) + (y - part);
    hi = sum;
}

}  // namespace

March::March(int size, std::vector<int> equation_offsets, std::vector<int> variable_offsets, std::vector<double> scales,
             std::vector<double> constants, std::vector<int> matrix_rows, std::vector<int> matrix_columns,
             std::vector<double> matrix_constant, Control control)
    : size_(size), c_(std::move(equation_offsets)), d_(std::move(variable_offsets)), scales_(std::move(scales)),
      constants_(std::move(constants)), matrix_constant_(std::move(matrix_constant)), control_(control),
      lu_(size, std::move(matrix_rows), std::move(matrix_columns)) {
    for (int d : d_) largest_offset_ = std::max(largest_offset_, d);
    degrees_ = control_.order + largest_offset_;
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

void March::ready() {
    x_.width = size_ + int(constants_.size());
    x_.degrees = std::max(degrees_, 3);
    x_.values.assign(std::size_t(x_.width) * x_.degrees, 0.0);
    std::copy(constants_.begin(), constants_.end(), x_.degree(0) + size_);
    polynomial_ = x_;
    low_.assign(std::size_t(size_) * std::max(largest_offset_, 1), 0.0);
    residual_.assign(size_ + 1, 0.0);
    matrix_.assign(matrix_constant_.size() + 1, 0.0);
    for (Block& block : blocks_) {
        block.allocate(x_.degrees);
        read_constants(block);
        for (std::size_t i = 0; i < block.inputs.size(); ++i)
            if (block.inputs[i].time)
                for (int l = 0; l < block.stride; ++l) block.row(int(i), 1)[l] = 1.0;
    }
    for (Block& block : matrix_blocks_) block.allocate(1);
    sum_.assign(size_, 0.0);
    // After stage 0 a block whose rows are linear in what a stage finds has nothing to say.
    working_.clear();
    for (Block& block : blocks_)
        if (std::any_of(block.terms.begin(), block.terms.end(), [](const Term& term) { return !term.silent; }))
            working_.push_back(&block);
}

void March::set_time(double t) {
    t_ = t;
    for (Block& block : blocks_)
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
    prepared_ = continued_ = false;
    peak_speed_ = 0;
}

void March::set_constant(int number, double value) {
    x_.degree(0)[size_ + number] = polynomial_.degree(0)[size_ + number] = value;
    for (Block& block : blocks_) read_constants(block);
    continued_ = prepared_ || continued_;
    prepared_ = false;
}

// Inputs that are constant in every lane are not read at each stage.
void March::read_constants(Block& block) const {
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        if (!block.inputs[i].time && block.inputs[i].available >= kAlways && block.inputs[i].order == 0)
            for (int l = 0; l < block.stride; ++l)
                block.row(int(i), 0)[l] = x_.degree(0)[block.unknowns[i * block.stride + l]];
}

bool March::factor() {
    std::copy(matrix_constant_.begin(), matrix_constant_.end(), matrix_.begin());
    for (Block& block : matrix_blocks_) evaluate_matrix(block, x_, t_, matrix_.data());
    ++statistics_.factorizations;
    const bool regular = lu_.factor(matrix_.data());
    statistics_.analyses = lu_.analyses();
    return regular;
}

void March::residual_of(int stage) {
    std::fill(residual_.begin(), residual_.end(), 0.0);
    for (Block& block : blocks_) evaluate_stage(block, x_, stage, residual_.data());
}

// One Newton step at a stage k <= 0. Returns the correction relative to the unknowns of its kind.
double March::solve_stage(int stage) {
    residual_of(stage);
    const std::vector<double>& equation_factor = equation_factors_[stage + largest_offset_];
    const std::vector<double>& unknown_factor = unknown_factors_[stage + largest_offset_];
    for (int i = 0; i < size_; ++i) residual_[i] = stage + c_[i] >= 0 ? residual_[i] * equation_factor[i] : 0.0;
    lu_.solve(residual_.data());
    // Unknowns found at the same degree are of one kind: compared with the largest of them, by scale.
    double* change = change_;
    double* extent = extent_;
    std::fill_n(change, 8, 0.0);
    std::fill_n(extent, 8, 0.0);
    for (int j = 0; j < size_; ++j) {
        const int degree = stage + d_[j];
        if (degree < 0) continue;
        const double delta = residual_[j] * unknown_factor[j];
        double* x = x_.degree(degree) + j;
        if (stage < 0)
            add_exactly(*x, low_[std::size_t(degree) * size_ + j], delta);
        else
            *x += delta;
        const double scale = scales_[j];
        change[degree] = std::max(change[degree], std::abs(delta) / scale);
        extent[degree] = std::max(extent[degree], std::abs(*x) / scale);
        if (!std::isfinite(delta)) return delta;
    }
    double relative = 0;
    for (int degree = 0; degree <= largest_offset_; ++degree) {
        // Positions are compared with the scale itself, which is what makes a length long or short.
        const double reference = degree == 0 && stage < 0 ? 1.0 : extent[degree];
        if (change[degree] > 0) relative = std::max(relative, change[degree] / (reference > 0 ? reference : 1.0));
    }
    if (stage == -largest_offset_) {
        distance_ = std::max(distance_, change[0]);
        rounding_ = kRounding * extent[0];
    }
    return relative;
}

// Whether the correction of stage 0 just made is small beside the forces in the rows. At rest these balance, and what is
// left of the accelerations is rounding, to which no correction is small.
bool March::balanced() const {
    std::vector<double> correction(size_, 0.0), force(size_, 0.0);
    const std::vector<int>& rows = lu_.rows();
    const std::vector<int>& columns = lu_.columns();
    for (std::size_t entry = 0; entry < rows.size(); ++entry) {
        const int i = rows[entry], j = columns[entry];
        if (c_[i] != 0) continue;
        correction[i] += matrix_[entry] * residual_[j];
        force[i] += std::abs(matrix_[entry] * x_.degree(d_[j])[j]) * factorial(d_[j]);
    }
    double largest_correction = 0, largest_force = 0;
    for (int i = 0; i < size_; ++i) {
        largest_correction = std::max(largest_correction, std::abs(correction[i]));
        largest_force = std::max(largest_force, force[i]);
    }
    return largest_correction <= kSettled * largest_force;
}

// Newton at a stage k <= 0 until the correction is at rounding level; then the series of this stage are final.
bool March::settle(int stage) {
    bool active = false;
    for (int i = 0; i < size_; ++i) active = active || stage + c_[i] >= 0;
    if (active) {
        double previous = INFINITY;
        for (int iteration = 0;; ++iteration) {
            const double moved = solve_stage(stage);
            if (!std::isfinite(moved)) return false;
            if (stage == 0 && iteration == 0) note_mismatch();
            if (moved <= kNegligible) return true;
            if (moved <= kSettled + rounding_) break;
            if (iteration > 2 && moved > 0.5 * previous && moved < 1e-9) break;  // as close as rounding allows
            if (stage == 0 && iteration > 0 && moved > 0.1 * previous && balanced()) break;
            if (iteration >= kMostIterations) return false;
            previous = moved;
            if (stage == 0 && !factor()) return false;  // a row that is not affine in its leading unknowns
        }
    }
    residual_of(stage);
    return true;
}

Status March::prepare() {
    distance_ = rounding_ = 0;
    if (!factor()) return Status::singular;
    for (int stage = -largest_offset_; stage < 0; ++stage)
        if (!settle(stage)) return Status::not_projected;
    if (distance_ > kRefactor + rounding_ && !factor()) return Status::singular;
    if (!settle(0)) return Status::not_finite;
    prepared_ = true;
    return Status::reached;
}

void March::expand() {
    for (int stage = 1; stage < control_.order; ++stage) {
        std::fill(residual_.begin(), residual_.end(), 0.0);
        for (Block* block : working_) predict_stage(*block, stage, residual_.data());
        const double* equation_factor = equation_factors_[stage + largest_offset_].data();
        const double* unknown_factor = unknown_factors_[stage + largest_offset_].data();
        for (int i = 0; i < size_; ++i) residual_[i] *= equation_factor[i];
        lu_.solve(residual_.data());
        double* found = x_.degree(stage);
        for (int j = 0; j < size_; ++j) found[d_[j] * x_.width + j] = residual_[j] * unknown_factor[j];
        for (Block* block : working_) correct_stage(*block, x_, stage);
    }
}

// The step over which the last two terms stay below the tolerance (as Jorba and Zou 2005, eq 3-3, by terms): in
// positions relative to their scales, and in velocities relative to the largest so far, which fast motion in short
// steps needs. What starts slowly is judged by the speed it soon has.
double March::step_size() {
    peak_speed_ = std::max(peak_speed_, fastest(1));
    const double h = step_size(0, 1.0);
    if (!std::isfinite(h)) return h;
    double extent = peak_speed_, power = 1;
    if (peak_speed_ * h < kSlow)
        for (int n = 2; n < degrees_; ++n) extent = std::max(extent, n * fastest(n) * (power *= h));
    return control_.safety * std::min(h, step_size(1, extent));
}

// The largest coefficient of this degree among unknowns that have a velocity, relative to scales.
double March::fastest(int degree) const {
    double largest = 0;
    for (int j = 0; j < size_; ++j)
        if (d_[j] >= 2) largest = std::max(largest, std::abs(x_.degree(degree)[j]) / scales_[j]);
    return largest;
}

// The same before safety, for derivative 0 or 1 of the unknowns relative to `extent`.
double March::step_size(int derivative, double extent) const {
    double h = INFINITY;
    for (int back = 0; back < 2; ++back) {
        for (int offset = derivative + 1; offset <= largest_offset_; ++offset) {
            const int degree = control_.order - 1 + offset - back;
            double largest = 0;
            for (int j = 0; j < size_; ++j)
                if (d_[j] == offset) largest = std::max(largest, std::abs(x_.degree(degree)[j]) / scales_[j]);
            if (derivative == 1) largest *= degree;
            if (largest > 0) h = std::min(h, std::pow(control_.tolerance * extent / largest, 1.0 / (degree - derivative)));
        }
    }
    return h;
}

// The state after h, from the polynomials of the step; also a guess for what stage 0 will find.
void March::predict(double h) {
    for (int m = 0; m <= largest_offset_; ++m) {
        const double* binomial = binomials_[m].data();
        std::fill(sum_.begin(), sum_.end(), 0.0);  // coefficient m at the new point, but for its own old value
        for (int n = degrees_ - 1; n > m; --n) {
            const double* coefficient = polynomial_.degree(n);
            for (int j = 0; j < size_; ++j) sum_[j] = (sum_[j] + binomial[n] * coefficient[j]) * h;
        }
        const double* old = polynomial_.degree(m);
        double* found = x_.degree(m);
        for (int j = 0; j < size_; ++j) {
            if (m > d_[j]) continue;
            double value = old[j];
            if (m < d_[j])
                add_exactly(value, low_[std::size_t(m) * size_ + j], sum_[j]);
            else
                value += sum_[j];
            found[j] = value;
        }
    }
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

// How far off the step's polynomials are at its end, by the leading derivatives that the equations give there: an error
// in the term of degree n shows in derivative d as n over d. The last terms cannot tell of a force too flat for them
// where the step began, as a saturated tanh.
double March::missed(double h) const {
    double largest = 0, power = 1;
    for (int offset = 1; offset <= largest_offset_; ++offset) {
        power *= h;
        largest = std::max(largest, mismatch_[offset] * power / binomials_[offset][control_.order - 1 + offset]);
    }
    return largest;
}

void March::write_point(Record& record) const {
    record.t.push_back(t_);
    const double* x = x_.degree(0);
    const double* v = x_.degree(1);
    record.x.insert(record.x.end(), x, x + size_);
    for (int j = 0; j < size_; ++j) record.v.push_back(d_[j] >= 1 ? v[j] : 0.0);
}

Status March::advance(double t_end, std::int64_t steps, double seconds, Record& record) {
    const auto begin = std::chrono::steady_clock::now();
    if (!prepared_) {
        const Status status = prepare();
        if (status != Status::reached) return status;
        if (!continued_) write_point(record);  // a march that goes on has written this point already
        continued_ = false;
    }
    std::vector<double> low_before;
    for (std::int64_t step = 0; step < steps; ++step) {
        if (t_ == t_end) return Status::reached;
        if ((step & 15) == 15) {
            const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
            if (used.count() > seconds) return Status::running;
        }
        expand();
        double h = control_.fixed_step > 0 ? control_.fixed_step : step_size();
        if (h > control_.largest_step) h = control_.largest_step;
        if (std::isnan(h)) return Status::not_finite;
        const double left = (t_end - t_) - t_low_;
        const bool backwards = left < 0;
        // A last step that would leave only a sliver is taken whole or the rest is shared.
        if (h * (1 + 1e-10) >= std::abs(left)) h = std::abs(left);
        std::swap(x_, polynomial_);
        low_before = low_;
        const double t_before = t_, t_low_before = t_low_;
        double off_before = INFINITY;
        for (int redone = 0;; ++redone) {
            const double signed_h = backwards ? -h : h;
            const bool last = h == std::abs(left);
            predict(signed_h);
            double t = t_before, t_low = t_low_before;
            add_exactly(t, t_low, signed_h);
            if (last) t = t_end, t_low = 0;
            if (t == t_before && !last) return Status::step_too_small;
            t_low_ = t_low;
            set_time(t);
            const Status status = prepare();
            const double off = missed(h);
            // What a shorter step does not cure is rounding, as of time near a pole.
            const bool cured = rough_ > kRough || off < kCured * off_before;
            const bool far = control_.fixed_step <= 0 && (distance_ > control_.rejection + rounding_ ||
                                                          (off > control_.tolerance + rounding_ && cured));
            off_before = status == Status::reached ? off : INFINITY;
            if (status == Status::reached && !far) break;
            if (redone >= kMostRedone || control_.fixed_step > 0) return status == Status::reached ? Status::not_projected : status;
            ++statistics_.rejected;
            low_ = low_before;
            h *= kShrink;
        }
        statistics_.largest_projection = std::max(statistics_.largest_projection, distance_);
        ++statistics_.steps;
        if (record.keep_polynomials) {
            record.start.push_back(t_before);
            for (int n = 0; n < degrees_; ++n)
                record.polynomials.insert(record.polynomials.end(), polynomial_.degree(n), polynomial_.degree(n) + size_);
        }
        write_point(record);
    }
    return t_ == t_end ? Status::reached : Status::running;
}

}  // namespace mechsim

#include "tangent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "dual.hpp"
#include "march.hpp"

namespace mechsim {

namespace {

// The matrix is as good as this where a stage k <= 0 was settled (see march.cpp): a correction of the changes that is
// larger, relative to them, leaves a remainder above rounding and is followed by another.
constexpr double kSettledChange = 1e-6;
constexpr int kMostCorrections = 4;
constexpr double kFaintest = 1e-12;  // of a size, per unit of a direction: tangents that are smaller are as if so large
constexpr double kLongest = 1e12;    // a step that the motion does not bound begins here, and is shortened
constexpr int kMostShortened = 100;  // times
constexpr double kAlike = 0.7;       // steps that differ by less are one
// Last terms of a tangent are those of the motion times about their degree; a share of it is granted.
constexpr double kShare = 4.0;
constexpr double kGone = 1e-11;      // of its length: a direction that has less beside those before it is roundings of them

bool leaves_out(Code code) { return code == Code::multiply || code == Code::square || code == Code::function; }

}  // namespace

Tangents::Tangents(March& march, int directions, const double* tables)
    : march_(march), count_(directions), padded_((directions + kWidth - 1) / kWidth * kWidth), width_(march.x_.width),
      degrees_(march.x_.degrees) {
    const std::size_t size = std::size_t(degrees_) * width_ * padded_;
    x_ = aligned_zeros(size);
    polynomial_ = aligned_zeros(size);
    residual_ = aligned_zeros(march_.residual_.size() * padded_);
    sizes_ = aligned_zeros(std::size_t(degrees_) * padded_);
    faintest_.assign(count_, 0.0);
    targets_.resize(march_.size_);
    late_.assign(count_, 0.0);
    cause_.assign(count_, 0.0);
    gap_numbers_.assign(march_.gaps_.size() * count_, 0.0);
    friction_numbers_.assign(march_.frictions_.size() * 2 * count_, 0.0);
    blocks_.resize(march_.blocks_.size());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        blocks_[i].block = &march_.blocks_[i];
        make_block(blocks_[i], tables);
    }
    share_constants();
}

Tangents::~Tangents() {
    for (DualBlock& dual : blocks_) {
        dual.block->corrected = dual.told_before;
        dual.block->read = dual.read_before;
    }
    march_.find_working();
}

void Tangents::make_block(DualBlock& dual, const double*& table) {
    Block& block = *dual.block;
    const std::size_t registers = block.inputs.size() + block.operations.size();
    dual.directions = padded_;
    dual.series = aligned_zeros(registers * block.lanes * block.degrees * padded_);
    dual.delta = aligned_zeros(registers * block.lanes * padded_);
    dual.constants = aligned_zeros(std::size_t(block.constant_count) * block.lanes * padded_);
    dual.living.assign(block.constant_count, 0);
    for (int constant = 0; constant < block.constant_count; ++constant)
        for (int lane = 0; lane < block.lanes; ++lane, table += count_) {
            std::copy_n(table, count_, reinterpret_cast<double*>(dual.constant(constant, lane)));
            if (std::any_of(table, table + count_, [](double change) { return change != 0; })) dual.living[constant] = 1;
        }
    dual.told_before = block.corrected;
    dual.read_before = block.read;
}

// After any change of what changes: which registers have a change, and what is to be done at each stage.
void Tangents::share_constants() {
    for (DualBlock& dual : blocks_) {
        read_constants(dual);
        find_active(dual);
        make_schedule(dual);
        find_operands(dual);
    }
    march_.find_working();
    find_working();  // the march may not know of these yet
    ready_ = false;
}

// A block whose rows are linear in what a stage finds says how its factors change, and is told all for that.
void Tangents::find_working() {
    working_.clear();
    auto& all = march_.working_;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        DualBlock& dual = blocks_[i];
        if (march_.idle_[i]) continue;
        if (!dual.contributions.empty()) working_.push_back(&dual);
        const bool factors = std::find(dual.living.begin(), dual.living.end(), 1) != dual.living.end();
        if (factors && std::find(all.begin(), all.end(), dual.block) == all.end()) all.push_back(dual.block);
    }
}

void Tangents::read_constants(DualBlock& dual) {
    const Block& block = *dual.block;
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        if (!block.inputs[i].time && block.inputs[i].available >= kAlways && block.inputs[i].order == 0)
            for (int lane = 0; lane < block.lanes; ++lane)
                std::copy_n(coefficient(0, block.unknowns[i * block.stride + lane]), padded_,
                            reinterpret_cast<double*>(dual.row(int(i), lane, 0)));
}

// Constants whose changes are zero do not change, nor does what is made of these; time does at events (jump.cpp).
void Tangents::find_active(DualBlock& dual) {
    const Block& block = *dual.block;
    const int inputs = int(block.inputs.size());
    dual.active.assign(inputs + block.operations.size(), 0);
    for (int i = 0; i < inputs; ++i) dual.active[i] = block.inputs[i].time && march_.has_events();
    for (int i = 0; i < inputs; ++i)
        for (int lane = 0; lane < block.lanes && !block.inputs[i].time; ++lane) {
            const int unknown = block.unknowns[std::size_t(i) * block.stride + lane];
            const double* value = coefficient(0, unknown);
            const bool moves = unknown < march_.size_;
            if (moves || (block.inputs[i].order == 0 && std::any_of(value, value + count_, [](double c) { return c != 0; })))
                dual.active[i] = 1;
        }
    for (bool found = true; found;) {  // a slope may come after the function that reads it
        found = false;
        for (std::size_t i = 0; i < block.operations.size(); ++i) {
            const Operation& op = block.operations[i];
            char& own = dual.active[inputs + i];
            if (own) continue;
            own = dual.active[op.a] || (op.b >= 0 && dual.active[op.b]) || (op.constant >= 0 && dual.living[op.constant]);
            found = found || own;
        }
    }
}

void Tangents::make_schedule(DualBlock& dual) {
    Block& block = *dual.block;
    const int inputs = int(block.inputs.size()), operations = int(block.operations.size());
    dual.silent.assign(inputs + operations, 0);
    for (auto* list : {&dual.predicted, &dual.corrected, &dual.read, &dual.cleared}) list->clear();
    dual.contributions.clear(), dual.all.clear(), dual.levels.clear();
    for (int i = 0; i < inputs; ++i) dual.silent[i] = block.inputs[i].hot;
    bool living = false;
    for (char constant : dual.living) living = living || constant;
    // A product with a factor that changes is not zero before the solve: the motion's own coefficient is known.
    for (int i = 0; i < operations; ++i) {
        const Operation& op = block.operations[i];
        const bool of_factor = op.code == Code::scale && dual.living[op.constant];
        dual.silent[inputs + i] = op.silent && !of_factor && dual.silent[op.a] && (op.b < 0 || dual.silent[op.b]);
    }
    // What the block tells of its own series is enough, unless factors change: then all of it is read.
    block.corrected = dual.told_before;
    block.read = dual.read_before;
    dual.read = block.read;
    for (int i : block.corrected)
        if (dual.active[inputs + i]) dual.corrected.push_back(i);
    if (living) {
        block.corrected.clear(), block.read.clear();
        for (int i = 0; i < operations; ++i)
            if (block.operations[i].hot) block.corrected.push_back(i);
        for (int i = 0; i < inputs; ++i)
            if (!block.inputs[i].time && block.inputs[i].available < kAlways) block.read.push_back(i);
    }
    std::vector<char> clear(inputs + operations, 0);
    for (int i = 0; i < operations; ++i) {
        const Operation& op = block.operations[i];
        if (dual.silent[inputs + i] || !dual.active[inputs + i]) continue;
        dual.predicted.push_back(i);
        if (leaves_out(op.code)) continue;
        if (op.fresh_a && dual.silent[op.a]) clear[op.a] = 1;
        if (op.fresh_b && dual.silent[op.b]) clear[op.b] = 1;
    }
    for (int reg = 0; reg < inputs + operations; ++reg)
        if (clear[reg]) dual.cleared.push_back(reg);
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const Output& output = block.outputs[o];
        for (int lane = 0; lane < block.lanes; ++lane) {
            const int row = block.rows[o * block.stride + lane];
            for (int t = output.first_term; t < output.last_term; ++t) {
                const Term& term = block.terms[t];
                DualBlock::Contribution part{row, lane, output.lead, term.reg, term.constant, bool(dual.active[term.reg]),
                                             bool(dual.living[term.constant])};
                if (part.of_register || part.of_factor) dual.all.push_back(part);
                if (term.silent && dual.silent[term.reg]) part.of_register = false;
                if (part.of_register || part.of_factor) dual.contributions.push_back(part);
            }
            if (output.constant >= 0 && dual.living[output.constant])
                dual.levels.push_back({row, lane, output.lead, output.constant});
        }
    }
    auto by_row = [](const auto& one, const auto& other) { return one.row < other.row; };
    std::stable_sort(dual.contributions.begin(), dual.contributions.end(), by_row);
}

// Where every operation finds its operands.
void Tangents::find_operands(DualBlock& dual) {
    const Block& block = *dual.block;
    dual.operands.clear();
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
        const Operation& op = block.operations[i];
        const int own = int(block.inputs.size() + i);
        for (int lane = 0; lane < block.lanes; ++lane)
            for (int pair = 0; pair < dual.pairs(); ++pair) {
                auto changes = [&](int reg) { return dual.active[reg] ? dual.row(reg, lane, 0) + 2 * pair : nullptr; };
                DualOperands o{};
                o.w = block.row(own, 0) + lane;
                o.a = block.row(op.a, 0) + lane;
                o.dw = dual.row(own, lane, 0) + 2 * pair;
                o.da = changes(op.a);
                o.change = dual.change(own, lane) + 2 * pair;
                o.a_change = dual.change(op.a, lane) + 2 * pair;
                if (op.b >= 0) {
                    o.b = block.row(op.b, 0) + lane;
                    o.db = changes(op.b);
                    o.b_change = dual.change(op.b, lane) + 2 * pair;
                }
                if (op.constant >= 0) {
                    o.constant = block.constant(op.constant) + lane;
                    if (dual.living[op.constant]) o.dc = dual.constant(op.constant, lane) + 2 * pair;
                }
                dual.operands.push_back(o);
            }
    }
}

void Tangents::set_state(const double* derivatives) {
    for (int n = 0; n < degrees_; ++n)
        std::fill_n(x_.get() + std::size_t(n) * width_ * padded_, std::size_t(march_.size_) * padded_, 0.0);
    double factorial = 1;
    for (int n = 0; n < march_.largest_offset_; ++n, factorial *= n)
        for (int j = 0; j < march_.size_; ++j, derivatives += count_)
            for (int k = 0; k < count_ && n < march_.d_[j]; ++k)
                x_[(std::size_t(n) * width_ + j) * padded_ + k] = derivatives[k] / factorial;
    std::fill(late_.begin(), late_.end(), 0.0);
    cause_at_ = NAN;
    set_late();
    at_event_ = ready_ = false;
}

void Tangents::set_constants(const double* changes) {
    for (int number = 0; number < int(march_.constants_.size()); ++number, changes += count_)
        for (Aligned* series : {&x_, &polynomial_})
            std::copy_n(changes, count_, series->get() + std::size_t(march_.size_ + number) * padded_);
    share_constants();
}

void Tangents::set_constant(int number, const double* changes) {
    for (Aligned* series : {&x_, &polynomial_})
        std::copy_n(changes, count_, series->get() + std::size_t(march_.size_ + number) * padded_);
    share_constants();
}

void Tangents::set_contact_numbers(const double* gaps, const double* frictions) {
    std::copy_n(gaps, gap_numbers_.size(), gap_numbers_.begin());
    std::copy_n(frictions, friction_numbers_.size(), friction_numbers_.begin());
}

void Tangents::evaluate(int stage) {
    std::memset(residual_.get(), 0, sizeof(double) * march_.residual_.size() * padded_);
    for (DualBlock& dual : blocks_) evaluate_dual(dual, x_.get(), width_, degrees_, stage, residual_.get());
}

void Tangents::solve_rows(int stage) {
    Lanes* rows = reinterpret_cast<Lanes*>(residual_.get());
    scale_rows(rows, march_.equation_factors_[stage + march_.largest_offset_].data(), march_.size_, padded_ / kWidth);
    for (int i = 0; i < march_.size_; ++i)
        if (stage + march_.c_[i] < 0) std::fill_n(residual_.get() + std::size_t(i) * padded_, padded_, 0.0);
    for (const March::Spare& row : march_.may_rest_) {  // as March::rest_rows
        if (!march_.resting_[row.number]) continue;
        double* own = residual_.get() + std::size_t(row.number) * padded_;
        for (int k = 0; k < padded_; ++k) own[k] = stage == 0 ? -coefficient(0, row.number)[k] : 0.0;
    }
    march_.lu_.solve_many(residual_.get(), padded_ / kWidth);
}

// The rows of a stage k <= 0 are met. Returns the largest correction, relative to the changes of its direction.
double Tangents::correct(int stage) {
    solve_rows(stage);
    const std::vector<double>& unknown_factor = march_.unknown_factors_[stage + march_.largest_offset_];
    std::vector<double> moved(std::size_t(kMostOffsets) * padded_, 0.0), size = moved;
    for (int j = 0; j < march_.size_; ++j) {
        const int degree = stage + march_.d_[j];
        if (degree < 0) continue;
        double* x = x_.get() + (std::size_t(degree) * width_ + j) * padded_;
        const double* found = residual_.get() + std::size_t(j) * padded_;
        const double factor = unknown_factor[j], scale = march_.inverse_scales_[j];
        for (int k = 0; k < padded_; ++k) {
            const double delta = found[k] * factor;
            x[k] += delta;
            moved[degree * padded_ + k] = std::max(moved[degree * padded_ + k], std::abs(delta) * scale);
            size[degree * padded_ + k] = std::max(size[degree * padded_ + k], std::abs(x[k]) * scale);
            if (!std::isfinite(delta)) return delta;
        }
    }
    double largest = 0;
    for (std::size_t k = 0; k < moved.size(); ++k)
        if (moved[k] > 0) largest = std::max(largest, moved[k] / std::max(moved[k], size[k]));
    return largest;
}

// The changes at a stage k <= 0 are linear in what is found, so one solve would do if the matrix had all its digits.
bool Tangents::settle(int stage) {
    bool active = false;
    for (int c : march_.c_) active = active || stage + c >= 0;
    for (int correction = 0; active && correction < kMostCorrections; ++correction) {
        evaluate(stage);
        const double moved = correct(stage);
        if (!std::isfinite(moved)) return false;
        if (moved <= kSettledChange) break;
    }
    evaluate(stage);
    return true;
}

bool Tangents::prepare() {
    for (int stage = -march_.largest_offset_; stage <= 0; ++stage)
        if (!settle(stage)) return false;
    ready_ = true;
    return true;
}

void Tangents::expand() {
    if (!ready_)
        for (int stage = -march_.largest_offset_; stage <= 0; ++stage) evaluate(stage);
    ready_ = true;
    for (int stage = 1; stage < march_.control_.order; ++stage) {
        std::memset(residual_.get(), 0, sizeof(double) * march_.residual_.size() * padded_);
        for (DualBlock* dual : working_) predict_dual(*dual, stage, residual_.get());
        solve_rows(stage);
        for (int j = 0; j < march_.size_; ++j)
            targets_[j] = reinterpret_cast<Lanes*>(x_.get() + (std::size_t(stage + march_.d_[j]) * width_ + j) * padded_);
        place_rows(reinterpret_cast<Lanes*>(residual_.get()), march_.unknown_factors_[stage + march_.largest_offset_].data(),
                   targets_.data(), march_.size_, padded_ / kWidth);
        for (DualBlock* dual : working_) correct_dual(*dual, x_.get(), width_, degrees_, stage);
    }
}

// The changes of the state after h, from those of the step; also a guess for what stage 0 will find.
void Tangents::predict(double h) {
    const int vectors = padded_ / kWidth;
    const Lanes* old = reinterpret_cast<const Lanes*>(polynomial_.get());
    Lanes* found = reinterpret_cast<Lanes*>(x_.get());
    const std::size_t step = std::size_t(width_) * vectors;
    for (int m = 0; m <= march_.largest_offset_; ++m)
        for (int j = 0; j < march_.size_; ++j)
            if (m <= march_.d_[j])
                sum_powers(old + j * vectors, step, march_.binomials_[m].data(), m, march_.degrees_ - 1, h,
                           found + m * step + j * vectors, vectors);
}

bool Tangents::arrive(double h) {
    predict(h);
    return prepare();
}

// Gram and Schmidt, with each direction taken out of all later ones as soon as it is known. What the state's rows are
// multiplied by all rows are, for what follows from the state is linear in it; and so are constants that keep what was.
std::vector<double> Tangents::orthonormalise(const double* weights) {
    const int orders = march_.largest_offset_, size = march_.size_;
    std::vector<double*> rows, state;
    std::vector<double> weight;
    for (int j = 0; j < size; ++j) {
        double total = 0;
        for (int n = 0; n < std::min(march_.d_[j], orders); ++n) total += weights[n * size + j];
        for (int n = 0; n <= orders; ++n) {
            double* row = x_.get() + (std::size_t(n) * width_ + j) * padded_;
            if (total == 0 && n < march_.d_[j]) std::fill_n(row, padded_, 0.0);
            rows.push_back(row);
            if (n < march_.d_[j] && n < orders && weights[n * size + j] > 0) state.push_back(row), weight.push_back(weights[n * size + j]);
        }
    }
    bool kept = false;
    for (int number = 0; number < int(march_.constants_.size()); ++number)
        for (Aligned* series : {&x_, &polynomial_}) {
            double* row = series->get() + std::size_t(size + number) * padded_;
            if (std::all_of(row, row + count_, [](double change) { return change == 0; })) continue;
            rows.push_back(row);
            kept = true;
        }
    std::vector<double> logarithms(count_), along(padded_), whole(count_, 0.0);
    for (std::size_t i = 0; i < state.size(); ++i)
        for (int k = 0; k < count_; ++k) whole[k] += std::pow(weight[i] * state[i][k], 2);
    for (int k = 0; k < count_; ++k) {
        std::fill(along.begin(), along.end(), 0.0);
        for (std::size_t i = 0; i < state.size(); ++i) {
            const double own = state[i][k] * weight[i] * weight[i];
            for (int l = k; l < count_; ++l) along[l] += own * state[i][l];
        }
        const double square = along[k], inverse = 1 / std::sqrt(square);
        logarithms[k] = 0.5 * std::log(square);
        if (whole[k] == 0 || (taken_ && square <= kGone * kGone * whole[k])) {  // a contact that lasts has taken it
            logarithms[k] = -INFINITY;
            for (double* row : rows) row[k] = 0;
            continue;
        }
        for (int l = k; l < count_; ++l) along[l] /= square;
        for (double* row : rows) {
            for (int l = k + 1; l < count_; ++l) row[l] -= along[l] * row[k];
            row[k] *= inverse;
        }
    }
    if (kept) share_constants();
    taken_ = false;
    march_.cut_.clear();  // a step that is taken back would bring back the directions before
    record.points.clear();
    record.polynomials.clear();
    ready_ = false;
    return logarithms;
}

// The largest coefficients of each degree among unknowns of an offset, relative to scales, for each direction.
void Tangents::measure(int offset, int last) {
    std::fill_n(sizes_.get(), std::size_t(degrees_) * padded_, 0.0);
    const int vectors = padded_ / kWidth;
    for (int n = 0; n <= last + offset; ++n)
        for (int j : march_.of_offset_[offset])
            note_largest(reinterpret_cast<const Lanes*>(coefficient(n, j)), march_.inverse_scales_[j],
                         reinterpret_cast<Lanes*>(sizes_.get()) + n * vectors, vectors);
}

double Tangents::step_size(double h, int last) {
    double step = std::min(h, kLongest);
    // Beside a direction's own size less is roundings: of what stands still, or of work that nothing does.
    std::fill(faintest_.begin(), faintest_.end(), 0.0);
    for (int j = 0; j < march_.size_; ++j)
        for (int k = 0; k < count_ && march_.d_[j] > 0; ++k)
            faintest_[k] = std::max(faintest_[k], kFaintest * std::abs(coefficient(0, j)[k]) * march_.inverse_scales_[j]);
    for (int offset = 1; offset <= march_.largest_offset_; ++offset) {
        if (march_.of_offset_[offset].empty()) continue;
        measure(offset, last);
        for (int derivative = 0; derivative < std::min(offset, 2); ++derivative)
            // How large a direction becomes depends on the step, and the step on that.
            for (int again = 0; again < kMostShortened; ++again) {
                const double allowed = longest(derivative, last + offset, step);
                const bool settled = !(allowed < kAlike * step);
                step = std::min(step, allowed);
                if (settled) break;
            }
    }
    return step == kLongest ? h : step;
}

Swing Tangents::swing(std::size_t block, int lane, double h, int order) {
    std::vector<double> sizes(count_, 0.0);
    for (int j = 0; j < march_.size_; ++j) {
        if (march_.d_[j] == 0) continue;  // multipliers follow from the others
        for (int k = 0; k < count_; ++k)
            for (int n = march_.d_[j]; n >= 0; --n)
                sizes[k] = std::max(sizes[k], std::abs(coefficient(n, j)[k]) * std::pow(h, n) * march_.inverse_scales_[j]);
    }
    const DualBlock& dual = blocks_[block];
    const int registers = int(dual.active.size());
    Swing found{std::vector<double>(registers, 0.0), std::vector<double>(dual.block->constant_count, 0.0)};
    for (int k = 0; k < count_; ++k) {
        const double size = std::max(sizes[k], kFaintest);
        for (int reg = 0; reg < registers; ++reg) {
            if (!dual.active[reg]) continue;
            double reach = 0, power = 1;
            for (int n = 0; n <= degree_of(*dual.block, reg, order); ++n, power *= h)
                reach += std::abs(dual.series[dual.place(reg, lane, n) + k]) * power;
            found.registers[reg] = std::max(found.registers[reg], reach / size);
        }
        for (int c = 0; c < dual.block->constant_count; ++c)
            found.constants[c] = std::max(
                found.constants[c],
                std::abs(dual.constants[(std::size_t(c) * dual.block->lanes + lane) * padded_ + k]) / size);
    }
    return found;
}

// The longest step over which the last two terms of derivative 0 or 1 are below the tolerance, relative to the largest
// terms of their direction in a step of length h: it may begin with nothing.
double Tangents::longest(int derivative, int last, double h) const {
    std::array<double, kMostDegrees> powers;
    powers[derivative] = 1;
    for (int n = derivative + 1; n <= last; ++n) powers[n] = powers[n - 1] * h;
    double shares[2] = {0, 0};
    for (int k = 0; k < count_; ++k) {
        const double* sizes = sizes_.get() + k;
        double largest = derivative == 1 ? faintest_[k] / h : faintest_[k];
        for (int n = derivative; n <= last; ++n)
            largest = std::max(largest, sizes[n * padded_] * powers[n] * (derivative == 1 ? n : 1));
        for (int back = 0; back < 2; ++back)
            if (sizes[(last - back) * padded_] > 0)
                shares[back] = std::max(shares[back], sizes[(last - back) * padded_] / largest);
    }
    double step = INFINITY;
    for (int back = 0; back < 2; ++back) {
        const int degree = last - back;
        const double share = shares[back] * (derivative == 1 ? degree : 1);
        if (share > 0)
            step = std::min(step, std::pow(kShare * march_.control_.tolerance / share, 1.0 / (degree - derivative)));
        if (std::isnan(share)) return share;
    }
    return march_.control_.safety * step;
}

void Tangents::write_point() {
    for (int n = 0; n < 2; ++n)
        for (int j = 0; j < march_.size_; ++j)
            for (int k = 0; k < count_; ++k)
                record.points.push_back(n == 0 || march_.d_[j] >= 1 ? coefficient(n, j)[k] : 0.0);
}

void Tangents::write_meeting(bool again) {
    const std::size_t row = std::size_t(march_.size_) * count_;
    if (again) record.points.resize(record.points.size() - 2 * row);
    if (again || !record.keep_polynomials) return;
    for (int n = 0; n < march_.degrees_; ++n)
        for (int j = 0; j < march_.size_; ++j)
            for (int k = 0; k < count_; ++k)
                record.polynomials.push_back(n <= std::min(march_.d_[j], march_.largest_offset_) ? coefficient(n, j)[k] : 0.0);
}

// As March::write_step.
void Tangents::write_step(bool begun, double h) {
    if (!record.keep_polynomials) return;
    const std::size_t first = record.polynomials.size(), row = std::size_t(march_.size_) * count_;
    for (int n = 0; n < march_.degrees_; ++n)
        for (int j = 0; j < march_.size_; ++j) {
            const double* values = polynomial_.get() + (std::size_t(n) * width_ + j) * padded_;
            record.polynomials.insert(record.polynomials.end(), values, values + count_);
        }
    if (!begun) return;
    double* coefficients = record.polynomials.data() + first;
    for (int low = 0; low + 1 < march_.degrees_; ++low)
        for (int n = march_.degrees_ - 2; n >= low; --n)
            for (std::size_t i = 0; i < row; ++i) coefficients[n * row + i] += h * coefficients[(n + 1) * row + i];
}

}  // namespace mechsim

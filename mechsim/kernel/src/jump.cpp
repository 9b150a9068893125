// Tangents through events: how changes of the state jump where gaps are met, friction lets go, or a user's event comes.
//
// Beside the motion an event comes a little later, by an amount that is linear in the changes of the state: it makes what
// is zero there zero again. So changes are taken along the motion to the event of each neighbour (`come_to_event`), there
// they jump by the derivative of what happens, with the same contacts, and are taken back along the motion as it goes on
// (`leave_event`): Aizerman and Gantmakher's rule (seed 003, eq. 6). Impulses are small problems in the responses W, so their
// changes need those of W: a row of the equations is linear in its leading derivatives, and its change beside that for other
// ones tells how the matrix changes.
#include <algorithm>
#include <cmath>

#include "march.hpp"
#include "touch.hpp"

namespace mechsim {

namespace {

constexpr double kLoud = 1e3;       // of the accelerations there are: those with which the matrix is asked how it changes
constexpr double kAtOnce = 1e-7;    // of a gap's size: beside the motion two gaps are struck at one time to this,
constexpr double kNothing = 1e-13;  // ... and changes per unit of a direction that are roundings

// The impulses of a stroke, of numbers that change: M P = (kept - 1) rates, by elimination with pivots.
std::vector<Dual> solved(std::vector<Dual> m, std::vector<Dual> right) {
    const std::size_t size = right.size();
    for (std::size_t k = 0; k < size; ++k) {
        std::size_t best = k;
        for (std::size_t i = k + 1; i < size; ++i)
            if (std::abs(m[i * size + k].value) > std::abs(m[best * size + k].value)) best = i;
        for (std::size_t j = 0; j < size; ++j) std::swap(m[k * size + j], m[best * size + j]);
        std::swap(right[k], right[best]);
        for (std::size_t i = k + 1; i < size; ++i) {
            const Dual factor = m[i * size + k] / m[k * size + k];
            for (std::size_t j = k; j < size; ++j) m[i * size + j] -= factor * m[k * size + j];
            right[i] -= factor * right[k];
        }
    }
    for (std::size_t k = size; k-- > 0;) {
        for (std::size_t j = k + 1; j < size; ++j) right[k] -= m[k * size + j] * right[j];
        right[k] = right[k] / m[k * size + k];
    }
    return right;
}

}  // namespace

// The change of what is zero at an event, in each direction, and its slope along the motion; INFINITY where the motion goes on
// so smoothly that the time of the event does not matter.
void March::event_change(std::vector<double>& change, double& slope) const {
    slope = INFINITY;
    const auto of_output = [&](int block, int output, int lane) { tangents_->output_change(block, output, lane, 0, change.data()); };
    if (fired_ >= 0) {
        const Watcher& watcher = watchers_[fired_];
        of_output(watcher.block, watcher.output, watcher.lane);
        slope = slope_;
        return;
    }
    if (event_ >= int(gaps_.size())) {
        const Friction& friction = frictions_[event_ - gaps_.size()];
        if (!sticks(friction)) {
            if (sense_of(friction) == 0) return;
            of_output(friction.block, friction.output, friction.lane);
            slope = slide(friction, 1);
        } else if (friction.limit != friction.kinetic) {
            tangents_->limit_change(event_ - int(gaps_.size()), -slips_, change.data());
            slope = slope_;
        }
        return;
    }
    int number = event_;
    if (number < 0)  // where the march begins: what is struck there
        for (std::size_t i = 0; i < gaps_.size(); ++i) {
            const Gap& gap = gaps_[i];
            const bool open = gap.is_lent() && !gap.bond && !is_closed(gap);
            if (open && gap_term(gap, 0) <= kBegins * gap.size && gap_term(gap, 1) < -slowest(gap.size)) number = int(i);
        }
    if (number < 0) return;
    if (event_ >= 0 && leaves_) {
        std::vector<double> moved(x_.width, 0.0);
        std::copy_n(x_.degree(1), size_, moved.begin());
        slope = border_change(moved);
        for (std::size_t k = 0; k < change.size(); ++k) {
            for (int j = 0; j < x_.width; ++j) moved[j] = tangents_->coefficient(0, j)[k];
            change[k] = border_change(moved);
        }
        return;
    }
    if (event_ >= 0 && releases_) return;
    const Gap& gap = gaps_[number];
    if (std::abs(gap_term(gap, 1)) <= slowest(gap.size)) return;  // it closes without being struck
    of_output(gap.block, gap.output, gap.lane);
    slope = gap_term(gap, 1);
}

// The change of a term of an output of a block, where the rows of stages k <= 0 are those of the state.
void Tangents::output_change(int number, int place, int lane, int degree, double* found) const {
    const DualBlock& dual = blocks_[number];
    const Block& block = *dual.block;
    const Output& output = block.outputs[place];
    std::fill_n(found, count_, 0.0);
    const auto add = [&](double factor, const Lanes* source) {
        for (int k = 0; k < count_; ++k) found[k] += factor * reinterpret_cast<const double*>(source)[k];
    };
    for (int t = output.first_term; t < output.last_term; ++t) {
        const Term& term = block.terms[t];
        if (dual.active[term.reg]) add(block.constant(term.constant)[lane], dual.row(term.reg, lane, degree));
        if (dual.living[term.constant]) add(block.row(term.reg, degree)[lane], dual.constant(term.constant, lane));
    }
    if (degree == 0 && output.constant >= 0 && dual.living[output.constant]) add(1, dual.constant(output.constant, lane));
}

// That of what is left of the limit of a friction that sticks, on one side.
void Tangents::limit_change(int number, double sign, double* found) const {
    const Friction& friction = march_.frictions_[number];
    const double* own = coefficient(0, friction.row);
    const double* limits = friction_numbers_.data() + std::size_t(number) * 2 * count_ + count_;
    if (friction.gap >= 0) {
        const double* load = coefficient(0, march_.gaps_[friction.gap].row);
        for (int k = 0; k < count_; ++k) found[k] = -load[k];
    } else {
        output_change(friction.limit_block, friction.limit_output, friction.limit_lane, 0, found);
    }
    const double load = march_.limit_term(friction, 0) / friction.limit;
    for (int k = 0; k < count_; ++k) found[k] = friction.limit * found[k] + limits[k] * load + sign * own[k];
}

// By how much the event comes later beside the motion, in each direction. What is zero there is known better than its change
// by a rounding, so nothing is gained by correcting it.
bool Tangents::come_to_event() {
    if (at_event_) return true;
    if (march_.is_thrown()) {
        // A switch whose argument jumped comes when that jump does, however far from zero it is; else at a time of the clock.
        if (cause_at_ == march_.t_) late_ = cause_;
    } else {
        std::vector<double> change(count_, 0.0);
        double slope = INFINITY;
        march_.event_change(change, slope);
        for (int k = 0; k < count_; ++k) {
            late_[k] = -change[k] / slope;
            if (!std::isfinite(late_[k])) return refuse("an event is grazed");
        }
    }
    move(1);
    return at_event_ = true;
}

bool Tangents::leave_event() {
    if (!at_event_) return true;
    move(-1);
    cause_ = late_, cause_at_ = march_.t_;
    std::fill(late_.begin(), late_.end(), 0.0);
    set_late();
    at_event_ = false;
    return prepare();
}

// Changes of the state, from those at one time to those where the event is beside the motion, or back.
void Tangents::move(double sign) {
    for (int j = 0; j < march_.size_; ++j)
        for (int n = 0; n < march_.d_[j]; ++n) {
            double* x = x_.get() + (std::size_t(n) * width_ + j) * padded_;
            const double rate = sign * (n + 1) * march_.x_.degree(n + 1)[j];
            for (int k = 0; k < count_; ++k) x[k] += late_[k] * rate;
        }
    set_late();
    ready_ = false;
}

// Time itself changes where the event is.
void Tangents::set_late() {
    for (DualBlock& dual : blocks_)
        for (std::size_t i = 0; i < dual.block->inputs.size(); ++i)
            for (int lane = 0; lane < dual.block->lanes && dual.block->inputs[i].time; ++lane)
                std::copy(late_.begin(), late_.end(), reinterpret_cast<double*>(dual.row(int(i), lane, 0)));
}

// The rows of stage 0, of the motion and of its changes, with other leading derivatives; those of the changes count as zero.
void Tangents::rows_with(const std::vector<double>& leading, double factor, std::vector<double>& found) {
    std::vector<double> before;
    for (int j = 0; j < march_.size_; ++j) {
        double& x = march_.x_.degree(march_.d_[j])[j];
        before.push_back(x);
        x += factor * leading[j] * march_.unknown_factors_[march_.largest_offset_][j];
    }
    march_.residual_of(0);
    evaluate(0);
    const std::vector<double>& scale = march_.equation_factors_[march_.largest_offset_];
    found.resize(std::size_t(march_.size_) * count_);
    for (int i = 0; i < march_.size_; ++i)
        for (int k = 0; k < count_; ++k) found[std::size_t(i) * count_ + k] = -scale[i] * residual_[std::size_t(i) * padded_ + k];
    for (int j = 0; j < march_.size_; ++j) march_.x_.degree(march_.d_[j])[j] = before[j];
}

// How the matrix changes, times some leading derivatives: (rows, directions). `still` are the rows without these.
void Tangents::matrix_changes(const std::vector<double>& leading, const std::vector<double>& still, std::vector<double>& found) {
    double there = 0, asked = 0;
    for (int j = 0; j < march_.size_; ++j) {
        if (march_.d_[j] == 0) continue;
        const double scale = march_.inverse_scales_[j];
        there = std::max(there, scale * std::abs(march_.x_.degree(march_.d_[j])[j]));
        asked = std::max(asked, scale * std::abs(leading[j]));
    }
    const double factor = asked > 0 && there > 0 ? kLoud * there / asked : 1.0;
    rows_with(leading, factor, found);
    for (std::size_t i = 0; i < found.size(); ++i) found[i] = (found[i] - still[i]) / factor;
}

// Changes of the answer to `leading`, by what the matrix changes by: all joints are kept, and rows that rest say nothing.
void Tangents::answer_changes(const std::vector<double>& changed, std::vector<double>& found) {
    double* right = residual_.get();
    std::fill_n(right, march_.residual_.size() * padded_, 0.0);
    for (int i = 0; i < march_.size_; ++i)
        for (int k = 0; k < count_; ++k) right[std::size_t(i) * padded_ + k] = -changed[std::size_t(i) * count_ + k];
    const auto clear = [&](int row) { std::fill_n(right + std::size_t(row) * padded_, padded_, 0.0); };
    for (const March::Spare& row : march_.may_rest_)
        if (march_.resting_[row.number]) clear(row.number);
    for (const Gap& gap : march_.gaps_) clear(gap.account);
    for (const Friction& friction : march_.frictions_) clear(friction.account);
    march_.lu_.solve_many(right, padded_ / kWidth);
    found.resize(std::size_t(march_.size_) * count_);
    for (int i = 0; i < march_.size_; ++i) std::copy_n(right + std::size_t(i) * padded_, count_, found.data() + std::size_t(i) * count_);
}

// The changes of what meets at an event: of each direction's rate, of all responses, and of all unknowns to each.
struct Tangents::Meeting {
    std::vector<double> rates;                 // (directions of the touch, directions)
    std::vector<double> w;                     // (columns, rows, directions)
    std::vector<std::vector<double>> answers;  // per direction of the touch: (unknowns, directions)
    std::vector<double> moving;
};

// All of it at the state where the event is, with all gaps open; the march's matrix is filled and factored so.
bool Tangents::find_meeting(const Touch& touch, Meeting& found) {
    const std::size_t total = touch.total(), count = std::size_t(count_);
    const auto direction = [&](std::size_t i) -> const Direction& {
        if (i < touch.size()) return march_.gaps_[touch.gaps[i]];
        return march_.frictions_[touch.frictions[i - touch.size()]];
    };
    const auto row_of = [&](std::size_t i) {
        return i < touch.size() ? march_.gaps_[touch.gaps[i]].row : march_.frictions_[touch.frictions[i - touch.size()]].row;
    };
    for (int j = 0; j < march_.size_; ++j)  // what stage 0 finds is not asked for
        std::fill_n(x_.get() + (std::size_t(march_.d_[j]) * width_ + j) * padded_, padded_, 0.0);
    for (int stage = -march_.largest_offset_; stage < 0; ++stage) march_.residual_of(stage), evaluate(stage);
    std::vector<double> still, changed;
    rows_with(std::vector<double>(march_.size_, 0.0), 0.0, still);
    found.rates.resize(total * count);
    for (std::size_t i = 0; i < total; ++i) {
        double* rate = found.rates.data() + i * count;
        if (i < touch.size()) {
            const Gap& gap = march_.gaps_[touch.gaps[i]];
            output_change(gap.block, gap.output, gap.lane, 1, rate);
            if (!strikes_with_others(touch, i)) return refuse("contacts are struck at one time that beside the motion are struck in turn");
        } else {
            const Friction& friction = march_.frictions_[touch.frictions[i - touch.size()]];
            output_change(friction.block, friction.output, friction.lane, 0, rate);
        }
    }
    found.w.resize(total * total * count);
    found.answers.resize(total);
    const auto gradient_changes = [&](std::size_t k) { return changed.data() + std::size_t(row_of(k)) * count; };
    for (std::size_t i = 0; i < total; ++i) {
        std::vector<double> leading = touch.responses[i];
        leading[row_of(i)] = -1;
        matrix_changes(leading, still, changed);
        answer_changes(changed, found.answers[i]);
        for (std::size_t k = 0; k < total; ++k) {
            double* own = found.w.data() + (i * total + k) * count;
            std::copy_n(gradient_changes(k), count, own);
            for (int entry : direction(k).gradient) {
                const double* answer = found.answers[i].data() + std::size_t(march_.lu_.columns()[entry]) * count;
                for (std::size_t d = 0; d < count; ++d) own[d] += march_.matrix_[entry] * answer[d];
            }
        }
    }
    // What moves by itself is the rate without that of the velocities.
    found.moving = found.rates;
    std::vector<double> leading(march_.size_, 0.0);
    for (int j = 0; j < march_.size_; ++j)
        if (march_.d_[j] == 2) leading[j] = march_.x_.degree(1)[j];
    matrix_changes(leading, still, changed);
    for (std::size_t i = 0; i < total; ++i)
        for (std::size_t d = 0; d < count; ++d) {
            double along = gradient_changes(i)[d];
            for (int entry : direction(i).gradient)
                along += march_.matrix_[entry] * coefficient(1, march_.lu_.columns()[entry])[d];
            found.moving[i * count + d] -= along;
        }
    march_.residual_of(0);
    return true;
}

// Whether a gap that is struck is so at the time of the event beside the motion too: else one would come before the other, and
// there is no derivative. One that only touches is struck by what others push at it.
bool Tangents::strikes_with_others(const Touch& touch, std::size_t i) const {
    const auto closes = [&](std::size_t k) { return touch.before[k] < -touch.still[k]; };
    if (touch.was_closed[i] || touch.impulses[i] == 0) return true;
    bool pushed = false;
    for (std::size_t k = 0; k < touch.size(); ++k) pushed |= k != i && closes(k);
    if (!closes(i) && !pushed) return true;
    const Gap& gap = march_.gaps_[touch.gaps[i]];
    std::vector<double> height(count_), size(count_, 0.0);
    output_change(gap.block, gap.output, gap.lane, 0, height.data());
    for (int j = 0; j < march_.size_; ++j)
        for (int k = 0; k < count_ && march_.d_[j] > 0; ++k)
            size[k] = std::max(size[k], std::abs(coefficient(0, j)[k]) * march_.inverse_scales_[j]);
    for (int k = 0; k < count_; ++k)
        if (std::abs(height[k]) > gap.size * (kAtOnce * size[k] + kNothing)) return false;
    return true;
}

// The changes of impulses, as the strokes of a meeting were made, in one direction.
bool Tangents::strike(const Touch& touch, const Meeting& met, int direction, std::vector<Dual>& impulses,
                      std::vector<Dual>& lost) const {
    const std::size_t total = touch.total(), count = std::size_t(count_);
    std::vector<Dual> rates, w;
    for (std::size_t i = 0; i < total; ++i) rates.emplace_back(touch.before[i], met.rates[i * count + direction]);
    for (std::size_t i = 0; i < total * total; ++i) w.emplace_back(touch.w[i], met.w[i * count + direction]);
    impulses.assign(total, 0), lost.assign(total, 0);
    const auto kept_of = [&](const Stroke& stroke, std::size_t place) {
        const std::size_t i = stroke.directions[place];
        const bool bounces = stroke.kept[place] != 0;
        return Dual(stroke.kept[place], bounces ? -gap_numbers_[std::size_t(touch.gaps[i]) * count + direction] : 0.0);
    };
    const auto mu_of = [&](int friction) {
        return Dual(march_.frictions_[friction].kinetic, friction_numbers_[std::size_t(friction) * 2 * count + direction]);
    };
    for (const Stroke& stroke : touch.strokes) {
        if (stroke.rubs) {
            const std::size_t normal = stroke.directions[0], tangent = stroke.directions[1];
            const int friction = touch.frictions[tangent - touch.size()];
            Struck<Dual> found;
            const Law law = march_.gaps_[touch.gaps[normal]].law;
            if (!strike_along(touch.impact(normal, tangent, w, rates, -kept_of(stroke, 0), mu_of(friction), law), found)) return false;
            touch.take(normal, tangent, found, w, rates, impulses, lost);
            continue;
        }
        const std::size_t size = stroke.directions.size();
        std::vector<Dual> m(size * size), right(size), pushed(total, 0);
        const auto answer = [&](std::size_t of, std::size_t to) { return w[to * total + of]; };
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t own = stroke.directions[i];
            for (std::size_t j = 0; j < size; ++j) m[i * size + j] = answer(own, stroke.directions[j]);
            for (const Stroke::Slide& slide : stroke.slides)
                m[i * size + slide.load] -= Dual(slide.sense) * mu_of(slide.friction) * answer(own, slide.direction);
            right[i] = (kept_of(stroke, i) - Dual(1)) * rates[own];
        }
        const std::vector<Dual> found = solved(m, right);
        for (std::size_t i = 0; i < size; ++i) pushed[stroke.directions[i]] = found[i];
        for (const Stroke::Slide& slide : stroke.slides)
            pushed[slide.direction] = -Dual(slide.sense) * mu_of(slide.friction) * found[slide.load];
        touch.push(pushed, w, rates, impulses, lost);
    }
    return true;
}

// The changes of the state jump as it does. False where they are not known.
bool Tangents::jump(const Touch& touch) {
    if (std::none_of(touch.impulses.begin(), touch.impulses.end(), [](double impulse) { return impulse != 0; })) return true;
    for (std::size_t i = 0; i < touch.size(); ++i)
        for (int k = 0; k < count_; ++k)  // beside zero it bounces
            if (march_.gaps_[touch.gaps[i]].restitution == 0 && gap_numbers_[std::size_t(touch.gaps[i]) * count_ + k] != 0)
                return refuse("a restitution is zero, and beside zero its contact bounces");
    Meeting met;
    if (!find_meeting(touch, met)) return false;
    const std::size_t total = touch.total(), count = std::size_t(count_);
    std::vector<Dual> impulses, lost;
    for (std::size_t d = 0; d < count; ++d) {
        if (!strike(touch, met, int(d), impulses, lost)) return false;
        for (std::size_t i = 0; i < total; ++i) {
            if (!std::isfinite(impulses[i].change)) return false;
            const double impulse = touch.impulses[i];
            double factorial = 1;  // an impulse jumps what the leading derivative integrates to
            for (int offset = 1; offset <= march_.largest_offset_; factorial *= offset++)
                for (int j : march_.of_offset_[offset])
                    x_[(std::size_t(offset - 1) * width_ + j) * padded_ + d] +=
                        (impulses[i].change * touch.responses[i][j] + impulse * met.answers[i][std::size_t(j) * count + d]) / factorial;
            const int account = i < touch.size() ? march_.gaps_[touch.gaps[i]].account : march_.frictions_[touch.frictions[i - touch.size()]].account;
            x_[std::size_t(account) * padded_ + d] -=
                lost[i].change + impulses[i].change * touch.moving[i] + impulse * met.moving[i * count + d];
        }
    }
    ready_ = false;
    return true;
}

}  // namespace mechsim

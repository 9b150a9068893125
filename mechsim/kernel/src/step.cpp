// One step after the other: how long it may be, what is looked at before it counts, and the march itself.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "fleet_series.hpp"
#include "inspect.hpp"
#include "march.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

// found := old + (what rounding took from it) + change, exactly, for some unknowns.
MECHSIM_CLONES void advance_exactly(const double* __restrict old, const double* __restrict change, double* __restrict low,
                                    double* __restrict found, int count) {
    for (int j = 0; j < count; ++j) {
        double value = old[j];
        add_exactly(value, low[j], change[j]);
        found[j] = value;
    }
}

MECHSIM_CLONES void add(const double* __restrict old, const double* __restrict change, double* __restrict found, int count) {
    for (int j = 0; j < count; ++j) found[j] = old[j] + change[j];
}

}  // namespace

// How long the step may be, and how many of its stages it uses.
double March::step_size() {
    allowed_ = control_.tolerance;
    roundings_ = {};
    // Roundings grow with the order where constraints are nearly dependent: there steps are short, and of a lower one.
    const double leverage = largest_leverage();
    const double time = time_to_pose(last_step_, earlier_leverage_, leverage);
    if (leverage > kLowOrder && !is_clear_of_pose(time, step_size(last_), fastest(1)))
        last_ = std::min(last_, std::max(control_.careful_order - 1, kFewest));
    roundings_ = largest_roundings();
    if (roundings_.size == 0) return step_size(last_);
    // Higher terms are roundings, and are left out.
    auto size_of = [&](int stage, double h) {
        const int degree = stage + largest_offset_;
        return largest_term(largest_offset_, degree) * std::pow(h, degree);
    };
    while (last_ > kFewest && size_of(last_ - 1, roundings_.ratio) <= kAlike * roundings_.size) --last_;
    const double h = step_size(last_);
    const double grown = largest_leverage() - earlier_leverage_;
    double across = h;
    if (grown > 0)  // the pose is ahead
        across = kAcross * std::clamp(last_step_ * earlier_leverage_ / grown, roundings_.ratio, roundings_.distance);
    // From far away roundings would grow too much on the way, in velocities by their degree: a later step carries across.
    const double size = size_of(last_, across), speed = size * (last_ + largest_offset_) / across;
    const bool small = size <= std::max(control_.tolerance, kGrownRoundings * leverage);
    const bool slow = speed <= std::max(kFastTolerances * control_.tolerance, kFastRoundings * leverage) * speed_;
    if (across > h && !(small && (slow || leverage > kLowOrder))) return h;
    allowed_ = std::max(control_.tolerance, kOffRoundings * size);
    return across;
}

// The step over which the last two terms stay below the tolerance (as Jorba and Zou 2005, eq 3-3, by terms): in
// positions relative to their scales, and in velocities relative to the largest so far, which fast motion in short
// steps needs. What starts slowly is judged by the speed it soon has.
double March::step_size(int last) {
    peak_speed_ = std::max(peak_speed_, fastest(1));
    speed_ = peak_speed_;
    const double roundings = kFewRoundings * roundings_.size;
    const double h = step_size(0, std::max(control_.tolerance, roundings), last);
    if (!std::isfinite(h)) return h;
    double power = 1;
    if (peak_speed_ * h < kSlow)
        for (int n = 2; n < degrees_; ++n) speed_ = std::max(speed_, n * fastest(n) * (power *= h));
    double allowed = control_.tolerance * speed_;
    if (roundings > 0) allowed = std::max(allowed, roundings * (last + largest_offset_) / roundings_.ratio);
    return control_.safety * std::min(h, step_size(1, allowed, last));
}

// The same before safety, for derivative 0 or 1 of the unknowns.
double March::step_size(int derivative, double allowed, int last) const {
    double h = INFINITY;
    for (int back = 0; back < 2; ++back) {
        for (int offset = derivative + 1; offset <= largest_offset_; ++offset) {
            const int degree = last + offset - back;
            double largest = largest_term(offset, degree);
            if (derivative == 1) largest *= degree;
            if (largest > 0) h = std::min(h, std::pow(allowed / largest, 1.0 / (degree - derivative)));
        }
    }
    return h;
}

// The largest coefficient of this degree among unknowns of an offset, relative to scales.
double March::largest_term(int offset, int degree) const {
    double largest = 0;
    const double* coefficient = x_.degree(degree);
    for (int j : of_offset_[offset]) largest = std::max(largest, std::abs(coefficient[j]) * inverse_scales_[j]);
    return largest;
}

// The largest coefficient of this degree among unknowns that have a velocity, relative to scales.
double March::fastest(int degree) const {
    double largest = 0;
    for (int offset = 2; offset <= largest_offset_; ++offset) largest = std::max(largest, largest_term(offset, degree));
    return largest;
}

// Near a singular pose the last terms of the multipliers tell its distance by their ratio; roundings of positions follow
// the same ratio, and are all of one size at that distance. No size where the last terms are the motion's own.
March::Roundings March::largest_roundings() const {
    const int last = last_;
    const double leverage = largest_leverage();
    if (leverage <= kOrdinary || last < kFewest + 1 || largest_offset_ < 2) return {};
    auto distance = [&](int offset, int stage) {
        return largest_term(offset, stage + offset - 1) / largest_term(offset, stage + offset);
    };
    const double ratio = distance(0, last);
    if (!(ratio > 0)) return {};
    auto agrees = [&](double other) { return std::abs(other - ratio) <= kSamePole * ratio; };
    const double of_last = distance(largest_offset_, last), of_last_but_one = distance(largest_offset_, last - 1);
    if (!agrees(distance(0, last - 1)) || !agrees(of_last) || !agrees(of_last_but_one)) return {};
    const int degree = last + largest_offset_;
    const double size = largest_term(largest_offset_, degree) * std::pow(ratio, degree);
    if (!(size < kRoundings * leverage) || !tells_pose_at(ratio, last_step_, earlier_leverage_, leverage)) return {};
    // A pole of order k has terms with n^(k - 1) before their powers, so that the ratio of two is too small.
    const double corrected = 1 / (degree / of_last - (degree - 1) / of_last_but_one);
    return {size, ratio, std::clamp(corrected, ratio, (1 + kSamePole) * ratio)};
}

// Terms that are only roundings are not part of the step.
void March::leave_out_roundings() {
    polynomial_whole_ = last_ == control_.order - 1;
    if (polynomial_whole_) return;
    for (int j = 0; j < size_; ++j)
        for (int n = last_ + d_[j] + 1; n < degrees_; ++n) polynomial_.degree(n)[j] = 0;
}

// How far positions move when constraints are missed a little, one number per unknown: large near a singular pose.
void March::note_leverage() {
    if (lengths_.empty()) return;
    leverage_ = probe_;
    for (const Spare& row : may_rest_)
        if (resting_[row.number]) leverage_[row.number] = 0;
    lu_.solve(leverage_.data());
    for (int i : constraints_) pull_[i] = -leverage_[i] * lengths_[i];
    for (int j = 0; j < size_; ++j) leverage_[j] = d_[j] > 0 ? std::abs(leverage_[j]) * inverse_scales_[j] : 0.0;
}

// The multipliers that answer the probe pull most in the combination of constraints that is least independent (inverse
// iteration): the next probe has a share of it, so that no singular pose is missed because the probe does not meet it.
void March::aim_probe() {
    if (lengths_.empty()) return;
    double largest = 0, same = 0, old_size = 0, new_size = 0;
    for (int i : constraints_) largest = std::max(largest, std::abs(pull_[i]));
    if (!(largest > 0) || !std::isfinite(largest)) return;
    for (int i : constraints_) {
        same += aim_[i] * pull_[i];
        old_size += aim_[i] * aim_[i];
        new_size += pull_[i] * pull_[i];
    }
    if (same * same > kSameAim * old_size * new_size) return;
    for (int i : constraints_) {
        aim_[i] = pull_[i] / largest;
        probe_[i] = lengths_[i] * (scatter(i) + aim_[i]);
    }
    note_leverage();
}

// A row that rests repeats what others say: its multiplier is answered by theirs, and nothing moves. Of an acting row that has
// a larger part in this than the resting one, more is known without it.
March::Exchange March::best_exchange() {
    Exchange best{-1, -1, 0};
    for (const Spare& rests : spare_) {
        if (!resting_[rests.number]) continue;
        auto& answer = answer_;
        answer.assign(size_, 0.0);
        answer[rests.number] = 1 / lengths_[rests.number];
        lu_.solve(answer.data());
        for (const Spare& acts : spare_) {
            if (resting_[acts.number]) continue;
            const double part = std::abs(answer[acts.number]) * lengths_[acts.number];
            if (part > best.part) best = {rests.number, acts.number, part};
        }
    }
    return best;
}

bool March::exchange(const Exchange& rows) {
    resting_[rows.rests] = 0;
    resting_[rows.acts] = 1;
    lu_.set_aside();
    return factor();
}

// Let other rows rest where those that act have become much less independent than others would be. False where the matrix is
// singular.
bool March::improve_choice() {
    note_leverage();
    for (std::size_t round = 0; round < spare_.size(); ++round) {
        const Exchange best = best_exchange();
        if (!(best.part > kPoorer)) return true;
        const double leverage = largest_leverage();
        const bool regular = exchange(best);
        note_leverage();
        if (regular && largest_leverage() < kPoorer * leverage) continue;
        const bool as_before = exchange({best.acts, best.rests, 0});
        note_leverage();
        return as_before;
    }
    return true;
}

// Whether constraints are much less independent here than where the step began. Along a long chain leverage comes and goes
// without any pose: where the largest of a kinematic chain stays as it is, it is compared with that.
bool March::is_near_singular() {
    auto &before = chain_before_, &now = chain_now_;
    before.assign(size_, 0.0), now.assign(size_, 0.0);
    for (std::size_t j = 0; j < leverage_.size(); ++j) {
        before[chain_[j]] = std::max(before[chain_[j]], leverage_before_[j]);
        now[chain_[j]] = std::max(now[chain_[j]], leverage_[j]);
    }
    for (std::size_t j = 0; j < leverage_.size(); ++j) {
        const double largest = before[chain_[j]];
        const bool steady = time_to_pose(1, largest, now[chain_[j]]) > kClear;
        const double ordinary = std::max(kOrdinary, steady ? kOrdinaryPart * largest : 0.0);
        if (leverage_[j] > kNear * std::max(leverage_before_[j], ordinary)) return true;
    }
    return false;
}

// Ahead or behind. Leverage goes as the inverse of the distance, so that its change in the last step tells where the pose is.
bool tells_pose_at(double distance, double last_step, double before, double now) {
    auto agrees = [&](double told) { return told > distance / kAbout && told < distance * kAbout; };
    if (now > before) return agrees(last_step * before / (now - before));
    return agrees(last_step * before / (before - now)) || agrees(last_step * before / (before + now));
}

// Large leverage alone tells of no pose: constraints of a long chain add up what each is missed by. Where a pose makes it
// large it also changes soon: within some steps, or, where these become short with the distance, before the mechanism
// moves far.
double time_to_pose(double last_step, double before, double now) { return last_step * before / std::abs(now - before); }

bool is_clear_of_pose(double time, double h, double speed) { return time > kClear * h && time * speed > kAway; }

double March::largest_leverage() const {
    return leverage_.empty() ? 0.0 : *std::max_element(leverage_.begin(), leverage_.end());
}

// Formulas may hide what they do from their series: the longest step, at most h, on which none does.
double March::inspected(double h, int direction) {
    const Response response = [this](int row, double length) { return this->response(row, length); };
    // What is at rest has no speed by which the error of one could be judged: what is coming may be slow.
    const double tolerance = control_.tolerance * (speed_ * h < kSlow ? kSlow : 1.0);
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        if (!blocks_[i].watched || idle_[i]) continue;
        SwingOf swing;
        if (tangents_) swing = [&, i](int lane) { return tangents_->swing(i, lane, h, last_ + 1); };
        h = inspect(blocks_[i], h, direction, last_ + 1, tolerance, response, swing);
    }
    return h;
}

// A row of offset c that is missed by 1 is met again by a change of derivative d - c of the unknowns (see inspect.hpp).
double March::response(int row, double h) {
    if (row == size_) return 0;  // of something that cannot move
    if (row >= first_limit()) {
        const Friction& friction = frictions_[row - first_limit()];
        if (!sticks(friction)) return 0;
        Changes kept{};
        kept[2] = friction.limit * free_response(friction, inertias()) / friction.size;
        return moved_by(kept, 2, h, speed_);
    }
    if (row > size_) {  // of what is watched, which moves nothing, but is to be known as well
        const Watcher& watcher = watchers_[row - size_ - 1];
        double size = watcher.size, power = 1;
        for (int n = 0; n <= largest_offset_; ++n, power *= h)
            size = std::max(size, power * std::abs(output_term(watcher.block, watcher.output, watcher.lane, n)));
        return size > 0 ? 1 / size : 0.0;
    }
    for (const Gap& gap : gaps_)
        if (gap.row == row && !is_closed(gap)) return gap.pair >= 0 || gap.bond ? 0.0 : 1 / gap.size;  // it moves nothing, but is to be known as well
    for (const Friction& friction : frictions_)
        if (friction.row == row && !sticks(friction)) return 0;
    if (responses_.empty()) responses_.assign(size_, {});
    Responses& found = responses_[row];
    if (found.factorization != statistics_.factorizations) {
        found = {};
        found.factorization = statistics_.factorizations;
        std::vector<double> change(size_, 0.0);
        change[row] = 1;
        lu_.solve(change.data());
        const auto note = [&](int offset, double moved) {
            double& largest = found.largest[offset - c_[row]];
            largest = std::max(largest, moved);
        };
        for (int j = 0; j < size_; ++j)
            if (d_[j] > 0 && d_[j] >= c_[row]) note(d_[j], std::abs(change[j]) / scales_[j]);
        // What is held moves nothing, but when it is let go its load decides: it counts as the acceleration that it keeps.
        if (c_[row] <= 2)
            for_each_held([&](int held, double inverse) { note(2, std::abs(change[held]) * inverse); });
    }
    return moved_by(found.largest, largest_offset_, h, speed_);
}

// Gaps that are closed and frictions that stick: their multipliers, and the acceleration, of their sizes, that a unit of these
// keeps, were there no joints.
void March::for_each_held(const std::function<void(int, double)>& tell) const {
    std::vector<double> found;
    const auto tell_of = [&](const auto& each) {
        if (found.empty()) found = inertias();
        tell(each.row, free_response(each, found) / each.size);
    };
    for (const Gap& gap : gaps_)
        if (is_closed(gap) && !gap.bond) tell_of(gap);
    for (const Friction& friction : frictions_)
        if (sticks(friction)) tell_of(friction);
}

double moved_by(const Changes& largest, int largest_offset, double h, double speed) {
    double moved = 0, power = 1;
    for (int derivative = 0; derivative <= largest_offset; ++derivative) {
        const double position = largest[derivative] * power;
        moved = std::max(moved, position);
        if (derivative > 0) moved = std::max(moved, position * derivative / std::max(h * speed, kSlow));
        power *= h / (derivative + 1);
    }
    return moved;
}

// The state after h, from the polynomials of the step; also a guess for what stage 0 will find.
void March::predict(double h) {
    const std::size_t width = step_lengths_.size();
    std::fill(step_lengths_.begin(), step_lengths_.end(), h);
    sum_series(polynomial_, largest_offset_, degrees_, 0, int(width) / kWidth, step_lengths_.data(), advances_.data());
    for (const Stretch& each : stretches_) {
        const int first = each.first, count = each.last - each.first;
        for (int m = 0; m <= each.offset; ++m) {
            const double *old = polynomial_.degree(m) + first, *change = advances_.data() + m * width + first;
            double* found = x_.degree(m) + first;
            if (m < each.offset)
                advance_exactly(old, change, low_.data() + std::size_t(m) * size_ + first, found, count);
            else
                add(old, change, found, count);
        }
    }
}

// Put the mechanism where the step's polynomials say it is after h, and meet the equations there.
Status March::arrive(double h, double t, double t_low) {
    low_ = low_before_;
    predict(h);
    t_low_ = t_low;
    set_time(t);
    return prepare();
}

// How far off the step's polynomials are at its end, by the leading derivatives that the equations give there: an error
// in the term of degree n shows in derivative d as n over d.
double March::missed(double h) const {
    double largest = 0, power = 1;
    for (int offset = 1; offset <= largest_offset_; ++offset) {
        power *= h;
        largest = std::max(largest, mismatch_[offset] * power / binomials_[offset][last_ + offset]);
    }
    return largest;
}

// Whether the equations, met at a point inside the step, are what its polynomials say. Near a singular pose nothing is.
bool March::agrees_inside(double h) {
    const Status status = arrive(kInside * h, t_before_ + kInside * h, 0.0);
    if (status == Status::reached && missed(kInside * std::abs(h)) <= allowed_ + rounding_) return true;
    note_leverage();
    return is_near_singular() || (status == Status::reached && rough_ <= kRough);
}

// Whether the end of the step is farther from its polynomials, in positions, velocities or leading derivatives, than the
// tolerance allows. What a shorter step does not cure is rounding, as of time near a pole: `off` is how far the last try
// was off.
bool March::is_far(double h, double& off) const {
    const double off_before = off;
    off = missed(h);
    const bool cured = rough_ > kRough || off < kCured * off_before;
    const double rejection = control_.rejection * (allowed_ / control_.tolerance) + rounding_;
    // An error of positions turns velocities by that much times the leverage, and leading derivatives by its square: near
    // a singular pose they tell nothing.
    const double turned = speed_ * rejection * std::max(1.0, earlier_leverage_) + rounding_ / h;
    return distance_ > rejection || (turned_ > turned && !is_still(turned_)) ||
           (off > allowed_ + rounding_ && cured && roundings_.size == 0);
}

void March::write_point(Record& record) {
    record.t.push_back(t_);
    const double* x = x_.degree(0);
    const double* v = x_.degree(1);
    record.x.insert(record.x.end(), x, x + size_);
    for (int j = 0; j < size_; ++j) record.v.push_back(d_[j] >= 1 ? v[j] : 0.0);
    if (tangents_) tangents_->write_point();
    written_ = t_;
}

// The polynomials of the step just taken, about its beginning, or about where the record has come to, if that is later.
void March::write_step(Record& record) {
    const bool begun = std::isfinite(written_) && written_ != t_before_;
    record.start.push_back(begun ? written_ : t_before_);
    const std::size_t first = record.polynomials.size();
    for (int n = 0; n < degrees_; ++n)
        record.polynomials.insert(record.polynomials.end(), polynomial_.degree(n), polynomial_.degree(n) + size_);
    const double h = (written_ - t_before_) - t_low_before_;
    if (tangents_) tangents_->write_step(begun, h);
    if (!begun) return;
    double* coefficients = record.polynomials.data() + first;
    for (int low = 0; low + 1 < degrees_; ++low)
        for (int n = degrees_ - 2; n >= low; --n)
            for (int j = 0; j < size_; ++j) coefficients[n * size_ + j] += h * coefficients[(n + 1) * size_ + j];
}

// Whether the record has come to this point already, on the way to `t_end`.
bool March::is_written(double t_end) const { return t_end > written_ ? t_ <= written_ : t_end < written_ && t_ >= written_; }

Status March::advance(double t_end, std::int64_t steps, double seconds, Record& record) {
    const auto begin = std::chrono::steady_clock::now();
    // A batch that goes on towards the same end, which it has not reached, has nothing to take back.
    if (t_end != goal_ && !cut_.empty() && (t_end - t_) * (t_ - cut_from_) > 0) take_back_cut();
    goal_ = t_end;
    if (std::exchange(shaken_, false)) {
        const std::size_t before = happenings_.size();
        const Status met = meet();
        if (met != Status::reached) return met;
        if (happenings_.size() > before) write_meeting(record);
        continued_ = false;
    }
    if (!prepared_) {
        const Status status = prepare();
        if (status != Status::reached) return status;
        if (tangents_ && !tangents_->is_at_event() && !tangents_->prepare()) return Status::not_differentiable;
        if ((!gaps_.empty() || !frictions_.empty()) && !met_) {  // what touches where the march begins
            const Status met = meet();
            if (met != Status::reached) return met;
        }
        if (!continued_) write_point(record);  // a march that goes on has written this point already
        continued_ = false;
    }
    if (tangents_ && tangents_->is_at_event()) {  // of the user, who has done what is to be done there
        fired_ = -1;
        if (!tangents_->leave_event()) return Status::not_differentiable;
    }
    if (std::exchange(unwritten_, false)) write_meeting(record);
    for (std::int64_t step = 0; step < steps; ++step) {
        if (t_ == t_end) return Status::reached;
        if ((step & 15) == 15) {
            const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
            if (used.count() > seconds) return Status::running;
        }
        const Status status = take_step(t_end);
        // Steps beside changes do not carry across a singular pose: there they end, whatever ends them.
        const bool before_pose = tangents_ && earlier_leverage_ > kLowOrder;
        if (before_pose && (status == Status::step_too_small || status == Status::not_projected)) return Status::not_differentiable;
        if (status != Status::reached) return status;
        if (!is_written(t_end) && t_ != written_) {
            if (record.keep_polynomials) write_step(record);
            write_point(record);
        }
        if (fired_ >= 0) {
            watchers_[fired_].crossed = true;
            cut_.clear();
            if (tangents_ && !tangents_->come_to_event()) return Status::not_differentiable;
            return Status::event;
        }
        if (event_ < 0) continue;
        const Status met = meet();
        if (met != Status::reached) return met;
        write_meeting(record);
    }
    return t_ == t_end ? Status::reached : Status::running;
}

Status March::take_step(double t_end) {
    if (!expanded_) {
        if (last_step_ == 0 || leverage_.empty()) {  // later, it is known from the end of the step before
            note_leverage();
            aim_probe();
        }
        expand();
        expanded_ = true;
    }
    double left = (t_end - t_) - t_low_;
    last_ = control_.order - 1;
    double h = control_.fixed_step > 0 ? control_.fixed_step : std::min(step_size(), longest_);
    if (std::isnan(h)) return Status::not_finite;
    if (tangents_) {
        if (control_.fixed_step <= 0) h = std::min(h, tangents_->step_size(h, last_));
        if (std::isnan(h)) return Status::not_differentiable;
        if (roundings_.size > 0 && !(h <= kShortOfPose * roundings_.ratio)) {  // changes do not go across a singular pose
            if (largest_leverage() > kLowOrder) return Status::not_differentiable;
            h = kShortOfPose * roundings_.ratio;  // it is far, or what ends the series is another pole
            allowed_ = control_.tolerance;
        }
    }
    if (!gaps_.empty() || !frictions_.empty()) h = known_gaps(h, std::abs(left));
    // A step that ends there by itself is taken as if the march went on.
    if (end_of(left < 0 ? -h : h) == t_end) left = left < 0 ? -INFINITY : INFINITY;
    if (cut_.empty() && h * (1 + kSliver) >= std::abs(left)) remember();
    if (control_.fixed_step <= 0) {
        // Where there are events a step is looked at as if the march went on: see `first_event`.
        const double reach = has_events() && std::isfinite(h) ? h : std::min(h, std::abs(left));
        const double seen = inspected(reach, left < 0 ? -1 : 1);
        if (seen < reach) h = seen;
    }
    double whole = h;
    // A last step that would leave only a sliver is taken whole.
    if (h * (1 + kSliver) >= std::abs(left)) h = std::abs(left);
    event_ = fired_ = -1;
    if (!watchers_.empty()) {
        const double known = known_watchers(h);
        if (std::isnan(known)) return Status::unwatched;
        if (known < h) h = whole = known;
    }
    if (has_events()) {
        h = std::min(h, first_event(h, whole));
        if (crowded_) return Status::crowded;
        if ((event_ >= 0 || fired_ >= 0) && end_of(h) == t_) return Status::reached;  // at once: time cannot tell
        for (Gap& gap : gaps_) gap.zeros = 0;
        for (Friction& friction : frictions_) friction.zeros = 0;
    }
    const double at_event = h;
    expanded_ = false;
    std::swap(x_, polynomial_);
    if (tangents_) tangents_->swap_series();
    leave_out_roundings();
    low_before_ = low_;
    earlier_leverage_ = largest_leverage();
    std::swap(leverage_before_, leverage_);
    t_before_ = t_;
    t_low_before_ = t_low_;
    const bool held = h == longest_;
    longest_ = INFINITY;
    Status status = control_.fixed_step > 0 ? land(h, left, t_end) : land_well(h, left, t_end);
    if (status != Status::reached) return status;
    if (h != at_event) event_ = fired_ = -1;  // the step had to be shorter
    if ((event_ >= 0 || fired_ >= 0) && (status = polish_event(h, left, t_end)) != Status::reached) return status;
    if (tangents_ && !(prepared_ && tangents_->arrive(left < 0 ? -h : h))) return Status::not_differentiable;
    if (!cut_.empty() && ++cut_steps_ > kMostCut) cut_.clear();
    last_step_ = (event_ >= 0 || fired_ >= 0) && std::isfinite(whole) ? whole : h;
    aim_probe();
    statistics_.largest_projection = std::max(statistics_.largest_projection, distance_);
    ++statistics_.steps;
    if (held) longest_ = std::min(longest_, kGrowth * h);
    return Status::reached;
}

// The time at the end of a step, to rounding.
double March::end_of(double h) const {
    double t = t_, t_low = t_low_;
    add_exactly(t, t_low, h);
    return t;
}

// The end of a step of length h, which is `t_end` itself if that is where it ends.
Status March::land(double h, double left, double t_end) {
    double t = t_before_, t_low = t_low_before_;
    const double signed_h = left < 0 ? -h : h;
    add_exactly(t, t_low, signed_h);
    if (h == std::abs(left)) t = t_end, t_low = 0;
    if (t == t_before_) return Status::step_too_small;
    return arrive(signed_h, t, t_low);
}

// Where the march ends on a singular pose, the equations there say nothing, and the polynomials all. If so, the state is
// theirs; whoever goes on from there prepares anew.
bool March::ends_on_pose(double h, double left, double t_end) {
    if (roundings_.size == 0) return false;
    note_leverage();
    if (!is_near_singular()) return false;
    low_ = low_before_;
    predict(left < 0 ? -h : h);
    t_low_ = 0;
    set_time(t_end);
    distance_ = 0;
    continued_ = true;
    prepared_ = false;
    return true;
}

// Whether the roundings of time alone move the mechanism further than is accepted, at the speed it has there: then no step
// is short enough, and a drive with a pole would be followed forever.
bool March::outruns_time() const {
    return distance_ > control_.rejection + rounding_ && 0.5 * kEpsilon * std::abs(t_) * extent_speed_ > control_.rejection;
}

// The same with a shorter step where its polynomials do not agree with the equations, or where it ends near a singular
// pose.
Status March::land_well(double& h, double left, double t_end) {
    bool look = statistics_.steps % kLookEvery == 0 || h > kLonger * last_step_;
    double off = INFINITY;
    int retreats = 0;
    for (int redone = 0; redone <= kMostRedone; ++redone, ++statistics_.rejected) {
        if (look && !agrees_inside(left < 0 ? -h : h)) {
            h *= kShrink;
            longest_ = kGrowth * h;
            continue;
        }
        look = false;
        const Status status = land(h, left, t_end);
        if (status == Status::step_too_small) return status;
        if (status != Status::reached || is_far(h, off)) {
            if (h == std::abs(left) && ends_on_pose(h, left, t_end)) return Status::reached;
            if (status == Status::reached && outruns_time()) return Status::step_too_small;
            if (status != Status::reached) off = INFINITY;
            if (redone == kMostRedone) return status == Status::reached ? Status::not_projected : status;
            h *= kShrink;
            longest_ = kGrowth * h;
            continue;
        }
        note_leverage();
        if (h == std::abs(left) || retreats_ + retreats >= kMostRetreats || !is_near_singular()) {
            retreats_ = retreats > 0 ? retreats_ + 1 : 0;
            return status;
        }
        ++retreats;
        h *= kRetreat;
    }
    return Status::not_projected;
}

}  // namespace mechsim

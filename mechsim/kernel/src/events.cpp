// Gaps and what happens at them: when, found on the step's own series, and how the motion goes on (see struct Gap).
//
// With all gaps open the matrix of the step answers everything: Z are the changes of all unknowns by a unit impulse in each
// gap that touches, with all joints kept, and W = h_q Z what it does to their rates. Impacts, lasting contacts and
// releases are then small problems in W.
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "complementarity.hpp"
#include "march.hpp"
#include "policy.hpp"
#include "roots.hpp"
#include "touch.hpp"

namespace mechsim {

March::Spare March::make_spare(int row, Direction& direction) const {
    Spare spare{row, -1, {}};
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
        const bool own = lu_.rows()[entry] == row && lu_.columns()[entry] == row;
        if (own) spare.own = int(entry);
        if (lu_.rows()[entry] == row) spare.entries.push_back(int(entry));
        if (lu_.rows()[entry] == row && !own) direction.gradient.push_back(int(entry));
        if (lu_.columns()[entry] == row && !own) direction.pull.push_back(int(entry));
    }
    if (spare.own < 0) throw std::invalid_argument("a gap has no place for its multiplier");
    return spare;
}

void March::add_gap(int row, int mode, Law law, int account) {
    Gap gap;
    gap.row = row, gap.mode = mode, gap.law = law, gap.account = account;
    may_rest_.push_back(make_spare(row, gap));
    gaps_.push_back(gap);
}

void March::find_gaps() {
    const auto find = [&](auto& each) {
        for (std::size_t i = 0; i < blocks_.size(); ++i)
            for (std::size_t o = 0; o < blocks_[i].outputs.size(); ++o)
                for (int l = 0; l < blocks_[i].lanes; ++l)
                    if (blocks_[i].rows[o * blocks_[i].stride + l] == each.row)
                        each.block = int(i), each.output = int(o), each.lane = l;
        if (each.block < 0) throw std::invalid_argument("a gap has no equation");
        resting_[each.row] = !(constants_[each.mode] != 0);
    };
    for (Gap& gap : gaps_) find(gap);
    for (Friction& friction : frictions_) find(friction);
}

void March::set_closed(const Gap& gap, bool closed) {
    x_.degree(0)[size_ + gap.mode] = polynomial_.degree(0)[size_ + gap.mode] = closed ? 1.0 : 0.0;
    if (is_closed(gap) == closed) return;
    resting_[gap.row] = !closed;
    if (gap.pair >= 0) find_working();
    lu_.set_aside();
    if (!closed) {
        for (int n = 0; n < x_.degrees; ++n) x_.degree(n)[gap.row] = 0;
    }
}

// Whether a constant stands in a gap: where it changes the barrier's speed may jump, and what lies on it is struck, or left.
bool March::reads(const Gap& gap, int number) const {
    const Block& block = blocks_[gap.block];
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        if (!block.inputs[i].time && block.unknowns[i * block.stride + gap.lane] == size_ + number) return true;
    return false;
}

// A term of the series of a row, of an open gap or of what is watched, once the step is expanded.
double March::output_term(int number, int place, int lane, int degree) const {
    const Block& block = blocks_[number];
    const Output& output = block.outputs[place];
    double sum = degree == 0 && output.constant >= 0 ? block.constant(output.constant)[lane] : 0.0;
    for (int t = output.first_term; t < output.last_term; ++t)
        sum += block.constant(block.terms[t].constant)[lane] * block.row(block.terms[t].reg, degree)[lane];
    return sum;
}

void March::add_watcher(int block, int output, int lane, int direction, int mode) {
    watchers_.push_back({block, output, lane, direction, mode});
    Block& own = blocks_[block];
    own.rows[std::size_t(output) * own.stride + lane] = size_ + int(watchers_.size());  // behind all rows, for `response`
}

// The series of an open gap, or of the load on a closed one, in units of a step h.
void March::gap_series(const Gap& gap, double h, GapSeries& p, int& degree) const {
    const bool closed = is_closed(gap);
    degree = last_ + (closed ? 0 : c_[gap.row]);
    double power = 1;
    for (int n = 0; n <= degree; ++n, power *= h) p[n] = (closed ? -x_.degree(n)[gap.row] : gap_term(gap, n)) * power;
}

// A step on which the series of all open gaps, and of loads, are known to the tolerance: theirs may converge more slowly than
// those of coordinates, which stay as they are while all is held. The step may be without end; what is needed of it is `reach`.
double March::known_gaps(double h, double reach) {
    const double allowed = kGapTerms * control_.tolerance;
    for (const Gap& gap : gaps_) {
        if (is_closed(gap) || gap.pair >= 0 || gap.bond) continue;
        const int degree = last_ + c_[gap.row];
        const double shortest = std::isfinite(h) ? 1e-6 * h : 0.0;
        for (int n = degree - 1; n <= degree; ++n)
            h = std::min(h, std::max(shortest, std::pow(allowed * gap.size / std::abs(gap_term(gap, n)), 1.0 / n)));
    }
    // Loads of what is held, and limits of these, by the ways that the accelerations which they keep would lead.
    for_each_held([&](int row, double inverse) {
        const double shortest = std::isfinite(h) ? 1e-6 * h : 0.0;
        for (int n = std::max(1, last_ - 1); n <= last_; ++n) {
            double load = std::abs(x_.degree(n)[row]);
            for (const Friction& friction : frictions_)
                if (friction.row == row && friction.gap < 0) load = std::max(load, std::abs(limit_term(friction, n)));
            const double way = inverse * load / double((n + 1) * (n + 2));
            if (way > 0) h = std::min(h, std::max(shortest, std::pow(control_.tolerance / way, 1.0 / (n + 2))));
        }
    });
    if (pairs_.empty()) return h;
    const double within = std::isfinite(h) ? h : reach, known = known_pairs(within);
    return known < within ? known : h;
}

// Of a gap at rest that nothing presses: the first of its terms, in units of a step h, that is more than a rounding of how
// lively the motion is. Others may hold it, and a step on which nothing else happens is long.
int March::first_of_motion(int from, int degree, double size, double h, const std::function<double(int)>& term) const {
    double rounding = kUnpressed * size;
    for (int n = 0; n < degree; ++n, rounding *= std::sqrt(liveliest_) * h / n)
        if (n >= from && std::abs(term(n)) > rounding) return n;
    return degree;
}

// The first event within h, and how far it is. Of a step that the end of the march cuts short it is found on the whole
// one, so that no event depends, not by a rounding, on where a march is stopped.
double March::first_event(double h, double whole) {
    std::vector<int> ways;  // rows are lent to what is found
    for (const Gap& gap : gaps_) ways.push_back(gap.way);
    const auto anew = [&](double length) {
        for (std::size_t i = 0; i < gaps_.size(); ++i) gaps_[i].way = ways[i];
        return next_event(length);
    };
    const double found = next_event(h);
    if (!(found <= h) || h == whole || crowded_) return found;
    const double again = anew(std::isfinite(whole) ? whole : std::exp2(std::ceil(std::log2(h))));
    return again <= h ? again : anew(h);
}

// How far it is to the first event within h: an open gap closes, or what holds a closed one is gone. INFINITY: there is none.
double March::next_event(double h) {
    double first = INFINITY;
    leaves_ = crowded_ = false;
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
        Gap& gap = gaps_[i];
        const bool closed = is_closed(gap);
        if (gap.bond || (gap.pair >= 0 && !closed)) continue;  // events of the user, and next_touch, see to it
        GapSeries p;
        int degree;
        gap_series(gap, h, p, degree);
        double largest = 0, least = 0;
        for (int n = 0; n <= degree; ++n) largest = std::max(largest, std::abs(p[n]));
        int zeros = closed ? 0 : gap.zeros;
        if (zeros == kAtRest) zeros = first_of_motion(zeros, degree, gap.size, h, [&](int n) { return p[n]; });
        if (closed) gap.loaded = largest;
        const double noise = closed ? kUnloaded * largest : kTouch * gap.size;
        const double found = h * first_below(p.data() + zeros, degree - zeros, noise, least);
        if (!closed && zeros == 0) gap.deepest = std::min(gap.deepest, least);
        if (!(found < first)) continue;
        first = found;
        event_ = int(i);
        releases_ = closed;
    }
    if (!pairs_.empty()) first = next_touch(h, first);
    return next_crossing(h, next_slip(h, first));
}

// A step on which all that is watched is known: where something has a value but no series, at a corner, it is to be left at
// once. NaN where something has no value, which `fired_` then is.
double March::known_watchers(double h) {
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
        const Watcher& watcher = watchers_[i];
        for (int n = 0; n <= last_; ++n) {
            if (std::isfinite(output_term(watcher.block, watcher.output, watcher.lane, n))) continue;
            fired_ = int(i);
            if (n > 0) h *= kBlind;
            if (n == 0 || end_of(h) == t_) return NAN;
            break;
        }
    }
    fired_ = -1;
    return h;
}

// The same for what is watched, if that comes first.
double March::next_crossing(double h, double first) {
    fired_ = -1;
    for (std::size_t i = 0; i < watchers_.size(); ++i) {
        Watcher& watcher = watchers_[i];
        const int degree = last_;
        GapSeries p;
        double power = 1, largest = 0;
        for (int n = 0; n <= degree; ++n, power *= h) {
            p[n] = output_term(watcher.block, watcher.output, watcher.lane, n) * power;
            largest = std::max(largest, std::abs(p[n]));
        }
        watcher.size = std::max(watcher.size, std::abs(p[0]));
        if (!std::all_of(p.begin(), p.begin() + degree + 1, [](double term) { return std::isfinite(term); })) continue;
        const double noise = kTouch * largest;
        int zeros = 0;
        // Time is too coarse to meet zero itself, and so is what is watched: a short step does not make that finer. What stays
        // at zero, because a bond holds it there, has not left it.
        if (std::abs(p[0]) > kCrossed * std::max(largest, watcher.size)) watcher.crossed = false;
        if (watcher.crossed && largest <= kTouch * watcher.size) continue;
        if (watcher.crossed) zeros = 1;
        if (zeros == 0 && std::abs(p[0]) > noise)
            watcher.side = p[0] > 0 ? 1 : -1;
        else if (watcher.crossed || watcher.side == 0)
            while (zeros < degree && std::abs(p[zeros]) <= noise) ++zeros;
        if (zeros > 0) watcher.side = p[zeros] > 0 ? 1 : -1;
        // A switch whose sign is not what equations take it for is thrown at once.
        const double sign = watcher.mode >= 0 ? x_.degree(0)[size_ + watcher.mode] : double(watcher.side);
        const bool wrong = watcher.side * sign < 0;
        const double s = wrong ? 0.0 : first_crossing(p.data() + zeros, degree - zeros, watcher.direction, watcher.side, noise);
        if (!(h * s < first)) continue;
        first = h * s;
        event_ = -1;
        fired_ = int(i);
        slope_ = 0;
        for (int n = degree; n >= 1; --n) slope_ = slope_ * s + n * p[n];
        if (wrong) slope_ = INFINITY;  // nothing to be corrected
        slope_ /= h;
    }
    return first;
}

// How much later than the event the state is at which a step of length h has landed, by what is known there: gaps, loads and what
// is watched are known better at a state than from series. NaN where nothing can be corrected, 0 where nothing is to be.
double March::late_event(double h) const {
    if (fired_ >= 0) {
        const Watcher& watcher = watchers_[fired_];
        const double late = output_term(watcher.block, watcher.output, watcher.lane, 0) / slope_;
        return std::abs(late) > kNegligible * h ? late : 0.0;
    }
    if (event_ >= int(gaps_.size())) return late_friction();
    if (leaves_) return 0;
    const Gap& gap = gaps_[event_];
    double value = gap_term(gap, 0), slope = gap_term(gap, 1);
    if (releases_) {
        value = -x_.degree(0)[gap.row], slope = 0;
        for (int n = last_; n >= 1; --n) slope = slope * h - n * polynomial_.degree(n)[gap.row];
    } else if (std::abs(value) <= kNegligible * gap.size) {
        return 0;
    }
    return slope < 0 ? value / slope : NAN;
}

// The time of an event is corrected by that.
Status March::polish_event(double& h, double left, double t_end) {
    for (int count = 0; count < kMostPolishings; ++count) {
        const double better = h - late_event(h);
        if (!(better > 0) || better >= std::abs(left) || std::abs(better - h) > kNearby * h) break;
        if (std::abs(better - h) <= kEpsilon * h) break;
        const double before = h;
        h = better;
        if (land(h, left, t_end) == Status::reached) continue;
        h = before;
        return land(h, left, t_end);
    }
    return Status::reached;
}

// Terms of all gaps at a prepared state: h, h', h'' / 2.
std::vector<double> March::gap_values(int degree) const {
    std::vector<double> values;
    for (const Gap& gap : gaps_) values.push_back(gap_term(gap, degree));
    return values;
}

// Gaps that approach, and those that feel what is done to these.
std::vector<std::size_t> March::reached_by_impacts(const Touch& touch) const {
    const std::size_t count = touch.size(), total = touch.total();
    std::vector<char> reached(total, 0);
    std::vector<std::size_t> to_ask;
    const auto reach = [&](std::size_t i) {
        if (!reached[i]) reached[i] = 1, to_ask.push_back(i);
    };
    for (std::size_t i = 0; i < count; ++i)
        if (touch.rates[i] < -touch.still[i]) reach(i);
    while (!to_ask.empty()) {
        const std::size_t i = to_ask.back();
        to_ask.pop_back();
        for (std::size_t k = 0; k < total; ++k)
            if (std::abs(touch.response(k, i)) > kCoupled * std::sqrt(std::abs(touch.response(k, k) * touch.response(i, i)))) reach(k);
        for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
            if (touch.of[k] == int(i)) reach(count + k);
            if (count + k == i && touch.of[k] >= 0) reach(std::size_t(touch.of[k]));
        }
    }
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < count; ++i)
        if (reached[i] && touch.movable[i]) found.push_back(i);
    return found;
}

// The restitution of an impact: none where it is slow, or would rise less than can be told.
double March::bounce(const Touch& touch, std::size_t i) const {
    const Gap& gap = gaps_[touch.gaps[i]];
    const double rate = gap.restitution * touch.rates[i], back = -touch.pressed[i];
    const bool low = back > 0 && rate * rate <= 2 * back * kRise * gap.size;
    return low || -touch.rates[i] < gap.slow ? 0.0 : gap.restitution;
}

// All at once that are to be: none opens more slowly than its own closing asks for.
bool March::strike_together(Touch& touch) const {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < touch.size(); ++i)
        if (gaps_[touch.gaps[i]].law == Law::together) members.push_back(i);
    std::vector<double> w, q;
    for (std::size_t j : members) {
        for (std::size_t i : members) w.push_back(touch.response(i, j));
        q.push_back(touch.rates[j] + bounce(touch, j) * std::min(touch.rates[j], 0.0));
    }
    const std::vector<double> found = pushes(w, q);
    if (found.empty()) return false;
    std::vector<double> impulses(touch.size(), 0.0);
    Stroke stroke;
    for (std::size_t k = 0; k < members.size(); ++k) {
        const std::size_t i = members[k];
        impulses[i] = found[k];
        if (!(found[k] > 0)) continue;
        stroke.directions.push_back(i);
        stroke.kept.push_back(touch.rates[i] < 0 ? -bounce(touch, i) : 0.0);
    }
    touch.push(impulses);
    if (touch.noted) touch.strokes.push_back(std::move(stroke));
    for (std::size_t i : members) touch.rates[i] = std::max(touch.rates[i], 0.0);
    return true;
}

// What `bear` has found for velocities: gaps that push and what sticks come to rest, and what slides pushes by its load.
Stroke March::stopping(const Touch& touch, const std::vector<double>& impulses) const {
    Stroke stroke;
    for (std::size_t i = 0; i < touch.total(); ++i)
        if (i < touch.size() ? impulses[i] > 0 : touch.sticks[i - touch.size()]) stroke.directions.push_back(i);
    stroke.kept.assign(stroke.directions.size(), 0.0);
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const auto load = std::find(stroke.directions.begin(), stroke.directions.end(), std::size_t(touch.of[k]));
        if (touch.sticks[k] || touch.sense[k] == 0 || touch.of[k] < 0 || load == stroke.directions.end()) continue;
        stroke.slides.push_back({touch.size() + k, std::size_t(load - stroke.directions.begin()), touch.frictions[k], touch.sense[k]});
    }
    return stroke;
}

// Impacts in turn: of the gaps that approach the one that does so fastest, beside what its size and the motion are, by
// its law; those that do not bounce give way together, when no other approaches. False where friction lets none of it end.
bool March::strike(Touch& touch) {
    for (int count = 0;; ++count) {
        int fastest = -1;
        bool gives_way = false;
        double most = 1;
        for (std::size_t i = 0; i < touch.size(); ++i) {
            const double beside = -touch.rates[i] / touch.still[i];
            if (!(beside > 1)) continue;
            if (count >= kMostStrikes || bounce(touch, i) == 0)
                gives_way = true;
            else if (beside > most)
                most = beside, fastest = int(i);
        }
        if (fastest >= 0) {
            const std::size_t i = std::size_t(fastest);
            const auto rubs = std::find(touch.of.begin(), touch.of.end(), fastest);
            if (gaps_[touch.gaps[i]].law == Law::together) {
                if (!strike_together(touch)) return false;
            } else if (rubs == touch.of.end())
                touch.push(i, -bounce(touch, i));
            else if (!rub(touch, i, touch.size() + std::size_t(rubs - touch.of.begin()), bounce(touch, i)))
                return false;
            continue;
        }
        if (!gives_way) return true;
        const std::vector<double> impulses = bear(touch, reached_by_impacts(touch), false);
        if (impulses.empty()) return touch.frictions.empty();
        if (touch.noted) touch.strokes.push_back(stopping(touch, impulses));
        touch.push(impulses);
        for (std::size_t i = 0; i < touch.size(); ++i)
            if (impulses[i] > 0) touch.rates[i] = 0;
        for (std::size_t k = 0; k < touch.frictions.size(); ++k)
            if (touch.sticks[k]) touch.rates[touch.size() + k] = 0;
        if (count >= kMostStrikes) return true;
    }
}

// A gap at rest that nothing presses, and that was left open a moment ago, is entered by what comes in higher order: it is held
// before there is any load on it. What slides or begins to there is rubbed from the beginning.
void March::close_unpressed(Touch& touch, const std::function<double(std::size_t)>& unpressed) const {
    if (touch.closing < 0) return;
    const std::size_t own = std::size_t(touch.closing);
    if (touch.is_closed[own] || std::abs(touch.rates[own]) > touch.still[own] || std::abs(touch.pressed[own]) > unpressed(own)) return;
    std::vector<std::size_t> firm = touch.firm();
    if (!touch.is_free(own, firm)) return;  // others hold it already
    touch.is_closed[own] = 1;
    firm.push_back(own);
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        if (touch.of[k] != touch.closing) continue;
        const std::size_t i = touch.size() + k;
        const double goes = std::abs(touch.rates[i]) > touch.still[i] ? touch.rates[i] : touch.pressed[i];
        const bool moves = goes != touch.pressed[i] || std::abs(goes) > unpressed(i);
        touch.sticks[k] = !moves && touch.movable[i] && touch.is_free(i, firm);
        touch.sense[k] = moves ? (goes > 0 ? 1.0 : -1.0) : 0.0;
    }
}

// Loads of what touches at rest may be shared in other ways, where one repeats what others do: those of them that only push
// may bear more, and those that bear something less. Rows that are lent to one pair have one load together, which is known.
void March::note_shared(const Touch& touch, const std::function<double(std::size_t)>& unpressed) {
    const auto is_gap = [&](std::size_t i) { return i < touch.size(); };
    const auto shared = [&](std::size_t i) -> bool& {
        return is_gap(i) ? gaps_[touch.gaps[i]].shared : frictions_[touch.frictions[i - touch.size()]].shared;
    };
    const auto pair_of = [&](std::size_t i) {
        const int gap = is_gap(i) ? int(i) : touch.of[i - touch.size()];
        return gap < 0 ? -1 : gaps_[touch.gaps[gap]].pair;
    };
    std::vector<std::size_t> held = touch.firm();
    const std::size_t firm = held.size();
    for (std::size_t i = 0; i < touch.total(); ++i) {
        if (std::find(held.begin(), held.end(), i) != held.end()) continue;
        const std::size_t k = i - touch.size();  // of a friction
        const bool touches = is_gap(i) || (touch.of[k] >= 0 ? touch.is_closed[touch.of[k]] : touch.limits[k] > 0);
        if (!touches || std::abs(touch.rates[i]) > touch.still[i] || std::abs(touch.pressed[i]) > unpressed(i)) continue;
        if (!touch.movable[i]) {  // joints and bonds bear what it could
            shared(i) = true;
            continue;
        }
        std::vector<double> parts;
        if (touch.is_free(i, held, &parts)) {
            held.push_back(i);
            continue;
        }
        std::vector<std::size_t> sharing = {i};
        bool may = true;
        for (std::size_t j = 0; j < held.size(); ++j) {
            const double part = parts[j] * std::sqrt(touch.response(held[j], held[j]) / touch.response(i, i));
            if (!(std::abs(part) > kCoupled)) continue;
            sharing.push_back(held[j]);
            may = may && (j < firm || !is_gap(held[j]) || !is_gap(i) || part < 0);
        }
        const bool known = std::all_of(sharing.begin(), sharing.end(), [&](std::size_t j) {
            return is_gap(j) == is_gap(i) && pair_of(j) >= 0 && pair_of(j) == pair_of(i);
        });
        if (may && !known)
            for (std::size_t j : sharing) shared(j) = true;
    }
}

// Which of the gaps that touch and do not part are held together from here on, and what sticks. False where nothing tells.
bool March::settle_contacts(Touch& touch) {
    double largest = peak_speed_ * peak_speed_;
    const auto size = [&](std::size_t i) {
        return i < touch.size() ? gaps_[touch.gaps[i]].size : frictions_[touch.frictions[i - touch.size()]].size;
    };
    for (std::size_t i = 0; i < touch.total(); ++i) largest = std::max(largest, std::abs(touch.pressed[i]) / size(i));
    liveliest_ = largest;
    // What is let go where its load has come to nothing is pressed by roundings of that load, and nothing else may move.
    const auto unpressed = [&](std::size_t i) {
        double load = int(i) == touch.released ? gaps_[touch.gaps[i]].loaded : 0.0;
        if (i >= touch.size() && touch.slips[i - touch.size()] != 0) load = frictions_[touch.frictions[i - touch.size()]].loaded;
        return kUnpressed * std::max(largest * size(i), touch.response(i, i) * load);
    };
    const std::vector<double> open = touch.pressed;
    for (;;) {
        std::vector<std::size_t> held;
        for (std::size_t i = 0; i < touch.size(); ++i)
            if (int(i) != touch.released && touch.movable[i] && std::abs(touch.rates[i]) <= touch.still[i]) held.push_back(i);
        bool pressed = !touch.frictions.empty();
        for (std::size_t j : held) pressed = pressed || open[j] < -unpressed(j);
        touch.pressed = open;
        touch.is_closed.assign(touch.size(), 0);
        if (pressed) {
            const std::vector<double> loads = bear(touch, held, true);
            if (loads.empty()) return false;
            for (std::size_t i : held) touch.is_closed[i] = loads[i] > 0;
            for (std::size_t k = 0; k < touch.total(); ++k)
                for (std::size_t i = 0; i < touch.total(); ++i) touch.pressed[i] += touch.response(i, k) * loads[k];
        }
        // What was to open is pressed together all the same, or what was to slide does not: it is asked like the others.
        const bool opens = touch.released < 0 || touch.pressed[touch.released] >= -kContradicts * unpressed(touch.released);
        bool slip = true;
        for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
            const std::size_t i = touch.size() + k;
            if (touch.slips[k] * touch.pressed[i] >= -kContradicts * unpressed(i)) continue;
            touch.slips[k] = 0, slip = false;
        }
        if (opens && slip) break;
        if (!opens) touch.released = -1;
    }
    close_unpressed(touch, unpressed);
    for (std::size_t i = 0; i < touch.size(); ++i) {
        const bool parts = touch.rates[i] > touch.still[i], lifts = touch.pressed[i] > unpressed(i);
        if (!parts && !touch.is_closed[i] && touch.pressed[i] < -kContradicts * unpressed(i)) return false;
        gaps_[touch.gaps[i]].zeros = touch.is_closed[i] ? 0 : parts ? 1 : lifts ? 2 : kAtRest;
    }
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const std::size_t i = touch.size() + k;
        const bool slides = std::abs(touch.rates[i]) > touch.still[i], begins = std::abs(touch.pressed[i]) > unpressed(i);
        frictions_[touch.frictions[k]].zeros = slides ? 0 : begins ? 1 : 2;
    }
    note_shared(touch, unpressed);
    return true;
}

// What would rise less than can be told stays, if it is pressed; what is at rest beside it stays so too, and does not slide.
void March::stay(Touch& touch) const {
    std::vector<std::size_t> staying;
    bool rises = false;
    for (std::size_t i = 0; i < touch.size(); ++i) {
        const double rate = touch.rates[i], back = -touch.pressed[i];
        const bool low = back > 0 && rate * rate <= 2 * back * kRise * gaps_[touch.gaps[i]].size;
        if (int(i) == touch.released || !(low || std::abs(rate) <= touch.still[i])) continue;
        staying.push_back(i);
        rises = rises || std::abs(rate) > touch.still[i];
    }
    if (!rises) return;
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const std::size_t i = touch.size() + k;
        const bool stays = std::find(staying.begin(), staying.end(), std::size_t(touch.of[k])) != staying.end();
        if (stays && touch.movable[i] && std::abs(touch.rates[i]) <= touch.still[i]) staying.push_back(i);
    }
    for (int round = 0; round < 100; ++round) {
        double off = 0;
        for (std::size_t i : staying) {
            off = std::max(off, std::abs(touch.rates[i]) / touch.still[i]);
            touch.push(i, 0.0);
        }
        if (off <= 0.1) break;
    }
    for (std::size_t i : staying) touch.rates[i] = 0;
}

bool March::approaches(const Touch& touch) {
    for (std::size_t i = 0; i < touch.size(); ++i)
        if (touch.rates[i] < -touch.still[i]) return true;
    return false;
}

// W and Z of all directions, with all gaps open. False where a gap closes that does not answer its own push; one that joints
// and bonds hold at rest has nothing to do.
bool March::find_responses(Touch& touch) {
    const std::size_t count = touch.size(), total = touch.total();
    const auto direction = [&](std::size_t i) -> const Direction& {
        if (i < count) return gaps_[touch.gaps[i]];
        return frictions_[touch.frictions[i - count]];
    };
    fill_matrix();
    const std::vector<double> free = inertias();
    for (std::size_t i = 0; i < total; ++i) {
        touch.responses.push_back(response_to(direction(i)));
        for (std::size_t k = 0; k < total; ++k) touch.w.push_back(along(direction(k), touch.responses[i].data()));
        touch.moving.push_back(touch.rates[i] - along(direction(i), x_.degree(1)));
        // Rounding answers in any case: beside what it would without any joint.
        touch.movable.push_back(touch.response(i, i) > kImmovable * free_response(direction(i), free));
        if (i < count && !touch.movable[i] && touch.rates[i] < -touch.still[i]) return false;
    }
    return true;
}

// What happens where gaps touch: the velocities and modes with which the motion goes on, and how its tangents do.
Status March::meet() {
    if (tangents_ && !tangents_->come_to_event()) return Status::not_differentiable;
    const std::size_t before = happenings_.size();
    const Status status = meet_gaps();
    if (status != Status::reached || !tangents_) return status;
    for (std::size_t i = before; i < happenings_.size(); ++i)
        lates_.insert(lates_.end(), tangents_->late().begin(), tangents_->late().end());
    return tangents_->leave_event() ? status : Status::not_differentiable;
}

Status March::meet_gaps() {
    if (t_ != met_at_) meetings_ = 0, let_go_.clear();
    if (event_ >= int(gaps_.size()) && slips_ != 0) let_go_.emplace_back(event_ - int(gaps_.size()), slips_);
    if (++meetings_ > kMostMeetings) return Status::endless;
    const bool begins = !met_;
    met_ = true;
    met_at_ = t_;
    Touch touch;
    touch.noted = tangents_ != nullptr;
    std::vector<char> closed;
    for (const Gap& gap : gaps_) closed.push_back(is_closed(gap));
    bool opened = false;
    for (const Gap& gap : gaps_)
        if (is_closed(gap) && !gap.bond) set_closed(gap, false), opened = true;
    const Rubs rubbed = stop_rubbing();
    if (!pairs_.empty() && !lend_touching(closed, begins)) return Status::crowded;
    if (opened || begins || !prepared_) {
        const Status status = prepare();
        if (status != Status::reached) return status;
    }
    const std::vector<double> heights = gap_values(0), rates = gap_values(1), halves = gap_values(2);
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
        Gap& gap = gaps_[i];
        if (!gap.is_lent() || gap.bond) continue;
        gap.deepest = std::min(gap.deepest, heights[i]);
        if (!(gap.pair >= 0 || closed[i] || int(i) == event_ || heights[i] <= (begins ? kBegins : kTouch) * gap.size)) continue;
        if (int(i) == event_ && releases_) touch.released = int(touch.size());
        if (int(i) == event_ && !releases_ && meetings_ > 1) touch.closing = int(touch.size());
        touch.gaps.push_back(int(i));
        touch.rates.push_back(rates[i]);
        touch.pressed.push_back(2 * halves[i]);
        touch.still.push_back(slowest(gap.size));
        touch.was_closed.push_back(closed[i]);
    }
    add_frictions(touch, rubbed);
    for (std::size_t k = 0; k < frictions_.size(); ++k) {
        const bool parted = std::find(touch.frictions.begin(), touch.frictions.end(), int(k)) == touch.frictions.end();
        if (parted && rubbed[k] != Rubs::value_type{})
            happenings_.push_back({t_, int(gaps_.size() + k), 0, 0, 0, 0, rubbed[k].first, false, 0});
    }
    event_ = -1;
    const std::size_t count = touch.size(), total = touch.total();
    touch.before = touch.rates;
    touch.impulses.assign(total, 0.0);
    touch.lost.assign(total, 0.0);
    touch.is_closed.assign(count, 0);
    touch.limited.assign(count, 0);
    if (total == 0) return Status::reached;
    if (!find_responses(touch)) return Status::undecided;
    for (int round = 0; round == 0 || (round < kMostRounds && approaches(touch)); ++round) {
        if (!strike(touch)) return Status::wedged;
        for (std::size_t i = 0; i < count; ++i)
            if (!(touch.rates[i] >= -kContradicts * touch.still[i])) return Status::undecided;  // it would be entered
        stay(touch);  // which others may feel
    }
    if (tangents_ && !tangents_->jump(touch)) return Status::not_differentiable;
    bool changed = false;
    for (std::size_t i = 0; i < total; ++i) {
        changed = changed || touch.impulses[i] != 0;
        add_impulse(touch.impulses[i], touch.responses[i]);
    }
    for (std::size_t i = 0; i < total; ++i) {
        const int account = i < count ? gaps_[touch.gaps[i]].account : frictions_[touch.frictions[i - count]].account;
        add_exactly(x_.degree(0)[account], low_[account], -touch.lost[i] - touch.impulses[i] * touch.moving[i]);
    }
    if (changed) {
        const Status status = prepare();
        if (status != Status::reached) return status;
        const std::vector<double> after = gap_values(2);
        for (std::size_t i = 0; i < count; ++i) touch.pressed[i] = 2 * after[touch.gaps[i]];
        for (std::size_t k = 0; k < touch.frictions.size(); ++k) touch.pressed[count + k] = slide(frictions_[touch.frictions[k]], 1);
    }
    const std::vector<double> open = touch.pressed;
    for (int round = 0;; ++round) {
        if (round > kMostRounds || !settle_contacts(touch)) return touch.frictions.empty() ? Status::undecided : Status::wedged;
        bool any = round > 0;
        for (std::size_t i = 0; i < count; ++i) {
            set_closed(gaps_[touch.gaps[i]], touch.is_closed[i]);
            any = any || touch.is_closed[i];
        }
        for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
            set_rubbing(frictions_[touch.frictions[k]], touch.sticks[k], touch.sense[k]);
            any = any || touch.sticks[k] || touch.sense[k] != 0;
        }
        if (any) {
            const Status status = prepare();
            if (status != Status::reached) return status;
        }
        if (fits_limits(touch)) break;
        touch.pressed = open;
    }
    const auto holds = [](char each) { return each != 0; };
    const bool held = std::any_of(touch.is_closed.begin(), touch.is_closed.end(), holds);
    if (tangents_ && (held || std::any_of(touch.sticks.begin(), touch.sticks.end(), holds))) tangents_->note_taken();
    for (std::size_t i = 0; i < count; ++i) {
        const bool told = touch.impulses[i] != 0 || touch.was_closed[i] != touch.is_closed[i];
        if (told)
            happenings_.push_back({t_, touch.gaps[i], touch.before[i], touch.rates[i], touch.impulses[i], touch.lost[i],
                                   touch.was_closed[i] != 0, touch.is_closed[i] != 0, double(gaps_[touch.gaps[i]].way), touch.limited[i] != 0});
    }
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const std::size_t i = count + k;
        const bool told = touch.impulses[i] != 0 || touch.was_stuck[k] != touch.sticks[k] || touch.had_sense[k] != touch.sense[k];
        if (told)
            happenings_.push_back({t_, int(gaps_.size()) + touch.frictions[k], touch.before[i], touch.rates[i], touch.impulses[i],
                                   touch.lost[i], touch.was_stuck[k] != 0, touch.sticks[k] != 0, touch.sense[k]});
    }
    expanded_ = false;
    leverage_.clear();
    responses_.clear();
    cut_.clear();
    longest_ = INFINITY;
    return Status::reached;
}

// The state after a meeting is a point of its own, at the same time; a step without length leads to it.
void March::write_meeting(Record& record) {
    const std::int64_t last = std::int64_t(record.t.size()) - 1;
    const bool again = meetings_ > 1 && last >= 0 && met_row_ == last;
    if (again) {  // only the last state counts
        record.t.pop_back();
        record.x.resize(record.x.size() - size_);
        record.v.resize(record.v.size() - size_);
    } else if (record.keep_polynomials) {
        record.start.push_back(t_);
        for (int n = 0; n < degrees_; ++n)
            for (int j = 0; j < size_; ++j)
                record.polynomials.push_back(n <= std::min(d_[j], largest_offset_) ? x_.degree(n)[j] : 0.0);
    }
    if (tangents_) tangents_->write_meeting(again);
    write_point(record);
    met_row_ = std::int64_t(record.t.size()) - 1;
}

}  // namespace mechsim

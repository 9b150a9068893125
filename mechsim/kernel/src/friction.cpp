// Coulomb's friction, exactly: what sticks is held by a constraint until it would need more than the load allows, what
// slides is rubbed by a force whose sense is a constant until it comes to rest (see struct Friction).
#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "complementarity.hpp"
#include "march.hpp"
#include "policy.hpp"
#include "roots.hpp"
#include "routh.hpp"
#include "touch.hpp"

namespace mechsim {

void March::add_friction(Friction friction) {
    may_rest_.push_back(make_spare(friction.row, friction));
    frictions_.push_back(std::move(friction));
}

void March::set_rubbing(const Friction& friction, bool sticking, double sense) {
    const std::array<std::pair<int, double>, 2> constants = {{{friction.mode, sticking ? 1.0 : 0.0}, {friction.sense, sense}}};
    bool changed = sticks(friction) != sticking;
    for (const auto& [number, value] : constants) {
        changed = changed || x_.degree(0)[size_ + number] != value;
        x_.degree(0)[size_ + number] = polynomial_.degree(0)[size_ + number] = value;
    }
    if (!changed) return;
    if (sticks(friction) != sticking) lu_.set_aside();
    resting_[friction.row] = !sticking;
    if (!sticking)
        for (int n = 0; n < x_.degrees; ++n) x_.degree(n)[friction.row] = 0;
    read_constants(blocks_[friction.block]);
    find_working();
    prepared_ = false;
}

// A term of the most that friction may be while it sticks.
double March::limit_term(const Friction& friction, int degree) const {
    const double load = friction.gap >= 0 ? -x_.degree(degree)[gaps_[friction.gap].row]
                                          : output_term(friction.limit_block, friction.limit_output, friction.limit_lane, degree);
    return friction.limit * load;
}

// The series, in units of a step h, of what is left of the limit on one side.
void March::hold_limit(const Friction& friction, double h, double sign, GapSeries& p) const {
    double power = 1;
    for (int n = 0; n <= last_; ++n, power *= h) p[n] = (limit_term(friction, n) + sign * x_.degree(n)[friction.row]) * power;
}

// How far it is to where what slides comes to rest, or what sticks lets go, if that is before `first`.
double March::next_slip(double h, double first) {
    for (std::size_t i = 0; i < frictions_.size(); ++i) {
        Friction& friction = frictions_[i];
        const double sense = sense_of(friction);
        // What others hold still moves by roundings of what pulls at it.
        const double noise = slowest(friction.size) + kUnpressed * liveliest_ * friction.size * h;
        GapSeries p{};
        double least = 0;
        const auto note = [&](double s, double slips) {
            if (!(h * s < first)) return;
            first = h * s;
            slope_ = 0;
            for (int n = last_; n >= 1; --n) slope_ = slope_ * s + n * p[n] / h;
            event_ = int(gaps_.size() + i);
            releases_ = leaves_ = false;
            slips_ = slips;
        };
        if (sticks(friction)) {
            friction.loaded = 0;
            for (const double sign : {1.0, -1.0}) {
                hold_limit(friction, h, sign, p);
                double largest = 0;
                for (int n = 0; n <= last_; ++n) largest = std::max(largest, std::abs(p[n]));
                friction.loaded = std::max(friction.loaded, largest);
                note(first_below(p.data(), last_, kUnloaded * largest, least), -sign);
            }
        } else if (sense != 0) {
            const int degree = last_ + 1;
            double power = sense;
            for (int n = 0; n <= degree; ++n, power *= h) p[n] = slide(friction, n) * power;
            note(first_below(p.data() + friction.zeros, degree - friction.zeros, noise, least), 0);
        } else if (friction.gap < 0 || is_closed(gaps_[friction.gap])) {
            // It is moved from rest by a drive, so smoothly that no acceleration told which way.
            // Its place is the gap at rest whose rate the slide is.
            const auto place = [&](int n) {
                const double term = slide(friction, n - 1) * std::pow(h, n);
                return std::abs(term) > noise * h ? term / n : 0.0;
            };
            const int n = first_of_motion(1, last_ + 2, friction.size, h, place);
            if (n < last_ + 2) note(0, place(n) > 0 ? 1 : -1);
        }
    }
    return first;
}

// As `late_event`, where a friction comes to rest, or to its limit.
double March::late_friction() const {
    const Friction& friction = frictions_[event_ - gaps_.size()];
    const double sense = sense_of(friction), sign = -slips_;
    double value = sense * slide(friction, 0), slope = sense * slide(friction, 1);
    if (sticks(friction)) value = limit_term(friction, 0) + sign * x_.degree(0)[friction.row], slope = slope_;
    return slope < 0 ? value / slope : NAN;
}

// Nothing rubs; how it did.
March::Rubs March::stop_rubbing() {
    Rubs before;
    for (const Friction& friction : frictions_) {
        before.emplace_back(sticks(friction), sense_of(friction));
        set_rubbing(friction, false, 0);
    }
    return before;
}

// Frictions take part that have a gap which touches, or none; here with all gaps open and nothing rubbing.
void March::add_frictions(Touch& touch, const Rubs& before) const {
    for (std::size_t i = 0; i < frictions_.size(); ++i) {
        const Friction& friction = frictions_[i];
        const auto place = std::find(touch.gaps.begin(), touch.gaps.end(), friction.gap);
        if (friction.gap >= 0 && place == touch.gaps.end()) continue;
        const auto gone = std::find_if(let_go_.begin(), let_go_.end(), [&](const auto& each) { return each.first == int(i); });
        touch.slips.push_back(gone != let_go_.end() ? gone->second : 0.0);
        touch.frictions.push_back(int(i));
        touch.of.push_back(friction.gap >= 0 ? int(place - touch.gaps.begin()) : -1);
        touch.rates.push_back(slide(friction, 0));
        touch.pressed.push_back(slide(friction, 1));
        touch.still.push_back(slowest(friction.size));
        touch.was_stuck.push_back(before[i].first);
        touch.had_sense.push_back(before[i].second);
        touch.limits.push_back(friction.gap >= 0 ? 0.0 : std::max(0.0, limit_term(friction, 0) / friction.limit));
    }
    touch.sticks.assign(touch.frictions.size(), 0);
    touch.sense.assign(touch.frictions.size(), 0.0);
}

// Whether limits that depend on what acts in joints are as they were taken for; else they are taken anew.
bool March::fits_limits(Touch& touch) const {
    bool fits = true;
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const Friction& friction = frictions_[touch.frictions[k]];
        if (friction.gap >= 0) continue;
        const double limit = limit_term(friction, 0), own = x_.degree(0)[friction.row];
        const std::size_t i = touch.size() + k;
        const bool slides = std::abs(touch.rates[i]) > touch.still[i];
        const bool goes_on = touch.sense[k] * slide(friction, 1) >= -kSameLimit * touch.response(i, i) * limit;
        if (touch.sticks[k] ? std::abs(own) > (1 + kSameLimit) * limit : !(slides || goes_on)) fits = false;
        touch.limits[k] = std::max(0.0, limit / friction.limit);
    }
    return fits;
}

// One impact with friction. False where it never ends.
bool March::rub(Touch& touch, std::size_t normal, std::size_t tangent, double restitution) const {
    const Impact<double> impact = touch.impact(normal, tangent, touch.w, touch.rates, restitution,
                                               frictions_[touch.frictions[tangent - touch.size()]].kinetic, gaps_[touch.gaps[normal]].law);
    Struck<double> found;
    if (!strike_along(impact, found)) return false;
    touch.limited[normal] = touch.limited[normal] || found.limited;
    touch.take(normal, tangent, found, touch.w, touch.rates, touch.impulses, touch.lost);
    touch.note_rub(normal, tangent, restitution);
    return true;
}

// A friction in the problem below. `load`: the place of its gap among those held; `sense` 0: it may stick.
struct March::Rubbing {
    std::size_t direction, load, place;
    double share, more;  // its limit: a share of the load, and more
    double sense;
    bool let_go = false;   // it has come to its limit here and now, ...
    double strained = 1;   // ... but others hold it still: then it bears so many times what it slides with
    double limit(const std::vector<double>& loads) const { return more + (load == kNone ? 0.0 : share * loads[load]); }
    static constexpr std::size_t kNone = std::size_t(-1);
};

// Whether a direction is not held by others already, by what is left of its answer to a push when these do not give way.
// If they hold it, `parts` are what each does for that.
bool Touch::is_free(std::size_t own, const std::vector<std::size_t>& held, std::vector<double>* parts) const {
    const std::size_t size = held.size() + 1;
    std::vector<double> m(size * size);
    const auto direction = [&](std::size_t i) { return i + 1 < size ? held[i] : own; };
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) m[i * size + j] = response(direction(i), direction(j));
    for (std::size_t k = 0; k + 1 < size; ++k) {
        if (!(m[k * size + k] > kHeldAlready * response(held[k], held[k]))) continue;  // it repeats others itself
        for (std::size_t i = k + 1; i < size; ++i) {
            const double factor = m[i * size + k] / m[k * size + k];
            for (std::size_t j = k; j < size; ++j) m[i * size + j] -= factor * m[k * size + j];
        }
    }
    if (m.back() > kHeldAlready * response(own, own)) return true;
    if (!parts) return false;
    parts->assign(held.size(), 0.0);
    for (std::size_t k = size - 1; k-- > 0;) {
        if (!(m[k * size + k] > kHeldAlready * response(held[k], held[k]))) continue;
        double sum = m[k * size + size - 1];
        for (std::size_t j = k + 1; j + 1 < size; ++j) sum -= m[k * size + j] * (*parts)[j];
        (*parts)[k] = sum / m[k * size + k];
    }
    return false;
}

// Frictions that take part: of gaps that are held; where `forces` are asked for, of joints too, and some slide already.
std::vector<March::Rubbing> March::rubbing(const Touch& touch, const std::vector<std::size_t>& held, bool forces) const {
    std::vector<Rubbing> found;
    // Beside how fast gaps close, each as energy: what slides much faster goes on sliding through an impact.
    const auto pace = [&](std::size_t i) { return std::abs(touch.rates[i]) / std::sqrt(touch.response(i, i)); };
    double closing = 0;
    for (std::size_t g : held)
        if (touch.rates[g] < 0) closing = std::max(closing, pace(g));
    for (std::size_t k = 0; k < touch.frictions.size(); ++k) {
        const Friction& friction = frictions_[touch.frictions[k]];
        const std::size_t direction = touch.size() + k;
        std::size_t load = Rubbing::kNone;
        for (std::size_t g = 0; g < held.size(); ++g)
            if (touch.of[k] == int(held[g])) load = g;
        if (friction.gap >= 0 ? load == Rubbing::kNone : !forces) continue;
        double sense = 0;
        const bool moves = std::abs(touch.rates[direction]) > touch.still[direction];
        if (moves && (forces || (touch.movable[direction] && pace(direction) > kMuchFaster * closing)))
            sense = touch.rates[direction] > 0 ? 1 : -1;
        if (forces && sense == 0) sense = touch.slips[k];
        // What a drive moves cannot stick: it slides as it begins to.
        if (sense == 0 && !touch.movable[direction]) {
            if (!forces || !(std::abs(touch.pressed[direction]) > touch.still[direction])) continue;
            sense = touch.pressed[direction] > 0 ? 1 : -1;
        }
        const double most = sense == 0 && forces ? friction.limit : friction.kinetic;
        const bool of_gap = friction.gap >= 0;
        found.push_back({direction, load, k, of_gap ? most : 0.0, of_gap ? 0.0 : most * touch.limits[k], sense});
        found.back().let_go = forces && !moves && touch.movable[direction] && touch.slips[k] != 0;
    }
    return found;
}

// What gaps that are held push with, and what rubs at them and in joints, so that none is entered, no friction is more than its
// limit, and what is less sticks: by Lemke's method in the form of Stewart and Trinkle (1996) and Anitescu and Potra (1997), for
// which it finds an answer whenever nothing slides yet. Forces for accelerations, or impulses for velocities, in all directions;
// empty where there is no answer.
std::vector<double> March::bear(Touch& touch, const std::vector<std::size_t>& held, bool forces) const {
    const std::size_t total = touch.total(), a = held.size();
    std::vector<Rubbing> rubs = rubbing(touch, held, forces);
    for (std::size_t round = 0; round <= 2 * rubs.size(); ++round) {
        std::vector<const Rubbing*> may_stick;
        std::vector<double> base = forces ? touch.pressed : touch.rates, columns(a * total);
        for (std::size_t k = 0; !forces && k < total; ++k)
            if (std::abs(base[k]) <= touch.still[k]) base[k] = 0;
        for (std::size_t g = 0; g < a; ++g)
            for (std::size_t k = 0; k < total; ++k) columns[g * total + k] = touch.response(k, held[g]);
        for (const Rubbing& each : rubs) {
            if (each.sense == 0) {
                may_stick.push_back(&each);
                continue;
            }
            // What slides goes with its load.
            for (std::size_t k = 0; k < total; ++k) {
                const double answer = each.sense * touch.response(k, each.direction);
                base[k] -= each.more * answer;
                if (each.load != Rubbing::kNone) columns[each.load * total + k] -= each.share * answer;
            }
            if (each.load != Rubbing::kNone && !(columns[each.load * total + held[each.load]] > 0))
                return {};  // pushed, it would close (Painleve)
        }
        double largest = 0;
        for (double each : base) largest = std::max(largest, std::abs(each));
        // Unknowns: loads; frictions forward and backward; how fast each slides (or begins to).
        const std::size_t c = may_stick.size(), size = a + 3 * c;
        const auto direction = [&](std::size_t row) { return row < a ? held[row] : may_stick[(row - a) % c]->direction; };
        std::vector<double> unit(size), m(size * size, 0.0), q(size);
        for (std::size_t i = 0; i < size; ++i) {
            const double own = std::sqrt(touch.response(direction(i), direction(i)));
            unit[i] = i < a + 2 * c ? 1 / own : own;
        }
        const auto set = [&](std::size_t row, std::size_t column, double value) {
            m[column * size + row] = value * unit[row] * unit[column];
        };
        for (std::size_t row = 0; row < a + 2 * c; ++row) {
            const double turned = row < a + c ? 1 : -1;
            q[row] = turned * base[direction(row)] * unit[row];
            for (std::size_t g = 0; g < a; ++g) set(row, g, turned * columns[g * total + direction(row)]);
            for (std::size_t column = a; column < a + 2 * c; ++column)
                set(row, column, (column < a + c ? turned : -turned) * touch.response(direction(row), direction(column)));
            if (row >= a) set(row, a + 2 * c + (row - a) % c, 1);
        }
        for (std::size_t s = 0; s < c; ++s) {
            const std::size_t row = a + 2 * c + s;
            q[row] = may_stick[s]->more * unit[row];
            if (may_stick[s]->load != Rubbing::kNone) set(row, may_stick[s]->load, may_stick[s]->share);
            set(row, a + s, -1);
            set(row, a + c + s, -1);
        }
        const Complementary answer = complementary(m, q);
        if (!answer.solved) return {};
        std::vector<double> found(total, 0.0), loads(a);
        std::vector<std::size_t> firm;
        for (std::size_t g = 0; g < a; ++g) {
            found[held[g]] = loads[g] = answer.z[g] * unit[g];
            if (loads[g] > 0) firm.push_back(held[g]);
        }
        touch.sense.assign(touch.frictions.size(), 0.0);
        touch.sticks.assign(touch.frictions.size(), 0);
        bool changed = false;
        std::size_t s = 0;
        std::vector<const Rubbing*> unmoved;
        for (Rubbing& each : rubs) {
            const double limit = each.limit(loads);
            if (each.sense != 0) {
                found[each.direction] = -each.sense * limit;
                touch.sense[each.place] = limit > 0 ? each.sense * each.strained : 0.0;
                continue;
            }
            const std::size_t forward = a + s, backward = forward + c, slides = backward + c;
            ++s;
            found[each.direction] = answer.z[forward] * unit[forward] - answer.z[backward] * unit[backward];
            if (!(limit > 0)) continue;
            if (!answer.acts[slides]) {
                if (answer.acts[forward] || answer.acts[backward])
                    touch.sticks[each.place] = 1, firm.push_back(each.direction);
                else
                    unmoved.push_back(&each);
                continue;
            }
            touch.sense[each.place] = found[each.direction] > 0 ? -1 : 1;
            const bool moves = answer.z[slides] * unit[slides] > kStrained * largest;
            const Friction& friction = frictions_[touch.frictions[each.place]];
            if (!forces || friction.limit == friction.kinetic) continue;
            if (!moves) {  // others hold it still: it is strained as far as it can be
                touch.sense[each.place] *= friction.limit / friction.kinetic;
                continue;
            }
            // It slides with less than it stuck with.
            changed = true;
            each.sense = touch.sense[each.place];
            (friction.gap >= 0 ? each.share : each.more) *= friction.kinetic / friction.limit;
        }
        // What nothing moves sticks too, if others do not hold it already.
        for (const Rubbing* each : unmoved) {
            if (!touch.is_free(each->direction, firm)) continue;
            touch.sticks[each->place] = 1;
            firm.push_back(each->direction);
        }
        for (Rubbing& each : rubs) {
            const Friction& friction = frictions_[touch.frictions[each.place]];
            const bool may = each.let_go && each.strained == 1 && friction.limit > friction.kinetic;
            if (changed || !may || touch.is_free(each.direction, firm)) continue;
            each.strained = friction.limit / friction.kinetic;
            (friction.gap >= 0 ? each.share : each.more) *= each.strained;
            changed = true;
        }
        if (!changed) return found;
    }
    return {};
}

}  // namespace mechsim

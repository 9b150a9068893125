// How rows are lent to pairs of outlines (pairs.hpp): where they come together, or come to the end of an edge, and which of
// their ways to touch hold rows from there on.
#include <algorithm>
#include <cmath>

#include "march.hpp"
#include "policy.hpp"
#include "roots.hpp"

namespace mechsim {

void March::lend_gap(int number, int sort, std::vector<int> constants) {
    Gap& gap = gaps_[number];
    gap.pair = int(pairs_.size()) - 1, gap.sort = sort, gap.constants = std::move(constants);
}

// What is slower than this stands still.
double March::slowest(double size) const { return kStill * std::max(peak_speed_, fastest(1)) * size + 1e-300; }

// The gap that a way holds, or -1.
int March::held(int pair, int way) const {
    for (std::size_t i = 0; i < gaps_.size(); ++i)
        if (gaps_[i].pair == pair && gaps_[i].way == way) return int(i);
    return -1;
}

// Gives a row to a way to touch; -1 if all are taken.
int March::lend(int pair, int number) {
    const Way& way = pairs_[pair].ways()[number];
    for (std::size_t i = 0; i < gaps_.size(); ++i) {
        Gap& gap = gaps_[i];
        if (gap.pair != pair || gap.sort != way.sort || gap.way >= 0) continue;
        gap.way = number;
        for (std::size_t k = 0; k < gap.constants.size(); ++k) {
            const int column = size_ + gap.constants[k];
            x_.degree(0)[column] = polynomial_.degree(0)[column] = way.values[k];
        }
        read_constants(blocks_[gap.block]);
        for (const Friction& friction : frictions_)
            if (friction.gap == int(i)) read_constants(blocks_[friction.block]);
        prepared_ = false;
        return int(i);
    }
    return -1;
}

// A step on which the series of what is seen are known to the tolerance. Here overlaps are noted too.
double March::known_pairs(double h) {
    const double allowed = kGapTerms * control_.tolerance;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        Pair& pair = pairs_[i];
        const double size = size_of(int(i));
        if (!pair.see(x_, h, degree_of_pairs())) continue;
        pair.deepest = std::min(pair.deepest, pair.clearance());
        const double terms = pair.last_terms();
        if (terms > allowed * size)
            h = std::max(1e-6 * h, h * std::pow(allowed * size / terms, 1.0 / (degree_of_pairs() - 1)));
    }
    return h;
}

double March::size_of(int pair) const {
    for (const Gap& gap : gaps_)
        if (gap.pair == pair) return gap.size;
    return 1;
}

// A corner that is behind an edge by no more than this touches it: roundings have let it in, which are those of coordinates, and
// may be more than what the size of two small things far out allows for. If it were taken for one that has come from elsewhere it
// would go on unseen.
double March::let_in(int pair) const { return kTouch * std::max(size_of(pair), pairs_[pair].numbers()); }

// Where on the step, in units of it, a way to touch begins to; INFINITY if it does not.
double March::first_touch(int number, int way, double h) const {
    const Pair& pair = pairs_[number];
    const double size = size_of(number), noise = kTouch * size;
    const auto counts = [&](double s) { return pair.counts(way, s, kEdge * size, slowest(size) * h); };
    const int holder = held(number, way), degree = degree_of_pairs();
    int zeros = holder < 0 ? 0 : gaps_[holder].zeros;
    Series p;
    pair.gap(way, p);
    if (zeros == 0) {
        if (p[0] > noise || p[0] < -let_in(number)) return first_crossing(p.data(), degree, -1, p[0] > 0 ? 1 : -1, noise, counts);
        do ++zeros;
        while (zeros < degree && std::abs(p[zeros]) <= noise);
        if (zeros == degree) return INFINITY;
        if (p[zeros] < 0 && counts(0)) return 0;
    }
    if (zeros == kAtRest && (zeros = first_of_motion(zeros, degree, size, h, [&](int n) { return p[n]; })) == degree) return INFINITY;
    const int side = p[zeros] < -noise ? -1 : 1;
    return first_crossing(p.data() + zeros, degree - zeros, -1, side, noise, counts);
}

// How far it is to where two outlines touch, or one comes to the end of an edge, if that is before `first`.
double March::next_touch(double h, double first) {
    int touching = -1, way = -1;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        Pair& pair = pairs_[i];
        if (!pair.see(x_, h, degree_of_pairs())) continue;
        for (std::size_t k = 0; k < pair.ways().size(); ++k) {
            if (!pair.may_touch(int(k), let_in(int(i)))) continue;
            const int holder = held(int(i), int(k));
            if (holder >= 0 && is_closed(gaps_[holder])) continue;
            const double found = h * first_touch(int(i), int(k), h);
            if (found < first) first = found, touching = int(i), way = int(k);
        }
        for (std::size_t holder = 0; holder < gaps_.size(); ++holder) {
            if (gaps_[holder].pair != int(i) || gaps_[holder].way < 0 || !is_closed(gaps_[holder])) continue;
            for (const Sight& border : pair.borders(gaps_[holder].way)) {
                Series p;
                pair.sight(border, p);
                const double noise = kEdge * gaps_[holder].size;
                int zeros = 0;
                while (zeros < degree_of_pairs() && std::abs(p[zeros]) <= noise) ++zeros;
                if (zeros == degree_of_pairs() || (zeros == 0 && p[0] < 0)) continue;
                const double found = h * first_crossing(p.data() + zeros, degree_of_pairs() - zeros, -1, p[zeros] > 0 ? 1 : -1, noise);
                if (!(found < first)) continue;
                first = found, touching = -1, event_ = int(holder);
                releases_ = leaves_ = true;
                border_ = border;
            }
        }
    }
    if (touching < 0) return first;
    for (Gap& gap : gaps_)
        if (gap.pair == touching && !is_closed(gap)) gap.way = -1;
    event_ = lend(touching, way);
    releases_ = leaves_ = false;
    crowded_ = event_ < 0;
    return first;
}

// How fast a corner comes to the end of the edge, by how fast unknowns and constants change.
double March::border_change(const std::vector<double>& changes) const {
    Coefficients moved = x_;
    moved.degrees = 2;
    moved.values.assign(x_.degree(0), x_.degree(0) + x_.width);
    moved.values.insert(moved.values.end(), changes.begin(), changes.end());
    Pair pair = pairs_[gaps_[event_].pair];
    Series p{};
    pair.see(moved, 1.0, 1);
    pair.sight(border_, p);
    return p[1];
}

// Where gaps are met: rows for all that touch, and for nothing else. `closed` were those of the gaps, but for ways
// that it lets go. False if rows do not suffice.
bool March::lend_touching(std::vector<char>& closed, bool begins) {
    for (std::size_t i = 0; i < gaps_.size(); ++i)
        if (gaps_[i].pair >= 0 && !closed[i] && int(i) != event_) gaps_[i].way = -1;
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
        Pair& pair = pairs_[i];
        const double size = size_of(int(i));
        const bool near = pair.see(x_, 1.0, 1);
        const auto counts = [&](int way) { return near && pair.counts(way, 0, kEdge * size, slowest(size)); };
        for (std::size_t holder = 0; holder < gaps_.size(); ++holder) {
            Gap& gap = gaps_[holder];
            if (gap.pair != int(i) || gap.way < 0 || !closed[holder] || counts(gap.way)) continue;
            happenings_.push_back({t_, int(holder), 0, 0, 0, 0, true, false, double(gap.way)});
            gap.way = -1;
            closed[holder] = 0;
        }
        for (std::size_t k = 0; near && k < pair.ways().size(); ++k) {
            const double height = pair.height(int(k)), touches = (begins ? kBegins : kTouch) * size;
            if (height > touches || height < -std::max(touches, let_in(int(i)))) continue;
            if (held(int(i), int(k)) < 0 && counts(int(k)) && lend(int(i), int(k)) < 0) return false;
        }
    }
    return true;
}

}  // namespace mechsim

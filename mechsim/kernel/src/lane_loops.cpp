#include "lane_loops.hpp"

#include <cmath>

#include "policy.hpp"

namespace mechsim {

MECHSIM_CLONES void add_lanes(const double* sums, const double* from, const long long* mask, double* low, double* found,
                              int step) {
    for (int s = 0; s < step; ++s) {
        const Lanes old = vec(from)[s], sum = vec(sums)[s];
        const Mask moving = reinterpret_cast<const Mask*>(mask)[s];
        Lanes& x = vec(found)[s];
        if (!low) {
            x = moving ? old + sum : x;
            continue;
        }
        Lanes& rest = vec(low)[s];
        const Lanes y = sum + rest, total = old + y, part = total - old;
        rest = moving ? (old - (total - part)) + (y - part) : rest;
        x = moving ? total : x;
    }
}

MECHSIM_CLONES void count_lanes(const long long* mask, long long* counts, int step) {
    for (int s = 0; s < step; ++s) reinterpret_cast<Mask*>(counts)[s] -= reinterpret_cast<const Mask*>(mask)[s];
}

MECHSIM_CLONES bool any(const long long* mask, int width) {
    Mask found = {0, 0, 0, 0};
    for (int l = 0; l < width; l += kWidth) found |= *reinterpret_cast<const Mask*>(mask + l);
    return (found[0] | found[1] | found[2] | found[3]) != 0;
}

MECHSIM_CLONES bool all(const long long* mask, int width) {
    Mask found = {-1, -1, -1, -1};
    for (int l = 0; l < width; l += kWidth) found &= *reinterpret_cast<const Mask*>(mask + l);
    return (found[0] & found[1] & found[2] & found[3]) != 0;
}

namespace {

// What corrections amount to: per degree, and of all, finite or not.
struct Amounts {
    Lanes change[kMostOffsets][kMostVectors], extent[kMostOffsets][kMostVectors], total[kMostVectors];
};

MECHSIM_INLINE void correct(const Correction& c, Mask active, int s, Amounts& amounts) {
    const Lanes delta = vec(c.delta)[s] * c.factor, old = vec(c.x)[s];
    Lanes value;
    if (c.low) {
        const Lanes y = delta + vec(c.low)[s];
        value = old + y;
        const Lanes part = value - old;
        vec(c.low)[s] = active ? (old - (value - part)) + (y - part) : vec(c.low)[s];
    } else {
        value = old + delta;
    }
    vec(c.x)[s] = active ? value : old;
    const Lanes scale = vec(c.inverse_scale)[s], size = absolute(delta);
    amounts.change[c.degree][s] = larger(amounts.change[c.degree][s], size * scale);
    amounts.extent[c.degree][s] = larger(amounts.extent[c.degree][s], absolute(value) * scale);
    amounts.total[s] += size;
}

// Who has moved by how much, and is settled by that; returns those that are lost.
MECHSIM_INLINE Mask weigh(const Amounts& amounts, const Judged& judged, const Newton& newton, int step, int s) {
    const Lanes none = {0, 0, 0, 0}, one = none + 1.0;
    Mask& active = reinterpret_cast<Mask*>(judged.active)[s];
    Mask& finished = reinterpret_cast<Mask*>(judged.finished)[s];
    Lanes relative = none, stale = vec(judged.stale)[s];
    for (int degree = 0; degree <= newton.stage + newton.orders; ++degree) {  // no other is corrected
        const Lanes change = amounts.change[degree][s], extent = amounts.extent[degree][s];
        Lanes reference = vec(judged.compared)[degree * step + s];
        // Positions are compared with the scale itself, which is what makes a length long or short.
        if (degree == 0 && newton.stage < 0) reference = one;
        reference = larger(reference, newton.stage < 0 ? larger(extent, change) : extent);
        vec(judged.compared)[degree * step + s] = reference;
        const Lanes part = change / (reference > none ? reference : one);
        relative = change > none ? larger(relative, part) : relative;
        if (degree <= newton.matrix_order) stale = change > none ? larger(stale, part) : stale;
    }
    const Lanes total = amounts.total[s], moved = total - total == none ? relative : none + NAN;
    vec(judged.moved)[s] = moved;
    vec(judged.stale)[s] = active ? stale : vec(judged.stale)[s];
    if (newton.stage == -newton.orders) {
        Lanes &distance = vec(judged.distance)[s], &rounding = vec(judged.rounding)[s];
        distance = active ? larger(distance, amounts.change[0][s]) : distance;
        rounding = active ? kRounding * amounts.extent[0][s] : rounding;
    }
    if (newton.stage == 1 - newton.orders) {
        Lanes& turned = vec(judged.turned)[s];
        turned = active ? larger(turned, amounts.change[1][s]) : turned;
    }
    if (newton.stage == 0 && newton.iteration == 0) {  // by how much leading derivatives were missed, beyond rounding
        Lanes rough = none;
        for (int offset = 1; offset <= newton.orders; ++offset) {
            const Lanes change = amounts.change[offset][s], extent = amounts.extent[offset][s];
            const Mask seen = Mask(change > kSettled * extent);
            Lanes& mismatch = vec(judged.mismatch)[offset * step + s];
            mismatch = active ? (seen ? change : none) : mismatch;
            rough = seen ? larger(rough, change / extent) : rough;
        }
        vec(judged.rough)[s] = active ? rough : vec(judged.rough)[s];
    }
    const Lanes previous = vec(judged.previous)[s], rounding = vec(judged.rounding)[s];
    const Lanes leverage = vec(judged.earlier_leverage)[s], now_stale = vec(judged.stale)[s];
    const Lanes changed = newton.curved ? larger(now_stale, moved) : now_stale;
    const Lanes expected = kCurvature * larger(one, leverage) * (changed + kEpsilon);
    const Lanes rate = previous < none + INFINITY ? moved / previous : expected;
    vec(judged.rate)[s] = rate < one ? rate : one;
    const Mask negligible = Mask(moved <= kNegligible);
    const Mask careful = Mask(leverage > kCareful);
    const Mask enough = Mask(moved * vec(judged.rate)[s] <= newton.settled + rounding) &
                        (~careful | Mask(moved <= kSettled + rounding));
    // As close as rounding allows.
    const Mask rounded = Mask(moved > 0.5 * previous) & Mask(moved < none + 1e-9);
    const Mask done = active & ~negligible & (newton.iteration > 2 ? enough | rounded : enough);
    finished |= done;
    active &= ~(done | negligible);
    return active & ~Mask(moved == moved);
}

}  // namespace

MECHSIM_CLONES Verdict correct_unknowns(const std::vector<Correction>& corrections, const Judged& judged,
                                        const Newton& newton, int step) {
    Mask lost = {0, 0, 0, 0}, left = lost;
    const Mask* active = reinterpret_cast<const Mask*>(judged.active);
    Amounts amounts;
    for (int s = 0; s < step; ++s) amounts.total[s] = Lanes{};
    for (int degree = 0; degree <= newton.orders; ++degree)
        for (int s = 0; s < step; ++s) amounts.change[degree][s] = amounts.extent[degree][s] = Lanes{};
    for (const Correction& correction : corrections)
        for (int s = 0; s < step; ++s) correct(correction, active[s], s, amounts);
    for (int s = 0; s < step; ++s) {
        lost |= weigh(amounts, judged, newton, step, s);
        left |= active[s];
    }
    return {(left[0] | left[1] | left[2] | left[3]) != 0, (lost[0] | lost[1] | lost[2] | lost[3]) != 0};
}

MECHSIM_CLONES void clear_lanes(double* row, const long long* mask, int step) {
    const Lanes none = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) vec(row)[s] = reinterpret_cast<const Mask*>(mask)[s] ? none : vec(row)[s];
}

MECHSIM_CLONES void find_stale(const Staleness& given, const long long* mask, double tolerance, long long* stale, int step) {
    const Lanes one = {1, 1, 1, 1};
    for (int s = 0; s < step; ++s) {
        const Lanes leverage = larger(one, vec(given.earlier_leverage)[s]), rounding = vec(given.rounding)[s];
        const Mask changed = Mask(vec(given.stale)[s] * leverage > kStale * tolerance + rounding);
        const Mask moved = Mask(leverage > kCareful) & Mask(vec(given.distance)[s] > kRefactor + rounding);
        reinterpret_cast<Mask*>(stale)[s] = (changed | moved) & reinterpret_cast<const Mask*>(mask)[s];
    }
}

MECHSIM_CLONES bool find_above(const double* row, double bound, long long* found, int step) {
    Mask some = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) some |= reinterpret_cast<Mask*>(found)[s] = Mask(vec(row)[s] > bound);
    return (some[0] | some[1] | some[2] | some[3]) != 0;
}

MECHSIM_CLONES void judge_landings(const Landing& landing, const Control& control,
                                   const std::vector<double>& inverse_binomials, int step) {
    const Lanes none = {0, 0, 0, 0}, one = none + 1.0;
    for (int s = 0; s < step; ++s) {
        const Lanes h = vec(landing.h)[s], rounding = vec(landing.rounding)[s];
        Lanes missed = none, power = one;
        for (std::size_t offset = 1; offset < inverse_binomials.size(); ++offset) {
            power *= h;
            missed = larger(missed, vec(landing.mismatch)[offset * step + s] * power * inverse_binomials[offset]);
        }
        vec(landing.missed)[s] = missed;
        const Mask cured = Mask(vec(landing.rough)[s] > kRough) | Mask(missed < kCured * vec(landing.off)[s]);
        const Lanes rejection = control.rejection + rounding, leverage = larger(one, vec(landing.earlier_leverage)[s]);
        const Lanes turn = vec(landing.speed)[s] * rejection * leverage + rounding / h;
        reinterpret_cast<Mask*>(landing.far)[s] = Mask(vec(landing.distance)[s] > rejection) |
                                                  Mask(vec(landing.turned)[s] > turn) |
                                                  (Mask(missed > control.tolerance + rounding) & cured);
    }
}

MECHSIM_CLONES void scale_rows(double* rows, const std::vector<double>& factors, const std::vector<int>& offsets, int stage,
                               int step) {
    for (std::size_t i = 0; i < factors.size(); ++i)
        for (int s = 0; s < step; ++s) {
            Lanes& value = vec(rows)[i * step + s];
            value = stage + offsets[i] < 0 ? Lanes{} : value * factors[i];
        }
}

MECHSIM_CLONES void blend(const double* from, double* to, const long long* mask, std::size_t rows, int step) {
    for (std::size_t i = 0; i < rows; ++i)
        for (int s = 0; s < step; ++s) {
            const std::size_t place = i * step + s;
            vec(to)[place] = reinterpret_cast<const Mask*>(mask)[s] ? vec(from)[place] : vec(to)[place];
        }
}

MECHSIM_CLONES void subtract_product(const SparseLU& pattern, const double* matrix, const double* x, double* rest, int step) {
    const int width = step * kWidth;
    for (std::size_t entry = 0; entry < pattern.rows().size(); ++entry)
        for (int s = 0; s < step; ++s)
            vec(rest + std::size_t(pattern.rows()[entry]) * width)[s] -=
                vec(matrix + entry * width)[s] * vec(x + std::size_t(pattern.columns()[entry]) * width)[s];
}

}  // namespace mechsim

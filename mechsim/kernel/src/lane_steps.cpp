#include "lane_steps.hpp"

#include <cmath>

#include "policy.hpp"

namespace mechsim {

namespace {

static_assert((kLookEvery & (kLookEvery - 1)) == 0, "a rest is found by its last bits");

MECHSIM_INLINE Mask& mask(long long* row, int s) { return reinterpret_cast<Mask*>(row)[s]; }
MECHSIM_INLINE Mask mask(const long long* row, int s) { return reinterpret_cast<const Mask*>(row)[s]; }
MECHSIM_INLINE Mask in_phase(const long long* phases, int s, Phase phase) { return mask(phases, s) == (long long)phase; }
MECHSIM_INLINE void put(double* row, int s, Mask where, Lanes value) { vec(row)[s] = where ? value : vec(row)[s]; }
MECHSIM_INLINE bool some(Mask found) { return (found[0] | found[1] | found[2] | found[3]) != 0; }

}  // namespace

MECHSIM_CLONES bool find_phase(const long long* phases, Phase phase, long long* found, int step) {
    Mask any = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) any |= mask(found, s) = in_phase(phases, s, phase);
    return some(any);
}

MECHSIM_CLONES void find_moving(const long long* phases, long long* found, int step) {
    for (int s = 0; s < step; ++s)
        mask(found, s) = in_phase(phases, s, Phase::looking) | in_phase(phases, s, Phase::landing);
}

MECHSIM_CLONES void take_times(const StepRows& rows, double* lengths, double* times, int step) {
    const Lanes none = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Mask looking = in_phase(rows.phases, s, Phase::looking), landing = in_phase(rows.phases, s, Phase::landing);
        const Lanes h = vec(rows.h)[s], left = vec(rows.left)[s], whole = left < none ? -h : h, inside = kInside * whole;
        const Lanes before = vec(rows.t_before)[s], y = whole + vec(rows.t_low_before)[s];
        const Lanes sum = before + y, part = sum - before;  // see add_exactly
        const Mask last = Mask(h == absolute(left));
        const Lanes t = last ? vec(rows.end)[s] : sum;
        put(rows.t, s, landing, t);
        put(rows.t_low, s, landing, last ? none : (before - (sum - part)) + (y - part));
        put(lengths, s, looking | landing, looking ? inside : whole);
        put(times, s, looking | landing, looking ? before + inside : t);
    }
}

MECHSIM_CLONES bool accept_landings(const StepRows& rows, const Landed& landed, long long* others, int step) {
    Mask left = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Lanes t = vec(rows.t)[s];
        const Mask goes = Mask(t != vec(rows.t_before)[s]) & Mask(t != vec(rows.end)[s]);
        const Mask particular = mask(landed.far, s) | mask(landed.near_singular, s) | mask(landed.special, s);
        const Mask plain = in_phase(rows.phases, s, Phase::landing) & mask(landed.well, s) & goes & ~particular;
        put(rows.last_step, s, plain, vec(rows.h)[s]);
        put(rows.largest_projection, s, plain, larger(vec(rows.largest_projection)[s], vec(rows.distance)[s]));
        mask(rows.taken, s) -= plain;
        mask(rows.phases, s) = plain ? Mask{} + (long long)Phase::ready : mask(rows.phases, s);
        left |= mask(others, s) = mask(landed.moving, s) & ~plain;
    }
    return some(left);
}

MECHSIM_CLONES bool begin_steps(const StepRows& rows, const long long* ready, const long long* special, long long* others,
                                int step) {
    Mask left = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Lanes leverage = vec(rows.leverage)[s], h = vec(rows.h)[s], t = vec(rows.t)[s], low = vec(rows.t_low)[s];
        const Mask plain = mask(ready, s) & ~mask(special, s) & ~Mask(leverage > kOrdinary) & Mask(h == h);
        put(rows.t_before, s, plain, t);
        put(rows.t_low_before, s, plain, low);
        put(rows.former_leverage, s, plain, vec(rows.earlier_leverage)[s]);
        put(rows.earlier_leverage, s, plain, leverage);
        put(rows.left, s, plain, (vec(rows.end)[s] - t) - low);
        left |= mask(others, s) = mask(ready, s) & ~plain;
    }
    return some(left);
}

MECHSIM_CLONES bool launch_steps(const StepRows& rows, const long long* special, long long* others, int step) {
    const Lanes none = {0, 0, 0, 0};
    Mask left = {0, 0, 0, 0};
    for (int s = 0; s < step; ++s) {
        const Mask ready = in_phase(rows.phases, s, Phase::ready), plain = ready & ~mask(special, s);
        const Lanes whole = absolute(vec(rows.left)[s]), chosen = vec(rows.h)[s];
        const Lanes h = chosen * (1 + kSliver) >= whole ? whole : chosen;
        const Mask look = Mask((mask(rows.taken, s) & (kLookEvery - 1)) == 0) | Mask(h > kLonger * vec(rows.last_step)[s]);
        put(rows.h, s, plain, h);
        put(rows.off, s, plain, none + INFINITY);
        const Mask next = look ? Mask{} + (long long)Phase::looking : Mask{} + (long long)Phase::landing;
        mask(rows.phases, s) = plain ? next : mask(rows.phases, s);
        left |= mask(others, s) = ready & ~plain;
    }
    return some(left);
}

}  // namespace mechsim

// One impact with friction along its own impulse (Routh's method), for plain numbers and for numbers with a change.
#pragma once

#include <algorithm>
#include <cmath>

#include "march.hpp"
#include "policy.hpp"

namespace mechsim {

// A number and how it changes in one direction; decisions go by the number.
struct Dual {
    double value = 0, change = 0;
    constexpr Dual(double number = 0, double slope = 0) : value(number), change(slope) {}
    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.change + b.change}; }
    friend Dual operator-(Dual a, Dual b) { return {a.value - b.value, a.change - b.change}; }
    friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.value * b.change + a.change * b.value}; }
    friend Dual operator/(Dual a, Dual b) {
        const double ratio = a.value / b.value;
        return {ratio, (a.change - ratio * b.change) / b.value};
    }
    Dual operator-() const { return {-value, -change}; }
    Dual& operator+=(Dual b) { return *this = *this + b; }
    Dual& operator-=(Dual b) { return *this = *this - b; }
};

inline double plain(double number) { return number; }
inline double plain(const Dual& number) { return number.value; }
inline double root_of(double number) { return std::sqrt(number); }
inline Dual root_of(const Dual& number) {
    const double root = std::sqrt(number.value);
    return {root, number.change == 0 ? 0.0 : number.change / (2 * root)};
}

// What a unit impulse along the gap (n) and along the slide (t) does to their rates, and how the impact begins.
template <class Number>
struct Impact {
    Number nn, nt, tn, tt, rate, slide, mu, restitution;
    Law law;
    double still;  // below it nothing slides
    bool movable;  // what slides answers a push
};

template <class Number>
struct Struck {
    Number p = 0, pt = 0, slide = 0, lost_n = 0, lost_t = 0;
    bool limited = false;  // its law would have given energy
};

// Both rates are linear in the impulse p while it slides one way or sticks. Compression ends where the gap's rate is zero;
// restitution by the law. False where it never ends (Painleve's paradox).
template <class Number>
bool strike_along(const Impact<Number>& impact, Struck<Number>& found) {
    Number vn = impact.rate, vt = impact.slide, to_compress = 0, compressed = 0, returned = 0;
    bool compressing = true;
    for (int piece = 0;; ++piece) {
        if (piece == kMostPieces) return false;
        double side = std::abs(plain(vt)) > impact.still ? (plain(vt) > 0 ? 1.0 : -1.0) : 0.0;
        Number share = -side * impact.mu;
        if (side == 0) {
            vt = 0;
            share = impact.movable ? -impact.tn / impact.tt : Number(0);
            if (std::abs(plain(share)) > plain(impact.mu)) side = plain(share) < 0 ? 1.0 : -1.0, share = -side * impact.mu;
        }
        const Number dn = impact.nn + share * impact.nt, dt = side == 0 ? Number(0) : impact.tn + share * impact.tt;
        const Number to_rest = side * plain(dt) < 0 && plain(vt) != 0 ? -vt / dt : Number(INFINITY);
        Number length = INFINITY;
        if (compressing) {
            if (plain(dn) > 0) length = -vn / dn;
        } else if (impact.law == Law::newton) {
            if (plain(dn) > 0) length = (-impact.restitution * impact.rate - vn) / dn;
        } else if (impact.law == Law::poisson) {
            length = (Number(1) + impact.restitution) * to_compress - found.p;
        } else {
            const Number left = -impact.restitution * impact.restitution * compressed - returned;
            const Number square = vn * vn + Number(2) * dn * left;
            if (plain(square) >= 0) length = Number(2) * left / (vn + root_of(square));
        }
        // Newton's law could give energy: it ends where all that the impact took is given back.
        bool ends = !(plain(length) > plain(to_rest));
        if (!ends) length = to_rest;
        if (!std::isfinite(plain(length))) return false;
        if (!(plain(length) > 0)) length = 0;
        const Number taken = found.lost_n + found.lost_t, power = vn + share * vt, growth = dn + share * dt;
        const Number after = taken - length * (power + growth * length / Number(2));
        if (!compressing && plain(after) < 0) {
            const Number square = power * power + Number(2) * growth * taken;
            const Number root = plain(square) > 0 ? root_of(square) : Number(0), whole = Number(2) * taken / (power + root);
            if (!(plain(whole) > 0)) length = 0;
            else if (plain(whole) < plain(length)) length = whole;
            ends = true;
            found.limited = true;
        }
        const Number work_n = length * (vn + dn * length / Number(2));
        found.lost_n -= work_n;
        found.lost_t -= share * length * (vt + dt * length / Number(2));
        (compressing ? compressed : returned) += work_n;
        vn += dn * length, vt += dt * length;
        found.p += length, found.pt += share * length;
        if (!ends) {
            vt = 0;
            continue;
        }
        if (!compressing) break;
        compressing = false;
        vn = 0;
        to_compress = found.p;
        if (plain(impact.restitution) == 0) break;
    }
    found.slide = vt;
    return true;
}

}  // namespace mechsim

// What touches at one time, and how it answers: see events.cpp.
#pragma once

#include <vector>

#include "march.hpp"
#include "routh.hpp"

namespace mechsim {

// One of the pushes that a meeting is made of, as it was decided: with it their changes are found too (jump.cpp). Rates of its
// directions are multiplied by what is `kept` of them, minus a restitution or nothing; what slides pushes by its load.
struct Stroke {
    struct Slide {
        std::size_t direction, load;  // place of the load among the stroke's directions
        int friction;
        double sense;
    };
    std::vector<std::size_t> directions;  // of an impact with friction, its gap and its slide
    std::vector<double> kept;
    std::vector<Slide> slides;
    bool rubs = false;  // an impact with friction, along its own impulse
};

// Directions are those of the gaps that touch, by their places in the list, then those of frictions: of these gaps, and of joints.
struct Touch {
    std::vector<int> gaps, frictions;
    std::vector<int> of;                         // per friction, the gap of this touch whose load it has, or -1
    std::vector<std::vector<double>> responses;  // Z: of all unknowns to each
    std::vector<double> w;                       // W, columns one after the other
    std::vector<double> rates, still, pressed;   // h' or psi, below what it is zero, and h'' or psi' with all gaps open
    std::vector<double> moving;                  // dh/dt of what moves by itself: it does work
    std::vector<double> before, impulses, lost;
    std::vector<char> movable;                   // it answers a push at all
    std::vector<char> was_closed, is_closed;     // per gap
    std::vector<char> limited;                   // per gap: its law would have given energy
    std::vector<char> was_stuck, sticks;         // per friction
    std::vector<double> had_sense, sense;
    std::vector<double> limits;                  // of frictions by a function of the state
    int released = -1;
    int closing = -1;                            // the gap that closes again at the same time: nothing presses it yet
    std::vector<double> slips;                   // per friction: the sense in which it has let go at this time, or 0
    std::size_t size() const { return gaps.size(); }
    std::size_t total() const { return gaps.size() + frictions.size(); }
    double response(std::size_t of, std::size_t to) const { return w[to * total() + of]; }
    bool is_free(std::size_t own, const std::vector<std::size_t>& held, std::vector<double>* parts = nullptr) const;
    std::vector<std::size_t> firm() const {  // all that holds
        std::vector<std::size_t> found;
        for (std::size_t i = 0; i < total(); ++i)
            if (i < size() ? is_closed[i] : sticks[i - size()]) found.push_back(i);
        return found;
    }
    std::vector<Stroke> strokes;
    bool noted = false;                          // strokes are to be
    // One direction, whose rate is multiplied by what is kept of it.
    void push(std::size_t i, double kept) {
        const double earlier = rates[i], impulse = (kept - 1) * earlier / response(i, i);
        for (std::size_t k = 0; k < total(); ++k) rates[k] += response(k, i) * impulse;
        impulses[i] += impulse;
        lost[i] -= impulse * (earlier + rates[i]) / 2;
        if (noted) strokes.push_back({{i}, {kept}, {}});
    }
    // All at once: each does its work at the mean of its rates before and after.
    template <class Number>
    void push(const std::vector<Number>& impulse, const std::vector<Number>& answers, std::vector<Number>& speeds,
              std::vector<Number>& pushed, std::vector<Number>& taken) const {
        const std::vector<Number> earlier = speeds;
        for (std::size_t i = 0; i < impulse.size(); ++i)
            for (std::size_t k = 0; k < total(); ++k) speeds[k] += answers[i * total() + k] * impulse[i];
        for (std::size_t i = 0; i < impulse.size(); ++i) {
            pushed[i] += impulse[i];
            taken[i] -= impulse[i] * (earlier[i] + speeds[i]) / Number(2);
        }
    }
    void push(const std::vector<double>& impulse) { push(impulse, w, rates, impulses, lost); }

    // An impact with friction, of plain numbers or of such that change: what it is, and what it does.
    template <class Number>
    Impact<Number> impact(std::size_t normal, std::size_t tangent, const std::vector<Number>& answers,
                          const std::vector<Number>& speeds, Number restitution, Number mu, Law law) const {
        const auto answer = [&](std::size_t of, std::size_t to) { return answers[to * total() + of]; };
        return {answer(normal, normal), answer(normal, tangent), answer(tangent, normal), answer(tangent, tangent),
                speeds[normal],         speeds[tangent],         mu,                      restitution,
                law,                    still[tangent],          bool(movable[tangent])};
    }
    template <class Number>
    void take(std::size_t normal, std::size_t tangent, const Struck<Number>& found, const std::vector<Number>& answers,
              std::vector<Number>& speeds, std::vector<Number>& pushed, std::vector<Number>& taken) const {
        for (std::size_t k = 0; k < total(); ++k)
            speeds[k] += answers[normal * total() + k] * found.p + answers[tangent * total() + k] * found.pt;
        speeds[tangent] = found.slide;
        pushed[normal] += found.p, pushed[tangent] += found.pt;
        taken[normal] += found.lost_n, taken[tangent] += found.lost_t;
    }
    void note_rub(std::size_t normal, std::size_t tangent, double restitution) {
        if (noted) strokes.push_back({{normal, tangent}, {-restitution}, {}, true});
    }
};

}  // namespace mechsim

// What touches at one time, and how it answers: see events.cpp.
#pragma once

#include <vector>

#include "march.hpp"

namespace mechsim {

// Directions are those of the gaps that touch, by their places in the list, then those of frictions: of these gaps, and of joints.
struct March::Touch {
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
    void push(std::size_t i, double impulse) {
        const double earlier = rates[i];
        for (std::size_t k = 0; k < total(); ++k) rates[k] += response(k, i) * impulse;
        impulses[i] += impulse;
        lost[i] -= impulse * (earlier + rates[i]) / 2;
    }
    // All at once: each does its work at the mean of its rates before and after.
    void push(const std::vector<double>& impulse) {
        const std::vector<double> earlier = rates;
        for (std::size_t i = 0; i < impulse.size(); ++i)
            for (std::size_t k = 0; k < total(); ++k) rates[k] += response(k, i) * impulse[i];
        for (std::size_t i = 0; i < impulse.size(); ++i) {
            impulses[i] += impulse[i];
            lost[i] -= impulse[i] * (earlier[i] + rates[i]) / 2;
        }
    }
};

}  // namespace mechsim

// Starts of a mechanism for other numbers of it, beside one that is known: what initial/warm.py finds for each, with the
// same rules, as far as Newton's method goes straight there or a branch can be followed without reading the file again.
// What is not plain (a singular pose, a branch that ends, constraints that do not close) is not found here.
#pragma once

#include <vector>

#include "constants.hpp"
#include "formulas.hpp"
#include "small.hpp"

namespace mechsim {

// Bounds of the rules; initial/many.py names their places in Python.
struct Rules {
    double contraction;  // of a step to the one before, where one goes straight
    double halving;      // the same where the nearest velocities are looked for
    double stride;       // the longest step, in scales
    double settled;      // a step so small is the last towards the nearest point,
    double close;        // and one so small is the last towards a closed pose
    double golden;       // steps along the way are shortened so,
    double shortest;     // down to this share of it
    double firm;         // of the largest cost: a curvature below is none
    double push;         // a step so small need not come nearer
    double closed;       // the largest residual that is accepted
    double same;         // a pose so near to the guesses is theirs
    double independent;  // singular values below mean that a singular pose is near,
    double full;         // where only what is free may move, or of velocities
    double absurd;       // velocities so large are none
    double off;          // given states may miss the constraints by so much
    double singular;     // and are near a singular pose below this
};

struct Asked {
    int n = 0, m = 0;  // coordinates, constraints
    Constants numbers;
    std::vector<double> here;             // the file's own parameters
    std::vector<Guard> kept, placed;      // comparisons for the numbers, and for the guesses
    std::vector<int> needed;              // nodes that the formulas read
    Formulas positions, bending, velocities, rates;  // see `Search`
    int time = 0;
    std::vector<int> scales, guesses, guessed_rates;           // nodes, one for each coordinate
    std::vector<int> moving, free, held, angles, free_rates, states;  // coordinates
    std::vector<int> rows;                // constraints of positions, in the order of sums
    std::vector<double> known;            // the positions that are known
    std::vector<double> cost, rate_cost;  // of moving what is free
    Rules rules{};
    // Numbers before the results of formulas: nodes, time, positions, velocities, multipliers, and a zero.
    int inputs() const { return int(needed.size()) + 1 + 2 * n + m + 1; }
    // Throws where something does not fit.
    void check() const;
};

// The work of finding one start after the other.
class Search {
  public:
    explicit Search(const Asked& asked);
    // From the values of all nodes, and the parameters these are of; q and v have room for all coordinates.
    bool find(const double* values, const double* parameters, double* t, double* q, double* v);
    // Whether a given state satisfies the constraints, and whether surely no singular pose is near; rates of states in v.
    void check(const double* values, double t, const double* q, double* v, bool* close, bool* regular);
    // The rates of states at a state.
    void set_state_rates(const double* values, double t, const double* q, double* v);

  private:
    // Equations in positions or in velocities, of which only some entries may change: see initial/closure.py.
    struct Closure {
        const Formulas* formulas;
        int at;                        // where their unknowns are in `work_`
        bool bends;
        const std::vector<int>* free;
        const std::vector<int>* rows;
        const std::vector<double>* cost;
        std::vector<double> scales, row_scales;
        std::vector<double> seen;      // where they were evaluated last
    };
    // At a point: residual and Jacobian of the scaled equations, and more where it is asked for.
    struct Tangent {
        std::vector<double> residual, jacobian, closing, along, bending, curvature, slope, gradient, multipliers, spread;
        small::Rows rows;
        int freedom = 0;
    };

    void load(const double* values, double t);
    void evaluate(Closure& closure, const double* x);
    void lengths(Closure& closure, const double* x, double* found);
    void scale_about(Closure& closure, const double* x);
    void rescale(Closure& closure, const double* x);
    void scaled(Closure& closure, const double* x, const std::vector<int>& columns);
    void bend(Closure& closure, const double* x);
    void tangent(Closure& closure, const double* x, const double* y, bool has_multipliers);
    void bent(const Closure& closure, const double* step, double* found) const;
    bool newton_step(const Closure& closure, double* step);
    void move(const Closure& closure, double* x, const double* step) const;
    void off(const Closure& closure, const double* target, const double* x, double* y) const;
    bool minimise(Closure& closure, const double* target, double* x, double contraction, double longest);
    void polish(Closure& closure, double* x);
    bool is_closed(Closure& closure, const double* x);
    bool close_beside(Closure& closure, double* x, double longest);
    bool positions(const double* parameters, double* q);
    bool carry(const double* parameters, double* x);
    bool take_to(const double* values, double* x);
    bool descend(Closure& closure, const double* target, double* x);
    double further(const Closure& closure, const double* target, const double* x, const double* other) const;
    void turn(const double* guess, const double* x, double* target) const;
    void settle(double* q);
    void wind(double* q);
    double independence(Closure& closure, const double* x, const std::vector<int>& columns);
    bool velocities(const double* q, double* v);

    const Asked& asked_;
    const Rules& rules_;
    std::vector<double> work_, raw_, hessian_, state_;
    Closure positions_, velocities_;
    Tangent at_;
    std::vector<double> guess_, target_, begin_, trial_, beside_, kept_, values_;
    std::vector<int> all_rows_;
};

}  // namespace mechsim

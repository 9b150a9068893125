// Two outlines in the plane that may touch. Of the many ways in which they might, corner by corner and edge by edge, few
// do at any time: these are lent rows of the system (struct Gap), all others are watched here. Seen from the frame of the
// one outline a corner of the other moves on a polynomial, of which distances to edges are linear functions: so a way
// to touch costs a few products, once the motion of the one frame seen from the other is known.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "block.hpp"

namespace mechsim {

using Series = std::array<double, kMostDegrees>;
using Planar = std::array<double, 2>;

// Columns of the origin and of a point on the x axis, among unknowns and constants. Without the first: the world; without
// a length: axes of the world.
struct Frame {
    std::array<int, 4> columns;
    double length;
    bool turns() const { return length > 0; }
};

// Rounded by a radius. Its neighbours are seen in these directions, which are null where it has none.
struct Corner {
    Planar at;
    double radius;
    Planar before, after;
    bool convex;  // of what is solid: the others never touch anything first
    int component;
};

// From a place along a unit vector; what is free is to its left, a radius away.
struct Edge {
    Planar at, along;
    double length, radius;
    int component;
    double slack() const { return 1e-9 * length; }  // more than what is near its ends, and than rounding
};

struct Outline {
    Frame frame;
    std::vector<Corner> corners;
    std::vector<Edge> edges;
    double reach = 0;    // no point is farther from the origin; INFINITY: some are anywhere
    bool solid = false;  // whether an overlap can be told from its outside
};

// How two outlines may touch: a corner of the first meets an edge of the second (0), of the second one of the first (1), or
// two corners meet (2). `values` are what the row of a gap is then made of.
struct Way {
    int sort, corner, other;
    std::vector<double> values;
};

// A function of where a corner of the one outline is seen from the other.
struct Sight {
    int of;  // whose corner it is
    int corner;
    Planar factor;
    double constant;
};

class Pair {
  public:
    Pair(Outline first, Outline second, std::vector<Way> ways);
    const std::vector<Way>& ways() const { return ways_; }

    // Whether they may come together within h; then all below is known on that step, in units of it.
    bool see(const Coefficients& x, double h, int degree);
    // How much the last terms of what is seen are, at most.
    double last_terms() const;
    // The series of the gap of a way; of two corners a function that has the sign of the gap, and its slope at zero.
    void gap(int way, Series& p) const;
    // Where a corner stands between the ends of an edge, a way counts. These are not negative there: two or four.
    std::vector<Sight> borders(int way) const;
    void sight(const Sight& sight, Series& p) const;
    // Whether a touch at s counts: within the borders to `near`, and not about to leave them faster than `still`.
    bool counts(int way, double s, double near, double still) const;
    // The gap of a way at the beginning of the step, ...
    double height(int way) const;
    // ... and whether it may come to zero within the step where it counts, or is `behind` it at most: a bound, cheaper than its
    // series.
    bool may_touch(int way, double behind) const;
    // How deep the one is in the other at the beginning of the step; positive if it is not.
    double clearance() const;
    // How large the numbers are of whose roundings all that is seen is made.
    double numbers() const { return numbers_; }

    double deepest = 0;

  private:
    const Outline& side(int i) const { return i == 0 ? first_ : second_; }
    double clearance_of(int of) const;
    Planar seen(int of, int corner, double s, int derivative) const;
    Planar turned(int of, Planar direction, double s) const;

    Outline first_, second_;
    std::vector<Way> ways_;
    int degree_ = 0;
    double numbers_ = 0;
    struct Spot {
        Planar place;
        double moves;  // no farther within the step
    };
    std::vector<Spot> spots_[2];             // where corners are seen at its beginning
    std::array<Series, 2> place_[2], turn_;  // of the frame of each, seen from the other; of the turn that of the first
};

}  // namespace mechsim

#include "pairs.hpp"

#include <algorithm>
#include <cmath>

namespace mechsim {

namespace {

constexpr double kFacing = 1e-9;  // cosine: an edge of a corner that leans so much towards the other's edge lies on it

double dot(Planar a, Planar b) { return a[0] * b[0] + a[1] * b[1]; }
Planar left(Planar a) { return {-a[1], a[0]}; }
Planar minus(Planar a, Planar b) { return {a[0] - b[0], a[1] - b[1]}; }

using Motion = std::array<Series, 2>;

// The product of conj(a) and b, read as complex numbers.
void turned_back(const Motion& a, const Motion& b, int degree, Motion& found) {
    for (int n = 0; n <= degree; ++n) {
        double real = 0, imaginary = 0;
        for (int k = 0; k <= n; ++k) {
            real += a[0][k] * b[0][n - k] + a[1][k] * b[1][n - k];
            imaginary += a[0][k] * b[1][n - k] - a[1][k] * b[0][n - k];
        }
        found[0][n] = real, found[1][n] = imaginary;
    }
}

// Of a frame in the world: its origin, and its x axis.
void motion(const Frame& frame, const Coefficients& x, double h, int degree, Motion& origin, Motion& axis) {
    double power = 1;
    for (int n = 0; n <= degree; ++n, power *= h) {
        const double* terms = x.degree(n);
        const auto term = [&](int column) { return terms[column] * power; };
        for (int i = 0; i < 2; ++i) {
            origin[i][n] = frame.columns[0] < 0 ? 0.0 : term(frame.columns[i]);
            axis[i][n] = frame.turns() ? (term(frame.columns[2 + i]) - term(frame.columns[i])) / frame.length
                                       : (n == 0 && i == 0 ? 1.0 : 0.0);
        }
    }
}

// The largest number that the places of an outline are made of at the beginning: coordinates, of which those that tell its axis act
// by a lever.
double largest_number(const Outline& outline, const Motion& origin, const Motion& axis) {
    const Frame& frame = outline.frame;
    double largest = 0;
    for (int i = 0; i < 2; ++i) largest = std::max(largest, std::abs(origin[i][0]) + frame.length * std::abs(axis[i][0]));
    const bool carries = frame.turns() && std::isfinite(outline.reach);
    return carries ? largest * std::max(1.0, outline.reach / frame.length) : largest;
}

double value(const Series& p, int degree, double s, int derivative) {
    double sum = 0;
    for (int n = degree; n >= derivative; --n) sum = sum * s + (derivative == 1 ? n : 1) * p[n];
    return sum;
}

}  // namespace

Pair::Pair(Outline first, Outline second, std::vector<Way> ways)
    : first_(std::move(first)), second_(std::move(second)), ways_(std::move(ways)) {}

bool Pair::see(const Coefficients& x, double h, int degree) {
    Motion origin[2], axis[2], apart;
    degree_ = degree;
    for (int i = 0; i < 2; ++i) motion(side(i).frame, x, h, degree, origin[i], axis[i]);
    numbers_ = std::max(largest_number(first_, origin[0], axis[0]), largest_number(second_, origin[1], axis[1]));
    double moves = 0;
    for (int n = 0; n <= degree; ++n) {
        for (int i = 0; i < 2; ++i) apart[i][n] = origin[0][i][n] - origin[1][i][n];
        if (n > 0) moves += std::hypot(apart[0][n], apart[1][n]);
    }
    if (std::hypot(apart[0][0], apart[1][0]) - moves > first_.reach + second_.reach) return false;
    turned_back(axis[1], apart, degree, place_[0]);
    turned_back(axis[1], axis[0], degree, turn_);
    turned_back(axis[0], apart, degree, place_[1]);
    for (Series& each : place_[1])
        for (int n = 0; n <= degree; ++n) each[n] = -each[n];
    double turns = 0;
    for (int n = 1; n <= degree; ++n) turns += std::hypot(turn_[0][n], turn_[1][n]);
    for (int i = 0; i < 2; ++i) {
        double carried = 0;
        for (int n = 1; n <= degree; ++n) carried += std::hypot(place_[i][0][n], place_[i][1][n]);
        spots_[i].clear();
        for (std::size_t k = 0; k < side(i).corners.size(); ++k) {
            const Planar at = side(i).corners[k].at;
            spots_[i].push_back({seen(i, int(k), 0, 0), carried + turns * std::hypot(at[0], at[1])});
        }
    }
    return true;
}

bool Pair::may_touch(int number, double behind) const {
    const Way& way = ways_[number];
    const int of = way.sort == 2 ? 0 : way.sort;
    const double moves = spots_[of][way.corner].moves;
    const double gap = height(number);
    if (gap > moves) return false;
    if (way.sort == 2) return true;
    const Edge& edge = side(1 - of).edges[way.other];
    const double along = dot(edge.along, minus(spots_[of][way.corner].place, edge.at));
    return gap >= -moves - behind && along >= -moves - edge.slack() && along <= edge.length + moves + edge.slack();
}

double Pair::last_terms() const {
    double most = 0;
    const auto reach = [](const Outline& each) { return std::isfinite(each.reach) ? each.reach : 0.0; };
    const double widest = std::max(reach(first_), reach(second_));
    for (int n = std::max(degree_ - 1, 1); n <= degree_; ++n)
        for (int i = 0; i < 2; ++i)
            most = std::max({most, std::abs(place_[0][i][n]), std::abs(place_[1][i][n]), widest * std::abs(turn_[i][n])});
    return most;
}

// The turn of the second as seen from the first is the opposite one.
void Pair::sight(const Sight& sight, Series& p) const {
    const Planar at = side(sight.of).corners[sight.corner].at;
    const double way = sight.of == 0 ? 1 : -1;
    const double real = dot(sight.factor, at), imaginary = way * dot(sight.factor, left(at));
    const Motion& place = place_[sight.of];
    for (int n = 0; n <= degree_; ++n)
        p[n] = sight.factor[0] * place[0][n] + sight.factor[1] * place[1][n] + real * turn_[0][n] + imaginary * turn_[1][n];
    p[0] += sight.constant;
}

void Pair::gap(int number, Series& p) const {
    const Way& way = ways_[number];
    if (way.sort < 2) {
        const Edge& edge = side(1 - way.sort).edges[way.other];
        const Planar normal = left(edge.along);
        const double apart = edge.radius + side(way.sort).corners[way.corner].radius;
        sight({way.sort, way.corner, normal, -dot(normal, edge.at) - apart}, p);
        return;
    }
    const Corner &one = first_.corners[way.corner], &other = second_.corners[way.other];
    const double apart = one.radius + other.radius;
    Motion d;
    sight({0, way.corner, {1, 0}, -other.at[0]}, d[0]);
    sight({0, way.corner, {0, 1}, -other.at[1]}, d[1]);
    double moves = 0;
    for (int n = 1; n <= degree_; ++n) moves += std::hypot(d[0][n], d[1][n]);
    const double least = std::hypot(d[0][0], d[1][0]) - moves - apart;
    p.fill(0);
    if (least > 0) {  // far: a bound will do
        p[0] = least;
        return;
    }
    Motion squared;
    turned_back(d, d, degree_, squared);
    for (int n = 0; n <= degree_; ++n) p[n] = squared[0][n] / (2 * apart);
    // (d - R) (d + R) / 2 R, at the beginning without loss.
    const double distance = std::hypot(d[0][0], d[1][0]);
    p[0] = (distance - apart) * (distance + apart) / (2 * apart);
}

std::vector<Sight> Pair::borders(int number) const {
    const Way& way = ways_[number];
    if (way.sort < 2) {
        const Edge& edge = side(1 - way.sort).edges[way.other];
        if (!std::isfinite(edge.length)) return {};
        const double start = dot(edge.along, edge.at);
        const Planar back = {-edge.along[0], -edge.along[1]};
        return {{way.sort, way.corner, edge.along, -start}, {way.sort, way.corner, back, edge.length + start}};
    }
    std::vector<Sight> found;
    const auto beyond = [&](int of, int corner, const Corner& seen_from) {
        for (const Planar& to : {seen_from.before, seen_from.after})
            found.push_back({of, corner, {-to[0], -to[1]}, dot(to, seen_from.at)});
    };
    beyond(0, way.corner, second_.corners[way.other]);
    beyond(1, way.other, first_.corners[way.corner]);
    return found;
}

Planar Pair::seen(int of, int corner, double s, int derivative) const {
    const Planar at = turned(of, side(of).corners[corner].at, s);
    const Motion& place = place_[of];
    if (derivative == 0) return {value(place[0], degree_, s, 0) + at[0], value(place[1], degree_, s, 0) + at[1]};
    const Planar own = side(of).corners[corner].at;
    const double way = of == 0 ? 1 : -1;
    const double real = value(turn_[0], degree_, s, 1), imaginary = way * value(turn_[1], degree_, s, 1);
    return {value(place[0], degree_, s, 1) + real * own[0] - imaginary * own[1],
            value(place[1], degree_, s, 1) + real * own[1] + imaginary * own[0]};
}

Planar Pair::turned(int of, Planar direction, double s) const {
    const double way = of == 0 ? 1 : -1;
    const double real = value(turn_[0], degree_, s, 0), imaginary = way * value(turn_[1], degree_, s, 0);
    return {real * direction[0] - imaginary * direction[1], real * direction[1] + imaginary * direction[0]};
}

bool Pair::counts(int number, double s, double near, double still) const {
    const Way& way = ways_[number];
    bool at_end = false;
    for (const Sight& border : borders(number)) {
        const double inside = dot(border.factor, seen(border.of, border.corner, s, 0)) + border.constant;
        if (inside < -near) return false;
        if (inside > near) continue;
        if (dot(border.factor, seen(border.of, border.corner, s, 1)) < -still) return false;
        at_end = true;
    }
    if (way.sort == 2 || !at_end) return true;
    // Corner on corner: of the edges there those count that have the whole other corner before them.
    const Corner& corner = side(way.sort).corners[way.corner];
    const Planar normal = left(side(1 - way.sort).edges[way.other].along);
    return dot(normal, turned(way.sort, corner.before, s)) >= -kFacing &&
           dot(normal, turned(way.sort, corner.after, s)) >= -kFacing;
}

double Pair::height(int number) const {
    const Way& way = ways_[number];
    const int of = way.sort == 2 ? 0 : way.sort;
    const Planar place = spots_[of][way.corner].place;
    if (way.sort == 2) {
        const Planar from = minus(place, second_.corners[way.other].at);
        return std::hypot(from[0], from[1]) - first_.corners[way.corner].radius - second_.corners[way.other].radius;
    }
    const Edge& edge = side(1 - of).edges[way.other];
    return dot(left(edge.along), minus(place, edge.at)) - edge.radius - side(of).corners[way.corner].radius;
}

// Of all corners of one outline from the other: the distance of the nearest edge or corner of each component, negative
// behind an edge and at a corner that is not convex.
double Pair::clearance_of(int of) const {
    const Outline& other = side(1 - of);
    if (!other.solid) return INFINITY;
    struct Nearest {
        double distance = INFINITY, radius = 0;
        bool outside = true;
    };
    double least = INFINITY;
    std::vector<Nearest> nearest;
    for (std::size_t i = 0; i < side(of).corners.size(); ++i) {
        const Planar place = spots_[of][i].place;
        nearest.clear();
        const auto take = [&](int component, double distance, bool outside, double radius) {
            if (int(nearest.size()) <= component) nearest.resize(component + 1);
            Nearest& best = nearest[component];
            // Of two that are as near, as at a corner and on the two sides of a thin thing, one that is outside is right.
            const double same = kFacing * distance;
            if (distance > best.distance + same || (distance > best.distance - same && best.outside)) return;
            best = {distance, radius, outside};
        };
        for (const Edge& edge : other.edges) {
            const Planar from = minus(place, edge.at);
            const double along = dot(edge.along, from), across = dot(left(edge.along), from);
            if (!std::isfinite(edge.length) || (along >= 0 && along <= edge.length)) take(edge.component, std::abs(across), across >= 0, edge.radius);
        }
        for (const Corner& corner : other.corners) {
            const Planar from = minus(place, corner.at);
            take(corner.component, std::sqrt(dot(from, from)), corner.convex, corner.radius);
        }
        const double radius = side(of).corners[i].radius;
        for (const Nearest& each : nearest)
            if (std::isfinite(each.distance))
                least = std::min(least, (each.outside ? each.distance : -each.distance) - each.radius - radius);
    }
    return least;
}

double Pair::clearance() const { return std::min(clearance_of(0), clearance_of(1)); }

}  // namespace mechsim

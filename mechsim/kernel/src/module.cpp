// Python's view of the kernel. Arrays come in as C-contiguous NumPy arrays; a march releases the GIL while it runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "arrays.hpp"
#include "constants.hpp"
#include "fleet.hpp"
#include "graph.hpp"
#include "guard.hpp"
#include "march.hpp"
#include "starts_module.hpp"

namespace nb = nanobind;
using namespace mechsim;

namespace {

template <class Array>
bool shaped(const Array& a, std::size_t rows, std::size_t columns) {
    return a.ndim() == 2 && a.shape(0) == rows && a.shape(1) == columns;
}

// A march has memory once it is ready.
March& begun(March& march) {
    require(march.coefficients().width > 0, "the march is not ready");
    return march;
}

Pattern pattern(int size, const Integers& rows, const Integers& columns, const Integers& values) {
    check_pattern(size, integers(rows), integers(columns), values.size());
    return Pattern(size, integers(rows), integers(columns), integers(values));
}

// Columns of the tables are documented in mechsim/kernel/compiled.py, which writes them.
Block make_block(int lanes, const Doubles& constants, const Integers& inputs, const Integers& unknowns,
                 const Integers& operations, const Integers& outputs, const Integers& terms, const Integers& rows,
                 int no_row) {
    const std::size_t count = std::size_t(std::max(lanes, 0));
    require(lanes > 0 && constants.ndim() == 2 && shaped(constants, constants.shape(0), count), "constants of a block");
    require(inputs.ndim() == 2 && shaped(inputs, inputs.shape(0), 5) && shaped(unknowns, inputs.shape(0), count),
            "inputs of a block");
    require(operations.ndim() == 2 && shaped(operations, operations.shape(0), 10), "operations of a block");
    require(outputs.ndim() == 2 && shaped(outputs, outputs.shape(0), 4) && shaped(rows, outputs.shape(0), count),
            "rows of a block");
    require(terms.ndim() == 2 && shaped(terms, terms.shape(0), 3), "terms of a block");
    Block block;
    block.lanes = lanes;
    block.stride = stride_for(lanes);
    block.no_row = no_row;
    block.constant_count = int(constants.shape(0));
    block.constants = aligned_zeros(std::size_t(block.constant_count) * block.stride);
    block.tune(constants.data());
    auto source = [&](int lane) { return lane < lanes ? lane : 0; };
    for (std::size_t i = 0; i < inputs.shape(0); ++i) {
        const int* in = inputs.data() + i * inputs.shape(1);
        block.inputs.push_back({in[0], in[1], in[2] != 0, in[3] != 0, in[4] != 0});
        for (int l = 0; l < block.stride; ++l) block.unknowns.push_back(unknowns.data()[i * lanes + source(l)]);
    }
    for (std::size_t i = 0; i < operations.shape(0); ++i) {
        const int* op = operations.data() + i * operations.shape(1);
        block.operations.push_back({Code(op[0]), op[1], op[2], op[3], op[4], Function(op[5]), op[6], op[7] != 0,
                                    op[8] != 0, op[9] != 0});
    }
    for (std::size_t i = 0; i < outputs.shape(0); ++i) {
        const int* out = outputs.data() + i * outputs.shape(1);
        block.outputs.push_back({out[0], out[1], out[2], out[3]});
        for (int l = 0; l < block.stride; ++l) {
            const int row = l < lanes ? rows.data()[i * lanes + l] : -1;
            block.rows.push_back(row < 0 ? no_row : row);
        }
    }
    for (std::size_t i = 0; i < terms.shape(0); ++i) {
        const int* term = terms.data() + i * terms.shape(1);
        block.terms.push_back({term[0], term[1], term[2] != 0});
    }
    return block;
}

nb::dict statistics(const March& march) {
    nb::dict result;
    result["steps"] = march.statistics().steps;
    result["rejected"] = march.statistics().rejected;
    result["factorizations"] = march.statistics().factorizations;
    result["evaluations"] = march.statistics().evaluations;
    result["pivot_choices"] = march.statistics().analyses;
    result["largest_projection"] = march.statistics().largest_projection;
    return result;
}

nb::tuple advance(March& march, double t_end, std::int64_t steps, double seconds, bool keep) {
    begun(march);
    Record record;
    record.keep_polynomials = keep;
    Status status;
    {
        nb::gil_scoped_release release;
        status = march.advance(t_end, steps, seconds, record);
    }
    const std::size_t points = record.t.size(), taken = record.start.size(), size = march.size();
    return nb::make_tuple(int(status), owned(std::move(record.t), {points}), owned(std::move(record.x), {points, size}),
                          owned(std::move(record.v), {points, size}), owned(std::move(record.start), {taken}),
                          owned(std::move(record.polynomials), {taken, std::size_t(march.degrees()), size}));
}

// Project each state; returns all coefficients of every unknown, with order 1 those up to what leads, and the leverage of
// each state, which is large near a singular pose. There a projection may move a state further than it can be off: then
// the state is given back as it is. What the equations do not determine is no number.
nb::tuple project(March& march, const Doubles& times, const Doubles& states) {
    const std::size_t count = times.size(), size = begun(march).size();
    const std::size_t orders = march.largest_offset(), kept = march.degrees();
    require(states.size() == count * orders * size, "states have a row for each derivative that is part of them");
    std::vector<double> values(count * kept * size), leverages(count);
    {
        nb::gil_scoped_release release;
        for (std::size_t s = 0; s < count; ++s) {
            const double* given = states.data() + s * orders * size;
            march.set_state(times.data()[s], given);
            const Status status = march.prepare();
            // Where stage 0 only did not settle, its last digits are roundings.
            const bool regular = status == Status::reached || status == Status::not_finite;
            const bool close = regular && march.is_close();
            leverages[s] = regular ? march.leverage() : INFINITY;
            if (regular && kept > orders + 1) march.expand();
            for (std::size_t n = 0; n < kept; ++n)
                for (std::size_t j = 0; j < size; ++j) {
                    const bool of_state = int(n) < march.offset(int(j));
                    double& found = values[(s * kept + n) * size + j];
                    if (of_state ? close : regular)
                        found = march.coefficients().degree(int(n))[j];
                    else
                        found = of_state ? given[n * size + j] / std::tgamma(double(n) + 1) : NAN;
                }
        }
    }
    return nb::make_tuple(owned(std::move(values), {count, kept, size}), owned(std::move(leverages), {count}));
}

// `tables` are the constants of the blocks, then of the matrix's, one after the other.
void tune(March& march, const Doubles& tables, const Doubles& constants, const Doubles& scales, const Doubles& matrix) {
    if (tables.size() != begun(march).table_size() || int(scales.size()) != march.size() ||
        constants.size() != march.constant_count() || matrix.size() != march.entry_count())
        throw std::invalid_argument("these numbers are not those of this plan");
    march.tune(tables.data(), doubles(constants), doubles(scales), doubles(matrix));
}

// Changes in some directions (the last axis) of the state, of the constants of the blocks, one after the other, and of
// those of the mechanism.
void set_tangents(March& march, const Doubles& state, const Doubles& tables, const Doubles& constants) {
    const std::size_t count = state.ndim() == 3 ? state.shape(2) : 0;
    const std::size_t orders = march.largest_offset(), size = march.size();
    if (state.ndim() != 3 || state.shape(0) != orders || state.shape(1) != size ||
        tables.size() != march.row_table_size() * count || constants.size() != march.constant_count() * count)
        throw std::invalid_argument("these changes are not those of this plan");
    march.set_tangents(int(count), state.data(), tables.data(), constants.data());
}

Tangents& tangents_of(March& march) {
    if (!march.tangents()) throw std::invalid_argument("this march has no tangents");
    return *march.tangents();
}

void set_constant_change(March& march, int number, const Doubles& changes) {
    Tangents& tangents = tangents_of(march);
    if (number < 0 || std::size_t(number) >= march.constant_count() || int(changes.size()) != tangents.directions())
        throw std::invalid_argument("one change per direction, of a constant of the mechanism");
    tangents.set_constant(number, changes.data());
}

// Changes of restitutions, (gaps, directions), and of frictions while they slide and stick, (frictions, 2, directions).
void set_contact_changes(March& march, const Doubles& gaps, const Doubles& frictions) {
    Tangents& tangents = tangents_of(march);
    const std::size_t count = tangents.directions();
    require(gaps.size() == march.gaps().size() * count && frictions.size() == march.frictions().size() * 2 * count,
            "one change per direction, of each gap and of each friction");
    tangents.set_contact_numbers(gaps.data(), frictions.data());
}

// By how much each event of `take_events` came later, (events, directions); and the user's event at which the march stands.
nb::object take_event_changes(March& march) {
    const std::size_t count = tangents_of(march).directions();
    std::vector<double> values = march.take_lates();
    const std::size_t rows = values.size() / count;
    return owned(std::move(values), {rows, count});
}

nb::object event_change(March& march) {
    const Tangents& tangents = tangents_of(march);
    return owned(std::vector<double>(tangents.late()), {std::size_t(tangents.directions())});
}

// What was written since this was last asked: (points, 2, unknowns, directions) values and rates, and (steps, degrees,
// unknowns, directions) coefficients where `keep_tangents` asked for them.
nb::tuple take_tangents(March& march) {
    Tangents& tangents = tangents_of(march);
    const std::size_t size = march.size(), count = tangents.directions(), degrees = march.degrees();
    const std::size_t points = tangents.record.points.size() / (2 * size * count);
    const std::size_t steps = tangents.record.polynomials.size() / (degrees * size * count);
    std::vector<double> values, polynomials;
    values.swap(tangents.record.points);
    polynomials.swap(tangents.record.polynomials);
    return nb::make_tuple(owned(std::move(values), {points, 2, size, count}),
                          owned(std::move(polynomials), {steps, degrees, size, count}));
}

// Changes of all unknowns where the march stands: coefficients 0..largest offset, or all of them once it is expanded.
nb::object tangent_coefficients(March& march, bool all) {
    Tangents& tangents = tangents_of(march);
    const std::size_t size = march.size(), count = tangents.directions();
    const std::size_t degrees = all ? march.degrees() : march.largest_offset() + 1;
    std::vector<double> values;
    for (std::size_t n = 0; n < degrees; ++n)
        for (std::size_t j = 0; j < size; ++j) {
            const double* row = tangents.coefficient(int(n), int(j));
            values.insert(values.end(), row, row + count);
        }
    return owned(std::move(values), {degrees, size, count});
}

// Weights of the state's derivatives, (orders, unknowns): see `Tangents::orthonormalise`.
nb::object orthonormalise_tangents(March& march, const Doubles& weights) {
    Tangents& tangents = tangents_of(march);
    require(weights.ndim() == 2 && shaped(weights, march.largest_offset(), march.size()), "a weight for each of the state");
    const std::size_t count = tangents.directions();
    return owned(tangents.orthonormalise(weights.data()), {count});
}

// Changes of the constants of the mechanism, (constants, directions).
nb::object constant_changes(March& march) {
    Tangents& tangents = tangents_of(march);
    const std::size_t count = tangents.directions();
    std::vector<double> values;
    for (std::size_t number = 0; number < march.constant_count(); ++number) {
        const double* row = tangents.coefficient(0, march.size() + int(number));
        values.insert(values.end(), row, row + count);
    }
    return owned(std::move(values), {march.constant_count(), count});
}

// Numbers as for `tune`, each (motions, ...), or once for all.
void begin_fleet(Fleet& fleet, const Doubles& tables, const Doubles& constants, const Doubles& scales,
                 const Doubles& matrix, const Doubles& times, const Doubles& states, const Doubles& ends, int keep) {
    const March& march = fleet.march();
    const std::size_t count = times.size(), size = march.size();
    const auto fits = [&](const Doubles& numbers, std::size_t width) {
        return numbers.size() == width || numbers.size() == width * count;
    };
    if (!fits(tables, march.table_size()) || !fits(scales, size) || !fits(constants, march.constant_count()) ||
        !fits(matrix, march.entry_count()) || ends.size() != count ||
        states.size() != count * march.largest_offset() * size)
        throw std::invalid_argument("these numbers are not those of this plan");
    fleet.begin({count, doubles(tables), doubles(constants), doubles(scales), doubles(matrix), doubles(times),
                 doubles(states), doubles(ends)},
                Keep(keep));
}

// Of all motions: status, steps, steps away, rejected, factorizations, evaluations, pivot choices; their largest projection.
nb::tuple fleet_counts(Fleet& fleet) {
    std::vector<double> counts, projections;
    for (const Outcome& outcome : fleet.outcomes()) {
        const Statistics& s = outcome.statistics;
        for (std::int64_t count : {std::int64_t(outcome.status), s.steps, outcome.away, s.rejected, s.factorizations,
                                   s.evaluations, s.analyses})
            counts.push_back(double(count));
        projections.push_back(s.largest_projection);
    }
    const std::size_t count = projections.size();
    return nb::make_tuple(owned(std::move(counts), {count, 7}), owned(std::move(projections), {count}));
}

// The last points of all motions: times, values, first derivatives; no numbers for one that has none.
nb::tuple fleet_last(Fleet& fleet) {
    const std::size_t count = fleet.outcomes().size(), size = fleet.march().size();
    std::vector<double> t(count, NAN), x(count * size, NAN), v(count * size, NAN);
    for (std::size_t k = 0; k < count; ++k) {
        const Record& record = fleet.outcomes()[k].record;
        if (record.t.empty()) continue;
        t[k] = record.t.back();
        std::copy(record.x.end() - size, record.x.end(), x.begin() + k * size);
        std::copy(record.v.end() - size, record.v.end(), v.begin() + k * size);
    }
    return nb::make_tuple(owned(std::move(t), {count}), owned(std::move(x), {count, size}),
                          owned(std::move(v), {count, size}));
}

// What one motion has written down, as `advance` gives it; it is given away.
nb::tuple fleet_record(Fleet& fleet, std::size_t motion) {
    Record record = std::move(fleet.outcomes().at(motion).record);
    const std::size_t points = record.t.size(), taken = record.start.size(), size = fleet.march().size();
    return nb::make_tuple(owned(std::move(record.t), {points}), owned(std::move(record.x), {points, size}),
                          owned(std::move(record.v), {points, size}),
                          owned(std::move(record.polynomials), {taken, std::size_t(fleet.march().degrees()), size}));
}

nb::object expand(March& march) {
    begun(march).expand();
    std::vector<double> values;
    for (int n = 0; n < march.degrees(); ++n)
        values.insert(values.end(), march.coefficients().degree(n), march.coefficients().degree(n) + march.size());
    return owned(std::move(values), {std::size_t(march.degrees()), std::size_t(march.size())});
}

// What happened at gaps since this was last asked, a row each: time, gap, rate before and after, impulse, energy lost, and
// whether it was and is closed; of a pair, which of its ways to touch it is.
nb::object take_events(March& march) {
    std::vector<double> values;
    for (const Happening& each : march.take_happenings())
        values.insert(values.end(), {each.t, double(each.gap), each.before, each.after, each.impulse, each.lost,
                                     double(each.was_closed), double(each.is_closed), double(each.way), double(each.limited)});
    const std::size_t count = values.size() / 10;
    return owned(std::move(values), {count, 10});
}

// The least that each gap was so far, where that is negative.
nb::object overlaps(const March& march) {
    std::vector<double> values;
    for (const Gap& gap : march.gaps()) values.push_back(march.deepest(gap));
    const std::size_t count = values.size();
    return owned(std::move(values), {count});
}

// Of each gap: its restitution, the speed from which on it has that, and its size.
const double* numbers_of_gaps(const Doubles& numbers, std::size_t count) {
    require(numbers.ndim() == 2 && shaped(numbers, count, 3), "gaps have 3 numbers each");
    for (std::size_t i = 0; i < count; ++i) {
        const double* own = numbers.data() + 3 * i;
        require(own[0] >= 0 && own[0] <= 1 && own[1] >= 0 && own[2] > 0, "numbers of a gap");
    }
    return numbers.data();
}

// Which gaps, and behind them which frictions, bore what others could have.
nb::object shared(const March& march) {
    std::vector<double> values;
    for (const Gap& gap : march.gaps()) values.push_back(gap.shared);
    for (const Friction& friction : march.frictions()) values.push_back(friction.shared);
    const std::size_t count = values.size();
    return owned(std::move(values), {count});
}

void add_gaps(March& march, const Integers& rows, const Integers& modes, const Integers& laws, const Integers& accounts,
              const Doubles& numbers) {
    const std::size_t count = rows.size();
    const double* own = numbers_of_gaps(numbers, count);
    require(accounts.size() == count && modes.size() == count, "gaps have 4 places each");
    require(laws.size() == count && std::all_of(laws.data(), laws.data() + count, [](int law) { return law >= 0 && law <= 3; }), "there is no such law");
    require(march.coefficients().width == 0, "a gap comes after the march is ready");
    for (std::size_t i = 0; i < count; ++i) {
        const int row = rows.data()[i], mode = modes.data()[i];
        require(row >= 0 && row < march.size() && mode >= 0 && std::size_t(mode) < march.constant_count(), "a gap is not there");
        const int account = accounts.data()[i];
        // A bond that never takes hold has none, and its own row stands for it.
        require(account >= 0 && account < march.size() && (march.offset(account) == 1 || account == row), "a gap has no account");
        march.add_gap(row, mode, Law(laws.data()[i]), account);
        march.tune_gap(int(i), own[3 * i], own[3 * i + 1], own[3 * i + 2]);
    }
}

void tune_frictions(March& march, const Doubles& numbers) {
    require(numbers.ndim() == 2 && shaped(numbers, march.frictions().size(), 3), "frictions have 3 numbers");
    for (std::size_t i = 0; i < numbers.shape(0); ++i) {
        const double* own = numbers.data() + 3 * i;
        require(own[0] > 0 && own[1] >= own[0] && own[2] > 0, "numbers of a friction");
        march.tune_friction(int(i), own[0], own[1], own[2]);
    }
}

// Rows of frictions (row, mode, sense, gap, account, block, output and lane of what limits them), and their numbers: the shares of the
// load that rub and that stick, and a length.
void add_frictions(March& march, const Integers& places, const Doubles& numbers) {
    require(places.ndim() == 2 && shaped(places, places.shape(0), 8) && shaped(numbers, places.shape(0), 3), "frictions have 8 places and 3 numbers");
    require(march.coefficients().width == 0, "a friction comes after the march is ready");
    for (std::size_t i = 0; i < places.shape(0); ++i) {
        const int* each = places.data() + 8 * i;
        const double* own = numbers.data() + 3 * i;
        const auto constant = [&](int number) { return number >= 0 && std::size_t(number) < march.constant_count(); };
        require(each[0] >= 0 && each[0] < march.size() && march.equation_offset(each[0]) == 1 && constant(each[1]) && constant(each[2]), "a friction is not there");
        require(each[3] >= -1 && each[3] < int(march.gaps().size()), "a friction has no gap");
        require(each[4] >= 0 && each[4] < march.size() && march.offset(each[4]) == 1, "a friction has no account");
        require(each[3] >= 0 || march.has_output(each[5], each[6], each[7]), "a friction has no limit");
        require(own[0] > 0 && own[1] >= own[0] && own[2] > 0, "numbers of a friction");
        Friction friction;
        friction.row = each[0], friction.mode = each[1], friction.sense = each[2], friction.gap = each[3], friction.account = each[4];
        friction.limit_block = each[5], friction.limit_output = each[6], friction.limit_lane = each[7];
        friction.kinetic = own[0], friction.limit = own[1], friction.size = own[2];
        march.add_friction(std::move(friction));
    }
}

void tune_gaps(March& march, const Doubles& numbers) {
    const std::size_t count = begun(march).gaps().size();
    const double* own = numbers_of_gaps(numbers, count);
    for (std::size_t i = 0; i < count; ++i) march.tune_gap(int(i), own[3 * i], own[3 * i + 1], own[3 * i + 2]);
}

void make_bonds(March& march, const Integers& gaps) {
    require(march.coefficients().width == 0, "a bond comes after the march is ready");
    for (std::size_t i = 0; i < gaps.size(); ++i) march.make_bond(gaps.data()[i]);
}

// A status, and of each bond its rate before, its impulse and the energy that it takes, in three rows.
nb::tuple attach(March& march, const Integers& bonds) {
    std::vector<double> told;
    const Status status = begun(march).attach(std::vector<int>(bonds.data(), bonds.data() + bonds.size()), told);
    told.resize(3 * bonds.size());
    return nb::make_tuple(int(status), owned(std::move(told), {std::size_t(3), bonds.size()}));
}

// Columns of an outline's tables are documented in mechsim/model/outlines.py, which writes them.
Outline make_outline(const March& march, const Integers& frame, const Doubles& extent, const Doubles& corners,
                     const Doubles& edges) {
    require(frame.size() == 4 && extent.size() == 3, "the frame of an outline");
    require(corners.ndim() == 2 && shaped(corners, corners.shape(0), 9), "corners of an outline");
    require(edges.ndim() == 2 && shaped(edges, edges.shape(0), 7), "edges of an outline");
    Outline outline;
    for (int i = 0; i < 4; ++i) {
        const int column = outline.frame.columns[i] = frame.data()[i];
        const bool known = column >= 0 && std::size_t(column) < std::size_t(march.size()) + march.constant_count();
        require(known || (frame.data()[0] < 0 && extent.data()[0] == 0), "an outline is nowhere");
    }
    outline.frame.length = extent.data()[0], outline.reach = extent.data()[1], outline.solid = extent.data()[2] != 0;
    const auto component = [](double number) {
        require(number >= 0 && number < 1e6, "a component of an outline");
        return int(number);
    };
    for (std::size_t i = 0; i < corners.shape(0); ++i) {
        const double* c = corners.data() + 9 * i;
        outline.corners.push_back({{c[0], c[1]}, c[2], {c[3], c[4]}, {c[5], c[6]}, c[7] != 0, component(c[8])});
    }
    for (std::size_t i = 0; i < edges.shape(0); ++i) {
        const double* e = edges.data() + 7 * i;
        outline.edges.push_back({{e[0], e[1]}, {e[2], e[3]}, e[4], e[5], component(e[6])});
    }
    return outline;
}

// Two outlines, the ways in which they may touch (sort, corner, edge or corner; what their rows are made of), and the gaps
// that are lent to them (gap, sort, constants, -1 for those that it does not need).
void add_pair(March& march, const std::vector<Integers>& frames, const std::vector<Doubles>& tables, const Integers& ways,
              const Doubles& values, const Integers& lent) {
    require(march.coefficients().width == 0, "a pair comes after the march is ready");
    require(frames.size() == 2 && tables.size() == 6, "a pair has two outlines");
    require(ways.ndim() == 2 && shaped(ways, ways.shape(0), 3), "ways of a pair");
    require(values.ndim() == 2 && values.shape(0) == ways.shape(0), "values of a pair");
    const Outline first = make_outline(march, frames[0], tables[0], tables[1], tables[2]);
    const Outline second = make_outline(march, frames[1], tables[3], tables[4], tables[5]);
    std::vector<Way> found;
    const auto below = [](int number, std::size_t count) { return number >= 0 && std::size_t(number) < count; };
    for (std::size_t i = 0; i < ways.shape(0); ++i) {
        const int *way = ways.data() + 3 * i, sort = way[0];
        const Outline &own = sort == 1 ? second : first, &other = sort == 1 ? first : second;
        require(below(sort, 3) && below(way[1], own.corners.size()) &&
                    below(way[2], sort == 2 ? other.corners.size() : other.edges.size()),
                "a way of a pair is not there");
        const double* row = values.data() + values.shape(1) * i;
        found.push_back({sort, way[1], way[2], std::vector<double>(row, row + values.shape(1))});
    }
    require(lent.ndim() == 2 && shaped(lent, lent.shape(0), 2 + values.shape(1)), "gaps of a pair");
    march.add_pair(Pair(first, second, std::move(found)));
    for (std::size_t i = 0; i < lent.shape(0); ++i) {
        const int* row = lent.data() + lent.shape(1) * i;
        std::vector<int> constants;
        for (std::size_t k = 2; k < lent.shape(1) && row[k] >= 0; ++k) {
            require(std::size_t(row[k]) < march.constant_count(), "a gap of a pair has no constants");
            constants.push_back(row[k]);
        }
        require(below(row[0], march.gaps().size()) && below(row[1], 3), "a gap of a pair is not there");
        march.lend_gap(row[0], row[1], std::move(constants));
    }
}

// Each is an output of a block, in a lane of it, and the direction in which its crossings count.
void add_watchers(March& march, const Integers& watched) {
    require(march.coefficients().width == 0, "a watcher comes after the march is ready");
    require(watched.ndim() == 2 && shaped(watched, watched.shape(0), 5), "watchers have five numbers each");
    for (std::size_t i = 0; i < watched.shape(0); ++i) {
        const int* each = watched.data() + 5 * i;
        require(march.has_output(each[0], each[1], each[2]) && std::abs(each[3]) <= 1, "a watcher has nothing to watch");
        require(each[4] >= -1 && each[4] < int(march.constant_count()), "a switch has no constant");
        march.add_watcher(each[0], each[1], each[2], each[3], each[4]);
    }
}

Constants make_constants(const Integers& steps, const Doubles& values, int parameters) {
    require(steps.ndim() == 2 && shaped(steps, values.size(), 3), "nodes of a program of constants");
    std::vector<Node> nodes;
    for (std::size_t i = 0; i < steps.shape(0); ++i) {
        const int* step = steps.data() + 3 * i;
        nodes.push_back({Step(step[0]), step[1], step[2], values.data()[i]});
    }
    return {std::move(nodes), parameters};
}

nb::object evaluate_constants(const Constants& constants, const Doubles& parameters) {
    if (parameters.ndim() != 2 || int(parameters.shape(0)) != constants.parameters())
        throw std::invalid_argument("parameters must be (parameters, sets)");
    const std::size_t sets = parameters.shape(1);
    std::vector<double> values(constants.size() * sets);
    constants.evaluate(parameters.data(), sets, values.data());
    return owned(std::move(values), {constants.size(), sets});
}

nb::object differentiate_constants(const Constants& constants, const Doubles& values, const Doubles& directions) {
    if (values.size() != constants.size() || directions.ndim() != 2 || int(directions.shape(0)) != constants.parameters())
        throw std::invalid_argument("values must be those of all nodes, directions (parameters, directions)");
    const std::size_t count = directions.shape(1);
    std::vector<double> changes(constants.size() * count);
    constants.differentiate(values.data(), directions.data(), count, changes.data());
    return owned(std::move(changes), {constants.size(), count});
}

}  // namespace

NB_MODULE(_kernel, m) {
#ifdef NDEBUG
    nb::set_leak_warnings(false);  // commands end without collecting what they hold, on purpose: see __main__.py
#endif
    nb::class_<Constants>(m, "Constants")
        .def("__init__", [](Constants* self, const Integers& steps, const Doubles& values, int parameters) {
            new (self) Constants(make_constants(steps, values, parameters));
        })
        .def("values", &evaluate_constants)
        .def("changes", &differentiate_constants);
    add_starts(m);
    m.def("transversal", [](int size, const Integers& rows, const Integers& columns, const Integers& values) {
        return transversal(pattern(size, rows, columns, values));
    });
    m.def("strong_components", [](int size, const Integers& rows, const Integers& columns) {
        return strong_components(pattern(size, rows, columns, rows));
    });
    nb::class_<Fleet>(m, "Fleet")
        .def("__init__",
             [](Fleet* self, March& march, double t, const Doubles& reference, int width) {
                 if (width != 0 && width != 4 && width != 8 && width != 16 && width != 32)
                     throw std::invalid_argument("lanes come in 4, 8, 16 or 32");
                 if (reference.size() != std::size_t(march.largest_offset()) * march.size())
                     throw std::invalid_argument("the reference is no state of this plan");
                 new (self) Fleet(march, t, reference.data(), width);
             },
             nb::keep_alive<1, 2>())
        .def("begin", &begin_fleet)
        .def("run", &Fleet::run, nb::call_guard<nb::gil_scoped_release>())
        .def("counts", &fleet_counts)
        .def("last", &fleet_last)
        .def("record", &fleet_record)
        .def_prop_ro("usable", &Fleet::usable)
        .def_prop_ro("width", &Fleet::width);
    nb::class_<March>(m, "March")
        .def("__init__",
             [](March* self, int size, const Integers& c, const Integers& d, const Doubles& scales,
                const Doubles& constants, const Integers& rows, const Integers& columns, const Doubles& matrix,
                const Integers& spare, int redundant, int order, int careful_order,
                double tolerance, double safety, double fixed_step, double settled, double rejection) {
                 check_plan(size, integers(c), integers(d), doubles(scales), integers(rows), integers(columns),
                            doubles(matrix), integers(spare), redundant, order);
                 new (self) March(size, integers(c), integers(d), doubles(scales), doubles(constants), integers(rows),
                                  integers(columns), doubles(matrix), integers(spare), redundant,
                                  Control{order, careful_order, tolerance, safety, fixed_step, settled, rejection});
             })
        .def("add_block", [](March& self, int lanes, const Doubles& constants, const Integers& inputs,
                             const Integers& unknowns, const Integers& operations, const Integers& outputs,
                             const Integers& terms, const Integers& rows, int no_row, bool matrix, bool watched) {
            Block block = make_block(lanes, constants, inputs, unknowns, operations, outputs, terms, rows, no_row);
            block.watched = watched;
            check_block(block, self, no_row, matrix);
            require(self.coefficients().width == 0, "a block comes after the march is ready");
            matrix ? self.add_matrix_block(std::move(block)) : self.add_block(std::move(block));
        })
        .def("add_gaps", &add_gaps)
        .def("add_frictions", &add_frictions)
        .def("make_bonds", &make_bonds)
        .def("attach", &attach)
        .def("add_pair", &add_pair)
        .def("add_watchers", &add_watchers)
        .def_prop_ro("fired", &March::fired)
        .def("take_events", &take_events)
        .def("overlaps", &overlaps)
        .def("shared", &shared)
        .def("ready", &March::ready)
        .def("set_state", [](March& self, double t, const Doubles& state) {
            require(state.size() >= std::size_t(begun(self).largest_offset()) * self.size(), "the state lacks derivatives");
            self.set_state(t, state.data());
        })
        .def("set_constant", [](March& self, int number, double value) {
            require(number >= 0 && std::size_t(number) < begun(self).constant_count(), "there is no such constant");
            self.set_constant(number, value);
        })
        .def("tune", &tune)
        .def("tune_gaps", &tune_gaps)
        .def("tune_frictions", &tune_frictions)
        .def("prepare", [](March& self) { return int(begun(self).prepare()); })
        .def("expand", &expand)
        .def("advance", &advance)
        .def("set_tangents", &set_tangents)
        .def("forget_tangents", [](March& self) { self.set_tangents(0, nullptr, nullptr, nullptr); })
        .def("set_constant_change", &set_constant_change)
        .def("constant_changes", &constant_changes)
        .def("keep_tangents", [](March& self, bool keep) { tangents_of(self).record.keep_polynomials = keep; })
        .def("take_tangents", &take_tangents)
        .def("set_contact_changes", &set_contact_changes)
        .def("take_event_changes", &take_event_changes)
        .def("event_change", &event_change)
        .def_prop_ro("tangent_failure", [](March& self) { return self.tangents() ? self.tangents()->reason() : ""; })
        .def("prepare_tangents", [](March& self) { return tangents_of(self).prepare(); })
        .def("tangent_coefficients", &tangent_coefficients)
        .def("orthonormalise_tangents", &orthonormalise_tangents)
        .def("project", &project)
        .def("snapshot",
             [](March& self) {
                 const Bytes bytes = self.snapshot();
                 return nb::bytes(bytes.data(), bytes.size());
             })
        .def("restore", [](March& self, const nb::bytes& given) {
            self.restore(Bytes(given.c_str(), given.c_str() + given.size()));
        })
        .def_prop_ro("time", &March::time)
        .def_prop_ro("distance", &March::projected_distance)
        .def_prop_ro("statistics", &statistics);
}

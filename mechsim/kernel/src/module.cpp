// Python's view of the kernel. Arrays come in as C-contiguous NumPy arrays; a march releases the GIL while it runs.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "constants.hpp"
#include "graph.hpp"
#include "march.hpp"

namespace nb = nanobind;
using namespace mechsim;

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Integers = nb::ndarray<const int, nb::c_contig, nb::device::cpu>;

namespace {

std::vector<double> doubles(const Doubles& a) { return {a.data(), a.data() + a.size()}; }
std::vector<int> integers(const Integers& a) { return {a.data(), a.data() + a.size()}; }

// A vector handed to NumPy without a copy.
nb::object owned(std::vector<double>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, double>(kept->data(), shape.size(), shape.data(), owner));
}

// Columns of the tables are documented in mechsim/kernel/compiled.py, which writes them.
Block make_block(int lanes, const Doubles& constants, const Integers& inputs, const Integers& unknowns,
                 const Integers& operations, const Integers& outputs, const Integers& terms, const Integers& rows,
                 int no_row) {
    Block block;
    block.lanes = lanes;
    block.stride = (lanes + kWidth - 1) / kWidth * kWidth;
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

// Project each state; returns coefficients 0..largest offset of every unknown, and the leverage of each state, which is
// large near a singular pose. There a projection may move a state further than it can be off: then the state is given
// back as it is. What the equations do not determine is no number.
nb::tuple project(March& march, const Doubles& times, const Doubles& states) {
    const std::size_t count = times.shape(0), size = march.size();
    const std::size_t orders = march.largest_offset(), kept = orders + 1;
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
    if (tables.size() != march.table_size() || int(scales.size()) != march.size() ||
        constants.size() != march.constant_count() || matrix.size() != march.entry_count())
        throw std::invalid_argument("these numbers are not those of this plan");
    march.tune(tables.data(), doubles(constants), doubles(scales), doubles(matrix));
}

nb::object expand(March& march) {
    march.expand();
    std::vector<double> values;
    for (int n = 0; n < march.degrees(); ++n)
        values.insert(values.end(), march.coefficients().degree(n), march.coefficients().degree(n) + march.size());
    return owned(std::move(values), {std::size_t(march.degrees()), std::size_t(march.size())});
}

Constants make_constants(const Integers& steps, const Doubles& values, int parameters) {
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
    nb::class_<Constants>(m, "Constants")
        .def("__init__", [](Constants* self, const Integers& steps, const Doubles& values, int parameters) {
            new (self) Constants(make_constants(steps, values, parameters));
        })
        .def("values", &evaluate_constants)
        .def("changes", &differentiate_constants);
    m.def("transversal", [](int size, const Integers& rows, const Integers& columns, const Integers& values) {
        return transversal(Pattern(size, integers(rows), integers(columns), integers(values)));
    });
    m.def("strong_components", [](int size, const Integers& rows, const Integers& columns) {
        return strong_components(Pattern(size, integers(rows), integers(columns), integers(rows)));
    });
    nb::class_<March>(m, "March")
        .def("__init__",
             [](March* self, int size, const Integers& c, const Integers& d, const Doubles& scales,
                const Doubles& constants, const Integers& rows, const Integers& columns, const Doubles& matrix,
                const Integers& spare, int redundant, int order, int careful_order,
                double tolerance, double safety, double fixed_step, double settled, double rejection) {
                 new (self) March(size, integers(c), integers(d), doubles(scales), doubles(constants), integers(rows),
                                  integers(columns), doubles(matrix), integers(spare), redundant,
                                  Control{order, careful_order, tolerance, safety, fixed_step, settled, rejection});
             })
        .def("add_block", [](March& self, int lanes, const Doubles& constants, const Integers& inputs,
                             const Integers& unknowns, const Integers& operations, const Integers& outputs,
                             const Integers& terms, const Integers& rows, int no_row, bool matrix, bool watched) {
            Block block = make_block(lanes, constants, inputs, unknowns, operations, outputs, terms, rows, no_row);
            block.watched = watched;
            matrix ? self.add_matrix_block(std::move(block)) : self.add_block(std::move(block));
        })
        .def("ready", &March::ready)
        .def("set_state", [](March& self, double t, const Doubles& state) { self.set_state(t, state.data()); })
        .def("set_constant", &March::set_constant)
        .def("tune", &tune)
        .def("prepare", [](March& self) { return int(self.prepare()); })
        .def("expand", &expand)
        .def("advance", &advance)
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

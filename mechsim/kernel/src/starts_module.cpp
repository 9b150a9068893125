#include "starts_module.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.hpp"
#include "guard.hpp"
#include "starts.hpp"

namespace nb = nanobind;

namespace mechsim {

namespace {

constexpr std::size_t kBlock = 16;  // sets whose values are taken out of their columns together

bool shaped(const Integers& table, std::size_t columns) { return table.ndim() == 2 && table.shape(1) == columns; }

std::vector<Guard> guards(const Integers& table) {
    require(shaped(table, 4), "comparisons of starts");
    std::vector<Guard> found;
    for (std::size_t i = 0; i < table.shape(0); ++i) {
        const int* row = table.data() + 4 * i;
        found.push_back({row[0] != 0, row[1], row[2], row[3] != 0});
    }
    return found;
}

Formulas formulas(const Integers& lines, const Integers& stores, int inputs, int outputs) {
    require(shaped(lines, 3) && shaped(stores, 2), "formulas of starts");
    std::vector<Line> program;
    std::vector<Store> results;
    for (std::size_t i = 0; i < lines.shape(0); ++i) {
        const int* line = lines.data() + 3 * i;
        program.push_back({Step(line[0]), line[1], line[2]});
    }
    for (std::size_t i = 0; i < stores.shape(0); ++i)
        results.push_back({stores.data()[2 * i], stores.data()[2 * i + 1]});
    return {std::move(program), std::move(results), inputs, outputs};
}

// What comes in lists is in the order of `Asked`; kernel/starts.py writes it.
Asked make_asked(const Constants& numbers, int n, int m, const Doubles& here, const Integers& kept, const Integers& placed,
                 const std::vector<Integers>& lines, const std::vector<Integers>& stores, int time,
                 const std::vector<Integers>& nodes, const std::vector<Integers>& coordinates, const Integers& rows,
                 const Doubles& known, const Doubles& cost, const Doubles& rate_cost, const Doubles& rules) {
    require(n >= 0 && m >= 0 && n < 1 << 14 && m < 1 << 14, "sizes of starts");
    require(lines.size() == 4 && stores.size() == 4 && nodes.size() == 4 && coordinates.size() == 6, "parts of starts");
    require(rules.size() * sizeof(double) == sizeof(Rules), "rules of starts");
    const int inputs = int(nodes[0].size()) + 1 + 2 * n + m + 1, residuals = m * (1 + n);
    const auto formula = [&](int i, int outputs) { return formulas(lines[i], stores[i], inputs, outputs); };
    const double* r = rules.data();
    Asked asked{n, m, numbers, doubles(here), guards(kept), guards(placed), integers(nodes[0]),
                formula(0, residuals), formula(1, n * n), formula(2, residuals), formula(3, n), time,
                integers(nodes[1]), integers(nodes[2]), integers(nodes[3]), integers(coordinates[0]),
                integers(coordinates[1]), integers(coordinates[2]), integers(coordinates[3]), integers(coordinates[4]),
                integers(coordinates[5]), integers(rows), doubles(known), doubles(cost), doubles(rate_cost),
                {r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8], r[9], r[10], r[11], r[12], r[13], r[14], r[15]}};
    asked.check();
    return asked;
}

// Calls with the number of each set and its own values, out of columns (nodes, sets).
template <class Call>
void each_set(const Doubles& values, Call call) {
    const std::size_t nodes = values.shape(0), sets = values.shape(1);
    std::vector<double> block(kBlock * nodes);
    for (std::size_t first = 0; first < sets; first += kBlock) {
        const std::size_t count = std::min(kBlock, sets - first);
        for (std::size_t i = 0; i < nodes; ++i)
            for (std::size_t k = 0; k < count; ++k) block[k * nodes + i] = values.data()[i * sets + first + k];
        for (std::size_t k = 0; k < count; ++k) call(first + k, block.data() + k * nodes);
    }
}

void check_values(const Asked& asked, const Doubles& values) {
    require(values.ndim() == 2 && values.shape(0) == asked.numbers.size(), "values of all nodes");
}

// Times, positions and velocities of starts, (sets, ...), and for each set whether it was found.
nb::tuple find(const Asked& asked, const Doubles& values, const Doubles& parameters) {
    check_values(asked, values);
    const std::size_t sets = values.shape(1), n = std::size_t(asked.n), count = asked.here.size();
    require(parameters.ndim() == 2 && parameters.shape(0) == count && parameters.shape(1) == sets, "parameters of starts");
    std::vector<double> t(sets, NAN), q(sets * n, NAN), v(sets * n, NAN), found(sets, 0.0), own(count);
    {
        nb::gil_scoped_release released;
        Search search(asked);
        each_set(values, [&](std::size_t k, const double* of_set) {
            for (std::size_t i = 0; i < count; ++i) own[i] = parameters.data()[i * sets + k];
            found[k] = search.find(of_set, own.data(), &t[k], q.data() + k * n, v.data() + k * n);
        });
    }
    return nb::make_tuple(owned(std::move(t), {sets}), owned(std::move(q), {sets, n}), owned(std::move(v), {sets, n}),
                          owned(std::move(found), {sets}));
}

// Of given states, (sets, ...): velocities with the rates of states, whether they satisfy the constraints, and whether
// surely no singular pose is near.
nb::tuple check(const Asked& asked, const Doubles& values, const Doubles& t, const Doubles& q, const Doubles& v) {
    check_values(asked, values);
    const std::size_t sets = values.shape(1), n = std::size_t(asked.n);
    require(t.size() == sets && q.size() == sets * n && v.size() == sets * n, "states of starts");
    std::vector<double> rates = doubles(v), close(sets), regular(sets);
    {
        nb::gil_scoped_release released;
        Search search(asked);
        each_set(values, [&](std::size_t k, const double* of_set) {
            bool is_close = false, is_regular = false;
            search.check(of_set, t.data()[k], q.data() + k * n, rates.data() + k * n, &is_close, &is_regular);
            close[k] = is_close;
            regular[k] = is_regular;
        });
    }
    return nb::make_tuple(owned(std::move(rates), {sets, n}), owned(std::move(close), {sets}),
                          owned(std::move(regular), {sets}));
}

// Velocities of one state, (coordinates,), with the rates of states for each set, (sets, coordinates).
nb::object state_rates(const Asked& asked, const Doubles& values, double t, const Doubles& q, const Doubles& v) {
    check_values(asked, values);
    const std::size_t sets = values.shape(1), n = std::size_t(asked.n);
    require(q.size() == n && v.size() == n, "a state of starts");
    std::vector<double> rates(sets * n);
    {
        nb::gil_scoped_release released;
        Search search(asked);
        each_set(values, [&](std::size_t k, const double* of_set) {
            std::copy_n(v.data(), n, rates.data() + k * n);
            search.set_state_rates(of_set, t, q.data(), rates.data() + k * n);
        });
    }
    return owned(std::move(rates), {sets, n});
}

}  // namespace

void add_starts(nb::module_& m) {
    nb::class_<Asked>(m, "Starts")
        .def("__init__",
             [](Asked* self, const Constants& numbers, int n, int count, const Doubles& here, const Integers& kept,
                const Integers& placed, const std::vector<Integers>& lines, const std::vector<Integers>& stores, int time,
                const std::vector<Integers>& nodes, const std::vector<Integers>& coordinates, const Integers& rows,
                const Doubles& known, const Doubles& cost, const Doubles& rate_cost, const Doubles& rules) {
                 new (self) Asked(make_asked(numbers, n, count, here, kept, placed, lines, stores, time, nodes,
                                             coordinates, rows, known, cost, rate_cost, rules));
             })
        .def("find", &find)
        .def("check", &check)
        .def("state_rates", &state_rates);
}

}  // namespace mechsim

#include "fleet_series.hpp"

#include <algorithm>
#include <set>

#include "operations.hpp"

namespace mechsim {

namespace {

// Products that rows read, at the degree they have found last, and no operation does.
std::vector<bool> only_told(const Block& block) {
    const int count = int(block.inputs.size());
    std::vector<bool> found(block.operations.size(), false);
    for (int i : block.predicted) {
        const Operation& op = block.operations[i];
        found[i] = !block.watched && !op.corrected && (op.code == Code::multiply || op.code == Code::square);
    }
    for (const Operation& op : block.operations)
        for (int reg : {op.a, op.b, op.extra})
            if (reg >= count) found[reg - count] = false;
    for (const Output& output : block.outputs)
        for (int t = output.first_term; t < output.last_term; ++t)
            if (const int reg = block.terms[t].reg; reg >= count && block.operations[reg - count].lead != output.lead)
                found[reg - count] = false;
    return found;
}

bool is_read(const Block& block, int input, const std::vector<Drawn>& drawn) {
    for (const Term& term : block.terms)
        if (term.reg == input && !term.silent) return true;
    return has_readers(block, input, drawn);
}

}  // namespace

void FleetSeries::list(const std::vector<Block>& blocks, int size) {
    size_ = size;
    std::size_t operations = 0;
    for (const Block& block : blocks) operations += block.operations.size() * block.stride;
    places_.assign(operations, 0.0);
    std::vector<std::vector<Part>> of_row(size + 1);
    for (const Block& block : blocks) {
        step_ = block.stride / kWidth;
        const int inputs = int(block.inputs.size());
        if (block.contributions.empty()) continue;  // nothing to say after stage 0
        const std::vector<bool> told = only_told(block);
        for (int i : block.predicted) {
            const Task task = block.task(block.operations[i], true);
            if (told[i])
                products_.push_back({task, block.operations[i].w, vec(places_.data()) + step_ * products_.size()});
            else
                predicted_.push_back(task);
        }
        const std::vector<Drawn> drawn = drawn_operations(block);
        for (int i : block.corrected)
            if (drawn[i].input < 0) corrected_.push_back(block.operations[i]);
        for (int reg : block.cleared)
            cleared_.push_back({vec(block.row(reg, 0)),
                                reg < inputs ? block.inputs[reg].available : block.operations[reg - inputs].lead});
        for (const Contribution& part : block.contributions) {
            Part found{vec(block.series.get() + part.offset), vec(block.constants.get() + part.source), part.lead, step_};
            for (const Product& product : products_)
                if (product.series == found.values) found.values = product.value, found.stride = 0;
            of_row[part.row / block.stride].push_back(found);
        }
        // A constant has no coefficients but the first.
        const auto unknown = [&](int input) {
            const int found = input < 0 ? size : block.unknowns[std::size_t(input) * block.stride] / block.stride;
            return found < size ? found : -1;
        };
        const auto read = [&](const Drawn& each, Lanes* row, Lanes* change) {
            Read found{unknown(each.input), unknown(each.other), each.sign, block.inputs[each.input].order,
                       block.inputs[block.is_constant(each.input) ? each.other : each.input].available, row, change};
            if (found.unknown >= 0 || found.other >= 0) reads_.push_back(found);
        };
        for (int i : block.read)
            if (is_read(block, i, drawn)) read({i, -1, 0}, vec(block.row(i, 0)), vec(block.change(i)));
        for (int i : block.corrected)
            if (drawn[i].input >= 0) read(drawn[i], block.operations[i].w, block.operations[i].change);
    }
    std::set<const void*> wanted;
    for (const Operation& each : corrected_) wanted.insert({each.a_change, each.b_change});
    for (Read& read : reads_)
        if (!wanted.contains(read.change)) read.change = nullptr;
    for (int row = 0; row < size; ++row) {
        const int first = int(parts_.size());
        parts_.insert(parts_.end(), of_row[row].begin(), of_row[row].end());
        sums_.push_back({row, first, int(parts_.size())});
    }
}

template <int Step>
MECHSIM_INLINE void FleetSeries::predict_rows(int stage, const double* row_factors, double* right_sides) const {
    constexpr Shape shape{Step, true};
    for (const Cleared& cleared : cleared_)
        for (int s = 0; s < Step; ++s) cleared.row[(stage + cleared.lead) * Step + s] = Lanes{0, 0, 0, 0};
    for (const Task& task : predicted_) evaluate_task<shape>(task, stage);
    for (const auto& [task, series, value] : products_) {
        if (task.code == Code::multiply)
            evaluate_task<Code::multiply, shape>(task, stage, value);
        else
            evaluate_task<Code::square, shape>(task, stage, value);
    }
    for (const Sum& sum : sums_) {
        Lanes total[Step];
        for (int s = 0; s < Step; ++s) total[s] = Lanes{0, 0, 0, 0};
        for (const Part* part = parts_.data() + sum.first; part < parts_.data() + sum.last; ++part) {
            const Lanes* values = part->values + (stage + part->lead) * part->stride;
            for (int s = 0; s < Step; ++s) total[s] += part->factor[s] * values[s];
        }
        const double factor = row_factors[sum.row];
        for (int s = 0; s < Step; ++s) vec(right_sides)[sum.row * Step + s] = total[s] * factor;
    }
}

template <int Step>
MECHSIM_INLINE void FleetSeries::correct_rows(int stage, const double* unknown_factors, const int* offsets,
                                              const double* found, Coefficients& x) const {
    constexpr Shape shape{Step, true};
    for (int j = 0; j < size_; ++j) {
        Lanes* row = vec(x.degree(stage + offsets[j])) + j * Step;
        for (int s = 0; s < Step; ++s) row[s] = vec(found)[j * Step + s] * unknown_factors[j];
    }
    for (const Read& read : reads_) {
        const int n = stage + read.available;
        const double factor = falling(read.order, n);
        const Lanes* coefficients = vec(x.degree(n + read.order));
        Lanes* row = read.row + n * Step;
        for (int s = 0; s < Step; ++s) row[s] = read.unknown >= 0 ? factor * coefficients[read.unknown * Step + s] : Lanes{0, 0, 0, 0};
        for (int s = 0; s < Step && read.other >= 0; ++s) row[s] += read.sign * factor * coefficients[read.other * Step + s];
        for (int s = 0; s < Step && read.change; ++s) read.change[s] = row[s];
    }
    for (const Operation& operation : corrected_) correct_operation<false, shape>(operation, stage);
}

MECHSIM_CLONES void FleetSeries::predict_lanes(const FleetSeries& series, int stage, const double* row_factors,
                                               double* right_sides) {
    switch (series.step_) {
        case 1: return series.predict_rows<1>(stage, row_factors, right_sides);
        case 2: return series.predict_rows<2>(stage, row_factors, right_sides);
        case 4: return series.predict_rows<4>(stage, row_factors, right_sides);
        default: return series.predict_rows<8>(stage, row_factors, right_sides);
    }
}

MECHSIM_CLONES void FleetSeries::correct_lanes(const FleetSeries& series, int stage, const double* unknown_factors,
                                               const int* offsets, const double* found, Coefficients& x) {
    switch (series.step_) {
        case 1: return series.correct_rows<1>(stage, unknown_factors, offsets, found, x);
        case 2: return series.correct_rows<2>(stage, unknown_factors, offsets, found, x);
        case 4: return series.correct_rows<4>(stage, unknown_factors, offsets, found, x);
        default: return series.correct_rows<8>(stage, unknown_factors, offsets, found, x);
    }
}

void FleetSeries::predict(int stage, const std::vector<double>& row_factors, double* right_sides) const {
    predict_lanes(*this, stage, row_factors.data(), right_sides);
}

void FleetSeries::correct(int stage, const std::vector<double>& unknown_factors, const std::vector<int>& offsets,
                          const double* found, Coefficients& x) const {
    correct_lanes(*this, stage, unknown_factors.data(), offsets.data(), found, x);
}

namespace {

// Horner's rule for a polynomial and its derivatives at once: with P^0_n = c_n + h P^0_(n+1) and
// P^k_n = P^(k-1)_n + h P^k_(n+1), coefficient m at h is P^m_m, which is c_m + h (P^0_(m+1) + ... + P^m_(m+1)).
template <int Count, int Offset>
MECHSIM_INLINE void sum_vectors(const double* coefficients, std::ptrdiff_t width, int degrees, const Lanes* h, int step,
                                Lanes* sums) {
    Several<Count> parts[Offset + 1];
    const auto go_down = [&](int n, int last) MECHSIM_LAMBDA {
        const Lanes* coefficient = vec(coefficients + n * width);
        for (int s = 0; s < Count; ++s) parts[0].v[s] = coefficient[s] + h[s] * parts[0].v[s];
        for (int k = 1; k <= last; ++k)
            for (int s = 0; s < Count; ++s) parts[k].v[s] = parts[k - 1].v[s] + h[s] * parts[k].v[s];
    };
    for (int n = degrees - 1; n > Offset + 1; --n) go_down(n, Offset);
    for (int m = Offset; m >= 0; --m) {
        if (m + 1 < degrees) go_down(m + 1, m);
        for (int s = 0; s < Count; ++s) {
            Lanes sum = parts[0].v[s];
            for (int k = 1; k <= m; ++k) sum += parts[k].v[s];
            sums[m * step + s] = h[s] * sum;
        }
    }
}

template <int Offset>
MECHSIM_INLINE void sum_rows(const double* coefficients, std::ptrdiff_t width, int degrees, const double* h, int step,
                             double* sums) {
    int s = 0;
    for (; s + 4 <= step; s += 4)
        sum_vectors<4, Offset>(coefficients + s * kWidth, width, degrees, vec(h) + s, step, vec(sums) + s);
    for (; s < step; ++s)
        sum_vectors<1, Offset>(coefficients + s * kWidth, width, degrees, vec(h) + s, step, vec(sums) + s);
}

}  // namespace

MECHSIM_CLONES void sum_series(const Coefficients& polynomial, int offset, int degrees, std::size_t place, int step,
                               const double* h, double* sums) {
    const double* coefficients = polynomial.degree(0) + place;
    switch (offset) {
        case 0: return sum_rows<0>(coefficients, polynomial.width, degrees, h, step, sums);
        case 1: return sum_rows<1>(coefficients, polynomial.width, degrees, h, step, sums);
        case 2: return sum_rows<2>(coefficients, polynomial.width, degrees, h, step, sums);
        default: return sum_rows<kMostOffsets - 1>(coefficients, polynomial.width, degrees, h, step, sums);
    }
}

}  // namespace mechsim

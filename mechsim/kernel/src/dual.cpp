#include "dual.hpp"

#include <cmath>

namespace mechsim {

namespace {

constexpr double kBeyondMeasure = 1e100;  // as in block.cpp: a quotient by more does not change any more

// sum += s_0 row_0 + s_1 row_{-1} + ... for C vectors of directions; the scalars are `s_step` apart, the rows `step` vectors.
template <int C>
MECHSIM_INLINE void add_products(Lanes* sum, const double* s, int s_step, const Lanes* row, int step, int count) {
    Lanes one[C] = {}, two[C] = {}, three[C] = {}, four[C] = {};
    for (; count >= 4; count -= 4, s += 4 * s_step, row -= 4 * step)
        for (int c = 0; c < C; ++c) {
            one[c] += s[0] * row[c];
            two[c] += s[s_step] * row[c - step];
            three[c] += s[2 * s_step] * row[c - 2 * step];
            four[c] += s[3 * s_step] * row[c - 3 * step];
        }
    for (; count > 0; --count, s += s_step, row -= step)
        for (int c = 0; c < C; ++c) one[c] += s[0] * row[c];
    for (int c = 0; c < C; ++c) sum[c] += (one[c] + two[c]) + (three[c] + four[c]);
}

// sum += i s_i row_{n - i}, i = 1..n; turned, sum += (n - i) s_i row_{n - i}, i = first..n - 1.
template <int C>
MECHSIM_INLINE void add_slopes(Lanes* sum, const double* s, int s_step, const Lanes* row, int step, int n) {
    for (int i = 1; i <= n; ++i) {
        const double weighted = i * s[i * s_step];
        for (int c = 0; c < C; ++c) sum[c] += weighted * row[(n - i) * step + c];
    }
}
template <int C>
MECHSIM_INLINE void add_turned_slopes(Lanes* sum, const double* s, int s_step, const Lanes* row, int step, int n, int first) {
    for (int i = first; i < n; ++i) {
        const double weighted = (n - i) * s[i * s_step];
        for (int c = 0; c < C; ++c) sum[c] += weighted * row[(n - i) * step + c];
    }
}

// What one lane of an operation reads: series of the motion, `stride` apart, and of the tangents.
struct Operands {
    const double *w, *a, *b;
    Lanes* dw;
    const Lanes *da, *db, *dc;  // nullptr: does not change
    double constant;
    int stride, step;
};

MECHSIM_INLINE double slope_sign(Function f) { return f == Function::cos || f == Function::acos ? -1.0 : 1.0; }

// Coefficient n of the changes, C vectors of them. Operands that are absent count as zero.
template <int C>
MECHSIM_INLINE void evaluate_operation(const Operation& op, const Operands& o, int n, bool absent_a, bool absent_b) {
    Lanes sum[C] = {};
    const int stride = o.stride, step = o.step;
    const int from_a = absent_a ? 1 : 0, from_b = absent_b ? 1 : 0;
    // Changes of an operand times a series of the motion, from coefficient `first` of the latter on.
    auto times = [&](const double* s, const Lanes* row, int first) __attribute__((always_inline)) {
        add_products<C>(sum, s + first * stride, stride, row + (n - first) * step, step, n - first + 1);
    };
    switch (op.code) {
        case Code::add:
        case Code::subtract:
            if (o.da)
                for (int c = 0; c < C; ++c) sum[c] += o.da[n * step + c];
            if (o.db)
                for (int c = 0; c < C; ++c) sum[c] += op.code == Code::add ? o.db[n * step + c] : -o.db[n * step + c];
            break;
        case Code::multiply:
            if (o.da) times(o.b, o.da, from_a);
            if (o.db) times(o.a, o.db, from_b);
            break;
        case Code::square:
            times(o.a, o.da, from_a);
            for (int c = 0; c < C; ++c) sum[c] += sum[c];
            break;
        case Code::divide:  // b dw = da - w db
            if (o.db) times(o.w, o.db, 0);
            if (n > 0) times(o.b, o.dw, 1);
            for (int c = 0; c < C; ++c) sum[c] = ((o.da ? o.da[n * step + c] : Lanes{}) - sum[c]) / o.b[0];
            if (n > 0 && std::abs(o.b[0]) > kBeyondMeasure)
                for (int c = 0; c < C; ++c) sum[c] = Lanes{};
            break;
        case Code::ratio:  // a dw = dc - w da
            if (o.da) times(o.w, o.da, 0);
            if (n > 0) times(o.a, o.dw, 1);
            for (int c = 0; c < C; ++c) sum[c] = ((n == 0 && o.dc ? o.dc[c] : Lanes{}) - sum[c]) / o.a[0];
            if (n > 0 && std::abs(o.a[0]) > kBeyondMeasure)
                for (int c = 0; c < C; ++c) sum[c] = Lanes{};
            break;
        case Code::root:  // 2 w dw = da
            if (n > 0) times(o.w, o.dw, 1);
            for (int c = 0; c < C; ++c) sum[c] = (0.5 * o.da[n * step + c] - sum[c]) / o.w[0];
            break;
        case Code::scale:
            if (o.da)
                for (int c = 0; c < C; ++c) sum[c] += o.constant * o.da[n * step + c];
            if (o.dc)
                for (int c = 0; c < C; ++c) sum[c] += o.a[n * stride] * o.dc[c];
            break;
        case Code::shift:
            if (o.da)
                for (int c = 0; c < C; ++c) sum[c] += o.da[n * step + c];
            if (o.dc && n == 0)
                for (int c = 0; c < C; ++c) sum[c] += o.dc[c];
            break;
        case Code::function: {  // dw = +- b da at first, then dw' = +- (b da' + db a')
            if (n == 0) {
                if (o.da)
                    for (int c = 0; c < C; ++c) sum[c] += o.b[0] * o.da[c];
            } else {
                if (o.da) add_turned_slopes<C>(sum, o.b, stride, o.da, step, n, from_a);
                if (o.db) add_slopes<C>(sum, o.a, stride, o.db, step, n);
            }
            const double factor = slope_sign(op.function) / (n > 0 ? n : 1);
            for (int c = 0; c < C; ++c) sum[c] *= factor;
            break;
        }
    }
    for (int c = 0; c < C; ++c) o.dw[n * step + c] = sum[c];
}

MECHSIM_INLINE Operands operands_of(const DualBlock& dual, const Operation& op, int own, int lane, int vector) {
    const Block& block = *dual.block;
    auto series = [&](int reg) __attribute__((always_inline)) { return block.row(reg, 0) + lane; };
    auto changes = [&](int reg) __attribute__((always_inline)) { return reg >= 0 && dual.active[reg] ? dual.row(reg, lane, 0) + vector : nullptr; };
    const bool has_constant = op.constant >= 0;
    return {series(own),
            series(op.a),
            op.b >= 0 ? series(op.b) : nullptr,
            dual.row(own, lane, 0) + vector,
            changes(op.a),
            changes(op.b),
            has_constant && dual.living[op.constant] ? dual.constant(op.constant, lane) + vector : nullptr,
            has_constant ? block.constant(op.constant)[lane] : 0.0,
            block.stride,
            dual.directions / kWidth};
}

template <bool Predicting>
MECHSIM_INLINE void evaluate_lanes(DualBlock& dual, int i, int n) {
    const Block& block = *dual.block;
    const Operation& op = block.operations[i];
    const int own = int(block.inputs.size()) + i, vectors = dual.directions / kWidth;
    const bool absent_a = Predicting && op.fresh_a && dual.silent[op.a];
    const bool absent_b = Predicting && op.fresh_b && dual.silent[op.b];
    for (int lane = 0; lane < block.lanes; ++lane) {
        int v = 0;
        for (; v + 2 <= vectors; v += 2)
            evaluate_operation<2>(op, operands_of(dual, op, own, lane, v), n, absent_a, absent_b);
        if (v < vectors) evaluate_operation<1>(op, operands_of(dual, op, own, lane, v), n, absent_a, absent_b);
    }
}

// How the changes of coefficient n >= 1 change with those of the operands' newest: as the coefficient itself does.
MECHSIM_INLINE void correct_lanes(DualBlock& dual, int i, int n) {
    const Block& block = *dual.block;
    const Operation& op = block.operations[i];
    const int own = int(block.inputs.size()) + i, vectors = dual.directions / kWidth;
    const bool of_a = op.fresh_a && dual.active[op.a], of_b = op.fresh_b && dual.active[op.b];
    const bool fresh = dual.silent[own];
    for (int lane = 0; lane < block.lanes; ++lane) {
        const double w0 = block.row(own, 0)[lane], a0 = block.row(op.a, 0)[lane];
        const double b0 = op.b >= 0 ? block.row(op.b, 0)[lane] : 0.0;
        double by_a = 1, by_b = 1;
        switch (op.code) {
            case Code::add:
            case Code::shift: break;
            case Code::subtract: by_b = -1; break;
            case Code::multiply: by_a = b0, by_b = a0; break;
            case Code::square: by_a = 2 * a0; break;
            case Code::divide: by_a = 1 / b0, by_b = -w0 / b0; break;
            case Code::ratio: by_a = -w0 / a0; break;
            case Code::root: by_a = 0.5 / w0; break;
            case Code::scale: by_a = block.constant(op.constant)[lane]; break;
            case Code::function: by_a = slope_sign(op.function) * b0; break;
        }
        Lanes* change = dual.change(own, lane);
        Lanes* w = dual.row(own, lane, n);
        const Lanes* da = of_a ? dual.change(op.a, lane) : nullptr;
        const Lanes* db = of_b ? dual.change(op.b, lane) : nullptr;
        for (int v = 0; v < vectors; ++v) {
            Lanes sum = {};
            if (da) sum += by_a * da[v];
            if (db) sum += by_b * db[v];
            change[v] = sum;
            w[v] = fresh ? sum : w[v] + sum;
        }
    }
}

MECHSIM_INLINE void read_input(DualBlock& dual, const double* x, int width, int i, int n) {
    const Block& block = *dual.block;
    const Input& input = block.inputs[i];
    double factor = 1;  // (n + order)! / n!
    for (int k = 1; k <= input.order; ++k) factor *= n + k;
    const int vectors = dual.directions / kWidth;
    for (int lane = 0; lane < block.lanes; ++lane) {
        const int unknown = block.unknowns[std::size_t(i) * block.stride + lane];
        const Lanes* source =
            reinterpret_cast<const Lanes*>(x + (std::size_t(n + input.order) * width + unknown) * dual.directions);
        Lanes* target = dual.row(i, lane, n);
        Lanes* change = dual.change(i, lane);
        for (int v = 0; v < vectors; ++v) change[v] = target[v] = factor * source[v];
    }
}

MECHSIM_INLINE void add_contribution(const DualBlock& dual, const DualBlock::Contribution& part, int n, double* residual) {
    const Block& block = *dual.block;
    const int vectors = dual.directions / kWidth;
    Lanes* target = reinterpret_cast<Lanes*>(residual + std::size_t(part.row) * dual.directions);
    if (part.of_register) {
        const double factor = block.constant(part.constant)[part.lane];
        const Lanes* source = dual.row(part.reg, part.lane, n);
        for (int v = 0; v < vectors; ++v) target[v] += factor * source[v];
    }
    if (part.of_factor) {
        const double value = block.row(part.reg, n)[part.lane];
        const Lanes* source = dual.constant(part.constant, part.lane);
        for (int v = 0; v < vectors; ++v) target[v] += value * source[v];
    }
}

}  // namespace

MECHSIM_CLONES void evaluate_dual(DualBlock& dual, const double* x, int width, int degrees, int stage, double* residual) {
    const Block& block = *dual.block;
    const int inputs = int(block.inputs.size());
    for (int i = 0; i < inputs; ++i) {
        const int n = stage + block.inputs[i].available;
        if (!block.inputs[i].time && n >= 0 && n + block.inputs[i].order < degrees) read_input(dual, x, width, i, n);
    }
    for (int i = 0; i < int(block.operations.size()); ++i) {
        const int n = stage + block.operations[i].lead;
        if (n >= 0 && dual.active[inputs + i]) evaluate_lanes<false>(dual, i, n);
    }
    for (const DualBlock::Contribution& part : dual.all)
        if (stage + part.lead >= 0) add_contribution(dual, part, stage + part.lead, residual);
    const int vectors = dual.directions / kWidth;
    for (const DualBlock::Level& level : dual.levels) {
        if (stage + level.lead != 0) continue;
        Lanes* target = reinterpret_cast<Lanes*>(residual + std::size_t(level.row) * dual.directions);
        const Lanes* source = dual.constant(level.constant, level.lane);
        for (int v = 0; v < vectors; ++v) target[v] += source[v];
    }
}

MECHSIM_CLONES void predict_dual(DualBlock& dual, int stage, double* residual) {
    const Block& block = *dual.block;
    const int inputs = int(block.inputs.size()), vectors = dual.directions / kWidth;
    for (int reg : dual.cleared) {
        const int ahead = reg < inputs ? block.inputs[reg].available : block.operations[reg - inputs].lead;
        for (int lane = 0; lane < block.lanes; ++lane)
            for (int v = 0; v < vectors; ++v) dual.row(reg, lane, stage + ahead)[v] = Lanes{};
    }
    for (int i : dual.predicted) evaluate_lanes<true>(dual, i, stage + block.operations[i].lead);
    for (const DualBlock::Contribution& part : dual.contributions)
        add_contribution(dual, part, stage + part.lead, residual);
}

MECHSIM_CLONES void correct_dual(DualBlock& dual, const double* x, int width, int degrees, int stage) {
    const Block& block = *dual.block;
    for (int i : dual.read) {
        const int n = stage + block.inputs[i].available;
        if (n + block.inputs[i].order < degrees) read_input(dual, x, width, i, n);
    }
    for (int i : dual.corrected) correct_lanes(dual, i, stage + block.operations[i].lead);
}

MECHSIM_CLONES void scale_rows(Lanes* rows, const double* factors, int count, int vectors) {
    for (int i = 0; i < count; ++i)
        for (int v = 0; v < vectors; ++v) rows[i * vectors + v] *= factors[i];
}

MECHSIM_CLONES void place_rows(const Lanes* rows, const double* factors, Lanes* const* targets, int count, int vectors) {
    for (int i = 0; i < count; ++i)
        for (int v = 0; v < vectors; ++v) targets[i][v] = rows[i * vectors + v] * factors[i];
}

MECHSIM_CLONES void sum_powers(const Lanes* coefficients, std::size_t step, const double* binomials, int first, int last,
                               double h, Lanes* target, int vectors) {
    for (int v = 0; v < vectors; ++v) {
        Lanes sum = {};
        for (int n = last; n >= first; --n) sum = sum * h + binomials[n] * coefficients[n * step + v];
        target[v] = sum;
    }
}

MECHSIM_CLONES void note_largest(const Lanes* row, double scale, Lanes* largest, int vectors) {
    for (int v = 0; v < vectors; ++v) {
        Lanes size = row[v] * scale;
        size = size < 0.0 ? -size : size;
        largest[v] = largest[v] < size ? size : largest[v];
    }
}

}  // namespace mechsim

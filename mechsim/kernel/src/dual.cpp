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
    if (count & 2) {
        for (int c = 0; c < C; ++c) {
            one[c] += s[0] * row[c];
            two[c] += s[s_step] * row[c - step];
        }
        s += 2 * s_step, row -= 2 * step;
    }
    if (count & 1)
        for (int c = 0; c < C; ++c) three[c] += s[0] * row[c];
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

MECHSIM_INLINE double slope_sign(Function f) { return f == Function::cos || f == Function::acos ? -1.0 : 1.0; }

struct Shape {
    int stride, step;         // between coefficients: of the motion, in numbers; of the changes, in vectors
    bool absent_a, absent_b;  // operands whose newest changes count as zero
    bool closed;              // a function of its operand alone
    double sign;
};

// Coefficient n of the changes, C vectors of them.
template <Code code, int C>
MECHSIM_INLINE void evaluate_operation(const DualOperands& o, const Shape& shape, int n) {
    Lanes sum[C] = {};
    const int stride = shape.stride, step = shape.step;
    // Changes of an operand times a series of the motion, from coefficient `first` of the latter on.
    auto times = [&](const double* s, const Lanes* row, int first) __attribute__((always_inline)) {
        add_products<C>(sum, s + first * stride, stride, row + (n - first) * step, step, n - first + 1);
    };
    auto add = [&](double factor, const Lanes* row) __attribute__((always_inline)) {
        for (int c = 0; c < C; ++c) sum[c] += factor * row[c];
    };
    if constexpr (code == Code::add || code == Code::subtract) {
        if (o.da) add(1.0, o.da + n * step);
        if (o.db) add(code == Code::add ? 1.0 : -1.0, o.db + n * step);
    } else if constexpr (code == Code::multiply) {
        if (o.da) times(o.b, o.da, shape.absent_a);
        if (o.db) times(o.a, o.db, shape.absent_b);
    } else if constexpr (code == Code::square) {
        times(o.a, o.da, shape.absent_a);
        for (int c = 0; c < C; ++c) sum[c] += sum[c];
    } else if constexpr (code == Code::divide || code == Code::ratio) {  // b dw = da - w db, a dw = dc - w da
        const double* below = code == Code::divide ? o.b : o.a;
        const Lanes* below_change = code == Code::divide ? o.db : o.da;
        const Lanes* above_change = code == Code::divide ? o.da : n == 0 ? o.dc : nullptr;
        if (below_change) times(o.w, below_change, 0);
        if (n > 0) times(below, o.dw, 1);
        const int place = code == Code::divide ? n * step : 0;
        const double inverse = n > 0 && std::abs(below[0]) > kBeyondMeasure ? 0.0 : 1 / below[0];
        for (int c = 0; c < C; ++c) sum[c] = ((above_change ? above_change[place + c] : Lanes{}) - sum[c]) * inverse;
    } else if constexpr (code == Code::root) {  // 2 w dw = da
        if (n > 0) times(o.w, o.dw, 1);
        for (int c = 0; c < C; ++c) sum[c] = (0.5 * o.da[n * step + c] - sum[c]) / o.w[0];
    } else if constexpr (code == Code::scale) {
        if (o.da) add(o.constant[0], o.da + n * step);
        if (o.dc) add(o.a[n * stride], o.dc);
    } else if constexpr (code == Code::shift) {
        if (o.da) add(1.0, o.da + n * step);
        if (o.dc && n == 0) add(1.0, o.dc);
    } else if constexpr (code == Code::rate) {
        if (o.da) add(n + 1, o.da + (n + 1) * step);
    } else if (n == 0 || shape.closed) {  // dw = +- b da, for the motion's own slope is known by now
        if (o.da) times(o.b, o.da, shape.absent_a);
        for (int c = 0; c < C; ++c) sum[c] *= shape.sign;
    } else {  // what has no closed form: dw' = b da' + db a'
        if (o.da) add_turned_slopes<C>(sum, o.b, stride, o.da, step, n, shape.absent_a);
        if (o.db) add_slopes<C>(sum, o.a, stride, o.db, step, n);
        for (int c = 0; c < C; ++c) sum[c] *= shape.sign / n;
    }
    for (int c = 0; c < C; ++c) o.dw[n * step + c] = sum[c];
}

template <Code code>
MECHSIM_INLINE void evaluate_lanes(const DualBlock& dual, const DualOperands* operands, const Shape& shape, int n) {
    const int pairs = dual.pairs(), lanes = dual.block->lanes;
    if (pairs == 1 && shape.step == 2)
        for (int lane = 0; lane < lanes; ++lane) evaluate_operation<code, 2>(operands[lane], shape, n);
    else
        for (int lane = 0; lane < lanes; ++lane, operands += pairs)
            for (int pair = 0; pair < pairs; ++pair)
                if (2 * pair + 2 <= shape.step)
                    evaluate_operation<code, 2>(operands[pair], shape, n);
                else
                    evaluate_operation<code, 1>(operands[pair], shape, n);
}

// Changes of a sum over components, which are the lanes of a vector, for each of them: `row(lane)` holds those of a lane.
template <class Source, class Work>
MECHSIM_INLINE void with_totals(const DualBlock& dual, Source row, Work take) {
    for (int first = 0; first < dual.block->lanes; first += kWidth)
        for (int v = 0; v < dual.directions / kWidth; ++v) {
            const Lanes sum = (row(first)[v] + row(first + 1)[v]) + (row(first + 2)[v] + row(first + 3)[v]);
            for (int lane = first; lane < first + kWidth; ++lane) take(lane, v, sum);
        }
}

template <bool Predicting>
MECHSIM_INLINE void evaluate_changes(const DualBlock& dual, int i, int n) {
    const Block& block = *dual.block;
    const Operation& op = block.operations[i];
    const DualOperands* operands = dual.operands.data() + std::size_t(i) * block.lanes * dual.pairs();
    const Shape shape{block.stride, dual.directions / kWidth, Predicting && op.fresh_a && dual.silent[op.a],
                      Predicting && op.fresh_b && dual.silent[op.b], !op.is_integral(), slope_sign(op.function)};
    switch (op.code) {
        case Code::add: evaluate_lanes<Code::add>(dual, operands, shape, n); break;
        case Code::subtract: evaluate_lanes<Code::subtract>(dual, operands, shape, n); break;
        case Code::multiply: evaluate_lanes<Code::multiply>(dual, operands, shape, n); break;
        case Code::square: evaluate_lanes<Code::square>(dual, operands, shape, n); break;
        case Code::divide: evaluate_lanes<Code::divide>(dual, operands, shape, n); break;
        case Code::ratio: evaluate_lanes<Code::ratio>(dual, operands, shape, n); break;
        case Code::root: evaluate_lanes<Code::root>(dual, operands, shape, n); break;
        case Code::scale: evaluate_lanes<Code::scale>(dual, operands, shape, n); break;
        case Code::shift: evaluate_lanes<Code::shift>(dual, operands, shape, n); break;
        case Code::function: evaluate_lanes<Code::function>(dual, operands, shape, n); break;
        case Code::rate: evaluate_lanes<Code::rate>(dual, operands, shape, n); break;
        case Code::total:
            with_totals(
                dual, [&](int lane) MECHSIM_LAMBDA { return dual.row(op.a, lane, n); },
                [&](int lane, int v, Lanes sum) MECHSIM_LAMBDA { dual.row(int(block.inputs.size()) + i, lane, n)[v] = sum; });
            break;
    }
}

struct Slopes {
    double a = 1, b = 1;
};

// How coefficient n >= 1 of an operation changes with coefficient n of its operands.
MECHSIM_INLINE Slopes slopes_of(const Operation& op, const DualOperands& o, int n) {
    switch (op.code) {
        case Code::subtract: return {1, -1};
        case Code::multiply: return {o.b[0], o.a[0]};
        case Code::square: return {2 * o.a[0], 0};
        case Code::divide: return {1 / o.b[0], -o.w[0] / o.b[0]};
        case Code::ratio: return {-o.w[0] / o.a[0], 0};
        case Code::root: return {0.5 / o.w[0], 0};
        case Code::scale: return {o.constant[0], 0};
        case Code::rate: return {double(n + 1), 0};
        case Code::function: return {slope_sign(op.function) * o.b[0], 0};
        default: return {};
    }
}

template <int C>
MECHSIM_INLINE void correct_operation(const Operation& op, const DualOperands& o, bool of_a, bool of_b, bool silent, int n,
                                      int step) {
    const Slopes slopes = slopes_of(op, o, n);
    const int place = n * step;
    for (int c = 0; c < C; ++c) {
        Lanes sum = {};
        if (of_a) sum += slopes.a * o.a_change[c];
        if (of_b) sum += slopes.b * o.b_change[c];
        o.change[c] = sum;
        o.dw[place + c] = silent ? sum : o.dw[place + c] + sum;
    }
}

MECHSIM_INLINE void correct_changes(const DualBlock& dual, int i, int n) {
    const Block& block = *dual.block;
    const Operation& op = block.operations[i];
    const int own = int(block.inputs.size()) + i, vectors = dual.directions / kWidth, pairs = dual.pairs();
    const bool of_a = op.fresh_a && dual.active[op.a], of_b = op.fresh_b && dual.active[op.b];
    const bool silent = dual.silent[own];
    if (op.code == Code::total)
        return with_totals(
            dual, [&](int lane) MECHSIM_LAMBDA { return dual.change(op.a, lane); },
            [&](int lane, int v, Lanes sum) MECHSIM_LAMBDA {
                if (!of_a) sum = Lanes{};
                Lanes& found = dual.row(own, lane, n)[v];
                dual.change(own, lane)[v] = sum;
                found = silent ? sum : found + sum;
            });
    const DualOperands* operands = dual.operands.data() + std::size_t(i) * block.lanes * pairs;
    for (int lane = 0; lane < block.lanes; ++lane, operands += pairs)
        for (int pair = 0; pair < pairs; ++pair)
            if (2 * pair + 2 <= vectors)
                correct_operation<2>(op, operands[pair], of_a, of_b, silent, n, vectors);
            else
                correct_operation<1>(op, operands[pair], of_a, of_b, silent, n, vectors);
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
        if (n >= 0 && dual.active[inputs + i]) evaluate_changes<false>(dual, i, n);
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
    for (int i : dual.predicted) evaluate_changes<true>(dual, i, stage + block.operations[i].lead);
    for (const DualBlock::Contribution& part : dual.contributions)
        add_contribution(dual, part, stage + part.lead, residual);
}

MECHSIM_CLONES void correct_dual(DualBlock& dual, const double* x, int width, int degrees, int stage) {
    const Block& block = *dual.block;
    for (int i : dual.read) {
        const int n = stage + block.inputs[i].available;
        if (n + block.inputs[i].order < degrees) read_input(dual, x, width, i, n);
    }
    for (int i : dual.corrected) correct_changes(dual, i, stage + block.operations[i].lead);
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

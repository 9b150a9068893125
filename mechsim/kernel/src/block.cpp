#include "block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace mechsim {

namespace {

struct Factorials {
    double falling[3][kMostDegrees];  // falling[o][n] = (n + o)! / n!
    Factorials() {
        for (int n = 0; n < kMostDegrees; ++n) {
            falling[0][n] = 1;
            falling[1][n] = n + 1;
            falling[2][n] = double(n + 1) * (n + 2);
        }
    }
};
const Factorials factorials;

constexpr double kBeyondMeasure = 1e100;  // its square and the coefficients of its series are still numbers

using Row = Lanes*;
using ConstRow = const Lanes*;

// sum_{i=first}^{last} u_i v_{n-i} for the lanes starting at vector l; rows are `step` vectors apart.
// Four partial sums hide the latency of the multiply-add.
MECHSIM_INLINE Lanes convolve(ConstRow u, ConstRow v, int n, int first, int last, int step) {
    Lanes s0 = {0, 0, 0, 0}, s1 = s0, s2 = s0, s3 = s0;
    ConstRow a = u + first * step;
    ConstRow b = v + (n - first) * step;
    int left = last - first + 1;
    for (; left >= 4; left -= 4, a += 4 * step, b -= 4 * step) {
        s0 += a[0] * b[0];
        s1 += a[step] * b[-step];
        s2 += a[2 * step] * b[-2 * step];
        s3 += a[3 * step] * b[-3 * step];
    }
    if (left & 2) {
        s0 += a[0] * b[0];
        s1 += a[step] * b[-step];
        a += 2 * step;
        b -= 2 * step;
    }
    if (left & 1) s2 += a[0] * b[0];
    return (s0 + s1) + (s2 + s3);
}

// sum_{i=1}^{last} i u_i g_{n-i}
MECHSIM_INLINE Lanes convolve_slope(ConstRow u, ConstRow g, int n, int last, int step) {
    Lanes even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
    int i = 1;
    for (; i + 1 <= last; i += 2) {
        even += double(i) * u[i * step] * g[(n - i) * step];
        odd += double(i + 1) * u[(i + 1) * step] * g[(n - i - 1) * step];
    }
    if (i <= last) even += double(i) * u[i * step] * g[(n - i) * step];
    return even + odd;
}

// sum_{i=0}^{n} u_i u_{n-i}, each product once
MECHSIM_INLINE Lanes convolve_square(ConstRow u, int n, int first, int step) {
    Lanes sum = convolve(u, u, n, first, (n + 1) / 2 - 1, step);
    sum += sum;
    if (n % 2 == 0 && n / 2 >= first) sum += u[n / 2 * step] * u[n / 2 * step];
    return sum;
}

MECHSIM_INLINE double slope_sign(Function f) { return f == Function::cos || f == Function::acos ? -1.0 : 1.0; }

void function_at_degree_zero(Block& block, const Operation& op, double* w) {
    const double* u = block.row(op.a, 0);
    const double* constant = op.constant >= 0 ? block.constant(op.constant) : u;
    const double* extra = op.extra >= 0 ? block.row(op.extra, 0) : u;
    for (int l = 0; l < block.stride; ++l) w[l] = value_of(op.function, u[l], constant[l], extra[l]);
}

// A quotient whose denominator is beyond all measure does not change any more: 1/(1 + exp(t/w)) where exp has overflown.
MECHSIM_INLINE void settle_quotients(ConstRow denominator, Row w, int step) {
    const double* below = reinterpret_cast<const double*>(denominator);
    double* quotient = reinterpret_cast<double*>(w);
    for (int l = 0; l < step * kWidth; ++l)
        if (std::abs(below[l]) > kBeyondMeasure) quotient[l] = 0;
}

// Coefficient n of one operation. Recurrences: Griewank and Walther, Evaluating Derivatives, table 13.2.
// Before the solve of a stage (`Predicting`) operands that are absent count as zero and are not read.
// `Step` is the number of vectors in a row when it is small, 0 when it is known only at run time.
template <bool Predicting, int Step>
MECHSIM_INLINE void evaluate_operation(Block& block, const Operation& op, int n) {
    const int step = Step ? Step : block.stride / kWidth;
    Row w0 = op.w;
    Row w = w0 + n * step;
    ConstRow a0 = op.a_row, b0 = op.b_row, constant = op.constant_row;
    const int last = Predicting && op.absent_a ? n - 1 : n;  // of the coefficients of a that count
    const int first = Predicting && op.absent_b ? 1 : 0;
    switch (op.code) {
        case Code::add:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] + b0[n * step + l];
            break;
        case Code::subtract:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] - b0[n * step + l];
            break;
        case Code::multiply:
            for (int l = 0; l < step; ++l) w[l] = convolve(a0 + l, b0 + l, n, first, last, step);
            break;
        case Code::square:
            for (int l = 0; l < step; ++l) w[l] = convolve_square(a0 + l, n, n - last, step);
            break;
        case Code::divide:  // w b = a
            for (int l = 0; l < step; ++l) w[l] = (a0[n * step + l] - convolve(b0 + l, w0 + l, n, 1, n, step)) / b0[l];
            if (n > 0) settle_quotients(b0, w, step);
            break;
        case Code::ratio:  // w a = constant
            for (int l = 0; l < step; ++l)
                w[l] = n == 0 ? constant[l] / a0[l] : -convolve(a0 + l, w0 + l, n, 1, n, step) / a0[l];
            if (n > 0) settle_quotients(a0, w, step);
            break;
        case Code::root:  // w w = a
            if (n == 0) {
                double* out = reinterpret_cast<double*>(w0);
                const double* in = reinterpret_cast<const double*>(a0);
                for (int l = 0; l < block.stride; ++l) out[l] = std::sqrt(in[l]);
            } else {
                for (int l = 0; l < step; ++l)
                    w[l] = (a0[n * step + l] - convolve_square(w0 + l, n, 1, step)) / (2.0 * w0[l]);
            }
            break;
        case Code::scale:
            for (int l = 0; l < step; ++l) w[l] = constant[l] * a0[n * step + l];
            break;
        case Code::shift:
            for (int l = 0; l < step; ++l) w[l] = n == 0 ? a0[l] + constant[l] : a0[n * step + l];
            break;
        case Code::function:  // w' = +- b a'
            if (n == 0) {
                function_at_degree_zero(block, op, reinterpret_cast<double*>(w0));
            } else {
                const double factor = slope_sign(op.function) / n;
                for (int l = 0; l < step; ++l) w[l] = factor * convolve_slope(a0 + l, b0 + l, n, last, step);
            }
            break;
    }
}

// How coefficient n >= 1 of an operation changes when coefficient n of its operands does: linear, O(1).
// Where the operation was evaluated before (`Known`), the change is added; else only what a silent one left out is.
template <bool Known, int Step>
MECHSIM_INLINE void correct_operation(const Block& block, const Operation& op, int n) {
    const int step = Step ? Step : block.stride / kWidth;
    Row change = op.change;
    Row w = op.w + n * step;
    ConstRow w0 = op.w, a0 = op.a_row, b0 = op.b_row, constant = op.constant_row;
    ConstRow da = op.a_change, db = op.b_change;
    const Lanes none = {0, 0, 0, 0};
    for (int l = 0; l < step; ++l) {
        const Lanes a = op.fresh_a ? da[l] : none, b = op.fresh_b ? db[l] : none;
        switch (op.code) {
            case Code::add: change[l] = a + b; break;
            case Code::subtract: change[l] = a - b; break;
            case Code::multiply: change[l] = a0[l] * b + b0[l] * a; break;
            case Code::square: change[l] = 2.0 * a0[l] * a; break;
            case Code::divide: change[l] = (a - w0[l] * b) / b0[l]; break;
            case Code::ratio: change[l] = -w0[l] * a / a0[l]; break;
            case Code::root: change[l] = a / (2.0 * w0[l]); break;
            case Code::scale: change[l] = constant[l] * a; break;
            case Code::shift: change[l] = a; break;
            case Code::function: change[l] = slope_sign(op.function) * b0[l] * a; break;
        }
        w[l] = op.silent && !Known ? change[l] : w[l] + change[l];
    }
}

MECHSIM_INLINE Lanes gather(const double* source, const int* unknown) {
    return Lanes{source[unknown[0]], source[unknown[1]], source[unknown[2]], source[unknown[3]]};
}

// Do what writes a row, for the lanes of a mask; without one, for all.
template <class Work>
MECHSIM_INLINE void write_masked(Row w, const Mask* mask, int step, Work work) {
    Lanes kept[kMostMotions / kWidth];
    for (int l = 0; mask && l < step; ++l) kept[l] = w[l];
    work();
    for (int l = 0; mask && l < step; ++l) w[l] = mask[l] ? w[l] : kept[l];
}

// Coefficient of what an input register holds, at the degree found by this stage, and by how much that changed it: where
// it was not read before (`Known`) it was zero.
template <bool Known>
MECHSIM_INLINE void read_input(Block& block, const Coefficients& x, int i, int n, const Mask* mask = nullptr) {
    const Input& input = block.inputs[i];
    const double factor = factorials.falling[input.order][n];
    const double* source = x.degree(n + input.order);
    const int* unknown = block.unknowns.data() + std::size_t(i) * block.stride;
    Row target = vec(block.row(i, n)), change = vec(block.change(i));
    for (int l = 0; l < block.stride / kWidth; ++l) {
        // Of many motions the values of one unknown stand side by side.
        const Lanes found = block.motions ? vec(source + unknown[0])[l] : gather(source, unknown + l * kWidth);
        const Lanes value = factor * found;
        change[l] = Known ? value - target[l] : value;
        target[l] = mask ? (mask[l] ? value : target[l]) : value;
    }
}

// residual[row] += factor * value, lane by lane.
MECHSIM_INLINE void add_to_rows(const Block& block, const int* row, const double* factor, const double* value,
                                double* residual) {
    if (block.motions) {
        for (int l = 0; l < block.stride / kWidth; ++l) vec(residual + row[0])[l] += vec(factor)[l] * vec(value)[l];
        return;
    }
    for (int l = 0; l < block.lanes; ++l) residual[row[l]] += factor[l] * value[l];
}

template <int Step>
MECHSIM_INLINE void evaluate_operations(Block& block, int stage, const Mask* mask) {
    const int step = Step ? Step : block.stride / kWidth;
    for (const Operation& op : block.operations) {
        const int n = stage + op.lead;
        if (n < 0) continue;
        if (mask)
            write_masked(op.w + n * step, mask, step, [&] { evaluate_operation<false, Step>(block, op, n); });
        else
            evaluate_operation<false, Step>(block, op, n);
    }
}

// A coefficient of degree 0 is computed again; one beyond is linear in what was found at its degree.
template <int Step>
MECHSIM_INLINE void finish_operations(Block& block, int stage, const Mask* mask) {
    const int step = Step ? Step : block.stride / kWidth;
    for (const Operation& op : block.operations)
        if (stage + op.lead == 0 && (op.hot || op.extra >= 0))
            write_masked(op.w, mask, step, [&] { evaluate_operation<false, Step>(block, op, 0); });
    for (int i : block.corrected) {
        const Operation& op = block.operations[i];
        const int n = stage + op.lead;
        if (n > 0) write_masked(op.w + n * step, mask, step, [&] { correct_operation<true, Step>(block, op, n); });
    }
}

template <int Step>
MECHSIM_INLINE void predict_operations(Block& block, int stage) {
    for (int i : block.predicted) {
        const Operation& op = block.operations[i];
        evaluate_operation<true, Step>(block, op, stage + op.lead);
    }
}

template <int Step>
MECHSIM_INLINE void correct_operations(Block& block, int stage) {
    for (int i : block.corrected) {
        const Operation& op = block.operations[i];
        correct_operation<false, Step>(block, op, stage + op.lead);
    }
}

// Whether an operation leaves out an absent operand by itself, or needs a zero to read.
bool leaves_out(Code code) { return code == Code::multiply || code == Code::square || code == Code::function; }

}  // namespace

double value_of(Function f, double u, double constant, double extra) {
    switch (f) {
        case Function::exp: return std::exp(u);
        case Function::log: return std::log(u);
        case Function::sin: return std::sin(u);
        case Function::cos: return std::cos(u);
        case Function::tan: return std::tan(u);
        case Function::sinh: return std::sinh(u);
        case Function::cosh: return std::cosh(u);
        case Function::tanh: return std::tanh(u);
        case Function::asin: return std::asin(u);
        case Function::acos: return std::acos(u);
        case Function::atan: return std::atan(u);
        case Function::power: return std::pow(u, constant);
        case Function::atan2: return std::atan2(u, extra);
        case Function::zero: return 0.0;
    }
    return 0.0;
}

Aligned aligned_zeros(std::size_t count) {
    std::size_t bytes = (std::max<std::size_t>(count, 1) * sizeof(double) + 63) / 64 * 64;
    void* memory = std::aligned_alloc(64, bytes);
    if (!memory) throw std::bad_alloc();
    std::memset(memory, 0, bytes);
    return Aligned(static_cast<double*>(memory));
}

void Block::allocate(int degree_count) {
    degrees = degree_count;
    const std::size_t registers = inputs.size() + operations.size();
    series = aligned_zeros(registers * degrees * stride);
    delta = aligned_zeros(registers * stride);
    const int count = int(inputs.size());
    auto lead = [&](int reg) { return reg < count ? inputs[reg].available : operations[reg - count].lead; };
    auto hot = [&](int reg) { return reg < count ? inputs[reg].hot : operations[reg - count].hot; };
    auto silent = [&](int reg) { return reg < count ? inputs[reg].hot : operations[reg - count].silent; };
    std::vector<bool> clear(registers, false);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Operation& op = operations[i];
        const bool slope = op.code == Code::function;  // a slope enters only up to the coefficient before
        op.fresh_a = hot(op.a) && lead(op.a) == op.lead;
        op.fresh_b = !slope && op.b >= 0 && hot(op.b) && lead(op.b) == op.lead;
        op.absent_a = op.fresh_a && silent(op.a);
        op.absent_b = op.fresh_b && silent(op.b);
        op.w = vec(row(count + int(i), 0));
        op.a_row = vec(row(op.a, 0));
        op.b_row = op.b >= 0 ? vec(row(op.b, 0)) : op.a_row;
        op.constant_row = op.constant >= 0 ? vec(constants.get() + std::size_t(op.constant) * stride) : op.a_row;
        op.change = vec(change(count + int(i)));
        op.a_change = vec(change(op.a));
        op.b_change = op.b >= 0 ? vec(change(op.b)) : op.a_change;
        if (!op.silent) predicted.push_back(int(i));
        if (op.corrected) corrected.push_back(int(i));
        if (!op.silent && !leaves_out(op.code)) {
            if (op.absent_a) clear[op.a] = true;
            if (op.absent_b) clear[op.b] = true;
        }
    }
    for (std::size_t r = 0; r < registers; ++r)
        if (clear[r]) cleared.push_back(int(r));
    if (watched) make_watch();
    for (int i = 0; i < count; ++i)
        if (inputs[i].read && !inputs[i].time) read.push_back(i);
    auto constant_input = [&](int reg) { return reg < count && !inputs[reg].time && inputs[reg].available >= kAlways; };
    for (std::size_t o = 0; o < outputs.size(); ++o)
        for (int t = outputs[o].first_term; t < outputs[o].last_term; ++t)
            for (int l = 0; l < (motions ? 1 : lanes) && !terms[t].silent && !constant_input(terms[t].reg); ++l)
                contributions.push_back({rows[o * stride + l], outputs[o].lead,
                                         std::size_t(terms[t].reg) * degrees * stride + l,
                                         constant(terms[t].constant)[l],
                                         std::size_t(terms[t].constant) * stride + l, false});
    std::stable_sort(contributions.begin(), contributions.end(),
                     [](const Contribution& one, const Contribution& other) { return one.row < other.row; });
    for (std::size_t k = 0; k < contributions.size(); ++k)
        contributions[k].last = k + 1 == contributions.size() || contributions[k + 1].row != contributions[k].row;
}

Block of_motions(const Block& block, int instance, int width) {
    Block one;
    one.lanes = one.stride = width;
    one.constant_count = block.constant_count;
    one.constants = aligned_zeros(std::size_t(block.constant_count) * width);
    one.watched = block.watched;
    one.motions = true;
    one.inputs = block.inputs;
    one.operations = block.operations;
    one.outputs = block.outputs;
    one.terms = block.terms;
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        for (int l = 0; l < width; ++l)
            one.unknowns.push_back(block.unknowns[i * block.stride + instance] * width + l);
    for (std::size_t o = 0; o < block.outputs.size(); ++o)
        for (int l = 0; l < width; ++l) one.rows.push_back(block.rows[o * block.stride + instance] * width + l);
    return one;
}

void Block::tune(const double* table) {
    for (int i = 0; i < constant_count; ++i)
        for (int l = 0; l < stride; ++l)
            constants[std::size_t(i) * stride + l] = table[std::size_t(i) * lanes + (l < lanes ? l : 0)];
    for (Contribution& part : contributions) part.factor = constants[part.source];
}

// A linear operation is what its operands are; one on whose value no row depends, but only through a slope, is seen in the
// function that has the slope; halves of an arctangent have no closed form, but the quotients they integrate do.
void Block::make_watch() {
    const int count = int(inputs.size());
    std::vector<bool> counts(count + operations.size(), false), wanted = counts;
    for (const Term& term : terms) counts[term.reg] = true;
    for (int i = int(operations.size()) - 1; i >= 0; --i) {
        const Operation& op = operations[i];
        if (!counts[count + i]) continue;
        counts[op.a] = true;
        const bool has_slope = op.code == Code::function && !op.is_integral();
        if (op.b >= 0 && !has_slope) counts[op.b] = true;
        const bool linear = op.code == Code::add || op.code == Code::subtract || op.code == Code::scale || op.code == Code::shift;
        if (linear || op.is_integral()) continue;
        watch.operations.push_back(i);
        wanted[count + i] = wanted[op.a] = true;
        if (op.b >= 0) wanted[op.b] = true;
    }
    std::reverse(watch.operations.begin(), watch.operations.end());
    watch.places.assign(wanted.size(), -1);
    for (std::size_t reg = 0; reg < wanted.size(); ++reg)
        if (wanted[reg]) {
            watch.places[reg] = int(watch.registers.size());
            watch.registers.push_back(int(reg));
        }
    watch.moments.assign(2 * stride, 0.0);
    watch.values.assign(2 * watch.registers.size() * stride, 0.0);
    watch.peaks.assign(watch.operations.size() * stride, 0.0);
}

MECHSIM_CLONES void evaluate_stage(Block& block, const Coefficients& x, int stage, double* residual, const Mask* mask) {
    const int inputs = int(block.inputs.size());
    for (int i = 0; i < inputs; ++i) {
        const int n = stage + block.inputs[i].available;
        if (!block.inputs[i].time && n >= 0 && n + block.inputs[i].order < x.degrees)
            read_input<false>(block, x, i, n, mask);
    }
    switch (block.stride / kWidth) {
        case 1: evaluate_operations<1>(block, stage, mask); break;
        case 2: evaluate_operations<2>(block, stage, mask); break;
        case 4: evaluate_operations<4>(block, stage, mask); break;
        case 8: evaluate_operations<8>(block, stage, mask); break;
        default: evaluate_operations<0>(block, stage, mask);
    }
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const Output& output = block.outputs[o];
        const int n = stage + output.lead;
        if (n < 0) continue;
        const int* row = block.rows.data() + o * block.stride;
        for (int t = output.first_term; t < output.last_term; ++t) {
            const double* factor = block.constant(block.terms[t].constant);
            add_to_rows(block, row, factor, block.row(block.terms[t].reg, n), residual);
        }
        if (n == 0 && output.constant >= 0) {
            const double* value = block.constant(output.constant);
            for (int l = 0; l < block.lanes; ++l) residual[row[l]] += value[l];
        }
    }
}

MECHSIM_CLONES void finish_stage(Block& block, const Coefficients& x, int stage, const Mask* mask) {
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const int n = stage + block.inputs[i].available;
        if (!block.inputs[i].time && n >= 0 && n + block.inputs[i].order < x.degrees)
            read_input<true>(block, x, int(i), n, mask);
    }
    switch (block.stride / kWidth) {
        case 1: finish_operations<1>(block, stage, mask); break;
        case 2: finish_operations<2>(block, stage, mask); break;
        case 4: finish_operations<4>(block, stage, mask); break;
        case 8: finish_operations<8>(block, stage, mask); break;
        default: finish_operations<0>(block, stage, mask);
    }
}

void add_sizes(const Block& block, double* sizes) {
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const Output& output = block.outputs[o];
        if (output.lead != 0) continue;
        for (int l = 0; l < block.lanes; ++l) {
            double& size = sizes[block.rows[o * block.stride + l]];
            for (int t = output.first_term; t < output.last_term; ++t)
                size += std::abs(block.constant(block.terms[t].constant)[l] * block.row(block.terms[t].reg, 0)[l]);
            if (output.constant >= 0) size += std::abs(block.constant(output.constant)[l]);
        }
    }
}

MECHSIM_CLONES void predict_stage(Block& block, int stage, double* residual) {
    const int inputs = int(block.inputs.size());
    for (int reg : block.cleared) {
        const int ahead = reg < inputs ? block.inputs[reg].available : block.operations[reg - inputs].lead;
        std::memset(block.row(reg, stage + ahead), 0, block.stride * sizeof(double));
    }
    switch (block.stride / kWidth) {
        case 1: predict_operations<1>(block, stage); break;
        case 2: predict_operations<2>(block, stage); break;
        case 4: predict_operations<4>(block, stage); break;
        case 8: predict_operations<8>(block, stage); break;
        default: predict_operations<0>(block, stage);
    }
    const double* series = block.series.get();
    if (block.motions) {
        for (const Contribution& part : block.contributions)
            add_to_rows(block, &part.row, block.constants.get() + part.source,
                        series + part.offset + std::size_t(stage + part.lead) * block.stride, residual);
        return;
    }
    double sum = 0;  // of one row: a sum in memory would wait for itself
    for (const Contribution& part : block.contributions) {
        sum += part.factor * series[part.offset + std::size_t(stage + part.lead) * block.stride];
        if (!part.last) continue;
        residual[part.row] += sum;
        sum = 0;
    }
}

MECHSIM_CLONES void correct_stage(Block& block, const Coefficients& x, int stage) {
    for (int i : block.read) {
        const int n = stage + block.inputs[i].available;
        if (n + block.inputs[i].order < x.degrees) read_input<false>(block, x, i, n);
    }
    switch (block.stride / kWidth) {
        case 1: correct_operations<1>(block, stage); break;
        case 2: correct_operations<2>(block, stage); break;
        case 4: correct_operations<4>(block, stage); break;
        case 8: correct_operations<8>(block, stage); break;
        default: correct_operations<0>(block, stage);
    }
}

MECHSIM_CLONES void evaluate_matrix(Block& block, const Coefficients& x, const double* time, double* entries) {
    static const double factorial[3] = {1.0, 1.0, 2.0};
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const Input& input = block.inputs[i];
        double* target = block.row(int(i), 0);
        const double* source = x.degree(input.order);
        const int* unknown = block.unknowns.data() + i * block.stride;
        for (int l = 0; l < block.stride; ++l)
            target[l] = input.time ? time[block.motions ? l : 0] : factorial[input.order] * source[unknown[l]];
    }
    for (const Operation& op : block.operations) evaluate_operation<false, 0>(block, op, 0);
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const int* entry = block.rows.data() + o * block.stride;
        for (int t = block.outputs[o].first_term; t < block.outputs[o].last_term; ++t) {
            const double* factor = block.constant(block.terms[t].constant);
            add_to_rows(block, entry, factor, block.row(block.terms[t].reg, 0), entries);
        }
    }
}

}  // namespace mechsim

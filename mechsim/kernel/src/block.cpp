#include "block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace mechsim {

namespace {

struct Factorials {
    double falling[3][128];  // falling[o][n] = (n + o)! / n!
    Factorials() {
        for (int n = 0; n < 128; ++n) {
            falling[0][n] = 1;
            falling[1][n] = n + 1;
            falling[2][n] = double(n + 1) * (n + 2);
        }
    }
};
const Factorials factorials;

using Row = Lanes*;
using ConstRow = const Lanes*;

MECHSIM_INLINE Row vec(double* p) { return reinterpret_cast<Row>(p); }
MECHSIM_INLINE ConstRow vec(const double* p) { return reinterpret_cast<ConstRow>(p); }

// sum_{i=first}^{last} u_i v_{n-i} for the lanes starting at vector l; rows are `step` vectors apart.
// Two partial sums hide the latency of the multiply-add.
MECHSIM_INLINE Lanes convolve(ConstRow u, ConstRow v, int n, int first, int last, int step) {
    Lanes even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
    int i = first;
    for (; i + 1 <= last; i += 2) {
        even += u[i * step] * v[(n - i) * step];
        odd += u[(i + 1) * step] * v[(n - i - 1) * step];
    }
    if (i <= last) even += u[i * step] * v[(n - i) * step];
    return even + odd;
}

// sum_{i=1}^{n} i u_i g_{n-i}
MECHSIM_INLINE Lanes convolve_slope(ConstRow u, ConstRow g, int n, int step) {
    Lanes even = {0, 0, 0, 0}, odd = {0, 0, 0, 0};
    int i = 1;
    for (; i + 1 <= n; i += 2) {
        even += double(i) * u[i * step] * g[(n - i) * step];
        odd += double(i + 1) * u[(i + 1) * step] * g[(n - i - 1) * step];
    }
    if (i <= n) even += double(i) * u[i * step] * g[(n - i) * step];
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

void function_at_degree_zero(Block& block, const Operation& op, double* w) {
    const double* u = block.row(op.a, 0);
    const double* constant = op.constant >= 0 ? block.constant(op.constant) : u;
    const double* extra = op.extra >= 0 ? block.row(op.extra, 0) : u;
    for (int l = 0; l < block.stride; ++l) w[l] = value_of(op.function, u[l], constant[l], extra[l]);
}

// Coefficient n of one operation. Recurrences: Griewank and Walther, Evaluating Derivatives, table 13.2.
MECHSIM_INLINE void evaluate_operation(Block& block, const Operation& op, int reg, int n) {
    const int step = block.stride / kWidth;
    Row w0 = vec(block.row(reg, 0));
    Row w = w0 + n * step;
    ConstRow a0 = vec(block.row(op.a, 0));
    ConstRow b0 = op.b >= 0 ? vec(block.row(op.b, 0)) : a0;
    ConstRow constant = op.constant >= 0 ? vec(block.constant(op.constant)) : a0;
    switch (op.code) {
        case Code::add:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] + b0[n * step + l];
            break;
        case Code::subtract:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] - b0[n * step + l];
            break;
        case Code::multiply:
            for (int l = 0; l < step; ++l) w[l] = convolve(a0 + l, b0 + l, n, 0, n, step);
            break;
        case Code::square:
            for (int l = 0; l < step; ++l) w[l] = convolve_square(a0 + l, n, 0, step);
            break;
        case Code::divide:  // w b = a
            for (int l = 0; l < step; ++l) w[l] = (a0[n * step + l] - convolve(b0 + l, w0 + l, n, 1, n, step)) / b0[l];
            break;
        case Code::ratio:  // w a = constant
            for (int l = 0; l < step; ++l)
                w[l] = n == 0 ? constant[l] / a0[l] : -convolve(a0 + l, w0 + l, n, 1, n, step) / a0[l];
            break;
        case Code::root:  // w w = a
            if (n == 0) {
                double* out = block.row(reg, 0);
                const double* in = block.row(op.a, 0);
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
                function_at_degree_zero(block, op, block.row(reg, 0));
            } else {
                const double factor = slope_sign(op.function) / n;
                for (int l = 0; l < step; ++l) w[l] = factor * convolve_slope(a0 + l, b0 + l, n, step);
            }
            break;
    }
}

// How coefficient n >= 1 of an operation changes when coefficient n of its operands does: linear, O(1).
MECHSIM_INLINE void correct_operation(Block& block, const Operation& op, int reg, int n, int inputs) {
    const int step = block.stride / kWidth;
    Row change = vec(block.change(reg));
    Row w = vec(block.row(reg, n));
    ConstRow w0 = vec(block.row(reg, 0));
    ConstRow a0 = vec(block.row(op.a, 0));
    ConstRow b0 = op.b >= 0 ? vec(block.row(op.b, 0)) : a0;
    ConstRow constant = op.constant >= 0 ? vec(block.constant(op.constant)) : a0;
    const Lanes none = {0, 0, 0, 0};
    // An operand whose coefficient n was known before the solve does not change.
    auto fresh = [&](int operand) {
        if (operand < 0) return false;
        if (operand < inputs) return block.inputs[operand].available == op.lead;
        const Operation& source = block.operations[operand - inputs];
        return source.hot && source.lead == op.lead;
    };
    const bool fresh_a = fresh(op.a), fresh_b = fresh(op.b);
    ConstRow da = vec(block.change(op.a));
    ConstRow db = op.b >= 0 ? vec(block.change(op.b)) : da;
    for (int l = 0; l < step; ++l) {
        const Lanes a = fresh_a ? da[l] : none, b = fresh_b ? db[l] : none;
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
        w[l] += change[l];
    }
}

}  // namespace

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
}

void load_inputs(Block& block, const Coefficients& x, int stage) {
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const Input& input = block.inputs[i];
        const int n = stage + input.available;
        if (input.time || n < 0 || n + input.order >= x.degrees) continue;
        const double factor = factorials.falling[input.order][n];
        const double* source = x.degree(n + input.order);
        const int* unknown = block.unknowns.data() + i * block.stride;
        double* target = block.row(int(i), n);
        for (int l = 0; l < block.stride; ++l) target[l] = factor * source[unknown[l]];
    }
}

MECHSIM_CLONES void evaluate_stage(Block& block, int stage) {
    const int inputs = int(block.inputs.size());
    if (stage >= 1)
        for (int i = 0; i < inputs; ++i)
            if (block.inputs[i].hot)
                std::memset(block.row(i, stage + block.inputs[i].available), 0, block.stride * sizeof(double));
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
        const Operation& op = block.operations[i];
        const int n = stage + op.lead;
        if (n < 0) continue;
        if (op.silent && stage >= 1)
            std::memset(block.row(inputs + int(i), n), 0, block.stride * sizeof(double));
        else
            evaluate_operation(block, op, inputs + int(i), n);
    }
}

void accumulate_rows(const Block& block, int stage, double* residual) {
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const Output& output = block.outputs[o];
        const int n = stage + output.lead;
        if (n < 0) continue;
        const int* row = block.rows.data() + o * block.stride;
        for (int t = output.first_term; t < output.last_term; ++t) {
            const Term& term = block.terms[t];
            if (term.silent && stage >= 1) continue;
            const double* factor = block.constant(term.constant);
            const double* value = block.row(term.reg, n);
            for (int l = 0; l < block.lanes; ++l) residual[row[l]] += factor[l] * value[l];
        }
        if (n == 0 && output.constant >= 0) {
            const double* value = block.constant(output.constant);
            for (int l = 0; l < block.lanes; ++l) residual[row[l]] += value[l];
        }
    }
}

MECHSIM_CLONES void correct_stage(Block& block, const Coefficients& x, int stage) {
    const int inputs = int(block.inputs.size());
    for (int i = 0; i < inputs; ++i) {
        const Input& input = block.inputs[i];
        if (!input.read || input.time) continue;
        const int n = stage + input.available;
        if (n + input.order >= x.degrees) continue;
        const double factor = factorials.falling[input.order][n];
        const double* source = x.degree(n + input.order);
        const int* unknown = block.unknowns.data() + std::size_t(i) * block.stride;
        double* target = block.row(i, n);
        double* change = block.change(i);
        for (int l = 0; l < block.stride; ++l) change[l] = target[l] = factor * source[unknown[l]];
    }
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
        const Operation& op = block.operations[i];
        if (op.corrected) correct_operation(block, op, inputs + int(i), stage + op.lead, inputs);
    }
}

MECHSIM_CLONES void evaluate_matrix(Block& block, const Coefficients& x, double time, double* entries) {
    static const double factorial[3] = {1.0, 1.0, 2.0};
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const Input& input = block.inputs[i];
        double* target = block.row(int(i), 0);
        const double* source = x.degree(input.order);
        const int* unknown = block.unknowns.data() + i * block.stride;
        for (int l = 0; l < block.stride; ++l)
            target[l] = input.time ? time : factorial[input.order] * source[unknown[l]];
    }
    for (std::size_t i = 0; i < block.operations.size(); ++i)
        evaluate_operation(block, block.operations[i], int(block.inputs.size() + i), 0);
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const int* entry = block.rows.data() + o * block.stride;
        for (int t = block.outputs[o].first_term; t < block.outputs[o].last_term; ++t) {
            const double* factor = block.constant(block.terms[t].constant);
            const double* value = block.row(block.terms[t].reg, 0);
            for (int l = 0; l < block.lanes; ++l) entries[entry[l]] += factor[l] * value[l];
        }
    }
}

}  // namespace mechsim

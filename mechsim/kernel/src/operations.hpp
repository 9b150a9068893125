// What each operation of a program does to the series of its result: see block_stages.cpp and fleet_series.cpp.
#pragma once

#include <cmath>

#include "block.hpp"

namespace mechsim {

constexpr double kBeyondMeasure = 1e100;  // its square and the coefficients of its series are still numbers

// (n + order)! / n!, for orders up to 2
MECHSIM_INLINE double falling(int order, int n) {
    return order == 0 ? 1.0 : order == 1 ? double(n + 1) : double(n + 1) * (n + 2);
}

using Row = Lanes*;
using ConstRow = const Lanes*;

template <auto Value>
struct Known {
    static constexpr auto value = Value;
};

// What is known of rows when the code for them is made.
struct Shape {
    int step;      // vectors in a row when these are few, 0 when they are known only at run time
    bool motions;  // see Block::motions
    // Vectors whose sums are made together: whole lines of the cache, and no more sums than registers.
    constexpr int together() const { return step == 1 ? 1 : motions && step >= 4 ? step : 2; }
    int steps(const Block& block) const { return step ? step : block.stride / kWidth; }
};

template <int Count>
struct Several {
    Lanes v[Count];
    MECHSIM_INLINE Several() {
        for (int l = 0; l < Count; ++l) v[l] = Lanes{0, 0, 0, 0};
    }
};

// sum_{i=first}^{last} u_i v_{n-i} for the lanes of `Count` vectors; rows are `step` vectors apart. A sum that waits for
// its own multiply-add is slow: there are four for each of a few vectors, or one for each of many.
template <int Count>
MECHSIM_INLINE Several<Count> convolve(ConstRow u, ConstRow v, int n, int first, int last, int step) {
    Several<Count> s0;
    ConstRow a = u + first * step;
    ConstRow b = v + (n - first) * step;
    int left = last - first + 1;
    if constexpr (Count >= 4) {
        for (; left > 0; --left, a += step, b -= step)
            for (int l = 0; l < Count; ++l) s0.v[l] += a[l] * b[l];
        return s0;
    }
    Several<Count> s1, s2, s3;
    for (; left >= 4; left -= 4, a += 4 * step, b -= 4 * step)
        for (int l = 0; l < Count; ++l) {
            s0.v[l] += a[l] * b[l];
            s1.v[l] += a[step + l] * b[l - step];
            s2.v[l] += a[2 * step + l] * b[l - 2 * step];
            s3.v[l] += a[3 * step + l] * b[l - 3 * step];
        }
    if (left & 2) {
        for (int l = 0; l < Count; ++l) {
            s0.v[l] += a[l] * b[l];
            s1.v[l] += a[step + l] * b[l - step];
        }
        a += 2 * step;
        b -= 2 * step;
    }
    if (left & 1)
        for (int l = 0; l < Count; ++l) s2.v[l] += a[l] * b[l];
    for (int l = 0; l < Count; ++l) s0.v[l] = (s0.v[l] + s1.v[l]) + (s2.v[l] + s3.v[l]);
    return s0;
}

// sum_{i=1}^{last} i u_i g_{n-i}
template <int Count>
MECHSIM_INLINE Several<Count> convolve_slope(ConstRow u, ConstRow g, int n, int last, int step) {
    Several<Count> even, odd;
    int i = 1;
    for (; i + 1 <= last; i += 2)
        for (int l = 0; l < Count; ++l) {
            even.v[l] += double(i) * u[i * step + l] * g[(n - i) * step + l];
            odd.v[l] += double(i + 1) * u[(i + 1) * step + l] * g[(n - i - 1) * step + l];
        }
    for (int l = 0; l < Count && i <= last; ++l) even.v[l] += double(i) * u[i * step + l] * g[(n - i) * step + l];
    for (int l = 0; l < Count; ++l) even.v[l] += odd.v[l];
    return even;
}

// sum_{i=first}^{n-first} u_i u_{n-i}, each product once
template <int Count>
MECHSIM_INLINE Several<Count> convolve_square(ConstRow u, int n, int first, int step) {
    Several<Count> sum = convolve<Count>(u, u, n, first, (n + 1) / 2 - 1, step);
    for (int l = 0; l < Count; ++l) sum.v[l] += sum.v[l];
    for (int l = 0; l < Count && n % 2 == 0 && n / 2 >= first; ++l)
        sum.v[l] += u[n / 2 * step + l] * u[n / 2 * step + l];
    return sum;
}

// A row from sums, `Count` vectors at a time: sum(Known<Count>, first vector), then value(vector, its sum).
template <int Count, class Sum, class Value>
MECHSIM_INLINE void fill_row(Row w, int step, Sum sum, Value value) {
    int l = 0;
    for (; l + Count <= step; l += Count) {
        const Several<Count> sums = sum(Known<Count>(), l);
        for (int k = 0; k < Count; ++k) w[l + k] = value(l + k, sums.v[k]);
    }
    for (; Count > 1 && l < step; ++l) w[l] = value(l, sum(Known<1>(), l).v[0]);
}

// The sum over the components of an instance, which fill a vector (kernel/components.py), for each of them.
MECHSIM_INLINE Lanes total_of(Lanes a) { return Lanes{} + ((a[0] + a[1]) + (a[2] + a[3])); }

MECHSIM_INLINE double slope_sign(Function f) { return f == Function::cos || f == Function::acos ? -1.0 : 1.0; }

inline void function_at_degree_zero(const Block& block, const Operation& op, double* w) {
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

// Coefficient n of a product of series, or of a square, into the row w.
template <bool Predicting, Shape Form>
MECHSIM_INLINE void evaluate_product(const Operation& op, int n, Row w, int step) {
    const auto same = [](int, Lanes sum) MECHSIM_LAMBDA { return sum; };
    ConstRow a0 = op.a_row, b0 = op.b_row;
    const int last = Predicting && op.absent_a ? n - 1 : n;  // of the coefficients of a that count
    const int first = Predicting && op.absent_b ? 1 : 0;
    if (op.code == Code::multiply)
        fill_row<Form.together()>(
            w, step, [&](auto count, int l) MECHSIM_LAMBDA { return convolve<count.value>(a0 + l, b0 + l, n, first, last, step); }, same);
    else
        fill_row<Form.together()>(
            w, step, [&](auto count, int l) MECHSIM_LAMBDA { return convolve_square<count.value>(a0 + l, n, n - last, step); }, same);
}

// Coefficient n of one operation. Recurrences: Griewank and Walther, Evaluating Derivatives, table 13.2.
// Before the solve of a stage (`Predicting`) operands that are absent count as zero and are not read.
template <bool Predicting, Shape Form>
MECHSIM_INLINE void evaluate_operation(const Block& block, const Operation& op, int n) {
    const int step = Form.steps(block);
    Row w0 = op.w;
    Row w = w0 + n * step;
    const auto fill = [&](auto sum, auto value) MECHSIM_LAMBDA { fill_row<Form.together()>(w, step, sum, value); };
    ConstRow a0 = op.a_row, b0 = op.b_row, constant = op.constant_row;
    const int last = Predicting && op.absent_a ? n - 1 : n;  // of the coefficients of a that count
    switch (op.code) {
        case Code::add:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] + b0[n * step + l];
            break;
        case Code::subtract:
            for (int l = 0; l < step; ++l) w[l] = a0[n * step + l] - b0[n * step + l];
            break;
        case Code::multiply:
        case Code::square: return evaluate_product<Predicting, Form>(op, n, w, step);
        case Code::divide:  // w b = a
            fill([&](auto count, int l) MECHSIM_LAMBDA { return convolve<count.value>(b0 + l, w0 + l, n, 1, n, step); },
                 [&](int l, Lanes sum) MECHSIM_LAMBDA { return (a0[n * step + l] - sum) / b0[l]; });
            if (n > 0) settle_quotients(b0, w, step);
            break;
        case Code::ratio:  // w a = constant
            fill([&](auto count, int l) MECHSIM_LAMBDA { return convolve<count.value>(a0 + l, w0 + l, n, 1, n, step); },
                 [&](int l, Lanes sum) MECHSIM_LAMBDA { return n == 0 ? constant[l] / a0[l] : -sum / a0[l]; });
            if (n > 0) settle_quotients(a0, w, step);
            break;
        case Code::root:  // w w = a
            if (n == 0) {
                double* out = reinterpret_cast<double*>(w0);
                const double* in = reinterpret_cast<const double*>(a0);
                for (int l = 0; l < block.stride; ++l) out[l] = std::sqrt(in[l]);
            } else {
                fill([&](auto count, int l) MECHSIM_LAMBDA { return convolve_square<count.value>(w0 + l, n, 1, step); },
                     [&](int l, Lanes sum) MECHSIM_LAMBDA { return (a0[n * step + l] - sum) / (2.0 * w0[l]); });
            }
            break;
        case Code::scale:
            for (int l = 0; l < step; ++l) w[l] = constant[l] * a0[n * step + l];
            break;
        case Code::shift:
            for (int l = 0; l < step; ++l) w[l] = n == 0 ? a0[l] + constant[l] : a0[n * step + l];
            break;
        case Code::total:
            for (int l = 0; l < step; ++l) w[l] = total_of(a0[n * step + l]);
            break;
        case Code::rate:
            for (int l = 0; l < step; ++l) w[l] = double(n + 1) * a0[(n + 1) * step + l];
            break;
        case Code::function:  // w' = +- b a'
            if (n == 0) {
                function_at_degree_zero(block, op, reinterpret_cast<double*>(w0));
            } else {
                const double factor = slope_sign(op.function) / n;
                fill([&](auto count, int l) MECHSIM_LAMBDA { return convolve_slope<count.value>(a0 + l, b0 + l, n, last, step); },
                     [&](int, Lanes sum) MECHSIM_LAMBDA { return factor * sum; });
            }
            break;
    }
}

// How coefficient n >= 1 of an operation changes when coefficient n of its operands does: linear, O(1).
// Where the operation was evaluated before (`Again`), the change is added; else only what a silent one left out is.
template <bool Again, Shape Form>
MECHSIM_INLINE void correct_operation(const Block& block, const Operation& op, int n) {
    const int step = Form.steps(block);
    Row change = op.change;
    Row w = op.w + n * step;
    ConstRow w0 = op.w, a0 = op.a_row, b0 = op.b_row, constant = op.constant_row;
    ConstRow da = op.a_change, db = op.b_change;
    const auto take = [&](auto change_of) MECHSIM_LAMBDA {
        for (int l = 0; l < step; ++l) {
            change[l] = change_of(l);
            w[l] = op.silent && !Again ? change[l] : w[l] + change[l];
        }
    };
    switch (op.code) {
        case Code::add: return take([&](int l) MECHSIM_LAMBDA { return da[l] + db[l]; });
        case Code::subtract: return take([&](int l) MECHSIM_LAMBDA { return da[l] - db[l]; });
        case Code::multiply: return take([&](int l) MECHSIM_LAMBDA { return a0[l] * db[l] + b0[l] * da[l]; });
        case Code::square: return take([&](int l) MECHSIM_LAMBDA { return 2.0 * a0[l] * da[l]; });
        case Code::divide: return take([&](int l) MECHSIM_LAMBDA { return (da[l] - w0[l] * db[l]) / b0[l]; });
        case Code::ratio: return take([&](int l) MECHSIM_LAMBDA { return -w0[l] * da[l] / a0[l]; });
        case Code::root: return take([&](int l) MECHSIM_LAMBDA { return da[l] / (2.0 * w0[l]); });
        case Code::scale: return take([&](int l) MECHSIM_LAMBDA { return constant[l] * da[l]; });
        case Code::shift: return take([&](int l) MECHSIM_LAMBDA { return da[l]; });
        case Code::total: return take([&](int l) MECHSIM_LAMBDA { return total_of(da[l]); });
        case Code::rate: return take([&](int l) MECHSIM_LAMBDA { return double(n + 1) * da[l]; });
        case Code::function: return take([&](int l) MECHSIM_LAMBDA { return slope_sign(op.function) * b0[l] * da[l]; });
    }
}

}  // namespace mechsim

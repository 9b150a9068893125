// What each operation of a program does to the series of its result: see stage_lists.cpp, block_stages.cpp and fleet_series.cpp.
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

// u_0 v_0 + u_1 v_{-1} + ... for the lanes of `Count` vectors; rows are `step` vectors apart. A sum that waits for its own
// multiply-add is slow: there are four for each of a few vectors, or one for each of many.
template <int Count>
MECHSIM_INLINE Several<Count> convolve(ConstRow u, ConstRow v, int terms, int step) {
    Several<Count> s0;
    if constexpr (Count >= 4) {
        for (; terms > 0; --terms, u += step, v -= step)
            for (int l = 0; l < Count; ++l) s0.v[l] += u[l] * v[l];
        return s0;
    }
    Several<Count> s1, s2, s3;
    for (int fours = terms >> 2; fours > 0; --fours, u += 4 * step, v -= 4 * step)
        for (int l = 0; l < Count; ++l) {
            s0.v[l] += u[l] * v[l];
            s1.v[l] += u[step + l] * v[l - step];
            s2.v[l] += u[2 * step + l] * v[l - 2 * step];
            s3.v[l] += u[3 * step + l] * v[l - 3 * step];
        }
    if (terms & 2) {
        for (int l = 0; l < Count; ++l) {
            s0.v[l] += u[l] * v[l];
            s1.v[l] += u[step + l] * v[l - step];
        }
        u += 2 * step;
        v -= 2 * step;
    }
    if (terms & 1)
        for (int l = 0; l < Count; ++l) s2.v[l] += u[l] * v[l];
    for (int l = 0; l < Count; ++l) s0.v[l] = (s0.v[l] + s1.v[l]) + (s2.v[l] + s3.v[l]);
    return s0;
}

// 1 u_1 v_{-1} + 2 u_2 v_{-2} + ..., so many terms.
template <int Count>
MECHSIM_INLINE Several<Count> convolve_slope(ConstRow u, ConstRow v, int terms, int step) {
    Several<Count> even, odd;
    int i = 1;
    for (; i + 1 <= terms; i += 2)
        for (int l = 0; l < Count; ++l) {
            even.v[l] += double(i) * u[i * step + l] * v[l - i * step];
            odd.v[l] += double(i + 1) * u[(i + 1) * step + l] * v[l - (i + 1) * step];
        }
    for (int l = 0; l < Count && i <= terms; ++l) even.v[l] += double(i) * u[i * step + l] * v[l - i * step];
    for (int l = 0; l < Count; ++l) even.v[l] += odd.v[l];
    return even;
}

// w_first w_{n-first} + ... + w_{n-first} w_first, each product once; u is w_first, v is w_{n-first}.
template <int Count>
MECHSIM_INLINE Several<Count> convolve_square(ConstRow u, ConstRow v, int n, int first, int step) {
    const int terms = ((n + 1) >> 1) - first;
    Several<Count> sum = convolve<Count>(u, v, terms, step);
    for (int l = 0; l < Count; ++l) sum.v[l] += sum.v[l];
    ConstRow middle = u + terms * step;
    for (int l = 0; l < Count && n % 2 == 0 && terms >= 0; ++l) sum.v[l] += middle[l] * middle[l];
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
MECHSIM_INLINE Lanes total_of(Lanes a) {
    const Lanes pairs = a + Lanes{a[1], a[0], a[3], a[2]};
    return pairs + Lanes{pairs[2], pairs[3], pairs[0], pairs[1]};
}

MECHSIM_INLINE double slope_sign(Function f) { return f == Function::cos || f == Function::acos ? -1.0 : 1.0; }

// A quotient whose denominator is beyond all measure does not change any more: 1/(1 + exp(t/w)) where exp has overflown.
MECHSIM_INLINE Lanes settled_quotient(Lanes denominator, Lanes quotient, int n) {
    return n == 0 ? quotient : absolute(denominator) > kBeyondMeasure ? Lanes{} : quotient;
}

// A function or a root at degree 0; lanes that only pad repeat the first one.
inline void value_at_degree_zero(const Task& task) {
    double* w = reinterpret_cast<double*>(task.w - task.lead * task.step);
    const auto first = [](const Lanes* row) { return reinterpret_cast<const double*>(row); };
    const double *u = first(task.a - task.lead * task.step), *constant = first(task.constant), *extra = first(task.extra);
    for (int l = 0; l < task.lanes; ++l)
        w[l] = task.code == Code::root ? std::sqrt(u[l]) : value_of(task.function, u[l], constant[l], extra[l]);
    for (int l = task.lanes; l < task.step * kWidth; ++l) w[l] = w[0];
}

// Coefficient n = stage + lead of one operation, into the row w. Recurrences: Griewank and Walther, Evaluating
// Derivatives, table 13.2.
template <Code code, Shape Form>
MECHSIM_INLINE void evaluate_task(const Task& task, int stage, Row w) {
    const int step = Form.step ? Form.step : task.step;
    const int n = stage + task.lead;
    const std::ptrdiff_t moved = std::ptrdiff_t(stage) * step;
    ConstRow a = task.a + moved, u = task.u, v = task.v + moved;
    const auto fill = [&](auto sum, auto value) MECHSIM_LAMBDA { fill_row<Form.together()>(w, step, sum, value); };
    const auto product = [&](int terms) MECHSIM_LAMBDA {
        return [&, terms](auto count, int l) MECHSIM_LAMBDA { return convolve<count.value>(u + l, v + l, terms, step); };
    };
    const auto square = [&](auto count, int l) MECHSIM_LAMBDA {
        return convolve_square<count.value>(u + l, v + l, n, task.terms, step);
    };
    const auto same = [](int, Lanes sum) MECHSIM_LAMBDA { return sum; };
    if constexpr (code == Code::add) {
        for (int l = 0; l < step; ++l) w[l] = a[l] + v[l];
    } else if constexpr (code == Code::subtract) {
        for (int l = 0; l < step; ++l) w[l] = a[l] - v[l];
    } else if constexpr (code == Code::scale) {
        for (int l = 0; l < step; ++l) w[l] = task.constant[l] * a[l];
    } else if constexpr (code == Code::shift) {
        for (int l = 0; l < step; ++l) w[l] = n == 0 ? a[l] + task.constant[l] : a[l];
    } else if constexpr (code == Code::total) {
        for (int l = 0; l < step; ++l) w[l] = total_of(a[l]);
    } else if constexpr (code == Code::rate) {
        for (int l = 0; l < step; ++l) w[l] = double(n + 1) * a[l];
    } else if constexpr (code == Code::multiply) {
        fill(product(task.terms + stage), same);
    } else if constexpr (code == Code::square) {
        fill(square, same);
    } else if constexpr (code == Code::divide) {  // w b = a
        fill(product(n), [&](int l, Lanes sum) MECHSIM_LAMBDA {
            return settled_quotient(task.first[l], (a[l] - sum) / task.first[l], n);
        });
    } else if constexpr (code == Code::ratio) {  // w a = constant
        fill(product(n), [&](int l, Lanes sum) MECHSIM_LAMBDA {
            return settled_quotient(task.first[l], (n == 0 ? task.constant[l] : -sum) / task.first[l], n);
        });
    } else if constexpr (code == Code::root) {  // w w = a
        if (n == 0) return value_at_degree_zero(task);
        fill(square, [&](int l, Lanes sum) MECHSIM_LAMBDA { return (a[l] - sum) / (2.0 * task.first[l]); });
    } else {  // w' = +- b a'
        if (n == 0) return value_at_degree_zero(task);
        const double factor = slope_sign(task.function) / n;
        fill([&](auto count, int l) MECHSIM_LAMBDA { return convolve_slope<count.value>(u + l, v + l, task.terms + stage, step); },
             [&](int, Lanes sum) MECHSIM_LAMBDA { return factor * sum; });
    }
}

// work(Known<code>) for the code that this is.
template <class Work>
MECHSIM_INLINE void with_code(Code code, Work work) {
    switch (code) {
        case Code::add: return work(Known<Code::add>());
        case Code::subtract: return work(Known<Code::subtract>());
        case Code::multiply: return work(Known<Code::multiply>());
        case Code::square: return work(Known<Code::square>());
        case Code::divide: return work(Known<Code::divide>());
        case Code::ratio: return work(Known<Code::ratio>());
        case Code::root: return work(Known<Code::root>());
        case Code::scale: return work(Known<Code::scale>());
        case Code::shift: return work(Known<Code::shift>());
        case Code::total: return work(Known<Code::total>());
        case Code::rate: return work(Known<Code::rate>());
        case Code::function: return work(Known<Code::function>());
    }
}

template <Shape Form>
MECHSIM_INLINE void evaluate_task(const Task& task, int stage) {
    const int step = Form.step ? Form.step : task.step;
    with_code(task.code, [&](auto code) MECHSIM_LAMBDA {
        evaluate_task<code.value, Form>(task, stage, task.w + std::ptrdiff_t(stage) * step);
    });
}

// How coefficient n >= 1 of an operation changes when coefficient n of its operands does: linear, O(1).
// Where the operation was evaluated before (`Again`), the change is added; else only what a silent one left out is.
template <Code code, bool Again, Shape Form>
MECHSIM_INLINE void correct_operation(const Operation& op, int stage) {
    const int step = Form.step ? Form.step : op.step;
    const int n = stage + op.lead;
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
    if constexpr (code == Code::add)
        take([&](int l) MECHSIM_LAMBDA { return da[l] + db[l]; });
    else if constexpr (code == Code::subtract)
        take([&](int l) MECHSIM_LAMBDA { return da[l] - db[l]; });
    else if constexpr (code == Code::multiply)
        take([&](int l) MECHSIM_LAMBDA { return a0[l] * db[l] + b0[l] * da[l]; });
    else if constexpr (code == Code::square)
        take([&](int l) MECHSIM_LAMBDA { return 2.0 * a0[l] * da[l]; });
    else if constexpr (code == Code::divide)
        take([&](int l) MECHSIM_LAMBDA { return (da[l] - w0[l] * db[l]) / b0[l]; });
    else if constexpr (code == Code::ratio)
        take([&](int l) MECHSIM_LAMBDA { return -w0[l] * da[l] / a0[l]; });
    else if constexpr (code == Code::root)
        take([&](int l) MECHSIM_LAMBDA { return da[l] / (2.0 * w0[l]); });
    else if constexpr (code == Code::scale)
        take([&](int l) MECHSIM_LAMBDA { return constant[l] * da[l]; });
    else if constexpr (code == Code::shift)
        take([&](int l) MECHSIM_LAMBDA { return da[l]; });
    else if constexpr (code == Code::total)
        take([&](int l) MECHSIM_LAMBDA { return total_of(da[l]); });
    else if constexpr (code == Code::rate)
        take([&](int l) MECHSIM_LAMBDA { return double(n + 1) * da[l]; });
    else
        take([&](int l) MECHSIM_LAMBDA { return slope_sign(op.function) * b0[l] * da[l]; });
}

template <bool Again, Shape Form>
MECHSIM_INLINE void correct_operation(const Operation& op, int stage) {
    with_code(op.code, [&](auto code) MECHSIM_LAMBDA { correct_operation<code.value, Again, Form>(op, stage); });
}

}  // namespace mechsim

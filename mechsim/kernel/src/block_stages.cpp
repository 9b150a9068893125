// Stages of a block: what each operation does to the series of its result.
#include <cstring>

#include "operations.hpp"

namespace mechsim {

namespace {

// The rows of instances.
template <class Work>
MECHSIM_INLINE void with_instances(const Block& block, Work work) {
    switch (block.stride / kWidth) {
        case 1: return work(Known<Shape{1, false}>());
        case 2: return work(Known<Shape{2, false}>());
        case 4: return work(Known<Shape{4, false}>());
        case 8: return work(Known<Shape{8, false}>());
        default: return work(Known<Shape{0, false}>());
    }
}

// ... or of motions.
template <class Work>
MECHSIM_INLINE void with_shape(const Block& block, Work work) {
    if (!block.motions) return with_instances(block, work);
    switch (block.stride / kWidth) {
        case 1: return work(Known<Shape{1, true}>());
        case 2: return work(Known<Shape{2, true}>());
        case 4: return work(Known<Shape{4, true}>());
        default: return work(Known<Shape{8, true}>());
    }
}

MECHSIM_INLINE Lanes gather(const double* source, const int* unknown) {
    return Lanes{source[unknown[0]], source[unknown[1]], source[unknown[2]], source[unknown[3]]};
}

// A mask that has all motions is none.
template <Shape Form>
MECHSIM_INLINE const Mask* needed(const Mask* mask) {
    if constexpr (!Form.motions) return mask;
    Mask all = mask[0];
    for (int l = 1; l < Form.step; ++l) all &= mask[l];
    return (all[0] & all[1] & all[2] & all[3]) != 0 ? nullptr : mask;
}

// Do what writes coefficient n; of many motions, for those of the mask. There is one code for it, with a mask and without, so
// that both round alike.
template <Shape Form, class Work>
MECHSIM_INLINE void write_masked(const Block& block, Row w0, int n, const Mask* mask, Work work) {
    if constexpr (!Form.motions) return work();
    const int step = Form.steps(block);
    Row w = w0 + n * step;
    Lanes kept[kMostVectors];
    for (int l = 0; l < step && mask; ++l) kept[l] = w[l];
    work();
    for (int l = 0; l < step && mask; ++l) w[l] = mask[l] ? w[l] : kept[l];
}

// Coefficient of what an input register holds, at the degree found by this stage, and by how much that changed it: where
// it was not read before (`Again`) it was zero.
template <bool Again, Shape Form>
MECHSIM_INLINE void read_input(Block& block, const Coefficients& x, int i, int n, const Mask* mask = nullptr) {
    const Input& input = block.inputs[i];
    const double factor = falling(input.order, n);
    const double* source = x.degree(n + input.order);
    const int* unknown = block.unknowns.data() + std::size_t(i) * block.stride;
    Row target = vec(block.row(i, n)), change = vec(block.change(i));
    const int step = Form.steps(block);
    for (int l = 0; l < step; ++l) {
        // Of many motions the values of one unknown stand side by side.
        const Lanes found = Form.motions ? vec(source + unknown[0])[l] : gather(source, unknown + l * kWidth);
        const Lanes value = factor * found;
        change[l] = Again ? value - target[l] : value;
        target[l] = mask ? (mask[l] ? value : target[l]) : value;
    }
}

// residual[row] += factor * value, lane by lane.
template <Shape Form>
MECHSIM_INLINE void add_to_rows(const Block& block, const int* row, const double* factor, const double* value,
                                double* residual) {
    if constexpr (Form.motions) {
        for (int l = 0; l < Form.step; ++l) vec(residual + row[0])[l] += vec(factor)[l] * vec(value)[l];
        return;
    }
    for (int l = 0; l < block.lanes; ++l) residual[row[l]] += factor[l] * value[l];
}

template <Shape Form>
MECHSIM_INLINE void add_constant_to_rows(const Block& block, const int* row, const double* value, double* residual) {
    if constexpr (Form.motions) {
        for (int l = 0; l < Form.step; ++l) vec(residual + row[0])[l] += vec(value)[l];
        return;
    }
    for (int l = 0; l < block.lanes; ++l) residual[row[l]] += value[l];
}

// Read the unknowns that a stage k <= 0 has found.
template <bool Again, Shape Form>
MECHSIM_INLINE void read_inputs(Block& block, const Coefficients& x, int stage, const Mask* mask) {
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const int n = stage + block.inputs[i].available;
        if (!block.inputs[i].time && n >= 0 && n + block.inputs[i].order < x.degrees)
            read_input<Again, Form>(block, x, int(i), n, mask);
    }
}

// Add the block's rows at a stage k <= 0.
template <Shape Form>
MECHSIM_INLINE void add_outputs(const Block& block, int stage, double* residual) {
    for (std::size_t o = 0; o < block.outputs.size(); ++o) {
        const Output& output = block.outputs[o];
        const int n = stage + output.lead;
        if (n < 0) continue;
        const int* row = block.rows.data() + o * block.stride;
        for (int t = output.first_term; t < output.last_term; ++t) {
            const double* factor = block.constant(block.terms[t].constant);
            add_to_rows<Form>(block, row, factor, block.row(block.terms[t].reg, n), residual);
        }
        if (n == 0 && output.constant >= 0) {
            add_constant_to_rows<Form>(block, row, block.constant(output.constant), residual);
        }
    }
}

// Add the block's rows at a stage k >= 1.
MECHSIM_INLINE void add_contributions(const Block& block, int stage, double* residual) {
    const double* series = block.series.get() + std::size_t(stage) * block.stride;
    double sum = 0;  // of one row: a sum in memory would wait for itself
    for (const Contribution& part : block.contributions) {
        sum += part.factor * series[part.first];
        if (!part.last) continue;
        residual[part.row] += sum;
        sum = 0;
    }
}

template <Shape Form>
MECHSIM_INLINE void evaluate_operations(Block& block, int stage, const Mask* mask) {
    for (const Operation& op : block.operations) {
        const int n = stage + op.lead;
        if (n < 0) continue;
        write_masked<Form>(block, op.w, n, mask, [&]() MECHSIM_LAMBDA { evaluate_operation<false, Form>(block, op, n); });
    }
}

template <Shape Form>
MECHSIM_INLINE void predict_operations(Block& block, int stage) {
    for (int i : block.predicted) {
        const Operation& op = block.operations[i];
        evaluate_operation<true, Form>(block, op, stage + op.lead);
    }
}

template <Shape Form>
MECHSIM_INLINE void correct_operations(Block& block, int stage) {
    for (int i : block.corrected) {
        const Operation& op = block.operations[i];
        correct_operation<false, Form>(block, op, stage + op.lead);
    }
}

// A coefficient of degree 0 is computed again; one beyond is linear in what was found at its degree.
template <Shape Form>
MECHSIM_INLINE void finish_operations(Block& block, int stage, const Mask* mask) {
    auto told = block.corrected.begin();
    for (int i = 0; i < int(block.operations.size()); ++i) {
        const Operation& op = block.operations[i];
        const int n = stage + op.lead;
        const bool corrected = told != block.corrected.end() && *told == i;
        told += corrected;
        if (n == 0 && (op.hot || op.extra >= 0))
            write_masked<Form>(block, op.w, 0, mask, [&]() MECHSIM_LAMBDA { evaluate_operation<false, Form>(block, op, 0); });
        if (n > 0 && corrected)
            write_masked<Form>(block, op.w, n, mask, [&]() MECHSIM_LAMBDA { correct_operation<true, Form>(block, op, n); });
    }
}

template <Shape Form>
MECHSIM_INLINE void read_for_matrix(Block& block, const Coefficients& x, const double* time, int i) {
    const Input& input = block.inputs[i];
    Row target = vec(block.row(i, 0));
    const double* source = x.degree(input.order);
    const int* unknown = block.unknowns.data() + std::size_t(i) * block.stride;
    const double factor = falling(input.order, 0);
    const int step = Form.steps(block);
    for (int l = 0; l < step && Form.motions; ++l)
        target[l] = input.time ? vec(time)[l] : factor * vec(source + unknown[0])[l];
    for (int l = 0; l < step && !Form.motions; ++l)
        target[l] = input.time ? Lanes{} + time[0] : factor * gather(source, unknown + l * kWidth);
}

}  // namespace

MECHSIM_CLONES void evaluate_stage(Block& block, const Coefficients& x, int stage, double* residual, const Mask* mask) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        const Mask* active = needed<form.value>(mask);
        read_inputs<false, form.value>(block, x, stage, active);
        evaluate_operations<form.value>(block, stage, active);
        add_outputs<form.value>(block, stage, residual);
    });
}

MECHSIM_CLONES void finish_stage(Block& block, const Coefficients& x, int stage, const Mask* mask) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        const Mask* active = needed<form.value>(mask);
        read_inputs<true, form.value>(block, x, stage, active);
        finish_operations<form.value>(block, stage, active);
    });
}

MECHSIM_CLONES void predict_stage(Block& block, int stage, double* residual) {
    const int inputs = int(block.inputs.size());
    for (int reg : block.cleared) {
        const int ahead = reg < inputs ? block.inputs[reg].available : block.operations[reg - inputs].lead;
        std::memset(block.row(reg, stage + ahead), 0, block.stride * sizeof(double));
    }
    with_instances(block, [&](auto form) MECHSIM_LAMBDA {
        predict_operations<form.value>(block, stage);
    });
    add_contributions(block, stage, residual);
}

MECHSIM_CLONES void correct_stage(Block& block, const Coefficients& x, int stage) {
    with_instances(block, [&](auto form) MECHSIM_LAMBDA {
        for (int i : block.read) {
            const int n = stage + block.inputs[i].available;
            if (n + block.inputs[i].order < x.degrees) read_input<false, form.value>(block, x, i, n);
        }
        correct_operations<form.value>(block, stage);
    });
}

MECHSIM_CLONES void evaluate_matrix(Block& block, const Coefficients& x, const double* time, double* entries) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        for (std::size_t i = 0; i < block.inputs.size(); ++i) read_for_matrix<form.value>(block, x, time, int(i));
        for (const Operation& op : block.operations) evaluate_operation<false, form.value>(block, op, 0);
        for (std::size_t o = 0; o < block.outputs.size(); ++o) {
            const int* entry = block.rows.data() + o * block.stride;
            for (int t = block.outputs[o].first_term; t < block.outputs[o].last_term; ++t) {
                const double* factor = block.constant(block.terms[t].constant);
                add_to_rows<form.value>(block, entry, factor, block.row(block.terms[t].reg, 0), entries);
            }
        }
    });
}

}  // namespace mechsim

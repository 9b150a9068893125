// Stages k <= 0 of a block of many motions (of one: stages.hpp).

#include "operations.hpp"

namespace mechsim {

namespace {

template <class Work>
MECHSIM_INLINE void with_shape(const Block& block, Work work) {
    switch (block.stride / kWidth) {
        case 1: return work(Known<Shape{1, true}>());
        case 2: return work(Known<Shape{2, true}>());
        case 4: return work(Known<Shape{4, true}>());
        default: return work(Known<Shape{8, true}>());
    }
}

// A mask that has all motions is none.
template <Shape Form>
MECHSIM_INLINE const Mask* needed(const Mask* mask) {
    Mask all = mask[0];
    for (int l = 1; l < Form.step; ++l) all &= mask[l];
    return (all[0] & all[1] & all[2] & all[3]) != 0 ? nullptr : mask;
}

// Do what writes coefficient n, for the motions of the mask. There is one code for it, with a mask and without, so that both
// round alike.
template <Shape Form, class Work>
MECHSIM_INLINE void write_masked(Row w, const Mask* mask, Work work) {
    Lanes kept[kMostVectors];
    for (int l = 0; l < Form.step; ++l) kept[l] = w[l];
    work();
    for (int l = 0; l < Form.step && mask; ++l) w[l] = mask[l] ? w[l] : kept[l];
}

// Coefficient of what an input register holds, at the degree found by this stage, and by how much that changed it. The values
// of one unknown stand side by side.
template <Shape Form>
MECHSIM_INLINE void read_input(Block& block, const Coefficients& x, int i, int n, const Mask* mask) {
    const Input& input = block.inputs[i];
    const double factor = falling(input.order, n);
    ConstRow source = vec(x.degree(n + input.order) + block.unknowns[std::size_t(i) * block.stride]);
    Row target = vec(block.row(i, n)), change = vec(block.change(i));
    for (int l = 0; l < Form.step; ++l) {
        const Lanes value = factor * source[l];
        change[l] = value - target[l];
        target[l] = mask ? (mask[l] ? value : target[l]) : value;
    }
}

// Read the unknowns that a stage k <= 0 has found.
template <Shape Form>
MECHSIM_INLINE void read_inputs(Block& block, const Coefficients& x, int stage, const Mask* mask) {
    for (std::size_t i = 0; i < block.inputs.size(); ++i) {
        const int n = stage + block.inputs[i].available;
        if (!block.inputs[i].time && n >= 0 && n + block.inputs[i].order < x.degrees)
            read_input<Form>(block, x, int(i), n, mask);
    }
}

// residual[row] += factor * value, lane by lane.
template <Shape Form>
MECHSIM_INLINE void add_to_rows(const int* row, const double* factor, const double* value, double* residual) {
    for (int l = 0; l < Form.step; ++l) vec(residual + row[0])[l] += vec(factor)[l] * vec(value)[l];
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
            add_to_rows<Form>(row, factor, block.row(block.terms[t].reg, n), residual);
        }
        if (n == 0 && output.constant >= 0)
            for (int l = 0; l < Form.step; ++l) vec(residual + row[0])[l] += vec(block.constant(output.constant))[l];
    }
}

template <Shape Form>
MECHSIM_INLINE void evaluate_operations(Block& block, int stage, const Mask* mask) {
    for (const Task& task : block.tasks) {
        if (stage + task.lead < 0) continue;
        write_masked<Form>(task.w + stage * Form.step, mask, [&]() MECHSIM_LAMBDA { evaluate_task<Form>(task, stage); });
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
            write_masked<Form>(op.w, mask, [&]() MECHSIM_LAMBDA { evaluate_task<Form>(block.tasks[i], stage); });
        if (n > 0 && corrected)
            write_masked<Form>(op.w + n * Form.step, mask, [&]() MECHSIM_LAMBDA { correct_operation<true, Form>(op, stage); });
    }
}

template <Shape Form>
MECHSIM_INLINE void read_for_matrix(Block& block, const Coefficients& x, const double* time, int i) {
    const Input& input = block.inputs[i];
    const double factor = falling(input.order, 0);
    ConstRow source = vec(x.degree(input.order) + block.unknowns[std::size_t(i) * block.stride]);
    for (int l = 0; l < Form.step; ++l) vec(block.row(i, 0))[l] = input.time ? vec(time)[l] : factor * source[l];
}

}  // namespace

MECHSIM_CLONES void evaluate_stage(Block& block, const Coefficients& x, int stage, double* residual, const Mask* mask) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        const Mask* active = needed<form.value>(mask);
        read_inputs<form.value>(block, x, stage, active);
        evaluate_operations<form.value>(block, stage, active);
        add_outputs<form.value>(block, stage, residual);
    });
}

MECHSIM_CLONES void finish_stage(Block& block, const Coefficients& x, int stage, const Mask* mask) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        const Mask* active = needed<form.value>(mask);
        read_inputs<form.value>(block, x, stage, active);
        finish_operations<form.value>(block, stage, active);
    });
}

MECHSIM_CLONES void evaluate_matrix(Block& block, const Coefficients& x, const double* time, double* entries) {
    with_shape(block, [&](auto form) MECHSIM_LAMBDA {
        for (std::size_t i = 0; i < block.inputs.size(); ++i) read_for_matrix<form.value>(block, x, time, int(i));
        for (const Task& task : block.tasks) evaluate_task<form.value>(task, -task.lead);
        for (std::size_t o = 0; o < block.outputs.size(); ++o) {
            const int* entry = block.rows.data() + o * block.stride;
            for (int t = block.outputs[o].first_term; t < block.outputs[o].last_term; ++t) {
                const double* factor = block.constant(block.terms[t].constant);
                add_to_rows<form.value>(entry, factor, block.row(block.terms[t].reg, 0), entries);
            }
        }
    });
}

}  // namespace mechsim

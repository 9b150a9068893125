// What lists of stages.hpp say, done.
#include "operations.hpp"
#include "stages.hpp"

namespace mechsim {

namespace {

// The rows of instances.
template <class Work>
MECHSIM_INLINE void with_step(int step, Work work) {
    switch (step) {
        case 1: return work(Known<Shape{1, false}>());
        case 2: return work(Known<Shape{2, false}>());
        case 4: return work(Known<Shape{4, false}>());
        case 8: return work(Known<Shape{8, false}>());
        default: return work(Known<Shape{0, false}>());
    }
}

MECHSIM_INLINE Lanes gather(const double* source, const int* places) {
    return Lanes{source[places[0]], source[places[1]], source[places[2]], source[places[3]]};
}

template <bool Again, bool Two>
MECHSIM_INLINE void read(const Stages::List& list, const Stages::ReadRun& run, int stage, const Coefficients& x) {
    const int n = stage + run.ahead;
    const double factor = falling(run.order, n), other = run.sign * factor;
    const double* source = x.degree(n + run.order);
    const std::ptrdiff_t moved = std::ptrdiff_t(stage) * run.step;
    const Stages::Read* end = list.reads.data() + run.last;
    for (const Stages::Read* read = list.reads.data() + run.first; read < end; ++read) {
        Lanes value = factor * gather(source, read->unknowns);
        if constexpr (Two) value += other * gather(source, read->others);
        Row row = read->row + moved;
        *read->change = Again ? value - *row : value;
        *row = value;
    }
}

template <bool Again>
MECHSIM_INLINE void read(const Stages::List& list, int stage, const Coefficients& x) {
    for (const Stages::ReadRun& run : list.read_runs) {
        if (run.sign == 0)
            read<Again, false>(list, run, stage, x);
        else
            read<Again, true>(list, run, stage, x);
    }
}

template <bool Again>
MECHSIM_INLINE void correct(const Stages::List& list, int stage) {
    for (const Stages::Run& run : list.corrected_runs)
        with_step(run.step, [&](auto form) MECHSIM_LAMBDA {
            with_code(run.code, [&](auto code) MECHSIM_LAMBDA {
                const Operation* end = list.corrected.data() + run.last;
                for (const Operation* op = list.corrected.data() + run.first; op < end; ++op)
                    correct_operation<code.value, Again, form.value>(*op, stage);
            });
        });
}

// The sum of parts, one at least, which then are behind; a sum in memory would wait for itself.
MECHSIM_INLINE double sum_parts(const Stages::Part*& part, const Stages::Part* last, std::ptrdiff_t stage) {
    double total = 0;
    do {
        total += part->factor * part->value[stage * part->stride];
        ++part;
    } while (part != last);
    return total;
}

}  // namespace

MECHSIM_CLONES void take_found(const Stages::List& list, int stage, const Coefficients& x, bool again) {
    if (again) {
        read<true>(list, stage, x);
        correct<true>(list, stage);
    } else {
        read<false>(list, stage, x);
        correct<false>(list, stage);
    }
}

MECHSIM_CLONES void evaluate(const Stages::List& list, int stage) {
    for (const Stages::Cleared& cleared : list.cleared) cleared.row[std::ptrdiff_t(stage) * cleared.step] = Lanes{0, 0, 0, 0};
    for (const Stages::Run& run : list.task_runs)
        with_step(run.step, [&](auto form) MECHSIM_LAMBDA {
            with_code(run.code, [&](auto code) MECHSIM_LAMBDA {
                const std::ptrdiff_t moved = std::ptrdiff_t(stage) * (form.value.step ? form.value.step : run.step);
                const Task* end = list.tasks.data() + run.last;
                for (const Task* task = list.tasks.data() + run.first; task < end; ++task)
                    evaluate_task<code.value, form.value>(*task, stage, task->w + moved);
            });
        });
}

MECHSIM_CLONES void sum_rows(const Stages::List& list, int stage, const double* factors, double* rows) {
    const Stages::Part* part = list.parts.data();
    for (const Stages::Sum& sum : list.sums) rows[sum.row] = factors[sum.row] * sum_parts(part, sum.last, stage);
}

MECHSIM_CLONES void sum_entries(const Stages::List& list, const double* constant, double* rows) {
    const Stages::Part* part = list.parts.data();
    for (const Stages::Sum& sum : list.sums) rows[sum.row] = constant[sum.row] + sum_parts(part, sum.last, 0);
}

}  // namespace mechsim

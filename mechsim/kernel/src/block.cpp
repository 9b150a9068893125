// A block's memory and tables.
#include "block.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <new>

namespace mechsim {

namespace {

// Rows of one register that are this many doubles apart fall on a quarter of the cache's sets or less, where those of one
// operation do not find room together (32 KB, 8 ways: 64 sets of lines); one line more, and they fall on all.
constexpr int kLine = 8, kConflict = 16 * kLine;

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

int stride_for(int lanes) {
    const int stride = (lanes + kWidth - 1) / kWidth * kWidth;
    return stride % kConflict == 0 ? stride + kLine : stride;
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
    delta = aligned_zeros((registers + 1) * stride);
    Lanes* unchanged = vec(change(int(registers)));
    const int count = int(inputs.size());
    auto lead = [&](int reg) { return reg < count ? inputs[reg].available : operations[reg - count].lead; };
    auto hot = [&](int reg) { return reg < count ? inputs[reg].hot : operations[reg - count].hot; };
    auto silent = [&](int reg) { return reg < count ? inputs[reg].hot : operations[reg - count].silent; };
    std::vector<bool> clear(registers, false);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        Operation& op = operations[i];
        const bool slope = op.code == Code::function;  // a slope enters only up to the coefficient before
        op.fresh_a = hot(op.a) && lead(op.a) == op.lead + op.ahead();
        op.fresh_b = !slope && op.b >= 0 && hot(op.b) && lead(op.b) == op.lead;
        op.absent_a = op.fresh_a && silent(op.a);
        op.absent_b = op.fresh_b && silent(op.b);
        op.w = vec(row(count + int(i), 0));
        op.a_row = vec(row(op.a, 0));
        op.b_row = op.b >= 0 ? vec(row(op.b, 0)) : op.a_row;
        op.constant_row = op.constant >= 0 ? vec(constants.get() + std::size_t(op.constant) * stride) : op.a_row;
        op.change = vec(change(count + int(i)));
        op.a_change = op.fresh_a ? vec(change(op.a)) : unchanged;
        op.b_change = op.fresh_b ? vec(change(op.b)) : unchanged;
        op.step = stride / kWidth;
        if (!op.silent) predicted.push_back(int(i));
        if (op.corrected) corrected.push_back(int(i));
        if (!op.silent && !leaves_out(op.code)) {
            if (op.absent_a) clear[op.a] = true;
            if (op.absent_b) clear[op.b] = true;
        }
    }
    for (const Operation& op : operations) tasks.push_back(task(op, false));
    for (std::size_t r = 0; r < registers; ++r)
        if (clear[r]) cleared.push_back(int(r));
    if (watched) make_watch();
    for (int i = 0; i < count; ++i)
        if (inputs[i].read && !inputs[i].time) read.push_back(i);
    for (std::size_t o = 0; o < outputs.size(); ++o)
        for (int t = outputs[o].first_term; t < outputs[o].last_term; ++t)
            for (int l = 0; l < (motions ? 1 : lanes) && !terms[t].silent && !is_constant(terms[t].reg); ++l)
                if (motions || rows[o * stride + l] != no_row) contributions.push_back({rows[o * stride + l], outputs[o].lead,
                                         std::size_t(terms[t].reg) * degrees * stride + l,
                                         constant(terms[t].constant)[l],
                                         std::size_t(terms[t].constant) * stride + l,
                                         (std::size_t(terms[t].reg) * degrees + outputs[o].lead) * stride + l, false});
    std::stable_sort(contributions.begin(), contributions.end(),
                     [](const Contribution& one, const Contribution& other) { return one.row < other.row; });
    for (std::size_t k = 0; k < contributions.size(); ++k)
        contributions[k].last = k + 1 == contributions.size() || contributions[k + 1].row != contributions[k].row;
}

Task Block::task(const Operation& op, bool predicting) const {
    const int step = op.step, lead = op.lead;
    const int without_a = predicting && op.absent_a, without_b = predicting && op.absent_b;
    const Lanes* a = op.a_row + (lead + op.ahead()) * step;
    const Lanes* extra = op.extra >= 0 ? vec(row(op.extra, 0)) : op.a_row;
    Task task{op.w + lead * step, a, a, a, op.a_row, op.constant_row, extra, lead, 0, step, lanes, op.code, op.function};
    switch (op.code) {
        case Code::add:
        case Code::subtract: task.v = op.b_row + lead * step; break;
        case Code::multiply:
            task.u = op.a_row + without_b * step;
            task.v = op.b_row + (lead - without_b) * step;
            task.terms = lead + 1 - without_a - without_b;
            break;
        case Code::square:
            task.u = op.a_row + without_a * step;
            task.v = op.a_row + (lead - without_a) * step;
            task.terms = without_a;
            break;
        case Code::divide:
            task.first = op.b_row;
            task.u = op.b_row + step;
            task.v = op.w + (lead - 1) * step;
            break;
        case Code::ratio:
            task.u = op.a_row + step;
            task.v = op.w + (lead - 1) * step;
            break;
        case Code::root:
            task.first = op.w;
            task.u = op.w + step;
            task.v = op.w + (lead - 1) * step;
            task.terms = 1;
            break;
        case Code::function:
            task.u = op.a_row;
            task.v = op.b_row + lead * step;
            task.terms = lead - without_a;
            break;
        default: break;
    }
    return task;
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
    one.silence();
    return one;
}

// A linear operation on what a stage finds and on constants is zero before it, too: these are, beyond degree 0.
void Block::silence() {
    const int count = int(inputs.size());
    const auto lead = [&](int reg) { return reg < count ? inputs[reg].available : operations[reg - count].lead; };
    const auto is_silent = [&](int reg, int wanted) {
        return lead(reg) == wanted && (reg < count ? inputs[reg].hot : operations[reg - count].silent);
    };
    for (Operation& op : operations) {
        const auto is_zero = [&](int reg) { return reg < 0 || is_constant(reg) || is_silent(reg, op.lead + op.ahead()); };
        op.silent = op.silent || (op.is_linear() && op.hot && is_zero(op.a) && is_zero(op.b));
    }
    for (const Output& output : outputs)
        for (int t = output.first_term; t < output.last_term; ++t) terms[t].silent |= is_silent(terms[t].reg, output.lead);
}

std::vector<Drawn> drawn_operations(const Block& block) {
    const int count = int(block.inputs.size());
    std::vector<Drawn> found(block.operations.size());
    for (int i : block.corrected) {
        const Operation& op = block.operations[i];
        const auto moves = [&](int reg) { return reg < count && !block.inputs[reg].time && block.inputs[reg].available == op.lead; };
        if (block.watched || !op.silent) continue;
        const bool sum = op.code == Code::add || op.code == Code::subtract;
        if (moves(op.a) && (op.code == Code::shift || (sum && block.is_constant(op.b))))
            found[i] = {op.a, -1, 0};
        else if (sum && moves(op.b) && (moves(op.a) || block.is_constant(op.a)) && block.inputs[op.a].order == block.inputs[op.b].order)
            found[i] = {op.a, op.b, op.code == Code::add ? 1 : -1};
    }
    return found;
}

bool has_readers(const Block& block, int input, const std::vector<Drawn>& drawn) {
    for (std::size_t i = 0; i < block.operations.size(); ++i) {
        const Operation& op = block.operations[i];
        if (drawn[i].input < 0 && (op.a == input || op.b == input || op.extra == input)) return true;
    }
    return block.watched;
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
        if (op.is_linear() || op.is_integral()) continue;
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

}  // namespace mechsim

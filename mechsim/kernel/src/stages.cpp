// The lists of stages.hpp.
#include "stages.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace mechsim {

namespace {

using List = Stages::List;

int input_count(const Block& block) { return int(block.inputs.size()); }

// In how many turns after others each operation can be done at a stage: after operands whose coefficient it reads is of that
// stage too. A function reads its slope only up to the coefficient before.
std::vector<int> levels_of(const Block& block) {
    const int count = input_count(block);
    std::vector<int> levels;
    for (const Operation& op : block.operations) {
        int level = 0;
        const auto wait_for = [&](int reg) {
            if (reg < count || reg - count >= int(levels.size())) return;
            if (block.operations[reg - count].lead == op.lead + op.ahead()) level = std::max(level, levels[reg - count] + 1);
        };
        for (int reg : {op.a, op.code == Code::function ? -1 : op.b, op.extra}) wait_for(reg);
        levels.push_back(level);
    }
    return levels;
}

template <class Key>
std::vector<std::size_t> sorted_by(const std::vector<Key>& keys) {
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return keys[i] < keys[j]; });
    return order;
}

template <class Each>
std::vector<Each> in_order(const std::vector<Each>& all, const std::vector<std::size_t>& order) {
    std::vector<Each> sorted;
    for (std::size_t i : order) sorted.push_back(all[i]);
    return sorted;
}

// Sorts what is done in the order of levels, with those of a kind side by side, and lists these.
template <class Each>
std::vector<Stages::Run> sort_into_runs(std::vector<Each>& all, const std::vector<int>& levels) {
    std::vector<std::tuple<int, int, Code>> keys;
    for (std::size_t i = 0; i < all.size(); ++i) keys.push_back({levels[i], all[i].step, all[i].code});
    all = in_order(all, sorted_by(keys));
    std::vector<Stages::Run> runs;
    for (int i = 0; i < int(all.size()); ++i) {
        if (runs.empty() || runs.back().code != all[i].code || runs.back().step != all[i].step)
            runs.push_back({all[i].code, all[i].step, i, i});
        ++runs.back().last;
    }
    return runs;
}

// Lists what is done, block by block, and sorts it in the end.
class Lister {
  public:
    // An input or what is drawn from inputs, into the rows of a register.
    void read(const Block& block, int reg, const Drawn& drawn, int ahead) {
        const int step = block.stride / kWidth;
        const auto unknowns = [&](int input) { return block.unknowns.data() + std::size_t(input) * block.stride; };
        const int *one = unknowns(drawn.input), *other = unknowns(drawn.sign == 0 ? drawn.input : drawn.other);
        for (int l = 0; l < step; ++l, one += kWidth, other += kWidth) {
            list_.reads.push_back({vec(block.row(reg, 0)) + ahead * step + l, vec(block.change(reg)) + l,
                                   {one[0], one[1], one[2], one[3]}, {other[0], other[1], other[2], other[3]}});
            read_kinds_.push_back({block.inputs[drawn.input].order, ahead, step, drawn.sign});
        }
    }

    void correct(const Block& block, int operation) {
        list_.corrected.push_back(block.operations[operation]);
        corrected_levels_.push_back(levels(block)[operation]);
    }

    void evaluate(const Block& block, int operation, bool predicting) {
        list_.tasks.push_back(block.task(block.operations[operation], predicting));
        task_levels_.push_back(levels(block)[operation]);
    }

    void clear(const Block& block, int reg) {
        const int count = input_count(block), step = block.stride / kWidth;
        const int ahead = reg < count ? block.inputs[reg].available : block.operations[reg - count].lead;
        for (int l = 0; l < step; ++l) list_.cleared.push_back({vec(block.row(reg, 0)) + ahead * step + l, step});
    }

    // Terms of an output that are `told`, and its constant, if any.
    template <class Told>
    void sum(const Block& block, int output, Told told, int constant) {
        const Output& own = block.outputs[output];
        const int* row = block.rows.data() + std::size_t(output) * block.stride;
        for (int l = 0; l < block.lanes; ++l) {
            if (row[l] >= block.no_row) continue;  // or that of what is watched, which is no row of the system
            for (int t = own.first_term; t < own.last_term; ++t)
                if (told(block.terms[t]))
                    add(row[l], block.row(block.terms[t].reg, own.lead) + l, block.constant(block.terms[t].constant) + l, block.stride);
            if (constant >= 0) add(row[l], &kOne, block.constant(constant) + l, 0);
        }
    }

    List done() {
        list_.task_runs = sort_into_runs(list_.tasks, task_levels_);
        list_.corrected_runs = sort_into_runs(list_.corrected, corrected_levels_);
        sort_reads();
        sort_parts();
        return std::move(list_);
    }

  private:
    static constexpr double kOne = 1;

    const std::vector<int>& levels(const Block& block) {
        if (&block != block_) levels_ = levels_of(block), block_ = &block;
        return levels_;
    }

    void add(int row, const double* value, const double* factor, int stride) {
        part_rows_.push_back(row);
        list_.parts.push_back({value, *factor, stride});
        list_.factors.push_back(factor);
    }

    void sort_reads() {
        const auto order = sorted_by(read_kinds_);
        list_.reads = in_order(list_.reads, order);
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k == 0 || read_kinds_[order[k]] != read_kinds_[order[k - 1]]) {
                const auto& [derivative, ahead, step, sign] = read_kinds_[order[k]];
                list_.read_runs.push_back({derivative, ahead, step, sign, int(k), int(k)});
            }
            ++list_.read_runs.back().last;
        }
    }

    void sort_parts() {
        const auto order = sorted_by(part_rows_);
        list_.parts = in_order(list_.parts, order);
        list_.factors = in_order(list_.factors, order);
        for (std::size_t k = 0; k < order.size(); ++k) {
            if (k == 0 || part_rows_[order[k]] != part_rows_[order[k - 1]])
                list_.sums.push_back({list_.parts.data() + k, part_rows_[order[k]]});
            ++list_.sums.back().last;
        }
    }

    List list_;
    std::vector<std::tuple<int, int, int, int>> read_kinds_;  // order, ahead, step, sign
    std::vector<int> part_rows_;
    std::vector<int> task_levels_, corrected_levels_;
    const Block* block_ = nullptr;
    std::vector<int> levels_;
};

// Operations that stages k <= 0 draw from inputs, where constants that are added count.
std::vector<Drawn> drawn_at_once(const Block& block) {
    std::vector<Drawn> drawn = drawn_operations(block);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
        const Operation& op = block.operations[i];
        if (drawn[i].input < 0 || drawn[i].other >= 0) continue;
        drawn[i] = op.code == Code::shift ? Drawn{} : Drawn{op.a, op.b, op.code == Code::add ? 1 : -1};
    }
    return drawn;
}

void read_found(Lister& lister, const Block& block, const std::vector<Drawn>& drawn, int stage) {
    const auto in_rows = [&](int reg) {
        return std::any_of(block.terms.begin(), block.terms.end(), [&](const Term& term) { return term.reg == reg; });
    };
    const int count = input_count(block);
    for (int i = 0; i < count; ++i) {
        const Input& input = block.inputs[i];
        if (input.time || input.available >= kAlways || stage + input.available < 0) continue;
        if (in_rows(i) || has_readers(block, i, drawn)) lister.read(block, i, {i}, input.available);
    }
    for (std::size_t i = 0; i < drawn.size(); ++i)
        if (drawn[i].input >= 0 && stage + block.operations[i].lead >= 0)
            lister.read(block, count + int(i), drawn[i], block.operations[i].lead);
}

List evaluated(const std::vector<Block>& blocks, int stage) {
    Lister lister;
    for (const Block& block : blocks) {
        const std::vector<Drawn> drawn = drawn_at_once(block);
        read_found(lister, block, drawn, stage);
        for (std::size_t i = 0; i < block.operations.size(); ++i)
            if (drawn[i].input < 0 && stage + block.operations[i].lead >= 0) lister.evaluate(block, int(i), false);
        for (std::size_t o = 0; o < block.outputs.size(); ++o) {
            const int n = stage + block.outputs[o].lead;
            if (n >= 0) lister.sum(block, int(o), [](const Term&) { return true; }, n == 0 ? block.outputs[o].constant : -1);
        }
    }
    return lister.done();
}

// A coefficient of degree 0 is computed again; one beyond is linear in what was found at its degree.
List finished(const std::vector<Block>& blocks, int stage) {
    Lister lister;
    for (const Block& block : blocks) {
        const std::vector<Drawn> drawn = drawn_at_once(block);
        read_found(lister, block, drawn, stage);
        for (std::size_t i = 0; i < block.operations.size(); ++i) {
            const Operation& op = block.operations[i];
            if (drawn[i].input < 0 && stage + op.lead == 0 && (op.hot || op.extra >= 0)) lister.evaluate(block, int(i), false);
        }
        for (int i : block.corrected)
            if (drawn[i].input < 0 && stage + block.operations[i].lead > 0) lister.correct(block, i);
    }
    return lister.done();
}

bool is_moving(const Block& block, const Term& term) { return !term.silent && !block.is_constant(term.reg); }

List predicted(const std::vector<Block*>& working) {
    Lister lister;
    for (const Block* block : working) {
        for (int reg : block->cleared) lister.clear(*block, reg);
        for (int i : block->predicted) lister.evaluate(*block, i, true);
        const auto told = [&](const Term& term) { return is_moving(*block, term); };
        for (std::size_t o = 0; o < block->outputs.size(); ++o) lister.sum(*block, int(o), told, -1);
    }
    return lister.done();
}

// `all`: of all blocks all series are read by others.
List corrected(const std::vector<Block*>& working, bool all) {
    Lister lister;
    for (const Block* block : working) {
        const bool whole = all || block->whole;
        const auto drawn = whole ? std::vector<Drawn>(block->operations.size()) : drawn_operations(*block);
        const auto in_rows = [&](int reg) {
            return std::any_of(block->terms.begin(), block->terms.end(),
                               [&](const Term& term) { return term.reg == reg && is_moving(*block, term); });
        };
        for (int i : block->read)
            if (!block->is_constant(i) && (whole || in_rows(i) || has_readers(*block, i, drawn)))
                lister.read(*block, i, {i}, block->inputs[i].available);
        for (int i : block->corrected) {
            if (drawn[i].input < 0)
                lister.correct(*block, i);
            else
                lister.read(*block, input_count(*block) + i, drawn[i], block->operations[i].lead);
        }
    }
    return lister.done();
}

List of_matrix(const std::vector<Block>& blocks) {
    Lister lister;
    for (const Block& block : blocks) {
        for (int i = 0; i < input_count(block); ++i)
            if (!block.inputs[i].time) lister.read(block, i, {i}, 0);
        for (std::size_t i = 0; i < block.operations.size(); ++i) lister.evaluate(block, int(i), false);
        for (std::size_t o = 0; o < block.outputs.size(); ++o)
            lister.sum(block, int(o), [](const Term&) { return true; }, -1);
    }
    return lister.done();
}

}  // namespace

void Stages::list(const std::vector<Block>& blocks, const std::vector<Block*>& working, const std::vector<Block>& matrix,
                  int first, bool whole) {
    std::vector<Listed> now = {{nullptr, 0, whole}};
    for (const Block& block : blocks) now.push_back({&block, block.read.size(), block.corrected.size()});
    for (const Block* block : working) now.push_back({block, 0, block->whole});
    if (now == listed_) return;
    listed_ = std::move(now);
    first_ = first;
    evaluated_.clear(), finished_.clear();
    for (int stage = first; stage <= 0; ++stage) {
        evaluated_.push_back(evaluated(blocks, stage));
        finished_.push_back(finished(blocks, stage));
    }
    predicted_ = predicted(working);
    corrected_ = corrected(working, whole);
    matrix_ = of_matrix(matrix);
}

void Stages::tune() {
    std::vector<List*> lists = {&predicted_, &matrix_};
    for (List& list : evaluated_) lists.push_back(&list);
    for (List* list : lists)
        for (std::size_t i = 0; i < list->parts.size(); ++i) list->parts[i].factor = *list->factors[i];
}

void Stages::evaluate(int stage, const Coefficients& x, const double* row_factors, double* residual) const {
    const List& list = evaluated_[stage - first_];
    take_found(list, stage, x, false);
    mechsim::evaluate(list, stage);
    sum_rows(list, stage, row_factors, residual);
}

void Stages::finish(int stage, const Coefficients& x) const {
    const List& list = finished_[stage - first_];
    take_found(list, stage, x, true);
    mechsim::evaluate(list, stage);
}

void Stages::predict(int stage, const double* row_factors, double* residual) const {
    mechsim::evaluate(predicted_, stage);
    sum_rows(predicted_, stage, row_factors, residual);
}

void Stages::correct(int stage, const Coefficients& x) const { take_found(corrected_, stage, x, false); }

void Stages::fill(const Coefficients& x, const double* constant, double* entries) const {
    take_found(matrix_, 0, x, false);
    mechsim::evaluate(matrix_, 0);
    sum_entries(matrix_, constant, entries);
}

}  // namespace mechsim

#include "guard.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mechsim {

namespace {

bool within(int value, int first, int end) { return value >= first && value < end; }

bool all_within(const std::vector<int>& values, int first, int end) {
    return std::all_of(values.begin(), values.end(), [&](int value) { return within(value, first, end); });
}

// Where a lead or an input would take a register: not before its first coefficient, nor behind its last.
// Of the matrix there is one coefficient.
void check_leads(const Block& block, int largest_offset, bool matrix) {
    for (const Input& input : block.inputs) {
        require(within(input.order, 0, 3), "an input is a derivative of order 0, 1 or 2");
        const bool always = input.available == kAlways && !input.hot;
        require(always || within(input.available, -1, largest_offset + 1 - input.order), "an input is found too early or too late");
    }
    const int end = matrix ? 1 : largest_offset + 1;
    for (const Operation& op : block.operations)
        require(within(op.lead, 0, end) && !(matrix && op.ahead()), "an operation runs too far ahead or behind");
    for (const Output& output : block.outputs) require(within(output.lead, 0, end), "a row runs too far ahead or behind");
}

bool has_second(Code code) {
    return code == Code::add || code == Code::subtract || code == Code::multiply || code == Code::divide ||
           code == Code::function;
}

bool has_constant(const Operation& op) {
    return op.code == Code::ratio || op.code == Code::scale || op.code == Code::shift ||
           (op.code == Code::function && op.function == Function::power);
}

void check_operations(const Block& block) {
    const int inputs = int(block.inputs.size()), registers = inputs + int(block.operations.size());
    int own = inputs;
    for (const Operation& op : block.operations) {
        require(within(int(op.code), 0, int(Code::rate) + 1), "there is no such operation");
        const bool apart = op.code != Code::total || (!block.motions && !block.watched && block.lanes % kWidth == 0);
        require(apart, "components are lanes of one motion, a vector for each instance");
        const int ahead = op.a < 0 || op.a >= own ? 0 : op.a < inputs ? block.inputs[op.a].available : block.operations[op.a - inputs].lead;
        require(op.code != Code::rate || (!block.motions && !block.watched && ahead > op.lead), "a rate is of what runs ahead");
        require(within(int(op.function), 0, int(Function::zero) + 1), "there is no such function");
        // A slope may come after the function that integrates it.
        const int end = op.code == Code::function ? registers : own;
        require(within(op.a, 0, own), "an operand comes before its operation");
        require(within(op.b, has_second(op.code) ? 0 : -1, end), "an operation lacks its second operand");
        require(within(op.constant, has_constant(op) ? 0 : -1, block.constant_count), "an operation lacks its constant");
        const bool arctangent = op.code == Code::function && op.function == Function::atan2;
        require(within(op.extra, arctangent ? 0 : -1, registers), "an operation lacks its third operand");
        ++own;
    }
    for (const Output& output : block.outputs) {
        require(within(output.constant, -1, block.constant_count), "a row lacks its constant");
        const bool some = output.first_term < output.last_term;
        require(!some || (output.first_term >= 0 && output.last_term <= int(block.terms.size())), "a row lacks its terms");
    }
    for (const Term& term : block.terms)
        require(within(term.reg, 0, registers) && within(term.constant, 0, block.constant_count),
                "a term is of a register and a constant");
}

}  // namespace

void require(bool fits, const char* what) {
    if (!fits) throw std::invalid_argument(std::string("the plan does not fit the kernel: ") + what);
}

void check_plan(int size, const std::vector<int>& equation_offsets, const std::vector<int>& variable_offsets,
                const std::vector<double>& scales, const std::vector<int>& rows, const std::vector<int>& columns,
                const std::vector<double>& matrix, const std::vector<int>& spare, int redundant, int order) {
    const std::size_t count = std::size_t(std::max(size, 0));
    require(size >= 0 && equation_offsets.size() == count && variable_offsets.size() == count && scales.size() == count,
            "offsets and scales are those of all unknowns");
    require(all_within(equation_offsets, 0, kMostOffsets) && all_within(variable_offsets, 0, kMostOffsets),
            "it differentiates too often");
    require(within(order, 1, kMostDegrees), "the order is beyond what its tables hold");
    check_pattern(size, rows, columns, matrix.size());
    require(all_within(spare, 0, size), "a row that may rest is not there");
    require(within(redundant, 0, int(spare.size()) + 1), "more rows rest than may");
}

void check_block(const Block& block, const March& march, int no_row, bool matrix) {
    require(no_row == (matrix ? int(march.entry_count()) : march.size()), "results without a place have one of their own");
    const int width = march.size() + int(march.constant_count());
    for (std::size_t i = 0; i < block.inputs.size(); ++i)
        for (int l = 0; l < block.stride && !block.inputs[i].time; ++l)
            require(within(block.unknowns[i * block.stride + l], 0, width), "an input is no unknown and no constant");
    require(all_within(block.rows, 0, no_row + 1), "a result has no place");
    check_leads(block, march.largest_offset(), matrix);
    check_operations(block);
}

void check_pattern(int size, const std::vector<int>& rows, const std::vector<int>& columns, std::size_t values) {
    require(size >= 0 && rows.size() == columns.size() && rows.size() == values, "entries have a row, a column and a value");
    require(all_within(rows, 0, size) && all_within(columns, 0, size), "an entry lies outside of the matrix");
}

}  // namespace mechsim

// What comes from Python is checked once, when it comes: no table may lead the kernel out of its memory.
#pragma once

#include <vector>

#include "march.hpp"

namespace mechsim {

// Throws std::invalid_argument, which Python sees as ValueError.
void require(bool fits, const char* what);

void check_plan(int size, const std::vector<int>& equation_offsets, const std::vector<int>& variable_offsets,
                const std::vector<double>& scales, const std::vector<int>& rows, const std::vector<int>& columns,
                const std::vector<double>& matrix, const std::vector<int>& spare, int redundant, int order);

// A block of rows, or of entries of the matrix, for this march.
void check_block(const Block& block, const March& march, int no_row, bool matrix);

void check_pattern(int size, const std::vector<int>& rows, const std::vector<int>& columns, std::size_t values);

}  // namespace mechsim

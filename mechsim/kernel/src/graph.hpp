// Graphs of the structure: which equation is matched with which variable, and which must be solved together.
#pragma once

#include <vector>

namespace mechsim {

// Entries of a sparse square matrix, row by row.
struct Pattern {
    std::vector<int> first;   // of each row, and one beyond the last
    std::vector<int> column;  // of each entry
    std::vector<int> value;

    Pattern(int size, const std::vector<int>& rows, const std::vector<int>& columns, const std::vector<int>& values);
    int size() const { return int(first.size()) - 1; }
};

// The column of each row in a transversal of highest total value; -1 for rows that find none. As many are matched as
// can be, so rows are left over only where no transversal is complete.
std::vector<int> transversal(const Pattern& pattern);

// The strong component of each node of "row leads to column"; one is numbered after all that it leads to.
std::vector<int> strong_components(const Pattern& pattern);

}  // namespace mechsim

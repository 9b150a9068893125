// Sparse LU of many matrices of one pattern, side by side in SIMD lanes, by one pivot sequence (lu.hpp chose it).
#pragma once

#include <vector>

#include "block.hpp"
#include "lu.hpp"

namespace mechsim {

// What is recorded of the pivots, and the factors; all places and indices count doubles.
struct LaneFactors {
    struct Pivot {
        int row, column;
        int u_first, u_last, l_first, l_last;
    };
    struct Entry {
        int place, index;  // of its lanes in `values`; of the column (of U) or the row (of L) in a right-hand side
    };
    std::vector<Pivot> pivots;
    std::vector<Entry> u, l;  // in the order in which a solve reads them, and so are their places
    std::vector<Entry> below;     // L once more, by rows in the order of their pivots: a solve sums each row in registers
    std::vector<int> below_last;  // behind the last of each row; their index is that of the pivot in `work`
    std::vector<int> targets;
    AlignedDoubles values, work;  // the inverse of pivot p is at place p
    AlignedDoubles growth, scales, inverse_scales;  // per lane; per column and lane
};

class LaneLU {
  public:
    // The pivots of `like`, which has factored a matrix of this kind.
    LaneLU(const SparseLU& like, int width);

    // The numbers by which growth in a lane is measured (SparseLU::column_scales).
    void set_scales(int lane, const std::vector<double>& column_scales);
    // Factor matrices (entry, lane). Each lane has its own growth.
    void factor(const double* matrix);
    // Solve in place: b (row, lane) becomes the solutions (column, lane).
    void solve(double* b);
    // The same for one lane alone: b has one number per row.
    void solve(double* b, int lane) const;
    // Of scaled entries of U, per lane; infinite where a pivot is none.
    const AlignedDoubles& growth() const { return factors_.growth; }

  private:
    int width_;
    std::vector<int> places_;  // of each entry of the matrix
    LaneFactors factors_;
};

}  // namespace mechsim

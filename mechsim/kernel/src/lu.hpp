// Sparse LU with a pivot sequence that is chosen once and reused (DESIGN 4, Factorization).
//
// Choosing follows Markowitz with a threshold test on column-scaled values (Duff, Erisman, Reid, Direct Methods for
// Sparse Matrices, chapter 7); reusing runs a recorded list of updates. Factors are L (with pivots) and unit U.
#pragma once

#include <vector>

#include "lanes.hpp"

namespace mechsim {

class SparseLU {
  public:
    SparseLU(int size, std::vector<int> rows, std::vector<int> columns);

    // Factor; chooses pivots when there are none yet or the old ones let values grow. False when singular.
    bool factor(const double* values);
    // A pivot sequence is reused while scaled entries of U stay below this: 100 loses two digits.
    void allow_growth(double limit) { growth_limit_ = limit; }
    // Solve in place: b becomes the solution.
    void solve(double* b);
    // The same for many right-hand sides at once: `b` has `vectors` vectors per row, aligned as Lanes are.
    void solve_many(double* b, int vectors);
    // Of these rows, the `count` that depend most on all others: what is left of them after the others are eliminated is
    // least, beside what they were.
    std::vector<int> weakest(const double* values, const std::vector<int>& rows, int count) const;
    // Choose pivots anew when a matrix is factored next.
    void forget() { pivots_.clear(); }

    const std::vector<int>& rows() const { return rows_; }
    const std::vector<int>& columns() const { return columns_; }
    int analyses() const { return analyses_; }
    int fill() const { return int(values_.size()); }
    // Pivots and factors, all that is not of the pattern.
    template <class Archive>
    void transfer(Archive& archive) {
        archive(analyses_), archive(pivots_), archive(u_), archive(l_), archive(u_solve_), archive(l_solve_);
        archive(targets_), archive(l_rows_), archive(l_slots_), archive(values_), archive(inverse_);
    }

  private:
    struct Pivot {
        int row, column, slot;
        int u_first, u_last;  // entries right of the pivot, in u_
        int l_first, l_last;  // entries below it, in l_
        int target;           // first update target, row by row of l_
    };
    struct Entry {
        int slot, index;
        double weight;  // for U: how much a scaled entry weighs against its pivot
    };

    struct Factor {
        double value;
        int index;
    };

    struct Elimination;
    bool analyse(const double* values);
    template <int Width>
    void solve_vectors(Lanes* b, Lanes* y, int given) const;
    void collect_rows();
    double eliminate(const double* values);  // returns the growth of scaled entries of U

    int size_, analyses_ = 0;
    double growth_limit_ = 1e2;
    std::vector<int> rows_, columns_;
    std::vector<Pivot> pivots_;
    std::vector<Entry> u_, l_;
    std::vector<Factor> u_solve_, l_solve_;  // u_ by columns of the matrix; l_ by rows, in the order of pivots,
    std::vector<int> l_rows_, l_slots_;      // where each row begins there, and the slot of each entry
    std::vector<int> targets_;
    std::vector<double> values_, inverse_, work_;
    std::vector<double> many_;  // work of solve_many, a vector more than needed to align it
};

}  // namespace mechsim

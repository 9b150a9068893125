// Sparse LU with a pivot sequence that is chosen once and reused (DESIGN 4, Factorization).
//
// Choosing follows Markowitz with a threshold test on column-scaled values (Duff, Erisman, Reid, Direct Methods for
// Sparse Matrices, chapter 7); reusing runs a recorded list of updates. Factors are L (with pivots) and unit U.
#pragma once

#include <vector>

#include "block.hpp"

namespace mechsim {

// A sequence of pivots, and the factors it gives.
struct Factors {
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
    // The factors once more, as a solve reads them: rows in the order in which they are substituted, of a right-hand side (L)
    // or of the solution (U), and how many of the entries that follow each other are theirs.
    struct Row {
        int number, count;
    };
    struct Triangle {
        std::vector<Row> rows;
        std::vector<Factor> entries;
        std::vector<int> slots;  // of entries
        template <class Archive>
        void transfer(Archive& archive) {
            archive(rows), archive(entries), archive(slots);
        }
    };
    std::vector<Pivot> pivots_;
    std::vector<Entry> u_, l_;
    Triangle lower_, upper_;
    std::vector<int> targets_;
    std::vector<double> values_, inverse_;  // of entries; one over each pivot

    // Row and column of each pivot.
    std::vector<int> pivots() const;
    template <class Archive>
    void transfer(Archive& archive) {
        archive(pivots_), archive(u_), archive(l_), lower_.transfer(archive), upper_.transfer(archive);
        archive(targets_), archive(values_), archive(inverse_);
    }
};

class SparseLU : private Factors {
  public:
    SparseLU(int size, std::vector<int> rows, std::vector<int> columns);

    // Factor; chooses pivots when there are none yet or the old ones let values grow. False when singular.
    bool factor(const double* values);
    // A pivot sequence is reused while scaled entries of U stay below this: 100 loses two digits.
    void allow_growth(double limit) { growth_limit_ = limit; }
    // What adds up to each inertia on the diagonal: one that is much less is a rounding.
    void weigh(std::vector<double> weights) { weights_ = std::move(weights); }
    bool is_weighed() const { return !weights_.empty(); }
    // Solve in place: b becomes the solution, and is returned.
    const double* solve(double* b);
    // The same where solves are many: small matrices are inverted, which is quicker by a factor, and rounds more where a
    // matrix is nearly singular or forces balance. `b` is aligned as Lanes are and goes on with zeros up to a whole vector.
    // The solution stands in it or elsewhere, until the next solve.
    const double* solve_often(double* b);
    // The same for many right-hand sides at once: `b` has `vectors` vectors per row, aligned as Lanes are.
    void solve_many(double* b, int vectors);
    // Of these rows, the `count` that depend most on all others: what is left of them after the others are eliminated is
    // least, beside what they were.
    std::vector<int> weakest(const double* values, const std::vector<int>& rows, int count) const;
    // By which numbers columns can be compared across units: the inverse of their largest entries, rows being scaled too.
    std::vector<double> column_scales(const double* values) const;
    // How much entries of U grow, scaled by such numbers, if these values are factored by the pivots chosen last.
    double growth(const double* values, const std::vector<double>& column_scales);
    using Factors::pivots;
    // Choose pivots now, and first among entries that are `steady`: those of other matrices are the same. False if there are none.
    bool choose(const double* values, const std::vector<char>& steady) { return analyse(values, steady); }
    // Entries of the factors, which a solve reads.
    std::size_t factor_count() const { return u_.size() + l_.size(); }
    // The next matrix is another one (other rows rest): find pivots for it, among those that served others or anew.
    void set_aside();

    const std::vector<int>& rows() const { return rows_; }
    const std::vector<int>& columns() const { return columns_; }
    int analyses() const { return analyses_; }
    int fill() const { return int(values_.size()); }
    // Pivots and factors, all that is not of the pattern.
    template <class Archive>
    void transfer(Archive& archive) {
        std::size_t count = known_.size();
        archive(analyses_), archive(weights_), Factors::transfer(archive), archive(count);
        known_.resize(count);
        for (Factors& each : known_) each.transfer(archive);
        inverted_ = false;
    }

  private:
    friend class LaneLU;  // which runs the same pivots
    struct Elimination;
    bool recall(const double* values);
    bool analyse(const double* values, const std::vector<char>& steady = {});
    void list_rows();
    double eliminate(const double* values);  // returns the growth of scaled entries of U
    void invert();

    int size_, analyses_ = 0;
    double growth_limit_ = 1e2;
    std::vector<int> rows_, columns_;
    std::vector<Factors> known_;  // other sequences of pivots, the last one used first
    std::vector<double> weights_;
    AlignedDoubles work_;          // of a solve
    AlignedDoubles inverse_rows_;  // of the matrix, ...
    bool inverted_ = false;        // ... unless it has changed since
};

// What a solve does (lu_solve.cpp): b becomes the solution, by way of `work`, which has as much room.
void substitute(const Factors& factors, double* b, double* work);
void substitute_many(const Factors& factors, Lanes* b, Lanes* work, int vectors);
// The inverse of a matrix of at most kSmall rows, by way of `work`, which has as much room; and its product with b
// (lu_inverse.cpp). Rows are whole vectors, and there are as many as in whole vectors.
constexpr int kSmall = 32;
void invert_small(const Factors& factors, Lanes* work, Lanes* rows);
void multiply_small(const Lanes* rows, int vectors, const Lanes* b, Lanes* found);

}  // namespace mechsim

// Series of all motions of a fleet, stage by stage: the operations of all blocks in one list, with their rows.
#pragma once

#include <vector>

#include "block.hpp"

namespace mechsim {

class FleetSeries {
  public:
    // Blocks of motions that have memory and stay where they are; unknowns beyond `size` are constants.
    void list(const std::vector<Block>& blocks, int size);

    // Right-hand sides (row, lane) of a stage k >= 1, when what it will find counts as zero; rows have a factor each.
    void predict(int stage, const std::vector<double>& row_factors, double* right_sides) const;
    // What the stage has found, (unknown, lane), times a factor each, becomes coefficients k + offset of the unknowns, and
    // the operations whose history is read are told.
    void correct(int stage, const std::vector<double>& unknown_factors, const std::vector<int>& offsets,
                 const double* found, Coefficients& x) const;

  private:
    struct Cleared {
        Lanes* row;  // of coefficient 0
        int lead;
    };
    // A product that only rows read: its coefficients need not be kept, and one place serves all.
    struct Product {
        Task task;
        const Lanes* series;
        Lanes* value;
    };
    struct Part {
        const Lanes *values, *factor;
        int lead, stride;  // vectors between coefficients: none where there is only the last
    };
    struct Sum {
        int row, first, last;  // of its parts
    };
    struct Read {
        int unknown, other, sign;  // -1: there is none
        int order, available;
        Lanes *row, *change;  // a change that no operation reads is not written
    };
    template <int Step>
    void predict_rows(int stage, const double* row_factors, double* right_sides) const;
    template <int Step>
    void correct_rows(int stage, const double* unknown_factors, const int* offsets, const double* found,
                      Coefficients& x) const;
    static void predict_lanes(const FleetSeries& series, int stage, const double* row_factors, double* right_sides);
    static void correct_lanes(const FleetSeries& series, int stage, const double* unknown_factors, const int* offsets,
                              const double* found, Coefficients& x);

    int size_ = 0, step_ = 0;
    std::vector<Task> predicted_;
    std::vector<Operation> corrected_;
    std::vector<Product> products_;
    AlignedDoubles places_;  // of products
    std::vector<Cleared> cleared_;
    std::vector<Part> parts_;
    std::vector<Sum> sums_;   // one for each row
    std::vector<Read> reads_;
};

// By how much each coefficient m <= offset of one unknown changes over h, from its coefficients below `degrees`. The sums
// are rows for m = 0, 1, ...; there is room for kMostOffsets.
void sum_series(const Coefficients& polynomial, int offset, int degrees, std::size_t place, int step, const double* h,
                double* sums);

}  // namespace mechsim

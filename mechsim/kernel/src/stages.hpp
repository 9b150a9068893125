// What the stages of one motion do, written out: the operations of all blocks in lists, those of one kind side by side, with
// the places of all that they read and write. (Of many motions: fleet_series.hpp and block_stages.cpp.)
#pragma once

#include <vector>

#include "block.hpp"

namespace mechsim {

class Stages {
  public:
    // Blocks that have memory and stay where they are: all take part in stages k <= 0, `working` ones beyond, and others make
    // the matrix. `first` is the first stage; `whole` tells that all series are read by others. Nothing is done where this is
    // what was listed before.
    void list(const std::vector<Block>& blocks, const std::vector<Block*>& working, const std::vector<Block>& matrix, int first,
              bool whole);

    // Factors of rows have changed.
    void tune();

    // At a stage k <= 0: read its unknowns and compute every operation's coefficient; residuals of active rows, times a factor
    // each, are written.
    void evaluate(int stage, const Coefficients& x, const double* row_factors, double* residual) const;
    // ... and after a solve there: the series of all operations are those of what was found.
    void finish(int stage, const Coefficients& x) const;
    // At a stage k >= 1: the same before its solve, when what it will find counts as zero, ...
    void predict(int stage, const double* row_factors, double* residual) const;
    // ... and after it: tell the operations whose history is read what was found.
    void correct(int stage, const Coefficients& x) const;
    // Entries of the matrix that change, with what of them does not.
    void fill(const Coefficients& x, const double* constant, double* entries) const;

    // Places are those at stage 0, from which rows are `step` vectors further on with each stage.
    struct Cleared {
        Lanes* row;
        int step;
    };
    struct Read {
        Lanes *row, *change;
        int unknowns[kWidth], others[kWidth];
    };
    struct ReadRun {  // of one derivative of unknowns, and one degree at stage 0
        int order, ahead, step;
        int sign;  // of the others; 0: there are none
        int first, last;
        bool operator==(const ReadRun&) const = default;
    };
    struct Run {  // of one kind of operation
        Code code;
        int step, first, last;
    };
    struct Part {
        const double* value;
        double factor;
        int stride;
    };
    struct Sum {
        const Part* last;  // behind its parts, of which there is one at least; they follow each other
        int row;
    };
    // One after the other: unknowns are read, operations that know what was found are corrected, others are evaluated, rows
    // are summed.
    struct List {
        std::vector<Read> reads;
        std::vector<ReadRun> read_runs;
        std::vector<Operation> corrected;
        std::vector<Run> corrected_runs;
        std::vector<Cleared> cleared;
        std::vector<Task> tasks;
        std::vector<Run> task_runs;
        std::vector<Part> parts;
        std::vector<const double*> factors;  // where those of parts come from
        std::vector<Sum> sums;
    };

  private:
    struct Listed {  // what of a block was listed
        const Block* block;
        std::size_t read, corrected;
        bool operator==(const Listed&) const = default;
    };
    std::vector<Listed> listed_;
    int first_ = 0;
    std::vector<List> evaluated_, finished_;  // per stage k <= 0
    List predicted_, corrected_, matrix_;
};

// Read what a stage has found, and tell operations. What was evaluated before (`again`) is changed by it; else it was zero.
void take_found(const Stages::List& list, int stage, const Coefficients& x, bool again);
// Evaluate operations.
void evaluate(const Stages::List& list, int stage);
// Sum rows: times a factor each, or beside what is constant of each.
void sum_rows(const Stages::List& list, int stage, const double* factors, double* rows);
void sum_entries(const Stages::List& list, const double* constant, double* rows);

}  // namespace mechsim

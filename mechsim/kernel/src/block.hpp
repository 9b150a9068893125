// A block: one Taylor program over its lanes, with the schedule of kernel/schedule.py.
#pragma once

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "lanes.hpp"

namespace mechsim {

constexpr int kAlways = 1000;       // lead of what is known at every degree (ALWAYS in kernel/schedule.py)
constexpr int kMostDegrees = 128;   // of a series; an order beyond is refused
constexpr int kMostOffsets = 8;     // derivatives of an unknown that are part of the state, at most
constexpr int kMostMotions = 32;    // side by side in one block
constexpr int kMostVectors = kMostMotions / kWidth;

enum class Code : int { add, subtract, multiply, square, divide, ratio, root, scale, shift, function, total, rate };
enum class Function : int {
    exp, log, sin, cos, tan, sinh, cosh, tanh, asin, acos, atan, power, atan2, zero
};

// Value of a function at a point; `power` uses the constant, `atan2` the extra operand.
double value_of(Function f, double u, double constant, double extra);

struct Operation {
    Code code;
    int a, b, constant, extra;
    Function function;
    int lead;
    bool hot, silent, corrected;
    bool fresh_a = false, fresh_b = false;    // the operand's newest coefficient is found by the stage's solve
    bool absent_a = false, absent_b = false;  // ... and is zero before it, for every stage k >= 1
    // Where its rows are, once the block has memory: coefficient 0 of the result and the operands, the constant, and
    // the changes of a correction, zeros for what the stage does not find. What an operation does not have points to its
    // operand a.
    Lanes *w = nullptr, *a_row = nullptr, *b_row = nullptr, *constant_row = nullptr;
    Lanes *change = nullptr, *a_change = nullptr, *b_change = nullptr;
    int step = 0;  // vectors in a row
    bool is_linear() const {
        return code == Code::add || code == Code::subtract || code == Code::scale || code == Code::shift ||
               code == Code::total || code == Code::rate;
    }
    // How many degrees further on it reads its operand.
    int ahead() const { return code == Code::rate ? 1 : 0; }
    // Half of an arctangent: it has a slope, but no closed form of its own.
    bool is_integral() const {
        return code == Code::function && (function == Function::atan2 || function == Function::zero);
    }
};

// An operation as a stage does it: where all it reads and writes is at stage 0. At stage k what it makes is k rows further on,
// and so are its operand `a` and the factor v of a sum of products, which is read backwards; the factor u stays.
struct Task {
    Lanes* w;
    const Lanes *a, *u, *v;
    const Lanes *first, *constant, *extra;  // the divisor of a quotient or root, at degree 0
    int lead;         // the degree of what it makes
    int terms;        // ... and of products and functions the terms of the sum; of squares and roots the first factor
    int step, lanes;  // vectors in a row, and lanes that do not only pad
    Code code;
    Function function;
};

struct Input {
    int order;       // derivative of the unknown
    int available;   // how many degrees ahead of the stage it is found
    bool time, hot, read;
};

struct Term {
    int constant, reg;
    bool silent;
};

struct Output {
    int lead;
    int constant;
    int first_term, last_term;
};

// One contribution to a row at stages k >= 1: residual[row] += factor * series[offset + (stage + lead) * stride].
struct Contribution {
    int row, lead;
    std::size_t offset;
    double factor;
    std::size_t source;  // of the factor among the block's constants
    std::size_t first;   // offset + lead * stride
    bool last;           // of its row
};

struct AlignedFree {
    void operator()(double* p) const { std::free(p); }
};
using Aligned = std::unique_ptr<double[], AlignedFree>;
Aligned aligned_zeros(std::size_t count);
// How many lanes the rows of a block have, at least `lanes`: whole vectors, and rows do not crowd in the cache.
int stride_for(int lanes);

// For vectors that are read as Lanes.
template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class U>
    AlignedAllocator(const AlignedAllocator<U>&) {}
    T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64})); }
    void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
    bool operator==(const AlignedAllocator&) const { return true; }
};
using AlignedDoubles = std::vector<double, AlignedAllocator<double>>;

// What is looked at in a formula, whose series may not tell all (see inspect.hpp).
struct Watch {
    std::vector<int> operations;  // that are not linear, and count
    std::vector<int> registers;   // these and their operands
    std::vector<int> places;      // of each register among the former
    AlignedDoubles moments;       // 2 x stride: of the step, where values are compared ...
    AlignedDoubles values;        // ... registers x 2 x stride
    std::vector<double> peaks;    // operations x stride: the largest values so far
};

struct Block {
    int lanes = 0, stride = 0, degrees = 0, constant_count = 0;
    bool watched = false;  // a formula: see Watch
    bool whole = false;    // series of its outputs are read term by term, by events
    bool motions = false;  // lanes are motions of one instance, side by side also in unknowns and rows (fleet.hpp)
    std::vector<Input> inputs;
    std::vector<Operation> operations;
    std::vector<Task> tasks;    // the same, as stages k <= 0 do them
    std::vector<Output> outputs;
    std::vector<Term> terms;
    std::vector<int> unknowns;  // inputs x stride
    std::vector<int> rows;      // outputs x stride; `no_row`, which nobody reads, where there is none
    int no_row = -1;
    Aligned constants;          // constants x stride
    Aligned series;             // registers x degrees x stride
    Aligned delta;              // registers x stride, and a row of zeros
    Watch watch;
    std::vector<int> predicted, corrected;    // operations to run at a stage k >= 1, before and after its solve
    std::vector<int> read, cleared;           // inputs to read after the solve; registers to clear before it
    std::vector<Contribution> contributions;  // by row

    double* row(int reg, int degree) const { return series.get() + (std::size_t(reg) * degrees + degree) * stride; }
    double* change(int reg) const { return delta.get() + std::size_t(reg) * stride; }
    const double* constant(int index) const { return constants.get() + std::size_t(index) * stride; }
    // An input that has only a first coefficient.
    bool is_constant(int reg) const {
        return reg < int(inputs.size()) && !inputs[reg].time && inputs[reg].available >= kAlways;
    }
    void allocate(int degree_count);
    // An operation as stages k <= 0 do it, or as those beyond do before their solve (`predicting`): operands that are absent
    // count as zero and are not read.
    Task task(const Operation& operation, bool predicting) const;
    // Other constants, (constants, lanes). Lanes that only pad repeat the first one, so they compute nothing strange.
    void tune(const double* table);
    void silence();

  private:
    void make_watch();
};

// An operation that is an input beyond degree 0, or the sum or difference of two of one derivative: it is read from unknowns
// as inputs are.
struct Drawn {
    int input = -1;  // or it is none
    int other = -1, sign = 0;
};
// Of each operation; formulas are looked at by all of their registers, and keep them.
std::vector<Drawn> drawn_operations(const Block& block);
// Whether the coefficients of an input are read by operations that are not drawn.
bool has_readers(const Block& block, int input, const std::vector<Drawn>& drawn);

// Taylor coefficients of all unknowns: degree-major, `width` columns (unknowns, then constants of the mechanism).
struct Coefficients {
    int width = 0, degrees = 0;
    AlignedDoubles values;
    double* degree(int n) { return values.data() + std::size_t(n) * width; }
    const double* degree(int n) const { return values.data() + std::size_t(n) * width; }
};

// Of many motions, at a stage k <= 0: read the unknowns of this stage, compute every operation's coefficient, and add the
// block's contribution to the residual of every row that is active. The series of motions that are not in the mask stay as
// they are, bit by bit. (Of one motion: stages.hpp.)
void evaluate_stage(Block& block, const Coefficients& x, int stage, double* residual, const Mask* mask);
// ... and after a solve there: the series of all operations are those of what was found.
void finish_stage(Block& block, const Coefficients& x, int stage, const Mask* mask);
// After stage 0: add the sizes of all that the block adds to rows of offset 0.
void add_sizes(const Block& block, double* sizes);
// Of many motions, which have a time each: add the values of a Jacobian block to the matrix entries (`rows` are entries there).
void evaluate_matrix(Block& block, const Coefficients& x, const double* time, double* entries);
// The block of one instance over `width` motions, which have no constants yet.
Block of_motions(const Block& block, int instance, int width);

}  // namespace mechsim

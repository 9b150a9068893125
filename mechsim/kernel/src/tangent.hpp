// Tangents: first derivatives of a motion by its start and its parameters, in several directions at once (DESIGN 4).
//
// Every register of every block has, beside its series, the series of its changes (dual series). The series of the motion
// are known when those of the tangents are found, and the matrix of a stage is the same: a tangent is one more
// right-hand side. Rows hold the directions side by side, so that one coefficient of the motion meets all of them.
#pragma once

#include <cmath>
#include <vector>

#include "archive.hpp"
#include "block.hpp"
#include "inspect.hpp"

namespace mechsim {

class March;
struct Dual;
struct Touch;

// What an operation reads and writes for one lane and one or two vectors of directions: series of the motion, and of its
// changes; nullptr where nothing changes.
struct DualOperands {
    const double *w, *a, *b, *constant;
    Lanes* dw;
    const Lanes *da, *db, *dc;
    Lanes *change, *a_change, *b_change;
};

// The changes of a block: registers x lanes x degrees x directions.
struct DualBlock {
    // How a row reads a register before the solve of a stage k >= 1, or with `change` the change of its factor.
    struct Contribution {
        int row, lane, lead, reg, constant;
        bool of_register, of_factor;
    };
    struct Level {  // of an output, at degree 0
        int row, lane, lead, constant;
    };
    Block* block = nullptr;
    int directions = 0;               // padded to whole vectors
    Aligned series, delta;            // the latter registers x lanes x directions, changes by a solve
    Aligned constants;                // constants x lanes x directions
    std::vector<char> living;         // per constant: whether it changes in any direction
    std::vector<char> active, silent; // per register: whether it changes at all; is zero before a solve
    std::vector<int> predicted, corrected, read, cleared;
    std::vector<DualOperands> operands;  // operations x lanes x pairs of vectors
    std::vector<Contribution> contributions, all;  // at stages k >= 1, and k <= 0
    std::vector<Level> levels;
    std::vector<int> told_before, read_before;  // what the block itself told, and read, without tangents

    int pairs() const { return (directions / kWidth + 1) / 2; }
    std::size_t place(int reg, int lane, int degree) const {
        return ((std::size_t(reg) * block->lanes + lane) * block->degrees + degree) * directions;
    }
    Lanes* row(int reg, int lane, int degree) const {
        return reinterpret_cast<Lanes*>(series.get() + place(reg, lane, degree));
    }
    Lanes* change(int reg, int lane) const {
        return reinterpret_cast<Lanes*>(delta.get() + (std::size_t(reg) * block->lanes + lane) * directions);
    }
    Lanes* constant(int number, int lane) const {
        return reinterpret_cast<Lanes*>(constants.get() + (std::size_t(number) * block->lanes + lane) * directions);
    }
};

class Tangents {
  public:
    // `tables` are the changes of the constants of the march's blocks, one after the other, with the directions last.
    Tangents(March& march, int directions, const double* tables);
    ~Tangents();
    Tangents(const Tangents&) = delete;
    Tangents& operator=(const Tangents&) = delete;

    int directions() const { return count_; }
    // Changes of derivatives 0..d_j - 1 of every unknown, (orders, size, directions).
    void set_state(const double* derivatives);
    // Changes of the constants of the mechanism, (constants, directions); those of one that takes another value.
    void set_constants(const double* changes);
    void set_constant(int number, const double* changes);
    // Changes of the restitutions of all gaps, (gaps, directions), and of the shares of the load that frictions have while they
    // slide and stick, (frictions, 2, directions).
    void set_contact_numbers(const double* gaps, const double* frictions);

    // Bring the changes of the state on the linearised constraints where the march stands prepared, and find those of the
    // leading derivatives and multipliers. False where they are no numbers.
    bool prepare();
    // All coefficients, after those of the march.
    void expand();
    // The end of the step of this (signed) length, where the march stands prepared.
    bool arrive(double h);
    // Events (jump.cpp). Changes of the state are taken along the motion to where the event is beside it, jump there with what
    // meets, and are taken back along the motion as it goes on, which is prepared then. False where they are not known.
    bool come_to_event();
    bool jump(const Touch& touch);
    bool leave_event();
    // Why one of these is not known; empty where they are no numbers.
    const char* reason() const { return reason_; }
    void note_taken() { taken_ = true; }
    bool is_at_event() const { return at_event_; }
    // By how much the event comes later, in each direction.
    const std::vector<double>& late() const { return late_; }
    // The change of a term of an output, where the rows of stages k <= 0 are those of the state.
    void output_change(int block, int output, int lane, int degree, double* found) const;
    void limit_change(int friction, double sign, double* found) const;

    // Make the directions orthonormal where the march stands prepared, in the inner product of these weights of the state's
    // derivatives, (orders, size); they span what they did. Returns the logarithms of the lengths by which each is divided,
    // in turn (the diagonal of R). Unknowns without any weight are read by nothing (accounts), and begin anew.
    std::vector<double> orthonormalise(const double* weights);
    // The longest step over which the last two terms stay below the tolerance, relative to each direction's size in a
    // step of length h.
    double step_size(double h, int last);

    // What registers and constants of a block do within a step of length h, beside the size of each direction.
    Swing swing(std::size_t block, int lane, double h, int order);

    // Coefficient n of an unknown, `directions()` values; of the point, or of the last step.
    const double* coefficient(int n, int unknown) const { return x_.get() + (std::size_t(n) * width_ + unknown) * padded_; }
    void write_point();
    void write_step(bool begun, double h);
    // A meeting is a step without length; one that is met again replaces the last point.
    void write_meeting(bool again);

    // What was written since this was last asked: values and rates of each point, coefficients of each step.
    struct Record {
        bool keep_polynomials = false;
        std::vector<double> points, polynomials;
    };
    Record record;

    template <class Archive>
    void transfer(Archive& archive, int degrees) {
        int count = count_;
        archive(count);
        if (count != count_) throw std::invalid_argument("the bytes are those of a march with other tangents");
        archive.run(x_.get(), sizeof(double) * std::size_t(degrees) * width_ * padded_);
        archive(at_event_), archive(taken_);
        archive.run(late_.data(), sizeof(double) * late_.size());
        archive(cause_at_);
        archive.run(cause_.data(), sizeof(double) * cause_.size());
        set_late();
        ready_ = false;
    }
    // The series just expanded are those of the step that begins.
    void swap_series() { std::swap(x_, polynomial_); }
    void share_constants();
    // Which blocks take part in stages k >= 1, after those of the march were found.
    void find_working();

  private:
    struct Meeting;
    void move(double sign);
    void set_late();
    void rows_with(const std::vector<double>& leading, double factor, std::vector<double>& found);
    void matrix_changes(const std::vector<double>& leading, const std::vector<double>& still, std::vector<double>& found);
    void answer_changes(const std::vector<double>& changed, std::vector<double>& found);
    bool find_meeting(const Touch& touch, Meeting& found);
    bool refuse(const char* reason) { return reason_ = reason, false; }
    bool strikes_with_others(const Touch& touch, std::size_t i) const;
    bool strike(const Touch& touch, const Meeting& met, int direction, std::vector<Dual>& impulses, std::vector<Dual>& lost) const;
    void make_block(DualBlock& dual, const double*& table);
    void make_schedule(DualBlock& dual);
    void find_active(DualBlock& dual);
    void find_operands(DualBlock& dual);
    void read_constants(DualBlock& dual);
    void evaluate(int stage);
    void solve_rows(int stage);
    double correct(int stage);
    bool settle(int stage);
    void predict(double h);
    void measure(int offset, int last);
    double longest(int derivative, int last, double h) const;

    March& march_;
    int count_, padded_, width_, degrees_;
    std::vector<DualBlock> blocks_;
    std::vector<DualBlock*> working_;
    Aligned x_, polynomial_;  // degrees x width x directions
    Aligned residual_;        // one row more than unknowns, the trash row, and those of what is watched
    Aligned sizes_;           // degrees x directions: see measure
    std::vector<double> faintest_;  // of each direction: what is less is roundings
    std::vector<Lanes*> targets_;
    std::vector<double> late_;                            // by how much an event comes later, per direction
    std::vector<double> cause_;                           // the same of the latest event, which may throw switches,
    double cause_at_ = NAN;                               // and when that was
    std::vector<double> gap_numbers_, friction_numbers_;  // see set_contact_numbers
    const char* reason_ = "";
    bool taken_ = false;      // a contact that lasts, or what sticks, has taken directions since they were made orthonormal
    bool at_event_ = false;   // changes are those where the event is
    bool ready_ = false;      // the rows of stages k <= 0 are those of the state
};

}  // namespace mechsim

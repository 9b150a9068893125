// The march: Taylor expansion of a DAE by structure, projection, step control. See DESIGN 4.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "block.hpp"
#include "lu.hpp"

namespace mechsim {

enum class Status : int { reached, running, step_too_small, singular, not_finite, not_projected };

struct Control {
    int order = 0;             // p: stages 0..p-1
    double tolerance = 0;      // of the last terms, relative to each unknown's scale
    double safety = 0;         // of the step size
    double fixed_step = 0;     // > 0: no step control
    double rejection = 0;      // a step is redone when its projection moves further than this, relative to scales
    double largest_step = INFINITY;
};

struct Statistics {
    std::int64_t steps = 0, rejected = 0, factorizations = 0, analyses = 0;
    double largest_projection = 0;  // relative to scales
};

// What a march writes down, step by step.
struct Record {
    bool keep_polynomials = false;
    std::vector<double> t, x, v;             // per point: time, value and first derivative of every unknown
    std::vector<double> start, polynomials;  // per step: its first time, and its coefficients (degree-major)
};

class March {
  public:
    March(int size, std::vector<int> equation_offsets, std::vector<int> variable_offsets, std::vector<double> scales,
          std::vector<double> constants, std::vector<int> matrix_rows, std::vector<int> matrix_columns,
          std::vector<double> matrix_constant, Control control);
    March(const March&) = delete;
    March& operator=(const March&) = delete;
    void add_block(Block block) { blocks_.push_back(std::move(block)); }
    void add_matrix_block(Block block) { matrix_blocks_.push_back(std::move(block)); }
    void ready();

    // The state: derivatives 0..d_j - 1 of every unknown (`orders` rows of `size`), not yet consistent to rounding;
    // derivative d_j, where there is a row for it, is a first guess.
    void set_state(double t, const double* derivatives);
    // A constant of the mechanism takes another value from here on; the march goes on from the same state.
    void set_constant(int number, double value);
    // Project the state on all constraints and find the leading derivatives and multipliers.
    Status prepare();
    // All coefficients at a prepared state.
    void expand();
    // March towards `t_end`, at most `steps` steps or `seconds` of time.
    Status advance(double t_end, std::int64_t steps, double seconds, Record& record);

    double time() const { return t_; }
    int size() const { return size_; }
    int degrees() const { return degrees_; }
    int largest_offset() const { return largest_offset_; }
    const Coefficients& coefficients() const { return x_; }
    const Statistics& statistics() const { return statistics_; }
    double projected_distance() const { return distance_; }

  private:
    bool factor();
    void read_constants(Block& block) const;
    double solve_stage(int stage);
    void residual_of(int stage);
    bool settle(int stage);
    bool balanced() const;
    double step_size();
    double step_size(int derivative, double extent) const;
    double fastest(int degree) const;
    void predict(double h);
    void note_mismatch();
    double missed(double h) const;
    void write_point(Record& record) const;
    void set_time(double t);

    int size_, largest_offset_ = 0, degrees_ = 0;
    std::vector<int> c_, d_;
    std::vector<double> scales_, constants_, matrix_constant_, matrix_;
    Control control_;
    std::vector<Block> blocks_, matrix_blocks_;
    std::vector<Block*> working_;  // those that take part in stages k >= 1
    std::vector<std::vector<double>> equation_factors_, unknown_factors_;  // per stage: -(k + c)!/k!, k!/(k + d)!
    std::vector<std::vector<double>> binomials_;                          // n over m, per m
    std::vector<double> sum_;
    SparseLU lu_;
    Coefficients x_, polynomial_;
    std::vector<double> low_;       // what rounding took from the state, per derivative and unknown
    std::vector<double> residual_;  // one more than size: the trash row
    double t_ = 0, t_low_ = 0;
    double distance_ = 0, rounding_ = 0;  // how far the last projection moved, and how much of that rounding may be
    double change_[8] = {0}, extent_[8] = {0};  // per degree: the last correction of a stage, and what it corrected
    double mismatch_[8] = {0}, rough_ = 0;      // per offset: the first correction of stage 0; the largest, relative
    double peak_speed_ = 0;  // relative to scales
    bool prepared_ = false, continued_ = false;
    Statistics statistics_;
};

}  // namespace mechsim

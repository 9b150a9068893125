// The march: Taylor expansion of a DAE by structure, projection, step control. See DESIGN 4.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "archive.hpp"
#include "block.hpp"
#include "lu.hpp"
#include "pairs.hpp"
#include "stages.hpp"
#include "tangent.hpp"

namespace mechsim {

// hi + lo := hi + lo + value, exactly but for the last bits of lo (Knuth's two-sum).
inline void add_exactly(double& hi, double& lo, double value) {
    const double y = value + lo;
    const double sum = hi + y;
    const double part = sum - hi;
    lo = (hi - (sum - part)) + (y - part);
    hi = sum;
}

// A number in (-1, 1) of no special kind for each i.
inline double scatter(int i) { return std::cos(1.0 + 2.39996322972865332 * i); }

enum class Status : int {
    reached, running, step_too_small, singular, not_finite, not_projected, not_differentiable, endless, undecided, event,
    crowded, wedged, unwatched
};

struct Control {
    int order = 0;             // p: stages 0..p-1
    int careful_order = 0;     // of steps near singular poses, where it is lower
    double tolerance = 0;      // of the last terms, relative to each unknown's scale
    double safety = 0;         // of the step size
    double fixed_step = 0;     // > 0: no step control
    double settled = 0;        // what Newton's method may leave at a step's end, relative; 0: no more than rounding
    double rejection = 0;      // a step is redone when its projection moves further than this, relative to scales
};

struct Statistics {
    std::int64_t steps = 0, rejected = 0, factorizations = 0, analyses = 0;
    std::int64_t evaluations = 0;   // of all rows, at stages k <= 0
    double largest_projection = 0;  // relative to scales
};

// What a march writes down, step by step.
struct Record {
    bool keep_polynomials = false;
    std::vector<double> t, x, v;             // per point: time, value and first derivative of every unknown
    std::vector<double> start, polynomials;  // per step: its first time, and its coefficients (degree-major)
};

// A motion between two steps, with all of its past that the next one reads.
struct Carried {
    double t = 0, t_low = 0, peak_speed = 0, last_step = 0, longest = INFINITY;
    double earlier_leverage = 0;  // the largest, where the last step began
    std::vector<double> x, low;  // coefficients 0..largest offset of the unknowns; what rounding took from the state
    std::vector<double> peaks;   // of formulas (see Watch): operations x instances, one block after the other
    bool begun = false;          // its first point has been written down
    int retreats = 0;            // steps in a row that were shortened not to end near a singular pose
};

// How a row that is missed by 1 is met again: the largest change of each derivative, relative to scales.
using Changes = std::array<double, kMostOffsets>;
// How far these move the mechanism within a step of length h, as a share of its size and speed.
double moved_by(const Changes& largest, int largest_offset, double h, double speed);

// Whether leverage tells of a singular pose at about this distance, by what it was before the last step and is now.
bool tells_pose_at(double distance, double last_step, double before, double now);
// How far one is that leverage goes with, ahead or behind, if there is any; 0 or NaN before the first step.
double time_to_pose(double last_step, double before, double now);
// Whether one so far is neither within some steps of length h nor near by the speed.
bool is_clear_of_pose(double time, double h, double speed);

// What an impact with friction gives back: of the speed of its approach (Newton), of its impulse (Poisson), or of its work
// (Stronge). Without friction they are one; and those `together` are struck at once, by Newton's law.
enum class Law : int { newton, poisson, energetic, together };

// Entries of a row, and of its multiplier's column: what it measures, and what it pushes.
struct Direction {
    std::vector<int> gradient, pull;
};

// A gap h >= 0 is one row in two variants: closed it says h = 0 and its multiplier pushes, open its multiplier is zero and
// the row's series is the gap itself, on which events are found (events.cpp). The mode is a constant of the mechanism.
struct Gap : Direction {
    int row = 0, mode = 0;   // of its equation, and the constant that is 1 while it is closed
    double restitution = 0;  // e of the law, ...
    double slow = 0;         // ... but 0 where it closes more slowly
    Law law = Law::newton;
    double size = 1;         // a length beside which it is small or not
    int account = -1;        // the unknown that energy is taken from
    int block = -1, output = 0, lane = 0;  // where its series is
    int zeros = 0;       // so many of its terms are zero where the step begins, because it was left a moment ago
    double deepest = 0;  // the least it ever was, if negative
    double loaded = 0;   // the largest term of the load on it, in the last step in which there was one
    // A row that is lent to two outlines (pairs.hpp), for ways to touch of one sort: which has it now, or last had it.
    int pair = -1, sort = 0, way = -1;
    std::vector<int> constants;  // that say which
    bool is_lent() const { return pair < 0 || way >= 0; }
    bool shared = false;  // others could have borne what it did, or part of it
    bool bond = false;  // it holds both ways, and only an event of the user opens and closes it (bonds.cpp)
};

// Coulomb's friction, limited by the load on a gap or by a function of the state. Like a gap it is one row in two variants:
// sticking it says psi = 0, how fast it slides, and its multiplier is the force; else the row rests and its series is
// psi itself. What slides is pushed by a force of the equations, which knows the sense in which it slides as a constant (friction.cpp).
struct Friction : Direction {
    int row = 0;                           // of psi
    int mode = 0, sense = 0;               // the constants that are 1 while it sticks, and -1 or 1 while it slides
    int gap = -1;                          // whose load limits it, if that is not a function of the state
    double kinetic = 0, limit = 0;         // of the load: what rubs while it slides, and the most that it sticks with
    double size = 1;                       // a length: in a unit of time its slide is small or not beside that
    int account = -1;                      // the unknown that energy is taken from
    int limit_block = -1, limit_output = 0, limit_lane = 0;
    int block = -1, output = 0, lane = 0;  // where the series of psi is
    int zeros = 0;                         // so many terms of psi are zero where the step begins
    double loaded = 0;                     // as of a gap: of what it holds, or may
    bool shared = false;                   // others could have borne what it did, or part of it
};

// A function of the state that is watched: where it crosses zero the march stops, and says which it was.
struct Watcher {
    int block, output, lane;  // where its series is
    int direction;            // 1: upwards, -1: downwards, 0: either
    int mode;                 // the constant that is to be its sign, or -1: it decides a switch in the equations
    int side = 0;             // where it is; 0: not known yet
    bool crossed = false;     // here and now: it begins at zero
    double size = 0;          // the largest that it was
};

// What happened to one gap at one time, or to one friction (numbered behind all gaps; its `way` is its sense).
struct Happening {
    double t;
    int gap;
    double before, after, impulse, lost;  // its rate before and after, what pushed it, and the energy that is gone
    bool was_closed, is_closed;
    double way;  // to touch, of a pair
    bool limited = false;  // its law would have given energy, and ended before
};

struct Touch;   // what meets at one time (touch.hpp)
struct Stroke;

class March {
  public:
    March(int size, std::vector<int> equation_offsets, std::vector<int> variable_offsets, std::vector<double> scales,
          std::vector<double> constants, std::vector<int> matrix_rows, std::vector<int> matrix_columns,
          std::vector<double> matrix_constant, const std::vector<int>& spare, int redundant, Control control);
    March(const March&) = delete;
    March& operator=(const March&) = delete;
    void add_block(Block block) { blocks_.push_back(std::move(block)); }
    void add_matrix_block(Block block) { matrix_blocks_.push_back(std::move(block)); }
    // Rows that are gaps, with the numbers of their modes among the constants; before the march is ready.
    void add_gap(int row, int mode, Law law, int account);
    void add_friction(Friction friction);
    const std::vector<Friction>& frictions() const { return frictions_; }
    void tune_friction(int number, double kinetic, double limit, double size) {
        Friction& own = frictions_[number];
        own.kinetic = kinetic, own.limit = limit, own.size = size;
    }
    void tune_gap(int number, double restitution, double slow, double size) {
        Gap& own = gaps_[number];
        own.restitution = restitution, own.slow = slow, own.size = size;
    }
    const std::vector<Gap>& gaps() const { return gaps_; }
    void make_bond(int gap);
    Status attach(const std::vector<int>& bonds, std::vector<double>& told);
    // Two outlines, and the gaps that are lent to the ways in which they touch.
    void add_pair(Pair pair) { pairs_.push_back(std::move(pair)); }
    void lend_gap(int gap, int sort, std::vector<int> constants);
    double deepest(const Gap& gap) const { return gap.pair < 0 ? gap.deepest : std::min(gap.deepest, pairs_[gap.pair].deepest); }
    bool has_output(int block, int output, int lane) const {
        const bool known = block >= 0 && std::size_t(block) < blocks_.size() && output >= 0 && lane >= 0;
        return known && std::size_t(output) < blocks_[block].outputs.size() && lane < blocks_[block].lanes;
    }
    void add_watcher(int block, int output, int lane, int direction, int mode);
    int fired() const { return fired_; }
    // Whether that is a switch whose argument is on the other side since something jumped.
    bool is_thrown() const { return fired_ >= 0 && std::isinf(slope_); }
    std::vector<Happening> take_happenings() { return std::exchange(happenings_, {}); }
    // With tangents, by how much each of these came later beside the motion: (happenings, directions).
    std::vector<double> take_lates() { return std::exchange(lates_, {}); }
    void ready();
    // Other numbers for the same plan, before a state is set.
    void tune(const double* tables, std::vector<double> constants, std::vector<double> scales, std::vector<double> matrix);
    std::size_t table_size() const;
    std::size_t constant_count() const { return constants_.size(); }
    std::size_t entry_count() const { return matrix_constant_.size(); }

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
    int equation_offset(int row) const { return c_[row]; }
    int degrees() const { return degrees_; }
    int largest_offset() const { return largest_offset_; }
    const Coefficients& coefficients() const { return x_; }
    const Statistics& statistics() const { return statistics_; }
    double projected_distance() const { return distance_; }
    int offset(int unknown) const { return d_[unknown]; }
    // How far positions move when constraints are missed a little, over that.
    double leverage() { return note_leverage(), largest_leverage(); }
    // Derivatives of the motion, from its state on: see tangent.hpp for the arrays. None of them with no directions.
    void set_tangents(int directions, const double* state, const double* tables, const double* constants);
    Tangents* tangents() { return tangents_.get(); }
    std::size_t row_table_size() const;
    // Whether the last projection moved positions and velocities by no more than a step may be rejected for.
    bool is_close() const;
    bool is_still(double speed) const;
    // All that the march will read when it goes on, as bytes, for a march of the same plan and control.
    Bytes snapshot();
    void restore(const Bytes& bytes);
    // Go on with a motion that was carried so far by others, with the numbers of the plan as they are.
    void resume(const Carried& motion);
    Carried carried() const;

  private:
    friend class Tangents;
    friend class Fleet;  // many motions of the same plan
    void find_working();
    void list_stages();
    template <class Archive>
    void transfer(Archive& archive);
    void remember();
    void take_back_cut();
    void fill_matrix();
    void weigh();
    bool factor();
    void choose_rows();
    void find_gaps();
    bool reads(const Gap& gap, int number) const;
    bool is_closed(const Gap& gap) const { return !resting_[gap.row]; }
    void set_closed(const Gap& gap, bool closed);
    double output_term(int block, int output, int lane, int degree) const;
    double gap_term(const Gap& gap, int degree) const { return output_term(gap.block, gap.output, gap.lane, degree); }
    bool has_events() const { return !gaps_.empty() || !watchers_.empty() || !frictions_.empty(); }
    int first_of_motion(int from, int degree, double size, double h, const std::function<double(int)>& term) const;
    double next_crossing(double h, double before);
    using GapSeries = std::array<double, kMostDegrees>;
    void gap_series(const Gap& gap, double h, GapSeries& p, int& degree) const;
    double known_gaps(double h, double reach);
    double first_event(double h, double whole);
    double next_event(double h);
    double next_touch(double h, double first);
    double first_touch(int pair, int way, double h) const;
    int held(int pair, int way) const;
    int lend(int pair, int way);
    double size_of(int pair) const;
    double let_in(int pair) const;
    double slowest(double size) const;
    int degree_of_pairs() const { return last_ + 2; }  // coordinates of points are known so far
    double border_change(const std::vector<double>& changes) const;
    bool lend_touching(std::vector<char>& closed, bool begins);
    double known_pairs(double h);
    Status polish_event(double& h, double left, double t_end);
    double late_event(double h) const;
    Status meet();
    Status meet_gaps();
    std::vector<double> gap_values(int degree) const;
    struct Spare {
        int number, own;           // of the row, and of the entry of its multiplier in it
        std::vector<int> entries;  // all of the row's
    };
    bool strike(Touch& touch);
    Stroke stopping(const Touch& touch, const std::vector<double>& impulses) const;
    void event_change(std::vector<double>& change, double& slope) const;
    Touch taking_hold(const std::vector<int>& bonds, const std::vector<double>& rates, const std::vector<double>& impulses,
                      const std::vector<double>& w, const std::vector<std::vector<double>>& responses) const;
    bool strike_together(Touch& touch) const;
    std::vector<std::size_t> reached_by_impacts(const Touch& touch) const;
    void stay(Touch& touch) const;
    static bool approaches(const Touch& touch);
    bool settle_contacts(Touch& touch);
    void close_unpressed(Touch& touch, const std::function<double(std::size_t)>& unpressed) const;
    bool sticks(const Friction& friction) const { return !resting_[friction.row]; }
    double sense_of(const Friction& friction) const { return x_.degree(0)[size_ + friction.sense]; }
    double slide(const Friction& friction, int degree) const { return output_term(friction.block, friction.output, friction.lane, degree); }
    double limit_term(const Friction& friction, int degree) const;
    void set_rubbing(const Friction& friction, bool sticks, double sense);
    void hold_limit(const Friction& friction, double h, double sign, GapSeries& p) const;
    double next_slip(double h, double first);
    double late_friction() const;
    Spare make_spare(int row, Direction& direction) const;
    using Rubs = std::vector<std::pair<bool, double>>;  // per friction: whether it sticks, and the sense in which it slides
    Rubs stop_rubbing();
    void add_frictions(Touch& touch, const Rubs& before) const;
    void note_shared(const Touch& touch, const std::function<double(std::size_t)>& unpressed);
    double bounce(const Touch& touch, std::size_t gap) const;
    bool rub(Touch& touch, std::size_t gap, std::size_t tangent, double restitution) const;
    struct Rubbing;
    std::vector<Rubbing> rubbing(const Touch& touch, const std::vector<std::size_t>& held, bool forces) const;
    std::vector<double> bear(Touch& touch, const std::vector<std::size_t>& held, bool forces) const;
    bool find_responses(Touch& touch);
    bool fits_limits(Touch& touch) const;
    void write_meeting(Record& record);
    std::vector<double> response_to(const Direction& direction);
    std::vector<double> inertias() const;
    double free_response(const Direction& direction, const std::vector<double>& inertias) const;
    void for_each_held(const std::function<void(int, double)>& tell) const;
    int first_limit() const { return size_ + 1 + int(watchers_.size()); }  // behind all rows, those of limits of frictions
    double along(const Direction& direction, const double* change) const;
    void add_impulse(double impulse, const std::vector<double>& response);
    double known_watchers(double h);
    struct Exchange {
        int rests, acts;  // rows
        double part;      // that the second has in what the first repeats
    };
    Exchange best_exchange();
    bool exchange(const Exchange& rows);
    bool improve_choice();
    void rest_rows(int stage);
    void read_constants(Block& block) const;
    double solve_stage(int stage, std::array<double, kMostOffsets>& reference);
    void residual_of(int stage);
    double contraction(int stage, double moved, double previous) const;
    bool settle(int stage);
    bool balanced() const;
    void note_mismatch();
    void make_probe();
    void set_time(double t);

    double step_size();
    double step_size(int last);
    double step_size(int derivative, double allowed, int last) const;
    double largest_term(int offset, int degree) const;
    double fastest(int degree) const;
    struct Roundings {
        double size = 0, ratio = 0, distance = 0;  // of terms at distance `ratio`; of two terms; of the pole
    };
    Roundings largest_roundings() const;
    void leave_out_roundings();
    double inspected(double h, int direction);
    double response(int row, double h);

    Status take_step(double t_end);
    double end_of(double h) const;
    Status land(double h, double left, double t_end);
    Status land_well(double& h, double left, double t_end);
    Status arrive(double h, double t, double t_low);
    void predict(double h);
    bool agrees_inside(double h);
    bool ends_on_pose(double h, double left, double t_end);
    bool is_far(double h, double& off) const;
    bool outruns_time() const;
    double missed(double h) const;
    void note_leverage();
    void aim_probe();
    void find_chains();
    bool is_near_singular();
    double largest_leverage() const;
    void write_point(Record& record);
    void write_step(Record& record);
    bool is_written(double t_end) const;

    int size_, largest_offset_ = 0, degrees_ = 0;
    std::vector<int> c_, d_;
    std::vector<std::vector<int>> of_offset_;  // the unknowns of each offset
    struct Stretch {
        int first, last, offset;
    };
    std::vector<Stretch> stretches_;           // of unknowns that have one offset
    std::vector<int> chain_;                   // per unknown, the first of those that constraints and masses join it with
    std::vector<double> scales_, inverse_scales_, constants_, matrix_constant_, matrix_;
    Control control_;
    std::vector<Block> blocks_, matrix_blocks_;
    std::vector<char> idle_;       // blocks that have nothing to say now
    std::vector<Block*> working_;  // those that take part in stages k >= 1
    Stages stages_;                // what stages do with these, ...
    bool listed_ = false;          // ... unless that is not listed yet
    std::vector<std::vector<double>> equation_factors_, unknown_factors_;  // per stage: -(k + c)!/k!, k!/(k + d)!
    std::vector<std::vector<double>> binomials_;                          // n over m, per m
    AlignedDoubles step_lengths_, advances_;  // of a step, for all unknowns; per degree, by how much it changes them
    SparseLU lu_;
    // Constraints that are more than needed: of the `spare_` ones, `redundant_` rest at any time (see choose_rows).
    std::vector<Spare> spare_;
    std::vector<Spare> may_rest_;  // these, and gaps
    std::vector<Gap> gaps_;
    std::vector<Friction> frictions_;
    std::vector<Pair> pairs_;
    std::vector<Watcher> watchers_;
    std::vector<Happening> happenings_;
    std::vector<double> lates_;
    bool shaken_ = false;  // a constant of a closed gap has changed
    int fired_ = -1;               // the watcher that this step ends at
    double slope_ = 0;             // of it there
    int event_ = -1;               // the gap that this step ends at, because it closes, or because it opens (`releases_`)
    bool releases_ = false, met_ = false;
    bool crowded_ = false;         // more touches than there are rows for
    bool leaves_ = false;          // it opens because it comes to the end of an edge, ...
    Sight border_{};               // ... which this is
    double slips_ = 0;             // the sense in which a friction lets go there
    double liveliest_ = 0;         // the largest acceleration there was when gaps were met, of their sizes
    std::vector<std::pair<int, double>> let_go_;  // frictions that did at the time of the last meeting, and their senses
    double met_at_ = NAN;          // when gaps were met last, ...
    int meetings_ = 0;             // ... and how often at that time
    std::int64_t met_row_ = -1;    // the point of the record that tells how they were left
    bool unwritten_ = false;       // bonds took hold, and no record tells yet how they left it
    int redundant_ = 0;
    std::vector<char> resting_;  // per row
    bool chosen_ = false;
    Coefficients x_, polynomial_;
    std::vector<double> low_, low_before_;  // what rounding took from the state, per derivative and unknown
    AlignedDoubles residual_;  // one more than size: the trash row
    double t_ = 0, t_low_ = 0, t_before_ = 0, t_low_before_ = 0;
    double distance_ = 0, turned_ = 0;  // how far the last projection moved positions, and how much it changed velocities
    double extent_speed_ = 0;           // ... and the largest of these
    double stale_ = 0;                  // how much what the matrix depends on has moved since it was factored, relative
    int matrix_order_ = 0;              // the highest derivative of the state that the matrix depends on
    bool affine_ = true;                // it does not depend on what stage 0 finds
    double rounding_ = 0;               // how much of the former may be rounding
    std::array<double, kMostOffsets> change_{}, extent_{};  // per degree: the last correction of a stage, and of what
    std::array<double, kMostOffsets> mismatch_{};           // per offset: the first correction of stage 0 ...
    double rough_ = 0;                                      // ... and the largest, relative
    std::vector<int> constraints_;                    // rows that hold the state itself; each has the multiplier of its number
    std::vector<double> lengths_;                     // of their gradients
    std::vector<double> probe_, aim_, pull_;          // constraints missed a little; the part of it that was aimed ...
    std::vector<double> leverage_, leverage_before_;  // ... at what pulled most; how far that moves each unknown
    std::vector<double> answer_;                      // of all multipliers to one of a row that rests
    std::vector<double> chain_before_, chain_now_;    // the largest of each kinematic chain
    struct Responses {
        std::int64_t factorization = -1;
        Changes largest{};  // per derivative
    };
    std::vector<Responses> responses_;  // per row
    int last_ = 0;                      // the last stage that this step uses
    double allowed_ = 0;                // the error this step may have: the tolerance, or more where roundings are large
    Roundings roundings_;               // those of the step's last terms, where these are nothing else
    double earlier_leverage_ = 0;       // the largest, where the last step began
    int retreats_ = 0;                  // steps in a row that were shortened not to end near one
    double speed_ = 0;                  // what errors of velocities are compared with
    double peak_speed_ = 0;             // relative to scales
    double last_step_ = 0, longest_ = INFINITY;  // the step before, and what it lets the next one be
    bool prepared_ = false, continued_ = false, probed_ = false;
    bool expanded_ = false;          // the state's series are known to the order
    double goal_ = NAN;              // where the march was last sent, with this state
    Bytes cut_;                      // the march before `t_end` cut a step short, or empty; see take_back_cut
    double cut_from_ = 0;            // when that was,
    int cut_steps_ = 0;              // and the steps since
    bool polynomial_whole_ = false;  // the series of the last step have all their terms
    double written_ = NAN;           // the last time that was recorded
    Statistics statistics_;
    std::unique_ptr<Tangents> tangents_;  // or none
};

}  // namespace mechsim

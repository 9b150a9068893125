// Many motions of one mechanism, with other numbers, starts and ends, side by side in SIMD lanes.
//
// A block (block.hpp) has one instance and `width` motions, so that every operation of the plan runs over all of them;
// unknowns, rows and entries of the matrix have their motions innermost too. Each motion has its own step size and its
// own decisions, which are those of a March and read nothing of its neighbours: what is settled, or waits, is masked. So
// a motion is the same, bit by bit, in any lane and beside any others.
//
// The pivots are those of a reference state. What a lane cannot do (its pivots become too small, a singular pose is near,
// a failure) is done by a March: the motion leaves its lane at the beginning of the step, and comes back some steps later.
// If the pivots of the reference are of no use to it for long, it goes on by those that the March has found, beside motions
// that have the same.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "fleet_series.hpp"
#include "inspect.hpp"
#include "lane_loops.hpp"
#include "lane_lu.hpp"
#include "lane_steps.hpp"
#include "march.hpp"

namespace mechsim {

// The motions that are wanted. Numbers (see March::tune) that all share are given once.
struct Cases {
    std::size_t count = 0;
    std::vector<double> tables, constants, scales, matrix;
    std::vector<double> times, states, ends;  // states: derivatives below the offsets, as for March::set_state
};

enum class Keep : int { last, steps, polynomials };

struct Outcome {
    Status status = Status::running;
    Statistics statistics;
    std::int64_t away = 0;  // steps that a March has taken
    Record record;          // the last point, or all, as is wanted
};

class Fleet {
  public:
    // `march` is new, of the plan and the control that are wanted; it takes motions that leave. Its pivots at the
    // reference state are those of all lanes. `width` is 4, 8, 16 or 32, or 0 for as many lanes as fit the cache.
    Fleet(March& march, double t, const double* reference, int width);
    Fleet(const Fleet&) = delete;
    Fleet& operator=(const Fleet&) = delete;

    // Whether there are pivots: without, all motions are left to the march.
    bool usable() const { return reference_ != nullptr; }
    int width() const { return width_; }
    void begin(Cases cases, Keep keep);
    // Go on for some seconds; true when all motions have come to an end.
    bool run(double seconds);
    std::vector<Outcome>& outcomes();
    March& march() { return march_; }

  private:
    // What is not the same for most lanes, step after step.
    struct Lane {
        std::size_t motion = 0;
        Status status = Status::reached;                 // of the projection
        bool starting = false;                           // it has come into its lane: a step of no length
        bool begun = false, leaves = false, held = false;
        double longest = INFINITY;
        int redone = 0, retreated = 0;                   // of this step, for a miss and for a singular pose;
        int retreats = 0;                                // steps in a row that were shortened for one
        Statistics counts;                               // of its motion; see store_counts
    };
    using Masks = std::vector<long long, AlignedAllocator<long long>>;  // -1 for lanes that are meant, else 0
    // What is decided for all lanes at once: a number of each.
    struct Rows {
        AlignedDoubles h, left;              // the step that is tried, and what is left
        AlignedDoubles t, t_low, t_before, t_low_before, end, last_step;
        AlignedDoubles former_leverage;      // the largest, where the step before began
        AlignedDoubles largest_projection;
        AlignedDoubles speed, peak_speed;
        AlignedDoubles distance, turned, rounding, rough, off, missed;
        AlignedDoubles stale;                // how much what its matrix depends on has moved since, relative
        AlignedDoubles leverage, earlier_leverage;  // the largest, here and where the step began
        AlignedDoubles moved, previous, rate;       // the last two corrections of a stage, and how fast they become smaller
        AlignedDoubles mismatch;             // per offset and lane
    };
    struct Waiting {
        std::size_t motion;
        Carried carried;
    };
    // Pivots, and the motions that wait to go on by them.
    struct Pivots {
        SparseLU like;
        std::unique_ptr<LaneLU> lu;
        std::deque<Waiting> waiting;
    };

    // fleet.cpp, fleet_motions.cpp: which motion is where, and what becomes of it
    static SparseLU lasting_pivots(const March& march);
    void allocate();
    bool fill_lanes();
    Pivots* next_pivots();
    bool is_common(const double* matrix);
    void load(int lane, std::size_t motion, const Carried& carried);
    Carried start_of(std::size_t motion) const;
    void tune_lane(int lane, std::size_t motion);
    int count(Phase phase) const;
    void judge_all();
    void judge(int lane);
    void judge_look(int lane);
    void judge_landing(int lane);
    void find_far();
    double missed(int lane, double h) const;
    void shorten(int lane);
    void store_counts(int lane);
    void accept(int lane);
    Carried carried_of(int lane) const;
    void leave(int lane);
    bool returns(int lane);
    std::vector<double> matrix_of(int lane) const;
    void follow_alone(const Waiting& motion);
    void note_steps(Outcome& outcome) const;
    void write_point(double t, const Coefficients& x, int lane, Record& record) const;
    void write_step(int lane, Record& record) const;
    void trim(Record& record) const;

    // fleet_step.cpp: how long steps are
    void choose_steps();
    void begin_all();
    void begin_step(int lane);
    void launch_all();
    void launch(int lane);
    bool has_roundings(int lane) const;
    double largest_term(int lane, int offset, int degree) const;
    double fastest(int lane, int degree) const;
    void largest_terms(int offset, int degree, double* largest) const;
    void longest_steps(int derivative, const double* allowed, double* h);
    void note_speed(int lane, double h);
    void inspect_steps();
    double response(int lane, int row, double h);

    // fleet_stages.cpp, fleet_probe.cpp: the stages, over all lanes, and how independent constraints are
    void arrive();
    void predict();
    void set_times();
    void prepare();
    void factor(const Masks& wanted);
    void solve(double* b);
    void settle(int stage);
    void solve_stage(int stage);
    void list_corrections(int stage);
    bool correct(int stage, int iteration);
    void judge_balance();
    void factor_anew();
    void fail(int stage, int lane);
    std::vector<char> balanced();
    void residual_of(int stage);
    void expand();
    void take_back(int lane);
    void keep_states();
    void make_probe(int lane);
    void note_leverage(const Masks& wanted);
    void aim_probes();
    void aim_probe(int lane);

    Phase phase(int lane) const { return Phase(phases_[lane]); }
    void set_phase(int lane, Phase phase) { phases_[lane] = (long long)phase; }
    std::size_t at(int index, int lane) const { return std::size_t(index) * width_ + lane; }
    const std::vector<double>& equation_factors(int stage) const;
    const std::vector<double>& unknown_factors(int stage) const;

    March& march_;
    Bytes new_;  // the march before it was used
    const int size_, orders_, degrees_;  // orders: the largest offset
    int width_ = kWidth;
    std::unique_ptr<Pivots> reference_;
    std::map<std::vector<int>, Pivots> others_;
    Pivots* pivots_ = nullptr;  // those by which the lanes go now,
    LaneLU* lu_ = nullptr;      // and their factors
    std::vector<Block> blocks_, matrix_blocks_;
    FleetSeries series_;
    std::vector<int> constraints_;  // rows that hold the state itself
    std::vector<Lane> lanes_;
    Coefficients x_, polynomial_;
    AlignedDoubles low_, low_before_, inverse_scales_, times_, steps_;  // steps: as far as lanes go now
    Rows rows_;
    AlignedDoubles matrix_, fresh_, matrix_constant_, residual_, right_side_, correction_;
    AlignedDoubles compared_;  // with what corrections are, per degree and lane
    std::vector<Correction> corrections_;
    AlignedDoubles leverage_, leverage_before_, lengths_, probe_, aim_, pull_;
    AlignedDoubles chain_before_, chain_now_;  // the largest leverage of each kinematic chain
    AlignedDoubles sums_, advances_;
    Masks moving_, active_, wanted_, refined_, finished_, ready_;
    Masks well_;                           // of those that move: nothing has failed
    Masks unprobed_, near_singular_, far_, turned_aside_, slow_;
    Masks special_;                        // something is noted in its Lane, so that it is judged alone
    Masks others_than_plain_;
    Masks phases_, taken_, evaluations_, factorizations_;  // of each lane or motion, a number
    StepRows step_rows_{};
    bool refining_ = false;  // some lane is
    // The largest terms of the last degrees, of unknowns of an offset: a row, and of its logarithms.
    struct LastTerm {
        int offset, degree;
        AlignedDoubles logarithms;
    };
    std::vector<LastTerm> last_terms_;
    AlignedDoubles least_, allowed_, longest_;
    std::vector<double> inverse_binomials_;  // per offset, of what the last degree is off by
    struct Responses {
        bool known = false;
        Changes largest{};
    };
    std::vector<Responses> responses_;  // per row and lane, of this step
    std::vector<Inspected> inspected_;

    Cases cases_;
    Keep keep_ = Keep::last;
    std::size_t next_ = 0;
    std::deque<Waiting> alone_;  // where there are no lanes
    std::vector<Outcome> outcomes_;
};

}  // namespace mechsim

// Motions into lanes and out of them, and what is written down of them.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"

namespace mechsim {

namespace {

constexpr std::int64_t kStepsAway = 8;   // that a march takes at least for a motion that left its lane,
constexpr int kMostTurns = 8;            // so many times while the common pivots are of no use,
constexpr double kUseful = 1e4;          // which is where they let values grow by this

// What all motions share is there once.
const double* of_motion(const std::vector<double>& numbers, std::size_t size, std::size_t motion) {
    return numbers.data() + (numbers.size() > size ? motion * size : 0);
}

}  // namespace

// Whether the pivots of the reference are of use for a matrix.
bool Fleet::is_common(const double* values) {
    return usable() && reference_->like.growth(values, march_.lu_.column_scales(values)) < kUseful;
}

Carried Fleet::start_of(std::size_t motion) const {
    Carried carried;
    carried.t = cases_.times[motion];
    const std::size_t count = std::size_t(orders_) * size_;
    const double* state = cases_.states.data() + motion * count;
    carried.x.reserve(count + size_);
    double factorial = 1;
    for (int n = 0; n < orders_; ++n) {
        factorial *= std::max(n, 1);
        for (int j = 0; j < size_; ++j)
            carried.x.push_back(n <= march_.d_[j] ? state[std::size_t(n) * size_ + j] / factorial : 0.0);
    }
    carried.x.resize(count + size_, 0.0);
    carried.low.assign(march_.low_.size(), 0.0);
    std::size_t peaks = 0;
    for (const Block& block : march_.blocks_) peaks += block.watch.operations.size() * block.lanes;
    carried.peaks.assign(peaks, 0.0);
    return carried;
}

// The state becomes that of a step of no length.
void Fleet::load(int l, std::size_t motion, const Carried& carried) {
    tune_lane(l, motion);
    Lane& lane = lanes_[l] = {};
    lane.motion = motion;
    set_phase(l, Phase::landing);
    special_[l] = -1;
    lane.starting = true;
    lane.begun = carried.begun;
    rows_.t_before[l] = carried.t;
    rows_.t_low_before[l] = carried.t_low;
    rows_.end[l] = cases_.ends[motion];
    rows_.last_step[l] = carried.last_step;
    rows_.former_leverage[l] = 0;
    lane.longest = carried.longest;
    lane.retreats = carried.retreats;
    lane.counts = outcomes_[motion].statistics;
    taken_[l] = lane.counts.steps;
    rows_.largest_projection[l] = lane.counts.largest_projection;
    evaluations_[l] = lane.counts.evaluations;
    factorizations_[l] = lane.counts.factorizations;
    unprobed_[l] = -1;
    for (AlignedDoubles* row : {&rows_.h, &rows_.speed, &rows_.stale, &rows_.leverage}) (*row)[l] = 0;
    rows_.off[l] = rows_.left[l] = INFINITY;  // a step of no length is not the last one
    rows_.peak_speed[l] = carried.peak_speed;
    rows_.earlier_leverage[l] = carried.earlier_leverage;
    for (int n = 0; n < x_.degrees; ++n)
        for (int j = 0; j < size_; ++j)
            polynomial_.degree(n)[at(j, l)] = n <= orders_ ? carried.x[std::size_t(n) * size_ + j] : 0.0;
    for (std::size_t i = 0; i < carried.low.size(); ++i) low_before_[i * width_ + l] = carried.low[i];
    for (int j = 0; j < size_; ++j) leverage_before_[at(j, l)] = INFINITY;
    const double* peak = carried.peaks.data();
    std::size_t block = 0;
    for (const Block& source : march_.blocks_) {
        for (int instance = 0; instance < source.lanes; ++instance, ++block)
            for (std::size_t k = 0; k < source.watch.operations.size(); ++k)
                blocks_[block].watch.peaks[at(int(k), l)] = peak[k * source.lanes + instance];
        peak += source.watch.operations.size() * source.lanes;
    }
}

void Fleet::tune_lane(int l, std::size_t motion) {
    const double* table = of_motion(cases_.tables, march_.table_size(), motion);
    std::size_t block = 0, matrix_block = 0;
    const auto tune = [&](const Block& source, std::vector<Block>& blocks, std::size_t& number) {
        for (int instance = 0; instance < source.lanes; ++instance, ++number)
            for (int c = 0; c < source.constant_count; ++c)
                blocks[number].constants[at(c, l)] = table[std::size_t(c) * source.lanes + instance];
        table += std::size_t(source.constant_count) * source.lanes;
    };
    for (const Block& source : march_.blocks_) tune(source, blocks_, block);
    for (const Block& source : march_.matrix_blocks_) tune(source, matrix_blocks_, matrix_block);
    const double* scales = of_motion(cases_.scales, size_, motion);
    for (int j = 0; j < size_; ++j) inverse_scales_[at(j, l)] = 1 / scales[j];
    const std::size_t count = march_.constant_count(), entries = march_.entry_count();
    const double* constants = of_motion(cases_.constants, count, motion);
    for (std::size_t k = 0; k < count; ++k)
        for (Coefficients* x : {&x_, &polynomial_}) x->degree(0)[at(size_ + int(k), l)] = constants[k];
    const double* matrix = of_motion(cases_.matrix, entries, motion);
    for (std::size_t entry = 0; entry < entries; ++entry) matrix_constant_[entry * width_ + l] = matrix[entry];
    for (Block& each : blocks_)
        for (std::size_t i = 0; i < each.inputs.size(); ++i)
            if (!each.inputs[i].time && each.inputs[i].available >= kAlways && each.inputs[i].order == 0)
                each.row(int(i), 0)[l] = x_.degree(0)[each.unknowns[i * width_ + l]];
}

// The motion at the beginning of its step.
Carried Fleet::carried_of(int l) const {
    const Lane& lane = lanes_[l];
    Carried carried{rows_.t_before[l], rows_.t_low_before[l], rows_.peak_speed[l], rows_.last_step[l], lane.longest,
                    rows_.former_leverage[l], {}, {}, {}, lane.begun, lane.retreats};
    for (int n = 0; n <= orders_; ++n)
        for (int j = 0; j < size_; ++j) carried.x.push_back(n <= march_.d_[j] ? polynomial_.degree(n)[at(j, l)] : 0.0);
    for (std::size_t i = 0; i < low_before_.size() / width_; ++i) carried.low.push_back(low_before_[i * width_ + l]);
    std::size_t block = 0;
    for (const Block& source : march_.blocks_) {
        for (std::size_t k = 0; k < source.watch.operations.size(); ++k)
            for (int instance = 0; instance < source.lanes; ++instance)
                carried.peaks.push_back(blocks_[block + instance].watch.peaks[at(int(k), l)]);
        block += source.lanes;
    }
    return carried;
}

// From the beginning of its step on, the motion is followed by the march.
void Fleet::leave(int l) {
    Lane& lane = lanes_[l];
    if (keep_ == Keep::last && lane.begun)  // it may be the last
        write_point(rows_.t_before[l], polynomial_, l, outcomes_[lane.motion].record);
    set_phase(l, Phase::idle);
    store_counts(l);
    follow_alone({lane.motion, carried_of(l)});
}

// A motion that went by other pivots returns to those of the reference when these are of use again. It looks now and then.
bool Fleet::returns(int l) {
    const Lane& lane = lanes_[l];
    if (taken_[l] % kStepsAway != 0) return false;
    if (!is_common(matrix_of(l).data())) return false;
    reference_->waiting.push_back({lane.motion, carried_of(l)});
    store_counts(l);
    set_phase(l, Phase::idle);
    return true;
}

std::vector<double> Fleet::matrix_of(int l) const {
    std::vector<double> values(march_.lu_.rows().size());
    for (std::size_t entry = 0; entry < values.size(); ++entry) values[entry] = matrix_[entry * width_ + l];
    return values;
}

// The march takes some steps, and a few more while the pivots of the reference are of no use; then the motion waits for lanes.
void Fleet::follow_alone(const Waiting& given) {
    const auto& [motion, carried] = given;
    const auto numbers = [&](const std::vector<double>& from, std::size_t size) {
        const double* own = of_motion(from, size, motion);
        return std::vector<double>(own, own + size);
    };
    march_.restore(new_);
    march_.tune(of_motion(cases_.tables, march_.table_size(), motion), numbers(cases_.constants, march_.constant_count()),
                numbers(cases_.scales, size_), numbers(cases_.matrix, march_.entry_count()));
    march_.resume(carried);
    Outcome& outcome = outcomes_[motion];
    bool common = false;
    for (int turn = 0; turn < kMostTurns && outcome.status == Status::running && !common; ++turn) {
        outcome.status = march_.advance(cases_.ends[motion], kStepsAway, INFINITY, outcome.record);
        trim(outcome.record);
        common = outcome.status == Status::running && is_common(march_.matrix_.data());
    }
    note_steps(outcome);
    if (outcome.status != Status::running) return;
    const Waiting left{motion, march_.carried()};
    if (!usable())
        alone_.push_back(left);
    else if (common)
        reference_->waiting.push_back(left);
    else
        others_.try_emplace(march_.lu_.pivots(), Pivots{march_.lu_, nullptr, {}}).first->second.waiting.push_back(left);
}

// What the march has done for a motion.
void Fleet::note_steps(Outcome& outcome) const {
    Statistics& total = outcome.statistics;
    const Statistics& own = march_.statistics();
    total.steps += own.steps;
    total.rejected += own.rejected;
    total.factorizations += own.factorizations;
    total.evaluations += own.evaluations;
    total.analyses += own.analyses;
    total.largest_projection = std::max(total.largest_projection, own.largest_projection);
    outcome.away += own.steps;
}

void Fleet::write_point(double t, const Coefficients& x, int l, Record& record) const {
    if (keep_ == Keep::last) record.t.clear(), record.x.clear(), record.v.clear();
    if (keep_ == Keep::last) record.x.reserve(size_), record.v.reserve(size_);
    record.t.push_back(t);
    for (int j = 0; j < size_; ++j) {
        record.x.push_back(x.degree(0)[at(j, l)]);
        record.v.push_back(march_.d_[j] >= 1 ? x.degree(1)[at(j, l)] : 0.0);
    }
}

void Fleet::write_step(int l, Record& record) const {
    record.start.push_back(rows_.t_before[l]);
    for (int n = 0; n < degrees_; ++n)
        for (int j = 0; j < size_; ++j) record.polynomials.push_back(polynomial_.degree(n)[at(j, l)]);
}

// Of the points that a march has written, those that are wanted.
void Fleet::trim(Record& record) const {
    if (keep_ != Keep::last || record.t.empty()) return;
    record.t = {record.t.back()};
    record.x.erase(record.x.begin(), record.x.end() - size_);
    record.v.erase(record.v.begin(), record.v.end() - size_);
}

}  // namespace mechsim

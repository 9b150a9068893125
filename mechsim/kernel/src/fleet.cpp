// Which motion is in which lane, and what becomes of it.
#include "fleet.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "policy.hpp"

namespace mechsim {

namespace {

constexpr std::size_t kCache = 400'000;  // bytes that the series of all lanes may take: they are read at every stage
constexpr int kMostLanes = 32;
constexpr std::int64_t kStepsAway = 8;   // that a march takes at least for a motion that left its lane,
constexpr int kMostTurns = 8;            // so many times while the common pivots are of no use,
constexpr double kUseful = 1e4;          // which is where they let values grow by this

// As many lanes as fit the cache.
int width_for(const std::vector<Block>& blocks, int degrees) {
    std::size_t bytes = 0;
    for (const Block& block : blocks)
        bytes += (block.inputs.size() + block.operations.size()) * block.lanes * degrees * sizeof(double);
    int width = kWidth;
    while (width < kMostLanes && 2 * width * bytes <= kCache) width *= 2;
    return width;
}

}  // namespace

Fleet::Fleet(March& march, double t, const double* reference, int width)
    : march_(march), new_(march.snapshot()), size_(march.size_), orders_(march.largest_offset_), degrees_(march.degrees_) {
    march.set_state(t, reference);
    if (march.redundant_ > 0 || march.control_.fixed_step > 0 || march.prepare() != Status::reached) return;
    constraints_ = march.constraints_;
    width_ = width > 0 ? width : width_for(march.blocks_, march.x_.degrees);
    reference_ = std::make_unique<Pivots>(Pivots{march.lu_, nullptr, {}});
    for (const Block& block : march.blocks_)
        for (int instance = 0; instance < block.lanes; ++instance) {
            blocks_.push_back(of_motions(block, instance, width_));
            blocks_.back().allocate(march.x_.degrees);
            for (std::size_t i = 0; i < block.inputs.size(); ++i)
                if (block.inputs[i].time) std::fill_n(blocks_.back().row(int(i), 1), width_, 1.0);
        }
    for (const Block& block : march.matrix_blocks_)
        for (int instance = 0; instance < block.lanes; ++instance) {
            matrix_blocks_.push_back(of_motions(block, instance, width_));
            matrix_blocks_.back().allocate(1);
            for (std::size_t i = 0; i < block.inputs.size(); ++i) {
                const int unknown = block.unknowns[i * block.stride + instance];
                if (block.inputs[i].time || unknown >= size_) continue;
                if (block.inputs[i].order - march.d_[unknown] > -orders_) affine_ = false;
            }
        }
    for (Block& block : blocks_)
        if (std::any_of(block.terms.begin(), block.terms.end(), [](const Term& term) { return !term.silent; }))
            working_.push_back(&block);
    allocate();
}

void Fleet::allocate() {
    const std::size_t width = width_, size = size_, entries = march_.lu_.rows().size();
    lanes_.assign(width, {});
    x_.width = march_.x_.width * width_;
    x_.degrees = march_.x_.degrees;
    x_.values.assign(std::size_t(x_.width) * x_.degrees, 0.0);
    polynomial_ = x_;
    for (auto* rows : {&low_, &low_before_}) rows->assign(size * std::max(orders_, 1) * width, 0.0);
    for (auto* rows : {&inverse_scales_, &residual_, &right_side_, &correction_, &leverage_, &leverage_before_, &lengths_,
                       &probe_, &aim_, &pull_})
        rows->assign((size + 1) * width, 0.0);  // one more: the trash row
    for (auto* rows : {&matrix_, &fresh_, &matrix_constant_}) rows->assign((entries + 1) * width, 0.0);
    for (auto* rows : {&change_, &extent_, &compared_}) rows->assign((orders_ + 1) * width, 0.0);
    for (auto* row : {&times_, &steps_, &total_}) row->assign(width, 0.0);
    sums_.assign(4 * width, 0.0);
    for (auto* row : {&moving_, &active_, &wanted_, &refined_}) row->assign(width, 0);
    previous_.assign(width, 0.0);
    moved_ = previous_;
    mask_.assign(width, 0);
    inspected_.assign(width, {});
}

void Fleet::begin(Cases cases, Keep keep) {
    cases_ = std::move(cases);
    keep_ = keep;
    next_ = 0;
    alone_.clear();
    others_.clear();
    if (reference_) reference_->waiting.clear();
    outcomes_.assign(cases_.count, {});
    for (Outcome& outcome : outcomes_) outcome.record.keep_polynomials = keep == Keep::polynomials;
    for (Lane& lane : lanes_) lane = {};
}

bool Fleet::run(double seconds) {
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
        const std::chrono::duration<double> used = std::chrono::steady_clock::now() - begin;
        if (used.count() > seconds) return false;
        if (!usable()) {
            if (alone_.empty() && next_ == cases_.count) return true;
            const Waiting motion = alone_.empty() ? Waiting{next_, start_of(next_)} : alone_.front();
            alone_.empty() ? void(++next_) : alone_.pop_front();
            follow_alone(motion);
            continue;
        }
        if (!fill_lanes()) return true;
        arrive();
        for (int l = 0; l < width_; ++l)
            if (moving_[l]) judge(l);
        aim_probes();
        int busy = 0, ready = 0;
        for (const Lane& lane : lanes_) busy += lane.phase != Phase::idle, ready += lane.phase == Phase::ready;
        // Series are found for all lanes at once: not while most of them have to try another landing.
        if (ready == 0 || 2 * ready < busy) continue;
        expand();
        choose_steps();
    }
}

// Motions into lanes that are free; false where all have come to an end.
bool Fleet::fill_lanes() {
    const auto idle = [](const Lane& lane) { return lane.phase == Phase::idle; };
    if (std::all_of(lanes_.begin(), lanes_.end(), idle)) {
        pivots_ = next_pivots();
        if (!pivots_) return false;
        if (!pivots_->lu) pivots_->lu = std::make_unique<LaneLU>(pivots_->like, width_);
        lu_ = pivots_->lu.get();
    }
    for (int l = 0; l < width_; ++l) {
        if (!idle(lanes_[l])) continue;
        if (!pivots_->waiting.empty()) {
            load(l, pivots_->waiting.front().motion, pivots_->waiting.front().carried);
            pivots_->waiting.pop_front();
        } else if (pivots_ == reference_.get() && next_ < cases_.count) {
            load(l, next_, start_of(next_));
            ++next_;
        }
    }
    return true;
}

// The pivots to go on with when no motion is under way: those of the reference, while there are motions for them.
Fleet::Pivots* Fleet::next_pivots() {
    if (next_ < cases_.count || !reference_->waiting.empty()) return reference_.get();
    std::erase_if(others_, [](const auto& item) { return item.second.waiting.empty(); });
    return others_.empty() ? nullptr : &others_.begin()->second;
}

// Whether the pivots of the reference are of use for a matrix.
bool Fleet::is_common(const double* values) {
    return usable() && reference_->like.growth(values, march_.lu_.column_scales(values)) < kUseful;
}

Carried Fleet::start_of(std::size_t motion) const {
    Carried carried;
    carried.t = cases_.times[motion];
    const std::size_t count = std::size_t(orders_) * size_;
    const double* state = cases_.states.data() + motion * count;
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
    lane.phase = Phase::landing;
    lane.starting = true;
    lane.begun = carried.begun;
    lane.t_before = carried.t;
    lane.t_low_before = carried.t_low;
    lane.t_end = cases_.ends[motion];
    lane.peak_speed = carried.peak_speed;
    lane.last_step = carried.last_step;
    lane.longest = carried.longest;
    lane.earlier_leverage = carried.earlier_leverage;
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

namespace {

// What all motions share is there once.
const double* of_motion(const std::vector<double>& numbers, std::size_t size, std::size_t motion) {
    return numbers.data() + (numbers.size() > size ? motion * size : 0);
}

}  // namespace

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

// What becomes of a motion that has tried to land.
void Fleet::judge(int l) {
    Lane& lane = lanes_[l];
    if (lane.leaves) return leave(l);
    if (lane.phase == Phase::looking) return judge_look(l);
    if (lane.starting) return lane.status == Status::reached ? accept(l) : leave(l);
    judge_landing(l);
}

void Fleet::judge_look(int l) {
    Lane& lane = lanes_[l];
    const bool reached = lane.status == Status::reached;
    if (reached && missed(lane, kInside * lane.h) <= march_.control_.tolerance + lane.rounding)
        lane.phase = Phase::landing;
    else if (lane.near_singular || lane.redone++ == kMostRedone)
        leave(l);
    else if (reached && lane.rough <= kRough)
        lane.phase = Phase::landing;
    else
        shorten(lane);
}

void Fleet::judge_landing(int l) {
    Lane& lane = lanes_[l];
    if (lane.t == lane.t_before) return leave(l);
    const bool reached = lane.status == Status::reached;
    if (!reached || is_far(lane)) {
        if (!reached) lane.off = INFINITY;
        if (lane.near_singular || lane.redone++ == kMostRedone) return leave(l);
        return shorten(lane);
    }
    if (lane.near_singular && lane.h != std::abs(lane.left)) return leave(l);
    accept(l);
}

void Fleet::shorten(Lane& lane) {
    lane.h *= kShrink;
    lane.longest = kGrowth * lane.h;
    ++outcomes_[lane.motion].statistics.rejected;
}

double Fleet::missed(const Lane& lane, double h) const {
    double largest = 0, power = 1;
    for (int offset = 1; offset <= orders_; ++offset) {
        power *= h;
        const double binomial = march_.binomials_[offset][march_.control_.order - 1 + offset];
        largest = std::max(largest, lane.mismatch[offset] * power / binomial);
    }
    return largest;
}

bool Fleet::is_far(Lane& lane) const {
    const double off_before = lane.off;
    lane.off = missed(lane, lane.h);
    const bool cured = lane.rough > kRough || lane.off < kCured * off_before;
    const double rejection = march_.control_.rejection + lane.rounding;
    return lane.distance > rejection ||
           lane.turned > lane.speed * rejection * std::max(1.0, lane.earlier_leverage) + lane.rounding / lane.h ||
           (lane.off > march_.control_.tolerance + lane.rounding && cured);
}

// The motion is where it has landed.
void Fleet::accept(int l) {
    Lane& lane = lanes_[l];
    Outcome& outcome = outcomes_[lane.motion];
    if (!lane.starting) {
        lane.last_step = lane.h;
        if (lane.held) lane.longest = std::min(lane.longest, kGrowth * lane.h);
        Statistics& statistics = outcome.statistics;
        statistics.largest_projection = std::max(statistics.largest_projection, lane.distance);
        ++statistics.steps;
        if (keep_ == Keep::polynomials) write_step(l, outcome.record);
    }
    const bool ended = lane.t == lane.t_end;
    if (keep_ == Keep::last ? ended : !lane.starting || !lane.begun) write_point(lane.t, x_, l, outcome.record);
    lane.begun = true;
    lane.phase = Phase::ready;
    if (!ended) return;
    outcome.status = Status::reached;
    lane.phase = Phase::idle;
}

// The motion at the beginning of its step.
Carried Fleet::carried_of(int l) const {
    const Lane& lane = lanes_[l];
    Carried carried{lane.t_before, lane.t_low_before, lane.peak_speed, lane.last_step, lane.longest,
                    lane.former_leverage, {}, {}, {}, lane.begun};
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
        write_point(lane.t_before, polynomial_, l, outcomes_[lane.motion].record);
    lane.phase = Phase::idle;
    follow_alone({lane.motion, carried_of(l)});
}

// A motion that went by other pivots returns to those of the reference when these are of use again. It looks now and then.
bool Fleet::returns(int l) {
    const Lane& lane = lanes_[l];
    if (pivots_ == reference_.get() || outcomes_[lane.motion].statistics.steps % kStepsAway != 0) return false;
    if (!is_common(matrix_of(l).data())) return false;
    reference_->waiting.push_back({lane.motion, carried_of(l)});
    lanes_[l].phase = Phase::idle;
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
    total.analyses += own.analyses;
    total.largest_projection = std::max(total.largest_projection, own.largest_projection);
    outcome.away += own.steps;
}

void Fleet::write_point(double t, const Coefficients& x, int l, Record& record) const {
    if (keep_ == Keep::last) record.t.clear(), record.x.clear(), record.v.clear();
    record.t.push_back(t);
    for (int j = 0; j < size_; ++j) {
        record.x.push_back(x.degree(0)[at(j, l)]);
        record.v.push_back(march_.d_[j] >= 1 ? x.degree(1)[at(j, l)] : 0.0);
    }
}

void Fleet::write_step(int l, Record& record) const {
    record.start.push_back(lanes_[l].t_before);
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

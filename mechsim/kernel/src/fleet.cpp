// Which motion is in which lane, and what becomes of it.
#include "fleet.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "policy.hpp"

namespace mechsim {

namespace {

// Bytes that the series of all lanes may take. They are read at every stage, one after the other: so they may be more than
// the cache next to the core holds, and more motions for each operation still pay (measured: chains of 1 to 100 rods).
constexpr std::size_t kCache = 2'000'000;

constexpr double kLasting = 1.3;  // lasting pivots may have so many times the entries in their factors

// As many lanes as fit the cache.
int width_for(const std::vector<Block>& blocks, int degrees) {
    std::size_t bytes = 0;
    for (const Block& block : blocks)
        bytes += (block.inputs.size() + block.operations.size()) * block.lanes * degrees * sizeof(double);
    int width = kWidth;
    while (width < kMostMotions && 2 * width * bytes <= kCache) width *= 2;
    return width;
}

}  // namespace

Fleet::Fleet(March& march, double t, const double* reference, int width)
    : march_(march), new_(march.snapshot()), size_(march.size_), orders_(march.largest_offset_), degrees_(march.degrees_) {
    march.set_state(t, reference);
    if (march.redundant_ > 0 || march.control_.fixed_step > 0 || march.prepare() != Status::reached) return;
    constraints_ = march.constraints_;
    width_ = width > 0 ? width : width_for(march.blocks_, march.x_.degrees);
    reference_ = std::make_unique<Pivots>(Pivots{lasting_pivots(march), nullptr, {}});
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
        }
    series_.list(blocks_, size_);
    allocate();
}

// Pivots of the march's matrix that serve other states and motions as well: entries that do not change along a motion come
// first (masses, mostly), so that what is left has no zeros on its diagonal where a rod stands upright. Where that costs
// solves too much, those of the march.
SparseLU Fleet::lasting_pivots(const March& march) {
    std::vector<char> steady(march.matrix_constant_.size(), 1);
    for (const Block& block : march.matrix_blocks_)
        for (std::size_t o = 0; o < block.outputs.size(); ++o)
            for (int l = 0; l < block.lanes; ++l) {
                const std::size_t entry = block.rows[o * block.stride + l];
                if (entry < steady.size()) steady[entry] = 0;
            }
    SparseLU found = march.lu_;
    const double* values = march.matrix_.data();
    const bool regular = found.choose(values, steady);
    const bool cheap = regular && found.factor_count() <= kLasting * march.lu_.factor_count();
    return cheap && found.growth(values, found.column_scales(values)) < kFactorGrowth ? found : march.lu_;
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
                       &probe_, &aim_, &pull_, &chain_before_, &chain_now_})
        rows->assign((size + 1) * width, 0.0);  // one more: the trash row
    for (auto* rows : {&matrix_, &fresh_, &matrix_constant_}) rows->assign((entries + 1) * width, 0.0);
    compared_.assign((orders_ + 1) * width, 0.0);
    for (auto* row : {&times_, &steps_}) row->assign(width, 0.0);
    sums_.assign(4 * width, 0.0);
    advances_.assign(kMostOffsets * width, 0.0);
    for (Masks* row : {&moving_, &active_, &wanted_, &refined_, &finished_, &ready_, &well_, &unprobed_, &near_singular_,
                       &far_, &turned_aside_, &slow_, &special_, &others_than_plain_, &phases_, &taken_, &evaluations_,
                       &factorizations_})
        row->assign(width, 0);
    for (AlignedDoubles* row :
         {&rows_.h, &rows_.left, &rows_.t, &rows_.t_low, &rows_.t_before, &rows_.t_low_before, &rows_.end, &rows_.last_step,
          &rows_.former_leverage, &rows_.largest_projection, &rows_.speed, &rows_.peak_speed, &rows_.distance,
          &rows_.turned, &rows_.rounding, &rows_.rough, &rows_.off, &rows_.missed, &rows_.stale, &rows_.leverage, &rows_.earlier_leverage, &rows_.moved,
          &rows_.previous, &rows_.rate, &least_, &allowed_, &longest_})
        row->assign(width, 0.0);
    rows_.mismatch.assign((orders_ + 1) * width, 0.0);
    step_rows_ = {rows_.h.data(), rows_.left.data(), rows_.t.data(), rows_.t_low.data(), rows_.t_before.data(),
                  rows_.t_low_before.data(), rows_.end.data(), rows_.last_step.data(), rows_.off.data(),
                  rows_.largest_projection.data(), rows_.distance.data(), rows_.leverage.data(),
                  rows_.earlier_leverage.data(), rows_.former_leverage.data(), phases_.data(), taken_.data()};
    inverse_binomials_.assign(1, 0.0);
    for (int offset = 1; offset <= orders_; ++offset)
        inverse_binomials_.push_back(1 / march_.binomials_[offset][march_.control_.order - 1 + offset]);
    for (int back = 0; back < 2; ++back)
        for (int offset = 1; offset <= orders_; ++offset)
            if (!march_.of_offset_[offset].empty())
                last_terms_.push_back({offset, march_.control_.order - 1 + offset - back, AlignedDoubles(width, 0.0)});
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
    std::fill(phases_.begin(), phases_.end(), (long long)Phase::idle);
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
        find_far();
        judge_all();
        const bool some_ready = find_phase(phases_.data(), Phase::ready, ready_.data(), width_ / kWidth);
        aim_probes();
        // Series are found for all lanes at once: not while most of them have to try another landing.
        if (!some_ready || 2 * count(Phase::ready) < width_ - count(Phase::idle)) continue;
        expand();
        choose_steps();
    }
}

// Motions into lanes that are free; false where all have come to an end.
bool Fleet::fill_lanes() {
    Masks& idle = wanted_;
    if (!find_phase(phases_.data(), Phase::idle, idle.data(), width_ / kWidth)) return true;
    if (all(idle.data(), width_)) {
        pivots_ = next_pivots();
        if (!pivots_) return false;
        if (!pivots_->lu) pivots_->lu = std::make_unique<LaneLU>(pivots_->like, width_);
        lu_ = pivots_->lu.get();
    }
    for (int l = 0; l < width_; ++l) {
        if (!idle[l]) continue;
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

int Fleet::count(Phase phase) const { return int(std::count(phases_.begin(), phases_.end(), (long long)phase)); }

// What becomes of the motions that have tried to land. Most have, and only their ends are wanted.
void Fleet::judge_all() {
    const Landed landed{moving_.data(), well_.data(), far_.data(), near_singular_.data(), special_.data()};
    if (keep_ != Keep::last)
        others_than_plain_ = moving_;
    else if (!accept_landings(step_rows_, landed, others_than_plain_.data(), width_ / kWidth))
        return;
    for (int l = 0; l < width_; ++l)
        if (others_than_plain_[l]) judge(l);
}

void Fleet::judge(int l) {
    Lane& lane = lanes_[l];
    special_[l] = -1;
    if (lane.leaves)
        leave(l);
    else if (phase(l) == Phase::looking)
        judge_look(l);
    else if (!lane.starting)
        judge_landing(l);
    else
        lane.status == Status::reached ? accept(l) : leave(l);
    lane.status = Status::reached;
    lane.leaves = false;
}

void Fleet::judge_look(int l) {
    Lane& lane = lanes_[l];
    const bool reached = lane.status == Status::reached;
    if (reached && missed(l, kInside * rows_.h[l]) <= march_.control_.tolerance + rows_.rounding[l])
        set_phase(l, Phase::landing);
    else if (near_singular_[l] || lane.redone++ == kMostRedone)
        leave(l);
    else if (reached && rows_.rough[l] <= kRough)
        set_phase(l, Phase::landing);
    else
        shorten(l);
}

void Fleet::judge_landing(int l) {
    Lane& lane = lanes_[l];
    if (rows_.t[l] == rows_.t_before[l]) return leave(l);
    const bool reached = lane.status == Status::reached;
    rows_.off[l] = reached ? rows_.missed[l] : INFINITY;
    if (!reached || far_[l]) {
        if (near_singular_[l] || lane.redone++ == kMostRedone) return leave(l);
        return shorten(l);
    }
    if (near_singular_[l] && rows_.h[l] != std::abs(rows_.left[l]) && lane.retreats + lane.retreated < kMostRetreats) {
        if (lane.redone++ == kMostRedone) return leave(l);
        ++lane.retreated;
        ++lane.counts.rejected;
        rows_.h[l] *= kRetreat;
        return;
    }
    lane.retreats = lane.retreated > 0 ? lane.retreats + 1 : 0;
    accept(l);
}

void Fleet::shorten(int l) {
    rows_.h[l] *= kShrink;
    lanes_[l].longest = kGrowth * rows_.h[l];
    ++lanes_[l].counts.rejected;
}

double Fleet::missed(int l, double h) const {
    double largest = 0, power = 1;
    for (int offset = 1; offset <= orders_; ++offset) {
        power *= h;
        const double binomial = march_.binomials_[offset][march_.control_.order - 1 + offset];
        largest = std::max(largest, rows_.mismatch[at(offset, l)] * power / binomial);
    }
    return largest;
}

// What landings are off by, and which of them too far (see March::is_far).
void Fleet::find_far() {
    const Landing landing{rows_.h.data(),        rows_.mismatch.data(), rows_.rough.data(), rows_.off.data(),
                          rows_.rounding.data(), rows_.distance.data(), rows_.turned.data(), rows_.speed.data(),
                          rows_.earlier_leverage.data(), rows_.missed.data(), far_.data()};
    judge_landings(landing, march_.control_, inverse_binomials_, width_ / kWidth);
}

// The motion is where it has landed.
void Fleet::accept(int l) {
    Lane& lane = lanes_[l];
    if (!lane.starting) {
        rows_.last_step[l] = rows_.h[l];
        if (lane.held) lane.longest = std::min(lane.longest, kGrowth * rows_.h[l]);
        rows_.largest_projection[l] = std::max(rows_.largest_projection[l], rows_.distance[l]);
        ++taken_[l];
        if (keep_ == Keep::polynomials) write_step(l, outcomes_[lane.motion].record);
    }
    const bool ended = rows_.t[l] == rows_.end[l];
    if (keep_ == Keep::last ? ended : !lane.starting || !lane.begun)
        write_point(rows_.t[l], x_, l, outcomes_[lane.motion].record);
    lane.begun = true;
    set_phase(l, Phase::ready);
    if (!ended) return;
    store_counts(l);
    outcomes_[lane.motion].status = Status::reached;
    set_phase(l, Phase::idle);
}

void Fleet::store_counts(int l) {
    Lane& lane = lanes_[l];
    lane.counts.steps = taken_[l];
    lane.counts.largest_projection = rows_.largest_projection[l];
    lane.counts.evaluations = evaluations_[l];
    lane.counts.factorizations = factorizations_[l];
    outcomes_[lane.motion].statistics = lane.counts;
}

// Of motions that are under way, too.
std::vector<Outcome>& Fleet::outcomes() {
    for (int l = 0; l < int(lanes_.size()); ++l)
        if (phase(l) != Phase::idle) store_counts(l);
    return outcomes_;
}

}  // namespace mechsim

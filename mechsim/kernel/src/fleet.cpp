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
        }
    series_.list(blocks_, size_);
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
    for (auto* row : {&moving_, &active_, &wanted_, &refined_, &finished_}) row->assign(width, 0);
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
    if (lane.near_singular && lane.h != std::abs(lane.left) && lane.retreats + lane.retreated < kMostRetreats) {
        if (lane.redone++ == kMostRedone) return leave(l);
        ++lane.retreated;
        ++outcomes_[lane.motion].statistics.rejected;
        lane.h *= kRetreat;
        return;
    }
    lane.retreats = lane.retreated > 0 ? lane.retreats + 1 : 0;
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

}  // namespace mechsim

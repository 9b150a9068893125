// What a march hands on, so that one that is stopped and continued equals one that was not.
#include <algorithm>

#include "archive.hpp"
#include "march.hpp"

namespace mechsim {

// Everything the next step reads. Of the series that is what stages k <= 0 found: the rest is expanded from it.
template <class Archive>
void March::transfer(Archive& archive) {
    for (int n = 0; n < std::min(largest_offset_ + 1, x_.degrees); ++n)
        archive.run(x_.degree(n), sizeof(double) * x_.width);
    for (Block& block : blocks_) {
        const int kept = std::min(largest_offset_ + 1, block.degrees);
        for (std::size_t reg = 0; reg < block.inputs.size() + block.operations.size(); ++reg)
            archive.run(block.row(int(reg), 0), sizeof(double) * kept * block.stride);
        archive(block.watch.peaks);
    }
    lu_.transfer(archive);
    archive(low_), archive(t_), archive(t_low_);
    archive(resting_), archive(chosen_);
    archive(constraints_), archive(lengths_), archive(probe_), archive(aim_), archive(pull_);
    archive(leverage_), archive(leverage_before_), archive(earlier_leverage_), archive(retreats_);
    archive(peak_speed_), archive(last_step_), archive(longest_);
    archive(prepared_), archive(continued_), archive(probed_), archive(expanded_);
    archive(statistics_);
    archive(met_), archive(met_at_), archive(meetings_), archive(shaken_), archive(unwritten_), archive(liveliest_);
    for (Watcher& watcher : watchers_) archive(watcher.side), archive(watcher.crossed), archive(watcher.size);
    for (Friction& friction : frictions_) archive(friction.zeros), archive(friction.loaded), archive(friction.shared);
    for (Gap& gap : gaps_) archive(gap.zeros), archive(gap.deepest), archive(gap.loaded), archive(gap.way), archive(gap.shared);
    for (Pair& pair : pairs_) archive(pair.deepest);
    if (tangents_) tangents_->transfer(archive, std::min(largest_offset_ + 1, x_.degrees));
}

Bytes March::snapshot() {
    Bytes now, bytes;
    Writer own(now);
    transfer(own);
    Writer whole(bytes);
    whole(now), whole(cut_), whole(cut_from_), whole(cut_steps_), whole(written_);
    return bytes;
}

void March::restore(const Bytes& bytes) {
    Bytes now, cut;
    Reader whole(bytes);
    whole(now), whole(cut), whole(cut_from_), whole(cut_steps_), whole(written_);
    Reader own(now);
    transfer(own);
    std::copy_n(x_.degree(0) + size_, constants_.size(), polynomial_.degree(0) + size_);
    cut_ = std::move(cut);
    goal_ = NAN;
    if (tangents_) tangents_->share_constants();
    polynomial_whole_ = false;
    responses_.clear();
    find_working();
    if (expanded_) expand();
}

void March::resume(const Carried& motion) {
    for (int n = 0; n < x_.degrees; ++n) std::fill_n(x_.degree(n), size_, 0.0);
    for (int n = 0; n <= largest_offset_; ++n)
        std::copy_n(motion.x.data() + std::size_t(n) * size_, size_, x_.degree(n));
    low_ = motion.low;
    t_low_ = motion.t_low;
    set_time(motion.t);
    const double* peak = motion.peaks.data();
    for (Block& block : blocks_)
        for (std::size_t k = 0; k < block.watch.operations.size(); ++k, peak += block.lanes)
            std::copy_n(peak, block.lanes, block.watch.peaks.data() + k * block.stride);
    peak_speed_ = motion.peak_speed;
    last_step_ = motion.last_step;
    longest_ = motion.longest;
    earlier_leverage_ = motion.earlier_leverage;
    leverage_.clear();
    responses_.clear();
    retreats_ = motion.retreats;
    prepared_ = expanded_ = false;
    continued_ = motion.begun;
    written_ = motion.begun ? motion.t : NAN;
    cut_.clear();
}

Carried March::carried() const {
    Carried motion{t_, t_low_, peak_speed_, last_step_, longest_, earlier_leverage_, {}, low_, {}, true, retreats_};
    for (int n = 0; n <= largest_offset_; ++n)
        for (int j = 0; j < size_; ++j) motion.x.push_back(n <= d_[j] ? x_.degree(n)[j] : 0.0);
    for (const Block& block : blocks_)
        for (std::size_t k = 0; k < block.watch.operations.size(); ++k)
            for (int l = 0; l < block.lanes; ++l) motion.peaks.push_back(block.watch.peaks[k * block.stride + l]);
    return motion;
}

// Before a step that `t_end` makes shorter than it would be.
void March::remember() {
    cut_from_ = t_;
    cut_steps_ = 0;
    Writer writer(cut_);
    transfer(writer);
}

// The march is to go on, and nothing has changed since `t_end` cut a step short: take that step anew, as long as it would
// have been. So no step depends on where the march was stopped.
void March::take_back_cut() {
    const Statistics done = statistics_;
    std::swap(x_, polynomial_);
    if (tangents_) tangents_->swap_series();
    Reader reader(cut_);
    transfer(reader);
    const std::int64_t steps = statistics_.steps;
    statistics_ = done;
    statistics_.steps = steps;
    responses_.clear();
    if (cut_steps_ > 1 || !polynomial_whole_) expand();
    cut_.clear();
}

}  // namespace mechsim

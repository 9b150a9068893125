// How independent the constraints of each lane are. What this is for is said in step.cpp.
#include <algorithm>
#include <cmath>

#include "fleet.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

// The largest leverage of each kinematic chain, in the row of its first unknown.
MECHSIM_CLONES void largest_leverages(const double* leverage, const std::vector<int>& chain, double* of_chain, int step) {
    for (int j = 0; j < int(chain.size()); ++j)
        for (int s = 0; s < step; ++s) {
            Lanes& largest = vec(of_chain)[chain[j] * step + s];
            largest = larger(chain[j] == j ? Lanes{} : largest, vec(leverage)[j * step + s]);
        }
}

// From the largest leverage of a chain before what is ordinary in it, where that is steady (see time_to_pose).
MECHSIM_INLINE Lanes ordinary(Lanes now, Lanes before) {
    const Lanes none = {0, 0, 0, 0}, time = before / absolute(now - before);
    return larger(none + kOrdinary, time > kClear ? kOrdinaryPart * before : none);
}

// Rows of leverage, here and where the step began; of each unknown, and the largest of its chain.
struct Leverages {
    const double *now, *before, *chain_now;
    double* chain_before;  // becomes what is ordinary
};

// The largest leverage of each lane of the mask, and whether some is more than it may be (see March::is_near_singular).
MECHSIM_CLONES void judge_leverages(const Leverages& given, const std::vector<int>& chain, const long long* mask,
                                    double* leverage, long long* near, int step) {
    Lanes largest[kMostVectors], excess[kMostVectors];
    for (int s = 0; s < step; ++s) largest[s] = excess[s] = Lanes{};
    for (int j = 0; j < int(chain.size()); ++j)
        for (int s = 0; s < step; ++s) {
            Lanes& of_chain = vec(given.chain_before)[chain[j] * step + s];
            if (chain[j] == j) of_chain = ordinary(vec(given.chain_now)[j * step + s], of_chain);
            const Lanes own = vec(given.now)[j * step + s];
            largest[s] = larger(largest[s], own);
            excess[s] = larger(excess[s], own - kNear * larger(vec(given.before)[j * step + s], of_chain));
        }
    for (int s = 0; s < step; ++s) {
        const Mask wanted = reinterpret_cast<const Mask*>(mask)[s];
        Mask& is_near = reinterpret_cast<Mask*>(near)[s];
        vec(leverage)[s] = wanted ? largest[s] : vec(leverage)[s];
        is_near = wanted ? Mask(excess[s] > Lanes{}) : is_near;
    }
}

// Where what pulls most is new, among the lanes that are ready: by sums over constraints of aim * pull, aim^2, pull^2, and
// the largest pull.
MECHSIM_CLONES void compare_aims(const std::vector<int>& constraints, const double* aim, const double* pull, int step,
                                 const long long* ready, const long long* moving, double* sums, long long* changed) {
    for (int i : constraints)
        for (int s = 0; s < step; ++s) {
            const Lanes old = vec(aim)[i * step + s], now = vec(pull)[i * step + s];
            vec(sums)[s] += old * now;
            vec(sums)[step + s] += old * old;
            vec(sums)[2 * step + s] += now * now;
            vec(sums)[3 * step + s] = larger(vec(sums)[3 * step + s], absolute(now));
        }
    for (int s = 0; s < step; ++s) {
        const Lanes none = {0, 0, 0, 0};
        const Lanes same = vec(sums)[s], old_size = vec(sums)[step + s], new_size = vec(sums)[2 * step + s];
        const Mask meant = reinterpret_cast<const Mask*>(ready)[s] & reinterpret_cast<const Mask*>(moving)[s];
        const Mask known = Mask(vec(sums)[3 * step + s] > none) & Mask(new_size - new_size == none);
        reinterpret_cast<Mask*>(changed)[s] = meant & known & ~Mask(same * same > kSameAim * old_size * new_size);
    }
}

// The answer of the constraints to a probe: what each multiplier pulls, and how far each unknown is moved.
MECHSIM_CLONES void take_answer(const double* answer, double sign, const double* weight, const long long* mask,
                                bool absolutely, double* to, int step) {
    for (int s = 0; s < step; ++s) {
        Lanes value = sign * vec(answer)[s] * vec(weight)[s];
        if (absolutely) value = absolute(value);
        vec(to)[s] = reinterpret_cast<const Mask*>(mask)[s] ? value : vec(to)[s];
    }
}

}  // namespace

// Constraints missed by about a unit of length each, and scales for the growth of pivots, where a motion comes into its lane.
void Fleet::make_probe(int l) {
    unprobed_[l] = 0;
    const SparseLU& pattern = march_.lu_;
    for (int i = 0; i < size_; ++i) lengths_[at(i, l)] = aim_[at(i, l)] = pull_[at(i, l)] = probe_[at(i, l)] = 0;
    const std::vector<double> values = matrix_of(l);
    for (std::size_t entry = 0; entry < values.size(); ++entry) {
        const int i = pattern.rows()[entry], j = pattern.columns()[entry];
        if (march_.c_[i] <= 0 || march_.d_[j] <= 0) continue;
        const double part = values[entry] / inverse_scales_[at(j, l)];
        lengths_[at(i, l)] += part * part;
    }
    lu_->set_scales(l, pattern.column_scales(values.data()));
    for (int i : constraints_) {
        lengths_[at(i, l)] = std::sqrt(lengths_[at(i, l)]);
        probe_[at(i, l)] = lengths_[at(i, l)] * scatter(i);
    }
}

void Fleet::note_leverage(const Masks& wanted) {
    if (constraints_.empty()) return;
    const int step = width_ / kWidth;
    std::copy_n(probe_.begin(), std::size_t(size_) * width_, residual_.begin());
    solve(residual_.data());
    for (int i : constraints_)
        take_answer(residual_.data() + at(i, 0), -1, lengths_.data() + at(i, 0), wanted.data(), false,
                    pull_.data() + at(i, 0), step);
    for (int j = 0; j < size_; ++j)
        if (march_.d_[j] > 0)
            take_answer(residual_.data() + at(j, 0), 1, inverse_scales_.data() + at(j, 0), wanted.data(), true,
                        leverage_.data() + at(j, 0), step);
    largest_leverages(leverage_before_.data(), march_.chain_, chain_before_.data(), step);
    largest_leverages(leverage_.data(), march_.chain_, chain_now_.data(), step);
    judge_leverages({leverage_.data(), leverage_before_.data(), chain_now_.data(), chain_before_.data()}, march_.chain_,
                    wanted.data(), rows_.leverage.data(), near_singular_.data(), step);
}

// The next probe of each lane has a share of what pulled most, where that is new.
void Fleet::aim_probes() {
    if (constraints_.empty()) return;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    compare_aims(constraints_, aim_.data(), pull_.data(), width_ / kWidth, ready_.data(), moving_.data(), sums_.data(),
                 turned_aside_.data());
    if (!any(turned_aside_.data(), width_)) return;
    for (int l = 0; l < width_; ++l)
        if (turned_aside_[l]) aim_probe(l);
    note_leverage(turned_aside_);
}

void Fleet::aim_probe(int l) {
    const double largest = sums_[at(3, l)];
    for (int i : constraints_) {
        aim_[at(i, l)] = pull_[at(i, l)] / largest;
        probe_[at(i, l)] = lengths_[at(i, l)] * (scatter(i) + aim_[at(i, l)]);
    }
}

}  // namespace mechsim

// Bonds: rows that hold both ways while they are closed, and nothing while they are open. They are gaps that only an event of
// the user opens and closes. To take hold is a plastic impact: the impulses in the rows, of either sign, that bring all
// their rates to zero at once, with all joints kept. What touches then is struck by what the bonds now carry.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "march.hpp"
#include "policy.hpp"

namespace mechsim {

namespace {

constexpr double kRepeats = 1e-11;  // of what a row's response were if nothing else held: less is rounding

// Solve W z = -rates by Cholesky's method, which shows rows that others hold already: then it is false.
bool plastic_impulses(std::vector<double> w, const std::vector<double>& free, const std::vector<double>& rates,
                      std::vector<double>& impulses) {
    const std::size_t count = rates.size();
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return w[j * count + i]; };
    for (std::size_t j = 0; j < count; ++j) {
        for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
        if (!(at(j, j) > kRepeats * free[j])) return false;
        at(j, j) = std::sqrt(at(j, j));
        for (std::size_t i = j + 1; i < count; ++i) {
            for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
            at(i, j) /= at(j, j);
        }
    }
    impulses = rates;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < i; ++k) impulses[i] -= at(i, k) * impulses[k];
        impulses[i] /= at(i, i);
    }
    for (std::size_t i = count; i-- > 0;) {
        for (std::size_t k = i + 1; k < count; ++k) impulses[i] -= at(k, i) * impulses[k];
        impulses[i] /= at(i, i);
    }
    for (double& impulse : impulses) impulse = -impulse;
    return true;
}

}  // namespace

void March::make_bond(int number) {
    if (number < 0 || std::size_t(number) >= gaps_.size()) throw std::invalid_argument("a bond is no gap");
    gaps_[number].bond = true;
}

// The rates of these bonds before they take hold, then their impulses, then the energy that each of them takes.
Status March::attach(const std::vector<int>& bonds, std::vector<double>& told) {
    for (int number : bonds)
        if (number < 0 || std::size_t(number) >= gaps_.size() || !gaps_[number].bond || is_closed(gaps_[number]))
            throw std::invalid_argument("a bond is not there, or holds already");
        else if (gaps_[number].account == gaps_[number].row)
            throw std::invalid_argument("a bond has no account");
    std::vector<char> closed;
    for (const Gap& gap : gaps_) closed.push_back(is_closed(gap) && !gap.bond);
    bool opened = false;
    for (std::size_t i = 0; i < gaps_.size(); ++i)
        if (closed[i]) set_closed(gaps_[i], false), opened = true;
    // What sticks takes no part: friction has no impulse without a push, which `meet` sees to.
    std::vector<std::pair<bool, double>> rubbing;
    for (const Friction& friction : frictions_) {
        rubbing.emplace_back(sticks(friction), sense_of(friction));
        opened = opened || rubbing.back().first || rubbing.back().second != 0;
        set_rubbing(friction, false, 0);
    }
    Status status = Status::reached;
    if ((opened || !prepared_) && (status = prepare()) != Status::reached) return status;
    const std::size_t count = bonds.size();
    const std::vector<double> values = gap_values(1);
    std::vector<double> rates, w, free, impulses;
    std::vector<std::vector<double>> responses;
    fill_matrix();
    for (int number : bonds) {
        rates.push_back(values[number]);
        free.push_back(free_response(gaps_[number]));
        responses.push_back(gap_response(gaps_[number]));
        for (int other : bonds) w.push_back(along(gaps_[other], responses.back().data()));
    }
    if (!plastic_impulses(w, free, rates, impulses)) return Status::singular;
    told = rates;
    told.insert(told.end(), impulses.begin(), impulses.end());
    for (std::size_t i = 0; i < count; ++i) {
        const Gap& gap = gaps_[bonds[i]];
        const double moving = rates[i] - along(gap, x_.degree(1)), lost = -impulses[i] * rates[i] / 2;
        told.push_back(lost);
        add_exactly(x_.degree(0)[gap.account], low_[gap.account], -lost - impulses[i] * moving);
    }
    for (std::size_t i = 0; i < count; ++i) add_impulse(impulses[i], responses[i]);
    for (int number : bonds) set_closed(gaps_[number], true);
    if ((status = prepare()) != Status::reached) return status;
    for (std::size_t i = 0; i < gaps_.size(); ++i)
        if (closed[i]) set_closed(gaps_[i], true);
    for (std::size_t k = 0; k < frictions_.size(); ++k) set_rubbing(frictions_[k], rubbing[k].first, rubbing[k].second);
    met_ = true;
    met_at_ = t_;
    meetings_ = 1;
    event_ = fired_ = -1;
    const bool touching = !frictions_.empty() || std::any_of(gaps_.begin(), gaps_.end(), [](const Gap& gap) { return !gap.bond; });
    if (touching && (status = meet()) != Status::reached) return status;
    expanded_ = false;
    leverage_.clear();
    responses_.clear();
    cut_.clear();
    longest_ = INFINITY;
    unwritten_ = true;
    return Status::reached;
}

// What a unit impulse in a row changes, with all joints kept; the matrix is filled, and the row rests in its factors.
std::vector<double> March::gap_response(const Gap& gap) {
    std::vector<double> change(size_, 0.0);
    for (int entry : gap.pull) change[lu_.rows()[entry]] = matrix_[entry];
    for (const Gap& each : gaps_) change[each.row] = change[each.account] = 0;
    lu_.solve(change.data());
    return change;
}

// About what a unit impulse in a row does to its rate if nothing but inertia resists; the matrix is filled. What has none of
// its own, as a turn angle, is as heavy as the heaviest.
double March::free_response(const Gap& gap) const {
    std::vector<double> inertia(size_, 0.0);
    double heaviest = 0;
    for (std::size_t entry = 0; entry < lu_.rows().size(); ++entry) {
        const int j = lu_.rows()[entry];
        if (j != lu_.columns()[entry] || d_[j] < 2) continue;
        inertia[j] = std::abs(matrix_[entry]) * scales_[j] * scales_[j];
        heaviest = std::max(heaviest, inertia[j]);
    }
    double sum = 0;
    for (int entry : gap.gradient) {
        const int j = lu_.columns()[entry];
        sum += std::pow(matrix_[entry] * scales_[j], 2) / (inertia[j] > 0 ? inertia[j] : heaviest);
    }
    return sum;
}

// The gradient of a row times what unknowns change by.
double March::along(const Gap& gap, const double* change) const {
    double sum = 0;
    for (int entry : gap.gradient) sum += matrix_[entry] * change[lu_.columns()[entry]];
    return sum;
}

// An impulse jumps what the leading derivative integrates to, of every unknown.
void March::add_impulse(double impulse, const std::vector<double>& response) {
    if (impulse == 0) return;
    for (int j = 0; j < size_; ++j) {
        if (d_[j] == 0) continue;
        const int derivative = d_[j] - 1;
        double factor = impulse;
        for (int k = 2; k <= derivative; ++k) factor /= k;
        add_exactly(x_.degree(derivative)[j], low_[std::size_t(derivative) * size_ + j], factor * response[j]);
    }
}

}  // namespace mechsim

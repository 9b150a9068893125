// Bonds: rows that hold both ways while they are closed, and nothing while they are open. They are gaps that only an event of
// the user opens and closes. To take hold is a plastic impact: the impulses in the rows, of either sign, that bring all
// their rates to zero at once, with all joints kept. What touches then is struck by what the bonds now carry.
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "march.hpp"
#include "policy.hpp"
#include "touch.hpp"

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

// What the tangents know of it: all rates come to zero at once.
Touch March::taking_hold(const std::vector<int>& bonds, const std::vector<double>& rates, const std::vector<double>& impulses,
                         const std::vector<double>& w, const std::vector<std::vector<double>>& responses) const {
    Touch touch;
    const std::size_t count = bonds.size();
    Stroke stroke;
    for (std::size_t i = 0; i < count; ++i) {
        touch.moving.push_back(rates[i] - along(gaps_[bonds[i]], x_.degree(1)));
        stroke.directions.push_back(i);
    }
    stroke.kept.assign(count, 0.0);
    touch.gaps = bonds, touch.before = rates, touch.impulses = impulses, touch.w = w, touch.responses = responses;
    touch.was_closed.assign(count, 1);  // when is the event's to say
    touch.still.assign(count, 0.0);
    touch.strokes.push_back(stroke);
    return touch;
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
    const Rubs rubbed = stop_rubbing();
    Status status = Status::reached;
    if ((opened || !prepared_) && (status = prepare()) != Status::reached) return status;
    const std::size_t count = bonds.size();
    const std::vector<double> values = gap_values(1);
    std::vector<double> rates, w, free, impulses;
    std::vector<std::vector<double>> responses;
    fill_matrix();
    for (int number : bonds) {
        rates.push_back(values[number]);
        free.push_back(free_response(gaps_[number], inertias()));
        responses.push_back(response_to(gaps_[number]));
        for (int other : bonds) w.push_back(along(gaps_[other], responses.back().data()));
    }
    if (!plastic_impulses(w, free, rates, impulses)) return Status::singular;
    if (tangents_) {
        Touch touch = taking_hold(bonds, rates, impulses, w, responses);
        if (!tangents_->come_to_event() || !tangents_->jump(touch)) return Status::not_differentiable;
        tangents_->note_taken();
    }
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
    for (std::size_t k = 0; k < frictions_.size(); ++k) set_rubbing(frictions_[k], rubbed[k].first, rubbed[k].second);
    met_ = true;
    met_at_ = t_;
    meetings_ = 1;
    event_ = fired_ = -1;
    const bool touching = !frictions_.empty() || std::any_of(gaps_.begin(), gaps_.end(), [](const Gap& gap) { return !gap.bond; });
    if (touching && (status = meet_gaps()) != Status::reached) return status;
    expanded_ = false;
    leverage_.clear();
    responses_.clear();
    cut_.clear();
    longest_ = INFINITY;
    unwritten_ = true;
    return Status::reached;
}

}  // namespace mechsim

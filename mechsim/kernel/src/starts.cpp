#include "starts.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "guard.hpp"

namespace mechsim {

using small::dot;
using small::largest;
using small::length;

namespace {

constexpr int kIterations = 60;  // of any iteration that contracts
constexpr double kTurn = 6.283185307179586;

void within(const std::vector<int>& indices, std::size_t limit, const char* what) {
    for (int index : indices) require(index >= 0 && std::size_t(index) < limit, what);
}

// Numbers between -1 and 1 without any relation, as `generic` of kernel/linear.py.
double generic(std::uint64_t number) {
    std::uint64_t bits = (number + 1) * 0x9E3779B97F4A7C15u;
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBu;
    return double(bits ^ (bits >> 31)) / 9223372036854775808.0 - 1.0;
}

bool all_hold(const std::vector<Guard>& guards, const double* values) {
    return std::all_of(guards.begin(), guards.end(), [&](const Guard& guard) { return guard.holds(values); });
}

}  // namespace

void Asked::check() const {
    const std::size_t nodes = numbers.size(), count = std::size_t(n);
    require(n >= 0 && m >= 0 && here.size() == std::size_t(numbers.parameters()), "sizes of starts");
    require(scales.size() == count && guesses.size() == count && guessed_rates.size() == count && known.size() == count,
            "coordinates of starts");
    for (const auto* each : {&needed, &scales, &guesses, &guessed_rates}) within(*each, nodes, "nodes of starts");
    require(time >= 0 && std::size_t(time) < nodes, "the time of starts");
    for (const auto* each : {&moving, &free, &held, &angles, &free_rates, &states})
        within(*each, count, "coordinates of starts");
    within(rows, std::size_t(m), "constraints of starts");
    require(cost.size() == free.size() && rate_cost.size() == free_rates.size(), "costs of starts");
    for (const auto* guards : {&kept, &placed})
        for (const Guard& guard : *guards) within({guard.a, guard.b}, nodes, "comparisons of starts");
    require(positions.outputs() == m * (1 + n) && velocities.outputs() == m * (1 + n) && bending.outputs() == n * n &&
                rates.outputs() == n, "formulas of starts");
    require(rows.size() <= free.size() || free.empty(), "more constraints than what may move");
}

Search::Search(const Asked& asked) : asked_(asked), rules_(asked.rules) {
    const int n = asked.n, m = asked.m, first = int(asked.needed.size()) + 1;
    work_.assign(std::max({asked.positions.size(), asked.bending.size(), asked.velocities.size(), asked.rates.size()}), 0.0);
    raw_.assign(std::size_t(m) * (1 + n), 0.0);
    hessian_.assign(std::size_t(n) * n, 0.0);
    state_.assign(n, 0.0);
    for (int i = 0; i < m; ++i) all_rows_.push_back(i);
    positions_ = {&asked.positions, first, true, &asked.free, &asked.rows, &asked.cost, {}, {}, {}};
    velocities_ = {&asked.velocities, first + n, false, &asked.free_rates, &all_rows_, &asked.rate_cost, {}, {}, {}};
    for (Closure* closure : {&positions_, &velocities_}) {
        closure->scales.assign(n, 1.0);
        closure->row_scales.assign(m, 1.0);
    }
    for (auto* each : {&guess_, &target_, &begin_, &trial_, &beside_, &kept_}) each->assign(n, 0.0);
}

void Search::load(const double* values, double t) {
    std::size_t place = 0;
    for (int node : asked_.needed) work_[place++] = values[node];
    work_[place] = t;
    std::fill(work_.begin() + place + 1, work_.begin() + asked_.inputs(), 0.0);
    for (int j = 0; j < asked_.n; ++j) positions_.scales[j] = values[asked_.scales[j]];
    positions_.seen.clear();
    velocities_.seen.clear();
}

// --- equations at a point

// Residuals of all constraints in raw_, then their Jacobian, row by row.
void Search::evaluate(Closure& closure, const double* x) {
    const std::size_t n = std::size_t(asked_.n);
    if (closure.seen.size() == n && std::equal(x, x + n, closure.seen.begin())) return;
    (&closure == &positions_ ? velocities_ : positions_).seen.clear();
    closure.seen.assign(x, x + n);
    std::copy_n(x, n, work_.begin() + closure.at);
    closure.formulas->evaluate(work_.data(), raw_.data());
}

void Search::lengths(Closure& closure, const double* x, double* found) {
    const int n = asked_.n, m = asked_.m;
    evaluate(closure, x);
    for (int i = 0; i < m; ++i) {
        double total = 0;
        for (int j = 0; j < n; ++j) {
            const double entry = raw_[m + i * n + j] * closure.scales[j];
            total += entry * entry;
        }
        found[i] = std::sqrt(total);
    }
}

// Row scales at x; beside it, where an equation has no gradient there.
void Search::scale_about(Closure& closure, const double* x) {
    const int m = asked_.m;
    std::vector<double> here(m), beside(m);
    beside_.assign(x, x + asked_.n);
    for (std::size_t i = 0; i < closure.free->size(); ++i) {
        const int j = (*closure.free)[i];
        beside_[j] += 0.1 * closure.scales[j] * generic(i);
    }
    lengths(closure, beside_.data(), beside.data());
    lengths(closure, x, here.data());
    for (int i = 0; i < m; ++i) {
        const double found = here[i] < 1e-3 * beside[i] ? beside[i] : here[i];
        closure.row_scales[i] = found > 0 ? found : 1.0;
    }
}

void Search::rescale(Closure& closure, const double* x) {
    std::vector<double> found(asked_.m);
    lengths(closure, x, found.data());
    for (int i = 0; i < asked_.m; ++i)
        if (!(found[i] < 1e-6 * closure.row_scales[i])) closure.row_scales[i] = found[i];
}

// Residual and Jacobian, by these columns, of the scaled equations.
void Search::scaled(Closure& closure, const double* x, const std::vector<int>& columns) {
    evaluate(closure, x);
    const int n = asked_.n, m = asked_.m;
    at_.residual.resize(closure.rows->size());
    at_.jacobian.resize(closure.rows->size() * columns.size());
    std::size_t entry = 0, place = 0;
    for (int row : *closure.rows) {
        const double scale = closure.row_scales[row];
        at_.residual[place++] = raw_[row] / scale;
        for (int column : columns) at_.jacobian[entry++] = raw_[m + row * n + column] * closure.scales[column] / scale;
    }
}

// The second derivative of the combination of scaled equations that `multipliers` tell, by the scaled free coordinates.
void Search::bend(Closure& closure, const double* x) {
    const int n = asked_.n;
    const std::size_t count = closure.free->size();
    at_.bending.resize(count * count);
    double* multipliers = work_.data() + asked_.needed.size() + 1 + 2 * n;
    std::fill_n(multipliers, asked_.m, 0.0);
    for (std::size_t i = 0; i < closure.rows->size(); ++i) {
        const int row = (*closure.rows)[i];
        multipliers[row] = at_.multipliers[i] / closure.row_scales[row];
    }
    std::copy_n(x, n, work_.begin() + closure.at);
    asked_.bending.evaluate(work_.data(), hessian_.data());
    std::size_t entry = 0;
    for (int i : *closure.free)
        for (int j : *closure.free) at_.bending[entry++] = hessian_[i * n + j] * closure.scales[i] * closure.scales[j];
}

void Search::move(const Closure& closure, double* x, const double* step) const {
    std::size_t place = 0;
    for (int j : *closure.free) x[j] += closure.scales[j] * step[place++];
}

void Search::off(const Closure& closure, const double* target, const double* x, double* y) const {
    std::size_t place = 0;
    for (int j : *closure.free) y[place++] = (x[j] - target[j]) / closure.scales[j];
}

// What there is to know at x of its weighted distance from a target: see Tangent of initial/nearest.py.
void Search::tangent(Closure& closure, const double* x, const double* y, bool has_multipliers) {
    const int count = int(closure.free->size()), rows = int(closure.rows->size());
    scaled(closure, x, *closure.free);
    at_.rows.factor(at_.jacobian.data(), rows, count);
    at_.closing.resize(count);
    at_.rows.smallest(at_.residual.data(), at_.closing.data());
    for (double& each : at_.closing) each = -each;
    at_.freedom = count - rows;
    if (at_.freedom == 0) return;
    const std::vector<double>& cost = *closure.cost;
    at_.gradient.resize(count);
    for (int i = 0; i < count; ++i) at_.gradient[i] = cost[i] * y[i];
    at_.multipliers.resize(rows);
    if (!has_multipliers) {
        at_.rows.balance(at_.gradient.data(), at_.multipliers.data());
        for (double& each : at_.multipliers) each = -each;
    }
    at_.bending.clear();
    if (closure.bends && rows) bend(closure, x);
    const int freedom = at_.freedom;
    at_.along.resize(std::size_t(freedom) * count);
    at_.rows.along(at_.along.data());
    at_.spread.resize(count);
    at_.curvature.resize(std::size_t(freedom) * freedom);
    at_.slope.resize(freedom);
    for (int k = 0; k < freedom; ++k) {
        const double* way = at_.along.data() + std::size_t(k) * count;
        bent(closure, way, at_.spread.data());
        for (int i = 0; i < freedom; ++i)
            at_.curvature[std::size_t(k) * freedom + i] =
                dot(at_.along.data() + std::size_t(i) * count, at_.spread.data(), count);
        at_.slope[k] = dot(way, at_.gradient.data(), count);
    }
}

// How the gradient of the distance changes with a step.
void Search::bent(const Closure& closure, const double* step, double* found) const {
    const std::size_t count = closure.free->size();
    for (std::size_t i = 0; i < count; ++i) {
        found[i] = (*closure.cost)[i] * step[i];
        if (!at_.bending.empty()) found[i] += dot(at_.bending.data() + i * count, step, int(count));
    }
}

// Towards the stationary point of the distance, and its multipliers; false away from a minimum.
bool Search::newton_step(const Closure& closure, double* step) {
    const int count = int(closure.free->size()), freedom = at_.freedom;
    std::copy(at_.closing.begin(), at_.closing.end(), step);
    if (freedom == 0) return true;
    small::Firm firm;
    if (!firm.factor(at_.curvature.data(), freedom)) return false;
    bent(closure, at_.closing.data(), at_.spread.data());
    std::vector<double> rest(freedom);
    for (int k = 0; k < freedom; ++k)
        rest[k] = at_.slope[k] + dot(at_.along.data() + std::size_t(k) * count, at_.spread.data(), count);
    firm.solve(rest.data());
    for (int k = 0; k < freedom; ++k)
        for (int i = 0; i < count; ++i) step[i] -= rest[k] * at_.along[std::size_t(k) * count + i];
    bent(closure, step, at_.spread.data());
    for (int i = 0; i < count; ++i) at_.spread[i] += at_.gradient[i];
    at_.rows.balance(at_.spread.data(), at_.multipliers.data());
    for (double& each : at_.multipliers) each = -each;
    return true;
}

// The minimum that whole Newton steps contract to from x: see `minimise` of initial/nearest.py.
bool Search::minimise(Closure& closure, const double* target, double* x, double contraction, double longest) {
    const int count = int(closure.free->size());
    std::vector<double> y(count), step(count);
    off(closure, target, x, y.data());
    double last = INFINITY;
    for (int iteration = 0; iteration < kIterations; ++iteration) {
        tangent(closure, x, y.data(), iteration > 0);
        if (!newton_step(closure, step.data())) return false;
        const double size = largest(step.data(), count);
        if (!(size <= std::min(contraction * last, longest))) return false;
        for (int i = 0; i < count; ++i) y[i] += step[i];
        std::copy_n(target, asked_.n, x);
        move(closure, x, y.data());
        last = size;
        if (size <= rules_.settled) return true;
    }
    return false;
}

// Newton's method with smallest corrections until rounding stops it.
void Search::polish(Closure& closure, double* x) {
    const int rows = int(closure.rows->size()), count = int(closure.free->size());
    if (!count || !rows) return;
    std::vector<double> step(count), trial(asked_.n);
    scaled(closure, x, *closure.free);
    double size = length(at_.residual.data(), rows);
    for (int iteration = 0; iteration < kIterations && size != 0; ++iteration) {
        at_.rows.factor(at_.jacobian.data(), rows, count);
        at_.rows.smallest(at_.residual.data(), step.data());
        for (double& each : step) each = -each;
        trial.assign(x, x + asked_.n);
        move(closure, trial.data(), step.data());
        scaled(closure, trial.data(), *closure.free);
        const double reached = length(at_.residual.data(), rows);
        if (!(reached < size)) return;
        std::copy(trial.begin(), trial.end(), x);
        size = reached;
    }
}

bool Search::is_closed(Closure& closure, const double* x) {
    scaled(closure, x, *closure.free);
    return largest(at_.residual.data(), int(closure.rows->size())) <= rules_.closed;
}

// The closed pose beside x: see `closed_beside` of initial/branch.py.
bool Search::close_beside(Closure& closure, double* x, double longest) {
    const int rows = int(closure.rows->size()), count = int(closure.free->size());
    std::vector<double> step(count);
    double last = INFINITY;
    for (int iteration = 0; iteration < kIterations; ++iteration) {
        scaled(closure, x, *closure.free);
        at_.rows.factor(at_.jacobian.data(), rows, count);
        at_.rows.smallest(at_.residual.data(), step.data());
        for (double& each : step) each = -each;
        const double size = largest(step.data(), count);
        if (!(size <= longest) || (size > rules_.close && size > rules_.contraction * last)) return false;
        move(closure, x, step.data());
        last = size;
        if (size <= rules_.close) return true;
    }
    return false;
}

double Search::independence(Closure& closure, const double* x, const std::vector<int>& columns) {
    scaled(closure, x, columns);
    at_.rows.factor(at_.jacobian.data(), int(closure.rows->size()), int(columns.size()));
    return at_.rows.independence();
}

// --- the start

bool Search::find(const double* values, const double* parameters, double* t, double* q, double* v) {
    if (!all_hold(asked_.placed, values)) return false;
    *t = values[asked_.time];
    load(values, *t);
    for (int j = 0; j < asked_.n; ++j) guess_[j] = values[asked_.guesses[j]];
    values_.assign(values, values + asked_.numbers.size());
    scale_about(positions_, guess_.data());
    if (!positions(parameters, q)) return false;
    settle(q);
    rescale(positions_, q);
    if (!is_closed(positions_, q)) return false;
    wind(q);
    if (!is_closed(positions_, q) || !(independence(positions_, q, asked_.moving) >= rules_.independent)) return false;
    if (!asked_.held.empty() && !asked_.free.empty() && !(independence(positions_, q, asked_.free) >= rules_.full))
        return false;
    if (!velocities(q, v)) return false;
    set_state_rates(values, *t, q, v);
    return std::all_of(v, v + asked_.n, [](double each) { return std::isfinite(each); });
}

// Closed positions on the branch of the known ones, as near to the guess as it goes.
bool Search::positions(const double* parameters, double* q) {
    const int n = asked_.n;
    if (asked_.free.empty() || (asked_.rows.empty() && asked_.angles.empty())) {
        std::copy_n(guess_.data(), n, q);  // nothing to find, or nothing that binds
        return true;
    }
    const std::vector<double> about = positions_.row_scales;
    begin_ = asked_.known;
    double far = 0;
    for (int j : asked_.held) {
        begin_[j] = guess_[j];
        far = std::max(far, std::fabs(begin_[j] - asked_.known[j]) / positions_.scales[j]);
    }
    std::copy_n(begin_.data(), n, q);
    bool found = false;
    if (far <= rules_.stride) {
        rescale(positions_, q);
        turn(guess_.data(), q, target_.data());
        found = minimise(positions_, target_.data(), q, rules_.contraction, rules_.stride);
    }
    if (!found) {
        begin_ = asked_.known;
        found = carry(parameters, begin_.data());
        if (!found) return false;
        for (int j : asked_.held) begin_[j] = guess_[j];
        std::copy_n(begin_.data(), n, q);
        load(values_.data(), values_[asked_.time]);
        positions_.row_scales = about;
        rescale(positions_, q);
        turn(guess_.data(), q, target_.data());
        found = descend(positions_, target_.data(), q);
    }
    positions_.row_scales = about;
    return found;
}

// The known pose as the parameters go straight to others.
bool Search::carry(const double* parameters, double* x) {
    const std::size_t count = asked_.here.size();
    std::vector<double> at(count), values(asked_.numbers.size());
    kept_.assign(x, x + asked_.n);
    double share = 0, step = 1;
    for (int leg = 0; leg < kIterations; ++leg) {
        const double ahead = std::min(share + step, 1.0);
        for (std::size_t i = 0; i < count; ++i)
            at[i] = ahead == 1 ? parameters[i] : asked_.here[i] + ahead * (parameters[i] - asked_.here[i]);
        asked_.numbers.evaluate(at.data(), 1, values.data());
        const bool finite = std::all_of(values.begin(), values.end(), [](double each) { return std::isfinite(each); });
        if (!finite || !all_hold(asked_.kept, values.data())) return false;  // the file must be read again there
        std::copy_n(x, asked_.n, kept_.data());
        if (take_to(values.data(), kept_.data())) {
            std::copy_n(kept_.data(), asked_.n, x);
            if (ahead == 1) return true;
            share = ahead;
            step *= 2;
        } else if (step < rules_.shortest) {
            return false;
        } else {
            step = (ahead - share) * rules_.golden;
        }
    }
    return false;
}

// The pose at these numbers that is beside x, one at numbers before them.
bool Search::take_to(const double* values, double* x) {
    load(values, values[asked_.time]);
    for (int j : asked_.held) {
        const double there = values[asked_.guesses[j]];
        if (!(std::fabs(there - x[j]) / positions_.scales[j] <= rules_.stride)) return false;
        x[j] = there;
    }
    scale_about(positions_, x);
    return close_beside(positions_, x, rules_.stride);
}

// From a closed pose along the constraints, downhill to a point nearest to the target: see initial/branch.py. A pose that
// is level but not nearest is left to that.
bool Search::descend(Closure& closure, const double* target, double* x) {
    const int count = int(closure.free->size());
    if (closure.free->size() == closure.rows->size()) return true;
    std::vector<double> y(count), step(count);
    const double most = *std::max_element(closure.cost->begin(), closure.cost->end());
    double longest = rules_.stride;
    for (int stride = 0; stride < kIterations; ++stride) {
        off(closure, target, x, y.data());
        tangent(closure, x, y.data(), false);
        small::Firm firm;
        if (stride == 0 && !firm.factor(at_.curvature.data(), at_.freedom) &&
            largest(at_.slope.data(), at_.freedom) <= rules_.firm * largest(at_.gradient.data(), count))
            return false;
        const double least = rules_.firm * most;
        const bool exact = firm.factor(at_.curvature.data(), at_.freedom, least);
        std::vector<double> down = at_.slope;
        if (exact && firm.factor(at_.curvature.data(), at_.freedom)) firm.solve(down.data());
        else small::mended(at_.curvature.data(), at_.freedom, at_.slope.data(), least, down.data());
        std::fill(step.begin(), step.end(), 0.0);
        for (int k = 0; k < at_.freedom; ++k)
            for (int i = 0; i < count; ++i) step[i] -= down[k] * at_.along[std::size_t(k) * count + i];
        const double size = largest(step.data(), count);
        if (exact && size <= rules_.close) {
            move(closure, x, step.data());
            return true;
        }
        if (!std::isfinite(size)) return false;
        const double part = size > longest ? longest / size : 1.0;
        for (double& each : step) each *= part;
        trial_.assign(x, x + asked_.n);
        move(closure, trial_.data(), step.data());
        const bool closes = close_beside(closure, trial_.data(), std::min(longest, size) / 2);
        if (closes && ((exact && size < rules_.push) || further(closure, target, trial_.data(), x) < 0)) {
            std::copy(trial_.begin(), trial_.end(), x);
            longest = std::min(2 * longest, rules_.stride);
        } else if (longest < rules_.close) {
            return false;
        } else {
            longest = std::min(longest, size) / 2;
        }
    }
    return false;
}

// How much further from the target x is than the other; a difference, for both may be far.
double Search::further(const Closure& closure, const double* target, const double* x, const double* other) const {
    double total = 0;
    std::size_t place = 0;
    for (int j : *closure.free) {
        const double apart = (x[j] - other[j]) / closure.scales[j];
        const double middle = ((x[j] + other[j]) / 2 - target[j]) / closure.scales[j];
        total += (*closure.cost)[place++] * (apart * middle);
    }
    return 2 * total;
}

// The guess, with turn angles that are free by as many whole turns as bring them nearest to x.
void Search::turn(const double* guess, const double* x, double* target) const {
    std::copy_n(guess, asked_.n, target);
    for (int j : asked_.angles) target[j] += kTurn * std::nearbyint((x[j] - guess[j]) / kTurn);
}

// To the last digit; guesses that are closed are kept to the last bit.
void Search::settle(double* q) {
    double apart = 0;
    for (int j : asked_.free) apart = std::max(apart, std::fabs(q[j] - guess_[j]) / positions_.scales[j]);
    if (apart < rules_.same) {
        scaled(positions_, guess_.data(), asked_.free);
        if (largest(at_.residual.data(), int(asked_.rows.size())) == 0) {
            std::copy_n(guess_.data(), asked_.n, q);
            return;
        }
    }
    const std::vector<double> about = positions_.row_scales;
    rescale(positions_, q);
    polish(positions_, q);
    positions_.row_scales = about;
}

// Turn angles that are free brought into (-pi, pi].
void Search::wind(double* q) {
    bool wound = false;
    for (int j : asked_.angles) {
        if (q[j] > -kTurn / 2 && q[j] <= kTurn / 2) continue;
        double rest = std::fmod(kTurn / 2 - q[j], kTurn);
        if (rest < 0) rest += kTurn;
        q[j] = kTurn / 2 - rest;
        wound = true;
    }
    if (wound) polish(positions_, q);
}

// Velocities that keep the constraints, nearest to what is asked for: see `close_velocities` of initial/assembly.py.
bool Search::velocities(const double* q, double* v) {
    const int n = asked_.n, m = asked_.m;
    double speed = 0;
    for (int j = 0; j < n; ++j) {
        v[j] = target_[j] = values_[asked_.guessed_rates[j]];
        speed = std::max(speed, std::fabs(v[j]) / positions_.scales[j]);
    }
    for (int j = 0; j < n; ++j) velocities_.scales[j] = positions_.scales[j] * (speed > 0 ? speed : 1.0);
    velocities_.seen.clear();
    std::copy_n(q, n, work_.begin() + positions_.at);
    evaluate(velocities_, v);
    if (largest(raw_.data(), m) == 0) return true;
    if (asked_.free_rates.size() < std::size_t(m)) return false;
    for (int j = 0; j < n; ++j) beside_[j] = velocities_.scales[j] * generic(j);
    lengths(velocities_, beside_.data(), velocities_.row_scales.data());
    for (double& each : velocities_.row_scales) each = each > 0 ? each : 1.0;
    if (!minimise(velocities_, target_.data(), v, rules_.halving, INFINITY)) return false;
    rescale(velocities_, v);
    polish(velocities_, v);
    if (!is_closed(velocities_, v) || !(independence(velocities_, v, asked_.free_rates) >= rules_.full)) return false;
    for (int j = 0; j < n; ++j)
        if (!(std::fabs(v[j]) / velocities_.scales[j] <= rules_.absurd)) return false;
    return true;
}

// The rate of a state (work done) follows from its own equation, linear in the rate and in no other state's.
void Search::set_state_rates(const double* values, double t, const double* q, double* v) {
    if (asked_.states.empty()) return;
    load(values, t);
    const int n = asked_.n;
    double* rates = work_.data() + velocities_.at;
    std::copy_n(q, n, work_.begin() + positions_.at);
    std::copy_n(v, n, rates);
    for (int j : asked_.states) rates[j] = 0;
    asked_.rates.evaluate(work_.data(), state_.data());
    const std::vector<double> at_rest = state_;
    for (int j : asked_.states) rates[j] = at_rest[j] == 0 ? 1.0 : at_rest[j];
    asked_.rates.evaluate(work_.data(), state_.data());
    for (int j : asked_.states) v[j] = rates[j] * at_rest[j] / (at_rest[j] - state_[j]);
}

// --- states that are given

void Search::check(const double* values, double t, const double* q, double* v, bool* close, bool* regular) {
    const int n = asked_.n, m = asked_.m;
    load(values, t);
    std::vector<double> missed(m), own(m);
    evaluate(positions_, q);
    std::copy_n(raw_.data(), m, missed.data());
    velocities_.scales = positions_.scales;
    double speed = 1;
    for (int j = 0; j < n; ++j) speed = std::max(speed, std::fabs(v[j]) / positions_.scales[j]);
    lengths(velocities_, v, own.data());
    *close = std::all_of(v, v + n, [](double each) { return std::isfinite(each); });
    for (int i = 0; i < m; ++i) {
        const double scale = own[i] > 0 ? own[i] : 1.0;
        const double off = std::fabs(missed[i]) / scale, rate = std::fabs(raw_[i]) / (scale * speed);
        *close = *close && off <= rules_.off && rate <= rules_.off;
    }
    *regular = m == 0 || m > n;
    if (!*regular) {
        for (int j = 0; j < n; ++j) beside_[j] = velocities_.scales[j] * generic(j);
        lengths(velocities_, beside_.data(), velocities_.row_scales.data());
        for (double& each : velocities_.row_scales) each = each > 0 ? each : 1.0;
        std::vector<int> all(n);
        for (int j = 0; j < n; ++j) all[j] = j;
        *regular = independence(velocities_, beside_.data(), all) >= rules_.singular;
    }
    set_state_rates(values, t, q, v);
}

}  // namespace mechsim

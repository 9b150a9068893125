// Answers in quad precision for the Reference sections of specs/: ODEs in angles and lengths, written by hand, which share
// nothing with mechsim. Extrapolation of Gragg, Bulirsch and Stoer, order 24, with two step sizes; the difference of both
// is printed behind every value.   g++ -O2 -std=gnu++20 answers.cpp -lquadmath && ./a.out   (some minutes)
#include <quadmath.h>

#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

using Quad = __float128;
using Vector = std::vector<Quad>;
using Matrix = std::vector<Vector>;
using Ode = std::function<Vector(Quad, const Vector&)>;
using Names = std::vector<std::string>;

static const int COLUMNS = 12;  // of the extrapolation table

static Quad number(const char* text) { return strtoflt128(text, nullptr); }
static Quad ratio(int a, int b) { return Quad(a) / Quad(b); }

static void show(const std::string& name, Quad value, Quad difference = 0) {
    char text[64];
    quadmath_snprintf(text, sizeof text, "%.22Qg", value);
    std::printf("  %-24s %s   %.0e\n", name.c_str(), text, (double)fabsq(difference));
}

static Vector solve(Matrix a, Vector b) {
    int n = b.size();
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k; i < n; i++)
            if (fabsq(a[i][k]) > fabsq(a[pivot][k])) pivot = i;
        std::swap(a[k], a[pivot]);
        std::swap(b[k], b[pivot]);
        for (int i = k + 1; i < n; i++) {
            Quad factor = a[i][k] / a[k][k];
            for (int j = k; j < n; j++) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int j = k + 1; j < n; j++) b[k] -= a[k][j] * b[j];
        b[k] /= a[k][k];
    }
    return b;
}

static Vector moved(Vector a, Quad factor, const Vector& b) {
    for (size_t i = 0; i < a.size(); i++) a[i] += factor * b[i];
    return a;
}

static Vector step(const Ode& f, Quad t, const Vector& y, Quad length) {
    Matrix table;
    for (int row = 0; row < COLUMNS; row++) {  // modified midpoint rule with 2, 4, 6, ... steps
        int n = 2 * (row + 1);
        Quad h = length / n;
        Vector before = y, now = moved(y, h, f(t, y));
        for (int m = 1; m < n; m++) {
            Vector next = moved(before, 2 * h, f(t + m * h, now));
            before = now;
            now = next;
        }
        Vector end = moved(now, h, f(t + length, now));
        for (size_t j = 0; j < end.size(); j++) end[j] = (before[j] + end[j]) / 2;
        table.push_back(end);
    }
    for (int j = 1; j < COLUMNS; j++)
        for (int i = COLUMNS - 1; i >= j; i--) {
            Quad r = ratio(i + 1, i - j + 1);
            for (size_t c = 0; c < y.size(); c++) table[i][c] += (table[i][c] - table[i - 1][c]) / (r * r - 1);
        }
    return table.back();
}

static Matrix followed(const Ode& f, const Vector& times, Vector y, double steps_per_second) {
    Matrix found;
    for (size_t i = 1; i < times.size(); i++) {
        int n = (int)((double)(times[i] - times[i - 1]) * steps_per_second) + 1;
        Quad length = (times[i] - times[i - 1]) / n;
        for (int s = 0; s < n; s++) y = step(f, times[i - 1] + s * length, y, length);
        found.push_back(y);
    }
    return found;
}

static Matrix answers(const std::string& title, const Ode& f, const Vector& times, const Vector& start, double steps,
                      const Names& names) {
    std::printf("%s\n", title.c_str());
    Matrix rough = followed(f, times, start, steps), fine = followed(f, times, start, 1.37 * steps);
    for (size_t i = 0; i < fine.size(); i++) {
        std::printf(" t = %g\n", (double)times[i + 1]);
        for (size_t j = 0; j < names.size(); j++) show(names[j], fine[i][j], fine[i][j] - rough[i][j]);
    }
    return fine;
}

// --- arms of seed 004: masses at the ends of massless links, absolute angles from the horizontal

using Torques = std::function<void(const Vector& angle, const Vector& rate, const Vector& more, Vector& on, Vector& more_rate)>;

static Ode arm(Vector mass, Vector length, Quad end_damping, Torques torques) {
    return [=](Quad, const Vector& y) {
        int n = mass.size();
        Vector angle(y.begin(), y.begin() + n), rate(y.begin() + n, y.begin() + 2 * n), more(y.begin() + 2 * n, y.end());
        Vector cosine(n), sine(n), right(n, 0), on(n, 0), more_rate;
        Matrix inertia(n, Vector(n, 0));
        for (int i = 0; i < n; i++) cosine[i] = length[i] * cosq(angle[i]), sine[i] = length[i] * sinq(angle[i]);
        Quad bent_x = 0, bent_y = 0, v_x = 0, v_y = 0;  // of the end of link i: acceleration at constant rates, velocity
        for (int i = 0; i < n; i++) {
            bent_x -= cosine[i] * rate[i] * rate[i];
            bent_y -= sine[i] * rate[i] * rate[i];
            v_x -= sine[i] * rate[i];
            v_y += cosine[i] * rate[i];
            Quad f_x = -mass[i] * bent_x - end_damping * v_x, f_y = -mass[i] * (bent_y + number("9.8")) - end_damping * v_y;
            for (int j = 0; j <= i; j++) {
                right[j] += -sine[j] * f_x + cosine[j] * f_y;
                for (int k = 0; k <= i; k++) inertia[j][k] += mass[i] * (sine[j] * sine[k] + cosine[j] * cosine[k]);
            }
        }
        torques(angle, rate, more, on, more_rate);
        Vector found = rate, accelerations = solve(inertia, moved(right, 1, on));
        found.insert(found.end(), accelerations.begin(), accelerations.end());
        found.insert(found.end(), more_rate.begin(), more_rate.end());
        return found;
    };
}

static Vector relative(Vector a) {
    for (size_t i = a.size() - 1; i > 0; i--) a[i] -= a[i - 1];
    return a;
}

static Vector with_reactions(Vector torque) {  // a torque in a joint acts back on the link before
    for (size_t i = 0; i + 1 < torque.size(); i++) torque[i] -= torque[i + 1];
    return torque;
}

static Torques controlled(Vector degrees, Vector kp, Vector kd, Vector ki = {}) {
    return [=](const Vector& angle, const Vector& rate, const Vector& integral, Vector& on, Vector& error) {
        Vector at = relative(angle), turning = relative(rate), torque(at.size());
        for (size_t i = 0; i < at.size(); i++) {
            Quad off = degrees[i] * M_PIq / 180 - at[i];
            torque[i] = kp[i] * off - kd[i] * turning[i] + (ki.empty() ? Quad(0) : ki[i] * integral[i]);
            if (!ki.empty()) error.push_back(off);
        }
        on = with_reactions(torque);
    };
}

static Vector weight(const Vector& angle, const Vector& mass, const Vector& length) {
    Vector found(angle.size());
    Quad beyond = 0;
    for (int i = angle.size() - 1; i >= 0; i--) {
        beyond += mass[i];
        found[i] = number("9.8") * beyond * length[i] * cosq(angle[i]);
    }
    return found;
}

static void arms() {
    Torques none = [](const Vector&, const Vector&, const Vector&, Vector&, Vector&) {};
    Names all = {"theta_OA", "theta_AB", "theta_BC"};
    Vector masses = {3, 1, 1}, lengths = {2, 1, 1};
    Matrix targets = {{110}, {80, 30}, {125, -30, -30}}, kp = {{200}, {100, 50}, {1000, 1000, 500}};
    Matrix kd = {{50}, {50, 20}, {200, 200, 100}};
    for (int n = 1; n <= 3; n++) {
        Vector m(masses.begin(), masses.begin() + n), l(lengths.begin(), lengths.begin() + n);
        Names names(all.begin(), all.begin() + n);
        for (int i = 0; i < n; i++) names.push_back(all[i] + "_dot");
        std::string arm_n = "arm" + std::to_string(n);
        answers(arm_n, arm(m, l, 1, none), {0, 5, 10}, Vector(2 * n, 0), 20, names);
        double steps = n == 3 ? 1600 : 60;  // strong gains are stiff
        answers(arm_n + "_pd", arm(m, l, 1, controlled(targets[n - 1], kp[n - 1], kd[n - 1])), {0, ratio(1, 2)}, Vector(2 * n, 0),
                steps, names);
        // At rest control balances the weight: Newton's method from the target.
        auto torque = controlled(targets[n - 1], kp[n - 1], Vector(n, 0));
        Vector at(n, 0), none_moves(n, 0);
        for (int i = 0; i < n; i++) at[i] = (i ? at[i - 1] : Quad(0)) + targets[n - 1][i] * M_PIq / 180;
        auto unbalanced = [&](const Vector& x) {
            Vector on, unused;
            torque(x, none_moves, {}, on, unused);
            return moved(on, -1, weight(x, m, l));
        };
        for (int iteration = 0; iteration < 50; iteration++) {
            Matrix slope(n, Vector(n));
            for (int k = 0; k < n; k++) {
                Vector more = at, less = at;
                more[k] += 1e-15Q, less[k] -= 1e-15Q;
                Vector difference = moved(unbalanced(more), -1, unbalanced(less));
                for (int j = 0; j < n; j++) slope[j][k] = difference[j] / 2e-15Q;
            }
            at = moved(at, -1, solve(slope, unbalanced(at)));
        }
        std::printf(" at rest\n");
        for (int i = 0; i < n; i++) show(all[i], at[i], unbalanced(at)[i]);
    }
    Names three = {"theta_OA", "theta_AB", "theta_BC", "theta_OA_dot", "theta_AB_dot", "theta_BC_dot"};
    Torques viscous = [](const Vector&, const Vector& rate, const Vector&, Vector& on, Vector&) {
        on = with_reactions(moved(Vector(rate.size(), 0), -1, relative(rate)));
    };
    answers("arm3_viscous_joints", arm(masses, lengths, 0, viscous), {0, 5, 10}, Vector(6, 0), 20, three);
    Torques pd = controlled(targets[2], kp[2], kd[2]);
    Torques holding = [=](const Vector& angle, const Vector& rate, const Vector& more, Vector& on, Vector& more_rate) {
        pd(angle, rate, more, on, more_rate);
        on = moved(on, 1, weight(angle, masses, lengths));
    };
    answers("arm3_compensated", arm(masses, lengths, 1, holding), {0, ratio(1, 2)}, Vector(6, 0), 1600, three);
    Vector ki = {1000, 1000, 500};
    Names integrals = three;
    integrals.insert(integrals.end(), {"int_theta_OA", "int_theta_AB_theta_OA", "int_theta_BC_theta_AB"});
    answers("arm3_pid", arm(masses, lengths, 1, controlled(targets[2], kp[2], kd[2], ki)), {0, ratio(1, 2)}, Vector(9, 0), 1600,
            integrals);
    Vector held = weight({125 * M_PIq / 180, 95 * M_PIq / 180, 65 * M_PIq / 180}, masses, lengths);
    held[1] += held[2], held[0] += held[1];
    for (int i = 0; i < 3; i++) show(integrals[6 + i] + " at rest", held[i] / ki[i]);
    Names ten;
    for (int i = 0; i < 10; i++) ten.push_back("theta_P" + std::to_string(i) + "P" + std::to_string(i + 1));
    answers("arm10", arm(Vector(10, 1), Vector(10, 1), 1, none), {0, 1, 3}, Vector(20, 0), 24, ten);
}

// --- the arm whose second link slides: angle a, length r beyond A, angle b of the third link

static void slider() {
    Ode f = [](Quad, const Vector& y) {
        Quad a = y[0], out = 2 + y[1], b = y[2], off = number("0.1") - y[1];
        Quad along[2] = {cosq(a), sinq(a)}, across[2] = {-along[1], along[0]}, third[2] = {cosq(b), sinq(b)};
        Quad turned[2] = {-third[1], third[0]}, mass[3] = {3, 1, 1};
        Matrix inertia(3, Vector(3, 0));
        Vector right(3, 0);
        for (int i = 0; i < 3; i++)  // the points A, B, C
            for (int k = 0; k < 2; k++) {
                Quad way[3] = {(i ? out : Quad(2)) * across[k], i ? along[k] : Quad(0), i == 2 ? turned[k] : Quad(0)};
                Quad bent = i ? -out * y[3] * y[3] * along[k] + 2 * y[4] * y[3] * across[k] : -2 * y[3] * y[3] * along[k];
                if (i == 2) bent -= y[5] * y[5] * third[k];
                Quad speed = y[3] * way[0] + y[4] * way[1] + y[5] * way[2];
                Quad force = mass[i] * ((k ? -number("9.8") : Quad(0)) - bent) - speed;
                for (int j = 0; j < 3; j++) {
                    right[j] += way[j] * force;
                    for (int c = 0; c < 3; c++) inertia[j][c] += mass[i] * way[j] * way[c];
                }
            }
        right[1] += 1000 * off - 100 * y[4] + 500 * y[6];
        Vector found = solve(inertia, right);
        return Vector{y[3], y[4], y[5], found[0], found[1], found[2], off};
    };
    Names names = {"theta_OA", "r", "theta_BC", "theta_OA_dot", "r_dot", "theta_BC_dot", "int_dist_A_B"};
    for (const Vector& y : answers("arm3_slider", f, {0, 1, 5}, {0, 1, 0, 0, 0, 0, 0}, 120, names)) {
        show("B_x", (2 + y[1]) * cosq(y[0]));
        show("B_y", (2 + y[1]) * sinq(y[0]));
    }
}

// --- the triple pendulum of seed 003, eq (8), angles psi = theta + pi/2

static void triple_pendulum() {
    Quad inertia[3][3] = {{1, ratio(9, 14), ratio(3, 14)}, {ratio(9, 14), ratio(4, 7), ratio(3, 14)}, {ratio(3, 14), ratio(3, 14), ratio(1, 7)}};
    Quad pull[3] = {1, ratio(3, 5), ratio(1, 5)}, viscous[3][3] = {{2, -1, 0}, {-1, 2, -1}, {0, -1, 1}};
    Ode f = [=](Quad t, const Vector& y) {
        Matrix a(3, Vector(3));
        Vector right(3);
        for (int i = 0; i < 3; i++) {
            right[i] = -pull[i] * sinq(y[i]);
            for (int j = 0; j < 3; j++) {
                a[i][j] = inertia[i][j] * cosq(y[i] - y[j]);
                right[i] -= inertia[i][j] * sinq(y[i] - y[j]) * y[3 + j] * y[3 + j] + number("0.1") * viscous[i][j] * y[3 + j];
            }
        }
        right[0] += number("0.7") * cosq(number("1.2") * t);
        Vector found = solve(a, right);
        return Vector{y[3], y[4], y[5], found[0], found[1], found[2]};
    };
    Vector start = {number("0.3"), number("-0.2"), number("0.5"), number("0.1"), number("-0.4"), number("0.2")};
    Names names = {"psi_OA", "psi_AB", "psi_BC", "theta_OA_dot", "theta_AB_dot", "theta_BC_dot"};
    answers("triple_pendulum", f, {0, 10, 50}, start, 14, names);
}

// --- Mechanism0 of seed 001, (4.6)-(4.8): angles theta and phi from the downward vertical, length r of the spring

static Ode mechanism0(Quad L, Quad M, Quad k, Quad rest, Quad particle, Quad mu, Quad torque) {
    Quad alpha = mu / 2 + particle, beta = mu / 3 + particle, gamma = M / 3 + mu + particle, g = number("9.80665");
    return [=](Quad, const Vector& y) {
        Quad theta = y[0], r = y[1], phi = y[2], w = y[3], u = y[4], f = y[5];
        Quad s = sinq(phi - theta), c = cosq(phi - theta), turn = f - w, along = alpha * L * w * (u * c - r * f * s);
        Matrix a = {{gamma * L * L, alpha * L * s, alpha * L * r * c}, {alpha * L * s, beta, 0}, {alpha * L * r * c, 0, beta * r * r}};
        Vector change = {alpha * L * (u * c * turn + u * f * c - r * f * s * turn), alpha * L * w * c * turn,
                         alpha * L * w * (u * c - r * s * turn) + 2 * beta * r * u * f};
        Vector slope = {-along - (M / 2 + mu + particle) * g * L * sinq(theta) + torque,
                        alpha * L * w * f * c + beta * r * f * f + alpha * g * cosq(phi) - k * (r - rest),
                        along - alpha * g * r * sinq(phi)};
        Vector found = solve(a, moved(slope, -1, change));
        return Vector{w, u, f, found[0], found[1], found[2]};
    };
}

static void show_points(const Matrix& states, Quad L) {
    for (const Vector& y : states) {
        Quad s = sinq(y[0]), c = cosq(y[0]), p = sinq(y[2]), q = cosq(y[2]);
        show("A_x", L * s), show("A_y", -L * c), show("A_x_dot", L * y[3] * c), show("A_y_dot", L * y[3] * s);
        show("B_x", L * s + y[1] * p), show("B_y", -L * c - y[1] * q);
        show("B_x_dot", L * y[3] * c + y[4] * p + y[1] * y[5] * q), show("B_y_dot", L * y[3] * s - y[4] * q + y[1] * y[5] * p);
    }
}

static void mechanisms0() {
    Quad L = number("11.137"), rest = number("11.88"), v0 = number("12.34");
    Quad theta = atan2q(5, 12), phi = atan2q(3, 4), up = v0 * tanq(theta);  // A moves along its circle, B is at rest
    Vector start = {theta, rest, phi, v0 / (L * cosq(theta)), up * cosq(phi) - v0 * sinq(phi), -(v0 * cosq(phi) + up * sinq(phi)) / rest};
    Ode figure3 = mechanism0(L, number("2.059"), number("35.24"), rest, number("1.416"), number("2.715"), number("6.46"));
    show_points(answers("mechanism0_figure3", figure3, {0, 1, 10}, start, 10, {"theta"}), L);
    // Figure 2: A_x = L is fixed, so A = (L, 0), and no velocity of the circle is near the guess: all is at rest.
    Quad down = 2 - number("0.1") * number("9.80665") / 1000;
    Ode figure2 = mechanism0(1, 1, 1000, 1, number("0.1"), number("0.5"), 0);
    start = {M_PIq / 2, sqrtq(1 + down * down), atan2q(1, down), 0, 0, 0};
    show_points(answers("mechanism0", figure2, {0, ratio(1, 10), 1}, start, 4000, {"theta"}), 1);
}

// --- friction on an incline: v' = p - q tanh(v/v0), whose t(v) is known in closed form

static void friction() {
    Quad g = number("9.81"), slope = number("0.5"), v0 = number("0.05"), p = g * sinq(slope), q = number("0.4") * g * cosq(slope);
    Ode f = [=](Quad, const Vector& y) { return Vector{y[1], p - q * tanhq(y[1] / v0)}; };
    auto integral = [=](Quad u) { return (p * u + q * (u + logq((p - q) + (p + q) * expq(-2 * u)))) / (p * p - q * q); };
    for (const Vector& y : answers("friction_on_incline", f, {0, ratio(1, 2), 2}, {0, 0}, 4000, {"way", "speed"})) {
        show("A_x", y[0] * cosq(slope)), show("A_y", -y[0] * sinq(slope));
        show("A_x_dot", y[1] * cosq(slope)), show("A_y_dot", -y[1] * sinq(slope));
        show("t by the closed form", v0 * (integral(y[1] / v0) - integral(0)));
    }
}

int main() {
    arms();
    slider();
    triple_pendulum();
    mechanisms0();
    friction();
}

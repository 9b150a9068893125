#include "complementarity.hpp"

#include <cmath>

namespace mechsim {

namespace {

constexpr double kPivot = 1e-11;  // of rows scaled to one: less is zero

// w - W z - z0 = q as rows; columns are those of w, of z, of the artificial z0, and q.
struct Tableau {
    int size, width;
    std::vector<double> values;
    std::vector<int> basis;

    Tableau(const std::vector<double>& w, const std::vector<double>& q)
        : size(int(q.size())), width(2 * size + 2), values(std::size_t(size) * width, 0.0), basis(size) {
        for (int i = 0; i < size; ++i) {
            double* line = row(i);
            line[i] = 1;
            for (int j = 0; j < size; ++j) line[size + j] = -w[std::size_t(j) * size + i];
            line[artificial()] = -1;
            line[right()] = q[i];
            basis[i] = i;
        }
    }
    double* row(int i) { return &values[std::size_t(i) * width]; }
    int artificial() const { return 2 * size; }
    int right() const { return 2 * size + 1; }

    void pivot(int leaving, int entering) {
        double* line = row(leaving);
        const double divisor = line[entering];
        for (int j = 0; j < width; ++j) line[j] /= divisor;
        for (int i = 0; i < size; ++i) {
            const double factor = i == leaving ? 0.0 : row(i)[entering];
            if (factor == 0) continue;
            for (int j = 0; j < width; ++j) row(i)[j] -= factor * line[j];
        }
        basis[leaving] = entering;
    }

    // Which row comes to zero first when a column enters; of several the artificial one, then the first by the columns of w,
    // so that no basis comes twice.
    int first_to_leave(int entering, double close) {
        int best = -1;
        for (int i = 0; i < size; ++i) {
            if (!(row(i)[entering] > kPivot)) continue;
            if (best < 0 || is_before(i, best, entering, close)) best = i;
        }
        return best;
    }
    bool is_before(int one, int other, int entering, double close) {
        const double of_one = row(one)[entering], of_other = row(other)[entering];
        const double ahead = row(other)[right()] / of_other - row(one)[right()] / of_one;
        if (std::abs(ahead) > close) return ahead > 0;
        if (basis[one] == artificial() || basis[other] == artificial()) return basis[one] == artificial();
        for (int j = 0; j < size; ++j) {
            const double further = row(other)[j] / of_other - row(one)[j] / of_one;
            if (std::abs(further) > kPivot) return further > 0;
        }
        return false;
    }
};

}  // namespace

Complementary complementary(const std::vector<double>& w, const std::vector<double>& q) {
    Tableau table(w, q);
    const int size = table.size;
    Complementary found;
    found.z.assign(size, 0.0);
    found.acts.assign(size, 0);
    double lowest = 0;
    int leaving = -1;
    for (int i = 0; i < size; ++i)
        if (q[i] < lowest) lowest = q[i], leaving = i;
    found.solved = leaving < 0;
    if (found.solved) return found;
    int entering = table.artificial();
    for (int count = 0; count < 50 * (size + 1) && leaving >= 0; ++count) {
        const int left = table.basis[leaving];
        table.pivot(leaving, entering);
        found.solved = left == table.artificial();
        if (found.solved) break;
        entering = left < size ? left + size : left - size;
        leaving = table.first_to_leave(entering, kPivot * std::abs(lowest));
    }
    for (int i = 0; i < size; ++i) {
        const int each = table.basis[i] - size;
        if (each < 0 || each >= size) continue;
        found.z[each] = table.row(i)[table.right()];
        found.acts[each] = 1;
    }
    return found;
}

std::vector<double> pushes(const std::vector<double>& w, const std::vector<double>& q) {
    const std::size_t size = q.size();
    // Scaled so that each contact answers its own push by one.
    std::vector<double> unit(size), scaled(w.size()), right(size);
    for (std::size_t i = 0; i < size; ++i) unit[i] = 1 / std::sqrt(w[i * size + i]);
    for (std::size_t i = 0; i < size; ++i) right[i] = q[i] * unit[i];
    for (std::size_t j = 0; j < size; ++j)
        for (std::size_t i = 0; i < size; ++i) scaled[j * size + i] = w[j * size + i] * unit[i] * unit[j];
    Complementary found = complementary(scaled, right);
    if (!found.solved) return {};
    for (std::size_t i = 0; i < size; ++i) found.z[i] *= unit[i];
    return found.z;
}

}  // namespace mechsim

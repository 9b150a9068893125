#include "complementarity.hpp"

#include <cmath>

namespace mechsim {

namespace {

constexpr double kPivot = 1e-11;  // of rows scaled to one: less is zero

}  // namespace

std::vector<double> pushes(const std::vector<double>& w, const std::vector<double>& q) {
    const int size = int(q.size()), width = 2 * size + 2, artificial = 2 * size, right = 2 * size + 1;
    // Rows and columns are scaled so that each contact answers its own push by one, whatever its units.
    std::vector<double> unit(size), z(size, 0.0);
    for (int i = 0; i < size; ++i) unit[i] = 1 / std::sqrt(w[std::size_t(i) * size + i]);
    double lowest = 0;
    int row = -1;
    for (int i = 0; i < size; ++i)
        if (q[i] * unit[i] < lowest) lowest = q[i] * unit[i], row = i;
    if (row < 0) return z;
    std::vector<double> table(std::size_t(size) * width, 0.0);
    std::vector<int> basis(size);
    for (int i = 0; i < size; ++i) {
        double* line = &table[std::size_t(i) * width];
        line[i] = 1;
        for (int j = 0; j < size; ++j) line[size + j] = -w[std::size_t(j) * size + i] * unit[i] * unit[j];
        line[artificial] = -1;
        line[right] = q[i] * unit[i];
        basis[i] = i;
    }
    int entering = artificial;
    for (int count = 0; count < 50 * (size + 1); ++count) {
        double* pivot_line = &table[std::size_t(row) * width];
        const double pivot = pivot_line[entering];
        for (int j = 0; j < width; ++j) pivot_line[j] /= pivot;
        for (int i = 0; i < size; ++i) {
            const double factor = i == row ? 0.0 : table[std::size_t(i) * width + entering];
            if (factor == 0) continue;
            for (int j = 0; j < width; ++j) table[std::size_t(i) * width + j] -= factor * pivot_line[j];
        }
        const int leaving = basis[row];
        basis[row] = entering;
        if (leaving == artificial) {
            for (int i = 0; i < size; ++i)
                if (basis[i] >= size && basis[i] < artificial)
                    z[basis[i] - size] = table[std::size_t(i) * width + right] * unit[basis[i] - size];
            return z;
        }
        entering = leaving < size ? leaving + size : leaving - size;
        row = -1;
        double least = INFINITY;
        for (int i = 0; i < size; ++i) {
            const double entry = table[std::size_t(i) * width + entering];
            if (!(entry > kPivot)) continue;
            const double ratio = table[std::size_t(i) * width + right] / entry;
            if (ratio < least) least = ratio, row = i;
        }
        // Where several leave at once the artificial one goes: then all is done.
        for (int i = 0; i < size; ++i) {
            const double entry = table[std::size_t(i) * width + entering];
            const bool also = entry > kPivot && table[std::size_t(i) * width + right] / entry <= least + kPivot * std::abs(lowest);
            if (basis[i] == artificial && also) row = i;
        }
        if (row < 0) return {};
    }
    return {};
}

}  // namespace mechsim

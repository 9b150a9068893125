#include "lane_loops.hpp"

namespace mechsim {

MECHSIM_CLONES void add_lanes(const double* sums, const double* from, const long long* mask, double* low, double* found,
                              int step) {
    for (int s = 0; s < step; ++s) {
        const Lanes old = vec(from)[s], sum = vec(sums)[s];
        const Mask moving = reinterpret_cast<const Mask*>(mask)[s];
        Lanes& x = vec(found)[s];
        if (!low) {
            x = moving ? old + sum : x;
            continue;
        }
        Lanes& rest = vec(low)[s];
        const Lanes y = sum + rest, total = old + y, part = total - old;
        rest = moving ? (old - (total - part)) + (y - part) : rest;
        x = moving ? total : x;
    }
}

MECHSIM_CLONES void multiply_rows(double* rows, const double* factors, int count, int step) {
    for (int i = 0; i < count; ++i)
        for (int s = 0; s < step; ++s) vec(rows)[i * step + s] *= factors[i];
}

MECHSIM_CLONES void blend(const double* from, double* to, const long long* mask, std::size_t rows, int step) {
    for (std::size_t i = 0; i < rows; ++i)
        for (int s = 0; s < step; ++s) {
            const std::size_t place = i * step + s;
            vec(to)[place] = reinterpret_cast<const Mask*>(mask)[s] ? vec(from)[place] : vec(to)[place];
        }
}

MECHSIM_CLONES void subtract_product(const SparseLU& pattern, const double* matrix, const double* x, double* rest, int step) {
    const int width = step * kWidth;
    for (std::size_t entry = 0; entry < pattern.rows().size(); ++entry)
        for (int s = 0; s < step; ++s)
            vec(rest + std::size_t(pattern.rows()[entry]) * width)[s] -=
                vec(matrix + entry * width)[s] * vec(x + std::size_t(pattern.columns()[entry]) * width)[s];
}

MECHSIM_CLONES void correct_unknown(const Correction& c, const long long* mask, int step) {
    for (int s = 0; s < step; ++s) {
        const Mask active = reinterpret_cast<const Mask*>(mask)[s];
        const Lanes delta = vec(c.delta)[s] * c.factor, old = vec(c.x)[s];
        Lanes value;
        if (c.low) {
            const Lanes y = delta + vec(c.low)[s];
            value = old + y;
            const Lanes part = value - old;
            vec(c.low)[s] = active ? (old - (value - part)) + (y - part) : vec(c.low)[s];
        } else {
            value = old + delta;
        }
        vec(c.x)[s] = active ? value : old;
        const Lanes scale = vec(c.inverse_scale)[s], size = absolute(delta);
        vec(c.change)[s] = larger(vec(c.change)[s], size * scale);
        vec(c.extent)[s] = larger(vec(c.extent)[s], absolute(value) * scale);
        vec(c.total)[s] += size;
    }
}

}  // namespace mechsim

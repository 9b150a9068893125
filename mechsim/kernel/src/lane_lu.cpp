#include "lane_lu.hpp"

#include <algorithm>
#include <cmath>

namespace mechsim {

namespace {

constexpr double kNoPivot = 1e300;  // its inverse, at least

template <int Step>
struct Row {
    Lanes v[Step];
};

template <int Step>
MECHSIM_INLINE void eliminate(LaneFactors& parts) {
    double* a = parts.values.data();
    const int* target = parts.targets.data();
    const double *scales = parts.scales.data(), *inverse_scales = parts.inverse_scales.data();
    const LaneFactors::Entry *u = parts.u.data(), *l = parts.l.data();
    const int count = int(parts.pivots.size());
    const Lanes none = {0, 0, 0, 0}, infinite = none + INFINITY;
    Lanes growth[Step];
    for (int s = 0; s < Step; ++s) growth[s] = none;
    for (int p = 0; p < count; ++p) {
        const LaneFactors::Pivot& pivot = parts.pivots[p];
        Lanes* own = vec(a + std::size_t(p) * Step * kWidth);
        for (int s = 0; s < Step; ++s) {
            own[s] = 1.0 / own[s];
            growth[s] = absolute(own[s]) < kNoPivot ? growth[s] : infinite;
        }
        Lanes largest[Step];
        for (int s = 0; s < Step; ++s) largest[s] = none;
        for (int k = pivot.u_first; k < pivot.u_last; ++k) {
            Lanes* right = vec(a + u[k].place);
            for (int s = 0; s < Step; ++s) {
                right[s] *= own[s];
                largest[s] = larger(largest[s], absolute(right[s]) * vec(scales + u[k].index)[s]);
            }
        }
        for (int s = 0; s < Step; ++s) growth[s] = larger(growth[s], largest[s] * vec(inverse_scales + pivot.column)[s]);
        for (int k = pivot.l_first; k < pivot.l_last; ++k) {
            Row<Step> multiplier = *reinterpret_cast<Row<Step>*>(a + l[k].place);
            for (int j = pivot.u_first; j < pivot.u_last; ++j, ++target)
                for (int s = 0; s < Step; ++s) vec(a + *target)[s] -= multiplier.v[s] * vec(a + u[j].place)[s];
        }
    }
    for (int s = 0; s < Step; ++s) vec(parts.growth.data())[s] = growth[s];
}

template <int Step>
MECHSIM_INLINE void substitute(LaneFactors& parts, double* b) {
    const double* a = parts.values.data();
    double* work = parts.work.data();
    const LaneFactors::Entry* u = parts.u.data();
    const int count = int(parts.pivots.size());
    const LaneFactors::Entry* below = parts.below.data();
    for (int p = 0; p < count; ++p) {
        const std::size_t place = std::size_t(p) * Step * kWidth;
        Row<Step> value = *reinterpret_cast<Row<Step>*>(b + parts.pivots[p].row);
        for (const LaneFactors::Entry* last = parts.below.data() + parts.below_last[p]; below < last; ++below)
            for (int s = 0; s < Step; ++s) value.v[s] -= vec(a + below->place)[s] * vec(work + below->index)[s];
        for (int s = 0; s < Step; ++s) vec(work + place)[s] = value.v[s] * vec(a + place)[s];
    }
    for (int p = count - 1; p >= 0; --p) {
        const LaneFactors::Pivot& pivot = parts.pivots[p];
        Row<Step> value;
        for (int s = 0; s < Step; ++s) value.v[s] = vec(work + std::size_t(p) * Step * kWidth)[s];
        for (int k = pivot.u_first; k < pivot.u_last; ++k)
            for (int s = 0; s < Step; ++s) value.v[s] -= vec(a + u[k].place)[s] * vec(b + u[k].index)[s];
        for (int s = 0; s < Step; ++s) vec(b + pivot.column)[s] = value.v[s];
    }
}

MECHSIM_CLONES void eliminate_lanes(int step, LaneFactors& parts) {
    switch (step) {
        case 1: return eliminate<1>(parts);
        case 2: return eliminate<2>(parts);
        case 4: return eliminate<4>(parts);
        default: return eliminate<8>(parts);
    }
}

MECHSIM_CLONES void substitute_lanes(int step, LaneFactors& parts, double* b) {
    switch (step) {
        case 1: return substitute<1>(parts, b);
        case 2: return substitute<2>(parts, b);
        case 4: return substitute<4>(parts, b);
        default: return substitute<8>(parts, b);
    }
}

}  // namespace

LaneLU::LaneLU(const SparseLU& like, int width) : width_(width) {
    std::vector<int> place(like.values_.size(), -1);
    int count = 0;
    auto numbered = [&](int slot) {
        if (place[slot] < 0) place[slot] = width * count++;
        return place[slot];
    };
    for (const SparseLU::Pivot& pivot : like.pivots_) numbered(pivot.slot);
    for (const SparseLU::Entry& entry : like.l_)
        factors_.l.push_back({numbered(entry.slot), entry.index * width});
    for (const SparseLU::Entry& entry : like.u_)
        factors_.u.push_back({numbered(entry.slot), entry.index * width});
    for (int target : like.targets_) factors_.targets.push_back(numbered(target));
    for (std::size_t entry = 0; entry < like.rows_.size(); ++entry) places_.push_back(numbered(int(entry)));
    for (const SparseLU::Pivot& p : like.pivots_)
        factors_.pivots.push_back({p.row * width, p.column * width, p.u_first, p.u_last, p.l_first, p.l_last});
    std::vector<std::vector<LaneFactors::Entry>> of_row(like.pivots_.size());
    for (int p = 0; p < int(like.pivots_.size()); ++p)
        for (int k = like.pivots_[p].l_first; k < like.pivots_[p].l_last; ++k)
            of_row[like.l_[k].index].push_back({place[like.l_[k].slot], p * width});
    for (const SparseLU::Pivot& pivot : like.pivots_) {
        const auto& row = of_row[pivot.row];
        factors_.below.insert(factors_.below.end(), row.begin(), row.end());
        factors_.below_last.push_back(int(factors_.below.size()));
    }
    factors_.values.assign(std::size_t(count) * width, 0.0);
    factors_.work.assign(like.pivots_.size() * width, 0.0);
    factors_.growth.assign(width, 0.0);
    factors_.scales.assign(like.pivots_.size() * width, 1.0);
    factors_.inverse_scales = factors_.scales;
}

void LaneLU::set_scales(int lane, const std::vector<double>& column_scales) {
    for (std::size_t j = 0; j < column_scales.size(); ++j) {
        factors_.scales[j * width_ + lane] = column_scales[j];
        factors_.inverse_scales[j * width_ + lane] = 1 / column_scales[j];
    }
}

void LaneLU::factor(const double* matrix) {
    std::fill(factors_.values.begin(), factors_.values.end(), 0.0);
    for (int place : places_) {
        std::copy_n(matrix, width_, factors_.values.data() + place);
        matrix += width_;
    }
    eliminate_lanes(width_ / kWidth, factors_);
}

void LaneLU::solve(double* b) { substitute_lanes(width_ / kWidth, factors_, b); }

void LaneLU::solve(double* b, int lane) const {
    const auto &pivots = factors_.pivots;
    const auto &u = factors_.u, &l = factors_.l;
    const auto& values = factors_.values;
    const int count = int(pivots.size());
    std::vector<double> y(count);
    for (int p = 0; p < count; ++p) {
        y[p] = b[pivots[p].row / width_] * values[std::size_t(p) * width_ + lane];
        for (int k = pivots[p].l_first; k < pivots[p].l_last; ++k)
            b[l[k].index / width_] -= values[l[k].place + lane] * y[p];
    }
    for (int p = count - 1; p >= 0; --p) {
        for (int k = pivots[p].u_first; k < pivots[p].u_last; ++k)
            y[p] -= values[u[k].place + lane] * b[u[k].index / width_];
        b[pivots[p].column / width_] = y[p];
    }
}

}  // namespace mechsim

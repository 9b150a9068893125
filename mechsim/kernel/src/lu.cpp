#include "lu.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace mechsim {

namespace {
constexpr double kThreshold = 0.1;    // a pivot is at least this fraction of the largest entry of its row
constexpr double kGrowthLimit = 1e2;   // reuse a pivot sequence while scaled entries of U stay below this: two digits lost
constexpr double kSingular = 1e13;    // growth beyond this with fresh pivots: nothing left of 16 digits
constexpr int kRowsTried = 4;         // rows of least count in which a pivot is looked for
}  // namespace

SparseLU::SparseLU(int size, std::vector<int> rows, std::vector<int> columns)
    : size_(size), rows_(std::move(rows)), columns_(std::move(columns)), work_(size) {}

bool SparseLU::factor(const double* values) {
    if (!pivots_.empty() && eliminate(values) < kGrowthLimit) return true;
    return analyse(values) && eliminate(values) < kSingular;
}

bool SparseLU::analyse(const double* values) {
    ++analyses_;
    pivots_.clear();
    u_.clear();
    l_.clear();
    targets_.clear();
    const int entries = int(rows_.size());

    // Column scales so that rows can be compared across units: two sweeps of largest-entry equilibration.
    std::vector<double> row_scale(size_, 1.0), column_scale(size_, 1.0);
    for (int sweep = 0; sweep < 2; ++sweep) {
        std::vector<double> largest(size_, 0.0);
        for (int e = 0; e < entries; ++e)
            largest[rows_[e]] = std::max(largest[rows_[e]], std::abs(values[e]) * column_scale[columns_[e]]);
        for (int i = 0; i < size_; ++i) row_scale[i] = largest[i] > 0 ? 1 / largest[i] : 1;
        std::fill(largest.begin(), largest.end(), 0.0);
        for (int e = 0; e < entries; ++e)
            largest[columns_[e]] = std::max(largest[columns_[e]], std::abs(values[e]) * row_scale[rows_[e]]);
        for (int j = 0; j < size_; ++j) column_scale[j] = largest[j] > 0 ? 1 / largest[j] : 1;
    }

    // Active submatrix: each row maps column -> slot; each column knows its rows.
    std::vector<double> current(values, values + entries);
    std::vector<std::map<int, int>> row(size_);
    std::vector<std::set<int>> column(size_);
    for (int e = 0; e < entries; ++e) {
        row[rows_[e]][columns_[e]] = e;
        column[columns_[e]].insert(rows_[e]);
    }
    std::set<std::pair<int, int>> by_count;  // (entries in the row, row)
    for (int i = 0; i < size_; ++i) by_count.insert({int(row[i].size()), i});

    for (int step = 0; step < size_; ++step) {
        int best_row = -1, best_column = -1;
        long best_cost = -1;
        double best_size = 0;
        int tried = 0;
        for (const auto& [count, i] : by_count) {
            double largest = 0;
            for (const auto& [j, slot] : row[i]) largest = std::max(largest, std::abs(current[slot]) * column_scale[j]);
            if (!(largest > 0)) continue;
            for (const auto& [j, slot] : row[i]) {
                const double scaled = std::abs(current[slot]) * column_scale[j];
                if (scaled < kThreshold * largest) continue;
                const long cost = long(count - 1) * long(column[j].size() - 1);
                const double relative = scaled / largest;
                if (best_row < 0 || cost < best_cost || (cost == best_cost && relative > best_size)) {
                    best_row = i;
                    best_column = j;
                    best_cost = cost;
                    best_size = relative;
                }
            }
            if (++tried >= kRowsTried && best_row >= 0) break;
            if (best_cost == 0) break;
        }
        if (best_row < 0) {
            pivots_.clear();
            return false;
        }
        const int slot = row[best_row][best_column];
        Pivot pivot{best_row, best_column, slot, int(u_.size()), 0, int(l_.size()), 0, int(targets_.size())};
        by_count.erase({int(row[best_row].size()), best_row});
        row[best_row].erase(best_column);
        column[best_column].erase(best_row);
        for (const auto& [j, s] : row[best_row]) {
            u_.push_back({s, j, column_scale[j] / column_scale[best_column]});
            column[j].erase(best_row);
        }
        pivot.u_last = int(u_.size());
        for (int i : column[best_column]) {
            by_count.erase({int(row[i].size()), i});
            const int below = row[i][best_column];
            row[i].erase(best_column);
            l_.push_back({below, i, 0});
            const double multiplier = current[below] / current[slot];
            for (int k = pivot.u_first; k < pivot.u_last; ++k) {
                const int j = u_[k].index;
                auto [place, fresh] = row[i].try_emplace(j, int(current.size()));
                if (fresh) {
                    current.push_back(0);
                    column[j].insert(i);
                }
                current[place->second] -= multiplier * current[u_[k].slot];
                targets_.push_back(place->second);
            }
            by_count.insert({int(row[i].size()), i});
        }
        pivot.l_last = int(l_.size());
        pivots_.push_back(pivot);
    }
    values_.assign(current.size(), 0.0);
    inverse_.assign(size_, 0.0);
    u_solve_.clear();
    l_solve_.clear();
    for (const Entry& entry : u_) u_solve_.push_back({0.0, entry.index});
    for (const Entry& entry : l_) l_solve_.push_back({0.0, entry.index});
    return true;
}

double SparseLU::eliminate(const double* values) {
    const std::size_t entries = rows_.size();
    std::copy(values, values + entries, values_.begin());
    std::fill(values_.begin() + entries, values_.end(), 0.0);
    double* a = values_.data();
    const int* target = targets_.data();
    double growth = 0;
    for (std::size_t p = 0; p < pivots_.size(); ++p) {
        const Pivot& pivot = pivots_[p];
        const double inverse = 1 / a[pivot.slot];
        inverse_[p] = inverse;
        for (int k = pivot.u_first; k < pivot.u_last; ++k) {
            a[u_[k].slot] *= inverse;
            growth = std::max(growth, std::abs(a[u_[k].slot]) * u_[k].weight);
        }
        if (!(std::abs(inverse) < 1e300)) return 1e300;
        for (int k = pivot.l_first; k < pivot.l_last; ++k) {
            const double multiplier = a[l_[k].slot];
            for (int j = pivot.u_first; j < pivot.u_last; ++j) a[*target++] -= multiplier * a[u_[j].slot];
        }
    }
    // What a solve reads, side by side: it runs once per stage, the elimination once per step.
    for (std::size_t k = 0; k < u_.size(); ++k) u_solve_[k].value = a[u_[k].slot];
    for (std::size_t k = 0; k < l_.size(); ++k) l_solve_[k].value = a[l_[k].slot];
    return growth;
}

void SparseLU::solve(double* b) {
    double* y = work_.data();
    const int count = int(pivots_.size());
    for (int p = 0; p < count; ++p) {
        const Pivot& pivot = pivots_[p];
        const double value = b[pivot.row] * inverse_[p];
        y[p] = value;
        for (int k = pivot.l_first; k < pivot.l_last; ++k) b[l_solve_[k].index] -= l_solve_[k].value * value;
    }
    for (int p = count - 1; p >= 0; --p) {
        const Pivot& pivot = pivots_[p];
        double value = y[p];
        for (int k = pivot.u_first; k < pivot.u_last; ++k) value -= u_solve_[k].value * b[u_solve_[k].index];
        b[pivot.column] = value;
    }
}

}  // namespace mechsim

#include "lu.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace mechsim {

namespace {
constexpr double kThreshold = 0.1;    // a pivot is at least this fraction of the largest entry of its row
constexpr double kSingular = 1e13;    // growth beyond this with fresh pivots: nothing left of 16 digits
constexpr std::size_t kKnown = 8;     // sequences of pivots that are kept for matrices that come back
constexpr int kRowsTried = 4;         // rows of least count in which a pivot is looked for
constexpr double kNoInertia = 1e-13;  // beside what adds up to it: what is left where it cancels

// Scales so that rows and columns can be compared across units and masses. An entry on the diagonal is an inertia, by whose root
// its row and column are scaled: then a force on what is light is found from the rows of what is light, beside which the
// forces on heavy neighbours would leave only roundings of it. Other rows and columns are scaled by their largest entries
// beside those: first constraints and multipliers, then what has an inertia that is itself a rounding (of a point of a body that
// moves with others only), by which nothing can be measured.
void equilibrate(const std::vector<int>& rows, const std::vector<int>& columns, const std::vector<double>& values,
                 const std::vector<double>& weights, std::vector<double>& row_scale, std::vector<double>& column_scale) {
    enum Kind : char { inertia, other, rounding };
    const std::size_t size = row_scale.size();
    std::vector<char> kind(size, other);
    std::fill(row_scale.begin(), row_scale.end(), 1.0);
    for (std::size_t e = 0; e < rows.size(); ++e) {
        if (rows[e] != columns[e]) continue;
        const int i = rows[e];
        const double own = std::abs(values[e]), weight = weights.empty() ? 0.0 : weights[i];
        kind[i] = own > kNoInertia * weight ? inertia : rounding;
        if (kind[i] == inertia) row_scale[i] = 1 / std::sqrt(own);
    }
    column_scale = row_scale;
    for (const char scaled : {other, rounding}) {
        std::vector<double> row_largest(size, 0.0), column_largest(size, 0.0);
        for (std::size_t e = 0; e < rows.size(); ++e) {
            const int i = rows[e], j = columns[e];
            const double entry = std::abs(values[e]);
            if (kind[i] == scaled && kind[j] < scaled) row_largest[i] = std::max(row_largest[i], entry * column_scale[j]);
            if (kind[j] == scaled && kind[i] < scaled) column_largest[j] = std::max(column_largest[j], entry * row_scale[i]);
        }
        for (std::size_t i = 0; i < size; ++i) {
            if (kind[i] != scaled) continue;
            if (row_largest[i] > 0) row_scale[i] = 1 / row_largest[i];
            if (column_largest[i] > 0) column_scale[i] = 1 / column_largest[i];
        }
    }
}
}  // namespace

SparseLU::SparseLU(int size, std::vector<int> rows, std::vector<int> columns)
    : size_(size), rows_(std::move(rows)), columns_(std::move(columns)), work_(size) {}

bool SparseLU::factor(const double* values) {
    if (!pivots_.empty() && eliminate(values) < growth_limit_) return true;
    if (recall(values)) return true;
    return analyse(values) && eliminate(values) < kSingular;
}

void SparseLU::set_aside() {
    if (pivots_.empty()) return;
    known_.insert(known_.begin(), std::move(static_cast<Factors&>(*this)));
    if (known_.size() > kKnown) known_.pop_back();
    static_cast<Factors&>(*this) = {};
}

// Whether pivots that were set aside do for these values: they then are the present ones.
bool SparseLU::recall(const double* values) {
    for (std::size_t k = 0; k < known_.size(); ++k) {
        std::swap(static_cast<Factors&>(*this), known_[k]);
        if (eliminate(values) < growth_limit_) {
            if (known_[k].pivots_.empty()) known_.erase(known_.begin() + k);
            return true;
        }
        std::swap(static_cast<Factors&>(*this), known_[k]);
    }
    return false;
}

// A matrix while its pivots are being chosen: each row that is left has its columns and their slots, each column knows its
// rows. Both are short and sorted, so plain vectors are quicker than trees.
struct SparseLU::Elimination {
    struct Cell {
        int column, slot;
    };
    using Row = std::vector<Cell>;

    std::vector<double> current, row_scale, column_scale;
    std::vector<Row> row;
    std::vector<std::vector<int>> column;
    std::set<std::pair<int, int>> by_count;  // (entries in the row, row)

    Elimination(int size, const std::vector<int>& rows, const std::vector<int>& columns, const double* values,
                const std::vector<double>& weights)
        : current(values, values + rows.size()), row_scale(size, 1.0), column_scale(size, 1.0), row(size), column(size) {
        equilibrate(rows, columns, current, weights, row_scale, column_scale);
        for (std::size_t e = 0; e < rows.size(); ++e) {
            *cell(row[rows[e]], columns[e]) = {columns[e], int(e)};
            insert(column[columns[e]], rows[e]);
        }
        for (int i = 0; i < size; ++i) by_count.insert({int(row[i].size()), i});
    }

    // The cell of a column, which is made if it is not there.
    static Row::iterator cell(Row& cells, int j) {
        auto place = std::lower_bound(cells.begin(), cells.end(), j, [](const Cell& c, int k) { return c.column < k; });
        return place != cells.end() && place->column == j ? place : cells.insert(place, {j, -1});
    }
    static void insert(std::vector<int>& sorted, int i) {
        auto place = std::lower_bound(sorted.begin(), sorted.end(), i);
        if (place == sorted.end() || *place != i) sorted.insert(place, i);
    }
    static void erase(std::vector<int>& sorted, int i) {
        sorted.erase(std::lower_bound(sorted.begin(), sorted.end(), i));
    }
    int slot_at(int i, int j) { return cell(row[i], j)->slot; }

    struct Place {
        int row = -1, column = -1;
    };

    // The largest entry of a row, scaled, and its column.
    std::pair<double, int> largest(int i) const {
        std::pair<double, int> found = {0.0, -1};
        for (const auto& [j, slot] : row[i])
            found = std::max(found, {std::abs(current[slot]) * column_scale[j], j});
        return found;
    }

    // The pivot that fills least, among entries that are large enough in a few of the shortest rows (none of `late`); only
    // `steady` ones, if told which are.
    Place cheapest(const std::vector<char>& late, const std::vector<char>& steady = {}) const {
        Place best;
        long best_cost = -1;
        double best_size = 0;
        int tried = 0;
        for (const auto& [count, i] : by_count) {
            if (!late.empty() && late[i]) continue;
            const double most = largest(i).first;
            if (!(most > 0)) continue;
            bool able = steady.empty();
            for (const auto& [j, slot] : row[i]) {
                if (!steady.empty() && (slot >= int(steady.size()) || !steady[slot])) continue;
                const double relative = std::abs(current[slot]) * column_scale[j] / most;
                if (relative < kThreshold) continue;
                able = true;
                const long cost = long(count - 1) * long(column[j].size() - 1);
                if (best.row < 0 || cost < best_cost || (cost == best_cost && relative > best_size)) {
                    best = {i, j};
                    best_cost = cost;
                    best_size = relative;
                }
            }
            tried += able;
            if (tried >= kRowsTried && best.row >= 0) break;
            if (best_cost == 0) break;
        }
        return best;
    }

    // The largest entry of all rows that are left, beside what the rows were.
    Place strongest() const {
        Place best;
        double most = 0;
        for (const auto& [count, i] : by_count) {
            const auto [size, j] = largest(i);
            if (size * row_scale[i] > most) {
                most = size * row_scale[i];
                best = {i, j};
            }
        }
        return best;
    }

    struct Update {
        int row, slot;             // of the entry below the pivot
        std::vector<int> targets;  // slots that change with it, one per entry right of the pivot
    };

    // Take the pivot's row and column out; what is right of it, and what changes below.
    std::pair<Row, std::vector<Update>> eliminate(Place pivot) {
        const int slot = slot_at(pivot.row, pivot.column);
        by_count.erase({int(row[pivot.row].size()), pivot.row});
        Row right = std::move(row[pivot.row]);
        right.erase(cell(right, pivot.column));
        erase(column[pivot.column], pivot.row);
        for (const Cell& each : right) erase(column[each.column], pivot.row);
        std::vector<Update> updates;
        for (int i : column[pivot.column]) {
            const int count = int(row[i].size());
            const auto own = cell(row[i], pivot.column);
            Update update{i, own->slot, {}};
            row[i].erase(own);
            update.targets.reserve(right.size());
            const double multiplier = current[update.slot] / current[slot];
            for (const auto& [j, s] : right) {
                const auto place = cell(row[i], j);
                if (place->slot < 0) {
                    place->slot = int(current.size());
                    current.push_back(0);
                    insert(column[j], i);
                }
                current[place->slot] -= multiplier * current[s];
                update.targets.push_back(place->slot);
            }
            if (int(row[i].size()) != count) {
                by_count.erase({count, i});
                by_count.insert({int(row[i].size()), i});
            }
            updates.push_back(std::move(update));
        }
        return {std::move(right), std::move(updates)};
    }
};

bool SparseLU::analyse(const double* values, const std::vector<char>& given) {
    std::vector<char> steady = given;
    ++analyses_;
    pivots_.clear();
    u_.clear();
    l_.clear();
    targets_.clear();
    Elimination matrix(size_, rows_, columns_, values, weights_);
    for (int step = 0; step < size_; ++step) {
        Elimination::Place place = matrix.cheapest({}, steady);
        if (place.row < 0 && !steady.empty()) {
            steady.clear();
            place = matrix.cheapest({});
        }
        if (place.row < 0) {
            pivots_.clear();
            return false;
        }
        const int slot = matrix.slot_at(place.row, place.column);
        Pivot pivot{place.row, place.column, slot, int(u_.size()), 0, int(l_.size()), 0, int(targets_.size())};
        const auto [right, updates] = matrix.eliminate(place);
        for (const auto& [j, s] : right)
            u_.push_back({s, j, matrix.column_scale[j] / matrix.column_scale[place.column]});
        for (const auto& update : updates) {
            l_.push_back({update.slot, update.row, 0});
            for (int target : update.targets)
                if (target < int(steady.size())) steady[target] = 0;
            targets_.insert(targets_.end(), update.targets.begin(), update.targets.end());
        }
        pivot.u_last = int(u_.size());
        pivot.l_last = int(l_.size());
        pivots_.push_back(pivot);
    }
    values_.assign(matrix.current.size(), 0.0);
    inverse_.assign(size_, 0.0);
    list_rows();
    return true;
}

void SparseLU::list_rows() {
    using Cells = std::vector<std::pair<int, int>>;  // index and slot
    const auto add = [](Triangle& triangle, int number, const Cells& cells) {
        triangle.rows.push_back({number, int(cells.size())});
        for (const auto& [index, slot] : cells) {
            triangle.entries.push_back({0.0, index});
            triangle.slots.push_back(slot);
        }
    };
    lower_ = upper_ = {};
    std::vector<Cells> below(size_);
    for (int p = 0; p < size_; ++p)
        for (int k = pivots_[p].l_first; k < pivots_[p].l_last; ++k) below[l_[k].index].push_back({p, l_[k].slot});
    for (const Pivot& pivot : pivots_) add(lower_, pivot.row, below[pivot.row]);
    for (int p = size_ - 1; p >= 0; --p) {
        Cells right;
        for (int k = pivots_[p].u_first; k < pivots_[p].u_last; ++k) right.push_back({u_[k].index, u_[k].slot});
        add(upper_, pivots_[p].column, right);
    }
}

std::vector<double> SparseLU::column_scales(const double* values) const {
    const std::size_t count = rows_.size();
    std::vector<double> row_scale(size_, 1.0), column_scale(size_, 1.0);
    equilibrate(rows_, columns_, std::vector<double>(values, values + count), weights_, row_scale, column_scale);
    return column_scale;
}

double SparseLU::growth(const double* values, const std::vector<double>& column_scales) {
    if (!(eliminate(values) < kSingular)) return kSingular;
    double largest = 0;
    for (const Pivot& pivot : pivots_)
        for (int k = pivot.u_first; k < pivot.u_last; ++k)
            largest = std::max(largest, std::abs(values_[u_[k].slot]) * column_scales[u_[k].index] / column_scales[pivot.column]);
    return largest;
}

std::vector<int> Factors::pivots() const {
    std::vector<int> found;
    for (const Pivot& pivot : pivots_) found.insert(found.end(), {pivot.row, pivot.column});
    return found;
}

std::vector<int> SparseLU::weakest(const double* values, const std::vector<int>& candidates, int count) const {
    Elimination matrix(size_, rows_, columns_, values, weights_);
    std::vector<char> late(size_, 0);
    for (int i : candidates) late[i] = 1;
    for (Elimination::Place place = matrix.cheapest(late); place.row >= 0; place = matrix.cheapest(late))
        matrix.eliminate(place);
    std::vector<int> left = candidates;
    while (int(left.size()) > count) {
        const Elimination::Place place = matrix.strongest();
        if (place.row < 0) break;
        matrix.eliminate(place);
        left.erase(std::remove(left.begin(), left.end(), place.row), left.end());
    }
    return left;
}

double SparseLU::eliminate(const double* values) {
    const std::size_t entries = rows_.size();
    std::copy(values, values + entries, values_.begin());
    std::fill(values_.begin() + entries, values_.end(), 0.0);
    inverted_ = false;
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
    for (Triangle* triangle : {&lower_, &upper_})
        for (std::size_t k = 0; k < triangle->slots.size(); ++k) triangle->entries[k].value = a[triangle->slots[k]];
    return growth;
}

const double* SparseLU::solve(double* b) {
    substitute(*this, b, work_.data());
    return b;
}

const double* SparseLU::solve_often(double* b) {
    if (size_ > kSmall) return solve(b);
    if (!inverted_) invert();
    multiply_small(vec(inverse_rows_.data()), (size_ + kWidth - 1) / kWidth, vec(b), vec(work_.data()));
    return work_.data();
}

void SparseLU::invert() {
    const std::size_t width = (size_ + kWidth - 1) / kWidth * kWidth;
    inverse_rows_.resize(width * width);
    work_.resize(std::max(work_.size(), width * width));
    invert_small(*this, vec(work_.data()), vec(inverse_rows_.data()));
    inverted_ = true;
}

void SparseLU::solve_many(double* right, int vectors) {
    work_.resize(std::max(work_.size(), std::size_t(size_) * vectors * kWidth));
    substitute_many(*this, vec(right), vec(work_.data()), vectors);
}

}  // namespace mechsim

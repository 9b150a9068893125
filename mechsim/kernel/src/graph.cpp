#include "graph.hpp"

#include <algorithm>
#include <climits>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>
#include <utility>

namespace mechsim {

Pattern::Pattern(int size, const std::vector<int>& rows, const std::vector<int>& columns,
                 const std::vector<int>& values)
    : first(size + 1, 0), column(rows.size()), value(rows.size()) {
    for (int row : rows) ++first[row + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    std::vector<int> next(first.begin(), first.end() - 1);
    for (std::size_t e = 0; e < rows.size(); ++e) {
        const int place = next[rows[e]]++;
        column[place] = columns[e];
        value[place] = values[e];
    }
}

namespace {

// Shortest augmenting paths with prices (R. Jonker and A. Volgenant, Computing 38, 1987): value[e] <= row_price +
// column_price always, with equality on what is matched. Values are integers, so nothing is rounded.
class Matching {
public:
    explicit Matching(const Pattern& pattern)
        : pattern_(pattern), size_(pattern.size()), row_of_(size_, -1), column_of_(size_, -1), row_price_(size_, 0),
          column_price_(size_, 0), distance_(size_, INT_MAX), came_from_(size_) {
        price_rows();
        match_where_tight();
    }

    std::vector<int> complete() {
        for (int row = 0; row < size_; ++row)
            if (column_of_[row] < 0) augment(row);
        return std::move(column_of_);
    }

private:
    void price_rows() {
        for (int row = 0; row < size_; ++row) {
            row_price_[row] = INT_MIN / 4;  // a row without entries is never matched
            for (int e = pattern_.first[row]; e < pattern_.first[row + 1]; ++e)
                row_price_[row] = std::max(row_price_[row], pattern_.value[e]);
        }
    }

    void match_where_tight() {
        for (int row = 0; row < size_; ++row)
            for (int e = pattern_.first[row]; e < pattern_.first[row + 1]; ++e)
                if (slack(row, e) == 0 && row_of_[pattern_.column[e]] < 0) {
                    match(row, pattern_.column[e]);
                    break;
                }
    }

    int slack(int row, int e) const {
        return row_price_[row] + column_price_[pattern_.column[e]] - pattern_.value[e];
    }

    void match(int row, int column) {
        row_of_[column] = row;
        column_of_[row] = column;
    }

    // The cheapest way from a free row to a free column, and all matches along it exchanged.
    void augment(int row) {
        for (int column : reached_) distance_[column] = INT_MAX;
        reached_.clear();
        done_.clear();
        queue_ = {};
        turn_ = 0;
        leave(row, 0);
        while (!queue_.empty()) {
            const auto [length, taken, turn, column] = queue_.top();
            queue_.pop();
            if (length > distance_[column]) continue;
            if (row_of_[column] < 0) {
                reprice(row, length);
                exchange(row, column);
                return;
            }
            done_.push_back(column);
            leave(row_of_[column], length);
        }
    }

    void leave(int row, int length) {
        for (int e = pattern_.first[row]; e < pattern_.first[row + 1]; ++e) {
            const int column = pattern_.column[e], longer = length + slack(row, e);
            if (longer >= distance_[column]) continue;
            if (distance_[column] == INT_MAX) reached_.push_back(column);
            distance_[column] = longer;
            came_from_[column] = row;
            queue_.emplace(longer, row_of_[column] >= 0, turn_++, column);
        }
    }

    void reprice(int row, int length) {
        row_price_[row] -= length;
        for (int column : done_) {
            const int change = length - distance_[column];
            column_price_[column] += change;
            row_price_[row_of_[column]] -= change;
        }
    }

    void exchange(int first, int column) {
        for (int row = -1; row != first;) {
            row = came_from_[column];
            std::swap(column, column_of_[row]);
            row_of_[column_of_[row]] = row;
        }
    }

    const Pattern& pattern_;
    int size_;
    std::vector<int> row_of_, column_of_, row_price_, column_price_, distance_, came_from_, reached_, done_;
    // Of ways that are equally long (in a chain of parts nearly all are) one to a free column comes first, then the one
    // with the fewest exchanges: then a search ends nearby, instead of walking through the whole chain for every row.
    using Way = std::tuple<int, bool, int, int>;  // length, whether its column is taken, turn, column
    std::priority_queue<Way, std::vector<Way>, std::greater<>> queue_;
    int turn_ = 0;
};

}  // namespace

std::vector<int> transversal(const Pattern& pattern) { return Matching(pattern).complete(); }

// R. Tarjan, SIAM J. Comput. 1, 1972, without recursion: chains of thousands of parts are deep.
std::vector<int> strong_components(const Pattern& pattern) {
    const int size = pattern.size();
    std::vector<int> component(size, -1), order(size, -1), low(size), open, way;
    std::vector<int> next(pattern.first.begin(), pattern.first.end() - 1);
    int visited = 0, count = 0;
    for (int root = 0; root < size; ++root) {
        if (order[root] < 0) way.push_back(root);
        while (!way.empty()) {
            const int node = way.back();
            if (order[node] < 0) {
                order[node] = low[node] = visited++;
                open.push_back(node);
            }
            if (next[node] < pattern.first[node + 1]) {
                const int other = pattern.column[next[node]++];
                if (order[other] < 0)
                    way.push_back(other);
                else if (component[other] < 0)
                    low[node] = std::min(low[node], order[other]);
                continue;
            }
            way.pop_back();
            if (!way.empty()) low[way.back()] = std::min(low[way.back()], low[node]);
            if (low[node] < order[node]) continue;
            for (int member = -1; member != node; open.pop_back()) component[member = open.back()] = count;
            ++count;
        }
    }
    return component;
}

}  // namespace mechsim

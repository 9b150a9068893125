#include "small.hpp"

#include <algorithm>
#include <cmath>

namespace mechsim::small {

double dot(const double* a, const double* b, int count) {
    double total = 0;
    for (int i = 0; i < count; ++i) total += a[i] * b[i];
    return total;
}

double largest(const double* a, int count) {
    double found = 0;
    for (int i = 0; i < count; ++i) {
        const double size = std::fabs(a[i]);
        if (!(size <= found)) found = size;
        if (std::isnan(size)) return size;
    }
    return found;
}

double length(const double* a, int count) { return std::sqrt(dot(a, a, count)); }

void Rows::factor(const double* matrix, int rows, int columns) {
    count_ = rows;
    columns_ = columns;
    rows_.assign(matrix, matrix + std::size_t(rows) * columns);
    diagonal_.assign(rows, 0.0);
    factors_.assign(rows, 0.0);
    for (int k = 0; k < rows; ++k) {
        double* own = rows_.data() + std::size_t(k) * columns;
        const double size = length(own + k, columns - k), first = own[k];
        const double square = size * (size + std::fabs(first));
        diagonal_[k] = -std::copysign(size, first);
        own[k] += std::copysign(size, first);
        factors_[k] = square > 0 ? 1 / square : 0;
        for (int i = k + 1; i < rows; ++i) mirror(k, rows_.data() + std::size_t(i) * columns);
    }
}

void Rows::mirror(int k, double* x) const {
    const double* own = rows_.data() + std::size_t(k) * columns_;
    const double share = factors_[k] * dot(own + k, x + k, columns_ - k);
    for (int i = k; i < columns_; ++i) x[i] -= share * own[i];
}

void Rows::smallest(const double* right, double* x) const {
    for (int k = 0; k < count_; ++k) {
        double rest = right[k];
        for (int i = 0; i < k; ++i) rest -= triangle(i, k) * x[i];
        x[k] = rest / diagonal_[k];
    }
    std::fill(x + count_, x + columns_, 0.0);
    for (int k = count_ - 1; k >= 0; --k) mirror(k, x);
}

void Rows::balance(const double* x, double* combination) const {
    turned_.assign(x, x + columns_);
    for (int k = 0; k < count_; ++k) mirror(k, turned_.data());
    for (int k = count_ - 1; k >= 0; --k) {
        double rest = turned_[k];
        for (int i = k + 1; i < count_; ++i) rest -= triangle(k, i) * combination[i];
        combination[k] = rest / diagonal_[k];
    }
}

void Rows::along(double* vectors) const {
    for (int k = count_; k < columns_; ++k, vectors += columns_) {
        std::fill_n(vectors, columns_, 0.0);
        vectors[k] = 1;
        for (int i = count_ - 1; i >= 0; --i) mirror(i, vectors);
    }
}

double Rows::independence() const {
    double squares = 0;
    std::vector<double> column(count_);
    for (int k = 0; k < count_; ++k) {
        for (int i = k; i >= 0; --i) {
            double rest = i == k;
            for (int j = i + 1; j <= k; ++j) rest -= triangle(i, j) * column[j];
            column[i] = rest / diagonal_[i];
        }
        squares += dot(column.data(), column.data(), k + 1);
    }
    return 1 / std::sqrt(squares);  // infinite where there are no rows
}

bool Firm::factor(const double* matrix, int size, double less) {
    size_ = size;
    lower_.assign(matrix, matrix + std::size_t(size) * size);
    for (int k = 0; k < size; ++k) {
        double* own = lower_.data() + std::size_t(k) * size;
        own[k] -= less;
        for (int j = 0; j <= k; ++j) {
            const double* other = lower_.data() + std::size_t(j) * size;
            const double rest = own[j] - dot(own, other, j);
            if (j < k) own[j] = rest / other[j];
            else if (!(rest > 0)) return false;
            else own[k] = std::sqrt(rest);
        }
    }
    return true;
}

void Firm::solve(double* x) const {
    for (int k = 0; k < size_; ++k) {
        const double* own = lower_.data() + std::size_t(k) * size_;
        x[k] = (x[k] - dot(own, x, k)) / own[k];
    }
    for (int k = size_ - 1; k >= 0; --k) {
        double rest = x[k];
        for (int i = k + 1; i < size_; ++i) rest -= lower_[std::size_t(i) * size_ + k] * x[i];
        x[k] = rest / lower_[std::size_t(k) * size_ + k];
    }
}

void mended(const double* matrix, int size, const double* slope, double least, double* x) {
    constexpr int kSweeps = 30;
    std::vector<double> a(matrix, matrix + std::size_t(size) * size), turns(std::size_t(size) * size, 0.0);
    const auto at = [&](std::vector<double>& of, int i, int j) -> double& { return of[std::size_t(i) * size + j]; };
    for (int i = 0; i < size; ++i) at(turns, i, i) = 1;
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        double off = 0, all = 0;
        for (int i = 0; i < size; ++i)
            for (int j = 0; j < size; ++j) (i == j ? all : off) += at(a, i, j) * at(a, i, j);
        if (!(off > 1e-30 * all)) break;
        for (int i = 0; i < size; ++i)
            for (int j = i + 1; j < size; ++j) {
                if (at(a, i, j) == 0) continue;
                const double ratio = (at(a, j, j) - at(a, i, i)) / (2 * at(a, i, j));
                const double tangent = std::copysign(1.0, ratio) / (std::fabs(ratio) + std::hypot(ratio, 1.0));
                const double c = 1 / std::hypot(tangent, 1.0), s = c * tangent;
                for (int k = 0; k < size; ++k) {
                    const double p = at(a, k, i), q = at(a, k, j);
                    at(a, k, i) = c * p - s * q;
                    at(a, k, j) = s * p + c * q;
                }
                for (int k = 0; k < size; ++k) {
                    const double p = at(a, i, k), q = at(a, j, k);
                    at(a, i, k) = c * p - s * q;
                    at(a, j, k) = s * p + c * q;
                }
                for (int k = 0; k < size; ++k) {
                    const double p = at(turns, k, i), q = at(turns, k, j);
                    at(turns, k, i) = c * p - s * q;
                    at(turns, k, j) = s * p + c * q;
                }
            }
    }
    std::fill_n(x, size, 0.0);
    for (int k = 0; k < size; ++k) {
        double share = 0;
        for (int i = 0; i < size; ++i) share += at(turns, i, k) * slope[i];
        share /= std::max(std::fabs(at(a, k, k)), least);
        for (int i = 0; i < size; ++i) x[i] += share * at(turns, i, k);
    }
}

}  // namespace mechsim::small

// Dense linear algebra of small matrices, for starts.
#pragma once

#include <vector>

namespace mechsim::small {

double dot(const double* a, const double* b, int count);
double largest(const double* a, int count);  // of sizes; NaN if one is none
double length(const double* a, int count);

// The rows of a matrix, no more than its columns: J = R^T Q^T with Q orthogonal, by Householder's method (Golub and Van
// Loan, Matrix Computations, 5.2).
class Rows {
  public:
    void factor(const double* matrix, int rows, int columns);
    void smallest(const double* right, double* x) const;          // the smallest x with J x = right
    void balance(const double* x, double* combination) const;     // the combination of rows nearest to x
    void along(double* vectors) const;                            // orthonormal ones that J takes to nothing, one by one
    // No singular value is smaller, and the least is no more than sqrt(rows) times as large.
    double independence() const;

  private:
    double triangle(int i, int k) const { return i == k ? diagonal_[k] : rows_[std::size_t(k) * columns_ + i]; }
    void mirror(int k, double* x) const;
    int count_ = 0, columns_ = 0;
    std::vector<double> rows_, diagonal_, factors_;
    mutable std::vector<double> turned_;
};

// A symmetric matrix that may be positive definite: its Cholesky factor.
class Firm {
  public:
    bool factor(const double* matrix, int size, double less = 0);  // of the matrix less a multiple of the unit matrix
    void solve(double* x) const;

  private:
    int size_ = 0;
    std::vector<double> lower_;
};

// x = |M|^-1 slope, where each eigenvalue of the symmetric M counts by its size, and as `least` at least (Jacobi's method).
void mended(const double* matrix, int size, const double* slope, double least, double* x);

}  // namespace mechsim::small

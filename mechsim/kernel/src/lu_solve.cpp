// Substitution: what a solve of lu.hpp does, once per stage.
#include "lu.hpp"

namespace mechsim {

namespace {

// `Width` is the number of vectors in a row when it is small, 0 when it is known only at run time.
template <int Width>
MECHSIM_INLINE void substitute_vectors(const Factors& factors, Lanes* b, Lanes* y, int given) {
    const std::ptrdiff_t vectors = Width ? Width : given;
    const Factors::Factor* entry = factors.lower_.entries.data();
    const double* inverse = factors.inverse_.data();
    Lanes* own = y;
    for (const Factors::Row& row : factors.lower_.rows) {
        for (std::ptrdiff_t v = 0; v < vectors; ++v) {
            Lanes value = b[row.number * vectors + v];
            for (int k = 0; k < row.count; ++k) value -= entry[k].value * y[entry[k].index * vectors + v];
            own[v] = value * *inverse;
        }
        entry += row.count, own += vectors, ++inverse;
    }
    entry = factors.upper_.entries.data();
    for (const Factors::Row& row : factors.upper_.rows) {
        own -= vectors;
        for (std::ptrdiff_t v = 0; v < vectors; ++v) {
            Lanes value = own[v];
            for (int k = 0; k < row.count; ++k) value -= entry[k].value * b[entry[k].index * vectors + v];
            b[row.number * vectors + v] = value;
        }
        entry += row.count;
    }
}

}  // namespace

MECHSIM_CLONES void substitute(const Factors& factors, double* b, double* y) {
    const Factors::Factor* entry = factors.lower_.entries.data();
    const Factors::Row* row = factors.lower_.rows.data();
    const double* inverse = factors.inverse_.data();
    const std::ptrdiff_t size = factors.inverse_.size();
    for (std::ptrdiff_t p = 0; p < size; ++p) {
        double value = b[row[p].number];
        for (int left = row[p].count; left > 0; --left, ++entry) value -= entry->value * y[entry->index];
        y[p] = value * inverse[p];
    }
    entry = factors.upper_.entries.data();
    row = factors.upper_.rows.data() + size - 1;
    for (std::ptrdiff_t p = size - 1; p >= 0; --p) {
        double value = y[p];
        for (int left = row[-p].count; left > 0; --left, ++entry) value -= entry->value * b[entry->index];
        b[row[-p].number] = value;
    }
}

MECHSIM_CLONES void substitute_many(const Factors& factors, Lanes* b, Lanes* y, int vectors) {
    switch (vectors) {
        case 1: return substitute_vectors<1>(factors, b, y, vectors);
        case 2: return substitute_vectors<2>(factors, b, y, vectors);
        default: return substitute_vectors<0>(factors, b, y, vectors);
    }
}

}  // namespace mechsim

// The inverse of a small matrix. Substitution waits for itself from row to row, while all products with rows of the inverse go on
// at once: so a stage is solved in a third of the time, and a step in nine tenths of it or less.
#include "lu.hpp"
#include "operations.hpp"

namespace mechsim {

namespace {

// work(Known<vectors>), for the few vectors of a row: sums of all of them find room in registers.
template <class Work>
MECHSIM_INLINE void with_vectors(int vectors, Work work) {
    switch (vectors) {
        case 0: return;
        case 1: return work(Known<1>());
        case 2: return work(Known<2>());
        case 3: return work(Known<3>());
        case 4: return work(Known<4>());
        case 5: return work(Known<5>());
        case 6: return work(Known<6>());
        case 7: return work(Known<7>());
        default: return work(Known<8>());
    }
}

// A row less others, times a factor each.
template <int Vectors>
MECHSIM_INLINE void subtract_rows(Lanes (&value)[Vectors], const Factors::Factor*& entry, int count, const Lanes* rows) {
    for (; count > 0; --count, ++entry) {
        const Lanes* row = rows + std::ptrdiff_t(entry->index) * Vectors;
        for (int v = 0; v < Vectors; ++v) value[v] -= entry->value * row[v];
    }
}

// Substitution with the columns of the identity side by side.
template <int Vectors>
MECHSIM_INLINE void invert_rows(const Factors& factors, Lanes* y, Lanes* x) {
    const int size = int(factors.inverse_.size());
    const Factors::Factor* entry = factors.lower_.entries.data();
    for (int p = 0; p < size; ++p) {
        const Factors::Row& own = factors.lower_.rows[p];
        Lanes value[Vectors] = {};
        Lanes* row = y + p * Vectors;
        subtract_rows(value, entry, own.count, y);
        for (int v = 0; v < Vectors; ++v) row[v] = factors.inverse_[p] * value[v];
        reinterpret_cast<double*>(row)[own.number] = factors.inverse_[p];  // no row before knows of it
    }
    entry = factors.upper_.entries.data();
    for (int p = size - 1; p >= 0; --p) {
        const Factors::Row& own = factors.upper_.rows[size - 1 - p];
        Lanes value[Vectors];
        for (int v = 0; v < Vectors; ++v) value[v] = y[p * Vectors + v];
        subtract_rows(value, entry, own.count, x);
        for (int v = 0; v < Vectors; ++v) x[own.number * Vectors + v] = value[v];
    }
}

// What each of four vectors adds up to.
MECHSIM_INLINE Lanes sums_of(Lanes a, Lanes b, Lanes c, Lanes d) {
    const Lanes ab = Lanes{a[0], b[0], a[2], b[2]} + Lanes{a[1], b[1], a[3], b[3]};
    const Lanes cd = Lanes{c[0], d[0], c[2], d[2]} + Lanes{c[1], d[1], c[3], d[3]};
    return Lanes{ab[0], ab[1], cd[0], cd[1]} + Lanes{ab[2], ab[3], cd[2], cd[3]};
}

}  // namespace

MECHSIM_CLONES void invert_small(const Factors& factors, Lanes* work, Lanes* rows) {
    with_vectors((int(factors.inverse_.size()) + kWidth - 1) / kWidth,
                 [&](auto vectors) MECHSIM_LAMBDA { invert_rows<vectors.value>(factors, work, rows); });
}

MECHSIM_CLONES void multiply_small(const Lanes* rows, int vectors, const Lanes* b, Lanes* found) {
    with_vectors(vectors, [&](auto known) MECHSIM_LAMBDA {
        constexpr int count = known.value;
        for (int four = 0; four < count; ++four, rows += kWidth * count) {
            Lanes sum[kWidth] = {};
            for (int v = 0; v < count; ++v)
                for (int k = 0; k < kWidth; ++k) sum[k] += rows[k * count + v] * b[v];
            found[four] = sums_of(sum[0], sum[1], sum[2], sum[3]);
        }
    });
}

}  // namespace mechsim

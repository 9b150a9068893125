// SIMD over lanes: a register of the kernel is a row of `stride` doubles per Taylor degree.
#pragma once

// One build runs everywhere: the loader picks the clone for the machine it finds (GCC and Clang on x86 Linux).
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(MECHSIM_NO_CLONES)
#define MECHSIM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define MECHSIM_CLONES
#endif
#define MECHSIM_INLINE inline __attribute__((always_inline))
#define MECHSIM_LAMBDA __attribute__((always_inline))  // so that it is of the clone in which it stands

namespace mechsim {

typedef double Lanes __attribute__((vector_size(32), aligned(32)));
typedef long long Mask __attribute__((vector_size(32), aligned(32)));  // all bits of a lane, or none
constexpr int kWidth = 4;  // lanes come in multiples of this

MECHSIM_INLINE Lanes absolute(Lanes v) {
    const Mask bits = {0x7fffffffffffffff, 0x7fffffffffffffff, 0x7fffffffffffffff, 0x7fffffffffffffff};
    return Lanes(Mask(v) & bits);
}
MECHSIM_INLINE Lanes larger(Lanes a, Lanes b) { return b > a ? b : a; }  // a where b is no number
MECHSIM_INLINE Lanes* vec(double* p) { return reinterpret_cast<Lanes*>(p); }
MECHSIM_INLINE const Lanes* vec(const double* p) { return reinterpret_cast<const Lanes*>(p); }

}  // namespace mechsim

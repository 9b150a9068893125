// SIMD over lanes: a register of the kernel is a row of `stride` doubles per Taylor degree.
#pragma once

// One build runs everywhere: the loader picks the clone for the machine it finds (GCC and Clang on x86 Linux).
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(MECHSIM_NO_CLONES)
#define MECHSIM_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define MECHSIM_CLONES
#endif
#define MECHSIM_INLINE inline __attribute__((always_inline))

namespace mechsim {

typedef double Lanes __attribute__((vector_size(32), aligned(32)));
constexpr int kWidth = 4;  // lanes come in multiples of this

}  // namespace mechsim

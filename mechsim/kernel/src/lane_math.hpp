// Powers of two and their exponents, four lanes at a time. Step sizes need no more than their ten digits.
#pragma once

#include <cmath>

#include "lanes.hpp"

namespace mechsim {

// Of positive numbers; below the smallest normal one about its exponent.
MECHSIM_INLINE Lanes log2_of(Lanes x) {
    const Mask bits = Mask(x), fraction = (bits & 0x000fffffffffffff) | 0x3ff0000000000000;
    const Mask exponent = (bits >> 52) | 0x4330000000000000;  // as the last digits of 2^52 + exponent
    Lanes m = Lanes(fraction), e = Lanes(exponent) - (4503599627370496.0 + 1023.0);
    const Mask upper = Mask(m > 1.4142135623730951);
    m = upper ? 0.5 * m : m;
    e = upper ? e + 1.0 : e;
    const Lanes s = (m - 1.0) / (m + 1.0), z = s * s;  // log m = 2 artanh s, |s| < 0.172
    const Lanes sum = 1.0 + z * (1.0 / 3 + z * (1.0 / 5 + z * (1.0 / 7 + z * (1.0 / 9 + z * (1.0 / 11)))));
    return e + 2.8853900817779268 * s * sum;
}

// Zero and infinity where it is beyond numbers.
MECHSIM_INLINE Lanes exp2_of(Lanes x) {
    const double magic = 6755399441055744.0;  // 1.5 * 2^52: added, the last digits are an integer
    const Lanes none = {0, 0, 0, 0};
    const Lanes shifted = x + magic;
    const Lanes u = 0.69314718055994531 * (x - (shifted - magic));  // |u| < 0.35
    const Lanes v = u * u;  // e^u by its even and its odd terms
    const Lanes even = 1.0 + v * (1.0 / 2 + v * (1.0 / 24 + v * (1.0 / 720 + v * (1.0 / 40320 + v * (1.0 / 3628800)))));
    const Lanes odd = 1.0 + v * (1.0 / 6 + v * (1.0 / 120 + v * (1.0 / 5040 + v * (1.0 / 362880))));
    const Lanes sum = even + u * odd;
    const Lanes power = Lanes((Mask(shifted) << 52) + 0x3ff0000000000000);
    const Lanes value = sum * power;
    return x < -1022.0 ? none : (x > 1023.0 ? none + INFINITY : value);
}

}  // namespace mechsim

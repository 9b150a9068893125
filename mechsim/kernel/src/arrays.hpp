// Arrays between NumPy and the kernel, C-contiguous on both sides.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace mechsim {

using Doubles = nanobind::ndarray<const double, nanobind::c_contig, nanobind::device::cpu>;
using Integers = nanobind::ndarray<const int, nanobind::c_contig, nanobind::device::cpu>;

inline std::vector<double> doubles(const Doubles& a) { return {a.data(), a.data() + a.size()}; }
inline std::vector<int> integers(const Integers& a) { return {a.data(), a.data() + a.size()}; }

// A vector handed to NumPy without a copy.
inline nanobind::object owned(std::vector<double>&& values, std::vector<std::size_t> shape) {
    auto* kept = new std::vector<double>(std::move(values));
    nanobind::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    return nanobind::cast(nanobind::ndarray<nanobind::numpy, double>(kept->data(), shape.size(), shape.data(), owner));
}

}  // namespace mechsim

// Python's view of starts.hpp.
#pragma once

#include <nanobind/nanobind.h>

namespace mechsim {

void add_starts(nanobind::module_& m);

}  // namespace mechsim

// Programs of a system at a point (derive/program.py), written out for one set of numbers: one operation after the other.
#pragma once

#include <cstddef>
#include <vector>

#include "constants.hpp"

namespace mechsim {

// The result of line i is number `inputs + i`; operands are inputs, or results before it.
struct Line {
    Step step;
    int a, b;
};

// A result that is added to an output.
struct Store {
    int output, place;
};

class Formulas {
  public:
    // Throws where a line reads what does not come before it.
    Formulas(std::vector<Line> lines, std::vector<Store> stores, int inputs, int outputs);
    int outputs() const { return outputs_; }
    // How many numbers `work` has room for: the inputs, then all results.
    std::size_t size() const { return std::size_t(inputs_) + lines_.size(); }
    void evaluate(double* work, double* outputs) const;

  private:
    std::vector<Line> lines_;
    std::vector<Store> stores_;
    int inputs_, outputs_;
};

// A comparison of two nodes that has to keep its outcome.
struct Guard {
    bool less;  // else: equal
    int a, b;
    bool outcome;
    bool holds(const double* values) const {
        return (less ? values[a] < values[b] : values[a] == values[b]) == outcome;
    }
};

}  // namespace mechsim

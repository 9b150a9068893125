// The numbers of a mechanism as functions of its parameters (kernel/numbers.py), and their derivatives.
#pragma once

#include <cstddef>
#include <vector>

namespace mechsim {

enum class Step : int {
    value, parameter, add, subtract, multiply, divide, power, atan2, hypot,
    root, exp, log, sin, cos, tan, sinh, cosh, tanh, asin, acos, atan
};

struct Node {
    Step step;
    int a, b;      // earlier nodes; a parameter's number is in a
    double value;  // of a node that is a mere number
};

// The value of one operation; `b` counts only where there are two operands.
double value_of(Step step, double a, double b);

class Constants {
  public:
    // Throws where a node reads what does not come before it.
    Constants(std::vector<Node> nodes, int parameters);
    int parameters() const { return parameters_; }
    std::size_t size() const { return nodes_.size(); }
    // The values of all nodes, (nodes, sets), of parameters (parameters, sets).
    void evaluate(const double* parameters, std::size_t sets, double* values) const;
    // How these values, of one set, change with the parameters: (nodes, directions) from (parameters, directions).
    void differentiate(const double* values, const double* directions, std::size_t count, double* changes) const;

  private:
    std::vector<Node> nodes_;
    int parameters_;
};

}  // namespace mechsim

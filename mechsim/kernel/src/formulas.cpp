#include "formulas.hpp"

#include <algorithm>

#include "guard.hpp"

namespace mechsim {

Formulas::Formulas(std::vector<Line> lines, std::vector<Store> stores, int inputs, int outputs)
    : lines_(std::move(lines)), stores_(std::move(stores)), inputs_(inputs), outputs_(outputs) {
    require(inputs >= 0 && outputs >= 0, "sizes of formulas");
    for (std::size_t i = 0; i < lines_.size(); ++i) {
        const int limit = inputs_ + int(i);
        const Line& line = lines_[i];
        require(line.step >= Step::add && line.step <= Step::atan, "an operation of formulas");
        require(line.a >= 0 && line.a < limit && line.b >= 0 && line.b < limit, "operands of formulas");
    }
    for (const Store& store : stores_)
        require(store.output >= 0 && store.output < outputs_ && store.place >= 0 && store.place < int(size()),
                "results of formulas");
}

void Formulas::evaluate(double* work, double* outputs) const {
    double* result = work + inputs_;
    for (const Line& line : lines_) {
        const double a = work[line.a], b = work[line.b];
        switch (line.step) {  // the usual ones need no call
            case Step::add: *result++ = a + b; break;
            case Step::subtract: *result++ = a - b; break;
            case Step::multiply: *result++ = a * b; break;
            default: *result++ = value_of(line.step, a, b);
        }
    }
    std::fill_n(outputs, outputs_, 0.0);
    for (const Store& store : stores_) outputs[store.output] += work[store.place];
}

}  // namespace mechsim

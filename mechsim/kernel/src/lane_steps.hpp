// Steps of all lanes at once, where nothing particular happens to them: times, landings, launches. Lanes to which something
// does are told, and are left to fleet.cpp and fleet_step.cpp, which do the same and more for one at a time.
#pragma once

#include "lanes.hpp"

namespace mechsim {

enum class Phase : long long { idle, looking, landing, ready };  // ready: to be expanded, and a step to be chosen

// Rows of one number per lane.
struct StepRows {
    double *h, *left;  // the step that is tried, and what is left
    double *t, *t_low, *t_before, *t_low_before, *end;
    double *last_step, *off, *largest_projection;
    const double *distance, *leverage;
    double *earlier_leverage, *former_leverage;
    long long *phases, *taken;  // by its number; steps so far
};

// The lanes in a phase, and whether there are any.
bool find_phase(const long long* phases, Phase phase, long long* found, int step);
// ... that look or land
void find_moving(const long long* phases, long long* found, int step);

// How far lanes go that look or land, and what time it is there.
void take_times(const StepRows& rows, double* lengths, double* times, int step);

// What is known of landings, lane by lane: `special` are those that something was noted of.
struct Landed {
    const long long *moving, *well, *far, *near_singular, *special;
};
// Lanes that have landed well, with some way to go, become ready. The other ones that move are told, and whether there are
// any; so below.
bool accept_landings(const StepRows& rows, const Landed& landed, long long* others, int step);
// Lanes that are ready: where their next steps begin, ...
bool begin_steps(const StepRows& rows, const long long* ready, const long long* special, long long* others, int step);
// ... and that they are to land, or first to look inside.
bool launch_steps(const StepRows& rows, const long long* special, long long* others, int step);

}  // namespace mechsim

// Numbers of the step control and of the projection, for one motion (March) and for many (Fleet).
#pragma once

namespace mechsim {

constexpr double kSettled = 1e-11;   // a correction this small leaves a quadratic or linear remainder below rounding
constexpr int kMostIterations = 12;  // of Newton at a stage k <= 0
constexpr double kRefactor = 1e-13;  // a projection that moves further than this (relative) makes the matrix stale
constexpr double kEpsilon = 2.2e-16;
constexpr double kRounding = 64 * kEpsilon;  // of the largest position (a turn angle may be many times its scale)
constexpr double kNegligible = 1e-15;  // a correction this small (relative) leaves the series of its stage as they are
constexpr double kCurvature = 10.0;    // a state that moves by this much (relative) changes the matrix by as much, over this
constexpr double kStale = 3e-3;        // a matrix changed by this many tolerances is not that of the step: its series would miss some hundredths
constexpr double kFactorGrowth = 1e2;  // of entries of the factors, and so of roundings: where nothing else decides
constexpr double kConverging = 0.1;    // of two corrections: with less, the matrix is not that of the rows
constexpr int kManyStages = 6;         // of a step: so many solves are worth the inverse of a small matrix

constexpr double kSlow = 1e-2;     // a step that moves less than this (of the scales) by the speed so far
constexpr double kShrink = 0.5;    // of a step that is redone
constexpr double kGrowth = 16.0;   // a step is at most this much longer than one before it that was redone
constexpr int kMostRedone = 30;
constexpr double kSliver = 1e-10;  // a last step that would leave only this part of itself is taken whole
constexpr double kRough = 1e-6;    // leading derivatives missed by more than this (relative) are no rounding
constexpr double kCured = 0.1;     // a shorter step has cured a miss that fell below this part of it
constexpr int kLookEvery = 64;     // how many steps are taken between two looks at the equations inside one ...
constexpr double kLonger = 4.0;    // ... unless it is so many times longer than the last,
constexpr double kInside = 0.5698402909980533;  // ... and where in the step that is
constexpr int kMostCut = 64;       // steps that are taken anew when a march goes on, at most

// Singular poses. Where constraints become dependent (a parallelogram lies flat) multipliers may have a pole, and
// roundings of the series have one in any case; the motion itself is smooth. So a step carries across that begins well
// before the pose and ends well behind it.
constexpr double kRoundings = 1e-13;    // of the leverage: last terms at the distance of the pole that are smaller
constexpr double kSamePole = 0.3;       // two estimates of that distance agree to this
constexpr double kAbout = 2.5;          // ... and what leverage tells of it, to this factor
constexpr double kAlike = 3.0;          // terms of the size of roundings
constexpr int kFewest = 3;              // stages that a step has at least
constexpr double kFewRoundings = 5.0;   // a step may be so long that roundings grow by this much,
constexpr double kOffRoundings = 30.0;  // and its end may be off by this many of them
constexpr double kGrownRoundings = 1e-15;  // of the leverage: to no more than this they grow in a step that carries across
constexpr double kFastRoundings = 1e-13;  // ... nor, while it is far, in velocities, of the largest,
constexpr double kFastTolerances = 10.0;  // or to this many tolerances
constexpr double kCareful = 30.0;       // leverage beyond which estimates of what Newton's method leaves are not trusted
constexpr double kLowOrder = 100.0;     // leverage beyond which steps are of the lower, careful order, ...
constexpr double kClear = 5.0;          // ... unless it tells that no pose is within so many steps,
constexpr double kAway = 0.1;           // nor so near in space, of the scales: long chains always have such leverage
constexpr double kSameAim = 0.9;        // squared cosine of the angle between two aims that are one
constexpr double kAcross = 1.3;         // times the distance of the pose: a step this long ends well behind it
constexpr double kShortOfPose = 0.5;    // of its distance: a step of tangents that is shorter does not feel the roundings there
constexpr double kNear = 5.0;           // a step does not end where constraints are so much less independent than where
constexpr double kOrdinary = 3.0;       // it began, or than in ordinary positions, or than this part of the largest in the same
constexpr double kOrdinaryPart = 0.3;   // kinematic chain, where that is steady (kClear),
constexpr double kPoorer = 2.0;         // when rows that may rest are chosen anew
constexpr double kRetreat = 0.5;        // but is shortened to this, so that the next one carries across
constexpr int kMostRetreats = 4;        // in this and the last steps; a pose that cannot be avoided is met

// Gaps. A bounce that would rise less than kRise is not made: the gap stays closed. What is neglected by it is of second
// order, energies and lengths of that size: so infinitely many bounces are passed as their time comes to its end.
constexpr double kRise = 1e-15;          // of the gap's size
constexpr double kTouch = 1e-14;         // ... nearer than this gaps touch, and an overlap up to it is rounding
constexpr double kBegins = 1e-12;        // ... at the start, which a person gives with as many digits
constexpr double kEdge = 1e-13;          // ... and a corner so near to the end of an edge is at it
constexpr double kStill = 1e-14;         // of the fastest speed so far: a gap that closes more slowly than this does not
constexpr double kUnloaded = 1e-12;      // of the largest load in the step: what pushes less may be rounding
constexpr int kAtRest = 3;               // terms of a gap that are zero where nothing moves or presses it
constexpr double kUnpressed = 1e-12;     // of the largest acceleration of gaps: the same for what is pressed together
constexpr double kSameLimit = 1e-10;       // of a friction: two that differ by this much are one
constexpr int kMostRounds = 30;           // in which limits are found that depend on what they limit
constexpr double kHeldAlready = 1e-9;      // what is left of the answer to a push when others hold: less is rounding of none
constexpr double kMuchFaster = 1e4;        // a slide beside an impact: it does not stop it
constexpr double kStrained = 1e-9;         // of the largest acceleration: what begins to slide more slowly does not
constexpr double kCoupled = 1e-12;         // of two directions: less is rounding of none
constexpr int kMostPieces = 12;           // of an impact with friction: it slides, sticks, or slides back
constexpr double kImmovable = 1e-10;      // of the answer to a push without joints: less is rounding of none
constexpr double kContradicts = 1e4;     // so many times more than what counts as zero is no rounding
constexpr int kMostStrikes = 100000;     // of gaps in turn at one time, before all that are left give way together
constexpr int kMostMeetings = 200;       // at one time: then events are endless
constexpr int kMostPolishings = 3;       // corrections of the time of an event, ...
constexpr double kNearby = 1e-3;         // ... each no further than this part of the step
constexpr double kCrossed = 1e-8;        // of its largest term in a step: what is watched and has just crossed zero is there
constexpr double kBlind = 1e-6;      // of a step: as long is one from where what is watched has a corner
constexpr double kGapTerms = 10;         // tolerances that the last terms of a gap may reach, of its size

}  // namespace mechsim

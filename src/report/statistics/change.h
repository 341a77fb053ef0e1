// Tests whether an amount has changed between two sides of runs, and by how much. docs/statistics.md
// explains it in words.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "report/statistics/interval.h"

namespace pctally {

inline constexpr double kManyDegrees = 1e6;  ///< of freedom, of a variance that is known

inline double squared(double value) { return value * value; }

/// What one run says about one row: an amount (milliseconds, events, percent points) and how it was counted.
struct Measured {
  double amount = 0;
  double per_tick = 0;    ///< amount of one effective tick; 0: the amount was measured exactly, not sampled
  double runs = 1;        ///< that were added up: the amount is their mean, and how they differ is not known
  double resolution = 0;  ///< of an exact amount: the smallest deviation from run to run that it can show

  [[nodiscard]] double effective_ticks() const { return per_tick > 0 ? amount / per_tick : 0; }
};

/// One sampled run on each side: what their ratio is tested by.
struct SingleRuns {
  Measured before, after;
  double spread = 0;  ///< standard deviation of the difference of their logarithms from run to run
};

/// How runs vary, by what those of both sides show.
struct RunVariation {
  double between = 0;  ///< standard deviation from run to run, relative to the amount; of single runs assumed
  double counting = 0;                  ///< variance of `before` in one run, by counting or the resolution
  double old_runs = 1, new_runs = 1;    ///< that are known apart
  double old_added = 1, new_added = 1;  ///< that each of these is the mean of
};

struct Change {
  double before = 0;  ///< mean of the runs
  double after = 0;
  double difference = 0;          ///< after - before
  Interval interval;              ///< of the difference, 95 %; an Interval of any unit
  double degrees = kManyDegrees;  ///< of freedom, of the t that the interval is made with
  double before_part = 0;         ///< of the variance of the difference, what `before` has: 0 to 1
  double before_degrees = kManyDegrees,
         after_degrees = kManyDegrees;  ///< of freedom, of the variances of the two
  bool one_estimate = false;            ///< both variances rest on one estimate, of `degrees`
  Interval after_interval;              ///< of `after` alone
  double p = 1;                         ///< probability of a difference at least as large if nothing changed
  std::optional<SingleRuns> single_runs;  ///< where there is one sampled run on each side
  RunVariation variation;
};

/// The standard deviation from run to run, relative to the amount, that is assumed where a
/// side has one run and so cannot show it: what unchanged programs were found to vary by on a
/// shared machine (docs/statistics.md).
inline constexpr double kBetweenRuns = 0.15;

/// Few runs cannot show well how much runs deviate: what is assumed counts with what they show, as if so many
/// further degrees of freedom had. Eight of up to nine runs of both sides together, then fewer; none from
/// kManyRuns on, and of a single run beside many.
inline constexpr double kManyRuns = 20;
double assumed_degrees(double old_runs, double new_runs);

/// Compares two sides of at least one run each. Both orders agree: exchanging the sides negates the
/// difference and keeps p.
///
/// Several runs on a side: Welch's t test, with the variance of a side not below what its ticks' counting
/// noise alone would give, or the resolution of exact amounts. B. L. Welch, "The generalization of Student's
/// problem...", Biometrika 34 (1947) 28-35. The side with fewer runs has at least the variance that an amount
/// as large as the larger of the two has by counting and, between runs, by what the other side shows.
/// Few of them in all: the same t also with one estimate of the deviation between runs, which is relative to
/// the amount and of both sides: the mean of its square as `between_runs` has it and as the runs show it. The
/// interval is the narrower one, and p the smaller one. G. K. Smyth, "Linear models and empirical Bayes
/// methods...", Stat. Appl. Genet. Mol. Biol. 3 (2004) 3. One run on each side: given their sum, the ticks of
/// `after` are beta-binomial: binomial by counting, with the share itself spread by `between_runs` on both
/// sides. The test is exact; two-sided, twice the smaller tail. A mean of k runs that were added up is one
/// run with a k-th of the variance between runs.
Change test_change(std::span<const Measured> before, std::span<const Measured> after,
                   double between_runs = kBetweenRuns);

/// The p-value of these two runs if `after` is `ratio` times `before`.
double p_of_ratio(const SingleRuns& runs, double ratio);

/// The standard deviation of one run's amount: measured where there are several runs, never below the
/// counting noise; of a single run the counting noise and `between_runs`.
double run_deviation(std::span<const Measured> runs, double between_runs = kBetweenRuns);

/// The part of it that is counting noise, which a longer recording makes smaller.
double counting_deviation(std::span<const Measured> runs);

/// Which of the hypotheses are rejected so that of all rejections at most `rate` are wrong on average. Y.
/// Benjamini, Y. Hochberg, "Controlling the false discovery rate", J. R. Statist. Soc. B 57 (1995) 289-300.
std::vector<bool> rejected(std::span<const double> p_values, double rate);

/// Of freedom, of a sum of two variances (Welch-Satterthwaite).
double degrees_of_sum(double variance, double degrees, double other, double other_degrees);

/// Student's t: the two-sided tail beyond |t|, and the quantile t whose two-sided tail is `alpha`.
double t_tail(double t, double degrees);
double t_quantile(double alpha, double degrees);

}  // namespace pctally

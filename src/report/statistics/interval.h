// Confidence intervals of shares, and a test of their differences. docs/statistics.md explains them in words.
#pragma once
#include <cstdint>

namespace pctally {

/// The 97.5 % point of the normal distribution: two-sided intervals of 95 %.
inline constexpr double kNormal95 = 1.959963984540054;

/// A 95 % interval for a share of 1; low <= share <= high, both in [0, 1].
struct Interval {
  double low = 0;
  double high = 1;
};

/// The effective sample size of `ticks` ticks:
///
///   n_eff = (sum of w)^2 / sum of w^2      (Kish, Survey Sampling, 1965, section 8.2)
///
/// where w is the number of ticks that one delivery stood for. At most the number of ticks, and of deliveries
/// where that is known (`samples` > 0). Without weights every tick is a sample.
double effective_samples(uint64_t ticks, uint64_t samples, double weight_squares);

/// Wilson's score interval for a share p of n samples, z = kNormal95:
///
///   (p + z^2/2n  -+  z * sqrt(p(1-p)/n + z^2/4n^2)) / (1 + z^2/n)
///
/// E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927)
/// 209-212; recommended for small n and shares near 0 or 1 by Brown, Cai, DasGupta, Statistical Science 16
/// (2001) 101-133. The whole of [0, 1] without samples.
Interval wilson_interval(double share, double samples);

/// What follows "±": the distance from the share to the farther end of its interval.
double half_width(double share, const Interval& interval);

/// Whether two ends of what a share may be are so far apart that an interval around one of them would hide
/// how little is known: by half a point, and by more than chance explains.
bool is_wide_range(double low, double high, double samples);

/// The probability of two shares at least as different by chance, if there is one share that both are samples
/// of. Fisher's exact test (R. A. Fisher, "Statistical Methods for Research Workers", 1934, section 21.02):
/// given the hits of both sides together, those of one side are hypergeometric; two-sided, twice the smaller
/// tail. Exact also for a row of one tick, where intervals made with the normal distribution are not. To the
/// nearest whole sample; 1 without samples on either side.
double p_of_shares(double now, double now_samples, double before, double before_samples);

/// The z of a two-sided interval that misses with probability `alpha`, in (0, 1).
double two_sided_z(double alpha);

}  // namespace pctally

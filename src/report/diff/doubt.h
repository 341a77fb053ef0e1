// Finds reasons why a comparison cannot be relied on: what is missing in one profile is no change.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "report/diff/compared_profile.h"
#include "report/diff/measured_run.h"

namespace pctally {

struct Doubt {
  std::string profile;  ///< its name; of lines that may have moved, that of their object
  std::string why;
  std::string object{};  ///< the one whose rows it concerns; empty: all rows

  [[nodiscard]] std::string text() const { return profile + ": " + why; }
};

/// The gravest of each profile that is incomplete, throttled or damaged, a snapshot, without ticks, of a side
/// that lacks much more of its CPU time than the other, or has kernel code in other rows. Besides: a program
/// that ended otherwise than others, a much higher rate of ticks, a run that took much longer than most of
/// its side. `after` is empty where runs of one program are compared.
std::vector<Doubt> doubts_of(std::span<const ComparedProfile> before, std::span<const ComparedProfile> after,
                             Grouping by);

/// Their texts, at most ten: then the last line says how many there are besides.
std::vector<std::string> first_texts(std::span<const Doubt> doubts);

/// The objects that have lines on both sides and are not of one build: an edit may have moved lines within
/// their function, or within their file where they cannot be counted from a function.
std::vector<Doubt> doubts_of_lines(const std::vector<MeasuredRun>& before,
                                   const std::vector<MeasuredRun>& after, const MatchingObjects& objects);

/// Objects whose code has far fewer names on one side than on the other (by line: fewer lines). A row of such
/// an object may be new or gone for that reason alone. In one build both sides know the same names, unless
/// one side knows none. `files`: of the runs, the old side first.
std::vector<Doubt> doubts_of_names(const std::vector<MeasuredRun>& before,
                                   const std::vector<MeasuredRun>& after, const MatchingObjects& objects,
                                   const std::vector<std::string>& files, Grouping by);

}  // namespace pctally

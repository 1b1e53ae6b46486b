#pragma once

// The patterns of paths to which a job writes.
//
//   %j job   %A array's id (or the job's)   %a array index   %x job name   %N node   %t rank
//   %s step   %J job, and .step for a step's ranks   %b array index modulo 10   %n the node's
//   number %u user   %% a percent sign.  %4j pads a number to four digits; other letters stay as
//   written. In a path with a backslash nothing is replaced, and the backslashes go.
//
// Pure.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "scheduler/model/value/ids.h"

namespace muster {

struct PatternValues {
  JobId job;
  JobId submission;
  std::optional<std::uint32_t> array_index;
  std::string job_name;  // slashes become underscores: a name never chooses a directory
  std::string node;
  std::uint32_t rank = 0;
  StepId step;
  bool of_step = false;          // a step's ranks, and not the script
  std::uint32_t node_index = 0;  // within the script's or the step's nodes
  std::string user;
};

// The widest number of a pattern.
inline constexpr std::size_t kPatternWidthMax = 10;

// A number of a pattern such as %5j: with zeros in front up to `width`, or to
// kPatternWidthMax.
std::string PaddedNumber(const std::string& digits, std::size_t width);

std::string ExpandPattern(const std::string& pattern, const PatternValues& values);

// muster-%j.out, for an element of an array muster-%A_%a.out.
std::string DefaultOutputPattern(const PatternValues& values);

}  // namespace muster

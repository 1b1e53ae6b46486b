#pragma once

// The policies for identical processors once more: plainly, slowly, and from the written rules
// alone, to be compared with the real ones.
//
// Nothing of scheduler/core is used here, and nothing is remembered that could be worked out again.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::sim::oracle {

struct OracleJob {
  std::int64_t id = 0;
  std::int64_t submit = 0;
  std::int64_t run = 1;        // at most `requested`
  std::int64_t requested = 1;  // time
  std::int64_t processors = 1;
  std::int64_t user = 1;
};

struct OracleRules {
  std::int64_t processors = 1;
  std::string order = "arrival";        // or sjf, wfp3, unicep, f1 … f4, fairshare
  std::string backfill = "easy";        // or none, conservative
  bool shortest_first = false;          // candidates of EASY
  std::string estimates = "requested";  // or exact, x2, user-last-2
  bool submit_first = false;
};

// When each job starts, by id. `jobs` are in order of (submit, id).
std::map<std::int64_t, std::int64_t> OracleStarts(const std::vector<OracleJob>& jobs,
                                                  const OracleRules& rules);

}  // namespace muster::sim::oracle

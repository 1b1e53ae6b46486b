#pragma once

// Which jobs of a scheduling cycle no limit lets start anywhere, and which limit it was that
// stopped them.
//
// The search for a place within the limits is long where nodes are of many kinds, so what it found
// for one job holds for all of the same shape, user, account and QOS. Thread promise: none; owned
// by one cycle. Invariants: (1) a verdict is forgotten once anything of the nodes is taken or given
// back, since a search does other things then; (2) what is in use only grows in a cycle, and never
// unless nodes are taken.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/reason.h"

namespace muster::core {

class LimitVerdicts {
 public:
  // REQUIRES: it outlives this.
  explicit LimitVerdicts(const Availability& availability) : availability_(availability) {}

  // The limit that stops such a job wherever it could start; null when none is known.
  [[nodiscard]] const Reason* Find(const StartOption& option, const JobSpec& spec) const {
    if (changes_ != availability_.changes()) {
      return nullptr;
    }
    const auto found =
        limits_.find(std::tie(option.number, spec.account, spec.user.name, spec.qos));
    return found == limits_.end() ? nullptr : &found->second;
  }
  void Add(const StartOption& option, const JobSpec& spec, Reason limit) {
    if (std::exchange(changes_, availability_.changes()) != availability_.changes()) {
      limits_.clear();
    }
    limits_.insert_or_assign(Key(option.number, spec.account, spec.user.name, spec.qos),
                             std::move(limit));
  }

 private:
  using Key = std::tuple<std::uint32_t, std::string, std::string, std::string>;

  const Availability& availability_;
  std::uint64_t changes_ = 0;  // of the nodes, when these were found
  std::map<Key, Reason, std::less<>> limits_;
};

}  // namespace muster::core

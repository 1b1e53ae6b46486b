#pragma once

// Licences: counted things of the whole cluster that jobs hold while they run.
//
// Invariants: names are unique within a list; counts asked for are positive.

#include <cstdint>
#include <string>
#include <tuple>

#include "scheduler/model/value/fields.h"

namespace muster {

// `count` of the licence `name`: what a job asks for, or what the cluster has.
struct LicenseCount {
  std::string name;
  std::uint64_t count = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &LicenseCount::name}, Field{"count", &LicenseCount::count});
  }
  friend bool operator==(const LicenseCount&, const LicenseCount&) = default;
};

// A licence of the cluster, and how many of it running jobs hold.
struct LicenseState {
  std::string name;
  std::uint64_t total = 0;
  std::uint64_t used = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &LicenseState::name}, Field{"total", &LicenseState::total},
                Field{"used", &LicenseState::used});
  }
  friend bool operator==(const LicenseState&, const LicenseState&) = default;
};

}  // namespace muster

#pragma once

// Two switches that are joined by a narrow link: no job may lie below both.
//
// Invariants: `first` is less than `second`; together they name the link.

#include <string>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct NarrowLink {
  std::string first;
  std::string second;
  std::string reason;
  std::string by;  // who said so
  Time since = kNoTime;
  static constexpr auto Fields(auto list) {
    return list(Field{"first", &NarrowLink::first}, Field{"second", &NarrowLink::second},
                Field{"reason", &NarrowLink::reason}, Field{"by", &NarrowLink::by},
                Field{"since", &NarrowLink::since});
  }
  friend bool operator==(const NarrowLink&, const NarrowLink&) = default;
};

}  // namespace muster

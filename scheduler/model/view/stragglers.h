#pragma once

// Which ranks of a running job are slower than their peers, and by what that was judged.
//
// Made by core/explain/stragglers. Names are a contract, as those of view.h. Invariant: what cannot
// be told is empty or not there, and never 0.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

struct StragglerView {
  StepId step;
  std::uint32_t rank = 0;
  std::string node;
  std::string measure;  // by which it is slower: "progress", "gpu_clock", "cpu_time", …
  double value = 0;
  double median = 0;              // of all ranks that were judged by it
  std::string unit;               // of both: "MHz", "%", "steps/s"
  std::uint32_t percent = 0;      // below the median; of gpu_work, in hundredths of the time
  std::uint32_t ranks = 0;        // that were judged by it
  std::vector<std::string> also;  // the other measures by which it is
  bool suspected = false;         // it may be that its part of the work is larger
  std::string gpu;                // its UUID; empty: it has none of its own
  std::optional<std::uint32_t> gpu_clock_mhz;
  std::optional<std::uint32_t> gpu_clock_most_mhz;
  std::vector<std::string> brakes;  // what holds that clock down
  std::optional<GpuLink> link;
  std::string nic;  // empty: it has none of its own
  Time since = kNoTime;
  std::string text;  // one sentence with the numbers
  static constexpr auto Fields(auto list) {
    return list(Field{"step", &StragglerView::step}, Field{"rank", &StragglerView::rank},
                Field{"node", &StragglerView::node}, Field{"measure", &StragglerView::measure},
                Field{"value", &StragglerView::value}, Field{"median", &StragglerView::median},
                Field{"unit", &StragglerView::unit}, Field{"percent", &StragglerView::percent},
                Field{"ranks", &StragglerView::ranks}, Field{"also", &StragglerView::also},
                Field{"suspected", &StragglerView::suspected}, Field{"gpu", &StragglerView::gpu},
                Field{"gpu_clock_mhz", &StragglerView::gpu_clock_mhz},
                Field{"gpu_clock_most_mhz", &StragglerView::gpu_clock_most_mhz},
                Field{"brakes", &StragglerView::brakes}, Field{"link", &StragglerView::link},
                Field{"nic", &StragglerView::nic}, Field{"since", &StragglerView::since},
                Field{"text", &StragglerView::text});
  }
  friend bool operator==(const StragglerView&, const StragglerView&) = default;
};

struct StragglersView {
  std::uint32_t ranks = 0;            // of the steps that run
  std::uint32_t judged = 0;           // of those, by one measure at least
  Duration span{0};                   // over which, at least
  std::vector<std::string> measures;  // by which some were judged
  std::vector<std::string> unknown;   // what could not be judged, and why
  std::vector<StragglerView> found;   // by step and rank
  static constexpr auto Fields(auto list) {
    return list(Field{"ranks", &StragglersView::ranks}, Field{"judged", &StragglersView::judged},
                Field{"span", &StragglersView::span}, Field{"measures", &StragglersView::measures},
                Field{"unknown", &StragglersView::unknown}, Field{"found", &StragglersView::found});
  }
  friend bool operator==(const StragglersView&, const StragglersView&) = default;
};

}  // namespace muster

#pragma once

// The health of nodes: what a check measured, how that was judged, and what is kept of it.
//
// A check is ordered by the controller, measured by a program beside the kernels, and judged by
// core/handle/nodes/health_judge against the nodes of the same hardware. Figures are whole
// thousandths of their unit, so that a judgement is the same on every machine. Invariants: (1) a
// node's checks are numbered from 1; (2) `values` of a baseline are the newest good ones, at most
// kBaselineValues, the newest last.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"

namespace muster {

enum class HealthKind : std::uint8_t {
  kQuick = 0,   // seconds
  kBurnIn = 1,  // minutes
  kReboot = 2,  // nothing is measured: the node is started again
};

// Why a node is checked.
enum class HealthCause : std::uint8_t {
  kAsked = 0,        // a user asked
  kBoot = 1,         // the node started
  kSchedule = 2,     // the last check was long ago
  kFailure = 3,      // an attempt failed there
  kConfirm = 4,      // it was slow the last time
  kReadmission = 5,  // its health drained it
};

// Which way a figure is better.
enum class HealthSense : std::uint8_t {
  kHigher = 0,  // a rate
  kLower = 1,   // a latency, a count of what should be rare
  kNever = 2,   // anything but 0 is a defect
  kShown = 3,   // shown, not judged
};

enum class HealthStatus : std::uint8_t {
  kUnjudged = 0,  // too little is known of the class
  kGood = 1,
  kSuspect = 2,  // slower than the class
  kFailed = 3,   // a defect
};

enum class HealthOutcome : std::uint8_t {
  kMeasured = 0,
  kYielded = 1,  // to a job
  kBroken = 2,   // the check itself failed: see the text
  kRebooted = 3,
};

// One component, as it was measured.
struct HealthFigure {
  std::string component;  // "memory bandwidth", "GPU 0 copy"
  std::string unit;       // "GB/s"
  HealthSense sense = HealthSense::kHigher;
  std::uint64_t value = 0;  // thousandths of the unit
  std::uint64_t roof = 0;   // the most that this node was seen to do; 0: not known
  static constexpr auto Fields(auto list) {
    return list(Field{"component", &HealthFigure::component}, Field{"unit", &HealthFigure::unit},
                Field{"sense", &HealthFigure::sense}, Field{"value", &HealthFigure::value},
                Field{"roof", &HealthFigure::roof});
  }
  friend bool operator==(const HealthFigure&, const HealthFigure&) = default;
};

// A component with its class beside it.
struct HealthVerdict {
  HealthFigure figure;
  std::uint64_t median = 0;  // of the class
  std::uint64_t spread = 0;  // its median absolute deviation, times 1.4826
  std::uint32_t samples = 0;
  HealthStatus status = HealthStatus::kUnjudged;
  static constexpr auto Fields(auto list) {
    return list(Field{"figure", &HealthVerdict::figure}, Field{"median", &HealthVerdict::median},
                Field{"spread", &HealthVerdict::spread}, Field{"samples", &HealthVerdict::samples},
                Field{"standing", &HealthVerdict::status});
  }
  friend bool operator==(const HealthVerdict&, const HealthVerdict&) = default;
};

// What the agent is ordered to measure.
struct HealthOrder {
  std::string cluster;
  NodeId node;
  Epoch epoch;
  std::uint64_t number = 0;
  HealthKind kind = HealthKind::kQuick;
  static constexpr auto Fields(auto list) {
    return list(Field{"cluster", &HealthOrder::cluster}, Field{"node", &HealthOrder::node},
                Field{"epoch", &HealthOrder::epoch}, Field{"number", &HealthOrder::number},
                Field{"kind", &HealthOrder::kind});
  }
  friend bool operator==(const HealthOrder&, const HealthOrder&) = default;
};

// What the agent says of it.
struct HealthReport {
  std::uint64_t number = 0;
  HealthOutcome outcome = HealthOutcome::kMeasured;
  std::string text;  // of what was not measured: why
  Duration took{0};
  std::vector<HealthFigure> figures;
  static constexpr auto Fields(auto list) {
    return list(Field{"number", &HealthReport::number}, Field{"outcome", &HealthReport::outcome},
                Field{"text", &HealthReport::text}, Field{"took", &HealthReport::took},
                Field{"figures", &HealthReport::figures});
  }
  friend bool operator==(const HealthReport&, const HealthReport&) = default;
};

// One check, as it is kept.
struct HealthRecord {
  std::uint64_t number = 0;
  HealthKind kind = HealthKind::kQuick;
  HealthCause cause = HealthCause::kAsked;
  HealthOutcome outcome = HealthOutcome::kMeasured;
  HealthStatus status = HealthStatus::kUnjudged;  // the worst of its verdicts
  Time time = kNoTime;                            // when it was judged
  Duration took{0};
  std::string text;
  std::vector<HealthVerdict> verdicts;
  static constexpr auto Fields(auto list) {
    return list(Field{"number", &HealthRecord::number}, Field{"kind", &HealthRecord::kind},
                Field{"cause", &HealthRecord::cause}, Field{"outcome", &HealthRecord::outcome},
                Field{"standing", &HealthRecord::status}, Field{"time", &HealthRecord::time},
                Field{"took", &HealthRecord::took}, Field{"text", &HealthRecord::text},
                Field{"verdicts", &HealthRecord::verdicts});
  }
  friend bool operator==(const HealthRecord&, const HealthRecord&) = default;
};

// The newest good values of one component of one node.
struct HealthBaseline {
  std::string component;
  std::vector<std::uint64_t> values;
  static constexpr auto Fields(auto list) {
    return list(Field{"component", &HealthBaseline::component},
                Field{"values", &HealthBaseline::values});
  }
  friend bool operator==(const HealthBaseline&, const HealthBaseline&) = default;
};
inline constexpr std::size_t kBaselineValues = 16;

// What is known of one node, but for older checks, which are in the store only.
struct NodeHealth {
  NodeId node;
  std::uint64_t number = 0;  // of the newest check
  bool running = false;      // it is under way, since `ordered`
  HealthKind kind = HealthKind::kQuick;
  HealthCause cause = HealthCause::kAsked;
  Time ordered = kNoTime;
  std::string boot_id;  // of the node when it was ordered
  bool wanted = false;  // a user asked for one as soon as the node is idle
  HealthKind wanted_kind = HealthKind::kQuick;
  std::uint32_t slow = 0;  // checks in a row that found it slow
  bool drained = false;    // by its health
  HealthRecord last;       // the newest check that measured; number 0: none did
  Time tried = kNoTime;    // when the newest check ended, with a result or not
  std::vector<HealthBaseline> baselines;
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &NodeHealth::node}, Field{"number", &NodeHealth::number},
                Field{"running", &NodeHealth::running}, Field{"kind", &NodeHealth::kind},
                Field{"cause", &NodeHealth::cause}, Field{"ordered", &NodeHealth::ordered},
                Field{"boot_id", &NodeHealth::boot_id}, Field{"wanted", &NodeHealth::wanted},
                Field{"wanted_kind", &NodeHealth::wanted_kind}, Field{"slow", &NodeHealth::slow},
                Field{"drained", &NodeHealth::drained}, Field{"last", &NodeHealth::last},
                Field{"tried", &NodeHealth::tried}, Field{"baselines", &NodeHealth::baselines});
  }
  friend bool operator==(const NodeHealth&, const NodeHealth&) = default;
};

// How often attempts failed on a node through no fault of their users', and in what time. Both fade
// by a fiftieth a day.
struct FailureTally {
  NodeId node;
  std::uint64_t failures = 0;  // millionths
  Duration exposure{0};        // for so long attempts ran there
  Time faded = kNoTime;        // up to when both have faded, in whole days
  Time failed = kNoTime;       // the newest failure
  std::uint64_t losses = 0;    // those after which nothing that lay on the node could be used
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &FailureTally::node}, Field{"failures", &FailureTally::failures},
                Field{"exposure", &FailureTally::exposure}, Field{"faded", &FailureTally::faded},
                Field{"failed", &FailureTally::failed}, Field{"losses", &FailureTally::losses});
  }
  friend bool operator==(const FailureTally&, const FailureTally&) = default;
};

// A node's health, as muster health shows it.
struct HealthView {
  std::string node;
  std::string state;              // one word, or "slow: memory bandwidth"
  std::uint32_t class_nodes = 0;  // with the same hardware, itself too
  NodeHealth health;
  FailureTally tally;
  std::uint32_t sick_permille = 0;    // how likely it fails jobs three times as often as its class
  std::vector<HealthRecord> history;  // the newest first
  static constexpr auto Fields(auto list) {
    return list(Field{"node", &HealthView::node}, Field{"state", &HealthView::state},
                Field{"class_nodes", &HealthView::class_nodes},
                Field{"health", &HealthView::health}, Field{"tally", &HealthView::tally},
                Field{"sick_permille", &HealthView::sick_permille},
                Field{"history", &HealthView::history});
  }
  friend bool operator==(const HealthView&, const HealthView&) = default;
};

}  // namespace muster

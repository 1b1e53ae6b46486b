#pragma once

// What a job used over time, and what its programs said.

#include <optional>
#include <string>
#include <vector>

#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/value/units.h"

namespace muster {

// What a job used in a span of time, on average or, of memory, at most. Nothing: no node could
// tell.
struct CurvePoint {
  Time start = kNoTime;
  Duration span{0};
  double cpus = 0;                        // busy
  double gpus = 0;                        // busy
  std::optional<double> watts = {};       // of GPUs and its share of the processors
  Bytes memory;                           // the most so far, of all its nodes together
  Bytes gpu_memory;                       // the most so far on one GPU
  std::optional<double> read = {};        // from storage, bytes a second
  std::optional<double> written = {};     // to storage, bytes a second
  std::optional<double> io_blocked = {};  // nodes on which it waited for storage
  // Shares of what its GPUs have, while their counters were read: 0 to 1.
  std::optional<double> sm_active = {};
  std::optional<double> tensor_active = {};
  std::optional<double> dram_active = {};
  std::optional<double> link = {};  // by NVLink and PCIe, bytes a second of one GPU
  std::optional<double> sent =
      {};  // to other machines, by TCP and ports of InfiniBand, bytes a second
  std::optional<double> received = {};
  std::optional<double> net_blocked = {};  // nodes on which a connection had something queued
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &CurvePoint::start}, Field{"span", &CurvePoint::span},
                Field{"cpus", &CurvePoint::cpus}, Field{"gpus", &CurvePoint::gpus},
                Field{"watts", &CurvePoint::watts}, Field{"memory", &CurvePoint::memory},
                Field{"gpu_memory", &CurvePoint::gpu_memory}, Field{"read", &CurvePoint::read},
                Field{"written", &CurvePoint::written},
                Field{"io_blocked", &CurvePoint::io_blocked},
                Field{"sm_active", &CurvePoint::sm_active},
                Field{"tensor_active", &CurvePoint::tensor_active},
                Field{"dram_active", &CurvePoint::dram_active}, Field{"link", &CurvePoint::link},
                Field{"sent", &CurvePoint::sent}, Field{"received", &CurvePoint::received},
                Field{"net_blocked", &CurvePoint::net_blocked});
  }
};

// What the job's programs said in a span of time (muster report).
struct ReportedPoint {
  Time start = kNoTime;
  Duration span{0};
  double last = 0;
  double low = 0;
  double high = 0;
  static constexpr auto Fields(auto list) {
    return list(Field{"start", &ReportedPoint::start}, Field{"span", &ReportedPoint::span},
                Field{"last", &ReportedPoint::last}, Field{"low", &ReportedPoint::low},
                Field{"high", &ReportedPoint::high});
  }
};

struct ReportedCurve {
  std::string name;  // "loss"
  double last = 0;   // which may be no number
  Time time = kNoTime;
  std::vector<ReportedPoint> points;  // as those of JobCurve; numbers all of them
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &ReportedCurve::name}, Field{"last", &ReportedCurve::last},
                Field{"time", &ReportedCurve::time}, Field{"points", &ReportedCurve::points});
  }
};

struct JobCurve {
  JobId job;
  std::string label;
  std::vector<CurvePoint> points;  // by time, without overlap; older ones have longer spans
  std::vector<ReportedCurve> reported = {};  // by name; for those who may see the job
  static constexpr auto Fields(auto list) {
    return list(Field{"job", &JobCurve::job}, Field{"label", &JobCurve::label},
                Field{"points", &JobCurve::points}, Field{"reported", &JobCurve::reported});
  }
};

}  // namespace muster

#pragma once

// What of an agent's words is believed: of its registration before the core sees it, and how much
// in how short a time.
//
// The functions are pure; an AgentIntake is its session's.

#include <grpcpp/alarm.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/agents/node_gpus.h"
#include "daemon/door/stream_pace.h"
#include "proto/agent.pb.h"
#include "proto/convert/order_purpose.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/value/time.h"

namespace muster::daemon {

// Why a registration's clock cannot be worked with, or nothing.
inline std::string ClockTrouble(const std::string& name, Time theirs, Time ours) {
  const auto off = std::chrono::duration_cast<std::chrono::seconds>(theirs - ours).count();
  if (std::abs(off) <= kClocksDifferSeconds) {
    return "";
  }
  return absl::StrCat("node ", name, ": its clock is ", std::abs(off), " s ",
                      off > 0 ? "ahead of" : "behind", " the controller's; set one of them (NTP)");
}

// What an agent may not claim, whoever it is.
inline absl::Status CheckClaims(const Caller& caller, const wire::AgentMessage& message) {
  constexpr std::size_t kChallengeBytesMin = 16;
  const std::string& name = message.registration().name();
  if (caller.role == Role::kAgent && caller.node != name) {
    return absl::PermissionDeniedError(absl::StrCat(
        "node ", name, ": the certificate is node ", caller.node, "'s; give the agent --name ",
        caller.node, " or a key of its own (muster keys agent ", name, ")"));
  }
  if (message.challenge().size() < kChallengeBytesMin) {
    return absl::FailedPreconditionError(
        absl::StrCat("node ", name, ": its agent is of an older version; update it"));
  }
  return absl::OkStatus();
}

// Why a node is broken, in as many words as are believed.
inline std::string FaultReason(const wire::NodeFault& message) {
  constexpr std::size_t kReasonMax = 256;
  return message.text().size() > kReasonMax ? "a fault of many words" : message.text();
}

inline constexpr std::size_t kReportTextMost = 4096;
// Of an end: as many as an agent tells.
inline constexpr std::size_t kGpuErrorsMost = 64;
inline constexpr std::size_t kGpuRanksMost = 1024;

// Cuts each text of a report, and lists that are too long: they are kept for ever.
inline void CutTexts(Report& report) {
  const auto cut = [](std::string& text) {
    if (text.size() > kReportTextMost) {
      text = AsUtf8(text.substr(0, kReportTextMost)) + "...";
    }
  };
  if (auto* const started = std::get_if<RunStarted>(&report.fact)) {
    cut(started->limits);
    cut(started->image);
    cut(started->data.not_ahead);
  } else if (auto* const step = std::get_if<StepEnded>(&report.fact)) {
    for (RankExit& rank : step->ranks) {
      cut(rank.text);
    }
  } else if (auto* const ended = std::get_if<RunEnded>(&report.fact)) {
    cut(ended->text);
    cut(ended->node_fault);
    ended->gpu_errors.resize(std::min(ended->gpu_errors.size(), kGpuErrorsMost));
    std::for_each(ended->gpu_errors.begin(), ended->gpu_errors.end(), cut);
    ended->gpu_work.resize(std::min(ended->gpu_work.size(), kGpuRanksMost));
  }
}

// What bounds a stream of an agent's.
struct AgentIntake {
  StreamPace pace;
  std::unique_ptr<grpc::Alarm> next_read = nullptr;
  RareOccupants occupants;
};

}  // namespace muster::daemon

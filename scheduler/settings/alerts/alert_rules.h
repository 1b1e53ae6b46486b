#pragma once

// The rules of alerts: which there are, how severe each is, and after how long it fires.
//
//   [alert.NodeSilent]
//   severity = "critical"     # any word; "none": the rule is off
//   for = "2m"                # how long it must be so
//
// Invariant: every rule has a row; a file names no other.

#include <array>
#include <chrono>
#include <map>
#include <string>

#include "absl/status/status.h"
#include "scheduler/model/value/time.h"
#include "scheduler/runtime/config_file.h"

namespace muster {

struct AlertRule {
  const char* name;
  const char* severity;
  std::chrono::seconds hold;  // how long it must be so before it fires
  const char* text;           // what it finds
};

inline constexpr std::array<AlertRule, 22> kAlertRules = {{
    {"NodeSilent", "critical", std::chrono::seconds(60), "a node does not answer"},
    {"NodeUnhealthy", "warning", std::chrono::seconds(0), "a check found a node slow or broken"},
    {"NodeDrained", "info", std::chrono::hours(24), "a node has been drained for a day"},
    {"JobOverlooked", "critical", std::chrono::seconds(60), "a job waits though it fits"},
    {"JobNeverStarts", "warning", std::chrono::seconds(300), "no node could ever run a job"},
    {"StartPromiseMissed", "critical", std::chrono::seconds(60), "a promised start is over"},
    {"BindingDiffers", "warning", std::chrono::seconds(0), "a rank is not where it was planned"},
    {"JobOutOfMemory", "warning", std::chrono::seconds(0), "a job ran out of memory"},
    {"JobHung", "warning", std::chrono::seconds(0), "a job showed no progress and was ended"},
    {"GpuLost", "critical", std::chrono::seconds(0), "a GPU fell off the bus"},
    {"GpuEccErrors", "warning", std::chrono::seconds(0), "a GPU's memory has lost data"},
    {"GpuXid", "warning", std::chrono::seconds(0), "a GPU's driver told an XID error"},
    {"GpuLinkLost", "warning", std::chrono::seconds(0), "an NVLink of a GPU went down"},
    {"GpuIdle", "warning", std::chrono::seconds(0), "a job's GPUs are idle, as [idle] says"},
    {"CheckpointOverdue", "warning", std::chrono::seconds(60), "a job makes no checkpoints"},
    {"CheckpointFailing", "critical", std::chrono::seconds(0), "a job's checkpoints fail"},
    {"ValueNotANumber", "warning", std::chrono::seconds(0), "a job reported no number"},
    {"ValueSpike", "info", std::chrono::seconds(0), "a loss or norm that a job reported rose"},
    {"ThroughputDropped", "warning", std::chrono::seconds(60), "a job became much slower"},
    {"Straggler", "warning", std::chrono::seconds(0), "a rank is slower than its peers"},
    {"StoreSlow", "warning", std::chrono::seconds(60), "changes are long on their way to the disk"},
    {"CertificateEnding", "warning", std::chrono::seconds(0),
     "the controller's, an agent's or a client's ends soon"},
}};

struct AlertSetting {
  std::string severity;
  Duration hold{0};
};
using AlertSettings = std::map<std::string, AlertSetting>;  // by rule; those that are on

AlertSettings DefaultAlertSettings();
// The tables [alert.NAME] of the file, over the defaults. Errors are "FILE:LINE: KEY: PROBLEM".
absl::Status ReadAlertSettings(ConfigFile& file, AlertSettings* settings);

}  // namespace muster

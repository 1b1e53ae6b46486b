#include "cli/service/lost_replicas.h"

#include <algorithm>
#include <chrono>
#include <future>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "cli/service/replica/health_probe.h"
#include "cli/service/replica/probe_words.h"
#include "cli/service/replica/replica_note.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli {
namespace {

constexpr Duration kSilentPatience = std::chrono::seconds(1);
constexpr int kNoInterrupt = -1;

bool Answers(const ReplicaNote& note, Duration patience) {
  return !note.ports.empty() &&
         AskHealth(note.host, note.ports.front().port, ServiceProbe{.kind = ProbeKind::kTcp},
                   patience, kNoInterrupt)
             .ok();
}

}  // namespace

void MarkThoseSilent(const std::set<std::string>& nodes, Duration patience,
                     std::vector<ServiceReplica>* replicas) {
  std::vector<std::pair<ServiceReplica*, std::future<bool>>> asked;
  for (ServiceReplica& replica : *replicas) {
    if (std::any_of(replica.nodes.begin(), replica.nodes.end(),
                    [&nodes](const std::string& node) { return nodes.count(node) != 0; })) {
      asked.emplace_back(&replica, std::async(std::launch::async, Answers, replica.note, patience));
    }
  }
  for (auto& [replica, answers] : asked) {
    replica->lost = !answers.get();
  }
}

absl::Status MarkLostReplicas(Connection& connection, std::vector<ServiceReplica>* replicas) {
  std::set<std::string> names;
  for (const ServiceReplica& replica : *replicas) {
    if (replica.job_state == Name(JobState::kRunning)) {
      names.insert(replica.nodes.begin(), replica.nodes.end());
    }
  }
  if (names.empty()) {
    return absl::OkStatus();
  }
  ListNodes question;
  question.names.assign(names.begin(), names.end());
  const absl::StatusOr<NodeList> list = connection.Call(question);
  if (absl::IsNotFound(list.status())) {
    return absl::OkStatus();  // a node is gone, and so are the jobs that it had
  }
  RETURN_IF_ERROR(list.status());
  std::set<std::string> unheard;
  for (const NodeView& node : list->nodes) {
    if (absl::StartsWith(node.state, "DOWN")) {
      unheard.insert(node.name);
    }
  }
  MarkThoseSilent(unheard, kSilentPatience, replicas);
  return absl::OkStatus();
}

}  // namespace muster::cli

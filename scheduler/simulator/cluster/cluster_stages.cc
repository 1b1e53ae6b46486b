// The checkpoints of a simulated cluster's jobs, where these share a file system.
#include <algorithm>
#include <tuple>

#include "scheduler/simulator/cluster/cluster_replay.h"

namespace muster::sim {

// The time since the stage was looked at last goes by.
void ClusterReplay::PassStage(Live& live) const {
  live.staged->Advance(now_ - live.since);
  live.since = now_;
}

// Goes on restarting or working: a checkpoint that is due asks for its turn, and the work goes on
// until it has it.
void ClusterReplay::BeginStage(JobId id, Live& live) {
  endings_.emplace(now_ + live.staged->UntilDue(), ++starts_, id, ++live.generation);
  if (live.staged->WantsToWrite()) {
    files_.Ask(id, CheckpointBytes(live), live.nodes, live.staged->at_risk() * live.threads);
  }
}

std::int64_t ClusterReplay::CheckpointBytes(const Live& live) const {
  return live.checkpoints.size * (live.gpus > 0 ? live.gpus : live.threads);
}

// The checkpoints that are whole by now.
void ClusterReplay::EndWrites() {
  files_.Advance(now_);
  for (auto [done, id] = files_.NextDone(); done <= now_; std::tie(done, id) = files_.NextDone()) {
    Live& live = live_.at(id);
    PassStage(live);
    live.staged->EndWrite();
    files_.Leave(id);
    NoteWrite(live);
    BeginStage(id, live);
  }
}

// What a checkpoint that is over, whole or not, took longer than alone.
void ClusterReplay::NoteWrite(Live& live) {
  const Tick alone = run_.file_system.AloneFor(CheckpointBytes(live), live.nodes);
  const Tick more = std::max<Tick>(0, now_ - live.writes_since - alone);
  live.held_up += more;
  result_.failures.shared += static_cast<double>(live.threads) * static_cast<double>(more);
}

void ClusterReplay::AdmitWriters() {
  for (std::optional<JobId> id = files_.Admit(); id.has_value(); id = files_.Admit()) {
    Live& live = live_.at(*id);
    PassStage(live);
    live.staged->BeginWrite();
    live.writes_since = now_;
    ++live.generation;  // what was foreseen for the work
  }
}

}  // namespace muster::sim

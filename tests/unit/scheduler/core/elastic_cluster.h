#pragma once

// A cluster with elastic jobs, played through the live handlers and cycles, second by second.
//
// Thread promise: one thread. Invariants: World's; every part of an attempt is on record with when
// it ran, as its node knows it, silent or not.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/core/policy/kill_grace.h"
#include "scheduler/model/plan/plan.h"
#include "tests/unit/scheduler/core/builders.h"

namespace muster::core::testing {

// A cluster of nodes of four cores whose agents do what they are told, but for those that are
// silent: their supervisors end elastic parts by themselves when the lease is over.
class ElasticCluster {
 public:
  World world;

  ElasticCluster() { world.config.kill_grace = std::chrono::seconds(10); }

  NodeId AddNode() {
    const std::string name = absl::StrCat("n", ++nodes_);
    const Transition transition = world.Take(RegisterAgent{World::RegistrationOf(name, {})});
    wanted_ = true;
    return transition.node;
  }
  // The agent's stream breaks, `before` after its last sign of life; what it supervises runs on
  // until the lease is over, which counts from that sign.
  void Silence(NodeId node, Duration before = Duration(0)) {
    Carry(world.Take(LoseAgent{node, before}));
    silent_[node] = world.now - before;
  }
  // It comes back, with what it knows.
  void Return(NodeId node) {
    silent_.erase(node);
    Registration registration = World::RegistrationOf(world.state.FindNode(node)->name, Shape());
    for (const auto& [key, part] : parts_) {
      if (std::get<2>(key) == node) {
        registration.attempts.push_back(
            KnownAttempt{std::get<0>(key), std::get<1>(key), part.ended != kNoTime, {}});
      }
    }
    Carry(world.Take(RegisterAgent{registration}));
  }
  JobId Submit(std::uint32_t least, std::uint32_t most, Duration limit = Duration(0)) {
    ResourceRequest request;
    request.min_nodes = least;
    request.max_nodes = most;
    request.cpus_per_task = 4;  // whole nodes
    JobSpec spec = world.Spec(request);
    spec.elastic = true;
    spec.time_limit = limit;
    return Submit(spec);
  }
  JobId Submit(const JobSpec& spec) {
    wanted_ = true;
    return world.Submit(spec);
  }
  JobId SubmitPlain(std::uint32_t nodes, Duration limit) {
    ResourceRequest request;
    request.min_nodes = nodes;
    request.max_nodes = nodes;
    request.cpus_per_task = 4;
    JobSpec spec = world.Spec(request);
    spec.time_limit = limit;
    return Submit(spec);
  }
  // What somebody asks.
  void Ask(const Command& command) { Carry(world.Take(command)); }
  void Finish(JobId job) { EndItself(job, ExitStatus()); }
  void EndItself(JobId job, ExitStatus status) {
    const NodeId first = Its(job).allocation.nodes.front().node;
    Tell(first, job, Its(job).number, Ended(EndCause::kExited, status));
  }
  void Play(Duration time) {
    for (const Time end = world.now + time; world.now < end;) {
      world.now += std::chrono::seconds(1);
      Second();
    }
  }

  [[nodiscard]] const Attempt& Its(JobId job) const { return *world.state.FindJob(job)->attempt; }
  [[nodiscard]] std::size_t NodesOf(JobId job) const {
    const Job* live = world.state.FindJob(job);
    return live == nullptr || !live->attempt.has_value() ? 0 : live->attempt->runs.size();
  }
  [[nodiscard]] bool Runs(JobId job) const {
    const Job* live = world.state.FindJob(job);
    return live != nullptr && live->state == JobState::kRunning;
  }
  [[nodiscard]] std::size_t RestartsOf(JobId job) const {
    std::size_t restarts = 0;
    for (const Event& event : world.events) {
      const auto* again = std::get_if<JobRequeued>(&event);
      restarts += again != nullptr && again->job == job ? 1 : 0;
    }
    return restarts;
  }
  // Of one job no two attempts ever ran at once, as the nodes themselves know it.
  [[nodiscard]] bool NeverOverlapped() const {
    for (const auto& [a, one] : parts_) {
      for (const auto& [b, other] : parts_) {
        if (std::get<0>(a) == std::get<0>(b) && std::get<1>(a) < std::get<1>(b) &&
            (one.ended == kNoTime || one.ended > other.began)) {
          return false;
        }
      }
    }
    return true;
  }
  // Seconds in which nodes were the job's, from the nodes' own records.
  [[nodiscard]] double NodeSeconds(JobId job) const {
    double sum = 0;
    for (const auto& [key, part] : parts_) {
      if (std::get<0>(key) == job) {
        const Time end = part.ended == kNoTime ? world.now : part.ended;
        sum += std::chrono::duration<double>(end - part.began).count();
      }
    }
    return sum;
  }

 private:
  using Key = std::tuple<JobId, AttemptNumber, NodeId>;
  struct Part {
    Time began = kNoTime;
    Time ended = kNoTime;
    std::uint64_t told = 0;
  };
  struct Ending {
    Time at = kNoTime;
    Key part;
    EndCause cause;
  };

  Fact Ended(EndCause cause, ExitStatus status = {}) const {
    RunEnded fact;
    fact.time = world.now;
    fact.cause = cause;
    fact.status = status;
    return fact;
  }

  void Tell(NodeId node, JobId job, AttemptNumber attempt, const Fact& fact) {
    Part& part = parts_[{job, attempt, node}];
    if (std::holds_alternative<RunEnded>(fact)) {
      part.ended = world.now;
    }
    if (!silent_.contains(node)) {
      Carry(world.Take(TakeReport{node, Report{job, attempt, ++part.told, fact}}));
    }
  }

  void Carry(const Transition& transition) {
    for (const Effect& effect : transition.effects) {
      if (std::holds_alternative<Replan>(effect)) {
        wanted_ = true;
      } else if (const auto* launch = std::get_if<Launch>(&effect)) {
        Begin(*launch);
      } else if (const auto* end = std::get_if<Terminate>(&effect)) {
        const Duration grace =
            KillGraceOf(world.state.policy().site(), *world.state.FindJob(end->job)->spec,
                        end->cause, world.config);
        endings_.push_back({world.now + std::min<Duration>(grace, std::chrono::seconds(2)),
                            {end->job, end->attempt, end->node},
                            end->cause});
      }
    }
  }

  void Begin(const Launch& launch) {
    const Key key{launch.job, launch.attempt, launch.node};
    if (silent_.contains(launch.node) || parts_.contains(key)) {
      return;
    }
    parts_[key].began = world.now;
    RunStarted fact;
    fact.time = world.now;
    Tell(launch.node, launch.job, launch.attempt, fact);
  }

  void Second() {
    for (auto& [key, part] : parts_) {
      const auto silent = silent_.find(std::get<2>(key));
      if (silent != silent_.end() && part.ended == kNoTime &&
          world.now >= silent->second + kElasticLease) {
        part.ended = world.now;  // by itself
      }
    }
    for (const Ending& ending : std::exchange(endings_, {})) {
      const auto& [job, attempt, node] = ending.part;
      if (ending.at > world.now) {
        endings_.push_back(ending);
      } else if (!silent_.contains(node) && parts_[ending.part].ended == kNoTime) {
        Tell(node, job, attempt, Ended(ending.cause, ExitStatus{0, 15}));
      }
    }
    Carry(world.Take(TickElastic{}));
    for (int cycles = 0; cycles < 5; ++cycles) {
      if (!wanted_ && (last_.wake == kNoTime || last_.wake > world.now)) {
        break;
      }
      wanted_ = false;
      last_ = MakePlan(*BuildSnapshot(world.state, world.now, &last_, nullptr), world.config);
      if (HasWork(last_, world.now)) {
        Carry(world.Take(TakePlan{last_}));
      }
    }
  }

  std::uint32_t nodes_ = 0;
  std::map<Key, Part> parts_;
  std::map<NodeId, Time> silent_;  // since when
  std::vector<Ending> endings_;
  Plan last_;
  bool wanted_ = false;
};

}  // namespace muster::core::testing

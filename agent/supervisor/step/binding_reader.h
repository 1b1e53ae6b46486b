#pragma once

// Reads the bindings of a step's ranks back from the kernel and reports them.
//
// Thread promise: the loop's thread. Invariants: (1) a rank is read back exactly once, after its
// exec and before it is reaped; (2) what can no longer be asked is what the rank said itself just
// before its exec.

#include <functional>
#include <string>
#include <utility>

#include "agent/supervisor/step/step_plan.h"
#include "agent/supervisor/step/step_ranks.h"
#include "topology/bind/read_back.h"

namespace muster::agent {

class BindingReader {
 public:
  // `on_read`: a rank was read later than asked for. REQUIRES: the references outlive it.
  BindingReader(const StepHost& host, const StepPlan& plan, std::function<void()> on_read)
      : host_(host), plan_(plan), on_read_(std::move(on_read)), timers_(host.loop) {}
  BindingReader(const BindingReader&) = delete;
  BindingReader& operator=(const BindingReader&) = delete;

  // Is added to the words on every rank.
  void SetNote(std::string note) { note_ = std::move(note); }
  // It has executed: now, or as soon as the kernel can say it all.
  void Read(StepRank* rank) { Try(rank, kTries); }
  // It has ended: now, whatever there is to be read.
  void ReadNow(StepRank* rank) { Try(rank, 0); }
  // In reports that each fit into a message of the agent's.
  void Report(const StepRanks& ranks) const;

 private:
  static constexpr int kTries = 8;  // a millisecond apart, while the exec completes

  void Try(StepRank* rank, int tries_left);
  void Take(StepRank* rank, topology::ObservedBinding found) const;
  [[nodiscard]] topology::PlannedBinding PlanOf(const StepRank& rank) const;

  const StepHost& host_;
  const StepPlan& plan_;
  const std::function<void()> on_read_;
  std::string note_;
  OwnTimers timers_;
};

}  // namespace muster::agent

#pragma once

// What every queue of identical processors does alike: jobs come and end, and are known from their
// arrival to their end; a queue that was saved goes on.
//
// `Known` is what a queue knows of a job: at least `job`, `number`, `running` and `waiting`, and it
// is described. Thread promise: as FlatQueue's. Invariants: numbers count arrivals from 1; what is
// saved is all that is known, and what the queue adds.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/value/value_bytes.h"
#include "scheduler/simulator/flat/flat_queue.h"

namespace muster::sim {

template <class Known>
class KnownJobs : public FlatQueue {
 public:
  void Arrive(const FlatJob& job) final {
    if (job.handle >= known_.size()) {
      known_.resize(std::size_t{job.handle} + 1);
    }
    Known& known = known_[job.handle];
    known = Known();
    known.job = job;
    known.number = ++arrivals_;
    arrived_.push_back(job.handle);
  }
  void End(std::uint32_t handle) final { ended_.push_back(handle); }

  [[nodiscard]] std::string Save() const final {
    ValueWriter writer;
    writer.Put(known_);
    writer.Put(arrivals_);
    SaveMore(writer);
    return writer.bytes();
  }
  [[nodiscard]] bool Load(const std::string& bytes, Tick now) final {
    ValueReader reader(bytes);
    reader.Get(known_);
    reader.Get(arrivals_);
    LoadMore(reader);
    return reader.AtEnd() && Resume(now);
  }

 protected:
  // What the queue keeps beside the jobs, in the same order.
  virtual void SaveMore(ValueWriter& writer) const = 0;
  virtual void LoadMore(ValueReader& reader) = 0;
  // Everything else is worked out again. False where what was loaded cannot be.
  virtual bool Resume(Tick now) = 0;

  std::vector<Known> known_;          // by handle
  std::vector<std::uint32_t> ended_;  // since the last cycle; so is the next
  std::vector<std::uint32_t> arrived_;

 private:
  std::uint64_t arrivals_ = 0;
};

}  // namespace muster::sim

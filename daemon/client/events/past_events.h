#pragma once

// Events out of the journal: what has left the feed's ring, or was before anybody read.
//
// Thread promise: safe from any thread; `done` is called on the reader's thread, or on the store's
// writer thread with an error. Invariants: a reading takes at most kEntriesMax entries, so that
// readings of others come in between; events come in order, each once.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/controller/controller.h"
#include "daemon/controller/worker.h"
#include "daemon/events/cloud_event.h"
#include "daemon/store/accounting.h"
#include "daemon/store/job_store.h"

namespace muster::daemon {

struct Past {
  std::vector<CloudEventPtr> events;
  Version next;         // what to ask for then
  bool at_end = false;  // the journal had no more
};

class PastEvents {
 public:
  static constexpr std::size_t kEntriesMax = 1'000;

  // Everything that is referred to outlives the answers.
  PastEvents(Controller& controller, JobStore& store, Accounting& accounting, Worker& reader,
             std::string cluster)
      : controller_(controller),
        store_(store),
        accounting_(accounting),
        reader_(reader),
        cluster_(std::move(cluster)) {}

  using Done = std::function<void(const absl::StatusOr<Past>& past)>;
  void Read(Version from, Done done);

 private:
  struct Reading;
  using Shared = std::shared_ptr<Reading>;
  void ReadEntries(const Shared& reading);
  void LookAtState(const Shared& reading);
  void Complete(const Shared& reading);

  Controller& controller_;
  JobStore& store_;
  Accounting& accounting_;
  Worker& reader_;
  const std::string cluster_;
};

}  // namespace muster::daemon

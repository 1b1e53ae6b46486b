#pragma once

// Has nodes fetch the images, and make the copies of data, of the jobs that are to start there
// next, while these still wait and hold nothing.
//
// While the controller leads, every few seconds: of the batch jobs that the newest plan keeps nodes
// for, in its order, each node is informed of the first whose image nobody knows it to keep, and of
// the first that wants data there. Whether it has these as they are now, the node finds out. The
// fetch is the agent's and the user's: what becomes of it, the job finds when it starts. Thread
// promise: construction and destruction are main's; the work has a thread of its own. Invariants:
// (1) a node is informed of a user's image, or of a submission's data, once, whether the fetch
// succeeds or not, until kToldMax others were told; one that fetches another of the user's is
// informed again; (2) at one look at most kTellMax are told; (3) nothing of it is in the state.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/agents/image_shares.h"
#include "daemon/controller/controller.h"
#include "daemon/store/job_store.h"
#include "scheduler/core/state/cluster_state.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/runtime/log.h"

namespace muster::daemon {

// What a node is to fetch: an image, or copies of data.
struct WantedAhead {
  NodeId node;
  std::string name;  // of the node
  JobId job;
  JobId program;  // whose program has the user's environment
  User user;
  std::string image = {};                 // or:
  std::vector<std::string> sources = {};  // JobSpec::node_data
  std::uint64_t mark = 0;                 // MarkOfImage, or of the submission's data
};

// Each node once for an image, of the first job that wants one there which it is not known to keep,
// and once for data, if `told` does not have them. At most `most`.
using ToldAhead = std::set<std::pair<NodeId, std::uint64_t>>;
std::vector<WantedAhead> ToFetchAhead(const core::ClusterState& state, const Plan& plan,
                                      const ToldAhead& told, std::size_t most);

class Prefetch {
 public:
  static constexpr std::chrono::seconds kLookEvery{5};
  static constexpr std::size_t kTellMax = 64;
  static constexpr std::size_t kToldMax = 65536;

  // All that is referred to outlives it.
  Prefetch(Controller& controller, JobStore& store, ImageShares& shares, const Logger& log,
           std::chrono::milliseconds look_every = kLookEvery);
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;
  ~Prefetch();

 private:
  void Run();
  void LookOnce();
  void Tell(const WantedAhead& wanted);
  // What was told to nodes that had no turn for it, and is to be told again. An answer may come
  // when we are gone.
  class Busy {
   public:
    void Add(const ToldAhead::value_type& told);
    std::vector<ToldAhead::value_type> TakeAll();

   private:
    std::mutex mutex_;
    std::vector<ToldAhead::value_type> told_;  // guarded by mutex_
  };

  Controller& controller_;
  JobStore& store_;
  ImageShares& shares_;
  const Logger& log_;
  const std::chrono::milliseconds look_every_;
  const std::shared_ptr<Busy> busy_ = std::make_shared<Busy>();
  ToldAhead told_;
  std::deque<ToldAhead::value_type> order_;  // of those, the oldest first
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace muster::daemon

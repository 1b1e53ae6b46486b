#pragma once

// The pass under way: one look at every waiting job, in order, with what it has planned so far.
//
// What core/planner makes its plan with; in pieces: pass.cc for jobs of themselves, pass_start.cc
// for their places, pass_groups.cc for the components of heterogeneous ones, pass_elastic.cc for
// running ones that grow. Thread promise: owned by one call of MakePlan. Invariants: (1) what is
// free only falls as a pass goes on; (2) what it decides depends on the snapshot and the
// configuration alone.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "scheduler/core/plan/availability/availability.h"
#include "scheduler/core/plan/planner_memory.h"
#include "scheduler/core/plan/queue/queue_priority.h"
#include "scheduler/core/plan/resumption.h"
#include "scheduler/core/plan/search/elastic_size.h"
#include "scheduler/core/plan/search/eligibility.h"
#include "scheduler/core/plan/search/group_search.h"
#include "scheduler/core/plan/search/preemption.h"
#include "scheduler/core/plan/search/share_choice.h"
#include "scheduler/core/plan/search/start_options.h"
#include "scheduler/core/policy/limits.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/plan/snapshot.h"
#include "scheduler/model/settings/policy_config.h"

namespace muster {

class Pass {
 public:
  Pass(PlannerMemory& memory, const PolicyConfig& config);

  Plan Run();

 private:
  using Options = std::vector<const StartOption*>;
  // What a pass knows of all jobs of one shape.
  struct ShapeVerdict {
    bool fits = false;             // some day, if it is known
    bool no_start = false;         // none starts in this pass: free amounts only fall
    std::optional<Reason> beyond;  // why they never start on the nodes that are up
    // A reservation is in their way, which keeps no later job waiting.
    std::optional<std::optional<Reason>> reserved;
  };
  // The job that keeps later ones waiting in a partition.
  struct Blocker {
    JobId first;
    std::uint32_t waiting = 0;
  };
  // An option and when it could start.
  struct Prospect {
    const StartOption* option = nullptr;
    Opening opening;
    bool is_promised = false;  // it is what the last plan promised, and still holds
  };

  // Where a job starts.
  struct Found {
    Opening opening;
    Allocation allocation;
  };

  // One element of an array after the other. Once two in a row were left waiting and changed
  // nothing for later jobs, the others share their fate.
  void LookAtAll(const WaitingJob& entry, const QueueTurn& turn);

  // How often the pass has changed what others find.
  std::size_t Changes() const;

  // Leaves the elements from `first` to before `last` as the one before them was left, up to one to
  // which the last plan promised nodes. How many they are.
  std::uint32_t LeaveAlike(const WaitingJob& entry, std::uint32_t first, std::uint32_t last);

  std::vector<PlannedReservation>::const_iterator PromiseFrom(JobId job) const;

  // Starts the job, or notes why not.
  void LookAt(const WaitingJob& job);

  // The ways in which the job may be started by now; `usable` says which alternatives, empty: all.
  Options OptionsOf(const WaitingJob& job, const std::vector<bool>& usable);

  // Gives suspended jobs their cores back, or keeps these for them from here on.
  void LookAtSuspended(const std::vector<const RunningJob*>& jobs);

  // From here on in the pass the cores are the suspended job's.
  void KeepCores(const OwnCores& part, bool from_now);

  // What policy has against the job; of alternatives, against all of them. Which of them it leaves.
  std::vector<bool> AddPolicyBlockersOfAll(const WaitingJob& job, std::vector<Reason>& blockers);

  ShapeVerdict& VerdictOn(const StartOption& option);

  bool MayTry(const StartOption& option);

  // True when the job is started. `limit` says which limit what it would get breaks.
  bool TryStart(const WaitingJob& job, const StartOption& asked, std::optional<Reason>& limit);

  // The option on as many nodes as it can have now, where it may choose.
  const StartOption& Widest(const StartOption& asked);

  // The option on half as many nodes more than the least, where limits have something against so
  // many; null when it is the narrowest. REQUIRES: `option` is Widest(asked) or came from here.
  const StartOption* Narrower(const StartOption& asked, const StartOption& option);

  std::optional<Opening> Promised(JobId job, const Need& need, Time start) const;

  std::optional<std::uint32_t> PositionOf(NodeId id) const;

  // A place for the job now; where what is free of a node does not lie as it counts, elsewhere.
  std::optional<Found> FindPlace(JobId job, const Need& need);

  // Of a job that needs one share of a GPU: where it leaves most to others.
  std::optional<Found> FindShare(const Need& need);

  // Nothing when a node does not take its part; `too_small`, if there, is that node.
  std::optional<Allocation> Place(const Need& need, const Opening& opening,
                                  std::uint32_t* too_small) const;

  // False when what the job would hold breaks a limit; else it is counted.
  bool CountInLimits(const WaitingJob& job, const StartOption& option, const Allocation& allocation,
                     std::optional<Reason>& limit);

  bool CountInLimits(const WaitingJob& job, const StartOption& option, const Allocation& allocation,
                     PassUsage& usage, std::optional<Reason>& limit) const;

  void Start(const WaitingJob& job, const StartOption& option, const Opening& opening,
             Allocation allocation);

  const NodePicture& PictureOf(std::uint32_t node) const;

  // The job waits for resources, or for an earlier job that does; the first ones get a reservation.
  void LeaveBlocked(const WaitingJob& job, const Options& options);

  // Later jobs of the partition wait for the job.
  void BlockIn(const std::string& partition, JobId job);

  // Whether the option holds on no arrangement of the nodes that are up.
  bool IsBeyond(const StartOption& option);

  // The reservation that is in the option's way now, as a reason; null when none is.
  const Reason* WhyReserved(const StartOption& option);

  Reason WhyBlocked(const WaitingJob& job, const StartOption& option);

  // That it could start on more leaf switches than it asks for; nothing when it could not.
  std::optional<Reason> WhySwitches(const WaitingJob& job, const StartOption& option);

  // Preempts others for the job, or keeps it the earliest opening. When it starts, or kNoTime:
  // unknown.
  Time PlanAhead(const WaitingJob& job, const Options& options);

  // The earliest opening of all options; of none when none is known.
  Prospect Earliest(const WaitingJob& job, const Options& options);

  // Keeps the prospect's nodes free of jobs that come after.
  Time Keep(const WaitingJob& job, const Prospect& prospect);

  Time Preempt(const WaitingJob& job, const StartOption& option, const Eviction& eviction);

  // What the job has once those that leave for it have left is kept for it.
  Time TakeOver(JobId job, const StartOption& option, const Eviction& eviction);

  // True while it may be worth asking elastic jobs for nodes.
  bool MayShrink() const;

  // Has an elastic job give up nodes so that the job starts, where that pays. When it starts;
  // nothing when no elastic job is ordered to yet.
  std::optional<Time> ShrinkFor(const WaitingJob& job, const Options& options,
                                const Prospect& prospect);

  // Whether the elastic job may be asked for nodes.
  bool MayGive(const RunningJob& job) const;

  // Whether the elastic job, by position, is to shrink for the option, which otherwise starts at
  // `start`; `starts`: when it starts then, if the elastic one is ordered now.
  bool PlanShrink(std::size_t position, const WaitingJob& job, const StartOption& option,
                  Time start, std::optional<Time>* starts);

  // How the elastic job, by position, is to shrink so that the option starts by `start` at the
  // latest; nothing when it has not enough to give.
  std::optional<PlannedResize> ShrunkBy(std::size_t position, const Eviction& eviction, JobId job,
                                        Time start);

  Time Reserve(const WaitingJob& job, const Prospect& prospect);

  void AddReservation(JobId job, const Opening& opening);

  // The components of a heterogeneous job: all start now, or each gets the reason why not.
  void LookAtGroup(const WaitingJob& leader);

  void LeaveTogether(const std::vector<const WaitingJob*>& group, const Reason& reason);

  // False when what the group would hold breaks a limit.
  bool StartGroup(const std::vector<const WaitingJob*>& group, std::vector<MemberPlace>& places,
                  std::optional<Reason>& limit);

  // The group waits for resources, or for an earlier job that does, or it never can start.
  void LeaveWaitingGroup(const std::vector<const WaitingJob*>& group,
                         const std::vector<GroupMember>& members);

  // Later jobs of the group's partitions wait for it.
  void BlockBehind(const WaitingJob& leader, const std::vector<GroupMember>& members);

  // Why none of the options ever starts.
  std::optional<Reason> WhyBeyond(const Options& options);

  // Why a component could not start now if it were alone; nothing when it could.
  std::optional<Reason> WhyNotAlone(const WaitingJob& job, const Options& options);

  // Keeps the group its earliest common opening. When it starts, or kNoTime: unknown.
  Time KeepForGroup(const std::vector<const WaitingJob*>& group,
                    const std::vector<GroupMember>& members);

  // Keeps what elastic jobs that were ordered to end for it will grow by.
  void KeepRoomToGrow();

  // Judges the size of the elastic jobs that run, by what all others leave.
  void LookAtElastic();

  ElasticStanding StandingOf(const RunningJob& job, ResizeVerdict change) const;

  ElasticStanding StandingToGrow(const RunningJob& job);

  // How many nodes more it could have now; none where a limit is against that many.
  std::uint32_t RoomToGrow(const RunningJob& job, const StartOption& option, std::uint32_t most);

  // How the last plan had the attempt change so; null when it did not.
  const PlannedResize* ChangingBefore(const RunningJob& job, ResizeVerdict how) const;

  const StartOption* OptionOf(const RunningJob& job);

  // By position: the nodes on which it runs.
  std::vector<bool> NodesOf(const RunningJob& job) const;

  // Elements of an array that wait for the same stand in one entry, however they came.
  void Leave(const WaitingJob& job, Reason reason, std::vector<Reason> also = {});

  static bool Continues(LeftWaiting left, const LeftWaiting& before);

  PlannerMemory& memory_;
  const Snapshot& snapshot_;
  const PolicyConfig& config_;
  std::uint32_t reservations_left_;
  std::size_t kept_ = 0;  // openings kept for jobs, also those too far off to be shown
  const bool may_pass_;   // jobs may overtake those that wait for resources
  PassCounts counts_;
  PassUsage usage_;
  StartOptions& options_;
  Availability& availability_;
  std::map<std::uint32_t, NodePicture> touched_;  // nodes on which something was started
  Preemption preemption_;
  ShareChoice shares_;
  GroupSearch groups_;
  std::vector<ShapeVerdict> verdicts_;       // by option
  std::map<std::string, Blocker> blockers_;  // by partition
  std::uint32_t shrinks_tried_ = 0;
  std::vector<std::string> counted_;  // the partitions in which the last job blocks others
  std::uint32_t priority_ = 0;        // of the job that is looked at
  JobId last_left_;                   // the submission of the last entry of plan_.waiting
  Plan plan_;
};

}  // namespace muster

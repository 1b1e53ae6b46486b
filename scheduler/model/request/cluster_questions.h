#pragma once

// What clients ask of the cluster, its nodes and its policy: each question once, as its method of
// proto/controller.proto has it. What is kept beside the cluster's state (tunings, tokens) is here,
// too.
//
// How they are written: job_questions.h.

#include <cstdint>
#include <string>
#include <vector>

#include "scheduler/model/change/alert.h"
#include "scheduler/model/change/reply.h"
#include "scheduler/model/job/license.h"
#include "scheduler/model/machine/health.h"
#include "scheduler/model/machine/narrow_link.h"
#include "scheduler/model/machine/tuning.h"
#include "scheduler/model/policy/policy.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/request/image_questions.h"
#include "scheduler/model/value/fields.h"
#include "scheduler/model/value/ids.h"
#include "scheduler/model/value/time.h"
#include "scheduler/model/view/shares.h"
#include "scheduler/model/view/view.h"

namespace muster {

struct ClusterStatus {
  std::string cluster;
  std::string version;
  std::uint64_t epoch = 0;
  std::uint32_t nodes = 0;  // registered
  std::uint32_t nodes_connected = 0;
  std::uint32_t jobs_pending = 0;
  std::uint32_t jobs_running = 0;
  std::vector<LicenseState> licenses;  // sorted by name
  std::vector<Warning> warnings;       // of the controller itself
  static constexpr auto Fields(auto list) {
    return list(
        Field{"cluster", &ClusterStatus::cluster}, Field{"version", &ClusterStatus::version},
        Field{"epoch", &ClusterStatus::epoch}, Field{"nodes", &ClusterStatus::nodes},
        Field{"nodes_connected", &ClusterStatus::nodes_connected},
        Field{"jobs_pending", &ClusterStatus::jobs_pending},
        Field{"jobs_running", &ClusterStatus::jobs_running},
        Field{"licenses", &ClusterStatus::licenses}, Field{"warnings", &ClusterStatus::warnings});
  }
};

struct Ping {
  static constexpr const char* kMethod = "Ping";
  using Reply = ClusterStatus;
  static constexpr auto Fields(auto list) { return list(); }
};

// The nodes that were asked for.
struct NodeList {
  std::vector<NodeView> nodes;
  std::vector<LargestGpuJob> largest;         // by model, when all are
  std::vector<NarrowLink> narrow_links = {};  // by name
  static constexpr auto Fields(auto list) {
    return list(Field{"nodes", &NodeList::nodes}, Field{"largest", &NodeList::largest},
                Field{"narrow_links", &NodeList::narrow_links});
  }
};

struct ListNodes {
  std::vector<std::string> names = {};  // empty: all
  bool with_machine = false;

  static constexpr const char* kMethod = "ListNodes";
  using Reply = NodeList;
  static constexpr auto Fields(auto list) {
    return list(Field{"names", &ListNodes::names}, Field{"with_machine", &ListNodes::with_machine});
  }
};

struct ListHealth {
  std::vector<std::string> names = {};  // empty: all
  std::uint32_t history = 0;            // how many checks of each to tell, the newest first

  static constexpr const char* kMethod = "ListHealth";
  using Reply = std::vector<HealthView>;  // by name
  static constexpr auto Fields(auto list) {
    return list(Field{"names", &ListHealth::names}, Field{"history", &ListHealth::history});
  }
};

// What needs attention now, of what the caller may see.
struct ListAlerts {
  static constexpr const char* kMethod = "ListAlerts";
  using Reply = std::vector<Alert>;  // by rule and subject
  static constexpr auto Fields(auto list) { return list(); }
};

struct PutTuning {
  Tuning tuning;

  static constexpr const char* kMethod = "PutTuning";
  static constexpr bool kNow = true;
  using Reply = Nothing;
  static constexpr auto Fields(auto list) { return list(Field{"tuning", &PutTuning::tuning}); }
};

struct ListTunings {
  std::string kernel;  // empty: all

  static constexpr const char* kMethod = "ListTunings";
  using Reply = std::vector<Tuning>;  // the newest first
  static constexpr auto Fields(auto list) { return list(Field{"kernel", &ListTunings::kernel}); }
};

struct ListPolicy {
  std::vector<PolicyKind> kinds = {};  // empty: all

  static constexpr const char* kMethod = "ListPolicy";
  using Reply = std::vector<PolicyView>;  // by kind and name
  static constexpr auto Fields(auto list) { return list(Field{"kinds", &ListPolicy::kinds}); }
};

struct PolicyHistory {
  std::vector<PolicyKind> kinds = {};  // empty: all
  std::string name = {};               // empty: all
  std::uint32_t limit = 0;             // 0: the controller's default

  static constexpr const char* kMethod = "PolicyHistory";
  using Reply = std::vector<PolicyChangeView>;  // newest first
  static constexpr auto Fields(auto list) {
    return list(Field{"kinds", &PolicyHistory::kinds}, Field{"name", &PolicyHistory::name},
                Field{"limit", &PolicyHistory::limit});
  }
};

// The account tree with all users' usage, running jobs charged up to now.
struct ListShares {
  std::string explain_user = {};  // whose runs to list too; empty: nobody's

  static constexpr const char* kMethod = "ListShares";
  using Reply = Shares;
  static constexpr auto Fields(auto list) {
    return list(Field{"explain_user", &ListShares::explain_user});
  }
};

struct TokenView {
  std::string id;  // names it, and opens nothing
  std::string user;
  Time issued = kNoTime;
  Time expires = kNoTime;
  bool read_only = false;
  static constexpr auto Fields(auto list) {
    return list(Field{"id", &TokenView::id}, Field{"user", &TokenView::user},
                Field{"issued", &TokenView::issued}, Field{"expires", &TokenView::expires},
                Field{"read_only", &TokenView::read_only});
  }
  friend bool operator==(const TokenView&, const TokenView&) = default;
};

struct NewToken {
  std::string token;  // the answer is the only place where it stands
  TokenView view;
  static constexpr auto Fields(auto list) {
    return list(Field{"token", &NewToken::token}, Field{"view", &NewToken::view});
  }
};

// A text that speaks for the caller for a while.
struct CreateToken {
  Duration lifetime{0};    // 0: the controller's default
  bool read_only = false;  // for questions alone

  static constexpr const char* kMethod = "CreateToken";
  static constexpr bool kNow = true;  // tried again, it might make a second one
  using Reply = NewToken;
  static constexpr auto Fields(auto list) {
    return list(Field{"lifetime", &CreateToken::lifetime},
                Field{"read_only", &CreateToken::read_only});
  }
};

// Our own, or everybody's, by their ends.
struct ListTokens {
  bool all_users = false;  // an operator's

  static constexpr const char* kMethod = "ListTokens";
  using Reply = std::vector<TokenView>;
  static constexpr auto Fields(auto list) {
    return list(Field{"all_users", &ListTokens::all_users});
  }
};

struct RevokeToken {
  std::string id;

  static constexpr const char* kMethod = "RevokeToken";
  static constexpr bool kNow = true;
  using Reply = Nothing;
  static constexpr auto Fields(auto list) { return list(Field{"id", &RevokeToken::id}); }
};

// A file of the controller's archive.
struct ArchiveFile {
  std::string name;
  std::string kind;         // jobs, journal, or beginning: a state that the journal may begin with
  std::uint64_t first = 0;  // journal: its entries; beginning: the last entry before it
  std::uint64_t last = 0;
  Time from = kNoTime;  // jobs: when the first of them ended; beginning: when it was taken
  Time to = kNoTime;
  std::uint64_t jobs = 0;
  Bytes size;
  static constexpr auto Fields(auto list) {
    return list(Field{"name", &ArchiveFile::name}, Field{"kind", &ArchiveFile::kind},
                Field{"first", &ArchiveFile::first}, Field{"last", &ArchiveFile::last},
                Field{"from", &ArchiveFile::from}, Field{"to", &ArchiveFile::to},
                Field{"jobs", &ArchiveFile::jobs}, Field{"size", &ArchiveFile::size});
  }
  friend bool operator==(const ArchiveFile&, const ArchiveFile&) = default;
};

struct ListArchive {
  static constexpr const char* kMethod = "ListArchive";
  using Reply = std::vector<ArchiveFile>;  // by kind, the oldest first
  static constexpr auto Fields(auto list) { return list(); }
};

struct LoadedJobs {
  std::uint64_t loaded = 0;
  std::uint64_t present = 0;  // that were there already
  JobId last{0};              // there may be more after it; 0: there are none
  static constexpr auto Fields(auto list) {
    return list(Field{"loaded", &LoadedJobs::loaded}, Field{"present", &LoadedJobs::present},
                Field{"last", &LoadedJobs::last});
  }
};

// Has ended jobs of a file come back into the accounting for a while, some thousands at a time.
struct LoadArchive {
  std::string file;  // its name in the archive
  Duration keep{0};
  JobId after{0};  // those with greater ids

  static constexpr const char* kMethod = "LoadArchive";
  static constexpr bool kNow = true;
  using Reply = LoadedJobs;
  static constexpr auto Fields(auto list) {
    return list(Field{"file", &LoadArchive::file}, Field{"keep", &LoadArchive::keep},
                Field{"after", &LoadArchive::after});
  }
};

#define MUSTER_CLUSTER_QUESTIONS(X) \
  X(Ping)                           \
  X(ListNodes)                      \
  X(ListHealth)                     \
  X(ListAlerts)                     \
  X(PutTuning)                      \
  X(ListTunings)                    \
  X(ListPolicy)                     \
  X(PolicyHistory)                  \
  X(ListShares)                     \
  X(CreateToken)                    \
  X(ListTokens)                     \
  X(RevokeToken)                    \
  X(ListArchive)                    \
  X(LoadArchive)                    \
  X(ListImages)                     \
  X(PruneImages)

}  // namespace muster

#include "agent/supervisor/mpirun/inner_ranks.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/limits/process_tree.h"
#include "agent/supervisor/mpirun/inner_rank_scan.h"
#include "agent/supervisor/mpirun/inner_rank_wire.h"
#include "agent/supervisor/user_space/unix_socket.h"
#include "agent/supervisor/variables/device_environment.h"
#include "scheduler/base/status.h"
#include "scheduler/model/job/inner_ranks.h"

namespace muster::agent {
namespace {

constexpr Duration kReadBackInterval{1};
constexpr std::size_t kAskingMax = 512;

// Looks for ranks that do not ask: often while they start, then less and less often.
constexpr Duration kFirstInterval{10};
constexpr Duration kLastInterval{1000};
constexpr int kLooksMax = 400;

}  // namespace

InnerRanks::InnerRanks(Host host, UniqueFd listener)
    : host_(host), listener_(std::move(listener)) {}

InnerRanks::~InnerRanks() {
  host_.loop.Unwatch(listener_.get());
  for (const auto& [fd, asking] : asking_) {
    host_.loop.Unwatch(fd);
  }
}

absl::StatusOr<std::unique_ptr<InnerRanks>> InnerRanks::Open(Host host, const std::string& path) {
  ASSIGN_OR_RETURN(UniqueFd listener, BindUnix(path, SOCK_SEQPACKET | SOCK_NONBLOCK));
  if (host.user != nullptr && lchown(path.c_str(), host.user->uid, host.user->gid) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot give ", path, " to its user"));
  }
  std::unique_ptr<InnerRanks> ranks(new InnerRanks(host, std::move(listener)));
  InnerRanks* self = ranks.get();
  RETURN_IF_ERROR(
      host.loop.Watch(self->listener_.get(), EPOLLIN, [self](std::uint32_t) { self->Accept(); }));
  return ranks;
}

const NodeAllocation& InnerRanks::Node() const {
  return host_.order.launch.allocation.nodes[host_.node_index];
}

JobPeer AcceptFromJob(int listener) {
  JobPeer from{AcceptConnection(listener), 0};
  ucred peer = {};
  socklen_t size = sizeof(peer);
  if (!from.socket.valid() ||
      getsockopt(from.socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
      !DescendsFromUs(peer.pid)) {
    return {};
  }
  from.pid = peer.pid;
  return from;
}

void InnerRanks::Accept() {
  JobPeer peer = AcceptFromJob(listener_.get());
  const int number = peer.socket.get();
  if (!peer.socket.valid() || asking_.size() >= kAskingMax) {
    return;
  }
  if (host_.loop.Watch(number, EPOLLIN, [this, number](std::uint32_t) { Serve(number); }).ok()) {
    Asking& asking = asking_[number];
    asking.socket = std::move(peer.socket);
    asking.pid = peer.pid;
  }
}

void InnerRanks::Serve(int fd) {
  Asking& asking = asking_.at(fd);
  std::vector<char> buffer(kInnerPacketBytesMax);
  const ssize_t got = recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
    return;
  }
  const std::string packet(buffer.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  if (!packet.empty() && !asking.answered && Answer(asking, packet)) {
    asking.answered = true;
    return;
  }
  if (packet.size() == sizeof(topology::KernelBinding) && asking.answered &&
      !asking.self.has_value()) {
    std::memcpy(&asking.self.emplace(), packet.data(), packet.size());
    return;
  }
  host_.loop.Unwatch(fd);
  if (asking.answered && packet.empty()) {
    AfterExec(fd);
  } else {
    asking_.erase(fd);
  }
}

bool InnerRanks::Answer(Asking& asking, const std::string& packet) const {
  const absl::StatusOr<topology::ObservedBinding> now = topology::ReadBack(asking.pid);
  if (!now.ok() || !now->cpus.has_value()) {
    return false;
  }
  const std::vector<std::string> fields = UnpackFields(packet);
  InnerRank& rank = asking.rank;
  rank.rank = NumberOf(fields, "rank");
  rank.size = NumberOf(fields, "size");
  rank.local_rank = NumberOf(fields, "local_rank");
  rank.local_size = NumberOf(fields, "local_size");
  rank.bound = !ValueOf(fields, "bound").empty();
  rank.cpus = *now->cpus;
  for (const std::string& field : fields) {
    if (IsVariable(field)) {
      rank.own.push_back(field);
    }
  }
  const std::vector<RankPlacement>& planned = Node().ranks;
  const bool enforced = host_.order.machine.enforced;
  if (rank.local_size == planned.size() && rank.local_rank < planned.size() &&
      (!enforced || rank.cpus.Includes(planned[rank.local_rank].cpus))) {
    rank.place = &planned[rank.local_rank];
  }
  std::vector<std::string> answer = InnerRankEnvironment(host_.order, host_.node_index, rank);
  if (rank.place != nullptr && !rank.bound && enforced) {
    answer.push_back(absl::StrCat("cpus=", rank.place->cpus.ToList()));
    answer.push_back(absl::StrCat("mem_nodes=", rank.place->mem_nodes.ToList()));
  }
  const std::string bytes = PackFields(answer);
  return send(asking.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
         static_cast<ssize_t>(bytes.size());
}

void InnerRanks::AfterExec(int fd) {
  const auto each = asking_.find(fd);
  if (each == asking_.end()) {
    return;  // all were reported meanwhile
  }
  Asking& asking = each->second;
  absl::StatusOr<topology::ObservedBinding> found = topology::ReadBack(asking.pid);
  const bool whole = found.ok() && found->cpus.has_value() && found->mem_policy.has_value() &&
                     found->gpus.has_value();
  if (!whole && asking.tries_left-- > 0) {
    host_.loop.RunAfter(kReadBackInterval, [this, fd, alive = std::weak_ptr<const bool>(alive_)] {
      if (!alive.expired()) {
        AfterExec(fd);
      }
    });
    return;
  }
  Settle(asking, found.ok() ? *std::move(found) : topology::ObservedBinding());
  asking_.erase(each);
}

topology::PlannedBinding InnerRanks::PlanOf(const InnerRank& rank,
                                            const topology::ObservedBinding& found) const {
  const Machine& machine = host_.order.machine;
  topology::PlannedBinding plan;
  plan.cpus = rank.place != nullptr ? rank.place->cpus : rank.cpus;
  plan.mem_nodes = rank.place != nullptr && !rank.found ? rank.place->mem_nodes : Node().mem_nodes;
  plan.gpus = VisibleGpus(host_.order, Node(), rank.found ? nullptr : rank.place);
  plan.enforced = machine.enforced;
  plan.why_not_enforced = machine.why_not_enforced;
  plan.one_memory_node = machine.numa_nodes.size() <= 1;
  if (rank.bound) {
    // Its user's own choice is right wherever it lies within the job.
    plan.mem_nodes = NumaSet();
    plan.cpus =
        found.cpus.has_value() && Node().cpus.Includes(*found.cpus) ? *found.cpus : Node().cpus;
  }
  return plan;
}

std::string InnerRanks::TextOf(const InnerRank& rank) const {
  return absl::StrCat("rank ", rank.rank, " of ", rank.launcher,
                      rank.bound && !rank.found ? ", which was given a binding for it"
                      : rank.place == nullptr && !rank.found
                          ? ", which has not as many here as the plan"
                          : "");
}

void InnerRanks::LookFor(bool certain) {
  looks_ = 0;
  expected_ = expected_ || certain;
  if (!std::exchange(looking_, true)) {
    Look();
  }
}

void InnerRanks::Look() {
  for (FoundRank& found : FindInnerRanks()) {
    if (!seen_.insert(found.pid).second) {
      continue;
    }
    absl::StatusOr<topology::ObservedBinding> now = topology::ReadBack(found.pid);
    if (!now.ok() || !now->cpus.has_value() || !now->mem_policy.has_value()) {
      seen_.erase(found.pid);  // it is just starting, or ending
      continue;
    }
    InnerRank& rank = found.rank;
    const std::vector<RankPlacement>& planned = Node().ranks;
    rank.found = true;
    if (found.hydra_binding == HydraBinding(Node()) && rank.local_size == planned.size() &&
        rank.local_rank < planned.size()) {
      rank.place = &planned[rank.local_rank];
    }
    rank.bound = rank.place == nullptr;
    expected_ = false;
    Report(rank, found.pid, *std::move(now));
  }
  if (++looks_ >= kLooksMax) {
    looking_ = false;
    return;
  }
  const Duration pause = std::min(kFirstInterval * (1 + looks_ / 20), kLastInterval);
  host_.loop.RunAfter(pause, [this, alive = std::weak_ptr<const bool>(alive_)] {
    if (!alive.expired() && listener_.valid()) {
      Look();
    }
  });
}

void InnerRanks::ReportUnread() {
  RankBinding binding;
  binding.step = kFreeInnerStep;
  binding.verdict = BindingVerdict::kUnreadable;
  binding.text =
      "ranks of an mpiexec or a torchrun: they were not read back, as they ended too soon";
  Send(std::move(binding));
}

void InnerRanks::Send(RankBinding binding) {
  BindingRead read;
  read.time = host_.clock.Now();
  read.ranks.push_back(std::move(binding));
  host_.reporter.Report(std::move(read));
}

void InnerRanks::Report(const InnerRank& rank, pid_t pid, const topology::ObservedBinding& found) {
  if (reported_++ >= kReportsMax) {
    return;
  }
  RankBinding binding = topology::Compare(PlanOf(rank, found), found);
  const bool placed = rank.place != nullptr && !rank.bound;
  binding.step = placed ? kPlacedInnerStep : kFreeInnerStep;
  binding.rank = placed ? rank.place->rank : rank.rank;
  binding.pid = static_cast<std::uint32_t>(pid);
  if (binding.verdict != BindingVerdict::kNotEnforced) {
    binding.text = absl::StrCat(TextOf(rank), binding.text.empty() ? "" : "; ", binding.text);
  }
  Send(std::move(binding));
}

void InnerRanks::Settle(const Asking& asking, topology::ObservedBinding found) {
  const InnerRank& rank = asking.rank;
  if (asking.self.has_value()) {
    topology::ObservedBinding self =
        topology::FromKernel(*asking.self, VisibleGpus(host_.order, Node(), rank.place));
    found.cpus = found.cpus.has_value() ? found.cpus : self.cpus;
    found.mem_policy = found.mem_policy.has_value() ? found.mem_policy : self.mem_policy;
    found.gpus = found.gpus.has_value() ? found.gpus : self.gpus;
  }
  Report(rank, asking.pid, found);
}

void InnerRanks::Close() {
  host_.loop.Unwatch(listener_.get());
  for (auto& [fd, asking] : std::exchange(asking_, {})) {
    host_.loop.Unwatch(fd);
    std::vector<char> buffer(kInnerPacketBytesMax);
    if (asking.answered && !asking.self.has_value() &&
        recv(fd, buffer.data(), buffer.size(), MSG_DONTWAIT) == sizeof(topology::KernelBinding)) {
      std::memcpy(&asking.self.emplace(), buffer.data(), sizeof(topology::KernelBinding));
    }
    if (asking.answered) {
      Settle(asking, topology::ObservedBinding());
    }
  }
  listener_.reset();
  if (expected_) {
    ReportUnread();
  }
}

}  // namespace muster::agent

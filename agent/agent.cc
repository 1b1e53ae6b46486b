#include "agent/agent.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/gpu_division.h"
#include "agent/node/discovered_features.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/user_groups.h"
#include "proto/convert/job.h"
#include "proto/convert/node.h"
#include "proto/convert/order.h"
#include "scheduler/base/status.h"
#include "scheduler/model/settings/elastic_policy.h"
#include "topology/gpu/libraries.h"

namespace muster::agent {
namespace {

constexpr const char* kComponent = "agent";
constexpr std::size_t kFinishedMax = 4096;
constexpr std::size_t kGatheredBytesMax = std::size_t{1} << 20;  // of reports in one message

// This node's part of an allocation; null when it has none.
const NodeAllocation* PartOf(const Allocation& allocation, NodeId node) {
  const auto found = std::find_if(allocation.nodes.begin(), allocation.nodes.end(),
                                  [node](const NodeAllocation& part) { return part.node == node; });
  return found == allocation.nodes.end() ? nullptr : &*found;
}

// How busy the GPUs of that part of the node are.
void AddGpuUse(const Machine& machine, const NodeAllocation& part, topology::GpuMeter* meter,
               const NodeSamples& samples, wire::ProcessAnswer* answer) {
  if (meter == nullptr || part.gpus.empty()) {
    return;
  }
  for (const topology::GpuReading& reading : meter->Glance()) {
    const bool ours = std::any_of(part.gpus.begin(), part.gpus.end(), [&](const GpuGrant& grant) {
      return grant.gpu < machine.gpus.size() && machine.gpus[grant.gpu].uuid == reading.uuid;
    });
    if (ours) {
      wire::GpuUse& gpu = *answer->add_gpus();
      gpu.set_uuid(reading.uuid);
      gpu.set_busy(reading.busy_percent.has_value() ? static_cast<int>(*reading.busy_percent) : -1);
      gpu.set_memory(reading.memory_used.value_or(Bytes()).value());
      if (reading.clock_mhz.has_value()) {
        gpu.set_clock(*reading.clock_mhz);
      }
      if (const std::optional<GpuWork> work = samples.WorkOf(reading.uuid)) {
        ToWire(*work, gpu.mutable_work());
      }
    }
  }
}

QuestionDesk::Sources QuestionSources(const Agent::Config& config, const Attempts& attempts,
                                      const NodeSamples& samples, ControllerLink& link) {
  QuestionDesk::Sources sources;
  sources.node = config.name;
  sources.containers = config.attempts.containers;
  sources.fetcher = FindContainerProgram(config.attempts.supervisor);
  sources.staging = config.attempts.staging;
  sources.ahead = config.ahead;
  sources.network = config.attempts.network;
  sources.may_read_as = [&config](std::uint32_t uid) { return MayRunJobsOf(uid, config.users); };
  sources.cgroup_of = [&attempts](const AttemptKey& key) -> absl::StatusOr<std::string> {
    const std::map<AttemptKey, RunningAttempt> running = attempts.Running();
    const auto found = running.find(key);
    return found == running.end()
               ? absl::StatusOr<std::string>(absl::NotFoundError("nothing of the job runs there"))
               : found->second.cgroup;
  };
  sources.cgroup_for = [groups = std::make_shared<UserGroups>(
                            config.attempts.cgroups, config.attempts.limits,
                            config.machine.memory)](std::uint32_t uid) { return groups->For(uid); };
  sources.add_gpus = [&config, &attempts, &samples](const AttemptKey& key,
                                                    wire::ProcessAnswer* answer) {
    const std::map<AttemptKey, RunningAttempt> running = attempts.Running();
    const auto found = running.find(key);
    if (found != running.end() && found->second.part != nullptr) {
      AddGpuUse(config.machine, *found->second.part, config.sources.gpus, samples, answer);
    }
  };
  sources.send = [&link](const wire::NodeQuestionReply& answer) {
    wire::AgentMessage message;
    *message.mutable_answer() = answer;
    link.Send(message);  // what is not taken, the controller does not wait for
  };
  return sources;
}

}  // namespace

Agent::Agent(EventLoop& loop, const Clock& clock, const Logger& log, StateDirectory& state,
             Config config)
    : loop_(loop),
      clock_(clock),
      log_(log),
      state_(state),
      config_(std::move(config)),
      check_(config_.name, /*keyed=*/!config_.link.tls.empty()),
      outbox_(state, log, [this](const Report& report) { return SendReport(report); }),
      attempts_(loop, clock, log, state, config_.attempts,
                [this](const AttemptKey& key) { News(key); }),
      desk_(loop, clock, QuestionSources(config_, attempts_, samples_, link_)),
      samples_(config_.machine, state, clock, config_.sources),
      sample_timer_(loop, clock, UsageSampler::kLeast, [this] { Sample(); }),
      health_(loop, clock, log, config_.health,
              [this](const HealthReport&) {
                health_untold_ = true;
                TellHealth();
              }),
      link_(loop, log, config_.link, this) {}

Agent::~Agent() {
  loop_.Cancel(check_timer_);
  outbox_.Save();
}

absl::Status Agent::Start() {
  RETURN_IF_ERROR(attempts_.Recover());
  ASSIGN_OR_RETURN(
      notifications_,
      NotificationSocket::Open(
          loop_, state_.notification_socket(), [this](const AttemptKey& key) { News(key); },
          [this](const AttemptKey& key, const std::string& wanted) {
            wire::AgentMessage message;
            wire::AttemptImageWanted& asked = *message.mutable_wanted();
            asked.set_job(key.job.value());
            asked.set_attempt(key.attempt.value());
            if (link_.attached() && asked.mutable_wanted()->ParseFromString(wanted)) {
              link_.Send(message);
            }
          }));
  check_timer_ = loop_.RunAfter(config_.check_every, [this] { Check(); });
  loop_.WhenHeldUp(EventLoop::kHeldUp, [&log = log_](std::chrono::milliseconds took) {
    log.Warning(kComponent, absl::StrCat("was held up for ", took.count() / 1000,
                                         " s: the disk of its state is slow, or this machine"));
  });
  Sample();
  link_.Connect();
  return absl::OkStatus();
}

void Agent::TellFaults(const std::vector<GpuFault>& gpus) {
  const auto tell = [this] {
    wire::AgentMessage message;
    message.mutable_fault()->set_text(fault_);
    link_.Send(message);  // what is not taken is said again after the next Welcome
  };
  if (gpus.empty() && !fault_.empty()) {
    tell();
  }
  for (const GpuFault& gpu : gpus) {
    const std::string library(topology::LibraryOfGpu(config_.machine, gpu.uuid));
    fault_ =
        gpu.why.empty()
            ? absl::StrCat("GPU ", gpu.uuid, " has fallen off the bus (", library, ": GPU is lost)")
            : absl::StrCat("GPU ", gpu.uuid, " is broken: ", gpu.why, " by ",
                           gpu.by.empty() ? library : gpu.by, "; reset or replace it");
    log_.Error(kComponent, fault_);
    tell();
  }
}

void Agent::Sample() {
  if (const std::vector<GpuFault> faults = samples_.Take(attempts_.Running(), config_.name);
      !faults.empty()) {
    TellFaults(faults);
  }
  TellUsage();
  sample_timer_.Next(samples_.NextIn(config_.sample_every));
}

void Agent::TellUsage() {
  if (std::optional<wire::UsageSamples> told = samples_.Tell()) {
    wire::AgentMessage message;
    *message.mutable_usage() = *std::move(told);
    link_.Send(message);
  }
}

void Agent::Reconfigure(std::vector<std::string> features, std::uint32_t weight,
                        SiteScripts scripts) {
  attempts_.UseScripts(std::move(scripts));
  config_.features = std::move(features);
  config_.weight = weight;
  link_.Reconnect();
}

absl::StatusOr<wire::AgentMessage> Agent::Introduce() {
  wire::AgentMessage message;
  ASSIGN_OR_RETURN(*message.mutable_challenge(), check_.Begin());
  message.set_time(clock_.Now().time_since_epoch().count());
  message.set_takes_many(true);
  const Registration registration{.name = config_.name,
                                  .hostname = config_.hostname,
                                  .instance = state_.instance(),
                                  .boot_id = state_.boot_id(),
                                  .epoch_seen = state_.epoch(),
                                  .machine = config_.machine,
                                  .attempts = attempts_.Known(),
                                  .features = AllFeatures(config_.features, config_.discovered),
                                  .weight = config_.weight,
                                  .layout = config_.layout};
  ToWire(registration, message.mutable_registration());
  return message;
}

absl::Status Agent::Welcomed(const wire::Welcome& welcome, const std::string& certificate) {
  RETURN_IF_ERROR(check_.Trust(welcome, certificate));
  const Epoch epoch(welcome.epoch());
  if (epoch < state_.epoch()) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the controller is in epoch ", epoch.value(), " and this node has seen ",
        state_.epoch().value(), ": it is an old controller, or a new one with a node of another; ",
        "for the latter, give the agent a new --state"));
  }
  if (WasRestored(state_.epoch(), epoch)) {
    // It may start again what ended since, and has not heard what it has acknowledged.
    finished_ = {};
    for (const AttemptKey& key : attempts_.Keys()) {
      outbox_.Restart(key);
    }
    outbox_.Save();  // before the epoch: another agent would not know that it was restored
  }
  RETURN_IF_ERROR(state_.RaiseEpoch(epoch));
  node_ = NodeId(welcome.node());
  cluster_ = welcome.cluster();
  controller_ = {welcome.takes_many(), welcome.shares_images()};
  gathered_.Clear();  // of a stream that is over: they go again
  for (const AttemptKey& key : attempts_.Keys()) {
    outbox_.Rewind(key);
    outbox_.Pump(key);
  }
  health_untold_ = health_.last().has_value();
  TellHealth();
  TellFaults({});
  if (config_.ready) {
    config_.ready(absl::StrCat("node ", config_.name, " of cluster ", cluster_));
  }
  return absl::OkStatus();
}

void Agent::Received(const wire::ControllerMessage& message) {
  if (message.has_signed_()) {
    TakeSigned(message.signed_());
  } else if (message.has_ack()) {
    Acknowledged(message.ack());
  } else if (message.has_acks()) {
    for (const wire::ReportAck& ack : message.acks().acks()) {
      Acknowledged(ack);
    }
  } else {
    log_.Error(kComponent, "an order without a signature: refused; connecting again");
    link_.Break();
  }
}

void Agent::HeardAt(SteadyTime said) {
  lease_until_ = std::max(lease_until_, said + kElasticLease);
  attempts_.RenewLeases(lease_until_);
}

void Agent::TakeSigned(const wire::SignedOrder& order) {
  const absl::StatusOr<wire::OrderBody> opened = check_.Open(order, clock_.Now());
  if (!opened.ok()) {
    // The controller orders again what should be under way, once we are back.
    log_.Error(kComponent,
               absl::StrCat("an order was refused: ", std::string(opened.status().message()),
                            "; connecting again"));
    link_.Break();
    return;
  }
  const auto obey = [this](const wire::ControllerMessage& message) {
    if (const absl::Status status = Execute(message); !status.ok()) {
      log_.Warning(kComponent, std::string(status.message()));
    }
  };
  obey(opened->order());
  std::for_each(opened->more().begin(), opened->more().end(), obey);
}

absl::Status Agent::Execute(const wire::ControllerMessage& message) {
  if (message.has_launch()) {
    return Launch(message.launch());
  }
  if (message.has_health()) {
    return CheckHealth(message.health());
  }
  if (message.has_layout()) {
    LayoutOrder order;
    RETURN_IF_ERROR(FromWire(message.layout(), &order));
    RETURN_IF_ERROR(Admit(
        {.cluster = &order.cluster, .node = order.node, .epoch = order.epoch, .expiry = kNoTime}));
    if (order.number == config_.layout.number) {
      link_.Reconnect();                          // it is done, and the controller does not know
    } else if (!outcome_.division.has_value()) {  // else it orders this one again, once we are back
      std::string refused = WhyNotDivided(config_.machine, attempts_.Known(), order.gpu);
      outcome_.division = Division{std::move(order), std::move(refused)};
      loop_.Stop();
    }
    return absl::OkStatus();
  }
  if (message.has_question()) {
    const wire::NodeQuestion& question = message.question();
    RETURN_IF_ERROR(Admit({.cluster = nullptr,
                           .node = NodeId(question.node()),
                           .epoch = Epoch(question.epoch()),
                           .expiry = kNoTime}));
    desk_.Take(question);
    return absl::OkStatus();
  }
  const std::optional<PassedOrder> order = PassOn(message);
  return order.has_value()
             ? Pass(*order)
             : absl::UnimplementedError("an order of a kind that this agent does not know");
}

absl::Status Agent::Admit(const Address& order) {
  if (order.cluster != nullptr && *order.cluster != cluster_) {
    return absl::FailedPreconditionError(absl::StrCat("it is of cluster ", *order.cluster));
  }
  if (order.node != node_) {
    return absl::FailedPreconditionError(absl::StrCat("it is for node ", order.node.value()));
  }
  if (order.epoch < state_.epoch()) {
    return absl::FailedPreconditionError(
        absl::StrCat("its epoch ", order.epoch.value(), " is older than ", state_.epoch().value()));
  }
  if (order.expiry != kNoTime && order.expiry < clock_.Now()) {
    return absl::FailedPreconditionError("it has expired");
  }
  return state_.RaiseEpoch(order.epoch);
}

absl::Status Agent::Launch(const wire::LaunchOrder& message) {
  SupervisorOrder order;
  RETURN_IF_ERROR(FromWire(message, &order.launch));
  const AttemptKey key{order.launch.job, order.launch.attempt};
  const std::string what = absl::StrCat("launch of ", ToString(key), " refused: ");
  const absl::Status admitted = Admit({.cluster = &order.launch.cluster,
                                       .node = order.launch.node,
                                       .epoch = order.launch.epoch,
                                       .expiry = order.launch.expiry});
  if (!admitted.ok()) {
    return absl::FailedPreconditionError(what + std::string(admitted.message()));
  }
  const NodeAllocation* part = PartOf(order.launch.allocation, node_);
  if (part == nullptr || !key.job.valid() || !key.attempt.valid()) {
    return absl::InvalidArgumentError(what + "it gives this node nothing");
  }
  if (finished_.keys.count(key) != 0) {
    return absl::FailedPreconditionError(what + "it has ended");
  }
  const absl::Status user = MayRunJobsOf(order.launch.spec.user.uid, config_.users);
  if (!user.ok()) {
    attempts_.Refuse(key, std::string(user.message()));
    return absl::PermissionDeniedError(what + std::string(user.message()));
  }
  if (order.launch.spec.elastic && clock_.SteadyNow() >= lease_until_) {
    // The order may have lain here while the job went on elsewhere; if not, it comes again.
    link_.Break();
    return absl::FailedPreconditionError(what + "the controller has not heard us for too long");
  }
  order.lease_until_ms =
      std::chrono::floor<std::chrono::milliseconds>(lease_until_.time_since_epoch()).count();
  order.machine = config_.machine;
  order.node_name = part->name;
  order.agent_socket = state_.notification_socket();
  order.module_dir = config_.module_dir;
  order.pmix_patterns = state_.path() + "/pmix";
  order.controller = config_.link.address;
  order.containers.share = controller_.shares_images;
  const NodeAllocation allocation = *part;
  health_.Yield();
  absl::Status launched = attempts_.Launch(std::move(order), allocation);
  if (launched.ok() && config_.sources.gpus != nullptr && !allocation.gpus.empty()) {
    // What its GPUs did before it came is not its own: the sooner a sample tells the two apart, the
    // more of a short attempt is known.
    sample_timer_.Soon();
  }
  if (absl::IsAlreadyExists(launched)) {
    outbox_.Rewind(key);
    News(key);
    return absl::OkStatus();
  }
  return launched;
}

absl::Status Agent::Pass(const PassedOrder& order) {
  absl::Status status = Admit({.cluster = order.cluster.has_value() ? &*order.cluster : nullptr,
                               .node = order.node,
                               .epoch = order.epoch,
                               .expiry = order.expiry});
  if (status.ok() && (!order.key.job.valid() || !order.key.attempt.valid())) {
    status = absl::InvalidArgumentError("it names no attempt");
  }
  if (status.ok() && order.ends_attempt && finished_.keys.count(order.key) != 0) {
    return absl::OkStatus();
  }
  if (status.ok()) {
    status = attempts_.Pass(order);
  }
  return status.ok() ? status
                     : absl::Status(status.code(),
                                    absl::StrCat(order.what, " ", ToString(order.key),
                                                 " refused: ", std::string(status.message())));
}

absl::Status Agent::CheckHealth(const wire::HealthOrder& message) {
  HealthOrder order;
  RETURN_IF_ERROR(FromWire(message, &order));
  const absl::Status status = Admit(
      {.cluster = &order.cluster, .node = order.node, .epoch = order.epoch, .expiry = kNoTime});
  if (!status.ok()) {
    return absl::FailedPreconditionError(
        absl::StrCat("health check refused: ", std::string(status.message())));
  }
  if (order.kind == HealthKind::kReboot && !attempts_.Keys().empty()) {
    health_.Refuse(order.number);
    return absl::OkStatus();
  }
  health_.Begin(order.number, order.kind);
  if (!attempts_.Keys().empty()) {
    health_.Yield();  // a job was quicker than the order
  }
  return absl::OkStatus();
}

// The controller takes a report once; one that it may not have got is sent again.
void Agent::TellHealth() {
  if (!health_untold_ || !link_.attached()) {
    return;
  }
  wire::AgentMessage message;
  ToWire(*health_.last(), message.mutable_health());
  health_untold_ = !link_.Send(message);
}

void Agent::Acknowledged(const wire::ReportAck& ack) {
  const AttemptKey key{JobId(ack.job()), AttemptNumber(ack.attempt())};
  if (!outbox_.Acknowledge(key, ack.index())) {
    return;
  }
  outbox_.Forget(key);
  attempts_.Remove(key);
  if (finished_.keys.insert(key).second) {
    finished_.order.push_back(key);
  }
  if (finished_.order.size() > kFinishedMax) {
    finished_.keys.erase(finished_.order.front());
    finished_.order.pop_front();
  }
}

void Agent::News(const AttemptKey& key) {
  if (link_.attached() && attempts_.AllocationOf(key) != nullptr) {
    outbox_.Pump(key);
  }
}

bool Agent::SendReport(const Report& written) {
  const AttemptKey key{written.job, written.attempt};
  const NodeAllocation* const part = attempts_.AllocationOf(key);
  std::optional<Report> whole;
  // An error of a GPU may have ended it: that is read before its end is told, and a node whose GPU
  // is broken is told first.
  if (std::holds_alternative<RunEnded>(written.fact) && config_.sources.gpus != nullptr &&
      part != nullptr && !part->gpus.empty() && link_.attached()) {
    if (const std::vector<GpuFault> faults = samples_.LookForErrors(); !faults.empty()) {
      TellFaults(faults);
    }
    whole = written;
    samples_.Complete(key, config_.name, std::get<RunEnded>(whole->fact));
  }
  const Report& report = whole.has_value() ? *whole : written;
  if (!controller_.takes_many) {
    wire::AgentMessage message;
    ToWire(report, message.mutable_report());
    return link_.Send(message);
  }
  if (!link_.attached()) {
    return false;
  }
  const bool first = gathered_.reports().reports().empty();
  wire::Report& added = *gathered_.mutable_reports()->add_reports();
  ToWire(report, &added);
  gathered_bytes_ = (first ? 0 : gathered_bytes_) + added.ByteSizeLong();
  if (gathered_bytes_ > kGatheredBytesMax) {
    SendGathered();
  } else if (first) {
    loop_.Post([this] { SendGathered(); });
  }
  return true;
}

void Agent::SendGathered() {
  if (gathered_.reports().reports().empty()) {
    return;
  }
  if (!link_.Send(gathered_)) {
    // There is no room, or no stream: what was not acknowledged goes again.
    for (const wire::Report& report : gathered_.reports().reports()) {
      outbox_.Rewind({JobId(report.job()), AttemptNumber(report.attempt())});
    }
  }
  gathered_.Clear();
}

void Agent::Writable() {
  TellHealth();
  for (const AttemptKey& key : attempts_.Keys()) {
    News(key);
  }
}

void Agent::Failed(const absl::Status& why) {
  outcome_.status = why;
  loop_.Post([this] { loop_.Stop(); });  // the loop may not run yet
}

void Agent::Check() {
  attempts_.Check();
  outbox_.Save();
  Writable();
  check_timer_ = loop_.RunAfter(config_.check_every, [this] { Check(); });
}

}  // namespace muster::agent

#include "daemon/serve/prefetch.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "scheduler/base/contains.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/value/fetch_variables.h"
#include "scheduler/model/value/fingerprint.h"

namespace muster::daemon {
namespace {

constexpr const char* kPrefetchComponent = "prefetch";

// What the job wants on each of its nodes.
std::vector<WantedAhead> WantedBy(const Job& job) {
  const JobSpec& spec = *job.spec;
  WantedAhead wanted;
  wanted.job = job.id;
  wanted.program = IsComponent(job) ? job.id : job.submission;
  wanted.user = spec.user;
  std::vector<WantedAhead> all;
  const std::string& image = spec.container.image;
  if (const std::uint64_t mark = image.empty() ? 0 : MarkOfImage(spec.user.uid, image); mark != 0) {
    all.push_back(wanted);
    all.back().image = image;
    all.back().mark = mark;
  }
  if (!spec.node_data.empty()) {
    all.push_back(wanted);
    all.back().sources = spec.node_data;
    all.back().mark = Fingerprint().Add(std::string("data")).Add(wanted.program.value()).value();
  }
  return all;
}

// Data may have changed since the node had them: only the node can tell.
bool CanFetch(const Node& node, const WantedAhead& wanted) {
  const bool data = wanted.image.empty();
  return node.connected &&
         Contains(node.features, data ? core::kStagingFeature : core::kContainerFeature) &&
         (data || !Contains(node.kept, wanted.mark));
}

wire::ImageQuestion QuestionFor(const WantedAhead& wanted,
                                const std::vector<std::string>& environment) {
  wire::ImageQuestion question;
  question.mutable_user()->set_uid(wanted.user.uid);
  question.mutable_user()->set_gid(wanted.user.gid);
  question.mutable_user()->set_name(wanted.user.name);
  if (wanted.image.empty()) {
    wire::DataFetch& bring = *question.mutable_bring();
    bring.mutable_sources()->Assign(wanted.sources.begin(), wanted.sources.end());
    bring.mutable_environment()->Assign(environment.begin(), environment.end());
    return question;
  }
  const std::vector<std::string> needed = FetchVariables(environment);
  wire::ImageFetch& fetch = *question.mutable_fetch();
  fetch.set_image(wanted.image);
  fetch.mutable_environment()->Assign(needed.begin(), needed.end());
  fetch.set_shared(true);
  return question;
}

}  // namespace

std::vector<WantedAhead> ToFetchAhead(const core::ClusterState& state, const Plan& plan,
                                      const ToldAhead& told, std::size_t most) {
  std::vector<WantedAhead> wanted;
  std::set<std::pair<NodeId, bool>> seen;
  for (const PlannedReservation& reservation : plan.reservations) {
    const Job* const job = state.FindJob(reservation.job);
    if (job == nullptr || !IsWaiting(job->state) || job->held ||
        job->spec->kind != JobKind::kBatch) {
      continue;
    }
    const std::vector<WantedAhead> things = WantedBy(*job);
    for (const ReservedNode& reserved : reservation.nodes) {
      const Node* const node = state.FindNode(reserved.node);
      for (const WantedAhead& thing : things) {
        if (node == nullptr || !CanFetch(*node, thing) || told.contains({node->id, thing.mark}) ||
            !seen.insert({node->id, thing.image.empty()}).second) {
          continue;
        }
        wanted.push_back(thing);
        wanted.back().node = node->id;
        wanted.back().name = node->name;
        if (wanted.size() == most) {
          return wanted;
        }
      }
    }
  }
  return wanted;
}

Prefetch::Prefetch(Controller& controller, JobStore& store, ImageShares& shares, const Logger& log,
                   std::chrono::milliseconds look_every)
    : controller_(controller),
      store_(store),
      shares_(shares),
      log_(log),
      look_every_(look_every),
      thread_([this] { Run(); }) {}

Prefetch::~Prefetch() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void Prefetch::Run() {
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, look_every_, [this] { return stopping_; })) {
    hold.unlock();
    for (const ToldAhead::value_type& again : busy_->TakeAll()) {
      told_.erase(again);
    }
    if (controller_.leads()) {
      LookOnce();
    }
    hold.lock();
  }
}

void Prefetch::LookOnce() {
  auto wanted = std::make_shared<std::vector<WantedAhead>>();
  const auto told = std::make_shared<const ToldAhead>(told_);
  const absl::Status looked = Await([&](const Controller::Reply& reply) {
    controller_.Look([wanted, told, reply](const StateView& view) -> Controller::Reply {
      if (view.plan() != nullptr) {
        *wanted = ToFetchAhead(view.state(), *view.plan(), *told, kTellMax);
      }
      return reply;
    });
  });
  for (std::size_t i = 0; looked.ok() && i < wanted->size(); ++i) {
    Tell((*wanted)[i]);
  }
}

void Prefetch::Tell(const WantedAhead& wanted) {
  const ToldAhead::value_type key{wanted.node, wanted.mark};
  told_.insert(key);
  order_.push_back(key);
  while (order_.size() > kToldMax) {
    told_.erase(order_.front());
    order_.pop_front();
  }
  const absl::StatusOr<Program> program = store_.ReadProgram(wanted.program);
  if (!program.ok()) {
    return;  // it ended meanwhile
  }
  NodeQuestions::Question question{wanted.node, wanted.name, wanted.user.uid, {}};
  *question.body.mutable_images() = QuestionFor(wanted, program->environment);
  shares_.questions().Ask(
      std::move(question), [busy = busy_, &shares = shares_, &log = log_,
                            wanted](const absl::StatusOr<wire::NodeQuestionReply>& answer) {
        const std::string what =
            absl::StrCat(wanted.image.empty() ? "the data" : "the image", " of job ",
                         wanted.job.value(), " for node ", wanted.name, ": ");
        if (absl::IsUnavailable(answer.status())) {
          busy->Add({wanted.node, wanted.mark});
          return;
        }
        if (!answer.ok()) {
          log.Warning(kPrefetchComponent, what + std::string(answer.status().message()));
          return;
        }
        log.Info(kPrefetchComponent, what + "being fetched");
        if (answer->images().has_wanted()) {
          shares.WantForUser(wanted.node, wanted.user, answer->images().wanted());
        }
      });
}

void Prefetch::Busy::Add(const ToldAhead::value_type& told) {
  const std::lock_guard hold(mutex_);
  told_.push_back(told);
}

std::vector<ToldAhead::value_type> Prefetch::Busy::TakeAll() {
  const std::lock_guard hold(mutex_);
  return std::exchange(told_, {});
}

}  // namespace muster::daemon

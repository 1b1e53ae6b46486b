#include "daemon/serve/image_prefetch.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "daemon/leading/await.h"
#include "scheduler/base/contains.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/job/container.h"
#include "scheduler/model/value/fetch_variables.h"

namespace muster::daemon {
namespace {

constexpr const char* kPrefetchComponent = "prefetch";

bool Keeps(const Node& node, std::uint64_t mark) {
  return std::find(node.kept.begin(), node.kept.end(), mark) != node.kept.end();
}

}  // namespace

std::vector<WantedImage> ImagesToFetch(const core::ClusterState& state, const Plan& plan,
                                       const ToldImages& told, std::size_t most) {
  std::vector<WantedImage> wanted;
  std::set<NodeId> seen;
  for (const PlannedReservation& reservation : plan.reservations) {
    const Job* const job = state.FindJob(reservation.job);
    if (job == nullptr || !IsWaiting(job->state) || job->held ||
        job->spec->kind != JobKind::kBatch) {
      continue;
    }
    const std::string& image = job->spec->container.image;
    const std::uint64_t mark = image.empty() ? 0 : MarkOfImage(job->spec->user.uid, image);
    for (const ReservedNode& reserved : reservation.nodes) {
      const Node* const node = state.FindNode(reserved.node);
      if (mark == 0 || node == nullptr || !node->connected || Keeps(*node, mark) ||
          !Contains(node->features, core::kContainerFeature) || told.contains({node->id, mark}) ||
          !seen.insert(node->id).second) {
        continue;
      }
      wanted.push_back(WantedImage{node->id, node->name, job->id,
                                   IsComponent(*job) ? job->id : job->submission, job->spec->user,
                                   image, mark});
      if (wanted.size() == most) {
        return wanted;
      }
    }
  }
  return wanted;
}

ImagePrefetch::ImagePrefetch(Controller& controller, JobStore& store, ImageShares& shares,
                             const Logger& log, std::chrono::milliseconds look_every)
    : controller_(controller),
      store_(store),
      shares_(shares),
      log_(log),
      look_every_(look_every),
      thread_([this] { Run(); }) {}

ImagePrefetch::~ImagePrefetch() {
  {
    const std::lock_guard hold(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ImagePrefetch::Run() {
  std::unique_lock hold(mutex_);
  while (!wake_.wait_for(hold, look_every_, [this] { return stopping_; })) {
    hold.unlock();
    for (const ToldImages::value_type& again : busy_->TakeAll()) {
      told_.erase(again);
    }
    if (controller_.leads()) {
      LookOnce();
    }
    hold.lock();
  }
}

void ImagePrefetch::LookOnce() {
  auto wanted = std::make_shared<std::vector<WantedImage>>();
  const auto told = std::make_shared<const ToldImages>(told_);
  const absl::Status looked = Await([&](const Controller::Reply& reply) {
    controller_.Look([wanted, told, reply](const StateView& view) -> Controller::Reply {
      if (view.plan() != nullptr) {
        *wanted = ImagesToFetch(view.state(), *view.plan(), *told, kTellMax);
      }
      return reply;
    });
  });
  for (std::size_t i = 0; looked.ok() && i < wanted->size(); ++i) {
    Tell((*wanted)[i]);
  }
}

void ImagePrefetch::Tell(const WantedImage& wanted) {
  const ToldImages::value_type key{wanted.node, wanted.mark};
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
  wire::ImageQuestion& body = *question.body.mutable_images();
  body.mutable_user()->set_uid(wanted.user.uid);
  body.mutable_user()->set_gid(wanted.user.gid);
  body.mutable_user()->set_name(wanted.user.name);
  body.mutable_fetch()->set_image(wanted.image);
  for (const std::string& variable : FetchVariables(program->environment)) {
    body.mutable_fetch()->add_environment(variable);
  }
  body.mutable_fetch()->set_shared(true);
  shares_.questions().Ask(
      std::move(question), [busy = busy_, &shares = shares_, &log = log_,
                            wanted](const absl::StatusOr<wire::NodeQuestionReply>& answer) {
        const std::string what =
            absl::StrCat("the image of job ", wanted.job.value(), " for node ", wanted.name, ": ");
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

void ImagePrefetch::Busy::Add(const ToldImages::value_type& told) {
  const std::lock_guard hold(mutex_);
  told_.push_back(told);
}

std::vector<ToldImages::value_type> ImagePrefetch::Busy::TakeAll() {
  const std::lock_guard hold(mutex_);
  return std::exchange(told_, {});
}

}  // namespace muster::daemon

#include "daemon/agents/image_shares.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/text/digest.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/job/container.h"

namespace muster::daemon {
namespace {

constexpr const char* kSharesComponent = "images";
constexpr int kTriesMax = 3;
constexpr int kAddressesMax = 64;
constexpr std::size_t kAddressBytesMax = 100;
constexpr std::size_t kTokenBytesMax = 128;
constexpr std::size_t kNameBytesMax = 4096;

bool CanGive(const Node* node) {
  return node != nullptr && node->connected && Contains(node->features, core::kContainerFeature);
}

// Whose attempt it is, when it runs on that node.
std::optional<User> UserOf(const core::ClusterState& state, NodeId node,
                           const wire::AttemptImageWanted& wanted) {
  const Job* const job = state.FindJob(JobId(wanted.job()));
  if (job == nullptr || !job->attempt.has_value() ||
      job->attempt->number != AttemptNumber(wanted.attempt())) {
    return std::nullopt;
  }
  const std::vector<NodeAllocation>& parts = job->attempt->allocation.nodes;
  const bool here = std::any_of(parts.begin(), parts.end(),
                                [node](const NodeAllocation& part) { return part.node == node; });
  return here ? std::optional<User>(job->spec->user) : std::nullopt;
}

std::vector<NodeId> KeepersOf(const core::ClusterState& state, std::uint64_t mark, NodeId asker) {
  std::vector<NodeId> keepers;
  for (const auto& [id, node] : state.nodes()) {
    if (id != asker && CanGive(&node) && Contains(node.kept, mark)) {
      keepers.push_back(id);
    }
  }
  return keepers;
}

bool AnotherHasContainers(const core::ClusterState& state, NodeId asker) {
  return std::any_of(state.nodes().begin(), state.nodes().end(), [asker](const auto& entry) {
    return entry.first != asker && CanGive(&entry.second);
  });
}

}  // namespace

absl::Status CheckWanted(const wire::ImageWanted& wanted) {
  const bool good =
      IsDigest(wanted.digest()) && !wanted.token().empty() &&
      wanted.token().size() <= kTokenBytesMax && wanted.image().size() <= kNameBytesMax &&
      !wanted.addresses().empty() && wanted.addresses_size() <= kAddressesMax &&
      std::all_of(wanted.addresses().begin(), wanted.addresses().end(),
                  [](const std::string& address) { return address.size() <= kAddressBytesMax; });
  return good ? absl::OkStatus()
              : absl::InvalidArgumentError("an image wanted in no words of ours");
}

void ImageShares::WantForAttempt(NodeId node, const wire::AttemptImageWanted& wanted) {
  if (!CheckWanted(wanted.wanted()).ok()) {
    return;
  }
  controller_.Look([this, node, wanted](const StateView& view) -> Controller::Reply {
    const std::optional<User> user = UserOf(view.state(), node, wanted);
    return user.has_value() ? AnswerFrom(view, {node, *user, wanted.wanted()})
                            : [](const absl::Status&) {};
  });
}

void ImageShares::WantForUser(NodeId node, const User& user, const wire::ImageWanted& wanted) {
  if (CheckWanted(wanted).ok()) {
    Decide({node, user, wanted});
  }
}

// Nothing: the node that wants it is gone.
std::optional<ImageShares::Answer> ImageShares::Choose(const StateView& view, const Wish& wish) {
  const core::ClusterState& state = view.state();
  const Node* const asker = state.FindNode(wish.node);
  if (asker == nullptr) {
    return std::nullopt;
  }
  Answer answer{wire::IMAGE_VERDICT_ALONE, asker->id, asker->name};
  if (!AnotherHasContainers(state, asker->id)) {
    return answer;
  }
  answer.verdict = wire::IMAGE_VERDICT_FETCH;
  const SharedImage image{wish.user.uid, wish.wanted.digest()};
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(&mutex_);
  if (!book_.Knows(image, now)) {
    book_.Begin(image, now);
  }
  const auto is_there = [&state](NodeId node) { return CanGive(state.FindNode(node)); };
  std::optional<ImageSource> source = book_.SourceFor(image, asker->id, now, is_there);
  const std::uint64_t mark = MarkOfImage(wish.user.uid, wish.wanted.image());
  // A node that keeps it may have come since it was first asked for.
  if (!source.has_value() && mark != 0 &&
      book_.AddKeepers(image, KeepersOf(state, mark, asker->id))) {
    source = book_.SourceFor(image, asker->id, now, is_there);
  }
  if (source.has_value() && wish.tries < kTriesMax) {
    answer = {wire::IMAGE_VERDICT_GIVE, source->node, state.FindNode(source->node)->name,
              source->keeps};
  }
  return answer;
}

Controller::Reply ImageShares::AnswerFrom(const StateView& view, const Wish& wish) {
  const std::optional<Answer> answer = Choose(view, wish);
  return [this, wish, answer](const absl::Status& status) {
    if (status.ok() && answer.has_value()) {
      Tell(wish, *answer);
    }
  };
}

void ImageShares::Decide(const Wish& wish) {
  controller_.Look([this, wish](const StateView& view) { return AnswerFrom(view, wish); });
}

void ImageShares::Tell(const Wish& wish, const Answer& answer) {
  NodeQuestions::Question question{answer.from, answer.name, wish.user.uid, {}};
  wire::ImageQuestion& body = *question.body.mutable_images();
  body.mutable_user()->set_uid(wish.user.uid);
  body.mutable_user()->set_gid(wish.user.gid);
  body.mutable_user()->set_name(wish.user.name);
  body.mutable_give()->set_verdict(answer.verdict);
  body.mutable_give()->set_kept(answer.keeps);
  *body.mutable_give()->mutable_wanted() = wish.wanted;
  questions_.Ask(std::move(question), [this, wish, answer](
                                          const absl::StatusOr<wire::NodeQuestionReply>& told) {
    const std::string what = absl::StrCat(wish.wanted.digest(), " of ", wish.user.name);
    const bool gives = answer.verdict == wire::IMAGE_VERDICT_GIVE;
    if (told.ok()) {
      log_.Info(kSharesComponent, gives ? absl::StrCat(what, " comes from ", answer.name)
                                        : absl::StrCat(what, " is fetched by ", answer.name));
      return;
    }
    log_.Warning(kSharesComponent,
                 absl::StrCat(what, ": ", answer.name, ": ", std::string(told.status().message())));
    if (gives) {
      {
        const MutexLock lock(&mutex_);
        book_.Drop({wish.user.uid, wish.wanted.digest()}, answer.from);
      }
      Wish again = wish;
      ++again.tries;
      Decide(again);
    }
  });
}

}  // namespace muster::daemon

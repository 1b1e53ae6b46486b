// What clients ask of the images and copies of data that nodes keep (client_methods.h): each node
// is asked for those of the caller, or of the user that an operator named, some nodes at a time.
#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/access.h"
#include "daemon/access/rights/local_accounts.h"
#include "daemon/client/client_methods.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/core/handle/submit/required_feature.h"
#include "scheduler/model/request/image_questions.h"
#include "scheduler/runtime/mutex.h"

namespace muster::daemon {
namespace {

// Fewer than one user may have open (NodeQuestions::kOpenOfUserMax).
constexpr std::size_t kNodesAtOnce = 128;
constexpr std::size_t kNamesMax = 1000;  // of one request

struct AskedNode {
  NodeId id;
  std::string name;
};

absl::StatusOr<std::vector<AskedNode>> NodesOf(const core::ClusterState& state,
                                               const std::vector<std::string>& names, bool data) {
  const char* const feature = data ? core::kStagingFeature : core::kContainerFeature;
  std::vector<AskedNode> nodes;
  for (const std::string& name : names) {
    const Node* const node = state.FindNode(name);
    if (node == nullptr) {
      return absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
    }
    nodes.push_back({node->id, node->name});
  }
  for (const auto& [id, node] : state.nodes()) {
    if (names.empty() && Contains(node.features, feature)) {
      nodes.push_back({id, node.name});
    }
  }
  return nodes;
}

// One request on its way through the nodes. Keeps itself until it is answered.
template <class Request>
class ImageAnswers : public std::enable_shared_from_this<ImageAnswers<Request>> {
 public:
  ImageAnswers(const Backend& backend, const Call<Request>& call, wire::ImageQuestion question,
               std::vector<AskedNode> nodes)
      : backend_(backend), call_(call), question_(std::move(question)), nodes_(std::move(nodes)) {}

  // Asks those that may be asked by now; an answer that comes at once is not asked from within.
  void Go() {
    {
      const MutexLock lock(&mutex_);
      if (std::exchange(going_, true)) {
        return;
      }
    }
    while (const AskedNode* const node = Next()) {
      NodeQuestions::Question question{node->id, node->name, call_.caller.user.uid, {}};
      *question.body.mutable_images() = question_;
      AskNode(
          backend_, std::move(question),
          [self = this->shared_from_this(), name = node->name](
              const absl::StatusOr<wire::NodeQuestionReply>& answer) { self->Take(name, answer); });
    }
    FinishIfDone();
  }

 private:
  const AskedNode* Next() {
    const MutexLock lock(&mutex_);
    if (next_ == nodes_.size() || next_ - answered_ >= kNodesAtOnce) {
      going_ = false;
      return nullptr;
    }
    return &nodes_[next_++];
  }

  void Take(const std::string& node, const absl::StatusOr<wire::NodeQuestionReply>& answer) {
    {
      const MutexLock lock(&mutex_);
      ++answered_;
      if (!answer.ok()) {
        table_.silent.push_back(std::string(answer.status().message()));
      }
      for (int i = 0; answer.ok() && i < answer->images().images_size(); ++i) {
        Add(node, answer->images().images(i));
      }
    }
    Go();
  }

  void Add(const std::string& node, const wire::NodeImage& told)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    NodeImage image;
    image.node = node;
    image.name = told.name();
    image.digest = told.digest();
    image.container = told.container();
    image.architecture = told.architecture();
    image.size = Bytes(told.size());
    image.used = Time(Duration(told.used()));
    image.in_use = told.in_use();
    table_.images.push_back(std::move(image));
  }

  void FinishIfDone() {
    const MutexLock lock(&mutex_);
    if (answered_ < nodes_.size() || std::exchange(finished_, true)) {
      return;
    }
    std::sort(table_.images.begin(), table_.images.end(),
              [](const NodeImage& a, const NodeImage& b) {
                return std::tie(a.node, a.container, a.name, a.digest) <
                       std::tie(b.node, b.container, b.name, b.digest);
              });
    std::sort(table_.silent.begin(), table_.silent.end());
    call_.Finish(absl::OkStatus(), table_);
  }

  const Backend backend_;
  const Call<Request> call_;
  const wire::ImageQuestion question_;
  const std::vector<AskedNode> nodes_;
  Mutex mutex_;
  std::size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  std::size_t answered_ ABSL_GUARDED_BY(mutex_) = 0;
  bool going_ ABSL_GUARDED_BY(mutex_) = false;
  bool finished_ ABSL_GUARDED_BY(mutex_) = false;
  ImageTable table_ ABSL_GUARDED_BY(mutex_);
};

template <class Request>
void AskImages(const Backend& backend, const Call<Request>& call,
               const std::vector<std::string>& names, const wire::ImageQuestion& question) {
  backend.controller.Look([backend, call, names, question](const StateView& view) {
    absl::StatusOr<std::vector<AskedNode>> nodes = NodesOf(view.state(), names, question.data());
    return Controller::Reply(
        [backend, call, question, nodes = std::move(nodes)](const absl::Status&) {
          if (nodes.ok()) {
            std::make_shared<ImageAnswers<Request>>(backend, call, question, *nodes)->Go();
          } else {
            call.Refuse(nodes.status());
          }
        });
  });
}

// On the reader's thread, for names may be looked up far away. `user`: as the request has it;
// another one's are an operator's alone.
absl::StatusOr<wire::ImageQuestion> QuestionOf(const Caller& caller, const std::string& user,
                                               bool data) {
  wire::ImageQuestion question;
  question.set_data(data);
  if (user.empty() || user == caller.user.name) {
    TellUser(caller.user, question.mutable_user());
    return question;
  }
  if (!IsOperator(caller)) {
    return absl::PermissionDeniedError(
        absl::StrCat("what nodes keep for ", user, " is shown to operators and to ", user));
  }
  ASSIGN_OR_RETURN(const User other, UserNamed(user));
  TellUser(other, question.mutable_user());
  return question;
}

void AnswerListImages(const Backend& backend, const Call<ListImages>& call,
                      const ListImages& asked) {
  call.Aside(backend.reader, [backend, call, asked] {
    const absl::StatusOr<wire::ImageQuestion> question =
        QuestionOf(call.caller, asked.user, asked.data);
    if (question.ok()) {
      AskImages(backend, call, asked.nodes, *question);
    } else {
      call.Refuse(question.status());
    }
  });
}

absl::Status CheckPrune(const PruneImages& asked) {
  if (asked.images.size() + asked.containers.size() > kNamesMax) {
    return absl::InvalidArgumentError(
        absl::StrCat("more than ", kNamesMax, " names: give fewer at a time"));
  }
  if (asked.data && !asked.containers.empty()) {
    return absl::InvalidArgumentError("containers: are no copies of data");
  }
  if (asked.unused_for < Duration(0)) {
    return absl::InvalidArgumentError("unused_for: is negative: give milliseconds");
  }
  const bool chosen = asked.all || !asked.images.empty() || !asked.containers.empty() ||
                      asked.unused_for > Duration(0);
  return chosen ? absl::OkStatus()
                : absl::InvalidArgumentError(
                      "nothing is named: give images, containers, unused_for or all");
}

void AnswerPruneImages(const Backend& backend, const Call<PruneImages>& call,
                       const PruneImages& asked) {
  if (const absl::Status status = CheckPrune(asked); !status.ok()) {
    call.Refuse(status);
    return;
  }
  call.Aside(backend.reader, [backend, call, asked] {
    absl::StatusOr<wire::ImageQuestion> question = QuestionOf(call.caller, asked.user, asked.data);
    if (!question.ok()) {
      call.Refuse(question.status());
      return;
    }
    wire::PruneImagesRequest& prune = *question->mutable_prune();
    prune.mutable_images()->Assign(asked.images.begin(), asked.images.end());
    prune.mutable_containers()->Assign(asked.containers.begin(), asked.containers.end());
    prune.set_all(asked.all);
    prune.set_unused_for(asked.unused_for.count());
    AskImages(backend, call, asked.nodes, *question);
  });
}

}  // namespace

void ServeImages(Methods& methods, const Backend& backend) {
  AnswerAtOnce<ListImages>(methods, backend, AnswerListImages);
  AnswerAtOnce<PruneImages>(methods, backend, AnswerPruneImages);
}

}  // namespace muster::daemon

#include "agent/supervisor/mpi/loaded_step.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "scheduler/base/status.h"

namespace muster::agent {
namespace {

constexpr std::uint32_t kNowhere = UINT32_MAX;

}  // namespace

absl::StatusOr<StepShape> ShapeOf(const Allocation& placement, std::uint32_t node_index) {
  StepShape shape;
  std::size_t count = 0;
  for (const NodeAllocation& node : placement.nodes) {
    count += node.ranks.size();
  }
  shape.node_of_rank.assign(count, kNowhere);
  for (std::uint32_t i = 0; i < placement.nodes.size(); ++i) {
    const NodeAllocation& node = placement.nodes[i];
    if (node.ranks.empty()) {
      continue;
    }
    if (i == node_index) {
      shape.position = static_cast<std::uint32_t>(shape.nodes.size());
    }
    for (const RankPlacement& rank : node.ranks) {
      if (rank.rank >= count || shape.node_of_rank[rank.rank] != kNowhere) {
        return absl::InvalidArgumentError("the step's ranks are not numbered in a row");
      }
      shape.node_of_rank[rank.rank] = static_cast<std::uint32_t>(shape.nodes.size());
    }
    shape.nodes.push_back(node.name);
    shape.index.push_back(i);
  }
  return shape;
}

std::vector<std::vector<std::string>> ByPosition(const StepShape& shape,
                                                 const std::vector<StepPeerAddress>& peers) {
  std::vector<std::vector<std::string>> addresses(shape.nodes.size());
  for (const StepPeerAddress& peer : peers) {
    const auto found = std::find(shape.index.begin(), shape.index.end(), peer.node_index);
    if (found != shape.index.end()) {
      addresses[static_cast<std::size_t>(found - shape.index.begin())] = peer.addresses;
    }
  }
  return addresses;
}

LoadedStep::LoadedStep(EventLoop& loop, LoadedStepConfig config, PmixNews news)
    : loop_(loop),
      config_(std::move(config)),
      news_(std::move(news)),
      alive_(std::make_shared<const bool>(true)) {}

absl::StatusOr<std::unique_ptr<LoadedStep>> LoadedStep::Start(
    EventLoop& loop, ClosingSockets& closing, const Logger& log, PmixProcess& process,
    LoadedStepConfig config, PmixNews news) {
  std::unique_ptr<LoadedStep> made(new LoadedStep(loop, std::move(config), std::move(news)));
  if (made->config_.shape.nodes.size() > 1) {
    RETURN_IF_ERROR(made->OpenExchange(closing, log));
  }
  ASSIGN_OR_RETURN(made->step_, process.StartStep(made->config_.pmix, made->Handlers()));
  return made;
}

absl::Status LoadedStep::OpenExchange(ClosingSockets& closing, const Logger& log) {
  ExchangeConfig config;
  config.self.secret = config_.secret;
  config.self.step = config_.pmix.nspace;
  config.self.position = config_.shape.position;
  config.nodes = config_.shape.nodes;
  config.one_machine = config_.pmix.one_machine;
  ExchangeHandlers handlers;
  handlers.on_broken = news_.on_broken;
  handlers.on_asked = [this](std::uint32_t asker, std::uint64_t id, std::uint32_t rank) {
    OnAsked(asker, id, rank);
  };
  ASSIGN_OR_RETURN(exchange_,
                   Exchange::Open(loop_, closing, log, std::move(config), std::move(handlers)));
  return absl::OkStatus();
}

PmixProcessHandlers LoadedStep::Handlers() {
  const auto post = [this](std::function<void()> action) {
    loop_.Post([alive = std::weak_ptr<const bool>(alive_), action = std::move(action)] {
      if (!alive.expired()) {
        action();
      }
    });
  };
  PmixProcessHandlers all;
  all.on_lost = [this, post](const std::string& why) { post([this, why] { OnLost(why); }); };
  PmixHandlers& handlers = all.ranks;
  handlers.on_connected = [this, post](std::uint32_t rank) {
    joined_.insert(rank);
    ever_.insert(rank);
    post(news_.on_joined);
  };
  handlers.on_finalized = [this](std::uint32_t rank) { joined_.erase(rank); };
  handlers.on_abort = [this, post](std::uint32_t rank, int code, const std::string& text) {
    post([this, rank, code, text] { news_.on_abort(rank, code, text); });
  };
  handlers.on_fence = [this, post](std::uint64_t id, std::vector<std::uint32_t> ranks,
                                   std::string data) {
    post(
        [this, id, ranks = std::move(ranks), data = std::move(data)] { OnFence(id, ranks, data); });
  };
  handlers.on_modex = [this, post](std::uint64_t id, std::uint32_t rank) {
    post([this, id, rank] { OnModex(id, rank); });
  };
  handlers.on_published = [this, post](std::uint64_t id, bool found, std::string data) {
    post([this, id, found, data = std::move(data)] {
      OnPublished(id, found ? std::optional(data) : std::nullopt);
    });
  };
  return all;
}

absl::StatusOr<std::vector<std::string>> LoadedStep::RankEnv(std::uint32_t rank) const {
  return step_->RankEnv(rank);
}

void LoadedStep::OnFence(std::uint64_t id, std::vector<std::uint32_t> ranks, std::string data) {
  if (exchange_ == nullptr) {
    step_->FinishFence(id, data);
    return;
  }
  std::sort(ranks.begin(), ranks.end());
  std::set<std::uint32_t> nodes;
  for (const std::uint32_t rank : ranks) {
    nodes.insert(rank < config_.shape.node_of_rank.size() ? config_.shape.node_of_rank[rank]
                                                          : kNowhere);
  }
  if (ranks.empty()) {
    for (std::uint32_t node = 0; node < config_.shape.nodes.size(); ++node) {
      nodes.insert(node);
    }
  }
  if (nodes.count(kNowhere) != 0 || nodes.count(config_.shape.position) == 0) {
    step_->FinishModex(id, std::nullopt);  // refused: there are no such ranks
    return;
  }
  exchange_->Fence(ranks.empty() ? "all" : absl::StrJoin(ranks, ","), {nodes.begin(), nodes.end()},
                   std::move(data),
                   [this, id](const std::string& whole) { step_->FinishFence(id, whole); });
}

void LoadedStep::OnModex(std::uint64_t id, std::uint32_t rank) {
  if (exchange_ == nullptr || rank >= config_.shape.node_of_rank.size()) {
    step_->FinishModex(id, std::nullopt);
    return;
  }
  exchange_->AskModex(
      config_.shape.node_of_rank[rank], rank,
      [this, id](const std::optional<std::string>& data) { step_->FinishModex(id, data); });
}

void LoadedStep::OnAsked(std::uint32_t asker, std::uint64_t id, std::uint32_t rank) {
  const std::vector<std::uint32_t>& nodes = config_.shape.node_of_rank;
  if (rank >= nodes.size() || nodes[rank] != config_.shape.position) {
    exchange_->AnswerModex(asker, id, std::nullopt);
    return;
  }
  questions_[next_question_] = Question{asker, id};
  step_->AskPublished(rank, next_question_++);
}

void LoadedStep::OnPublished(std::uint64_t id, const std::optional<std::string>& data) {
  const auto found = questions_.find(id);
  if (found != questions_.end()) {
    exchange_->AnswerModex(found->second.asker, found->second.id, data);
    questions_.erase(found);
  }
}

void LoadedStep::OnLost(const std::string& why) {
  StepBreak broken;
  broken.text = why;
  broken.status.code = 1;
  news_.on_broken(broken);
}

std::vector<std::string> LoadedStep::Addresses() const {
  return exchange_ == nullptr ? std::vector<std::string>() : exchange_->addresses();
}

void LoadedStep::Meet(const std::vector<StepPeerAddress>& peers) {
  if (exchange_ != nullptr) {
    exchange_->Meet(ByPosition(config_.shape, peers));
  }
}

void LoadedStep::Break(const StepBreak& why) {
  if (exchange_ != nullptr) {
    exchange_->Break(why);
  }
}

void LoadedStep::Leave(bool told) {
  if (exchange_ != nullptr) {
    exchange_->Leave(told);
  }
}

}  // namespace muster::agent

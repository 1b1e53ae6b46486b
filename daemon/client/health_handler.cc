#include "daemon/client/health_handler.h"

#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/access/rpc.h"
#include "proto/convert/convert.h"
#include "scheduler/core/handle/nodes/health_handlers.h"

namespace muster::daemon {
namespace {

constexpr std::uint32_t kHistoryMost = 1000;

HealthView ViewOf(const core::ClusterState& state, const Node& node, Time now) {
  HealthView view;
  const core::HealthTable& book = state.health();
  view.node = node.name;
  view.health = book.Of(node.id);
  view.health.node = node.id;
  view.state = core::HealthWord(view.health);
  view.class_nodes = static_cast<std::uint32_t>(book.ClassOf(node.id).size());
  view.tally = book.TallyOf(node.id);
  view.sick_permille = view.tally.failures == 0 ? 0 : book.SickPermilleOf(node.id, now);
  return view;
}

}  // namespace

void HealthHandler::CheckHealth(const Call& call, const wire::CheckHealthRequest& request,
                                wire::CheckHealthReply* reply) {
  auto* const reactor = call.reactor;
  CheckNodeHealth input{request.node(), HealthKind::kQuick, request.wait()};
  input.kind =
      request.kind() == wire::HEALTH_KIND_BURN_IN ? HealthKind::kBurnIn : HealthKind::kQuick;
  controller_.Take(std::move(input), [reactor, reply](const core::Transition& transition,
                                                      const absl::Status& status) {
    reply->set_number(transition.count);
    reactor->Finish(ToGrpc(status));
  });
}

void HealthHandler::ListHealth(const Call& call, const wire::ListHealthRequest& request,
                               wire::ListHealthReply* reply) {
  auto* const reactor = call.reactor;
  const std::vector<std::string> names(request.names().begin(), request.names().end());
  const std::uint32_t limit = std::min(request.history(), kHistoryMost);
  controller_.Look([this, reactor, reply, names,
                    limit](const StateView& snapshot) -> Controller::Reply {
    const core::ClusterState& state = snapshot.state();
    auto views = std::make_shared<std::vector<HealthView>>();
    absl::Status found = absl::OkStatus();
    for (const std::string& name : names) {
      if (const Node* node = state.FindNode(name)) {
        views->push_back(ViewOf(state, *node, snapshot.now()));
      } else {
        found =
            absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
      }
    }
    if (names.empty()) {
      for (const auto& [id, node] : state.nodes()) {
        views->push_back(ViewOf(state, node, snapshot.now()));
      }
    }
    return [this, reactor, reply, views, found, limit](const absl::Status& status) {
      ReadAside(reader_, reactor, [this, reactor, reply, views, found, limit, status] {
        absl::Status read = found.ok() ? status : found;
        for (HealthView& view : *views) {
          if (limit > 0) {
            absl::StatusOr<std::vector<HealthRecord>> history =
                store_.ReadHealth(view.health.node, limit);
            read.Update(history.status());
            view.history = history.ok() ? *std::move(history) : std::vector<HealthRecord>();
          }
          ToWire(view, reply->add_nodes());
        }
        reactor->Finish(ToGrpc(read));
      });
    };
  });
}

}  // namespace muster::daemon

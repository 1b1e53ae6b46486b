// The questions about the health of nodes and about alerts (client_methods.h).
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "daemon/client/client_methods.h"
#include "daemon/client/views/sight.h"
#include "scheduler/core/handle/nodes/health_handlers.h"

namespace muster::daemon {
namespace {

constexpr std::uint32_t kChecksMost = 1000;

HealthView ViewOf(const core::ClusterState& state, const Node& node, Time now) {
  HealthView view;
  const core::HealthTable& table = state.health();
  view.node = node.name;
  view.health = table.Of(node.id);
  view.health.node = node.id;
  view.state = core::HealthWord(view.health);
  view.class_nodes = static_cast<std::uint32_t>(table.ClassOf(node.id).size());
  view.tally = table.TallyOf(node.id);
  view.sick_permille = view.tally.failures == 0 ? 0 : table.SickPermilleOf(node.id, now);
  return view;
}

// The views, and NotFound when a node that was named is not there.
absl::Status LookAtHealth(const StateView& snapshot, const std::vector<std::string>& names,
                          std::vector<HealthView>& views) {
  const core::ClusterState& state = snapshot.state();
  absl::Status found = absl::OkStatus();
  for (const std::string& name : names) {
    if (const Node* node = state.FindNode(name)) {
      views.push_back(ViewOf(state, *node, snapshot.now()));
    } else {
      found = absl::NotFoundError(absl::StrCat("node ", name, ": no such node; see muster nodes"));
    }
  }
  if (names.empty()) {
    for (const auto& [id, node] : state.nodes()) {
      views.push_back(ViewOf(state, node, snapshot.now()));
    }
  }
  return found;
}

void FinishListHealth(const Backend& backend, const Call<ListHealth>& call, std::uint32_t limit,
                      absl::Status read, std::vector<HealthView>& views) {
  for (HealthView& view : views) {
    if (limit > 0) {
      absl::StatusOr<std::vector<HealthRecord>> history =
          backend.store.ReadHealth(view.health.node, limit);
      read.Update(history.status());
      view.history = history.ok() ? *std::move(history) : std::vector<HealthRecord>();
    }
  }
  call.Finish(read, views);
}

void AnswerListHealth(const Backend& backend, const Call<ListHealth>& call,
                      const ListHealth& asked) {
  if (const absl::Status shown =
          CheckShown(call.caller, {Private::kNodes}, "the health of nodes is");
      !shown.ok()) {
    call.Refuse(shown);
    return;
  }
  backend.controller.Look([backend, call, asked](const StateView& snapshot) -> Controller::Reply {
    auto views = std::make_shared<std::vector<HealthView>>();
    const absl::Status found = LookAtHealth(snapshot, asked.names, *views);
    const std::uint32_t limit = std::min(asked.history, kChecksMost);
    return [backend, call, views, found, limit](const absl::Status& status) {
      call.Aside(backend.reader, [backend, call, views, found, limit, status] {
        FinishListHealth(backend, call, limit, found.ok() ? status : found, *views);
      });
    };
  });
}

// Another user's jobs are nobody's business but an operator's.
void AnswerListAlerts(const Backend& backend, const Call<ListAlerts>& call, const ListAlerts&) {
  backend.controller.Look([call](const StateView& snapshot) -> Controller::Reply {
    std::vector<Alert> alerts;
    const bool hides_nodes = Hides(call.caller, Private::kNodes);
    for (const auto& [name, alert] : snapshot.state().alerts().all()) {
      if (alert.job.valid() ? MaySee(call.caller, alert.user) : !hides_nodes) {
        alerts.push_back(alert);
      }
    }
    return [call, alerts = std::move(alerts)](const absl::Status& status) {
      call.Finish(status, alerts);
    };
  });
}

}  // namespace

void ServeHealthQuestions(Methods& methods, const Backend& backend) {
  AnswerInTurn<ListHealth>(methods, backend, AnswerListHealth);
  AnswerInTurn<ListAlerts>(methods, backend, AnswerListAlerts);
}

}  // namespace muster::daemon

#include "agent/supervisor/variables/tracking_variables.h"

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

constexpr std::string_view kJobMember = "\"muster.job\":\"";

// Names hold no control characters; any that came all the same are left out.
std::string JsonText(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      json += '\\';
    }
    if (static_cast<unsigned char>(c) >= 0x20) {
      json += c;
    }
  }
  return json + "\"";
}

std::string JobLabel(const LaunchOrder& launch) {
  return launch.array_index.has_value()
             ? absl::StrCat(launch.submission.value(), "_", *launch.array_index)
             : absl::StrCat(launch.job.value());
}

std::string ContextOf(const std::string& name, const std::string& cluster,
                      const std::string& label) {
  return absl::StrCat("{\"mlflow.runName\":", JsonText(name),
                      ",\"muster.cluster\":", JsonText(cluster),
                      ",\"muster.job\":", JsonText(label), "}");
}

// Fills in what the submitter has not set.
class Filling {
 public:
  Filling(const std::vector<std::string>& submitter, Variables* variables) : variables_(variables) {
    // MUSTER_* of an outer job do not come along; this one does, and names it.
    const std::string context = ValueIn(submitter, "MLFLOW_RUN_CONTEXT").value_or("");
    const std::size_t at = context.find(kJobMember);
    if (at != std::string::npos) {
      const std::string rest = context.substr(at + kJobMember.size());
      outer_ = rest.substr(0, rest.find('"'));
    }
    outer_group_ = outer_.substr(0, outer_.find('_'));
  }
  void Fill(const char* variable, const std::string& value) {
    const std::string given = variables_->Get(variable, "");
    variables_->Set(variable, given.empty() || IsOuter(given) ? value : given);
  }

 private:
  // It was filled in for the job out of which this one was submitted.
  [[nodiscard]] bool IsOuter(const std::string& value) const {
    return !outer_.empty() &&
           (absl::EndsWith(value, "-" + outer_) || absl::EndsWith(value, "-" + outer_group_) ||
            absl::StrContains(value, "\"muster.job\":\"" + outer_ + "\""));
  }

  Variables* const variables_;
  std::string outer_;  // label of the outer job; empty: there is none
  std::string outer_group_;
};

}  // namespace

void SetTrackingVariables(const SupervisorOrder& order, Variables* variables) {
  const LaunchOrder& launch = order.launch;
  const std::string label = JobLabel(launch);
  const std::string run = absl::StrCat(launch.cluster, "-", label);
  const std::string name = absl::StrCat(launch.spec.name, "-", label);
  if (!order.report_socket.empty()) {
    variables->Set("MUSTER_REPORT_SOCKET", order.report_socket);
  }
  variables->Set("MUSTER_RUN_ID", run);
  Filling filling(launch.program.environment, variables);
  filling.Fill("WANDB_NAME", name);
  filling.Fill("WANDB_RUN_GROUP", absl::StrCat(launch.cluster, "-", launch.submission.value()));
  filling.Fill("WANDB_TAGS", absl::StrCat("muster,", launch.cluster, ",job-", label));
  if (!variables->Get("WANDB_RESUME", "").empty()) {
    filling.Fill("WANDB_RUN_ID", run);
  }
  filling.Fill("MLFLOW_RUN_CONTEXT", ContextOf(name, launch.cluster, label));
}

}  // namespace muster::agent

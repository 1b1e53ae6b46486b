#include "cli/controller/query/documents.h"

#include "cli/frame/json_output.h"
#include "cli/sheet/checkpoint_table.h"
#include "scheduler/model/job/job_state.h"
#include "scheduler/model/machine/machine.h"

namespace muster::cli {
namespace {

Json JobJson(const JobView& job) {
  Json json = ToJson(job);
  json.erase("indices");   // a document has a job for each element
  json.erase("alike");     // and for each single job
  json.erase("attempts");  // a detail has them in full
  if (job.currency.empty()) {
    json["cost"] = nullptr;
    json["currency"] = nullptr;
  }
  json["ettr"] = nullptr;  // of a job that has ended
  if (!IsTerminal(job.state)) {
    json["exit_code"] = nullptr;
    json["exit_signal"] = nullptr;
  } else if (const std::optional<double> share = EffectiveShare(job.checkpoints)) {
    json["ettr"] = *share;
  }
  return json;
}

Json DetailJson(const JobDetail& detail) {
  Json json = JobJson(detail.job);
  ForEachField(detail, [&json](const char* name, const auto& member) {
    if (std::string(name) != "job" && std::string(name) != "script") {
      json[name] = ToJson(member);
    }
  });
  return json;
}

// kNowhere is a number that only we know.
Json MachineJson(const Machine& machine) {
  Json json = ToJson(machine);
  for (const char* list : {"l3_caches", "cores", "gpus", "nics"}) {
    for (Json& item : json[list]) {
      for (const char* place : {"package", "numa", "l3"}) {
        const auto found = item.find(place);
        if (found != item.end() && *found == kNowhere) {
          *found = nullptr;
        }
      }
    }
  }
  return json;
}

Json NodeJson(const NodeView& node, bool with_machine) {
  Json json = ToJson(node);
  if (with_machine) {
    json["machine"] = MachineJson(node.machine);
  } else {
    json.erase("machine");
  }
  return json;
}

}  // namespace

std::string JobsDocument(const std::vector<JobView>& jobs) {
  Json list = Json::array();
  for (const JobView& job : jobs) {
    list.push_back(JobJson(job));
  }
  return PrintJson(Json{{"jobs", std::move(list)}});
}

std::string DetailsDocument(const std::vector<JobDetail>& details) {
  Json list = Json::array();
  for (const JobDetail& detail : details) {
    list.push_back(DetailJson(detail));
  }
  return PrintJson(Json{{"jobs", std::move(list)}});
}

std::string ExplanationDocument(const JobExplanation& explanation) {
  Json json = ToJson(explanation);
  json["job"] = JobJson(explanation.job);
  return PrintJson(json);
}

std::string NodesDocument(const std::vector<NodeView>& nodes, bool with_machine,
                          const std::vector<LargestGpuJob>& largest,
                          const std::vector<NarrowLink>& narrow_links) {
  Json list = Json::array();
  for (const NodeView& node : nodes) {
    list.push_back(NodeJson(node, with_machine));
  }
  Json jobs = Json::array();
  for (const LargestGpuJob& job : largest) {
    jobs.push_back(ToJson(job));
  }
  return PrintJson(Json{{"nodes", std::move(list)},
                        {"largest", std::move(jobs)},
                        {"narrow_links", ToJson(narrow_links)}});
}

std::string PolicyDocument(const std::vector<PolicyView>& objects) {
  Json list = Json::array();
  for (const PolicyView& object : objects) {
    Json json = ToJson(object);
    Json properties = Json::object();
    for (const Assignment& said : object.properties) {
      properties[said.key] = said.value;
    }
    json["properties"] = std::move(properties);
    list.push_back(std::move(json));
  }
  return PrintJson(Json{{"objects", std::move(list)}});
}

std::string PolicyHistoryDocument(const std::vector<PolicyChangeView>& changes) {
  return PrintJson(Json{{"changes", ToJson(changes)}});
}

}  // namespace muster::cli

#include "cli/slurm/control/scontrol_show.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <thread>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/controller/address.h"
#include "cli/controller/query/job_query.h"
#include "cli/parse/array.h"
#include "cli/parse/selector.h"
#include "cli/sheet/job_table.h"
#include "cli/slurm/document/envelope.h"
#include "cli/slurm/document/job_document.h"
#include "cli/slurm/format/cell.h"
#include "cli/slurm/format/job_words.h"
#include "cli/slurm/frame/cluster.h"
#include "cli/slurm/frame/errors.h"
#include "cli/slurm/frame/watching.h"
#include "cli/slurm/frame/words.h"
#include "cli/slurm/nodes/node_document.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/model/job/job_state.h"

namespace muster::cli::slurm {
namespace {

constexpr std::size_t kConfigWidth = 23;
constexpr std::chrono::milliseconds kWaitPause{500};

std::string FirstWord(const ControlCall& call) {
  return call.words.empty() ? "" : call.words.front();
}

int FailLoad(const ControlCall& call, const char* what, const absl::Status& status) {
  return FailPlainly(call.call, absl::StrCat(what, " error: ", SlurmText(status)));
}

// Not on stderr: so does Slurm.
int NotFound(const ControlCall& call, const char* what, const std::string& name) {
  call.call.out << what << " " << Harmless(name, "") << " not found\n" << std::flush;
  return 1;
}

absl::StatusOr<std::vector<JobSelector>> AllLive(Connection& connection) {
  JobFilter filter;
  filter.fold = true;
  ASSIGN_OR_RETURN(const std::vector<JobView> jobs, connection.Call(ListJobs{filter}));
  std::vector<JobSelector> ids;
  for (const JobView& job : jobs) {
    const JobSelector selector{job.array_job_id, {}};
    if (ids.empty() || !(ids.back() == selector)) {
      ids.push_back(selector);
    }
  }
  return ids;
}

// What --json shows of jobs.
absl::StatusOr<std::string> JobsDocument(Connection& connection,
                                         const std::vector<JobDetail>& details,
                                         const ControlCall& call) {
  ASSIGN_OR_RETURN(const ClusterStatus status, connection.Call(Ping{}));
  ASSIGN_OR_RETURN(const NodeList nodes, connection.Call(ListNodes{{}, /*with_machine=*/false}));
  const JobDocumentScene scene{
      .cluster = status.cluster, .now = call.scene.now, .nodes = &nodes.nodes};
  std::vector<JobView> jobs;
  jobs.reserve(details.size());
  for (const JobDetail& detail : details) {
    jobs.push_back(detail.job);
  }
  Json entries = Json::array();
  for (const QueueLine& line : FoldQueue(jobs, /*fold=*/true)) {
    entries.push_back(QueuedJob(*line.job,
                                &details[static_cast<std::size_t>(line.job - jobs.data())],
                                line.elements, scene));
  }
  return SlurmDocument("jobs", std::move(entries), status.cluster);
}

int PrintDocument(const ControlCall& call, const char* what,
                  const absl::StatusOr<std::string>& document) {
  if (!document.ok()) {
    return FailLoad(call, what, document.status());
  }
  call.call.out << *document << std::flush;
  return 0;
}

std::string RecordsOf(const std::vector<JobDetail>& details, const ControlCall& call) {
  std::vector<JobView> jobs;
  jobs.reserve(details.size());
  for (const JobDetail& detail : details) {
    jobs.push_back(detail.job);
  }
  std::string page;
  for (const QueueLine& line : FoldQueue(jobs, /*fold=*/true)) {
    page += JobRecord(details[static_cast<std::size_t>(line.job - jobs.data())], line.elements,
                      call.scene);
  }
  return page;
}

int ShowAllJobs(const ControlCall& call, Connection& connection) {
  const absl::StatusOr<std::vector<JobSelector>> ids = AllLive(connection);
  if (!ids.ok()) {
    return FailLoad(call, "slurm_load_jobs", ids.status());
  }
  std::vector<JobDetail> all;
  for (const JobSelector& id : *ids) {
    absl::StatusOr<std::vector<JobDetail>> details = connection.Call(ShowJob{ById(id)});
    if (details.ok() && call.document) {
      std::move(details->begin(), details->end(), std::back_inserter(all));
    } else if (details.ok()) {
      call.call.out << RecordsOf(*details, call);
    }
  }
  if (call.document) {
    return PrintDocument(call, "slurm_load_jobs", JobsDocument(connection, all, call));
  }
  if (ids->empty()) {
    call.call.out << "No jobs in the system\n";
  }
  call.call.out << std::flush;
  return 0;
}

int ShowJobs(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!connection.ok()) {
    return FailLoad(call, "slurm_load_jobs", connection.status());
  }
  const std::string id = FirstWord(call);
  if (id.empty()) {
    return ShowAllJobs(call, **connection);
  }
  const absl::StatusOr<JobSelector> selector = ParseSelector(id);
  if (!selector.ok()) {
    return FailPlainly(call.call, "scontrol_print_job error: Invalid job id specified");
  }
  const absl::StatusOr<std::vector<JobDetail>> details =
      (*connection)->Call(ShowJob{ById(*selector)});
  if (!details.ok()) {
    return absl::IsNotFound(details.status()) && !selector->elements.empty()
               ? NotFound(call, "Job", id)
               : FailLoad(call, "slurm_load_jobs", details.status());
  }
  if (call.document) {
    return PrintDocument(call, "slurm_load_jobs", JobsDocument(**connection, *details, call));
  }
  call.call.out << RecordsOf(*details, call) << std::flush;
  return 0;
}

// "show step" without a name: those of all jobs.
int ShowAllSteps(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<std::vector<JobSelector>> ids =
      connection.ok() ? AllLive(**connection)
                      : absl::StatusOr<std::vector<JobSelector>>(connection.status());
  if (!ids.ok()) {
    return FailLoad(call, "slurm_get_job_steps", ids.status());
  }
  bool any = false;
  for (const JobSelector& id : *ids) {
    const absl::StatusOr<std::vector<JobDetail>> details = (*connection)->Call(ShowJob{ById(id)});
    for (const JobDetail& detail : details.ok() ? *details : std::vector<JobDetail>()) {
      for (const StepView& step : detail.steps) {
        if (IsRunning(step.state)) {
          call.call.out << StepRecord(detail, step, call.scene);
          any = true;
        }
      }
    }
  }
  call.call.out << (any ? "" : "No job steps in the system\n") << std::flush;
  return 0;
}

int ShowSteps(const ControlCall& call) {
  if (FirstWord(call).empty()) {
    return ShowAllSteps(call);
  }
  const absl::StatusOr<StepSelector> selector = ParseStepSelector(FirstWord(call));
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!selector.ok() || !connection.ok()) {
    return FailLoad(call, "slurm_get_job_steps",
                    selector.ok() ? connection.status() : absl::NotFoundError(""));
  }
  const absl::StatusOr<std::vector<JobDetail>> details =
      (*connection)->Call(ShowJob{ById(selector->job)});
  if (!details.ok()) {
    return FailLoad(call, "slurm_get_job_steps", details.status());
  }
  for (const JobDetail& detail : *details) {
    for (const StepView& step : detail.steps) {
      const bool wanted = !selector->step.has_value() || *selector->step == step.step;
      if (wanted && IsRunning(step.state)) {
        call.call.out << StepRecord(detail, step, call.scene);
      }
    }
  }
  call.call.out << std::flush;
  return 0;
}

// The nodes and the objects of one kind of policy.
struct Layout {
  std::string cluster;
  std::vector<NodeView> nodes;
  std::vector<PolicyView> objects;
};

absl::StatusOr<Layout> FetchLayout(const Call& call, PolicyKind kind, bool with_machine) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenCluster(call));
  Layout layout;
  ASSIGN_OR_RETURN(const ClusterStatus status, connection->Call(Ping{}));
  layout.cluster = status.cluster;
  ASSIGN_OR_RETURN(NodeList nodes, connection->Call(ListNodes{{}, with_machine}));
  layout.nodes = std::move(nodes.nodes);
  ASSIGN_OR_RETURN(layout.objects, connection->Call(ListPolicy{{kind}}));
  return layout;
}

int ShowNodes(const ControlCall& call) {
  const absl::StatusOr<Layout> layout = FetchLayout(call.call, PolicyKind::kPartition, true);
  if (!layout.ok()) {
    return FailLoad(call, "slurm_load_node", layout.status());
  }
  std::vector<std::string> wanted;
  if (const std::string list = FirstWord(call); !list.empty()) {
    const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(list);
    wanted = names.ok() ? *names : std::vector<std::string>{list};
  } else {
    for (const NodeView& node : layout->nodes) {
      wanted.push_back(node.name);
    }
  }
  int code = 0;
  Json entries = Json::array();
  for (const std::string& name : wanted) {
    const auto node = std::find_if(layout->nodes.begin(), layout->nodes.end(),
                                   [&name](const NodeView& each) { return each.name == name; });
    if (node == layout->nodes.end()) {
      code = NotFound(call, "Node", name);
    } else if (call.document) {
      entries.push_back(NodeEntry(*node, layout->objects));
    } else {
      call.call.out << NodeRecord(*node, layout->objects, call.scene);
    }
  }
  if (call.document && code == 0) {
    call.call.out << SlurmDocument("nodes", std::move(entries), layout->cluster);
  }
  call.call.out << std::flush;
  return code;
}

int ShowPartitions(const ControlCall& call) {
  const absl::StatusOr<Layout> layout = FetchLayout(call.call, PolicyKind::kPartition, false);
  if (!layout.ok()) {
    return FailLoad(call, "slurm_load_partitions", layout.status());
  }
  const std::string name = FirstWord(call);
  bool found = name.empty();
  Json entries = Json::array();
  for (const PolicyView& partition : layout->objects) {
    if (name.empty() || partition.name == name) {
      found = true;
      if (call.document) {
        entries.push_back(PartitionEntry(partition, layout->nodes));
      } else {
        call.call.out << PartitionRecord(partition, layout->nodes, call.scene);
      }
    }
  }
  if (call.document && found) {
    call.call.out << SlurmDocument("partitions", std::move(entries), layout->cluster);
  }
  call.call.out << std::flush;
  return found ? 0 : NotFound(call, "Partition", name);
}

int ShowReservations(const ControlCall& call) {
  const absl::StatusOr<Layout> layout = FetchLayout(call.call, PolicyKind::kReservation, false);
  if (!layout.ok()) {
    return FailLoad(call, "slurm_load_reservations", layout.status());
  }
  const std::string name = FirstWord(call);
  bool found = false;
  Json entries = Json::array();
  for (const PolicyView& reservation : layout->objects) {
    if (name.empty() || reservation.name == name) {
      found = true;
      if (call.document) {
        entries.push_back(ReservationEntry(reservation));
      } else {
        call.call.out << ReservationRecord(reservation, call.scene);
      }
    }
  }
  if (call.document && (found || name.empty())) {
    call.call.out << SlurmDocument("reservations", std::move(entries), layout->cluster)
                  << std::flush;
    return 0;
  }
  if (!found && !name.empty()) {
    return NotFound(call, "Reservation", name);
  }
  call.call.out << (found ? "" : "No reservations in the system\n") << std::flush;
  return 0;
}

int ShowLicenses(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<ClusterStatus> status =
      connection.ok() ? (*connection)->Call(Ping{})
                      : absl::StatusOr<ClusterStatus>(connection.status());
  if (!status.ok()) {
    return FailLoad(call, "slurm_load_licenses", status.status());
  }
  const std::string name = FirstWord(call);
  std::string page;
  Json entries = Json::array();
  for (const LicenseState& license : status->licenses) {
    if (name.empty() || license.name == name) {
      page += LicenseRecord(license, call.scene);
      entries.push_back({{"LicenseName", license.name},
                         {"Total", license.total},
                         {"Used", license.used},
                         {"Free", license.total - std::min(license.total, license.used)},
                         {"Remote", false},
                         {"Reserved", 0}});
    }
  }
  if (page.empty() && !name.empty()) {
    return NotFound(call, "License", name);
  }
  call.call.out << (call.document  ? SlurmDocument("licenses", std::move(entries), status->cluster)
                    : page.empty() ? "No licenses configured in Slurm.\n"
                                   : page)
                << std::flush;
  return 0;
}

// "users=a,b accounts=c qos=d flags=assoc". False: there is no such filter.
bool ReadFilter(const std::vector<std::string>& words, AssociationFilter* filter) {
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const std::string key = absl::AsciiStrToLower(word.substr(0, equals));
    std::vector<std::string>* const list = absl::StartsWith(key, "user")      ? &filter->users
                                           : absl::StartsWith(key, "account") ? &filter->accounts
                                           : key == "qos"                     ? &filter->qos
                                           : absl::StartsWith(key, "flag")    ? &filter->parts
                                                                              : nullptr;
    if (equals == std::string::npos || list == nullptr) {
      return false;
    }
    *list = SplitCommas(word.substr(equals + 1));
  }
  return std::all_of(filter->parts.begin(), filter->parts.end(), [](const std::string& part) {
    return part == "users" || part == "assoc" || part == "qos";
  });
}

int ShowAssociations(const ControlCall& call) {
  AssociationFilter filter;
  if (!ReadFilter(call.words, &filter)) {
    return FailPlainly(
        call.call,
        absl::StrCat("invalid option for assoc_mgr: ", Harmless(absl::StrJoin(call.words, " "), ""),
                     ": use users=, accounts=, qos= or flags=", "users,assoc,qos"));
  }
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<ClusterStatus> status =
      connection.ok() ? (*connection)->Call(Ping{})
                      : absl::StatusOr<ClusterStatus>(connection.status());
  const absl::StatusOr<std::vector<PolicyView>> objects =
      status.ok() ? (*connection)
                        ->Call(ListPolicy{
                            {PolicyKind::kAccount, PolicyKind::kAssociation, PolicyKind::kQos}})
                  : absl::StatusOr<std::vector<PolicyView>>(status.status());
  if (!objects.ok()) {
    return FailLoad(call, "slurm_load_assoc_mgr_info", objects.status());
  }
  call.call.out << AssociationPage(*objects, status->cluster, filter, call.scene) << std::flush;
  return 0;
}

int ShowHostNames(const ControlCall& call) {
  std::string list = FirstWord(call);
  if (call.words.empty()) {
    list = call.call.environment.Get("SLURM_NODELIST");
    if (list.empty()) {
      list = call.call.environment.Get("SLURM_JOB_NODELIST");
    }
    if (list.empty()) {
      return Fail(call.call, "host list is empty");
    }
  }
  const absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(list);
  if (!names.ok()) {
    return FailPlainly(call.call, absl::StrCat("Invalid hostlist: ", list));
  }
  call.call.out << absl::StrJoin(*names, "\n") << "\n" << std::flush;
  return 0;
}

// "n[1-3,7]" of "n1,n2,n3,n7".
int Fold(const ControlCall& call, bool sorted) {
  if (call.words.empty()) {
    return Fail(call.call, "host list is empty");
  }
  absl::StatusOr<std::vector<std::string>> names = ExpandHostlist(FirstWord(call));
  if (!names.ok()) {
    return FailPlainly(call.call, absl::StrCat("Invalid hostlist: ", FirstWord(call)));
  }
  if (sorted) {
    std::sort(names->begin(), names->end());
  }
  call.call.out << CompressHostlist(*names) << "\n" << std::flush;
  return 0;
}
int ShowHostList(const ControlCall& call) {
  return Fold(call, false);
}
int ShowSortedHostList(const ControlCall& call) {
  return Fold(call, true);
}

// Where the controller is: here, where its socket is a file; else as its address says.
std::string HostOfController(const Call& call) {
  const absl::StatusOr<Address> address = ControllerAddress("", "", call.environment);
  if (address.ok() && !IsLocal(*address)) {
    return address->host;
  }
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return host.data();
}

// What Slurm has and Muster has not: none of it.
int ShowNone(const ControlCall&) {
  return 0;
}

int ShowConfig(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const absl::StatusOr<ClusterStatus> status =
      connection.ok() ? (*connection)->Call(Ping{})
                      : absl::StatusOr<ClusterStatus>(connection.status());
  if (!status.ok()) {
    return FailLoad(call, "slurm_load_ctl_conf", status.status());
  }
  call.call.out << "Configuration data as of " << call.scene.clock.Text(call.scene.now, "Unknown")
                << "\n";
  const std::vector<std::pair<const char*, std::string>> settings = {
      // By this name tools know that sacct answers, which it always does.
      {"AccountingStorageType", "accounting_storage/slurmdbd"},
      {"AcctGatherNodeFreq", "0 sec"},
      {"ClusterName", status->cluster},
      {"MaxArraySize", absl::StrCat(kArrayIndexMax + 1)},
      {"MaxNodeCount", absl::StrCat(status->nodes)},
      {"MinJobAge", absl::StrCat(kMinJobAge.count(), " sec")},
      // Tools ask no more often than this; nothing here depends on it.
      {"SchedulerTimeSlice", "30 sec"},
      {"SLURM_VERSION", kSlurmVersion},
      {"SlurmctldHost[0]", HostOfController(call.call)}};
  for (const auto& [name, value] : settings) {
    call.call.out << InSlot(name, {.width = kConfigWidth}) << " = " << value << "\n";
  }
  call.call.out << "\nSlurmctld(primary) at " << HostOfController(call.call) << " is UP\n"
                << std::flush;
  return 0;
}

constexpr ControlCommand kEntities[] = {
    {"aliases", 2, 0, ShowNone},
    {"assoc_mgr", 2, 0, ShowAssociations},
    {"bbstat", 2, 0, ShowNone},
    {"burstbuffer", 2, 0, ShowNone},
    {"config", 1, 0, ShowConfig},
    {"federation", 2, 0, ShowNone},
    {"hostnames", 5, 0, ShowHostNames},
    {"hostlist", 5, 0, ShowHostList},
    {"hostlistsorted", 9, 0, ShowSortedHostList},
    {"jobs", 1, 0, ShowJobs},
    {"jobid", 4, 0, ShowJobs},
    {"licenses", 1, 0, ShowLicenses},
    {"nodes", 1, 0, ShowNodes},
    {"partitions", 1, 0, ShowPartitions},
    {"reservations", 1, 0, ShowReservations},
    {"steps", 2, 0, ShowSteps},
};

}  // namespace

const ControlCommand* FindControlCommand(std::span<const ControlCommand> commands,
                                         std::string_view word) {
  const std::string lower = absl::AsciiStrToLower(std::string(word));
  const auto found =
      std::find_if(commands.begin(), commands.end(), [&lower](const ControlCommand& command) {
        return lower.size() >= command.least && absl::StartsWith(command.name, lower);
      });
  return found == commands.end() ? nullptr : &*found;
}

int ShowEntity(const ControlCall& call) {
  if (call.words.empty()) {
    return FailPlainly(call.call, "too few arguments for keyword:show");
  }
  // "show job=7" is "show job 7".
  ControlCall rest = call;
  const std::string entity = call.words.front();
  const std::size_t equals = std::min(entity.find('='), entity.size());
  rest.words.erase(rest.words.begin());
  if (equals < entity.size()) {
    rest.words.insert(rest.words.begin(), entity.substr(equals + 1));
  }
  const ControlCommand* command = FindControlCommand(kEntities, entity.substr(0, equals));
  if (command == nullptr) {
    return FailPlainly(call.call, absl::StrCat("invalid entity:", entity, " for keyword:show "));
  }
  return command->run(rest);
}

int PingController(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  const bool up = connection.ok() && (*connection)->Call(Ping{}).ok();
  if (call.document) {
    call.call.out << SlurmDocument("pings",
                                   Json::array({{{"hostname", HostOfController(call.call)},
                                                 {"pinged", up ? "UP" : "DOWN"},
                                                 {"mode", "primary"}}}),
                                   "")
                  << std::flush;
    return up ? 0 : 1;
  }
  call.call.out << "Slurmctld(primary) at " << HostOfController(call.call) << " is "
                << (up ? "UP" : "DOWN") << "\n"
                << std::flush;
  return up ? 0 : 1;
}

int ShowCompleting(const ControlCall& call) {
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  JobFilter ending;
  ending.states = {Name(JobState::kCompleting)};
  const absl::StatusOr<std::vector<JobView>> jobs =
      connection.ok() ? (*connection)->Call(ListJobs{ending})
                      : absl::StatusOr<std::vector<JobView>>(connection.status());
  if (!jobs.ok()) {
    return FailLoad(call, "slurm_load_jobs", jobs.status());
  }
  for (const JobView& job : *jobs) {
    call.call.out << "JobId=" << job.label << " Nodes(COMPLETING)=" << CompressHostlist(job.nodes)
                  << "\n";
  }
  call.call.out << std::flush;
  return 0;
}

int WaitForJob(const ControlCall& call) {
  const absl::StatusOr<JobSelector> selector = ParseSelector(FirstWord(call));
  const absl::StatusOr<std::unique_ptr<Connection>> connection = OpenCluster(call.call);
  if (!connection.ok()) {
    return FailPlainly(call.call, absl::StrCat("scontrol: ", SlurmText(connection.status())));
  }
  while (selector.ok()) {
    const absl::StatusOr<std::vector<JobDetail>> details =
        (*connection)->Call(ShowJob{ById(*selector)});
    if (!details.ok() || details->empty()) {
      break;
    }
    const JobView& job = details->front().job;
    if (IsTerminal(job.state)) {
      return FailPlainly(call.call,
                         absl::StrCat("scontrol: Job ", FirstWord(call), " no longer running"));
    }
    if (IsRunning(job.state)) {
      return 0;
    }
    std::this_thread::sleep_for(kWaitPause);
  }
  return FailPlainly(call.call, absl::StrCat("scontrol: Problem running job ", FirstWord(call)));
}

}  // namespace muster::cli::slurm

// The records of nodes, partitions and reservations.

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "cli/slurm/control/record_text.h"
#include "cli/slurm/control/records.h"
#include "cli/slurm/nodes/node_words.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/size_text.h"

namespace muster::cli::slurm {
namespace {

std::string PartitionsOf(const NodeView& node, const std::vector<PolicyView>& partitions) {
  std::vector<std::string> names;
  for (const PolicyView& partition : partitions) {
    if (Members(partition).Has(node.name)) {
      names.push_back(partition.name);
    }
  }
  return absl::StrJoin(names, ",");
}

std::string TresOf(std::uint64_t cpus, std::uint64_t mebibytes, std::uint64_t gpus) {
  std::string text = cpus == 0 ? "" : absl::StrCat("cpu=", cpus);
  if (mebibytes > 0) {
    absl::StrAppend(&text, text.empty() ? "" : ",",
                    "mem=", SlurmSizeText((kMebibyte * mebibytes).value()));
  }
  if (gpus > 0) {
    absl::StrAppend(&text, ",gres/gpu=", gpus);
  }
  return text;
}

// ",gres/scratch=4" of countable things.
std::string GresTres(const GresList& list) {
  std::string text;
  for (const GresCount& gres : list) {
    absl::StrAppend(&text, ",gres/", gres.name, "=", gres.count);
  }
  return text;
}

std::string Limit(const PolicyView& partition, const char* name, const char* none) {
  const std::string limit = absl::AsciiStrToUpper(Property(partition, name, none));
  return limit == "INFINITE" ? "UNLIMITED" : limit;
}

}  // namespace

std::string NodeRecord(const NodeView& node, const std::vector<PolicyView>& partitions,
                       const RecordScene& scene) {
  const NodeShape shape = ShapeOf(node);
  const std::string features = OneWord(absl::StrJoin(node.features, ","));
  const std::uint64_t memory = node.memory.value() / kMebibyte.value();
  const std::uint64_t taken = node.memory_taken.value() / kMebibyte.value();
  std::vector<std::string> lines = {
      absl::StrCat("NodeName=", node.name, " CoresPerSocket=", shape.cores),
      absl::StrCat("CPUAlloc=", node.cpus_taken, " CPUEfctv=", node.cpus, " CPUTot=", node.cpus,
                   " CPULoad=N/A"),
      absl::StrCat("AvailableFeatures=", features),
      absl::StrCat("ActiveFeatures=", features),
      absl::StrCat("Gres=", OneWord(NodeGres(node))),
      absl::StrCat("NodeAddr=", node.name, " NodeHostName=", OneWord(node.hostname)),
      absl::StrCat("RealMemory=", memory, " AllocMem=", taken,
                   " FreeMem=N/A Sockets=", shape.sockets, " Boards=1"),
      absl::StrCat("State=", UpperState(node), " ThreadsPerCore=", shape.threads,
                   " TmpDisk=", node.machine.tmp.value() / kMebibyte.value(),
                   " Weight=", node.weight, " Owner=N/A MCS_label=N/A"),
      absl::StrCat("Partitions=", OneWord(PartitionsOf(node, partitions))),
      "BootTime=Unknown SlurmdStartTime=Unknown",
      "LastBusyTime=Unknown ResumeAfterTime=None",
      absl::StrCat("CfgTRES=", TresOf(node.cpus, memory, node.gpus), GresTres(node.gres),
                   ",billing=", node.cpus),
      absl::StrCat("AllocTRES=", TresOf(node.cpus_taken, taken, node.gpus_taken),
                   GresTres(node.gres_taken))};
  if (!node.reason.empty()) {
    lines.push_back(absl::StrCat("Reason=", OneWord(node.reason)));
  }
  return JoinRecord(lines, scene.one_line);
}

std::string PartitionRecord(const PolicyView& partition, const std::vector<NodeView>& nodes,
                            const RecordScene& scene) {
  const Members members(partition);
  std::vector<std::string> names;
  std::uint64_t cpus = 0;
  std::uint64_t memory = 0;
  std::uint64_t gpus = 0;
  for (const NodeView& node : nodes) {
    if (members.Has(node.name)) {
      names.push_back(node.name);
      cpus += node.cpus;
      memory += node.memory.value() / kMebibyte.value();
      gpus += node.gpus;
    }
  }
  const auto word = [&partition](const char* name, const char* none) {
    return OneWord(Property(partition, name, none));
  };
  return JoinRecord(
      {absl::StrCat("PartitionName=", partition.name),
       absl::StrCat("AllowGroups=ALL AllowAccounts=", word("AllowAccounts", "ALL"),
                    " AllowQos=", word("AllowQos", "ALL")),
       absl::StrCat("AllocNodes=ALL Default=", IsDefaultPartition(partition) ? "YES" : "NO",
                    " QoS=", word("QoS", "N/A")),
       absl::StrCat("DefaultTime=", word("DefaultTime", "NONE"),
                    " DisableRootJobs=NO ExclusiveUser=NO GraceTime=0 Hidden=NO"),
       absl::StrCat("MaxNodes=", Limit(partition, "MaxNodes", "UNLIMITED"),
                    " MaxTime=", Limit(partition, "MaxTime", "UNLIMITED"),
                    " MinNodes=", word("MinNodes", "0"), " LLN=NO MaxCPUsPerNode=UNLIMITED"),
       absl::StrCat("Nodes=", OneWord(CompressHostlist(names))),
       absl::StrCat("PriorityJobFactor=", word("PriorityJobFactor", "1"), " PriorityTier=",
                    word("PriorityTier", "1"), " RootOnly=NO ReqResv=NO OverSubscribe=",
                    word("Exclusive", "NO") == "YES" ? "EXCLUSIVE" : "NO"),
       absl::StrCat("OverTimeLimit=NONE PreemptMode=", word("PreemptMode", "OFF")),
       absl::StrCat("State=", partition.state.empty() ? "UP" : partition.state, " TotalCPUs=", cpus,
                    " TotalNodes=", names.size(), " SelectTypeParameters=NONE"),
       "JobDefaults=(null)", "DefMemPerNode=UNLIMITED MaxMemPerNode=UNLIMITED",
       absl::StrCat("TRES=", TresOf(cpus, memory, gpus), ",node=", names.size(),
                    ",billing=", cpus)},
      scene.one_line);
}

std::string ReservationRecord(const PolicyView& reservation, const RecordScene& scene) {
  const auto word = [&reservation](const char* name, const char* none) {
    return OneWord(Property(reservation, name, none));
  };
  return JoinRecord(
      {absl::StrCat("ReservationName=", reservation.name,
                    " StartTime=", word("StartTime", "Unknown"),
                    " EndTime=", word("EndTime", "Unknown"), " Duration=", word("Duration", "N/A")),
       absl::StrCat("Nodes=", word("Nodes", "ALL"), " NodeCnt=", reservation.nodes,
                    " CoreCnt=0 Features=(null) PartitionName=(null) Flags=", word("Flags", "")),
       absl::StrCat("Users=", word("Users", ""), " Groups=(null) Accounts=", word("Accounts", ""),
                    " Licenses=(null) State=", reservation.state, " BurstBuffer=(null) Watts=n/a"),
       "MaxStartDelay=(null)"},
      scene.one_line);
}

}  // namespace muster::cli::slurm

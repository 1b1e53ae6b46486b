#include "agent/supervisor/pmix/pmix_job_info.h"

#include <pmix.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

namespace muster::agent {
namespace {

struct FreeText {
  void operator()(char* text) const { std::free(text); }
};
using PmixText = std::unique_ptr<char, FreeText>;

struct FreeCpuset {
  void operator()(pmix_cpuset_t* cpuset) const { PMIx_Cpuset_destruct(cpuset); }
};

std::string Join(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (const std::string& part : parts) {
    text += (&part == parts.data() ? "" : std::string(1, separator)) + part;
  }
  return text;
}

std::string JoinRanks(const std::vector<uint32_t>& ranks) {
  std::vector<std::string> parts;
  parts.reserve(ranks.size());
  for (const uint32_t rank : ranks) {
    parts.push_back(std::to_string(rank));
  }
  return Join(parts, ',');
}

// The two maps that tell every rank where every other one lives.
void AddMaps(const PmixJob& job, InfoList& info) {
  char* nodes = nullptr;
  pmix_status_t status = PMIx_generate_regex(Join(job.nodes, ',').c_str(), &nodes);
  const PmixText nodes_owner(nodes);
  CheckPmix("PMIx_generate_regex", status);
  info.AddMap(PMIX_NODE_MAP, nodes);

  std::vector<std::string> ranks;
  for (uint32_t node = 0; node < job.nodes.size(); ++node) {
    ranks.push_back(JoinRanks(job.RanksOf(node)));
  }
  char* map = nullptr;
  status = PMIx_generate_ppn(Join(ranks, ';').c_str(), &map);
  const PmixText map_owner(map);
  CheckPmix("PMIx_generate_ppn", status);
  info.AddMap(PMIX_PROC_MAP, map);
}

void AddJobKeys(const PmixJob& job, InfoList& info) {
  const auto size = static_cast<uint32_t>(job.node_of_rank.size());
  info.AddString(PMIX_JOBID, job.nspace);
  info.AddNumber(PMIX_JOB_SIZE, size);
  info.AddNumber(PMIX_MAX_PROCS, size);
  info.AddNumber(PMIX_UNIV_SIZE, std::max(job.universe_size, size));
  info.AddNumber(PMIX_JOB_NUM_APPS, 1);
  info.AddNumber(PMIX_NUM_NODES, static_cast<uint32_t>(job.nodes.size()));
  info.AddString(PMIX_TMPDIR, job.directory);
  info.AddString(PMIX_NSDIR, job.directory);
  info.AddFlag(PMIX_TDIR_RMCLEAN, true);

  InfoList app;
  app.AddNumber(PMIX_APPNUM, 0);
  app.AddNumber(PMIX_APP_SIZE, size);
  app.AddRank(PMIX_APPLDR, 0);
  info.AddList(PMIX_APP_INFO_ARRAY, std::move(app));
}

// Local size, peers and leader of a node; this node's are given at job level too, where Open MPI
// 4.1 looks first.
void AddLocalKeys(const PmixJob& job, uint32_t node, InfoList& info) {
  const std::vector<uint32_t> local = job.RanksOf(node);
  const auto local_size = static_cast<uint32_t>(local.size());
  info.AddNumber(PMIX_LOCAL_SIZE, local_size);
  info.AddNumber(PMIX_NODE_SIZE, local_size);
  info.AddString(PMIX_LOCAL_PEERS, JoinRanks(local));
  info.AddRank(PMIX_LOCALLDR, local.front());
}

void AddNodeKeys(const PmixJob& job, InfoList& info) {
  for (uint32_t index = 0; index < job.nodes.size(); ++index) {
    InfoList node;
    node.AddString(PMIX_HOSTNAME, job.nodes[index]);
    node.AddNumber(PMIX_NODEID, index);
    AddLocalKeys(job, index, node);
    info.AddList(PMIX_NODE_INFO_ARRAY, std::move(node));
  }
}

// Where on the machine a rank bound to `cpus` sits; nothing is added when this cannot be told, in
// which case Open MPI only knows that the rank is on this node.
void AddLocality(const std::string& cpus, InfoList& proc) {
  std::string named = "hwloc:" + cpus;  // libpmix writes into it while it reads
  pmix_cpuset_t cpuset = {};
  if (cpus.empty() || PMIx_Parse_cpuset_string(named.data(), &cpuset) != PMIX_SUCCESS) {
    return;
  }
  const std::unique_ptr<pmix_cpuset_t, FreeCpuset> owner_of_set(&cpuset);
  char* text = nullptr;
  if (PMIx_server_generate_cpuset_string(&cpuset, &text) == PMIX_SUCCESS && text != nullptr) {
    const PmixText owner(text);
    proc.AddString(PMIX_CPUSET, text);
  }
  text = nullptr;
  if (PMIx_server_generate_locality_string(&cpuset, &text) == PMIX_SUCCESS && text != nullptr) {
    const PmixText owner(text);
    proc.AddString(PMIX_LOCALITY_STRING, text);
  }
}

void AddRankKeys(const PmixJob& job, InfoList& info) {
  std::vector<uint32_t> next_local(job.nodes.size(), 0);
  for (uint32_t rank = 0; rank < job.node_of_rank.size(); ++rank) {
    const uint32_t node = job.node_of_rank[rank];
    const uint32_t local = next_local[node]++;
    InfoList proc;
    proc.AddRank(PMIX_RANK, rank);
    proc.AddNumber(PMIX_APPNUM, 0);
    proc.AddRank(PMIX_APP_RANK, rank);
    proc.AddRank(PMIX_GLOBAL_RANK, rank);
    proc.AddShort(PMIX_LOCAL_RANK, local);
    proc.AddShort(PMIX_NODE_RANK, local);
    proc.AddNumber(PMIX_NODEID, node);
    proc.AddString(PMIX_HOSTNAME, job.nodes[node]);
    if (node == job.node_index) {
      proc.AddString(PMIX_PROCDIR, job.RankDirectory(rank));
      AddLocality(job.local_cpusets[local], proc);
    }
    info.AddList(PMIX_PROC_INFO_ARRAY, std::move(proc));
  }
}

}  // namespace

std::vector<uint32_t> PmixJob::RanksOf(uint32_t node) const {
  std::vector<uint32_t> ranks;
  for (uint32_t rank = 0; rank < node_of_rank.size(); ++rank) {
    if (node_of_rank[rank] == node) {
      ranks.push_back(rank);
    }
  }
  return ranks;
}

std::string PmixJob::RankDirectory(uint32_t rank) const {
  return directory + "/" + std::to_string(rank);
}

InfoList::~InfoList() {
  for (pmix_info_t& info : infos_) {
    PMIX_INFO_DESTRUCT(&info);
  }
}

InfoList::InfoList(InfoList&& other) noexcept : infos_(std::move(other.infos_)) {
  other.infos_.clear();
}

void InfoList::Add(const char* key, const void* value, pmix_data_type_t type) {
  pmix_info_t info;
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_INFO_LOAD(&info, key, value, type);
  infos_.push_back(info);
}

void InfoList::AddString(const char* key, const std::string& value) {
  Add(key, value.c_str(), PMIX_STRING);
}

void InfoList::AddNumber(const char* key, uint32_t value) {
  Add(key, &value, PMIX_UINT32);
}

void InfoList::AddShort(const char* key, uint32_t value) {
  const auto narrow = static_cast<uint16_t>(value);
  Add(key, &narrow, PMIX_UINT16);
}

void InfoList::AddRank(const char* key, uint32_t value) {
  const pmix_rank_t rank = value;
  Add(key, &rank, PMIX_PROC_RANK);
}

void InfoList::AddFlag(const char* key, bool value) {
  Add(key, &value, PMIX_BOOL);
}

void InfoList::AddMap(const char* key, const char* map) {
  Add(key, map, PMIX_REGEX);
}

void InfoList::AddList(const char* key, InfoList entries) {
  // libpmix frees both blocks with the list, by std::free.
  const size_t count = entries.infos_.size();
  auto* array = static_cast<pmix_data_array_t*>(std::calloc(1, sizeof(pmix_data_array_t)));
  auto* copies = static_cast<pmix_info_t*>(std::calloc(count, sizeof(pmix_info_t)));
  if (array == nullptr || copies == nullptr) {
    std::free(array);
    std::free(copies);
    throw std::bad_alloc();
  }
  std::copy(entries.infos_.begin(), entries.infos_.end(), copies);
  array->type = PMIX_INFO;
  array->size = count;
  array->array = copies;

  pmix_info_t info;
  PMIX_INFO_CONSTRUCT(&info);
  PMIX_LOAD_KEY(info.key, key);
  info.value.type = PMIX_DATA_ARRAY;
  info.value.data.darray = array;
  entries.infos_.clear();
  infos_.push_back(info);
}

void CheckPmix(const std::string& what, pmix_status_t status) {
  if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
    throw std::runtime_error(what + ": " + PMIx_Error_string(status));
  }
}

InfoList BuildJobInfo(const PmixJob& job) {
  InfoList info;
  AddJobKeys(job, info);
  AddMaps(job, info);
  AddLocalKeys(job, job.node_index, info);
  AddNodeKeys(job, info);
  AddRankKeys(job, info);
  return info;
}

}  // namespace muster::agent

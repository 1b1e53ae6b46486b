#pragma once

// What a PMIx server tells the ranks of one job step about their job, nodes and peers, as PMIx's
// own arrays. Thread promise: values, no sharing; BuildJobInfo may be called from any one thread.
// Invariants: an InfoList owns what it holds; every rank has an entry in node_of_rank; local ranks
// ascend.

#include <pmix_server.h>

#include <cstdint>
#include <string>
#include <vector>

namespace muster::agent {

// One job step as the PMIx server sees it.
struct PmixJob {
  std::string nspace;
  std::vector<std::string> nodes;
  uint32_t node_index = 0;
  std::vector<uint32_t> node_of_rank;
  uint32_t universe_size = 0;
  std::vector<std::string> local_cpusets;
  // The session directory of the step on this node; ranks have one each below it, named by their
  // number.
  std::string directory;
  // A directory that goes with the step; "": none.
  std::string segments;

  // The ranks of `node`, ascending.
  std::vector<uint32_t> RanksOf(uint32_t node) const;
  // The session directory of `rank`.
  std::string RankDirectory(uint32_t rank) const;
};

// A growing list of PMIx key-value pairs.
class InfoList {
 public:
  InfoList() = default;
  ~InfoList();
  InfoList(InfoList&& other) noexcept;
  InfoList& operator=(InfoList&&) = delete;
  InfoList(const InfoList&) = delete;
  InfoList& operator=(const InfoList&) = delete;

  void AddString(const char* key, const std::string& value);
  void AddNumber(const char* key, uint32_t value);
  void AddShort(const char* key, uint32_t value);
  void AddRank(const char* key, uint32_t value);
  void AddFlag(const char* key, bool value);
  // A node or process map as PMIx_generate_regex and PMIx_generate_ppn make it.
  void AddMap(const char* key, const char* map);
  // Nests `entries` under `key`.
  void AddList(const char* key, InfoList entries);

  pmix_info_t* data() { return infos_.data(); }
  size_t size() const { return infos_.size(); }

 private:
  void Add(const char* key, const void* value, pmix_data_type_t type);

  std::vector<pmix_info_t> infos_;
};

// Throws std::runtime_error, which says what was asked and libpmix's answer, unless it succeeded.
void CheckPmix(const std::string& what, pmix_status_t status);

// All keys of the namespace: job, application, node and rank level. Throws std::runtime_error when
// PMIx cannot encode a map.
InfoList BuildJobInfo(const PmixJob& job);

}  // namespace muster::agent

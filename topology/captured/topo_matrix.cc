#include "topology/captured/topo_matrix.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "topology/captured/fabric_name.h"

namespace muster::topology {
namespace {

constexpr std::uint32_t kLaneBandwidth = 25'000;  // MB/s
constexpr std::uint32_t kDevicesMax = 1024;

using Words = std::vector<std::string>;

// The words of a line without the escapes that underline the header.
Words WordsOf(std::string_view line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      i = std::min(line.find('m', i), line.size() - 1);
    } else {
      plain.push_back(line[i]);
    }
  }
  return absl::StrSplit(plain, absl::ByAnyChar(" \t\r"), absl::SkipEmpty());
}

std::optional<std::uint32_t> NumberAfter(std::string_view prefix, std::string_view word) {
  std::uint32_t number = 0;
  if (!absl::StartsWith(absl::string_view(word.data(), word.size()),
                        absl::string_view(prefix.data(), prefix.size()))) {
    return std::nullopt;
  }
  const char* end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data() + prefix.size(), end, number);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

bool IsHeader(const Words& words) {
  return !words.empty() && NumberAfter("GPU", words.front()).has_value() &&
         (words.size() == 1 || words[1] == "CPU" ||
          (words[1] != "X" && words[1].find_first_of("0123456789") != std::string::npos &&
           !NumberAfter("NV", words[1]).has_value()));
}

// "NV18", "PIX"; nothing for another word.
std::optional<DeviceLink> ReadCell(const std::string& word) {
  DeviceLink link;
  if (const std::optional<std::uint32_t> lanes = NumberAfter("NV", word)) {
    link.kind = LinkKind::kNvLink;
    link.lanes = *lanes;
    link.bandwidth = std::uint64_t{*lanes} * kLaneBandwidth;
    return *lanes > 0 ? std::optional(link) : std::nullopt;
  }
  for (const LinkKind kind : {LinkKind::kSystem, LinkKind::kNode, LinkKind::kHostBridge,
                              LinkKind::kBridges, LinkKind::kSwitch}) {
    if (word == Name(kind)) {
      link.kind = kind;
      return link;
    }
  }
  return std::nullopt;
}

class TableReader {
 public:
  explicit TableReader(const std::string& name) { matrix_.source = name; }

  absl::StatusOr<TopoMatrix> Read(const std::string& text) {
    for (const absl::string_view line : absl::StrSplit(text, '\n')) {
      ++line_;
      RETURN_IF_ERROR(Take(WordsOf(std::string_view(line.data(), line.size()))));
    }
    if (columns_.empty()) {
      return Error(1, "no table of nvidia-smi topo -m here: it begins with GPU0");
    }
    for (const std::string& column : columns_) {
      if (rows_.count(column) == 0) {
        return Error(line_, absl::StrCat("there is no row for ", EscapeControl(column),
                                         ": is the table cut short?"));
      }
    }
    TakeLinks();
    return std::move(matrix_);
  }

 private:
  struct Row {
    std::vector<DeviceLink> cells;  // by column; kUnknown for the device itself
  };

  absl::Status Error(std::size_t line, const std::string& what) const {
    return absl::InvalidArgumentError(absl::StrCat(matrix_.source, ":", line, ": ", what));
  }

  absl::Status Take(const Words& words) {
    if (words.empty()) {
      return absl::OkStatus();
    }
    if (columns_.empty()) {
      return IsHeader(words) ? TakeHeader(words) : absl::OkStatus();
    }
    if (words.front() == "Legend:" || words.front() == "NIC") {
      legend_ = true;
      return absl::OkStatus();
    }
    return legend_ ? TakeLegend(words) : TakeRow(words);
  }

  absl::Status TakeHeader(const Words& words) {
    for (const std::string& word : words) {
      if (word == "CPU") {
        break;
      }
      if (std::find(columns_.begin(), columns_.end(), word) != columns_.end()) {
        return Error(line_, absl::StrCat("two columns are called ", EscapeControl(word)));
      }
      if (columns_.size() == kDevicesMax) {
        return Error(line_, absl::StrCat("more than ", kDevicesMax, " devices"));
      }
      columns_.push_back(word);
      const std::optional<std::uint32_t> number = NumberAfter("GPU", word);
      place_.push_back(number.has_value() ? matrix_.gpus.size() : matrix_.nics.size());
      is_gpu_.push_back(number.has_value());
      if (number.has_value()) {
        matrix_.gpus.push_back({*number, {}, std::nullopt});
      } else {
        matrix_.nics.push_back(word);
      }
    }
    return absl::OkStatus();
  }

  absl::Status TakeRow(const Words& words) {
    const auto column = std::find(columns_.begin(), columns_.end(), words.front());
    if (column == columns_.end()) {
      return Error(line_, absl::StrCat("row \"", EscapeControl(words.front()),
                                       "\" is no column of the table"));
    }
    const auto own = static_cast<std::size_t>(column - columns_.begin());
    if (words.size() < columns_.size() + 1) {
      return Error(line_, absl::StrCat("the row of ", words.front(), " has ", words.size() - 1,
                                       " cells for ", columns_.size(), " columns"));
    }
    Row row;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string& word = words[i + 1];
      const std::optional<DeviceLink> link = ReadCell(word);
      if ((word == "X") != (i == own) || (i != own && !link.has_value())) {
        return Error(
            line_, absl::StrCat("\"", EscapeControl(word), "\" between ", words.front(), " and ",
                                columns_[i], " is no link: SYS, NODE, PHB, PXB, PIX and NV1 are"));
      }
      row.cells.push_back(link.value_or(DeviceLink()));
    }
    if (!rows_.emplace(words.front(), std::move(row)).second) {
      return Error(line_, absl::StrCat("a second row of ", words.front()));
    }
    return is_gpu_[own]
               ? TakePlace(Words(words.begin() + static_cast<std::ptrdiff_t>(columns_.size() + 1),
                                 words.end()),
                           matrix_.gpus[place_[own]])
               : absl::OkStatus();
  }

  // "0-55,112-167", "0", "N/A": CPU affinity, NUMA affinity and the GPU's own memory node.
  absl::Status TakePlace(const Words& words, TopoMatrix::GpuRow& gpu) {
    if (!words.empty() && words[0] != "N/A") {
      absl::StatusOr<CpuSet> cpus = CpuSet::Parse(words[0]);
      if (!cpus.ok()) {
        return Error(line_, absl::StrCat("\"", EscapeControl(words[0]),
                                         "\" is no list of CPUs like 0-15,32-47"));
      }
      gpu.cpus = *std::move(cpus);
    }
    if (words.size() > 1 && words[1] != "N/A") {
      const absl::StatusOr<NumaSet> nodes = NumaSet::Parse(words[1]);
      if (!nodes.ok()) {
        return Error(line_, absl::StrCat("\"", EscapeControl(words[1]),
                                         "\" is no NUMA node: a number or N/A is"));
      }
      if (nodes->Count() == 1) {
        gpu.numa = nodes->First();
      }
    }
    return absl::OkStatus();
  }

  // "NIC0: mlx5_0" gives a column its name; the words for links are known.
  absl::Status TakeLegend(const Words& words) {
    std::string label = words.front();
    if (words.size() != 2 || label.back() != ':') {
      return absl::OkStatus();
    }
    label.pop_back();
    const auto nic = std::find(matrix_.nics.begin(), matrix_.nics.end(), label);
    if (nic != matrix_.nics.end()) {
      *nic = words[1];
    }
    return absl::OkStatus();
  }

  // Both directions of a pair say the same, or the poorer counts.
  void TakeLinks() {
    for (std::size_t a = 0; a < columns_.size(); ++a) {
      for (std::size_t b = a + 1; b < columns_.size(); ++b) {
        DeviceLink link = rows_.at(columns_[a]).cells[b];
        const DeviceLink& back = rows_.at(columns_[b]).cells[a];
        if (LinkQuality(link) != LinkQuality(back)) {
          matrix_.remarks.push_back(absl::StrCat(matrix_.source, ": ", columns_[a], " and ",
                                                 columns_[b],
                                                 " say different links: the poorer is taken"));
          link = LinkQuality(back) < LinkQuality(link) ? back : link;
        }
        TakeLink(a, b, link);
      }
    }
    const auto by_ends = [](const DeviceLink& x, const DeviceLink& y) {
      return std::pair(x.a, x.b) < std::pair(y.a, y.b);
    };
    std::sort(matrix_.gpu_links.begin(), matrix_.gpu_links.end(), by_ends);
    std::sort(matrix_.nic_links.begin(), matrix_.nic_links.end(), by_ends);
  }

  void TakeLink(std::size_t a, std::size_t b, DeviceLink link) {
    if (!is_gpu_[a]) {
      std::swap(a, b);
    }
    if (!is_gpu_[a]) {
      return;  // between two NICs
    }
    link.a = static_cast<std::uint32_t>(place_[a]);
    link.b = static_cast<std::uint32_t>(place_[b]);
    (is_gpu_[b] ? matrix_.gpu_links : matrix_.nic_links).push_back(link);
  }

  TopoMatrix matrix_;
  std::size_t line_ = 0;
  bool legend_ = false;
  std::vector<std::string> columns_;
  std::vector<bool> is_gpu_;
  std::vector<std::size_t> place_;  // in gpus or nics
  std::map<std::string, Row> rows_;
};

// Where each of the table's devices is among the machine's; nothing for those it lacks.
std::map<std::uint32_t, std::uint32_t> GpuPlaces(const TopoMatrix& matrix, Machine& machine) {
  std::map<std::uint32_t, std::uint32_t> places;
  for (std::uint32_t i = 0; i < matrix.gpus.size(); ++i) {
    const std::uint32_t number = matrix.gpus[i].number;
    const auto gpu = std::find_if(machine.gpus.begin(), machine.gpus.end(), [number](const Gpu& g) {
      return g.vendor == GpuVendor::kNvidia && g.os_index == number;
    });
    if (gpu == machine.gpus.end()) {
      machine.remarks.push_back(absl::StrCat(matrix.source, " has GPU ", number,
                                             ", which the machine has not: it is left out"));
    } else {
      places[i] = static_cast<std::uint32_t>(gpu - machine.gpus.begin());
    }
  }
  return places;
}

std::map<std::uint32_t, std::uint32_t> NicPlaces(const TopoMatrix& matrix, Machine& machine) {
  const bool adds = machine.nics.empty();
  std::map<std::uint32_t, std::uint32_t> places;
  for (std::uint32_t i = 0; i < matrix.nics.size(); ++i) {
    const std::string& name = matrix.nics[i];
    const auto nic = std::find_if(machine.nics.begin(), machine.nics.end(),
                                  [&name](const Nic& n) { return n.name == name; });
    if (nic != machine.nics.end()) {
      places[i] = static_cast<std::uint32_t>(nic - machine.nics.begin());
    } else if (adds) {
      places[i] = static_cast<std::uint32_t>(machine.nics.size());
      machine.nics.push_back({name, "", kNowhere, IsFabricName(name)});
    } else {
      machine.remarks.push_back(absl::StrCat(matrix.source, " has NIC ", EscapeControl(name),
                                             ", which the machine has not: it is left out"));
    }
  }
  return places;
}

// The GPU's place as the table has it, against the machine's.
absl::Status ComparePlace(const TopoMatrix& matrix, const TopoMatrix::GpuRow& row, Machine& machine,
                          Gpu& gpu) {
  if (!row.numa.has_value()) {
    return absl::OkStatus();
  }
  const auto node = std::find_if(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                                 [&row](const NumaNode& n) { return n.os_index == *row.numa; });
  if (node == machine.numa_nodes.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        matrix.source, ": GPU ", row.number, " is near NUMA node ", *row.numa, ", which ",
        machine.source, " has not: join the table to the machine that it was written on"));
  }
  const auto numa = static_cast<std::uint32_t>(node - machine.numa_nodes.begin());
  if (gpu.numa == kNowhere) {
    gpu.numa = numa;
  } else if (gpu.numa != numa) {
    machine.remarks.push_back(absl::StrCat(
        matrix.source, " puts GPU ", row.number, " on NUMA node ", *row.numa, ", the machine on ",
        machine.numa_nodes[gpu.numa].os_index, ": the latter counts"));
  }
  return absl::OkStatus();
}

// A NIC is near the NUMA node of the GPUs that reach it without crossing between nodes.
void PlaceNics(Machine& machine) {
  for (const DeviceLink& link : machine.nic_links) {
    Nic& nic = machine.nics[link.b];
    if (nic.numa == kNowhere && link.kind > LinkKind::kSystem) {
      nic.numa = machine.gpus[link.a].numa;
    }
  }
}

// The NUMA node (position) of the table's GPU in a machine that is being made of it.
std::uint32_t NodeFor(const TopoMatrix::GpuRow& row, Machine& machine) {
  for (std::uint32_t i = 0; i < machine.numa_nodes.size(); ++i) {
    const NumaNode& node = machine.numa_nodes[i];
    if (row.numa.has_value() ? node.os_index == *row.numa : node.cpus == row.cpus) {
      return i;
    }
  }
  std::uint32_t index = row.numa.value_or(0);
  const auto taken = [&machine](std::uint32_t candidate) {
    return std::any_of(machine.numa_nodes.begin(), machine.numa_nodes.end(),
                       [candidate](const NumaNode& node) { return node.os_index == candidate; });
  };
  while (taken(index)) {
    ++index;
  }
  machine.numa_nodes.push_back({index, {}, kGibibyte});
  machine.memory += kGibibyte;
  return static_cast<std::uint32_t>(machine.numa_nodes.size() - 1);
}

}  // namespace

bool IsTopoMatrix(const std::string& text) {
  std::size_t seen = 0;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const Words words = WordsOf(std::string_view(line.data(), line.size()));
    if (IsHeader(words)) {
      return true;
    }
    if (!words.empty() && ++seen > 20) {  // a prompt, a date or a warning may stand before it
      return false;
    }
  }
  return false;
}

absl::StatusOr<TopoMatrix> ParseTopoMatrix(const std::string& text, const std::string& name) {
  return TableReader(name).Read(text);
}

std::uint64_t NvLinkLaneBandwidth(const std::string& model) {
  const auto has = [&model](const char* piece) { return model.find(piece) != std::string::npos; };
  if (has("P100")) {
    return 20'000;
  }
  return has("B100") || has("B200") || has("GB200") || has("B300") ? 50'000 : kLaneBandwidth;
}

absl::Status JoinTopoMatrix(const TopoMatrix& matrix, Machine& machine) {
  machine.remarks.insert(machine.remarks.end(), matrix.remarks.begin(), matrix.remarks.end());
  const auto gpus = GpuPlaces(matrix, machine);
  const auto nics = NicPlaces(matrix, machine);
  for (const auto& [row, gpu] : gpus) {
    RETURN_IF_ERROR(ComparePlace(matrix, matrix.gpus[row], machine, machine.gpus[gpu]));
  }
  const auto join = [&](const std::vector<DeviceLink>& links, const auto& others, bool among_gpus,
                        std::vector<DeviceLink>& into) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, DeviceLink> joined;
    for (const DeviceLink& link : into) {
      joined[{link.a, link.b}] = link;
    }
    for (DeviceLink link : links) {
      if (gpus.count(link.a) == 0 || others.count(link.b) == 0) {
        continue;
      }
      link.a = gpus.at(link.a);
      link.b = others.at(link.b);
      if (among_gpus && link.b < link.a) {
        std::swap(link.a, link.b);
      }
      link.bandwidth = link.lanes * NvLinkLaneBandwidth(machine.gpus[link.a].model);
      joined[{link.a, link.b}] = link;
    }
    into.clear();
    for (const auto& [ends, link] : joined) {
      into.push_back(link);
    }
  };
  join(matrix.gpu_links, gpus, true, machine.gpu_links);
  join(matrix.nic_links, nics, false, machine.nic_links);
  PlaceNics(machine);
  return absl::OkStatus();
}

absl::StatusOr<Machine> MachineOf(const TopoMatrix& matrix) {
  Machine machine;
  machine.source = matrix.source;
  std::map<std::uint32_t, std::uint32_t> thread_at;  // its NUMA node
  for (const TopoMatrix::GpuRow& row : matrix.gpus) {
    Gpu gpu;
    gpu.os_index = row.number;
    gpu.uuid =
        absl::StrCat("GPU-", matrix.source.substr(matrix.source.rfind('/') + 1), "-", row.number);
    if (row.numa.has_value() || !row.cpus.Empty()) {
      gpu.numa = NodeFor(row, machine);
      for (const std::uint32_t thread : row.cpus.Members()) {
        if (thread_at.emplace(thread, gpu.numa).second) {
          machine.numa_nodes[gpu.numa].cpus.Insert(thread);
        }
      }
    }
    machine.gpus.push_back(std::move(gpu));
  }
  if (thread_at.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(matrix.source,
                     ": no GPU says its CPU affinity, so there are no cores: join the table to a "
                     "machine, like machine.xml+",
                     matrix.source.substr(matrix.source.rfind('/') + 1)));
  }
  for (const auto& [thread, numa] : thread_at) {
    machine.cores.push_back({thread, CpuSet::Of({thread}), numa, kNowhere, kNowhere});
  }
  machine.remarks = matrix.remarks;
  machine.remarks.push_back(
      absl::StrCat(matrix.source,
                   " does not say which threads share a core, nor how much memory there is: each "
                   "thread counts as a core, each NUMA node as 1 GiB"));
  for (const std::string& name : matrix.nics) {
    machine.nics.push_back({name, "", kNowhere, IsFabricName(name)});
  }
  machine.gpu_links = matrix.gpu_links;
  machine.nic_links = matrix.nic_links;
  PlaceNics(machine);
  return machine;
}

}  // namespace muster::topology

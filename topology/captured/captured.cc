#include "topology/captured/captured.h"

#include <sys/stat.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "scheduler/model/machine/machine_check.h"
#include "scheduler/runtime/file.h"
#include "topology/captured/captured_gpus.h"
#include "topology/captured/nccl_xml.h"
#include "topology/captured/topo_matrix.h"
#include "topology/captured/xml_tree.h"
#include "topology/hwloc/hwloc_schema.h"
#include "topology/hwloc/hwloc_topology.h"
#include "topology/hwloc/inventory.h"
#include "topology/hwloc/pci_links.h"

namespace muster::topology {
namespace {

constexpr std::size_t kSyntheticBytesMax = 4096;

bool IsFile(const std::string& source) {
  struct stat status {};
  return stat(source.c_str(), &status) == 0 || absl::EndsWith(source, ".xml") ||
         source.find('/') != std::string::npos;
}

// `description` without what stands in brackets and parentheses: attached nodes and attributes;
// nothing when these do not match.
std::optional<std::string> Levels(const std::string& description) {
  std::string levels;
  int depth = 0;
  for (const char c : description) {
    if (c == '[' || c == '(') {
      ++depth;
    } else if (c == ']' || c == ')') {
      if (--depth < 0) {
        return std::nullopt;
      }
    } else if (depth == 0) {
      levels.push_back(c);
    }
  }
  return depth == 0 ? std::optional(levels) : std::nullopt;
}

struct Level {
  bool is_core = false;
  std::uint64_t count = 0;
};

// Reads "core:8" or "8".
absl::StatusOr<Level> ParseLevel(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string name = text.substr(0, colon == std::string::npos ? 0 : colon);
  const std::string count = colon == std::string::npos ? text : text.substr(colon + 1);
  hwloc_obj_type_t type = HWLOC_OBJ_MACHINE;
  if (colon != std::string::npos && hwloc_type_sscanf(name.c_str(), &type, nullptr, 0) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("there is no level \"", name, "\""));
  }
  Level level;
  level.is_core = type == HWLOC_OBJ_CORE;
  const char* end = count.data() + count.size();
  const auto [stop, error] = std::from_chars(count.data(), end, level.count);
  if (error != std::errc() || stop != end || level.count == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", text, "\" needs a count of 1 or more after its colon"));
  }
  return level;
}

// `description` as hwloc takes it, after the checks that hwloc would not make (or not explain).
absl::StatusOr<std::string> CheckedDescription(const std::string& description) {
  const std::optional<std::string> levels = Levels(description);
  if (!levels.has_value()) {
    return absl::InvalidArgumentError("its brackets do not match");
  }
  std::uint64_t threads = 1;
  bool ends_in_core = false;
  const std::vector<std::string> words = absl::StrSplit(*levels, ' ', absl::SkipEmpty());
  if (words.empty()) {
    return absl::InvalidArgumentError("it names no levels");
  }
  for (const std::string& word : words) {
    ASSIGN_OR_RETURN(const Level level, ParseLevel(word));
    ends_in_core = level.is_core;
    if (level.count > Bits::kLimit / threads) {
      return absl::InvalidArgumentError(
          absl::StrCat("it has more than ", Bits::kLimit, " hardware threads"));
    }
    threads *= level.count;
  }
  return ends_in_core ? absl::StrCat(description, " pu:1") : description;
}

absl::StatusOr<HwlocTopology> LoadDescription(const std::string& source) {
  if (source.size() > kSyntheticBytesMax) {
    return absl::InvalidArgumentError(absl::StrCat("a synthetic topology is at most ",
                                                   kSyntheticBytesMax, " bytes long, not ",
                                                   source.size()));
  }
  if (source.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError("a synthetic topology holds no NUL byte");
  }
  const absl::StatusOr<std::string> description = CheckedDescription(source);
  if (!description.ok()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "synthetic topology \"", source, "\": ", std::string(description.status().message()),
        ": write it like \"pack:2 numa:2 core:4 pu:2\", or name an hwloc XML file"));
  }
  return HwlocTopology::LoadSynthetic(*description);
}

absl::StatusOr<HwlocTopology> LoadHwlocXml(const std::string& content, const std::string& path) {
  const bool whole = RootElementOf(content) == "topology";
  absl::StatusOr<std::string> xml = ToHwloc2Schema(content, path);
  RETURN_IF_ERROR(xml.status());
  if (whole) {
    RETURN_IF_ERROR(ParseXml(content, path).status());  // hwloc does not say where it gave up
  }
  return HwlocTopology::LoadXml(*xml, path);
}

// A description without sizes gets hwloc's own default on every node, bracketed ones included.
void SettleSizes(bool is_file, Machine& machine) {
  if (!is_file && !absl::StrContains(absl::AsciiStrToLower(machine.source), "memory=")) {
    machine.memory = Bytes(0);
    for (NumaNode& node : machine.numa_nodes) {
      node.memory = kGibibyte;
      machine.memory += kGibibyte;
    }
    machine.remarks.emplace_back(
        "the description names no memory: 1 GiB per NUMA node is assumed (write "
        "\"numa:2(memory=64GB)\" for more)");
  } else if (machine.memory.zero()) {
    machine.remarks.emplace_back("the source names no memory sizes");
  }
}

absl::StatusOr<Machine> MachineOf(const absl::StatusOr<HwlocTopology>& topology,
                                  const std::string& source, bool is_file) {
  RETURN_IF_ERROR(topology.status());
  absl::StatusOr<Machine> taken = TakeInventory(*topology, std::nullopt);
  if (!taken.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat(source, ": ", std::string(taken.status().message())));
  }
  Machine machine = *std::move(taken);
  machine.source = source;
  SettleSizes(is_file, machine);
  AddCapturedGpus(*topology, machine);
  AddDeviceLinks(*topology, machine);
  return machine;
}

absl::StatusOr<Machine> ReadFileAsMachine(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
  if (RootElementOf(content) == "system") {
    return ParseNcclXml(content, path);
  }
  if (IsTopoMatrix(content)) {
    ASSIGN_OR_RETURN(const TopoMatrix matrix, ParseTopoMatrix(content, path));
    return MachineOf(matrix);
  }
  return MachineOf(LoadHwlocXml(content, path), path, true);
}

absl::StatusOr<Machine> ReadOne(const std::string& source) {
  return IsFile(source) ? ReadFileAsMachine(source)
                        : MachineOf(LoadDescription(source), source, false);
}

bool Exists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

// Where "machine.xml+links.txt" parts: the last plus with an existing file behind it. npos when the
// whole is a file, or none is.
std::size_t JoinAt(const std::string& source) {
  std::size_t plus = Exists(source) ? std::string::npos : source.rfind('+');
  while (plus != std::string::npos && !Exists(source.substr(plus + 1))) {
    plus = plus == 0 ? std::string::npos : source.rfind('+', plus - 1);
  }
  return plus;
}

absl::StatusOr<Machine> ReadJoined(const std::string& first, const std::string& second) {
  ASSIGN_OR_RETURN(Machine machine, ReadOne(first));
  ASSIGN_OR_RETURN(const std::string content, ReadFile(second));
  ASSIGN_OR_RETURN(const TopoMatrix matrix, ParseTopoMatrix(content, second));
  RETURN_IF_ERROR(JoinTopoMatrix(matrix, machine));
  return machine;
}

}  // namespace

absl::StatusOr<Machine> ReadCapturedMachine(const std::string& source) {
  const std::size_t plus = JoinAt(source);
  ASSIGN_OR_RETURN(Machine machine,
                   plus == std::string::npos
                       ? ReadOne(source)
                       : ReadJoined(source.substr(0, plus), source.substr(plus + 1)));
  machine.source = source;
  machine.enforced = false;
  machine.why_not_enforced = absl::StrCat("the agent plays ", source);
  RETURN_IF_ERROR(CheckMachine(machine));
  return machine;
}

}  // namespace muster::topology

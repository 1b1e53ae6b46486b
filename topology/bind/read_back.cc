#include "topology/bind/read_back.h"

#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "scheduler/base/status.h"
#include "topology/gpu/libraries.h"

namespace muster::topology {
namespace {

constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kEnvironBytesMax = std::size_t{8} << 20;

// The head of a /proc file, read in pieces until `enough`; empty when it cannot be read (the
// process has ended, or is another user's by now). The kernel makes no more of it than it is asked
// for.
template <std::size_t kPieceBytes, class Enough>
std::string ReadHead(const std::string& path, const Enough& enough) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return "";
  }
  std::string text;
  std::array<char, kPieceBytes> buffer;  // not set: most files fill a part
  while (!enough(text)) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got <= 0) {
      break;
    }
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(fd);
  return text;
}

template <class Set, std::size_t kWords>
Set FromWords(const std::array<std::uint64_t, kWords>& words) {
  Set set;
  for (std::size_t word = 0; word < kWords; ++word) {
    for (std::uint64_t left = words.at(word); left != 0; left &= left - 1) {
      set.Insert(static_cast<std::uint32_t>(word * 64) +
                 static_cast<std::uint32_t>(std::countr_zero(left)));
    }
  }
  return set;
}

std::string PolicyName(const KernelBinding& said) {
  const std::string nodes = FromWords<NumaSet>(said.nodes).ToList();
  switch (said.policy) {
    case MPOL_DEFAULT:
      return "default";
    case MPOL_BIND:
      return absl::StrCat("bind:", nodes);
    case MPOL_PREFERRED:
      return absl::StrCat("prefer:", nodes);
    case MPOL_INTERLEAVE:
      return absl::StrCat("interleave:", nodes);
    default:
      return absl::StrCat("policy ", said.policy);
  }
}

std::string GpuText(const std::vector<std::string>& gpus) {
  return gpus.empty() ? "none" : absl::StrJoin(gpus, ",");
}

}  // namespace

std::optional<std::string> PolicyOfNumaMaps(std::string_view maps) {
  const std::string line(maps.substr(0, maps.find('\n')));
  const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
  return words.size() < 2 ? std::nullopt : std::optional<std::string>(words[1]);
}

std::optional<std::vector<std::string>> GpusOfEnviron(std::string_view environ_text) {
  if (environ_text.empty()) {
    return std::nullopt;
  }
  std::vector<std::string> gpus;
  for (const GpuLibrary* library : GpuLibraries()) {
    const std::string name = std::string(library->facts().visible) + "=";
    for (std::string_view rest = environ_text; !rest.empty();) {
      const std::size_t end = rest.find('\0');
      const std::string_view assignment = rest.substr(0, end);
      if (assignment.substr(0, name.size()) == name) {
        const std::vector<std::string> more =
            absl::StrSplit(std::string(assignment.substr(name.size())), ',', absl::SkipEmpty());
        gpus.insert(gpus.end(), more.begin(), more.end());
        break;
      }
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
  }
  return gpus;
}

absl::StatusOr<ObservedBinding> ReadBack(pid_t pid) {
  KernelBinding said;
  if (syscall(SYS_sched_getaffinity, pid, sizeof(said.cpus), said.cpus.data()) < 0) {
    return absl::NotFoundError(absl::StrCat("no process ", pid));
  }
  ObservedBinding found;
  found.cpus = FromWords<CpuSet>(said.cpus);
  const std::string directory = absl::StrCat("/proc/", pid);
  // The policy of the first mapping is the process's own; each further one costs a walk.
  found.mem_policy =
      PolicyOfNumaMaps(ReadHead<128>(directory + "/numa_maps", [](const std::string& text) {
        return text.find('\n') != std::string::npos || text.size() > kLineBytesMax;
      }));
  found.gpus = GpusOfEnviron(ReadHead<std::size_t{1} << 16>(
      directory + "/environ",
      [](const std::string& text) { return text.size() >= kEnvironBytesMax; }));
  return found;
}

ObservedBinding FromKernel(const KernelBinding& said, std::vector<std::string> gpus) {
  ObservedBinding found;
  const CpuSet cpus = FromWords<CpuSet>(said.cpus);
  if (!cpus.Empty()) {
    found.cpus = cpus;
  }
  found.mem_policy = PolicyName(said);
  found.gpus = std::move(gpus);
  return found;
}

RankBinding Compare(const PlannedBinding& plan, const ObservedBinding& found) {
  RankBinding result;
  result.cpus = found.cpus.value_or(CpuSet());
  result.mem_policy = found.mem_policy.value_or("");
  result.gpus = found.gpus.value_or(std::vector<std::string>());
  if (!plan.enforced) {
    result.verdict = BindingVerdict::kNotEnforced;
    result.text = plan.why_not_enforced;
    return result;
  }
  if (!found.cpus.has_value() || !found.mem_policy.has_value() || !found.gpus.has_value()) {
    result.verdict = BindingVerdict::kUnreadable;
    result.text = "the process ended before its binding could be read";
    return result;
  }
  std::vector<std::string> differences;
  if (!plan.cpus.Empty() && *found.cpus != plan.cpus) {
    differences.push_back(
        absl::StrCat("cpus ", found.cpus->ToList(), " instead of ", plan.cpus.ToList()));
  }
  const std::string policy = absl::StrCat("bind:", plan.mem_nodes.ToList());
  const bool memory_differs = !plan.mem_nodes.Empty() && *found.mem_policy != policy;
  if (memory_differs && !plan.one_memory_node) {
    differences.push_back(absl::StrCat("memory ", *found.mem_policy, " instead of ", policy));
  }
  if (*found.gpus != plan.gpus) {
    differences.push_back(
        absl::StrCat("GPUs ", GpuText(*found.gpus), " instead of ", GpuText(plan.gpus)));
  }
  result.verdict = differences.empty() ? BindingVerdict::kVerified : BindingVerdict::kDiffers;
  result.text = absl::StrJoin(differences, "; ");
  if (differences.empty() && memory_differs) {
    result.text = absl::StrCat("memory ", *found.mem_policy, ": the machine has one memory node");
  }
  return result;
}

}  // namespace muster::topology

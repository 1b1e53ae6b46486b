#include "scheduler/core/place/request.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "scheduler/base/status.h"
#include "scheduler/model/value/job_text.h"

namespace muster::core {
namespace {

char Lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

std::uint64_t SaturatingProduct(std::uint64_t a, std::uint64_t b) {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

std::uint32_t ThreadsPerCore(const Machine& machine) {
  return machine.cores.empty() ? 1 : std::max(machine.cores.front().cpus.Count(), 1U);
}

// A job that says nothing gets the share of the memory that its threads are of the node's.
std::uint64_t MemoryShare(const Machine& machine, std::uint64_t threads) {
  const std::uint64_t all = std::max(AllCpus(machine).Count(), 1U);
  return machine.memory.value() / all * std::min(threads, all);
}

// What the layout asks that the machine cannot be: "CPU 96 of --cpu-bind".
std::string WhyNoLayout(const RankLayout& layout, const Machine& machine) {
  CpuSet cpus;
  for (const CpuSet& some : layout.cpu_list) {
    cpus |= some;
  }
  if (const CpuSet absent = cpus - AllCpus(machine); !absent.Empty()) {
    return absl::StrCat("CPU ", absent.ToList(), " of --cpu-bind");
  }
  NumaSet nodes;
  for (const NumaSet& some : layout.mem_list) {
    nodes |= some;
  }
  for (const NumaNode& node : machine.numa_nodes) {
    nodes.Erase(node.os_index);
  }
  if (!nodes.Empty()) {
    return absl::StrCat("memory node ", nodes.ToList(), " of --mem-bind");
  }
  std::map<std::uint32_t, std::uint32_t> cores;
  for (const Core& core : machine.cores) {
    ++cores[SocketOf(core)];
  }
  const bool enough = std::any_of(cores.begin(), cores.end(), [&layout](const auto& socket) {
    return socket.second >= layout.cores_per_socket;
  });
  return enough || layout.cores_per_socket == 0
             ? ""
             : absl::StrCat(layout.cores_per_socket, " cores on a socket");
}

}  // namespace

absl::Status FillGpus(ResourceRequest& request) {
  int said = 0;
  for (GpuRequest* gpus : {&request.gpus, &request.gpus_per_node, &request.gpus_per_task}) {
    RETURN_IF_ERROR(CheckJobText("--gpus", gpus->type, kJobNameBytesMax));
    if (gpus->count == 0) {
      *gpus = GpuRequest();
    }
    said += gpus->count > 0 ? 1 : 0;
  }
  if (said > 1) {
    return absl::InvalidArgumentError(
        "--gpus: say GPUs once: --gpus, --gpus-per-node or --gpus-per-task");
  }
  if (!request.gpu_share.zero() && said == 0) {
    request.gpus_per_task.count = 1;
  }
  if (request.gpus.count == 0) {
    return absl::OkStatus();
  }
  const GpuRequest whole = std::exchange(request.gpus, GpuRequest());
  if (whole.count % request.tasks == 0) {
    request.gpus_per_task = GpuRequest{whole.type, whole.count / request.tasks, whole.memory};
  } else if (request.min_nodes == request.max_nodes && whole.count % request.min_nodes == 0) {
    request.gpus_per_node = GpuRequest{whole.type, whole.count / request.min_nodes, whole.memory};
  } else if (request.min_nodes == 1) {
    request.max_nodes = 1;
    request.gpus_per_node = whole;
  } else {
    return absl::InvalidArgumentError(absl::StrCat("--gpus: ", whole.count, " do not divide over ",
                                                   request.min_nodes, " nodes or ", request.tasks,
                                                   " tasks; use --gpus-per-node"));
  }
  return absl::OkStatus();
}

std::uint32_t GpusOnNode(const ResourceRequest& request, std::uint32_t tasks) {
  const std::uint64_t gpus =
      request.gpus_per_node.count + std::uint64_t{request.gpus_per_task.count} * tasks;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(gpus, UINT32_MAX));
}

bool IsOfKind(const std::string& model, Bytes memory, const GpuRequest& kind, bool by_name) {
  constexpr std::uint64_t kMissing = 15;  // a fifteenth
  const std::string& type = kind.type;
  // Of an instance that is to be named, its profile stands behind the last blank.
  const auto begin =
      by_name ? model.begin() + static_cast<std::ptrdiff_t>(model.rfind(' ') + 1) : model.begin();
  const bool is_of_type =
      (type.empty() && !by_name) || (!type.empty() && std::search(begin, model.end(), type.begin(),
                                                                  type.end(), [](char a, char b) {
                                                                    return Lower(a) == Lower(b);
                                                                  }) != model.end());
  return is_of_type && memory.value() >= kind.memory.value() - kind.memory.value() / kMissing;
}

bool IsOfKind(const Gpu& gpu, const GpuRequest& kind) {
  return IsOfKind(gpu.model, gpu.memory, kind, gpu.by_name);
}

std::uint32_t CoresPerTask(const Machine& machine, const ResourceRequest& request) {
  const std::uint64_t threads = CountedThreads(request, ThreadsPerCore(machine));
  return static_cast<std::uint32_t>((request.cpus_per_task + threads - 1) / threads);
}

std::uint64_t ThreadsPerTask(const Machine& machine, const ResourceRequest& request) {
  return std::uint64_t{CoresPerTask(machine, request)} * ThreadsPerCore(machine);
}

Bytes MemoryOnNode(const Machine& machine, const ResourceRequest& request, std::uint32_t tasks,
                   std::uint32_t cpus) {
  if (!request.memory_per_node.zero()) {
    return request.memory_per_node;
  }
  if (!request.memory_per_cpu.zero()) {
    return Bytes(SaturatingProduct(request.memory_per_cpu.value(),
                                   std::uint64_t{request.cpus_per_task} * tasks));
  }
  return Bytes(MemoryShare(machine, cpus));
}

std::uint32_t FreeCores(const NodeSnapshot& node) {
  return static_cast<std::uint32_t>(
      std::count_if(node.machine->cores.begin(), node.machine->cores.end(),
                    [&](const Core& core) { return !node.taken.cpus.Meets(core.cpus); }));
}

GpuShare FreeShare(const NodeSnapshot& node, std::size_t gpu) {
  return gpu < node.taken.gpus.size() ? kWholeGpu - std::min(node.taken.gpus[gpu], kWholeGpu)
                                      : kWholeGpu;
}

GpuShare MostFreeShare(const NodeSnapshot& node, const GpuRequest& request) {
  GpuShare most;
  for (std::size_t gpu = 0; gpu < node.machine->gpus.size(); ++gpu) {
    if (IsOfKind(node.machine->gpus[gpu], request)) {
      most = std::max(most, FreeShare(node, gpu));
    }
  }
  return most;
}

NodeSnapshot WithoutOccupied(NodeSnapshot node) {
  node.taken.gpus.resize(std::max(node.taken.gpus.size(), node.machine->gpus.size()));
  for (const GpuOccupant& occupant : node.gpu_occupants) {
    if (occupant.gpu < node.taken.gpus.size()) {
      node.taken.gpus[occupant.gpu] = kWholeGpu;
    }
  }
  return node;
}

std::uint32_t FreeGpus(const NodeSnapshot& node, const GpuRequest& request) {
  std::uint32_t free = 0;
  for (std::size_t i = 0; i < node.machine->gpus.size(); ++i) {
    if (FreeShare(node, i) == kWholeGpu && IsOfKind(node.machine->gpus[i], request)) {
      ++free;
    }
  }
  return free;
}

bool HasGresFree(const NodeSnapshot& node, const ResourceRequest& request) {
  return std::all_of(request.gres.begin(), request.gres.end(), [&node](const GresCount& gres) {
    const std::uint64_t all = CountOf(node.machine->gres, gres.name);
    return gres.count + CountOf(node.taken.gres, gres.name) <= all;
  });
}

std::string WhyNoMachine(const ResourceRequest& request, const Machine& machine) {
  std::set<std::uint32_t> sockets;
  for (const Core& core : machine.cores) {
    sockets.insert(SocketOf(core));
  }
  if (sockets.size() < request.sockets_per_node) {
    return absl::StrCat(request.sockets_per_node, " sockets");
  }
  if (AllCpus(machine).Count() < request.min_cpus) {
    return absl::StrCat(request.min_cpus, " CPUs in all");
  }
  if (machine.tmp < request.tmp) {
    return absl::StrCat(request.tmp.value() / kMebibyte.value(), " MiB of /tmp",
                        machine.tmp.zero() ? ", whose size is not known" : "");
  }
  return request.layout.has_value() ? WhyNoLayout(*request.layout, machine) : "";
}

}  // namespace muster::core

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/place/picture.h"
#include "cli/place/place_plan.h"
#include "cli/place/place_report.h"
#include "scheduler/base/status.h"

namespace muster::cli {
namespace {

constexpr int kRefused = 1;

// A file that is no machine or network is refused; only the options can be bad usage.
absl::Status AsRefusal(const absl::Status& status) {
  return status.ok() || !absl::IsInvalidArgument(status)
             ? status
             : absl::FailedPreconditionError(std::string(status.message()));
}

absl::StatusOr<int> Place(const Invocation& invocation) {
  ASSIGN_OR_RETURN(const PlaceOptions options, ReadPlaceOptions(invocation));
  const absl::StatusOr<PlaceCluster> cluster = LoadPlaceCluster(options);
  RETURN_IF_ERROR(AsRefusal(cluster.status()));
  const PlaceOutcome outcome = PlanPlacement(*cluster, options.spec);
  const bool json = invocation.Has("json");
  if (!outcome.allocation.has_value() && !json) {
    return absl::FailedPreconditionError(
        absl::StrCat(Name(outcome.reason.kind), ": ", ToSentence(outcome.reason)));
  }
  if (outcome.allocation.has_value() && invocation.Has("svg")) {
    RETURN_IF_ERROR(
        WritePicture(invocation.Value("svg"), PictureOf(*cluster, *outcome.allocation)));
  }
  RETURN_IF_ERROR(WriteOut(json ? PlaceDocument(*cluster, outcome, options)
                                : PrintPlacement(*cluster, *outcome.allocation, options,
                                                 StyleFor(invocation.environment, STDOUT_FILENO))));
  return outcome.allocation.has_value() ? 0 : kRefused;
}

}  // namespace

Verb PlaceVerb() {
  Verb verb;
  verb.name = "place";
  verb.purpose = "Show where a job would go on captured machines, down to core, GPU and NIC";
  verb.synopsis = "[FILE…]";
  verb.forms = {"--topology LIST [options] [FILE…]"};
  verb.examples = {"muster place --topology node.xml -n 8 --gpus-per-task=1",
                   "muster place --topology node.xml+topo-m.txt --network cluster.toml -N 4 -n 32",
                   "muster place --topology 'pack:2 numa:2 core:8 pu:2' -n 4 -c 8 --json"};
  verb.remarks =
      "Plans only, by the code that plans a live cluster: nothing is submitted, every node is "
      "idle.\n"
      "Further FILEs are further machines. With --network the nodes are the network's; one "
      "machine\n"
      "stands for all of them. Locality is the share of ranks whose cores, memory and GPUs are on\n"
      "one NUMA node.\n"
      "Times are predicted by latency + bytes/bandwidth for each class of links, for a ring\n"
      "(2(N-1)/N x bytes), level by level, or recursive doubling, whichever is fastest; beside it\n"
      "the same for nodes filled in the order of their names, first free cores and GPUs. A\n"
      "bandwidth that no file names (~) is NCCL's for its class; see the manual page.\n";
  verb.options = PlaceOptionTable();
  verb.arguments_max = kAnyNumber;
  verb.run = Place;
  return verb;
}

}  // namespace muster::cli

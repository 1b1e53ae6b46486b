#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "cli/estimate/estimate_options.h"
#include "cli/estimate/estimate_request.h"
#include "cli/estimate/estimate_submission.h"
#include "cli/estimate/serving_report.h"
#include "cli/estimate/serving_request.h"
#include "cli/estimate/training_report.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/size_text.h"
#include "scheduler/base/text/words.h"
#include "scheduler/core/place/request.h"

namespace muster::cli {
namespace {

// Submits the script with what the estimate asks for. What the estimate says goes to standard
// error: standard output is the submission's.
absl::StatusOr<int> Submit(const Invocation& invocation, const EstimateRequest& request,
                           const TrainingEstimate& estimate) {
  const Bytes asked = MemoryToAsk(estimate.memory.total);
  const GpuRequest kind{"", 1, asked};
  const bool fits = std::any_of(
      request.gpu_types.begin(), request.gpu_types.end(),
      [&kind](const GpuType& type) { return core::IsOfKind(type.name, type.memory, kind); });
  if (!fits) {
    return absl::FailedPreconditionError(absl::StrCat(
        "--submit: no type of GPU has the ", BytesText(asked.value()),
        " that each would need: use more GPUs, or another --strategy (muster estimate ",
        "without --submit says how many)"));
  }
  std::map<std::string, std::string> options = SubmitOptionsOf(request, estimate.memory.total);
  std::cerr << SubmitLine(options) << std::endl;
  for (const char* kept : {"controller", "state", "json"}) {
    if (invocation.Has(kept)) {
      options[kept] = invocation.Value(kept);
    }
  }
  return SubmitVerb().run(Invocation{invocation.environment, invocation.verbs, std::move(options),
                                     invocation.arguments});
}

absl::StatusOr<int> RunEstimate(const Invocation& invocation) {
  RETURN_IF_ERROR(CheckServingOptions(invocation));
  if (invocation.Has("submit") == invocation.arguments.empty()) {
    return absl::InvalidArgumentError(
        invocation.arguments.empty()
            ? std::string("--submit: name the script to submit after the options")
            : absl::StrCat(Quote(invocation.arguments.front()), ": a script goes with --submit"));
  }
  // What follows --submit names no nodes to fit into.
  const Invocation asked{invocation.environment, invocation.verbs, invocation.values, {}};
  const Style style = StyleFor(invocation.environment, STDOUT_FILENO);
  if (invocation.Has("serve")) {
    ASSIGN_OR_RETURN(const ServingRequest served, ReadServingRequest(asked));
    const ServingEstimate found = EstimateServing(served);
    RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? ServingDocument(served, found)
                                                    : ServingPage(served, found, style)));
    return 0;
  }
  ASSIGN_OR_RETURN(const EstimateRequest request, ReadEstimateRequest(asked));
  const TrainingEstimate estimate = EstimateTraining(request);
  if (invocation.Has("submit")) {
    return Submit(invocation, request, estimate);
  }
  RETURN_IF_ERROR(WriteOut(invocation.Has("json") ? TrainingDocument(request, estimate)
                                                  : TrainingPage(request, estimate, style)));
  return 0;
}

}  // namespace

Verb EstimateVerb() {
  Verb verb;
  verb.name = "estimate";
  verb.purpose = "Estimate what a model needs and costs, trained or served, before it runs";
  verb.forms = {"--params N [options]", "--params N [options] --submit SCRIPT [ARG…]",
                "--serve --params N --layers N --kv-heads N --gpu TYPE [options]"};
  verb.examples = {
      "muster estimate --params 7e9 --gpus 8 --strategy zero2 --bandwidth 50GB/s",
      "muster estimate --params 7B --gpus 8 --batch 1 --seq 4096 --hidden 4096 --layers 32",
      "muster estimate --params 70B --strategy fsdp --gpus 64 --gpu-memory h100:80G --json",
      "muster estimate --params 13B --strategy zero2 --offload optimizer --gpu-memory v100:32G",
      "muster estimate --params 46.7B --experts 8 --expert-size 14336 --hidden 4096 --layers 32 "
      "--gpus 8 --ep 8",
      "muster estimate --params 7B --gpus 64 --gpu h100 --tokens 1T --price-gpu-hour 2",
      "muster estimate --serve --params 70B --layers 80 --kv-heads 8 --gpus 8 --tp 4 --gpu h100 "
      "--rate 2 --p99 60s",
      "muster estimate --params 7B --gpus 8 --strategy zero3 --cluster --submit train.sh"};
  verb.remarks =
      "GB are 10^9 bytes, GiB 2^30. Weights, gradients and optimizer: Rajbhandari et al., ZeRO\n"
      "(arXiv 1910.02054). Activations: Korthikanti et al. (arXiv 2205.05198). All-reduce: a ring\n"
      "moves 2(N-1)/N of the gradients, or by hierarchy where that is faster. Not counted: the\n"
      "framework's own memory, fragmentation, embeddings' activations; latency. Time: 6 "
      "operations\n"
      "a parameter and token (arXiv 2001.08361). Serving: the roofline, an upper bound; waiting:\n"
      "M/G/c. Energy: GPUs at their limit. muster-estimate(1) names all sources.\n";
  verb.arguments_max = kAnyNumber;
  verb.takes_command = true;
  verb.options = EstimateOptions();
  verb.options.push_back(JsonOption());
  verb.run = RunEstimate;
  return verb;
}

}  // namespace muster::cli

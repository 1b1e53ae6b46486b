#pragma once

// What the health program says of a node's GPUs: the driver's counters, and what the `gpu` kernel
// beside it measures of each.
//
// The counters are those of nvidia-smi --query-gpu, as comma-separated values; what a GPU or a
// driver does not have it answers with "[N/A]" or "[Not Supported]", and no figure is printed for
// it. A node without nvidia-smi has no GPUs here. Thread promise: one caller at a time.

#include <map>
#include <string>
#include <vector>

#include "agent/kernels/health/figure.h"

namespace muster::kernels {

// The fields that are asked for, with commas between them.
std::string GpuQueryFields();

// One GPU's answers by field.
using GpuAnswers = std::map<std::string, std::string>;

// Lines of nvidia-smi's answer to GpuQueryFields; one that has not as many values is left out.
std::vector<GpuAnswers> ParseGpuAnswers(const std::string& text);

// What the counters say: `before` and `after` are of the same GPU, round a load.
std::vector<Figure> CounterFigures(const GpuAnswers& before, const GpuAnswers& after);

// Figures of the documents that the kernel `gpu` printed for this GPU: its memory, its arithmetic,
// its copies to the host and to its peers, and wrong results.
std::vector<Figure> KernelFigures(const std::string& gpu, const std::string& document);

// All of it, for all GPUs. `directory` is where the kernels are.
std::vector<Figure> CheckGpus(const std::string& directory);

}  // namespace muster::kernels

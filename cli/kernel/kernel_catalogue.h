#pragma once

// The bundled kernels by name: what each measures, what it needs, and where its program is.
//
// Thread promise: safe from any thread; the table is constant. Invariant: names are unique.

#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

enum class KernelNeeds { kNode, kRanks, kGpu };

struct BundledKernel {
  const char* name;
  const char* program;  // in libexec/muster/kernels
  const char* only;     // the part of the program, "" for all of it
  KernelNeeds needs;
  const char* measures;  // one line
};

std::span<const BundledKernel> BundledKernels();

// InvalidArgument names the kernels that there are.
absl::StatusOr<BundledKernel> FindKernel(const std::string& name);

// $MUSTER_KERNELS, else libexec/muster/kernels beside our own bin.
std::string KernelDirectory(const Environment& environment);

// The kernel's program. NotFound names the place, and what it takes to have it.
absl::StatusOr<std::string> KernelProgram(const BundledKernel& kernel,
                                          const Environment& environment);

const char* ToText(KernelNeeds needs);

}  // namespace muster::cli

#pragma once

// A request as the options say it, before anything is filled in.
//
// Invariant: what no option said is as a fresh spec has it.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "cli/parse/export_list.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/value/time.h"

namespace muster::cli {

// What the options say; what they leave open is filled in by request.h.
struct JobRequest {
  JobSpec spec;
  Program program;                  // paths as given; neither script, argv nor environment
  ExportList exports;               // --export
  std::string checkpoint_dir;       // --checkpoint-dir, as given
  std::string checkpoint_interval;  // --checkpoint-interval, in seconds, or "auto"
  std::string checkpoint_object;    // --checkpoint-object, as given
  std::string alternatives;         // --alt, as given
  std::uint32_t tasks_per_gpu = 0;  // --ntasks-per-gpu
  Bytes memory_per_gpu;             // --mem-per-gpu
  Bytes gpu_memory;                 // --gpu-memory
  std::uint32_t cpus_per_gpu = 0;   // --cpus-per-gpu
  GpuRequest gpus_per_socket;       // --gpus-per-socket
  std::string export_file;          // --export-file, as given
  bool login_environment = false;   // --get-user-env
  // Of the jobs that copy its files (--stage-in), where they have another than it.
  std::vector<std::string> copy_environment;
  std::vector<std::string> said;  // names of the options that were given
  bool parsable = false;
  bool wait = false;
  bool test_only = false;
  std::string image_machine;          // for which its container's image is ("amd64"); "": unknown
  std::vector<Component> components;  // of a heterogeneous job: those after the first
};

// Where "now" and "16:30" are: --begin needs it.
struct ParseContext {
  Time now = kNoTime;
  absl::TimeZone zone;
};

}  // namespace muster::cli

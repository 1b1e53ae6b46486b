#pragma once

// The agent's command line as values.
//
// Thread promise: plain values; ParseAgentOptions belongs in main, before threads, because it reads
// the environment. Invariant: what it returns was checked, so that nothing later fails for a bad
// option.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "agent/link/controller_address.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/network_class.h"
#include "agent/supervisor/attempt/site_script.h"
#include "scheduler/model/value/gres.h"

namespace muster::agent {

struct AgentOptions {
  std::string file;  // --config: what these are from, but for what the command line says
  std::string state;
  std::string controller;
  AgentTlsFiles tls;
  std::string keys;           // directory of the files that `tls` does not name
  std::uint32_t min_uid = 0;  // with keys: no jobs of users below
  std::string name;           // the node's; default: this host's
  std::string hostname;       // this host's
  std::string topology;       // a file or a synthetic description; empty: this machine
  unsigned slice = 0;         // which part of the machine, from 0, of `slices`
  unsigned slices = 1;
  std::vector<std::string> features;
  GresList gres;                  // countable things that jobs may ask for by --gres
  std::uint32_t weight = 0;       // lighter nodes are taken first
  std::string cgroup_root;        // where jobs' control groups are made; empty: below our own
  std::uint64_t pids = 0;         // processes and threads of a job here; 0: as many as it starts
  std::uint32_t memory_high = 0;  // per cent of its memory from which on a job is slowed; 0: none
  SiteScripts scripts;            // run around jobs and steps
  std::chrono::milliseconds sample_interval{10000};  // between looks at what jobs use
  std::string gpu_jobs;          // the directory that dcgm-exporter reads jobs from; empty: none
  std::string reboot;            // the program that starts this machine again; empty: none does
  std::string pam_service;       // in whose session jobs run; empty: in none
  bool private_tmp = false;      // each job has a /tmp and a /dev/shm of its own
  ContainerSettings containers;  // [containers]
  NetworkClasses network;        // [network.class.NAME]
  StagingSettings staging;       // [staging]
  CopiesAhead ahead = CopiesAhead::kPaths;
  bool mps = true;  // CUDA's MPS is started for jobs that share GPUs
  int ready_fd = -1;
  std::string kernels;                   // the directory of the bundled kernels
  std::string supervisor;                // the program
  std::string module_dir;                // where libmuster-pmix.so is
  std::vector<std::string> environment;  // ours, which supervisors inherit
};

// What to do after reading the command line.
struct ParsedOptions {
  AgentOptions options;
  int exit_code = -1;  // not -1: end at once with this code; everything was printed
};

ParsedOptions ParseAgentOptions(int argc, const char* const* argv);

// Reads a TOML file into the options; errors are FILE:LINE: KEY: what is wrong.
absl::Status ReadAgentFile(const std::string& path, AgentOptions& options);

}  // namespace muster::agent

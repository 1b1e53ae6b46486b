#pragma once

// The words behind pam_muster.so in a file of /etc/pam.d, named as those of pam_slurm_adopt are
// where they mean the same.
//
// Pure, and nothing but the standard library, as the module is loaded into programs of others.

#include <string>
#include <vector>

namespace muster::agent {

struct ModuleOptions {
  std::string state = "/var/lib/muster-agent";  // the agent's state directory
  bool deny_without_job = true;                 // action_no_jobs=deny|ignore
  bool deny_with_several = false;               // action_unknown=newest|deny
  bool deny_on_failure = true;                  // action_generic_failure=deny|ignore
  bool ignore_root = true;                      // ignore_root=1|0
  std::string mistake;                          // what is wrong with the words; empty: nothing
};

ModuleOptions ParseModuleOptions(const std::vector<std::string>& words);

}  // namespace muster::agent

#pragma once

// The environment of a process in a container: the job's, the image's, and ours.
//
// As pyxis has it: a variable that the image sets goes before one that the submitter's shell had,
// unless --container-env names it. What describes the job, its place and its devices is never the
// image's. Pure.

#include <string>
#include <vector>

namespace muster::agent {

struct ContainerVariables {
  std::vector<std::string> image;      // what the image sets: "NAME=value"
  std::vector<std::string> submitter;  // what came with the job from its submitter's shell
  std::vector<std::string> kept;       // names that the image does not change
  std::string work_dir;                // PWD
  // The paths outside of two programs that are in the container, too; empty: they are not.
  std::string rank_program = {};
  std::string remote_shell = {};
};

// `own` is a process's environment outside. The first of two assignments in the image counts for
// nothing. A launcher inside is told where those two are there; what it would start of the node's
// own programs otherwise is not named.
std::vector<std::string> InContainer(const std::vector<std::string>& own,
                                     const ContainerVariables& variables);

}  // namespace muster::agent

#pragma once

// Templates of sessions, and the job's script that keeps one.
//
// A template is a script that serves on 127.0.0.1:$MUSTER_DEV_PORT and asks for $MUSTER_DEV_TOKEN;
// its head may hold directives, a line "# purpose: TEXT", and "# url: PATH" with {token} in it.
// Reads files, else pure. Invariants: a user's template goes before the site's of the same name,
// and that before the program's; no line of a template ends the script that carries it.

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "cli/frame/environment.h"

namespace muster::cli {

struct SessionTemplate {
  std::string name;
  std::string text;  // of "shell" empty
  std::string from;  // the file; empty: it is the program's own
};

// By its name, or a file's path, which has a "/". NotFound lists the names there are.
absl::StatusOr<SessionTemplate> FindTemplate(const std::string& name,
                                             const Environment& environment);
// All that have a name, by name.
std::vector<SessionTemplate> ListTemplates(const Environment& environment);

// What "# NAME: TEXT" at its head says; "" when nothing does.
std::string HeadOf(const SessionTemplate& session, const std::string& name);

// A script with the template's directives, which runs the keeper (a program and its arguments) with
// the template as its standard input.
std::string ScriptOf(const SessionTemplate& session, const std::vector<std::string>& keeper);

}  // namespace muster::cli

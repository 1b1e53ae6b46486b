#include "cli/dev/session_script.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "cli/page/shell_words.h"
#include "cli/request/request.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/words.h"

namespace muster::cli {
namespace {

constexpr const char* kShellTemplate = "shell";
constexpr const char* kSiteFolder = "/etc/muster/dev";
constexpr const char* kJupyter = R"(#!/bin/sh
# purpose: JupyterLab, or the notebook where that is installed
# url: /?token={token}
#MUSTER --job-name=jupyter
export JUPYTER_TOKEN="$MUSTER_DEV_TOKEN"
for server in jupyter-lab jupyter-server jupyter-notebook; do
  if command -v "$server" >/dev/null; then
    exec "$server" --no-browser --ip=127.0.0.1 --port="$MUSTER_DEV_PORT" --port-retries=0
  fi
done
echo "no Jupyter on $(hostname): activate an environment that has it, or name an image" >&2
exit 127
)";

std::vector<SessionTemplate> OwnTemplates() {
  return {{"jupyter", kJupyter, ""}, {kShellTemplate, "", ""}};
}

// The user's, then the site's.
std::vector<std::string> Folders(const Environment& environment) {
  std::string config = environment.Get("XDG_CONFIG_HOME");
  if (const std::string home = environment.Get("HOME"); config.empty() && !home.empty()) {
    config = home + "/.config";
  }
  std::vector<std::string> folders;
  if (!config.empty()) {
    folders.push_back(config + "/muster/dev");
  }
  folders.emplace_back(kSiteFolder);
  return folders;
}

absl::StatusOr<SessionTemplate> Load(const std::string& name, const std::string& path) {
  ASSIGN_OR_RETURN(Script script, LoadScript(path));
  return SessionTemplate{name, std::move(script.text), path};
}

// Comments and directives before the first command.
std::vector<std::string> HeadLines(const SessionTemplate& session) {
  std::vector<std::string> head;
  for (const auto line : absl::StrSplit(session.text, '\n')) {
    if (!line.empty() && line.front() != '#') {
      break;
    }
    head.emplace_back(line);
  }
  return head;
}

}  // namespace

absl::StatusOr<SessionTemplate> FindTemplate(const std::string& name,
                                             const Environment& environment) {
  if (name.find('/') != std::string::npos) {
    return Load(std::filesystem::path(name).filename().string(), name);
  }
  for (const std::string& folder : Folders(environment)) {
    if (const std::string path = absl::StrCat(folder, "/", name); access(path.c_str(), F_OK) == 0) {
      return Load(name, path);
    }
  }
  for (SessionTemplate& own : OwnTemplates()) {
    if (own.name == name) {
      return std::move(own);
    }
  }
  std::vector<std::string> names;
  for (const SessionTemplate& each : ListTemplates(environment)) {
    names.push_back(each.name);
  }
  return absl::NotFoundError(absl::StrCat("no template ", Quote(name), "; there are ",
                                          absl::StrJoin(names, ", "),
                                          "; a file is named with a /, like ./", name));
}

std::vector<SessionTemplate> ListTemplates(const Environment& environment) {
  std::map<std::string, SessionTemplate> named;
  for (const std::string& folder : Folders(environment)) {
    std::error_code unknown;
    for (const auto& entry : std::filesystem::directory_iterator(folder, unknown)) {
      const std::string name = entry.path().filename().string();
      absl::StatusOr<SessionTemplate> session = Load(name, entry.path().string());
      // One that cannot be read is refused when it is asked for.
      named.emplace(name, session.ok() ? *std::move(session)
                                       : SessionTemplate{name, "", entry.path().string()});
    }
  }
  for (SessionTemplate& own : OwnTemplates()) {
    named.emplace(own.name, std::move(own));
  }
  std::vector<SessionTemplate> all;
  all.reserve(named.size());
  for (auto& [name, session] : named) {
    all.push_back(std::move(session));
  }
  return all;
}

std::string HeadOf(const SessionTemplate& session, const std::string& name) {
  if (session.text.empty() && session.from.empty() && name == "purpose") {
    return "a shell on the node";
  }
  const std::string start = absl::StrCat("# ", name, ": ");
  for (const std::string& line : HeadLines(session)) {
    if (line.rfind(start, 0) == 0) {
      return line.substr(start.size());
    }
  }
  return "";
}

std::string ScriptOf(const SessionTemplate& session, const std::vector<std::string>& keeper) {
  std::string script =
      "#!/bin/sh\n"
      "# Made by muster dev: keeps the session that follows, and ends it when it is idle.\n";
  for (const std::string& line : HeadLines(session)) {
    if (line.rfind("#MUSTER", 0) == 0 || line.rfind("#SBATCH", 0) == 0) {
      absl::StrAppend(&script, line, "\n");
    }
  }
  std::string end = "END_OF_SESSION";
  const std::vector<std::string> lines = absl::StrSplit(session.text, '\n');
  while (std::find(lines.begin(), lines.end(), end) != lines.end()) {
    end += "_";
  }
  const bool whole = session.text.empty() || session.text.back() == '\n';
  absl::StrAppend(&script, "exec ", ShellWords(keeper), " <<'", end, "'\n", session.text,
                  whole ? "" : "\n", end, "\n");
  return script;
}

}  // namespace muster::cli

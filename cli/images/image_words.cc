#include "cli/images/image_words.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "cli/request/step_request.h"
#include "scheduler/base/contains.h"
#include "scheduler/base/status.h"
#include "scheduler/base/text/duration_text.h"
#include "scheduler/base/text/host_list.h"
#include "scheduler/base/text/words.h"
#include "scheduler/model/job/container.h"

namespace muster::cli {
namespace {

struct Action {
  const char* name;
  ImageAction action;
  std::vector<std::string> options;  // that it takes beside those of every verb
};

const std::vector<Action>& Actions() {
  static const std::vector<Action> actions = {
      {"list", ImageAction::kList, {"nodelist", "json"}},
      {"pull", ImageAction::kPull, {"nodelist", "nodes", "partition", "account", "time", "json"}},
      {"prune", ImageAction::kPrune, {"nodelist", "all", "older-than", "container-name", "json"}}};
  return actions;
}

absl::StatusOr<const Action*> FindAction(const std::string& word) {
  const auto found = std::find_if(Actions().begin(), Actions().end(),
                                  [&word](const Action& each) { return each.name == word; });
  if (found == Actions().end()) {
    return absl::InvalidArgumentError(absl::StrCat(Quote(word), ": expected list, pull or prune"));
  }
  return &*found;
}

absl::Status CheckOptions(const Invocation& invocation, const Action& action) {
  for (const char* option : {"nodelist", "nodes", "partition", "account", "time", "all",
                             "older-than", "container-name"}) {
    if (invocation.Has(option) && !Contains(action.options, std::string(option))) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", option, ": does not go with ", action.name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PruneImages> ReadPrune(const Invocation& invocation, const ImageWords& words) {
  PruneImages prune;
  prune.nodes = words.nodes;
  prune.images = words.images;
  prune.all = invocation.Has("all");
  if (invocation.Has("container-name")) {
    prune.containers = absl::StrSplit(invocation.Value("container-name"), ',', absl::SkipEmpty());
  }
  ASSIGN_OR_RETURN(prune.unused_for, ReadAge(invocation));
  if (prune.all && !prune.images.empty()) {
    return absl::InvalidArgumentError("--all: takes no IMAGE beside it");
  }
  if (!prune.all && prune.images.empty() && prune.containers.empty() &&
      prune.unused_for == Duration(0)) {
    return absl::InvalidArgumentError(
        "prune: say what goes: IMAGE, --older-than AGE, --container-name NAME, or --all");
  }
  return prune;
}

// One rank on each node, which does nothing.
absl::Status ReadPull(const Invocation& invocation, const ImageWords& words,
                      std::map<std::string, std::string>* run) {
  if (words.images.size() != 1) {
    return absl::InvalidArgumentError("pull: takes one IMAGE");
  }
  RETURN_IF_ERROR(CheckContainer({.image = words.images.front()}));
  for (const char* option :
       {"nodelist", "nodes", "partition", "account", "time", "controller", "state"}) {
    if (invocation.Has(option)) {
      (*run)[option] = invocation.Value(option);
    }
  }
  if (!words.nodes.empty() && !invocation.Has("nodes")) {
    (*run)["nodes"] = absl::StrCat(words.nodes.size());
  }
  const Environment& environment = invocation.environment;
  if (environment.Has("MUSTER_JOB_ID")) {
    // A step on the job's nodes, which waits for no other.
    const std::string all = environment.Get("MUSTER_JOB_NUM_NODES");
    run->insert({"nodes", all.empty() ? "1" : all});
    (*run)["ntasks"] = run->at("nodes");
    (*run)["overlap"] = "";
  } else {
    (*run)["ntasks-per-node"] = "1";
    (*run)[kRefuseMisfit] = "";  // who pulls waits for no node that may come
  }
  (*run)["container-image"] = words.images.front();
  (*run)["job-name"] = "images-pull";
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ReadKeepers(const Invocation& invocation) {
  if (!invocation.Has("nodelist")) {
    return std::vector<std::string>();
  }
  absl::StatusOr<std::vector<std::string>> names = NodeNames(invocation.Value("nodelist"));
  return names.ok() ? std::move(names)
                    : absl::InvalidArgumentError(
                          absl::StrCat("--nodelist: ", std::string(names.status().message())));
}

absl::StatusOr<Duration> ReadAge(const Invocation& invocation) {
  if (!invocation.Has("older-than")) {
    return Duration(0);
  }
  const absl::StatusOr<Duration> age = ParseDuration(invocation.Value("older-than"));
  if (!age.ok() || *age <= Duration(0)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--older-than: ",
                     age.ok() ? "give an age, such as 7d" : std::string(age.status().message())));
  }
  return *age;
}

absl::StatusOr<ImageWords> ReadImageWords(const Invocation& invocation,
                                          const std::string& directory) {
  ASSIGN_OR_RETURN(const Action* const action, FindAction(invocation.arguments.front()));
  RETURN_IF_ERROR(CheckOptions(invocation, *action));
  ImageWords words;
  words.action = action->action;
  ASSIGN_OR_RETURN(words.nodes, ReadKeepers(invocation));
  for (auto word = invocation.arguments.begin() + 1; word != invocation.arguments.end(); ++word) {
    if (word->empty()) {
      return absl::InvalidArgumentError("IMAGE: is empty");
    }
    words.images.push_back(WithAbsolutePath(*word, directory));
  }
  if (words.action == ImageAction::kList && !words.images.empty()) {
    return absl::InvalidArgumentError("list takes no IMAGE: it shows them all");
  }
  if (words.action == ImageAction::kPull) {
    RETURN_IF_ERROR(ReadPull(invocation, words, &words.run));
  }
  if (words.action == ImageAction::kPrune) {
    ASSIGN_OR_RETURN(words.prune, ReadPrune(invocation, words));
  }
  return words;
}

}  // namespace muster::cli

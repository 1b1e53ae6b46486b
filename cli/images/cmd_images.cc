#include <unistd.h>

#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "cli/controller/controller.h"
#include "cli/frame/json_output.h"
#include "cli/frame/output.h"
#include "cli/frame/verbs.h"
#include "cli/images/image_table.h"
#include "cli/images/image_words.h"
#include "cli/page/text.h"
#include "scheduler/base/status.h"
#include "scheduler/runtime/clock.h"

namespace muster::cli {
namespace {

absl::Status Show(const Invocation& invocation, const ImageTable& images) {
  if (invocation.Has("json")) {
    return WriteOut(PrintJson(ToJson(images)));
  }
  return WriteOut(
      PrintImages(images, SystemClock().Now(), StyleFor(invocation.environment, STDOUT_FILENO)));
}

// A node that does not answer makes a list that is not whole.
int CodeOf(const ImageTable& images) {
  return images.silent.empty() ? 0 : 1;
}

absl::StatusOr<int> List(const Invocation& invocation, const ImageWords& words) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ImageTable images, connection->Call(ListImages{words.nodes}));
  RETURN_IF_ERROR(Show(invocation, images));
  return CodeOf(images);
}

absl::StatusOr<int> Prune(const Invocation& invocation, const ImageWords& words) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(const ImageTable images, connection->Call(words.prune));
  RETURN_IF_ERROR(
      WriteOut(invocation.Has("json") ? PrintJson(ToJson(images)) : PrintPruned(images)));
  if (images.images.empty() && images.silent.empty()) {
    return absl::NotFoundError(
        "nothing of yours is called so, or is so old: see muster images list");
  }
  return CodeOf(images);
}

// By a job, whose output goes before the table.
absl::StatusOr<int> Pull(const Invocation& invocation, const ImageWords& words) {
  const Invocation run{invocation.environment, invocation.verbs, words.run, {":"}};
  ASSIGN_OR_RETURN(const int code, RunVerb().run(run));
  if (code != 0) {
    return code;
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, OpenController(invocation));
  ASSIGN_OR_RETURN(ImageTable images, connection->Call(ListImages{}));
  images.images = ImagesNamed(images.images, words.images.front());
  images.silent.clear();
  if (images.images.empty() && !invocation.Has("json")) {
    RETURN_IF_ERROR(WriteOut(
        absl::StrCat(Printable(words.images.front()), ": was there already, by another name\n")));
    return 0;
  }
  RETURN_IF_ERROR(Show(invocation, images));
  return 0;
}

absl::StatusOr<int> Images(const Invocation& invocation) {
  std::error_code error;
  const std::string directory = std::filesystem::current_path(error).string();
  ASSIGN_OR_RETURN(const ImageWords words, ReadImageWords(invocation, directory));
  switch (words.action) {
    case ImageAction::kPull:
      return Pull(invocation, words);
    case ImageAction::kPrune:
      return Prune(invocation, words);
    case ImageAction::kList:
      break;
  }
  return List(invocation, words);
}

}  // namespace

Verb ImagesVerb() {
  Verb verb;
  verb.name = "images";
  verb.purpose = "Show, fetch and remove the images that nodes keep for your containers";
  verb.synopsis = "list|pull|prune [IMAGE…]";
  verb.forms = {"list [-w NODES]", "pull IMAGE [-N COUNT] [-w NODES]",
                "prune IMAGE…|--older-than AGE|--container-name NAME|--all [-w NODES]"};
  verb.examples = {"muster images list", "muster images pull -N 4 ghcr.io/team/train:2.1",
                   "muster images prune --older-than 30d",
                   "muster images prune alpine:3.20 -w n[1-4]"};
  verb.remarks =
      "Nodes keep them for each user apart, within a bound; what a container uses stays.\n"
      "A pull is a job that does nothing in a container of the image, on each of its nodes.";
  verb.options = {
      {.name = "nodelist",
       .letter = 'w',
       .metavar = "NODES",
       .text = "These nodes, like n1,n[3-5] (default: all; pull: any)"},
      {.name = "nodes",
       .letter = 'N',
       .metavar = "COUNT",
       .text = "With pull: on that number of nodes"},
      {.name = "partition", .letter = 'p', .metavar = "NAMES", .text = "With pull: of these"},
      {.name = "account", .letter = 'A', .metavar = "NAME", .text = "With pull: to charge"},
      {.name = "time",
       .letter = 't',
       .metavar = "LIMIT",
       .text = "With pull: how long it may take"},
      {.name = "all", .letter = 0, .metavar = "", .text = "With prune: all images"},
      {.name = "older-than",
       .letter = 0,
       .metavar = "AGE",
       .text = "With prune: those that were not used for so long: 12h, 30d"},
      {.name = "container-name",
       .letter = 0,
       .metavar = "NAMES",
       .text = "With prune: named containers, by commas, and what was changed in them"},
      JsonOption()};
  verb.arguments_min = 1;
  verb.arguments_max = kAnyNumber;
  verb.run = Images;
  return verb;
}

}  // namespace muster::cli

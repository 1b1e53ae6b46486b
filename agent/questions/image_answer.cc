#include "agent/questions/image_answer.h"

#include <unistd.h>

#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "agent/supervisor/image/cache/kept_images.h"
#include "scheduler/base/status.h"
#include "scheduler/base/utf8.h"
#include "scheduler/model/value/fetch_variables.h"
#include "scheduler/runtime/program/program_answer.h"

namespace muster::agent {
namespace {

// Less than a question may take: what is not off the disk by then goes later.
constexpr Duration kRemoveWithin = std::chrono::seconds(8);
constexpr std::chrono::seconds kStartWithin{5};

KeptChoice ChoiceIn(const wire::PruneImagesRequest& request) {
  KeptChoice choice;
  choice.all = request.all();
  choice.images.assign(request.images().begin(), request.images().end());
  choice.containers.assign(request.containers().begin(), request.containers().end());
  choice.unused_for = Duration(request.unused_for());
  return choice;
}

}  // namespace

wire::ImageAnswer AnswerOfImages(const wire::ImageQuestion& question, const std::string& cache,
                                 Time now) {
  const std::vector<KeptImage> told =
      question.has_prune() ? RemoveKept(cache, ChoiceIn(question.prune()), now, kRemoveWithin)
                           : ListKept(cache);
  wire::ImageAnswer answer;
  for (const KeptImage& each : told) {
    wire::NodeImage& image = *answer.add_images();
    image.set_name(AsUtf8(each.name));
    image.set_digest(AsUtf8(each.digest));
    image.set_container(AsUtf8(each.container));
    image.set_architecture(AsUtf8(each.architecture));
    image.set_size(each.bytes);
    image.set_used(each.used.time_since_epoch().count());
    image.set_in_use(each.in_use);
  }
  return answer;
}

absl::Status StartFetch(const wire::ImageFetch& fetch, const ContainerSettings& settings,
                        const std::string& program) {
  SpawnRequest request;
  request.program = program;
  request.arguments = {program,
                       "fetch",
                       fetch.image(),
                       absl::StrCat(settings.cache, "/", geteuid()),
                       absl::StrCat(settings.cache_size),
                       absl::StrCat(settings.fetch_patience)};
  request.environment = FetchEnvironment({fetch.environment().begin(), fetch.environment().end()});
  request.working_directory = "/";
  ASSIGN_OR_RETURN(const ProgramAnswer answer,
                   AnswerOf(std::move(request), AnswerStreams::kBoth, kStartWithin));
  return answer.success ? absl::OkStatus()
                        : absl::InternalError(absl::StrCat(
                              "the fetch did not begin: ",
                              EscapeControl(answer.text.substr(0, answer.text.find('\n')))));
}

}  // namespace muster::agent

#include "agent/questions/image_answer.h"

#include <chrono>
#include <vector>

#include "agent/supervisor/image/cache/kept_images.h"
#include "scheduler/base/utf8.h"

namespace muster::agent {
namespace {

// Less than a question may take: what is not off the disk by then goes later.
constexpr Duration kRemoveWithin = std::chrono::seconds(8);

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

}  // namespace muster::agent

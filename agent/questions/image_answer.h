#pragma once

// What a user's cache of images or data on this node holds, what of it the user wants to be gone,
// and what a job of the user's will want there.
//
// Works in a child that is the user (user_space/as_user.h). Invariant: as kept_images.h has it.

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "agent/supervisor/attempt/container_order.h"
#include "agent/supervisor/attempt/network_class.h"
#include "proto/agent.pb.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

// `cache`: the user's; one that is not there holds nothing.
wire::ImageAnswer AnswerOfImages(const wire::ImageQuestion& question, const std::string& cache,
                                 Time now);

// Has the program fetch the image into the cache of whose process we are, and does not wait for
// that. A wire::ImageWanted: where the fetch listens for another node's; "": nowhere. Unavailable:
// another one is under way.
absl::StatusOr<std::string> StartFetch(const wire::ImageFetch& fetch,
                                       const ContainerSettings& settings,
                                       const std::string& program);

// What makes copies for a job that waits is started with: the job's variables without those of a
// launch, or for paths alone those that name no program and no library; and what is said of its
// traffic. `roots`: the agent is root's, and of a job's variables only those go along that say
// where rclone's remotes are, and run nothing.
std::vector<std::string> CopyEnvironment(const NetworkClasses& network, CopiesAhead ahead,
                                         const std::vector<std::string>& environment, bool roots);

// Has the program make copies of those sources in the user's cache of data, and does not wait for
// that. Unavailable as above.
absl::Status StartBring(const std::vector<std::string>& sources,
                        const std::vector<std::string>& environment,
                        const StagingSettings& settings, CopiesAhead ahead,
                        const std::string& program);

// Has the program give an image of that cache to who wants it, and does not wait for that.
absl::Status StartGive(const wire::ImageGive& give, const ContainerSettings& settings,
                       const std::string& program);

}  // namespace muster::agent

#pragma once

// What a user's cache of images on this node holds, and what of it the user wants to be gone.
//
// Works in a child that is the user (user_space/as_user.h). Invariant: as kept_images.h has it.

#include <string>

#include "proto/agent.pb.h"
#include "scheduler/model/value/time.h"

namespace muster::agent {

// `cache`: the user's; one that is not there holds nothing.
wire::ImageAnswer AnswerOfImages(const wire::ImageQuestion& question, const std::string& cache,
                                 Time now);

}  // namespace muster::agent

#pragma once

// A feature that a job's nodes must have because of what else the job asks for.
//
// Invariant: applied again it changes nothing, also when an update brings another expression.

#include "scheduler/model/job/job_spec.h"

namespace muster::core {

// The feature of a node where CRIU was seen to save and restore a process.
inline constexpr const char* kCriuFeature = "criu";
// The feature of a node that can run jobs in containers.
inline constexpr const char* kContainerFeature = "containers";
// The feature of a node that makes and keeps copies of data for jobs.
inline constexpr const char* kStagingFeature = "staging";

void RequireFeature(const char* feature, FeatureExpression* every);

}  // namespace muster::core

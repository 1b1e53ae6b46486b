#pragma once

// What programs need that record experiments: where to say how they get on, and names and tags for
// MLflow and Weights & Biases.
//
// What is set already stands; what an outer job was given is not its job's. No secret and no
// server is named here. Runs get no id, as a job may make several; but whoever has W&B resume runs
// (WANDB_RESUME) gets one that every attempt of the job has. Pure.

#include "agent/supervisor/attempt/order_file.h"
#include "agent/supervisor/variables/rank_variables.h"

namespace muster::agent {

// MUSTER_REPORT_SOCKET, MUSTER_RUN_ID, WANDB_NAME, WANDB_RUN_GROUP, WANDB_TAGS,
// MLFLOW_RUN_CONTEXT.
void SetTrackingVariables(const SupervisorOrder& order, Variables* variables);

}  // namespace muster::agent

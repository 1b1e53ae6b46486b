#include "scheduler/core/place/estimate/run_cost.h"

namespace muster::core {

double OperationsOf(Recomputation recomputation) {
  return recomputation == Recomputation::kFull ? 8 : 6;
}

double TrainingSeconds(double operations, double active_parameters, double tokens, double gpus,
                       double flops) {
  return operations * active_parameters * tokens / (gpus * flops);
}

double EnergyOf(double gpu_hours, double watts, double pue) {
  return gpu_hours * watts * pue / 1000;
}

}  // namespace muster::core

#pragma once

// How long a training run takes, and what GPU hours cost in energy and money.
//
// Operations: 6 for each parameter that a token uses, 2 of them forward and 4 backward (J. Kaplan
// et al., Scaling laws for neural language models, arXiv 2001.08361, section 2.1), and 2 more where
// activations are computed again: a run of T tokens and P parameters on n GPUs, each with X
// operations a second, takes 8 T P / (n X) seconds (D. Narayanan et al., Efficient large-scale
// language model training on GPU clusters using Megatron-LM, arXiv 2104.04473, equation 4).
// Attention's own products and the vocabulary are left out, as there. Energy: GPU hours times the
// watts of a GPU times the data centre's PUE (H. Touvron et al., LLaMA, arXiv 2302.13971, section
// 6). The GPUs' watts are their limit: what a run uses is less; hosts and switches are not counted.
// Pure.

#include "scheduler/core/place/estimate/model_memory.h"

namespace muster::core {

// 6, or 8 with full recomputation. Selective recomputation does attention again: less than a
// twentieth of the whole for usual shapes (Korthikanti et al., arXiv 2205.05198, section 5), left
// out.
double OperationsOf(Recomputation recomputation);

// Seconds. `flops` is what one GPU reaches, not its peak. REQUIRES: gpus > 0, flops > 0.
double TrainingSeconds(double operations, double active_parameters, double tokens, double gpus,
                       double flops);

// Kilowatt hours.
double EnergyOf(double gpu_hours, double watts, double pue);

}  // namespace muster::core

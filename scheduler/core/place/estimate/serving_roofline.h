#pragma once

// How fast a transformer answers: the KV cache, and the roofline of prefill and decode.
//
// A token of the context keeps a key and a value for each layer and key/value head: 2 L g d numbers
// (R. Pope et al., Efficiently scaling transformer inference, arXiv 2211.05102, section 2; grouped
// heads: J. Ainslie et al., GQA, arXiv 2305.13245). A step takes as long as the slower of its two
// limits (S. Williams, A. Waterman, D. Patterson, Roofline, CACM 52(4), 2009): 2 operations for
// each parameter that a token uses (Pope et al., section 2) over the GPUs' speed, and the bytes
// read over their memories' bandwidth: a decode step reads the weights once for the batch, and each
// sequence's KV cache. Prefill handles all tokens of a prompt at once. An upper bound: not counted
// are attention's own products, communication between the GPUs, kernels' launches and sampling.
// Pure.

#include <cstdint>
#include <optional>

#include "scheduler/core/place/estimate/expert_layers.h"
#include "scheduler/model/value/units.h"

namespace muster::core {

// Bits of a number: 4 to 32.
struct ServedModel {
  std::uint64_t parameters = 0;
  std::uint32_t weight_bits = 16;
  std::optional<ExpertShape> experts;
  std::uint64_t layers = 0;     // L
  std::uint64_t kv_heads = 0;   // g
  std::uint64_t head_size = 0;  // d
  std::uint32_t kv_bits = 16;
};

// The GPUs that hold one copy of the model.
struct ServingGpus {
  double count = 1;
  double flops = 0;             // operations a second that one reaches
  double bytes_per_second = 0;  // that one reads
};

// All together, of one copy. Nothing when it does not fit 64 bits.
std::optional<Bytes> WeightBytes(const ServedModel& model);

// Of one token of one sequence, rounded up. Nothing when it does not fit 64 bits.
std::optional<Bytes> KvBytesPerToken(const ServedModel& model);

// How many sequences of `context` tokens fit beside the weights; 0 when not even the weights fit.
std::uint64_t SequencesThatFit(const ServedModel& model, Bytes memory, std::uint64_t context);

// Seconds. REQUIRES: both byte counts fit 64 bits; count, flops and bytes_per_second are above 0.
double PrefillSeconds(const ServedModel& model, const ServingGpus& gpus, double prompt);
// For a batch of sequences that have `context` tokens each: one more token of each.
double DecodeSeconds(const ServedModel& model, const ServingGpus& gpus, double batch,
                     double context);

// A server that is full: `batch` sequences at once, each with `prompt` tokens to read and `output`
// to write; a prefill holds up the others' steps.
struct FullServing {
  double request_seconds = 0;  // from its turn to its last token
  double requests_per_second = 0;
  double tokens_per_second = 0;  // written
};
FullServing ServeFull(const ServedModel& model, const ServingGpus& gpus, double batch,
                      double prompt, double output);

}  // namespace muster::core

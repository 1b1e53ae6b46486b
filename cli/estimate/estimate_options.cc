#include "cli/estimate/estimate_options.h"

namespace muster::cli {
namespace {

Option Described(const char* name, const char* metavar, const char* text) {
  return Option{.name = name, .letter = 0, .metavar = metavar, .text = text};
}

std::vector<Option> ModelOptions() {
  return {Described("params", "N", "Parameters of the model in all: 7e9, 7B, 1.3B, 350M"),
          Described("dtype", "TYPE",
                    "bf16 (the default), fp16 or fp32; with --serve fp8, int8 and int4, too"),
          Described("hidden", "N", "Hidden size"),
          Described("layers", "N", "Transformer layers"),
          Described("heads", "N", "Attention heads; otherwise one for each 128 of the hidden size"),
          Described("experts", "N", "Experts of a layer, of a mixture of experts"),
          Described("experts-active", "N", "Experts to which a token is sent (2)"),
          Described("expert-size", "N", "Inner size of one expert"),
          Described("expert-layers", "N", "Layers that have experts; otherwise all")};
}

std::vector<Option> TrainingOptions() {
  return {
      Described("optimizer", "NAME",
                "adam (the default), adamw, adam8bit, sgd or momentum (SGD with momentum)"),
      Described("strategy", "NAME",
                "ddp (the default), zero1, zero2, zero3 or fsdp, which is full sharding, as zero3"),
      Described("offload", "LIST",
                "What leaves the GPU: optimizer (with the gradients), weights, activations; "
                "optimizer:nvme and weights:nvme to NVMe instead of the host"),
      Described("pp", "N", "Pipeline-parallel degree (1)"),
      Described("ep", "N", "Expert-parallel degree, a part of the data-parallel one (1)"),
      Described("batch", "N",
                "Sequences at once: of a replica the micro-batch; with --serve of a copy (as many "
                "as fit, up to 256)"),
      Described("seq", "N", "Tokens of a sequence"),
      Described("recompute", "WHAT", "none (the default), selective or full"),
      Described("sequence-parallel", "", "Divide norms and dropouts by tp, too"),
      Described("tokens", "N", "Tokens to train on: 300B; time, energy and price of the run"),
      Described("submit", "",
                "Submit the script with one task a GPU, the memory that the estimate says and a "
                "tenth more, and --parallel"),
      Described("bandwidth", "RATE", "Of a GPU to others: 50e9, 50GB/s, 400Gb/s"),
      Described("gpus-per-node", "N", "With --node-bandwidth: how many GPUs share a node"),
      Described("node-bandwidth", "RATE",
                "What a GPU sends to others of its node each second: 450GB/s")};
}

std::vector<Option> GpuOptions() {
  return {Described("gpus", "N", "GPUs in all (1)"),
          Described("tp", "N", "Tensor-parallel degree (1)"),
          Described("gpu-memory", "LIST",
                    "GPUs to fit into, by size (80G) or type and size (h100:80G,a100:40G); usual "
                    "types otherwise"),
          Described("cluster", "", "Fit into the GPU types of the live cluster"),
          Described("gpu", "TYPE",
                    "Type of the GPUs: speed, bandwidth, memory and watts of its data sheet"),
          Described("gpu-flops", "N", "Operations that a GPU does each second at its peak: 312T"),
          Described("flops-used", "PART", "Of these (0.4; with --serve 1, the roofline)")};
}

std::vector<Option> ServingOptions() {
  return {Described("serve", "", "Serve the model: memory, tokens a second, waiting, price"),
          Described("kv-heads", "N", "Key/value heads; otherwise as many as --heads"),
          Described("head-size", "N", "Size of a head (--hidden over --heads, or 128)"),
          Described("kv-dtype", "TYPE", "Of the KV cache: as of --dtype, but at least 16 bits"),
          Described("prompt", "N", "Tokens of a request (512)"),
          Described("output", "N", "Tokens of its answer (256)"),
          Described("memory-bandwidth", "RATE",
                    "What a GPU reads of its memory each second at its peak: 2TB/s"),
          Described("bandwidth-used", "PART", "Of this (1, the roofline)"),
          Described("rate", "N", "Requests a second: within what time are 99 % of them answered"),
          Described("p99", "TIME", "Up to how many requests a second 99 % are within this: 10s"),
          Described("spread", "N",
                    "Coefficient of variation of requests' work: 0, all alike; 1, exponential "
                    "(the default)")};
}

std::vector<Option> CostOptions() {
  return {Described("watts", "N", "What a GPU takes; otherwise the limit of its data sheet"),
          Described("pue", "N", "Energy of the data centre for that of its machines (1)"),
          Described("prices", "FILE", "Take [price] of this configuration: gpu_hour, kwh"),
          Described("price-gpu-hour", "N", "Price of an hour of one GPU"),
          Described("price-kwh", "N", "Price of a kilowatt hour, beside that of the hours")};
}

}  // namespace

std::vector<Option> EstimateOptions() {
  std::vector<Option> options = ModelOptions();
  for (const std::vector<Option>& more :
       {GpuOptions(), TrainingOptions(), ServingOptions(), CostOptions()}) {
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

}  // namespace muster::cli

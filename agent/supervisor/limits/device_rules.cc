#include "agent/supervisor/limits/device_rules.h"

#include <algorithm>
#include <cstddef>

namespace muster::agent {
namespace {

// The program's registers. BPF gives the question in 1 and takes the answer from 0.
constexpr std::uint8_t kAnswer = 0;
constexpr std::uint8_t kQuestion = 1;
constexpr std::uint8_t kType = 2;
constexpr std::uint8_t kMajor = 3;
constexpr std::uint8_t kMinor = 4;
// The low half of access_type is the kind of device, the high half what is asked for.
constexpr std::int32_t kTypeMask = 0xffff;

template <std::uint8_t kTo>
bpf_insn Load(std::size_t offset) {
  return {.code = BPF_LDX | BPF_MEM | BPF_W,
          .dst_reg = kTo,
          .src_reg = kQuestion,
          .off = static_cast<std::int16_t>(offset),
          .imm = 0};
}

template <std::uint8_t kWhat>
bpf_insn Jump(std::uint8_t how, std::uint32_t than, std::int16_t over) {
  return {.code = static_cast<std::uint8_t>(BPF_JMP32 | how | BPF_K),
          .dst_reg = kWhat,
          .src_reg = 0,
          .off = over,
          .imm = static_cast<std::int32_t>(than)};
}

void Answer(bool allow, std::vector<bpf_insn>* program) {
  program->push_back({.code = BPF_ALU64 | BPF_MOV | BPF_K,
                      .dst_reg = kAnswer,
                      .src_reg = 0,
                      .off = 0,
                      .imm = allow ? 1 : 0});
  program->push_back({.code = BPF_JMP | BPF_EXIT, .dst_reg = 0, .src_reg = 0, .off = 0, .imm = 0});
}

}  // namespace

std::vector<DeviceRule> DeviceRules(const std::vector<topology::DeviceNodes>& devices,
                                    const std::vector<GpuGrant>& gpus) {
  std::vector<DeviceRule> rules;
  for (const topology::DeviceNodes& nodes : devices) {
    const bool allow = std::any_of(gpus.begin(), gpus.end(), [&nodes](const GpuGrant& grant) {
      return std::find(nodes.gpus.begin(), nodes.gpus.end(), grant.gpu) != nodes.gpus.end();
    });
    rules.push_back({nodes.major, nodes.first_minor, nodes.last_minor, allow});
  }
  return rules;
}

std::vector<bpf_insn> DeviceProgram(const std::vector<DeviceRule>& rules) {
  std::vector<bpf_insn> program = {
      Load<kType>(offsetof(bpf_cgroup_dev_ctx, access_type)),
      {.code = BPF_ALU64 | BPF_AND | BPF_K,
       .dst_reg = kType,
       .src_reg = 0,
       .off = 0,
       .imm = kTypeMask},
      Load<kMajor>(offsetof(bpf_cgroup_dev_ctx, major)),
      Load<kMinor>(offsetof(bpf_cgroup_dev_ctx, minor)),
      Jump<kType>(BPF_JEQ, BPF_DEVCG_DEV_CHAR, 2),
  };
  Answer(true, &program);
  for (const DeviceRule& rule : rules) {
    // Over what is left of this rule.
    program.push_back(Jump<kMajor>(BPF_JNE, rule.major, 4));
    program.push_back(Jump<kMinor>(BPF_JLT, rule.first_minor, 3));
    program.push_back(Jump<kMinor>(BPF_JGT, rule.last_minor, 2));
    Answer(rule.allow, &program);
  }
  Answer(true, &program);
  return program;
}

}  // namespace muster::agent

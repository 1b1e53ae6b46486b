#include "agent/supervisor/limits/device_rules.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstring>

namespace muster::agent {
namespace {

constexpr std::uint32_t kNvidia = 195;

// Runs the few instructions that the program may consist of; nothing when it does what the kernel
// would refuse: an unknown instruction, a jump out of the program, an end without an answer.
std::optional<std::uint64_t> Interpret(const std::vector<bpf_insn>& program,
                                       const bpf_cgroup_dev_ctx& question) {
  std::array<std::uint64_t, 11> registers = {};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const bpf_insn& now = program[at];
    const auto value = static_cast<std::uint32_t>(registers[now.dst_reg]);
    const auto than = static_cast<std::uint32_t>(now.imm);
    bool jump = false;
    switch (now.code) {
      case BPF_LDX | BPF_MEM | BPF_W: {
        if (now.src_reg != 1 || now.off < 0 || now.off + 4U > sizeof(question)) {
          return std::nullopt;
        }
        std::uint32_t word = 0;
        std::memcpy(&word, reinterpret_cast<const char*>(&question) + now.off, sizeof(word));
        registers[now.dst_reg] = word;
        break;
      }
      case BPF_ALU64 | BPF_AND | BPF_K:
        registers[now.dst_reg] &= than;
        break;
      case BPF_ALU64 | BPF_MOV | BPF_K:
        registers[now.dst_reg] = than;
        break;
      case BPF_JMP32 | BPF_JEQ | BPF_K:
        jump = value == than;
        break;
      case BPF_JMP32 | BPF_JNE | BPF_K:
        jump = value != than;
        break;
      case BPF_JMP32 | BPF_JLT | BPF_K:
        jump = value < than;
        break;
      case BPF_JMP32 | BPF_JGT | BPF_K:
        jump = value > than;
        break;
      case BPF_JMP | BPF_EXIT:
        return registers[0];
      default:
        return std::nullopt;
    }
    at += jump ? static_cast<std::size_t>(now.off) : 0;
  }
  return std::nullopt;
}

bpf_cgroup_dev_ctx Open(std::uint32_t kind, std::uint32_t major, std::uint32_t minor) {
  return {.access_type = (std::uint32_t{BPF_DEVCG_ACC_READ | BPF_DEVCG_ACC_WRITE} << 16) | kind,
          .major = major,
          .minor = minor};
}

bool Allowed(const std::vector<DeviceRule>& rules, std::uint32_t major, std::uint32_t minor) {
  return Interpret(DeviceProgram(rules), Open(BPF_DEVCG_DEV_CHAR, major, minor)) == 1U;
}

// Two GPUs, one of which is another slice's, beside a third that nobody claims.
std::vector<topology::DeviceNodes> Nodes() {
  return {{kNvidia, 3, 3, {0}}, {kNvidia, 5, 5, {1}}, {kNvidia, 0, 253, {}}, {226, 128, 128, {0}}};
}

TEST(DeviceRulesTest, AJobOpensItsOwnGpuAlone) {
  const std::vector<DeviceRule> rules = DeviceRules(Nodes(), {{.gpu = 0}});
  EXPECT_TRUE(Allowed(rules, kNvidia, 3));
  EXPECT_TRUE(Allowed(rules, 226, 128));
  EXPECT_FALSE(Allowed(rules, kNvidia, 5));
  EXPECT_FALSE(Allowed(rules, kNvidia, 0));
  EXPECT_TRUE(Allowed(rules, kNvidia, 255));  // nvidiactl
}

TEST(DeviceRulesTest, AJobWithoutGpusOpensNone) {
  const std::vector<DeviceRule> rules = DeviceRules(Nodes(), {});
  EXPECT_FALSE(Allowed(rules, kNvidia, 3));
  EXPECT_FALSE(Allowed(rules, kNvidia, 5));
  EXPECT_FALSE(Allowed(rules, 226, 128));
}

TEST(DeviceRulesTest, OtherDevicesKeepTheHostsRules) {
  const std::vector<DeviceRule> rules = DeviceRules(Nodes(), {});
  EXPECT_TRUE(Allowed(rules, 1, 3));    // null
  EXPECT_TRUE(Allowed(rules, 136, 0));  // pts/0
  EXPECT_TRUE(Allowed(rules, 226, 0));  // a card that is no GPU of ours
  EXPECT_EQ(Interpret(DeviceProgram(rules), Open(BPF_DEVCG_DEV_BLOCK, kNvidia, 3)), 1U);
}

TEST(DeviceRulesTest, TheProgramAnswersAsTheRulesDo) {
  EXPECT_TRUE(rc::check([] {
    const auto small = rc::gen::inRange<std::uint32_t>(0, 6);
    const auto rules = *rc::gen::container<std::vector<DeviceRule>>(rc::gen::build<DeviceRule>(
        rc::gen::set(&DeviceRule::major, small), rc::gen::set(&DeviceRule::first_minor, small),
        rc::gen::set(&DeviceRule::last_minor, small), rc::gen::set(&DeviceRule::allow)));
    const std::uint32_t major = *small;
    const std::uint32_t minor = *small;
    bool expected = true;
    for (const DeviceRule& rule : rules) {
      if (rule.major == major && rule.first_minor <= minor && minor <= rule.last_minor) {
        expected = rule.allow;
        break;
      }
    }
    RC_ASSERT(Interpret(DeviceProgram(rules), Open(BPF_DEVCG_DEV_CHAR, major, minor)) ==
              std::optional<std::uint64_t>(expected ? 1 : 0));
  }));
}

}  // namespace
}  // namespace muster::agent

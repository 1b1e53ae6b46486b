#include <gtest/gtest.h>

#include <set>
#include <string>

#include "proto/controller.pb.h"
#include "proto/convert/bytes.h"
#include "proto/convert/codec.h"
#include "proto/convert/converted.h"
#include "proto/convert/through_bytes.h"
#include "proto/health.pb.h"
#include "proto/job.pb.h"
#include "proto/journal.pb.h"
#include "proto/machine.pb.h"
#include "proto/node.pb.h"
#include "proto/order.pb.h"
#include "proto/plan.pb.h"
#include "proto/policy.pb.h"
#include "proto/view.pb.h"
#include "scheduler/model/change/event.h"
#include "scheduler/model/job/job_spec.h"
#include "scheduler/model/job/job_update.h"
#include "scheduler/model/job/order.h"
#include "scheduler/model/job/report.h"
#include "scheduler/model/machine/gpu_pace.h"
#include "scheduler/model/machine/node.h"
#include "scheduler/model/plan/plan.h"
#include "scheduler/model/policy/account.h"
#include "scheduler/model/policy/policy_usage.h"
#include "scheduler/model/policy/policy_view.h"
#include "scheduler/model/policy/priority.h"
#include "scheduler/model/value/wire_size.h"
#include "scheduler/model/view/rank_pace.h"
#include "scheduler/model/view/view.h"
#include "tests/unit/proto/convert/filler.h"

namespace muster {

MUSTER_CONVERTED(Spent)
MUSTER_CONVERTED_THROUGH_BYTES(Spent)

namespace {

using testing::Filled;
using testing::Filler;

// Every field of the message, and of the messages in it, has a name that the model knows too.
template <class T, class Wire>
void ExpectRoundTrip() {
  const T value = Filled<T>();
  Wire message;
  convert::WriteThroughBytes(value, &message);
  Wire parsed;
  ASSERT_TRUE(parsed.ParseFromString(message.SerializeAsString()));
  T back{};
  ASSERT_TRUE(convert::ReadThroughBytes(parsed, &back).ok()) << Wire::descriptor()->full_name();
  EXPECT_EQ(back, value) << Wire::descriptor()->full_name() << ": " << message.ShortDebugString();
  EXPECT_EQ(static_cast<std::size_t>(Wire::descriptor()->field_count() -
                                     (Wire::descriptor()->real_oneof_decl_count() > 0
                                          ? Wire::descriptor()->oneof_decl(0)->field_count() - 1
                                          : 0)),
            kFieldCount<T>)
      << Wire::descriptor()->full_name() << " has fields that the model lacks";
}

TEST(ConvertTest, ADeclaredPairGoesIntoItsMessageAndBack) {
  const Spent spent = Filled<Spent>();
  wire::Spent message;
  ToWire(spent, &message);
  Spent back;
  ASSERT_TRUE(FromWire(message, &back).ok());
  EXPECT_EQ(back, spent);
}

TEST(ConvertTest, EveryValueComesBackAsItWas) {
  ExpectRoundTrip<Machine, wire::Machine>();
  ExpectRoundTrip<JobSpec, wire::JobSpec>();
  ExpectRoundTrip<Program, wire::Program>();
  ExpectRoundTrip<StepSpec, wire::StepSpec>();
  ExpectRoundTrip<Allocation, wire::Allocation>();
  ExpectRoundTrip<Registration, wire::Registration>();
  ExpectRoundTrip<RankPace, wire::RankPace>();
  ExpectRoundTrip<GpuWork, wire::GpuWork>();
  ExpectRoundTrip<RankGpuWork, wire::RankGpuWork>();
  ExpectRoundTrip<GpuPace, wire::GpuPace>();
  ExpectRoundTrip<LaunchOrder, wire::LaunchOrder>();
  ExpectRoundTrip<StepOrder, wire::StepOrder>();
  ExpectRoundTrip<TerminateOrder, wire::TerminateOrder>();
  ExpectRoundTrip<SuspendOrder, wire::SuspendOrder>();
  ExpectRoundTrip<Plan, wire::Plan>();
  ExpectRoundTrip<Report, wire::Report>();
  ExpectRoundTrip<JournalEntry, wire::JournalEntry>();
  ExpectRoundTrip<JobDetail, wire::JobDetail>();
  ExpectRoundTrip<NodeView, wire::NodeView>();
  ExpectRoundTrip<JobUpdate, wire::JobUpdate>();
  ExpectRoundTrip<PolicyChanged, wire::PolicyChanged>();
  ExpectRoundTrip<Spent, wire::Spent>();
  ExpectRoundTrip<AccountUsage, wire::AccountUsage>();
  ExpectRoundTrip<Account, wire::Account>();
  ExpectRoundTrip<Association, wire::Association>();
  ExpectRoundTrip<ChargedRun, wire::ChargedRun>();
  ExpectRoundTrip<Priority, wire::Priority>();
  ExpectRoundTrip<Assignment, wire::Assignment>();
  ExpectRoundTrip<PolicyView, wire::PolicyView>();
  ExpectRoundTrip<PolicyChangeView, wire::PolicyChangeView>();
}

template <std::size_t... I>
void ExpectEveryEventBack(std::index_sequence<I...>) {
  const auto check = [](auto event) {
    Filler().Fill(event);
    const JournalEntry entry{Version(7), event};
    wire::JournalEntry message;
    convert::WriteThroughBytes(entry, &message);
    JournalEntry back;
    ASSERT_TRUE(convert::ReadThroughBytes(message, &back).ok());
    EXPECT_EQ(back, entry) << message.ShortDebugString();
  };
  (check(std::variant_alternative_t<I, Event>{}), ...);
}

TEST(ConvertTest, EveryAlternativeOfAnEventKeepsItsPlace) {
  ExpectEveryEventBack(std::make_index_sequence<std::variant_size_v<Event>>());
}

TEST(ConvertTest, ADefaultOnTheWireIsZeroAndNotTheModelsInitialiser) {
  Program program;
  ASSERT_EQ(program.umask, 022U);
  ASSERT_TRUE(convert::ReadThroughBytes(wire::Program(), &program).ok());
  EXPECT_EQ(program.umask, 0U);
}

TEST(ConvertTest, AnUnknownEnumValueIsRefusedByName) {
  wire::JobSpec message;
  google::protobuf::Message& raw = message;
  raw.GetReflection()->SetEnumValue(&raw, wire::JobSpec::descriptor()->FindFieldByName("kind"), 99);
  JobSpec spec;
  const absl::Status status = convert::ReadThroughBytes(message, &spec);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("kind"), std::string::npos) << status;
}

TEST(ConvertTest, ABadCpuListIsRefused) {
  wire::NodeAllocation message;
  message.set_cpus("0-2,,4");
  NodeAllocation allocation;
  EXPECT_FALSE(convert::ReadThroughBytes(message, &allocation).ok());
}

// What core/place/order_size and model/job/program_check rely on.
template <class T, class Wire>
void ExpectCovered(const T& value) {
  Wire message;
  convert::WriteThroughBytes(value, &message);
  EXPECT_GE(WireBytes(value), message.ByteSizeLong()) << Wire::descriptor()->full_name();
}

TEST(ConvertTest, AValueIsNeverLargerOnTheWireThanTheModelReckons) {
  ExpectCovered<JobSpec, wire::JobSpec>(Filled<JobSpec>());
  ExpectCovered<Program, wire::Program>(Filled<Program>());
  ExpectCovered<Allocation, wire::Allocation>(Filled<Allocation>());
  ExpectCovered<StepSpec, wire::StepSpec>(Filled<StepSpec>());
  JobSpec large;
  large.nice = -1;
  large.time_limit = Duration(-1);
  large.comment = std::string(100'000, 'x');
  ExpectCovered<JobSpec, wire::JobSpec>(large);
  Program script;
  script.script = std::string(3 << 20, '#');
  script.argv.assign(10'000, "");
  ExpectCovered<Program, wire::Program>(script);
  EXPECT_LE(WireBytes(script), script.script.size() + 10'000 * 3 + 100);
}

TEST(ConvertTest, TheBytesAreThoseOfTheMessage) {
  const JobView value = Filled<JobView>();
  std::string bytes;
  AppendWire(value, &bytes);
  wire::JobView message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  JobView back;
  ASSERT_TRUE(convert::ReadThroughBytes(message, &back).ok());
  EXPECT_EQ(back, value);
  JobView read;
  ASSERT_TRUE(ReadWire(message.SerializeAsString(), &read).ok());
  EXPECT_EQ(read, value);
}

TEST(ConvertTest, BytesOfAnotherVersionAreReadAsFarAsTheyAreKnown) {
  std::string bytes;
  AppendWire(Filled<Program>(), &bytes);
  convert::PutBytes(9999, "of a later version", &bytes);
  convert::PutTag(9998, convert::WireType::kVarint, &bytes);
  convert::PutVarint(1U << 31U, &bytes);
  Program program;
  ASSERT_TRUE(ReadWire(bytes, &program).ok());
  EXPECT_EQ(program, Filled<Program>());
}

TEST(ConvertTest, BytesThatAreCutOffAreRefusedAndNeverReadBeyond) {
  std::string bytes;
  AppendWire(Filled<JobSpec>(), &bytes);
  std::size_t refused = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    JobSpec spec;
    refused += ReadWire(std::string(bytes, 0, size), &spec).ok() ? 0 : 1;
  }
  EXPECT_GT(refused, bytes.size() / 2);
}

TEST(ConvertTest, TextThatIsNotUtf8ArrivesRepaired) {
  Program program;
  program.work_dir = "/tmp/\xff";
  wire::Program message;
  convert::WriteThroughBytes(program, &message);
  EXPECT_EQ(message.work_dir(), "/tmp/\\xff");
}

TEST(ConvertTest, AnEmptyOneofIsRefused) {
  Report report;
  EXPECT_FALSE(convert::ReadThroughBytes(wire::Report(), &report).ok());
}

}  // namespace
}  // namespace muster

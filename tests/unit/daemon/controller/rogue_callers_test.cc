// Who may speak (attacks A3, A4, A5, A7, C5, C7), over the wire: real services behind real TLS, and
// callers that show what they should not have.

#include <gmock/gmock.h>
#include <sys/mman.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "daemon/serve/door_probe.h"
#include "proto/agent.pb.h"
#include "proto/controller.pb.h"
#include "proto/convert/job.h"
#include "proto/convert/through_bytes.h"
#include "scheduler/model/job/job_spec.h"
#include "tests/unit/daemon/controller/secured_rig.h"

namespace muster::daemon::testing {
namespace {

using ::testing::HasSubstr;

class RogueCallersTest : public SecuredTest {
 protected:
  static wire::SubmitRequest HeldJob(const User& claimed) {
    wire::SubmitRequest request;
    JobSpec spec;
    spec.name = "job";
    spec.user = claimed;
    spec.held = true;
    spec.request.tasks = 1;
    spec.request.min_nodes = 1;
    spec.request.max_nodes = 1;
    convert::WriteThroughBytes(spec, request.mutable_spec());
    request.mutable_program()->set_script("#!/bin/sh\n");
    request.mutable_program()->set_work_dir("/");
    static int made = 0;
    const std::string number = std::to_string(++made);
    request.set_token(std::string(32 - number.size(), '0') + number);
    return request;
  }
  std::vector<std::string> Nodes() const {
    const auto stub = wire::Controller::NewStub(Channel(Self()));
    grpc::ClientContext context;
    wire::ListNodesReply reply;
    EXPECT_TRUE(stub->ListNodes(&context, wire::ListNodesRequest(), &reply).ok());
    std::vector<std::string> names;
    for (const wire::NodeView& node : reply.nodes()) {
      names.push_back(node.name());
    }
    return names;
  }
};

TEST_F(RogueCallersTest, EveryMethodAnswersEveryRoleAsTheMatrixSays) {
  // Which column of the matrix a caller is in; none: everything is refused.
  const std::map<std::string, Caller> callers = {
      {"operator's-key", {"a client", Self()}},
      {"agent", {"an agent", Agent("n1")}},
      {"controller", {"a controller", Issue({CertificateRole::kController, ""})}},
      {"", {"nobody", std::nullopt}}};
  std::istringstream matrix(ReadFile(MUSTER_ACCESS_MATRIX).value());
  std::string line;
  std::getline(matrix, line);
  std::istringstream titles(line);
  std::vector<std::string> columns;
  for (std::string word; titles >> word;) {
    columns.push_back(word);
  }
  std::map<std::string, std::shared_ptr<grpc::Channel>> channels;
  for (const auto& [column, caller] : callers) {
    channels[column] = Channel(caller.key);
  }
  std::size_t calls = 0;
  while (std::getline(matrix, line)) {
    std::istringstream cells(line);
    std::map<std::string, std::string> row;
    for (const std::string& column : columns) {
      cells >> row[column];
    }
    for (const auto& [column, caller] : callers) {
      const grpc::Status status = CallEmpty(channels[column], row["method"]);
      const bool allowed = !column.empty() && row[column] == "yes";
      // A controller's certificate is for serving: TLS itself does not take it of a caller.
      const bool refused = column == "controller"
                               ? status.error_code() == grpc::StatusCode::UNAVAILABLE
                               : IsRefusal(status);
      EXPECT_EQ(!refused, allowed)
          << caller.name << " " << row["method"] << ": " << status.error_message();
      if (!allowed) {
        EXPECT_EQ(status.error_message().find('\n'), std::string::npos);
      }
      ++calls;
    }
  }
  EXPECT_EQ(calls, AllMethods().size() * callers.size());
  EXPECT_THAT(Logged(), HasSubstr("Cancel of agent n1 by certificate "));
}

TEST_F(RogueCallersTest, AMethodThatIsNotThereIsNobodys) {
  for (const char* method :
       {"/muster.wire.Controller/Nothing", "/muster.wire.Secret/Submit", "/"}) {
    EXPECT_FALSE(CallEmpty(Channel(Self()), method).ok()) << method;
  }
}

TEST_F(RogueCallersTest, AnAgentSpeaksForNoOtherNode) {
  for (const char* name : {"n2", "n", "n11", "N1", ""}) {
    Stream stream(Channel(Agent("n1")));
    const wire::ControllerMessage answer = stream.Register(name, now_);
    ASSERT_TRUE(answer.has_refusal()) << name;
    EXPECT_TRUE(answer.refusal().permanent());
    EXPECT_THAT(answer.refusal().text(), HasSubstr("the certificate is node n1's"));
  }
  EXPECT_THAT(Nodes(), ::testing::IsEmpty());
  EXPECT_THAT(Logged(), HasSubstr("Attach of agent n1 by certificate"));
}

TEST_F(RogueCallersTest, AnAgentReportsNothingOfAJobThatIsNotItsOwn) {
  const auto stub = wire::Controller::NewStub(Channel(Self()));
  grpc::ClientContext context;
  wire::SubmitReply submitted;
  ASSERT_TRUE(stub->Submit(&context, HeldJob(User()), &submitted).ok());
  Stream stream(Channel(Agent("n1")));
  ASSERT_TRUE(stream.Register("n1", now_).has_welcome());
  for (std::uint32_t index = 1; index <= 3; ++index) {
    Report report{JobId(submitted.job()), AttemptNumber(1), index, RunEnded()};
    wire::AgentMessage message;
    ToWire(report, message.mutable_report());
    ASSERT_TRUE(stream.stream->Write(message));
    wire::ControllerMessage answer;
    ASSERT_TRUE(stream.stream->Read(&answer));
    EXPECT_TRUE(answer.has_ack());
  }
  const std::vector<JobView> jobs = Jobs();
  ASSERT_EQ(jobs.size(), 1U);
  EXPECT_EQ(jobs[0].state, "PENDING");
  EXPECT_EQ(jobs[0].restarts, 0U);
}

TEST_F(RogueCallersTest, AnAgentSpeaksOfNoUsageButThatOfItsOwnAttempts) {
  Stream one(Channel(Agent("n1")));
  ASSERT_TRUE(one.Register("n1", now_).has_welcome());
  wire::SubmitRequest request = HeldJob(User());
  request.mutable_spec()->set_held(false);
  const auto stub = wire::Controller::NewStub(Channel(Self()));
  grpc::ClientContext context;
  wire::SubmitReply submitted;
  ASSERT_TRUE(stub->Submit(&context, request, &submitted).ok());
  Stream two(Channel(Agent("n2")));
  ASSERT_TRUE(two.Register("n2", now_).has_welcome());
  const auto nodes_shown = [&](Stream& stream) {
    wire::AgentMessage message;
    wire::AttemptUsage& usage = *message.mutable_usage()->add_attempts();
    usage.set_job(submitted.job());
    usage.set_attempt(1);
    usage.mutable_usage()->set_user_cpu(1000);
    EXPECT_TRUE(stream.stream->Write(message));
    stream.AwaitTurn();
    grpc::ClientContext asking;
    wire::ShowJobRequest show;
    show.mutable_job()->set_job(submitted.job());
    wire::ShowJobReply shown;
    EXPECT_TRUE(stub->ShowJob(&asking, show, &shown).ok());
    return shown.jobs_size() == 1 ? shown.jobs(0).live_usage_size() : -1;
  };
  EXPECT_EQ(nodes_shown(two), 0);
  EXPECT_EQ(nodes_shown(one), 1);
  EXPECT_EQ(nodes_shown(two), 1) << "and takes nothing of another's away";
}

TEST_F(RogueCallersTest, UsageBeforeTheRegistrationEndsTheStream) {
  Stream stream(Channel(Agent("n1")));
  wire::AgentMessage message;
  message.mutable_usage()->add_attempts()->set_job(1);
  ASSERT_TRUE(stream.stream->Write(message));
  wire::ControllerMessage answer;
  ASSERT_TRUE(stream.stream->Read(&answer));
  EXPECT_TRUE(answer.has_refusal());
}

// C5.
TEST_F(RogueCallersTest, NobodyWatchesAnothersJob) {
  const auto submitter = wire::Controller::NewStub(Channel(Self()));
  grpc::ClientContext context;
  wire::SubmitReply submitted;
  ASSERT_TRUE(submitter->Submit(&context, HeldJob(User()), &submitted).ok());
  const auto stub = wire::Controller::NewStub(Channel(Issue({CertificateRole::kClient, "nobody"})));
  grpc::ClientContext watching;
  wire::WatchJobRequest request;
  request.set_job(submitted.job());
  const auto stream = stub->WatchJob(&watching, request);
  wire::WatchJobReply reply;
  EXPECT_FALSE(stream->Read(&reply)) << "not even once";
  EXPECT_TRUE(IsRefusal(stream->Finish()));
  EXPECT_THAT(Logged(), HasSubstr("WatchJob of client nobody"));
}

// C7.
TEST_F(RogueCallersTest, NobodyPutsHimselfBeforeOthersByNice) {
  const auto stub = wire::Controller::NewStub(Channel(Issue({CertificateRole::kClient, "nobody"})));
  wire::SubmitRequest request = HeldJob(User());
  request.mutable_spec()->set_nice(-1);
  grpc::ClientContext context;
  wire::SubmitReply reply;
  EXPECT_EQ(stub->Submit(&context, request, &reply).error_code(),
            grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_THAT(Jobs(), ::testing::IsEmpty());
}

TEST_F(RogueCallersTest, AReportBeforeTheRegistrationEndsTheStream) {
  Stream stream(Channel(Agent("n1")));
  wire::AgentMessage message;
  ToWire(Report{JobId(1), AttemptNumber(1), 1, RunEnded()}, message.mutable_report());
  ASSERT_TRUE(stream.stream->Write(message));
  wire::ControllerMessage answer;
  ASSERT_TRUE(stream.stream->Read(&answer));
  EXPECT_TRUE(answer.has_refusal());
}

TEST_F(RogueCallersTest, OneStreamIsOneNode) {
  Stream stream(Channel(Agent("n1")));
  ASSERT_TRUE(stream.Register("n1", now_).has_welcome());
  EXPECT_TRUE(stream.Register("n1", now_).has_refusal());
}

TEST_F(RogueCallersTest, AnAgentWhoseClockIsOffIsToldSo) {
  for (const auto& [off, words] : std::map<std::chrono::seconds, std::string>{
           {std::chrono::hours(1), "3600 s ahead of"}, {-std::chrono::hours(1), "3600 s behind"}}) {
    Stream stream(Channel(Agent("n1")));
    const wire::ControllerMessage answer = stream.Register("n1", clock_.Now() + off);
    ASSERT_TRUE(answer.has_refusal());
    EXPECT_FALSE(answer.refusal().permanent());
    EXPECT_THAT(answer.refusal().text(), ::testing::AnyOf(HasSubstr(words), HasSubstr("3599 s")));
  }
  EXPECT_THAT(Nodes(), ::testing::IsEmpty());
}

TEST_F(RogueCallersTest, ARevokedAgentLosesItsStream) {
  const CertifiedKey key = Agent("n1");
  Stream stream(Channel(key));
  ASSERT_TRUE(stream.Register("n1", now_).has_welcome());
  const std::string serial = ReadCertificate(key.certificate)->serial;
  ASSERT_TRUE(WriteFileAtomically(tls_.revoked, serial + " agent n1\n").ok());
  wire::AgentMessage beat;
  beat.mutable_heartbeat();
  ASSERT_TRUE(stream.stream->Write(beat));
  wire::ControllerMessage answer;
  EXPECT_FALSE(stream.stream->Read(&answer));
  EXPECT_TRUE(IsRefusal(CallEmpty(Channel(key), "/muster.wire.AgentLink/Attach")));
  EXPECT_THAT(Logged(), HasSubstr(serial + " has been revoked"));
}

TEST_F(RogueCallersTest, WhoASpecSaysItIsFromCountsForNothing) {
  const auto stub = wire::Controller::NewStub(Channel(Self()));
  const User self = UserOf(geteuid());
  const std::vector<User> claims = {{0, 0, "root"},
                                    {4242, 4242, "alice"},
                                    {0xffffffffU, 0xffffffffU, ""},
                                    {0x80000000U, 0, "root"},
                                    {0, 0, ""}};
  for (const User& claim : claims) {
    grpc::ClientContext context;
    wire::SubmitReply reply;
    const grpc::Status status = stub->Submit(&context, HeldJob(claim), &reply);
    ASSERT_TRUE(status.ok()) << status.error_message();
  }
  const std::vector<JobView> jobs = Jobs();
  EXPECT_EQ(jobs.size(), claims.size());
  for (const JobView& job : jobs) {
    EXPECT_EQ(job.user, self.name);
  }
}

TEST_F(RogueCallersTest, NothingWeakerThanTheKeysGetsIn) {
  const std::string ping = "/muster.wire.Controller/Ping";
  EXPECT_TRUE(CallEmpty(Channel(Self()), ping).ok());
  EXPECT_FALSE(CallEmpty(ChannelOver(grpc::InsecureChannelCredentials()), ping).ok()) << "no TLS";
  const grpc::Status bare = CallEmpty(Channel(std::nullopt), ping);
  EXPECT_EQ(bare.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_THAT(bare.error_message(), HasSubstr("no certificate and no MUNGE credential"));
  const CertificateSubject subject{CertificateRole::kClient, UserOf(geteuid()).name};
  const CertifiedKey stranger = CertificateAuthority::Make(now_, kDay).value();
  const std::map<std::string, CertifiedKey> bad = {
      {"another authority's", CertificateAuthority::From(stranger.certificate, stranger.key)
                                  ->Issue(subject, now_, kDay)
                                  .value()},
      {"signed by itself", stranger},
      {"expired", authority_.Issue(subject, now_ - 3 * kDay, kDay).value()},
      {"not yet good", authority_.Issue(subject, now_ + 2 * kDay, kDay).value()}};
  for (const auto& [name, key] : bad) {
    const std::size_t before = Logged().size();
    EXPECT_FALSE(CallEmpty(Channel(key), ping).ok()) << name;
    EXPECT_THAT(Logged().substr(before),
                ::testing::ContainsRegex("access: refused 127.0.0.1:[0-9]+: Handshake failed .*"
                                         "certificate verify failed"))
        << name;
  }
}

TEST_F(RogueCallersTest, ALargeMessageIsTakenOfWhoIsKnownAndATooLargeOneOfNobody) {
  const auto submit = [this](const std::shared_ptr<grpc::Channel>& channel, std::size_t bytes) {
    wire::SubmitRequest request = HeldJob(User());
    request.mutable_program()->set_script("#!/bin/sh\n" + std::string(bytes, '#'));
    grpc::ClientContext context;
    wire::SubmitReply reply;
    return wire::Controller::NewStub(channel)->Submit(&context, request, &reply).error_code();
  };
  constexpr std::size_t kMiB = 1 << 20;
  const auto known = Channel(Self());
  ASSERT_TRUE(CallEmpty(known, "/muster.wire.Controller/Ping").ok());
  EXPECT_EQ(submit(known, 3 * kMiB), grpc::StatusCode::OK);
  EXPECT_EQ(submit(known, 20 * kMiB), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(submit(known, 60 * kMiB), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(submit(Channel(std::nullopt), 3 * kMiB), grpc::StatusCode::UNAUTHENTICATED);
}

TEST_F(RogueCallersTest, AnAddressAnswersTheProbeWhileItIsServedAndNoLonger) {
  const std::vector<std::string> addresses = server_->addresses();
  ASSERT_EQ(addresses.size(), 1U);
  const absl::Status answered = AskDoor(addresses[0], tls_);
  EXPECT_TRUE(answered.ok()) << answered;
  EXPECT_THAT(Logged(), ::testing::Not(HasSubstr("refused"))) << "we know that it was us";
  server_->Stop();
  const absl::Status silent = AskDoor(addresses[0], tls_);
  EXPECT_TRUE(absl::IsUnavailable(silent)) << silent;
  EXPECT_THAT(std::string(silent.message()), HasSubstr(addresses[0]));
}

TEST(HandshakeLog, AFloodOfFailuresIsALineWithTheirNumber) {
  const UniqueFd fd(memfd_create("log", MFD_CLOEXEC));
  const std::string path = absl::StrCat("/proc/self/fd/", fd.get());
  ManualClock clock(Time(Duration(1)));
  const Logger logger(clock, fd.get(), LogLevel::kInfo, false);
  HandshakeLog log(logger, clock);
  const auto lines = [&path] {
    const std::string logged = ReadFile(path).value();
    return std::count(logged.begin(), logged.end(), '\n');
  };
  for (int i = 0; i < 1000; ++i) {
    log.Take("Handshake failed with a fatal error");
  }
  EXPECT_EQ(lines(), 10);
  clock.Advance(std::chrono::seconds(1));
  log.Take("Handshake failed with a fatal error");
  EXPECT_EQ(lines(), 11);
  EXPECT_THAT(ReadFile(path).value(), HasSubstr("(and 990 lines like this)"));
}

class RootlessTest : public SecuredTest {
 protected:
  RootlessTest() : SecuredTest(geteuid() + 1) {}
};

TEST_F(RootlessTest, NoJobIsTakenOfAUserBelowTheLeast) {
  for (const char* method :
       {"/muster.wire.Controller/Submit", "/muster.wire.Controller/SubmitMany"}) {
    const grpc::Status status = CallEmpty(Channel(Self()), method);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::PERMISSION_DENIED) << method;
    EXPECT_THAT(status.error_message(), HasSubstr("--min-uid"));
  }
  EXPECT_TRUE(CallEmpty(Channel(Self()), "/muster.wire.Controller/ListJobs").ok());
}

}  // namespace
}  // namespace muster::daemon::testing

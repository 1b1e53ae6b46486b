#include "agent/link/order_check.h"

#include <gtest/gtest.h>

#include "proto/convert/order_purpose.h"
#include "scheduler/runtime/identity/certificate_authority.h"

namespace muster::agent {
namespace {

constexpr Time kNow{std::chrono::milliseconds(1'800'000'000'000)};

class OrderCheckTest : public ::testing::Test {
 protected:
  OrderCheckTest() {
    challenge_ = check_.Begin().value();
    EXPECT_TRUE(check_.Trust(Welcome(), "").ok());
  }
  wire::Welcome Welcome() const {
    wire::Welcome welcome;
    welcome.set_order_key(key_.PublicPem().value());
    return welcome;
  }
  // The n-th order of the stream, good for two minutes.
  wire::OrderBody Body(std::uint64_t sequence) const {
    wire::OrderBody body;
    body.set_node("n1");
    body.set_challenge(challenge_);
    body.set_sequence(sequence);
    body.set_not_before(Milliseconds(kNow));
    body.set_expiry(Milliseconds(kNow + std::chrono::seconds(120)));
    body.mutable_order()->mutable_launch()->set_job(7);
    body.mutable_order()->mutable_launch()->mutable_spec()->mutable_user()->set_uid(1001);
    return body;
  }
  static std::int64_t Milliseconds(Time time) { return time.time_since_epoch().count(); }
  wire::SignedOrder Sign(const wire::OrderBody& body) const {
    wire::SignedOrder order;
    order.set_body(body.SerializeAsString());
    order.set_signature(key_.Sign(kOrderPurpose, order.body()).value());
    return order;
  }
  absl::Status Refusal(const wire::OrderBody& body, Time now = kNow) {
    return check_.Open(Sign(body), now).status();
  }

  const SigningKey key_ = SigningKey::Generate().value();
  OrderCheck check_{"n1", /*keyed=*/false};
  std::string challenge_;
};

TEST_F(OrderCheckTest, OrdersAreTakenInTheirOrder) {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const absl::StatusOr<wire::OrderBody> order = check_.Open(Sign(Body(i)), kNow);
    ASSERT_TRUE(order.ok()) << order.status();
    EXPECT_EQ(order->order().launch().job(), 7U);
  }
}

TEST_F(OrderCheckTest, NoBitOfAnOrderCanBeChanged) {
  const wire::SignedOrder order = Sign(Body(1));
  for (std::size_t bit = 0; bit < order.body().size() * 8; ++bit) {
    wire::SignedOrder changed = order;
    (*changed.mutable_body())[bit / 8] ^= static_cast<char>(1 << (bit % 8));
    OrderCheck fresh("n1", /*keyed=*/false);
    ASSERT_TRUE(fresh.Begin().ok());
    ASSERT_TRUE(fresh.Trust(Welcome(), "").ok());
    EXPECT_TRUE(absl::IsPermissionDenied(fresh.Open(changed, kNow).status())) << bit;
  }
}

TEST_F(OrderCheckTest, WhatMeansTheSameToAParserIsNotTheSameOrder) {
  const wire::SignedOrder order = Sign(Body(1));
  const std::string& body = order.body();
  const std::string node = std::string("\x0a\x02n1", 4);  // field 1, the first of the body
  ASSERT_EQ(body.substr(0, 4), node);
  for (const std::string& other :
       {body + node,                            // a field twice
        body.substr(4) + node,                  // in another order
        body + std::string("\xf8\x7f\x01", 3),  // a field that nobody knows
        body + std::string(1, '\0'), body + "\n", body.substr(0, body.size() - 1), std::string()}) {
    wire::SignedOrder changed = order;
    changed.set_body(other);
    OrderCheck fresh("n1", /*keyed=*/false);
    ASSERT_TRUE(fresh.Begin().ok());
    ASSERT_TRUE(fresh.Trust(Welcome(), "").ok());
    EXPECT_TRUE(absl::IsPermissionDenied(fresh.Open(changed, kNow).status()));
  }
}

TEST_F(OrderCheckTest, AnOrderCountsOnceOnItsStreamAndNeverOnAnother) {
  const wire::SignedOrder order = Sign(Body(1));
  EXPECT_TRUE(check_.Open(order, kNow).ok());
  EXPECT_TRUE(absl::IsPermissionDenied(check_.Open(order, kNow).status()));
  ASSERT_TRUE(check_.Begin().ok());
  ASSERT_TRUE(check_.Trust(Welcome(), "").ok());
  EXPECT_TRUE(absl::IsPermissionDenied(check_.Open(order, kNow).status()));
}

TEST_F(OrderCheckTest, AGapOrASecondStartIsRefused) {
  EXPECT_TRUE(absl::IsPermissionDenied(Refusal(Body(2))));
  EXPECT_TRUE(absl::IsPermissionDenied(Refusal(Body(0))));
}

TEST_F(OrderCheckTest, AfterARefusalNothingOfTheStreamCounts) {
  wire::SignedOrder forged = Sign(Body(1));
  forged.mutable_signature()->back() ^= 1;
  EXPECT_FALSE(check_.Open(forged, kNow).ok());
  EXPECT_FALSE(check_.Open(Sign(Body(1)), kNow).ok());
}

TEST_F(OrderCheckTest, AnOrderForAnotherNodeIsRefused) {
  for (const char* node : {"n2", "n", "n11", "N1", ""}) {
    wire::OrderBody body = Body(1);
    body.set_node(node);
    OrderCheck fresh("n1", /*keyed=*/false);
    body.set_challenge(fresh.Begin().value());
    ASSERT_TRUE(fresh.Trust(Welcome(), "").ok());
    EXPECT_TRUE(absl::IsPermissionDenied(fresh.Open(Sign(body), kNow).status())) << node;
  }
}

TEST_F(OrderCheckTest, ClocksMayDifferByThirtySeconds) {
  using std::chrono::seconds;
  const auto taken = [this](seconds off) {
    wire::OrderBody body = Body(1);
    OrderCheck fresh("n1", /*keyed=*/false);
    body.set_challenge(fresh.Begin().value());
    EXPECT_TRUE(fresh.Trust(Welcome(), "").ok());
    return fresh.Open(Sign(body), kNow + off).ok();
  };
  EXPECT_TRUE(taken(seconds(0)));
  EXPECT_TRUE(taken(seconds(-30)));
  EXPECT_FALSE(taken(seconds(-31)));
  EXPECT_TRUE(taken(seconds(120)));
  EXPECT_FALSE(taken(seconds(121)));
  EXPECT_FALSE(taken(seconds(3600)));
  EXPECT_FALSE(taken(seconds(-3600)));
}

TEST_F(OrderCheckTest, AnOrderToEndIsGoodForEver) {
  wire::OrderBody body = Body(1);
  body.set_expiry(0);
  EXPECT_TRUE(Refusal(body, kNow + std::chrono::hours(24)).ok());
}

TEST_F(OrderCheckTest, BeforeTheWelcomeNothingCounts) {
  OrderCheck fresh("n1", /*keyed=*/false);
  wire::OrderBody body = Body(1);
  EXPECT_FALSE(fresh.Open(Sign(body), kNow).ok());
  body.set_challenge(fresh.Begin().value());
  EXPECT_FALSE(fresh.Open(Sign(body), kNow).ok());
  EXPECT_FALSE(fresh.Trust(wire::Welcome(), "").ok());
}

TEST_F(OrderCheckTest, OverTlsTheControllersCertificateVouchesForTheKey) {
  const Time now = SystemClock().Now();
  const CertifiedKey own = CertificateAuthority::Make(now, std::chrono::hours(24)).value();
  const CertificateAuthority authority =
      CertificateAuthority::From(own.certificate, own.key).value();
  const auto issue = [&](CertificateRole role, const char* name) {
    return authority.Issue({role, name}, now, std::chrono::hours(1)).value();
  };
  const CertifiedKey controller = issue(CertificateRole::kController, "");
  const CertifiedKey agent = issue(CertificateRole::kAgent, "n2");
  const auto trusts = [&](const CertifiedKey& voucher, const std::string& certificate) {
    wire::Welcome welcome = Welcome();
    welcome.add_order_key_vouchers("rubbish");
    welcome.add_order_key_vouchers(
        SigningKey::FromPem(voucher.key)->Sign(kOrderKeyPurpose, welcome.order_key()).value());
    OrderCheck keyed("n1", /*keyed=*/true);
    return keyed.Begin().ok() && keyed.Trust(welcome, certificate).ok();
  };
  EXPECT_TRUE(trusts(controller, controller.certificate));
  EXPECT_FALSE(trusts(agent, agent.certificate));
  EXPECT_FALSE(trusts(agent, controller.certificate));
  EXPECT_FALSE(trusts(controller, "")) << "who shows none is not the controller";
  EXPECT_FALSE(OrderCheck("n1", /*keyed=*/true).Trust(Welcome(), controller.certificate).ok());
}

TEST(JobUsersTest, RootsAgentRunsNoJobsOfRootNorOfTheSystemOnACluster) {
  const JobUsers cluster{.own = 0, .min_uid = 1000, .cluster = true};
  for (const uid_t uid : {0U, 1U, 999U, 0xffffffffU}) {
    EXPECT_TRUE(absl::IsPermissionDenied(MayRunJobsOf(uid, cluster))) << uid;
  }
  EXPECT_TRUE(MayRunJobsOf(1000, cluster).ok());
  const JobUsers anybody{.own = 0, .min_uid = 0, .cluster = true};
  EXPECT_TRUE(absl::IsPermissionDenied(MayRunJobsOf(0, anybody)))
      << "not even where all others may";
  EXPECT_TRUE(MayRunJobsOf(1, anybody).ok());
}

TEST(JobUsersTest, WithoutKeysRootsAgentBecomesNobodyElse) {
  const JobUsers personal{.own = 0, .min_uid = 0, .cluster = false};
  EXPECT_TRUE(MayRunJobsOf(0, personal).ok());
  for (const uid_t uid : {1U, 999U, 1000U, 61002U, 0xffffffffU}) {
    EXPECT_TRUE(absl::IsPermissionDenied(MayRunJobsOf(uid, personal))) << uid;
  }
}

TEST(JobUsersTest, AnOrdinaryUsersAgentRunsItsOwnJobsAlone) {
  for (const bool cluster : {false, true}) {
    const JobUsers users{.own = 500, .min_uid = 1000, .cluster = cluster};
    EXPECT_TRUE(MayRunJobsOf(500, users).ok());
    for (const uid_t uid : {0U, 501U, 1000U, 0xffffffffU}) {
      EXPECT_FALSE(MayRunJobsOf(uid, users).ok()) << uid;
    }
  }
}

}  // namespace
}  // namespace muster::agent

#pragma once

// A connection for each agent and client, as different machines would have.

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

namespace muster::swarm {

// `target` is gRPC's; nothing is connected yet.
inline std::shared_ptr<grpc::Channel> ChannelOfItsOwn(const std::string& target) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1);
  return grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
}

}  // namespace muster::swarm

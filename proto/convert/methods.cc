#include "proto/convert/methods.h"

#include "proto/convert/bind.h"

namespace muster {

using google::protobuf::Message;

template <ClientRequest Request>
void WriteRequest(const Request& request, Message* message) {
  convert::WriteMessage(request, message);
}

template <ClientRequest Request>
absl::Status ReadRequest(const Message& message, Request* request) {
  return convert::ReadMessage(message, request);
}

template <ClientRequest Request>
void WriteReply(const typename Request::Reply& reply, Message* message) {
  if constexpr (Described<typename Request::Reply>) {
    convert::WriteMessage(reply, message);
  } else {
    convert::WriteField(reply, *message->GetReflection(), message->GetDescriptor()->field(0),
                        message);
  }
}

template <ClientRequest Request>
absl::Status ReadReply(const Message& message, typename Request::Reply* reply) {
  if constexpr (Described<typename Request::Reply>) {
    return convert::ReadMessage(message, reply);
  } else {
    return convert::ReadField(message, *message.GetReflection(), message.GetDescriptor()->field(0),
                              reply);
  }
}

#define MUSTER_METHOD(REQUEST)                                                 \
  template void WriteRequest<REQUEST>(const REQUEST&, Message*);               \
  template absl::Status ReadRequest<REQUEST>(const Message&, REQUEST*);        \
  template void WriteReply<REQUEST>(const typename REQUEST::Reply&, Message*); \
  template absl::Status ReadReply<REQUEST>(const Message&, typename REQUEST::Reply*);
MUSTER_CLIENT_COMMANDS(MUSTER_METHOD)
MUSTER_JOB_QUESTIONS(MUSTER_METHOD)
MUSTER_CLUSTER_QUESTIONS(MUSTER_METHOD)
#undef MUSTER_METHOD

}  // namespace muster

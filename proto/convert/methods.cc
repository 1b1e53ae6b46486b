#include "proto/convert/methods.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/convert/codec.h"

namespace muster {

namespace {

template <class Request>
using RequestMessage = typename convert::Method<Request::kMethod>::Request;
template <class Request>
using ReplyMessage = typename convert::Method<Request::kMethod>::Reply;

// The first field of a message M, and no other.
template <class M>
inline constexpr std::uint32_t kFirst = convert::Wire<M>::kFields[0].number;

template <class M, class T>
absl::Status ReadFirst(std::string_view bytes, T* value) {
  bool seen = false;
  absl::Status status;
  for (convert::Cursor cursor(bytes); !cursor.AtEnd() && status.ok();) {
    std::uint32_t number = 0;
    convert::WireType type{};
    if (!cursor.Tag(&number, &type)) {
      return convert::Malformed(convert::Wire<M>::kName);
    }
    if (!convert::TakeMember<M, kFirst<M>>(number, type, &cursor, &seen, value, &status) &&
        !cursor.Skip(type)) {
      return convert::Malformed(convert::Wire<M>::kName);
    }
  }
  convert::LeaveMember<M, kFirst<M>>(seen, value, &status);
  return status;
}

// How many fields of that number a message has.
std::size_t FieldsIn(std::string_view bytes, std::uint32_t wanted) {
  convert::Cursor cursor(bytes);
  std::size_t count = 0;
  std::uint32_t number = 0;
  convert::WireType type{};
  while (!cursor.AtEnd() && cursor.Tag(&number, &type) && cursor.Skip(type)) {
    count += number == wanted ? 1 : 0;
  }
  return count;
}

}  // namespace

template <ClientRequest Request>
void AppendRequest(const Request& request, std::string* bytes) {
  convert::WriteMessage<RequestMessage<Request>>(request, bytes);
}

template <ClientRequest Request>
absl::Status ReadRequest(std::string_view bytes, Request* request) {
  return convert::ReadMessage<RequestMessage<Request>>(bytes, request);
}

template <ClientRequest Request>
void AppendReply(const typename Request::Reply& reply, std::string* bytes) {
  if constexpr (Described<typename Request::Reply>) {
    convert::WriteMessage<ReplyMessage<Request>>(reply, bytes);
  } else {
    convert::WriteField<ReplyMessage<Request>, kFirst<ReplyMessage<Request>>>(reply, false, bytes);
  }
}

template <ClientRequest Request>
absl::Status ReadReply(std::string_view bytes, typename Request::Reply* reply) {
  if constexpr (Described<typename Request::Reply>) {
    return convert::ReadMessage<ReplyMessage<Request>>(bytes, reply);
  } else {
    if constexpr (convert::IsVector<typename Request::Reply>::value) {
      reply->reserve(FieldsIn(
          bytes,
          kFirst<ReplyMessage<Request>>));  // a list of 100,000 jobs is not moved as it grows
    }
    return ReadFirst<ReplyMessage<Request>>(bytes, reply);
  }
}

template <ClientRequest Request>
bool ChangesNothing() {
  return convert::Method<Request::kMethod>::kChangesNothing;
}

#define MUSTER_METHOD(REQUEST)                                                          \
  template void AppendRequest<REQUEST>(const REQUEST&, std::string*);                   \
  template absl::Status ReadRequest<REQUEST>(std::string_view, muster::REQUEST*);       \
  template void AppendReply<REQUEST>(const typename REQUEST::Reply&, std::string*);     \
  template absl::Status ReadReply<REQUEST>(std::string_view, typename REQUEST::Reply*); \
  template bool ChangesNothing<REQUEST>();
MUSTER_CLIENT_COMMANDS(MUSTER_METHOD)
MUSTER_JOB_QUESTIONS(MUSTER_METHOD)
MUSTER_CLUSTER_QUESTIONS(MUSTER_METHOD)
#undef MUSTER_METHOD

}  // namespace muster

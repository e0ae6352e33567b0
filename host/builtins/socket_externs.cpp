#include "host/builtins/socket_externs.h"

#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include "host/builtins/builtins.h"
#include "host/builtins/numbered_objects.h"
#include "host/values/error.h"
#include "host/vm/lock.h"
#include "host/vm/safepoint.h"

namespace spl {
namespace {

class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};
using Sockets = NumberedObjects<Socket>;

std::shared_ptr<Socket> socket_of(Value number) {
  return Sockets::all().get(number, "http: the connection is closed");
}

[[noreturn]] void fail_system(const std::string& what) {
  fail("http: " + what + ": " + std::strerror(errno));
}

// Waits in short intervals, so that an interrupt can end the wait. False if the time is over.
bool wait_for(const Socket& socket, short events, int64_t milliseconds) {
  constexpr int64_t kPart = 50;
  for (int64_t left = milliseconds;; left -= kPart) {
    pollfd entry{socket.descriptor(), events, 0};
    int ready = 0;
    {
      const Unlocked unlocked;
      ready =
          poll(&entry, 1, static_cast<int>(milliseconds < 0 ? kPart : std::clamp<int64_t>(left, 0, kPart)));
    }
    if (ready > 0) {
      return true;
    }
    if (host_lock().wanted()) {
      safepoint();
    }
    if (milliseconds >= 0 && left <= kPart) {
      return false;
    }
  }
}

struct AddressFree {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};

// (host, port): [socket, port]. Port 0 is a free one.
Value socket_listen(Thread&, Value* args, int) {
  const std::string& host = expect_text(args[0], "http: the host");
  const std::string port = std::to_string(to_integer(args[1]));
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int result = getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (result != 0) {
    fail("http: cannot listen at " + host + ":" + port + ": " + gai_strerror(result));
  }
  const std::unique_ptr<addrinfo, AddressFree> address(found);
  auto made = std::make_shared<Socket>(
      ::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, address->ai_protocol));
  const int yes = 1;
  setsockopt(made->descriptor(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  sockaddr_storage name{};
  socklen_t size = sizeof(name);
  if (bind(made->descriptor(), address->ai_addr, address->ai_addrlen) != 0 ||
      listen(made->descriptor(), SOMAXCONN) != 0 ||
      getsockname(made->descriptor(), reinterpret_cast<sockaddr*>(&name), &size) != 0) {
    fail_system("cannot listen at " + host + ":" + port);
  }
  const in_port_t bound = name.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&name)->sin6_port
                                                     : reinterpret_cast<sockaddr_in*>(&name)->sin_port;
  return make_array({Sockets::all().insert(std::move(made)), Value::integer(ntohs(bound))});
}

// (socket, milliseconds): the next connection; 0 if there was none in this time, -1 for no limit.
Value socket_accept(Thread&, Value* args, int) {
  const auto socket = socket_of(args[0]);
  if (!wait_for(*socket, POLLIN, to_integer(args[1]))) {
    return Value::integer(0);
  }
  const int descriptor = accept4(socket->descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (descriptor < 0) {
    return Value::integer(0);  // the client has gone
  }
  return Sockets::all().insert(std::make_shared<Socket>(descriptor));
}

// (connection, most bytes, milliseconds): what has arrived; empty at the end. Fails if nothing comes.
Value socket_read(Thread&, Value* args, int) {
  const auto socket = socket_of(args[0]);
  const int64_t milliseconds = to_integer(args[2]);
  if (!wait_for(*socket, POLLIN, milliseconds)) {
    fail("http: the connection was silent for " + std::to_string(milliseconds) + " ms");
  }
  std::string content(static_cast<size_t>(to_integer(args[1])), '\0');
  const ssize_t count = recv(socket->descriptor(), content.data(), content.size(), 0);
  content.resize(static_cast<size_t>(std::max<ssize_t>(count, 0)));
  return make_text(std::move(content));
}

// (connection, content, milliseconds): false if the other side has closed the connection.
Value socket_write(Thread&, Value* args, int) {
  const auto socket = socket_of(args[0]);
  const std::string content = expect_text(args[1], "http: the content");
  for (size_t at = 0; at < content.size();) {
    if (!wait_for(*socket, POLLOUT, to_integer(args[2]))) {
      return Value::boolean(false);
    }
    const ssize_t count = send(socket->descriptor(), content.data() + at, content.size() - at, MSG_NOSIGNAL);
    if (count < 0 && errno != EAGAIN && errno != EINTR) {
      return Value::boolean(false);
    }
    at += static_cast<size_t>(std::max<ssize_t>(count, 0));
  }
  return Value::boolean(true);
}

Value socket_close(Thread&, Value* args, int) {
  Sockets::all().remove(args[0]);
  return Value();
}

constexpr NativeEntry kSocketExterns[] = {
    {"rt_socket_listen", socket_listen, 2, 2}, {"rt_socket_accept", socket_accept, 2, 2},
    {"rt_socket_read", socket_read, 3, 3},     {"rt_socket_write", socket_write, 3, 3},
    {"rt_socket_close", socket_close, 1, 1},
};

}  // namespace

std::span<const NativeEntry> socket_externs() { return kSocketExterns; }

}  // namespace spl

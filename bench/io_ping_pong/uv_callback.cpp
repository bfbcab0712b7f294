// Ping-pong by libuv.
// The number is not that of uv_write, which needs a request for each write and calls back from the loop: uv_try_write writes at once,
// and what does not go out whole ends the program.

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <uv.h>

#include "bench/io_ping_pong/workload.h"

namespace {

void check(int result, const char* call) {
  if (result < 0) std::exit((std::fprintf(stderr, "%s: %s\n", call, uv_strerror(result)), 1));
}

struct connection {
  union {
    uv_tcp_t tcp;
    uv_pipe_t pipe;
    uv_stream_t stream;
    uv_handle_t handle;
  };
  std::array<char, bench::read_buffer_bytes> buffer;

  static connection& of(void* handle) { return *static_cast<connection*>(static_cast<uv_handle_t*>(handle)->data); }

  static void give_room(uv_handle_t* handle, std::size_t /*suggested*/, uv_buf_t* room) {
    connection& self = of(handle);
    *room = uv_buf_init(self.buffer.data(), static_cast<unsigned>(self.buffer.size()));
  }
  static void take(uv_stream_t* stream, ssize_t got, const uv_buf_t* /*room*/) {
    connection& self = of(stream);
    if (got > 0) {
      const uv_buf_t all = uv_buf_init(self.buffer.data(), static_cast<unsigned>(got));
      const int sent = uv_try_write(stream, &all, 1);
      if (sent >= 0 && sent != got) std::exit((std::fprintf(stderr, "an echo does not fit into the socket\n"), 1));
    } else if (got < 0) {
      uv_close(&self.handle, nullptr);
    }
  }
};

class uv_callback {
 public:
  explicit uv_callback(unsigned /*workers*/) {
    std::signal(SIGPIPE, SIG_IGN);  // its writes raise it
    check(uv_loop_init(&loop_), "uv_loop_init");
  }

  void echo(bench::transport over, const std::vector<int>& sockets) {
    std::vector<connection> all(sockets.size());
    for (std::size_t n = 0; n < all.size(); ++n) {
      connection& each = all[n];
      if (over == bench::transport::tcp) {
        check(uv_tcp_init(&loop_, &each.tcp), "uv_tcp_init");
        check(uv_tcp_open(&each.tcp, sockets[n]), "uv_tcp_open");
      } else {
        check(uv_pipe_init(&loop_, &each.pipe, 0), "uv_pipe_init");
        check(uv_pipe_open(&each.pipe, sockets[n]), "uv_pipe_open");
      }
      each.handle.data = &each;
      check(uv_read_start(&each.stream, &connection::give_room, &connection::take), "uv_read_start");
    }
    uv_run(&loop_, UV_RUN_DEFAULT);
  }

 private:
  uv_loop_t loop_;
};

}  // namespace

int main(int argc, char** argv) {
  return bench::ping_pong<uv_callback>({argc, argv, "uv_callback"});
}

// RPC by libtirpc, both sides: its svc and clnt calls, with XDR by its own functions.
// Its client waits for each reply before it sends the next call: it has a window of 1 only.

#include <poll.h>
#include <rpc/rpc.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <vector>

#include "bench/rpc/place.h"

namespace {

struct counted {
  char* bytes = nullptr;
  u_int size = 0;
};

bool_t xdr_counted(XDR* over, ...) {
  va_list all;
  va_start(all, over);
  auto* const value = va_arg(all, counted*);
  va_end(all);
  return xdr_bytes(over, &value->bytes, &value->size, 1u << 20);
}

bool_t xdr_nothing(XDR* /*over*/, ...) {
  return TRUE;
}

void dispatch(svc_req* request, SVCXPRT* to) {
  if (request->rq_proc == bench::rpc_null) {
    svc_sendreply(to, xdr_nothing, nullptr);
  } else if (request->rq_proc == bench::rpc_echo) {
    counted all;
    if (!svc_getargs(to, xdr_counted, reinterpret_cast<char*>(&all))) return svcerr_decode(to);
    svc_sendreply(to, xdr_counted, reinterpret_cast<char*>(&all));
    svc_freeargs(to, xdr_counted, reinterpret_cast<char*>(&all));
  } else {
    svcerr_noproc(to);
  }
}

/// svc_run() that ends with the input.
int serve(const bench::rpc_request& asked) {
  SVCXPRT* const transport = svc_vc_create(bench::rpc_socket(asked, true), 0, 0);
  if (transport == nullptr || !svc_reg(transport, bench::rpc_program, bench::rpc_version, dispatch, nullptr)) return 1;
  bench::say_ready();
  for (std::vector<pollfd> all;;) {
    all.assign(svc_pollfd, svc_pollfd + svc_max_pollfd);
    all.push_back({STDIN_FILENO, POLLIN, 0});
    const int ready = poll(all.data(), all.size(), -1);
    if (all.back().revents != 0) return 0;
    svc_getreq_poll(all.data(), ready);
  }
}

int call(const bench::rpc_request& asked) {
  if (asked.window != 1) bench::rpc_request::usage("tirpc_rpc");
  const int connected = bench::rpc_socket(asked, false);
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  getpeername(connected, reinterpret_cast<sockaddr*>(&peer), &size);
  netbuf to{sizeof peer, size, &peer};
  CLIENT* const client = clnt_vc_create(connected, &to, bench::rpc_program, bench::rpc_version, 0, 0);
  if (client == nullptr) return 1;
  const timeval patience{20, 0};
  std::string text(bench::echo_bytes, 'x');
  counted given{text.data(), static_cast<u_int>(text.size())};
  bench::rpc_clock clock{asked};
  do {
    counted got;
    const clnt_stat status =
        asked.echoes ? clnt_call(client, bench::rpc_echo, xdr_counted, reinterpret_cast<char*>(&given), xdr_counted,
                                 reinterpret_cast<char*>(&got), patience)
                     : clnt_call(client, bench::rpc_null, xdr_nothing, nullptr, xdr_nothing, nullptr, patience);
    if (status != RPC_SUCCESS || (asked.echoes && got.size != bench::echo_bytes)) return 1;
    if (asked.echoes) xdr_free(xdr_counted, reinterpret_cast<char*>(&got));
  } while (clock.count(1));
  clock.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::rpc_request asked{argc, argv};
  std::signal(SIGPIPE, SIG_IGN);
  return asked.serves ? serve(asked) : call(asked);
}

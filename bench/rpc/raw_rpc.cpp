// A client that is no library: writes a window of prepared calls with one write, and counts the replies. It decodes nothing.
// The number is that of the server it calls, and of the system calls between them.

#include <unistd.h>

#include <cstdint>
#include <string>

#include "bench/rpc/place.h"

namespace {

void add_word(std::string& to, std::uint32_t word) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(static_cast<char>(word >> shift));
}

std::string one_call(std::uint32_t xid, bool echoes) {
  std::string body;
  for (const std::uint32_t word : {xid, 0u, 2u, bench::rpc_program, bench::rpc_version,
                                   echoes ? bench::rpc_echo : bench::rpc_null, 0u, 0u, 0u, 0u}) {
    add_word(body, word);
  }
  if (echoes) {
    add_word(body, bench::echo_bytes);
    body.append(bench::echo_bytes, 'x');
  }
  std::string record;
  add_word(record, 0x80000000u | static_cast<std::uint32_t>(body.size()));
  return record + body;
}

/// Reads until so many records have come, of one or more fragments each.
class replies {
 public:
  explicit replies(int from) : from_{from} {}

  bool wait_for(unsigned count) {
    while (count != 0) {
      if (skipped_ == 0 && have_ - used_ >= 4) {
        begin_fragment();
      } else if (skipped_ != 0 && have_ != used_) {
        const std::size_t now = have_ - used_ < skipped_ ? have_ - used_ : skipped_;
        used_ += now;
        skipped_ -= now;
        if (skipped_ == 0 && is_last_) --count;
      } else if (!read_more()) {
        return false;
      }
    }
    return true;
  }

 private:
  void begin_fragment() {
    std::uint32_t mark = 0;
    for (int n = 0; n < 4; ++n) mark = mark << 8 | static_cast<unsigned char>(bytes_[used_++]);
    is_last_ = mark >> 31 != 0;
    skipped_ = mark & 0x7fffffff;
  }
  bool read_more() {
    std::memmove(bytes_, bytes_ + used_, have_ - used_);
    have_ -= used_;
    used_ = 0;
    const ssize_t got = read(from_, bytes_ + have_, sizeof bytes_ - have_);
    if (got <= 0) return false;
    have_ += static_cast<std::size_t>(got);
    return true;
  }

  int from_;
  char bytes_[65536];
  std::size_t have_ = 0;
  std::size_t used_ = 0;
  std::size_t skipped_ = 0;
  bool is_last_ = false;
};

}  // namespace

int main(int argc, char** argv) {
  const bench::rpc_request asked{argc, argv};
  if (asked.serves || asked.kind == "tls") bench::rpc_request::usage(argv[0]);
  const int connected = bench::rpc_socket(asked, false);
  std::string calls;
  for (unsigned n = 0; n < asked.window; ++n) calls += one_call(n, asked.echoes);
  replies from{connected};
  bench::rpc_clock clock{asked};
  do {
    for (std::string_view rest = calls; !rest.empty();) {
      const ssize_t sent = write(connected, rest.data(), rest.size());
      if (sent <= 0) return 1;
      rest.remove_prefix(static_cast<std::size_t>(sent));
    }
    if (!from.wait_for(asked.window)) return 1;
  } while (clock.count(asked.window));
  clock.print();
  return 0;
}

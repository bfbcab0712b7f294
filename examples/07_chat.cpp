// Shows: state that all connections share, in a strand: who is in the room. No lock, and no connection waits for another's network.
// Run:   build/release/examples/07_chat
// See:   what a guest hears until the room closes.
#include <tartan/tartan.h>

#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <utility>

class room {
 public:
  explicit room(tartan::runtime& rt) : strand_{rt, "room"} {}
  tartan::task<> enter(int guest, tartan::channel<std::string>& box) { co_await tartan::in(strand_, [&] { mailboxes_[guest] = &box; }); }
  tartan::task<> leave(int guest) { co_await tartan::in(strand_, [&] { mailboxes_.erase(guest); }); }
  tartan::task<> say(int guest, std::string words) {
    co_await tartan::in(strand_, [&] {
      for (auto& [other, mailbox] : mailboxes_)
        if (other != guest) static_cast<void>(mailbox->try_send(words));  // full: that guest is too slow, and misses it
    });
  }

 private:
  tartan::strand strand_;
  std::map<int, tartan::channel<std::string>*> mailboxes_;  // touched in strand_ only
};

tartan::task<> visit(room& lounge, int guest, tartan::local::stream wire) {
  tartan::channel<std::string> mailbox{tartan::capacity{16}};
  co_await lounge.enter(guest, mailbox);
  static_cast<void>(co_await wire.write("welcome\n"));
  std::string input;
  for (;;) {
    const auto line = co_await tartan::until_shutdown(wire.read_until(input, "\n", 1000));
    if (!line) break;  // the guest leaves, or the room closes
    co_await lounge.say(guest, input.substr(0, *line));
    input.erase(0, *line);
  }
  co_await lounge.leave(guest);
  while (auto heard = mailbox.try_receive()) static_cast<void>(co_await wire.write(*heard));
}

tartan::task<> try_it(tartan::runtime& rt, room& lounge) {
  auto wire = tartan::local::pair(rt, tartan::color{}, tartan::color{3});
  tartan::spawn_in(tartan::color{3}, visit, std::ref(lounge), 3, std::move(wire->second)).detach();
  std::string heard;
  static_cast<void>(co_await wire->first.read_until(heard, "welcome\n", 1000));
  co_await lounge.say(1, "guest 1: good evening\n");
  co_await lounge.say(2, "guest 2: has it begun?\n");
  rt.shutdown(std::chrono::seconds{10});  // the room closes: what was said is still heard
  while (co_await wire->first.read_until(heard, "?\n", 1000)) std::fputs(std::exchange(heard, {}).c_str(), stdout);
}

int main() {
  tartan::runtime rt;
  room lounge{rt};
  rt.spawn(try_it, std::ref(rt), std::ref(lounge)).detach();
  return rt.run();
}

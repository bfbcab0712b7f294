// Shows: state that all connections share, in a strand: who is in the room. No lock, and no connection waits for another's network.
// Run:   build/release/examples/07_chat
// See:   what a guest hears between coming and going.
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
      for (auto& [other, mailbox] : mailboxes_) {
        if (other != guest) static_cast<void>(mailbox->try_send(words));  // full: that guest is too slow, and misses it
      }
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
  while (auto line = co_await wire.read_until(input, "\n", 1000)) {
    co_await lounge.say(guest, input.substr(0, *line));
    input.erase(0, *line);
  }
  co_await lounge.leave(guest);
  while (auto heard = mailbox.try_receive()) static_cast<void>(co_await wire.write(*heard));
}

tartan::task<> try_it(tartan::runtime& rt, room& lounge) {
  auto wire = tartan::local::pair(rt, tartan::color{}, tartan::color{3});
  auto guest = tartan::spawn_in(tartan::color{3}, visit, std::ref(lounge), 3, std::move(wire->second));
  std::string heard;
  static_cast<void>(co_await wire->first.read_until(heard, "welcome\n", 1000));
  co_await lounge.say(1, "guest 1: good evening\n");
  co_await lounge.say(2, "guest 2: has it begun?\n");
  static_cast<void>(wire->first.shutdown_send());  // leaves
  while (co_await wire->first.read_until(heard, "?\n", 1000)) std::fputs(std::exchange(heard, {}).c_str(), stdout);
  co_await guest.join();
}

int main() {
  tartan::runtime rt;
  room lounge{rt};
  rt.spawn(try_it, std::ref(rt), std::ref(lounge)).detach();
  rt.run_until_idle();
}

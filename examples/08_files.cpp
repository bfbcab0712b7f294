// Shows: files, a child process and a signal, awaited like anything else; none of them stops a worker.
// Run:   build/release/examples/08_files
// See:   a list that was written, sorted by sort(1) and read back; then the program ends because of a signal.
#include <tartan/tartan.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>

using namespace std::chrono_literals;

tartan::task<bool> save(std::string path, std::string text) {
  using enum tartan::file_flags;
  auto file = co_await tartan::file::open(path, write | create | truncate);
  if (!file) co_return false;
  co_return (co_await file->write_at(0, text)).has_value();
}

tartan::task<std::string> sorted(std::string path) {
  auto child = tartan::process::spawn({.arguments = {"sort", path}, .output = tartan::child_stream::pipe});
  if (!child) co_return "sort: " + child.error().message() + '\n';
  tartan::buf::chain all;
  while (co_await child->output.read_some(all, 4096)) {  // until it has ended
  }
  const auto end = co_await child->wait();
  co_return end && end->success() ? all.to_string() : "sort has failed\n";
}

tartan::task<> work(std::string path) {
  const bool saved = co_await save(path, "pear\napple\nfig\n");
  if (!saved) co_return;
  const std::string list = co_await sorted(path);
  std::fputs(list.c_str(), stdout);
  ::unlink(path.c_str());
  ::kill(::getpid(), SIGTERM);  // as an operator would
}

tartan::task<> until_told(tartan::signal_set& signals, tartan::runtime& rt) {
  if (auto number = co_await signals.next()) std::printf("signal %d\n", *number);
  rt.shutdown(10s);  // what is under way has 10 seconds
}

int main() {
  tartan::runtime rt;
  tartan::signal_set signals{rt, {SIGTERM}};  // before anything runs: they come here now instead of ending the program
  rt.spawn(until_told, std::ref(signals), std::ref(rt)).detach();
  rt.spawn(work, "/tmp/tartan_example_" + std::to_string(::getpid())).detach();
  return rt.run();
}

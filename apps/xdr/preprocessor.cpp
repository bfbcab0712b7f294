#include "xdr/preprocessor.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "xdr/diagnostics.h"

extern char** environ;

namespace xdr_compiler {

namespace {

class descriptor {
 public:
  explicit descriptor(int number) noexcept : number_{number} {}
  ~descriptor() { close(); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  [[nodiscard]] int get() const noexcept { return number_; }
  void close() noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::string read_all(const descriptor& from, const std::string& name) {
  std::string text;
  std::array<char, 65536> some;
  for (;;) {
    const ssize_t got = ::read(from.get(), some.data(), some.size());
    if (got == 0) return text;
    if (got > 0) {
      text.append(some.data(), static_cast<std::size_t>(got));
    } else if (errno != EINTR) {
      throw failure{name + ": " + std::strerror(errno)};
    }
  }
}

/// Starts cpp with its output going to the descriptor; gives the process's number.
pid_t start(const std::vector<std::string>& words, int output) {
  std::vector<char*> arguments;
  for (const std::string& each : words) arguments.push_back(const_cast<char*>(each.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  pid_t process = 0;
  const int error = posix_spawnp(&process, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT)
    throw failure{
        "the file has lines that begin with #, which need the C preprocessor: install cpp (Debian: package cpp) "
        "or remove those lines"};
  if (error != 0) throw failure{std::string{"cpp can't be started: "} + std::strerror(error)};
  return process;
}

}  // namespace

std::string read_file(const std::string& path) {
  const descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (file.get() < 0) throw failure{path + ": " + std::strerror(errno)};
  return read_all(file, path);
}

std::string preprocess(const std::string& path, const std::vector<std::string>& arguments) {
  // Traditional: keeps blanks, and has no opinion on quotes in lines that begin with %. -C: // is no comment there.
  std::vector<std::string> words{"cpp", "-traditional-cpp", "-C", "-undef", "-ffreestanding"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  words.push_back(path);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw failure{std::string{"pipe: "} + std::strerror(errno)};
  const descriptor from{ends[0]};
  descriptor to{ends[1]};
  const pid_t process = start(words, to.get());
  to.close();
  std::string text = read_all(from, "cpp");
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) throw failure{path + ": the preprocessor has failed"};
  return text;
}

}  // namespace xdr_compiler

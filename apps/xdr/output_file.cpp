#include "xdr/output_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "xdr/diagnostics.h"

namespace xdr_compiler {

void write_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
      throw failure{std::string{"standard output: "} + std::strerror(errno)};
    return;
  }
  const std::string temporary = path + "." + std::to_string(::getpid()) + ".tmp";
  std::FILE* const file = std::fopen(temporary.c_str(), "we");
  if (file == nullptr) throw failure{path + ": " + std::strerror(errno)};
  const bool is_written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool is_closed = std::fclose(file) == 0;
  if (!is_written || !is_closed || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const int error = errno;
    std::remove(temporary.c_str());
    throw failure{path + ": " + std::strerror(error)};
  }
}

}  // namespace xdr_compiler

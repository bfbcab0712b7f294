// One line, one write, abort: the message of a program that ends must not be torn apart by those of other threads, and must
// get out even if the heap or stdio is what broke. Hence a buffer on the stack and write(2).

#include "core/fatal.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/strand_color.h"

namespace tartan::detail {

namespace {

/// Collects a message of at most 4 KB; what is longer is cut.
class line {
 public:
  void add(std::string_view part) noexcept {
    const std::size_t fits = part.size() < text_.size() - 1 - size_ ? part.size() : text_.size() - 1 - size_;
    if (fits != 0) std::memcpy(text_.data() + size_, part.data(), fits);
    size_ += fits;
  }

  void write_to(int descriptor) noexcept {
    text_[size_++] = '\n';
    for (std::size_t done = 0; done < size_;) {
      const ssize_t written = ::write(descriptor, text_.data() + done, size_ - done);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody to tell; the abort that may follow still says something
      done += static_cast<std::size_t>(written);
    }
  }

 private:
  std::array<char, 4096> text_;
  std::size_t size_ = 0;
};

}  // namespace

void report(std::initializer_list<std::string_view> parts) noexcept {
  line message;
  message.add("tartan: ");
  for (const std::string_view part : parts) message.add(part);
  message.write_to(STDERR_FILENO);
}

void fatal(std::initializer_list<std::string_view> parts) noexcept {
  report(parts);
  std::abort();
}

std::string place(std::source_location site) {
  if (site.line() == 0 && *site.file_name() == '\0') return "an unknown place";
  std::string text = site.file_name();
  text += ':';
  text += std::to_string(site.line());
  if (*site.function_name() != '\0') {
    text += " in ";
    text += site.function_name();
  }
  return text;
}

std::string color_text(color c, std::string_view name) {
  constexpr std::uint64_t upper_half = std::uint64_t{1} << 63;
  std::string text;
  if (c == color{}) {
    text = "default color";
  } else if (c == color::unordered) {
    text = "unordered";
  } else if (c.value() >= upper_half) {
    const std::uint64_t within_runtime = strand_color::is(c) ? c.value() & ~strand_color::mark_mask : c.value();
    text = name.empty() ? "strand " + std::to_string(within_runtime - upper_half) : "strand";
  } else {
    text = "color " + std::to_string(c.value());
  }
  if (!name.empty()) {
    text += " \"";
    text += name;
    text += '"';
  }
  return text;
}

}  // namespace tartan::detail

#include "xdr/source_text.h"

#include <algorithm>

namespace xdr_compiler {

void source_text::line(std::string_view text) {
  if (!text.empty()) text_.append(depth_ * 2, ' ').append(text);
  text_ += '\n';
}

void source_text::gap() {
  if (!text_.empty() && !text_.ends_with("\n\n") && !text_.ends_with("{\n")) text_ += '\n';
}

void source_text::label(std::string_view text) {
  text_.append(depth_ * 2 - 1, ' ').append(text);
  text_ += '\n';
}

void source_text::fill(const std::string& head, const std::vector<std::string>& items, std::string_view separator,
                       std::string_view tail) {
  std::string now = head;
  for (std::size_t n = 0; n < items.size(); ++n) {
    const bool is_last = n + 1 == items.size();
    const std::string next = items[n] + std::string{is_last ? tail : separator};
    if (n != 0 && depth_ * 2 + now.size() + 1 + next.size() > longest_line) {
      line(now);
      now = std::string(head.size(), ' ') + next;
    } else {
      now += (n == 0 ? "" : " ") + next;
    }
  }
  line(now);
}

void source_text::enter(const std::vector<std::string>& namespaces) {
  if (namespaces == namespaces_) return;
  if (!namespaces_.empty()) {
    gap();
    line("}  // namespace " + joined(namespaces_, "::"));
  }
  namespaces_ = namespaces;
  if (!namespaces_.empty()) {
    gap();
    line("namespace " + joined(namespaces_, "::") + " {");
    text_ += '\n';
  }
}

std::string joined(const std::vector<std::string>& all, std::string_view separator) {
  std::string text;
  for (std::size_t n = 0; n < all.size(); ++n) text += (n == 0 ? "" : std::string{separator}) + all[n];
  return text;
}

}  // namespace xdr_compiler

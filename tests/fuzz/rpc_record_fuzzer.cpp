// Record marking: what is read does not depend on how the bytes arrive, and is what a simple reader reads.
//
// Input: the limit of a record in words (a byte), the seed of the pieces (a byte), and the stream.
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "fuzz_target.h"
#include "rpc/record_reader.h"

namespace tartan::http::fuzz {

namespace {

struct seen_records {
  std::vector<std::string> records;
  std::vector<std::size_t> descriptors;
  bool is_refused = false;

  [[nodiscard]] bool operator==(const seen_records&) const = default;
};

void feed(rpc::record_reader& reader, std::string_view bytes) {
  while (!bytes.empty()) {
    const std::span<std::byte> room = reader.room();
    promise(!room.empty(), "there is always room");
    const std::size_t now = std::min(room.size(), bytes.size());
    std::memcpy(room.data(), bytes.data(), now);
    reader.add(now);
    bytes.remove_prefix(now);
  }
}

void take_all(rpc::record_reader& reader, seen_records& into) {
  for (;;) {
    auto got = reader.next();
    into.is_refused = !got.has_value();
    if (!got || !*got) return;
    into.records.push_back((*got)->to_string());
    into.descriptors.push_back(reader.descriptors());
  }
}

std::uint32_t take_mark(std::string_view& stream) {
  std::uint32_t mark = 0;
  for (const char each : stream.substr(0, 4)) mark = mark << 8 | static_cast<unsigned char>(each);
  stream.remove_prefix(4);
  return mark;
}

seen_records read_simply(std::string_view stream, std::size_t most) {
  seen_records seen;
  std::string record;
  std::size_t fragments = 0;
  std::size_t leading = 0;
  while (stream.size() >= 4) {
    const std::uint32_t mark = take_mark(stream);
    const std::size_t length = mark & 0x7fffffff;
    leading += mark == 0 && record.empty() ? 1 : 0;
    seen.is_refused = record.size() + length > most || ++fragments > rpc::record_reader::most_fragments ||
                      leading > rpc::record_reader::most_descriptors;
    if (seen.is_refused || stream.size() < length) return seen;
    record.append(stream.substr(0, length));
    stream.remove_prefix(length);
    if (mark >> 31 == 0) continue;
    seen.records.push_back(std::exchange(record, {}));
    seen.descriptors.push_back(std::exchange(leading, 0));
    fragments = 0;
  }
  return seen;
}

}  // namespace

void fuzz_rpc_record(std::string_view input) {
  const auto [words, seed] = take_knobs<2>(input);
  const std::size_t most = 4u * words;
  std::minstd_rand random{seed + 1u};
  rpc::record_reader reader{most};
  seen_records seen;
  for (std::string_view rest = input; !rest.empty() && !seen.is_refused;) {
    const std::string_view piece = rest.substr(0, 1 + random() % 40);
    feed(reader, piece);
    rest.remove_prefix(piece.size());
    if (random() % 2 == 0) take_all(reader, seen);
  }
  take_all(reader, seen);
  promise(seen == read_simply(input, most), "what is read is what a simple reader reads");
}

}  // namespace tartan::http::fuzz

#include "plain_cells.h"

#include "hashing.h"

namespace tartan::model {

void plain_cells::reset() {
  cells_.clear();
  made_ = {};
}

cell_id plain_cells::add(thread_id creator, const vector_clock& clock, std::uint64_t value, const void* address,
                         const char* name, bool ghost) {
  const std::uint64_t key = mix(creator, made_[creator]++);
  cells_.push_back({key, value, address, name, {}, clock.steps[creator], creator, ghost, true});
  return count() - 1;
}

void plain_cells::must_know_last_write(thread_id thread, const vector_clock& clock, const cell_record& cell, cell_id id,
                                       const char* what) {
  if (!cell.alive) {
    host_->fail(std::string{"use after free: "} + name(id) + " was destroyed before this " + what);
  }
  if (cell.writer != thread && !cell.ghost && !clock.covers(cell.writer, cell.written_at)) {
    host_->fail(std::string{"data race: nothing orders this "} + what + " of " + name(id) +
                " after the write by thread " + std::to_string(cell.writer));
  }
}

void plain_cells::must_know_reads(thread_id thread, const vector_clock& clock, const cell_record& cell, cell_id id,
                                  const char* what) {
  for (thread_id reader = 0; reader < max_threads && !cell.ghost; ++reader) {
    if (reader != thread && !clock.covers(reader, cell.read_at[reader])) {
      host_->fail(std::string{"data race: nothing orders this "} + what + " of " + name(id) +
                  " after the read by thread " + std::to_string(reader));
    }
  }
}

void plain_cells::retire(thread_id thread, const vector_clock& clock, cell_id cell) {
  must_know_last_write(thread, clock, cells_[cell], cell, "destruction");
  must_know_reads(thread, clock, cells_[cell], cell, "destruction");
  cells_[cell].alive = false;
}

void plain_cells::read(thread_id thread, const vector_clock& clock, cell_id cell) {
  must_know_last_write(thread, clock, cells_[cell], cell, "read");
  cells_[cell].read_at[thread] = clock.steps[thread];
}

void plain_cells::write(thread_id thread, const vector_clock& clock, cell_id cell, std::uint64_t value) {
  must_know_last_write(thread, clock, cells_[cell], cell, "write");
  must_know_reads(thread, clock, cells_[cell], cell, "write");
  cells_[cell].value = value;
  cells_[cell].writer = thread;
  cells_[cell].written_at = clock.steps[thread];
}

std::uint64_t plain_cells::digest(const horizon& past) const {
  std::uint64_t sum = 0;
  for (const cell_record& cell : cells_) {
    std::uint64_t word = mix(cell.key, cell.alive ? cell.value : 0xdead);
    if (cell.alive && !cell.ghost) {
      const std::uint16_t written = past.beyond(cell.writer, cell.written_at);
      word = mix(word, written == 0 ? 0 : std::uint64_t{written} * max_threads + cell.writer);
      for (thread_id thread = 0; thread < max_threads; ++thread) {
        word = mix(word, past.beyond(thread, cell.read_at[thread]));
      }
    }
    sum += word;
  }
  return sum;
}

const char* plain_cells::name(cell_id cell) const {
  if (cells_[cell].name != nullptr) {
    return cells_[cell].name;
  }
  label_ = "plain#" + std::to_string(cell);
  return label_.c_str();
}

}  // namespace tartan::model

// Shared data that is not atomic: two accesses of different threads, one of them a write, must be ordered by happens-before.
// Which of them runs first does not matter for seeing the race, so these accesses are no steps of the exploration.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "nondeterminism.h"
#include "view.h"

namespace tartan::model {

/// Numbers of plain objects, in the order of their making.
using cell_id = std::uint32_t;

/// The history of every plain object of one execution, as far as races need it.
class plain_cells {
 public:
  explicit plain_cells(nondeterminism& host) : host_{&host} {}

  void reset();
  /// A `ghost` belongs to the test, not to the protocol: its races are none.
  cell_id add(thread_id creator, const vector_clock& clock, std::uint64_t value, const void* address, const char* name,
              bool ghost);
  void rename(cell_id cell, const char* name) { cells_[cell].name = name; }
  void retire(thread_id thread, const vector_clock& clock, cell_id cell);

  void read(thread_id thread, const vector_clock& clock, cell_id cell);
  void write(thread_id thread, const vector_clock& clock, cell_id cell, std::uint64_t value);

  [[nodiscard]] std::uint64_t digest(const horizon& past) const;
  [[nodiscard]] const char* name(cell_id cell) const;
  [[nodiscard]] cell_id count() const { return static_cast<cell_id>(cells_.size()); }
  [[nodiscard]] const void* address(cell_id cell) const { return cells_[cell].address; }
  [[nodiscard]] bool alive(cell_id cell) const { return cells_[cell].alive; }

 private:
  struct cell_record {
    std::uint64_t key;
    std::uint64_t value;  // a digest of it
    const void* address;
    const char* name;
    std::array<std::uint16_t, max_threads> read_at;
    std::uint16_t written_at;
    thread_id writer;
    bool ghost;
    bool alive;
  };

  void must_know_last_write(thread_id thread, const vector_clock& clock, const cell_record& cell, cell_id id,
                            const char* what);
  void must_know_reads(thread_id thread, const vector_clock& clock, const cell_record& cell, cell_id id,
                       const char* what);

  nondeterminism* host_;
  mutable std::string label_;  // of the unnamed one that was asked for last
  std::vector<cell_record> cells_;
  std::array<std::uint32_t, max_threads> made_{};
};

}  // namespace tartan::model

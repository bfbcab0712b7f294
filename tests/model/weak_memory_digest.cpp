// Telling states apart. Two executions merge if nothing that may still happen can tell them apart, so the digest leaves out
// what is only history: messages that no running thread may read any more, and steps that every running thread knows of.
// Ranks and steps are counted from there on, or no loop would ever come back to a state that it had before.

#include <algorithm>

#include "hashing.h"
#include "weak_memory.h"

namespace tartan::model {

horizon weak_memory::common_past(unsigned thread_count, std::uint32_t running) const {
  horizon past;
  past.oldest.fill(0xffff);
  past.known.steps.fill(0xffff);
  for (unsigned thread = 1; thread < thread_count; ++thread) {
    if ((running >> thread & 1U) == 0) {
      continue;
    }
    const view& known = threads_[thread].current;
    for (location_id index = 0; index < count_; ++index) {
      past.oldest[index] = std::min(past.oldest[index], locations_[index].messages[known.seen[index]].rank);
    }
    for (thread_id other = 0; other < max_threads; ++other) {
      past.known.steps[other] = std::min(past.known.steps[other], known.clock.steps[other]);
    }
  }
  return past;
}

std::uint64_t weak_memory::digest(const view& known, const horizon& past) const {
  std::uint64_t sum = 0;
  for (location_id index = 0; index < count_; ++index) {
    const std::uint16_t rank = locations_[index].messages[known.seen[index]].rank;
    if (locations_[index].alive && rank > past.oldest[index]) {
      sum += mix(locations_[index].key, std::uint64_t{rank} - past.oldest[index]);
    }
  }
  for (thread_id thread = 0; thread < max_threads; ++thread) {
    sum = mix(sum, past.beyond(thread, known.clock.steps[thread]));
  }
  return sum;
}

std::uint64_t weak_memory::digest(const atomic_record& place, std::uint16_t oldest, const horizon& past) const {
  std::uint64_t word = mix(place.key, place.alive ? past.beyond(place.creator, place.created) : 0xffff);
  if (!place.alive) {
    return word;
  }
  for (std::size_t rank = oldest; rank < place.order.size(); ++rank) {
    const message& entry = place.messages[place.order[rank]];
    const bool follows_closely = rank > oldest && entry.from_rmw;  // nobody gets in between
    word = mix(mix(word, entry.value), digest(entry.released, past) * 2 + (follows_closely ? 1 : 0));
  }
  for (thread_id thread = 0; thread < max_threads; ++thread) {
    word = mix(word, past.beyond(thread, place.accessed[thread]));
  }
  return word;
}

// Atomics are summed under their keys, because the order in which two threads made theirs does not matter.
std::uint64_t weak_memory::digest(unsigned thread_count, const horizon& past) const {
  std::uint64_t words = digest(total_order_, past);
  for (unsigned thread = 1; thread < thread_count; ++thread) {
    words = mix(words, digest(threads_[thread].current, past));
    words = mix(words, digest(threads_[thread].acquirable, past));
    words = mix(words, digest(threads_[thread].released, past));
  }
  std::uint64_t sum = 0;
  for (location_id index = 0; index < count_; ++index) {
    sum += digest(locations_[index], past.oldest[index], past);
  }
  return mix(words, sum);
}

}  // namespace tartan::model

// Tables of the walking distance (Takahashi 2001).
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "control.hpp"

namespace unjam::tiles {

// Look at the rows of a board only: how many tiles of goal row g lie in row r, and in which row the blank is.
//
//   rows of a solved 4x4 board:  r\g | 0 1 2 3     A vertical step takes a tile from a row beside the blank's into the
//   (goal has the blank first)    0  | 3 . . .     blank's row, here one of the four of row 1. Horizontal steps change
//                                 1  | . 4 . .     nothing. So the distance in this small space is a lower bound on
//                                 2  | . . 4 .     the vertical steps, and that of the columns on the horizontal ones;
//                                 3  | . . . 4     as no step is both, their sum is admissible, wherever the goal's
//                                                  blank is.
//
// "Lines" are the rows, or the columns; `capacity` is the number of cells of a line.
struct WalkingSpace {
  int lines, capacity, blank_goal;

  bool operator==(const WalkingSpace&) const = default;

  // Up to 4 lines, 5 of at most 3 cells and 6 of 2 have less than 400,000 states; all others 6 million and more.
  bool fits() const { return lines <= 4 || (lines == 5 && capacity <= 3) || (lines == 6 && capacity == 2); }

  // The counts of the last goal line follow from the others and are left out, so that 63 bits are enough for 6 lines.
  //   key: | counts of line n-1 ... line 0, each of goal lines n-2 ... 0 | blank's line: 3 bits |
  int bits() const { return capacity < 4 ? 2 : 3; }
  int shift(int line, int goal) const { return 3 + bits() * (line * (lines - 1) + goal); }
  std::uint64_t one(int line, int goal) const { return goal == lines - 1 ? 0 : std::uint64_t{1} << shift(line, goal); }
  int count(std::uint64_t key, int line, int goal) const {
    if (goal < lines - 1) return static_cast<int>(key >> shift(line, goal)) & ((1 << bits()) - 1);
    int rest = capacity - (blank_line(key) == line);
    for (int other = 0; other < lines - 1; ++other) rest -= count(key, line, other);
    return rest;
  }
  static int blank_line(std::uint64_t key) { return static_cast<int>(key & 7); }

  std::uint64_t goal() const {
    std::uint64_t key = static_cast<std::uint64_t>(blank_goal);
    for (int line = 0; line < lines; ++line) key += one(line, line) * (capacity - (line == blank_goal));
    return key;
  }
};

// Entry: std::uint16_t if there are less than 2^15 states, else std::uint32_t.
template <class Entry>
class WalkingTable {
 public:
  static constexpr std::uint32_t kMissing = std::numeric_limits<std::uint32_t>::max();

  // nullptr, and the reason, when the meter says stop.
  static std::unique_ptr<const WalkingTable> build(const WalkingSpace& space, Meter& meter, const char*& reason) {
    std::unique_ptr<WalkingTable> table(new WalkingTable(space));
    reason = table->walk(meter);
    if (reason) return nullptr;
    return table;
  }

  std::uint32_t find(std::uint64_t key) const {
    std::size_t at = home(key);
    while (index_[at] != kMissing && keys_[index_[at]] != key) at = (at + 1) & (index_.size() - 1);
    return index_[at];
  }

  // A blank that goes a line up (or left; else down, or right) in exchange for a tile of goal line `goal`. The step
  // distance changes by one each time: the blank's line changes parity.
  //   entry: | state | 1 bit: farther |
  Entry next(std::uint32_t state, bool forward, int goal) const {
    return next_[(state * 2 + forward) * static_cast<std::uint32_t>(lines_) + static_cast<std::uint32_t>(goal)];
  }
  std::uint8_t steps(std::uint32_t state) const { return steps_[state]; }

  const WalkingSpace& space() const { return space_; }
  std::uint64_t bytes() const {
    return next_.capacity() * sizeof(Entry) + keys_.capacity() * sizeof(keys_[0]) +
           index_.capacity() * sizeof(index_[0]) + steps_.capacity();
  }

 private:
  explicit WalkingTable(const WalkingSpace& space) : space_(space), lines_(space.lines) {}

  std::size_t home(std::uint64_t key) const {
    key *= 0x9E3779B97F4A7C15u;
    return (key ^ key >> 32) * 0xD6E8FEB86659FD93u >> (64 - index_bits_);
  }

  std::uint32_t find_or_add(std::uint64_t key, int steps) {
    if (2 * keys_.size() >= index_.size()) rehash();
    std::size_t at = home(key);
    while (index_[at] != kMissing && keys_[index_[at]] != key) at = (at + 1) & (index_.size() - 1);
    if (index_[at] == kMissing) {
      index_[at] = static_cast<std::uint32_t>(keys_.size());
      keys_.push_back(key);
      steps_.push_back(static_cast<std::uint8_t>(steps));
    }
    return index_[at];
  }

  void rehash() {
    index_bits_ = index_.empty() ? 6 : index_bits_ + 1;
    index_.assign(std::size_t{1} << index_bits_, kMissing);
    for (std::uint32_t state = 0; state < keys_.size(); ++state) {
      std::size_t at = home(keys_[state]);
      while (index_[at] != kMissing) at = (at + 1) & (index_.size() - 1);
      index_[at] = state;
    }
  }

  // Breadth-first from the goal, step by step.
  const char* walk(Meter& meter) {
    find_or_add(space_.goal(), 0);
    for (std::uint32_t state = 0; state < keys_.size(); ++state) {
      if (state % 4096 == 0) {
        if (const char* reason = meter.poll(0)) return reason;
        if (!meter.affords(bytes())) return "bytes";
      }
      const std::uint64_t key = keys_[state];
      const int line = WalkingSpace::blank_line(key);
      for (int forward = 0; forward < 2; ++forward) {
        const int from = forward ? line + 1 : line - 1;
        for (int goal = 0; goal < lines_; ++goal) {
          Entry entry = 0;
          if (from >= 0 && from < lines_ && space_.count(key, from, goal) > 0) {
            const std::uint64_t moved = key - space_.one(from, goal) + space_.one(line, goal) - line + from;
            const std::uint32_t other = find_or_add(moved, steps_[state] + 1);
            entry = static_cast<Entry>(other << 1 | (steps_[other] > steps_[state]));
          }
          next_.push_back(entry);
        }
      }
    }
    return nullptr;
  }

  WalkingSpace space_;
  int lines_;
  int index_bits_ = 0;
  std::vector<std::uint64_t> keys_;   // by state
  std::vector<std::uint32_t> index_;  // open addressing of keys_
  std::vector<std::uint8_t> steps_;   // by state
  std::vector<Entry> next_;           // [state][forward][goal]
};

}  // namespace unjam::tiles

// Tables of a walking distance in slides that keeps the order of the tiles.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "control.hpp"
#include "tiles_walking.hpp"

namespace unjam::tiles {

// Read a board row by row, leave out the blank, and keep of each tile only its goal row. A horizontal slide changes
// nothing of that. A vertical slide in column c takes tiles past capacity - 1 others each, for a 4x4 board so:
//
//   a b c d       the blank goes down from row 1 in column 2:   the window of `capacity` labels that begins at that
//   e f . g       ... e f g h i j k l ...                       cell turns by one; the blank is then in row 2, and the
//   h i j k           e f j g h i k l ...                       same column's next window can turn in the same slide
//
// So the distance between such sequences, with the blank's row but in any column, is a lower bound on the vertical
// slides. Columns do the same for the horizontal ones, and no slide is both: the sum is admissible, wherever the goal's
// blank is. It is a good deal more than the walking distance counted in runs: 21.1 instead of 17.3 on Korf's boards.
//
// 4x4 has 63 million sequences. Two labels that are made one leave half a million or less, and the greatest of the
// three distances with neighbouring labels made one is only 1.5 less. Labels have two bits: five or six lines share.
class OrderTable {
 public:
  // nullptr, and the reason, when the meter says stop.
  static std::unique_ptr<const OrderTable> build(const WalkingSpace& space, Meter& meter, const char*& reason) {
    std::unique_ptr<OrderTable> table(new OrderTable(space));
    reason = table->fill(meter);
    if (reason) return nullptr;
    return table;
  }

  const WalkingSpace& space() const { return space_; }
  std::uint64_t bytes() const {
    return first_.capacity() * sizeof(first_[0]) + second_.capacity() * sizeof(second_[0]) + slides_.capacity();
  }

  static std::uint32_t label(const WalkingSpace& space, int goal_line) {
    constexpr std::uint8_t kLabels[3][6] = {{0, 1, 2, 3}, {0, 1, 1, 2, 3}, {0, 1, 1, 2, 2, 3}};
    return kLabels[std::max(space.lines - 4, 0)][goal_line];
  }

  // The window that begins at `cell` (counted line by line) turns: the blank goes from that cell's line to the next
  // (forward), or back.
  std::uint32_t turned(std::uint32_t sequence, bool forward, int cell) const {
    const int far = 2 * (space_.capacity - 1);
    const std::uint32_t window = sequence >> (2 * cell) & mask_;
    const std::uint32_t turned = forward ? window << 2 | window >> far : window >> 2 | window << far;
    return sequence ^ ((window ^ turned) & mask_) << (2 * cell);
  }

  std::uint8_t slides(std::uint32_t sequence, int blank_line) const {
    const std::array<std::uint32_t, kMerges>& first = first_[sequence & kFirst];
    const std::array<std::uint32_t, kMerges>& second = second_[sequence >> kFirstBits];
    std::uint8_t most = 0;
    for (int merge = 0; merge < merges_; ++merge) {
      most = std::max(most, slides_[first[merge] + second[merge] + static_cast<std::uint32_t>(blank_line)]);
    }
    return most;
  }

 private:
  static constexpr int kMerges = 3;
  static constexpr int kFirstLabels = 8, kFirstBits = 2 * kFirstLabels;
  static constexpr std::uint32_t kFirst = (1u << kFirstBits) - 1;
  static constexpr std::uint8_t kUnknown = 255;
  static constexpr std::uint64_t kLimit = 1 << 21;  // entries of one distance table

  using Counts = std::array<int, 4>;  // of each label
  struct Half {
    std::uint32_t labels, rank;
    std::vector<std::uint32_t> rests;  // of the second half, in the order of their ranks
  };

  explicit OrderTable(const WalkingSpace& space)
      : space_(space), length_(space.lines * space.capacity - 1), mask_((1u << (2 * space.capacity)) - 1) {
    const int firsts = std::min(length_, kFirstLabels);
    first_.resize(std::size_t{1} << (2 * firsts));
    second_.resize(std::size_t{1} << (2 * (length_ - firsts)));
  }

  const char* fill(Meter& meter) {
    const std::array<std::uint32_t, 4> apart{0, 1, 2, 3};
    if (entries(apart) <= kLimit) return add(apart, meter);
    for (std::uint32_t merged = 0; merged < kMerges; ++merged) {
      std::array<std::uint32_t, 4> labels = apart;
      labels[merged + 1] = merged;
      if (const char* reason = add(labels, meter)) return reason;
    }
    return nullptr;
  }

  Counts counts(const std::array<std::uint32_t, 4>& labels) const {
    Counts counts{};
    for (int line = 0; line < space_.lines; ++line) {
      counts[labels[label(space_, line)]] += space_.capacity - (line == space_.blank_goal);
    }
    return counts;
  }

  // lines times (length! / the factorials of the counts)
  std::uint64_t entries(const std::array<std::uint32_t, 4>& labels) const {
    std::uint64_t sequences = 1, placed = 0;
    for (const int count : counts(labels)) {
      for (int i = 1; i <= count; ++i) sequences = sequences * ++placed / static_cast<std::uint64_t>(i);
    }
    return sequences * static_cast<std::uint64_t>(space_.lines);
  }

  // `labels`: what becomes of each label. A sequence has the rank of its first half plus that of its second half among
  // all with the same labels, times the lines; both are indexed by the labels as they were.
  const char* add(const std::array<std::uint32_t, 4>& labels, Meter& meter) {
    const int merge = merges_++;
    const Counts all = counts(labels);
    const auto relabelled = [&](std::uint32_t half, int length) {
      std::uint32_t result = 0;
      for (int i = 0; i < length; ++i) result |= labels[half >> (2 * i) & 3] << (2 * i);
      return result;
    };
    const auto counted = [](std::uint32_t half, int length) {
      Counts counts{};
      for (int i = 0; i < length; ++i) ++counts[half >> (2 * i) & 3];
      return counts;
    };
    const int firsts = std::min(length_, kFirstLabels), seconds = length_ - firsts;
    const auto lines = static_cast<std::uint32_t>(space_.lines);

    std::map<Counts, std::vector<std::uint32_t>> rests;
    for (std::uint32_t half = 0; half < second_.size(); ++half) {
      if (relabelled(half, seconds) == half) {
        std::vector<std::uint32_t>& equal = rests[counted(half, seconds)];
        second_[half][merge] = static_cast<std::uint32_t>(equal.size()) * lines;
        equal.push_back(half);
      }
    }
    const auto begin = static_cast<std::uint32_t>(slides_.size());
    std::uint32_t end = begin;
    std::vector<Half> halves;
    for (std::uint32_t half = 0; half < first_.size(); ++half) {
      if (relabelled(half, firsts) != half) continue;
      Counts rest = all;
      const Counts used = counted(half, firsts);
      for (int label = 0; label < 4; ++label) rest[label] -= used[label];
      const auto found = rests.find(rest);
      if (found == rests.end()) continue;
      first_[half][merge] = end;
      halves.push_back({half, end, found->second});
      end += static_cast<std::uint32_t>(found->second.size()) * lines;
    }
    for (std::uint32_t half = 0; half < first_.size(); ++half) {
      first_[half][merge] = first_[relabelled(half, firsts)][merge];
    }
    for (std::uint32_t half = 0; half < second_.size(); ++half) {
      second_[half][merge] = second_[relabelled(half, seconds)][merge];
    }
    if (!meter.affords(bytes() + end - begin)) return "bytes";
    slides_.resize(end, kUnknown);
    return search(merge, relabelled(goal(), length_), halves, meter);
  }

  std::uint32_t goal() const {
    std::uint32_t sequence = 0;
    int tile = 0;
    for (int line = 0; line < space_.lines; ++line) {
      const int tiles = space_.capacity - (line == space_.blank_goal);
      for (int i = 0; i < tiles; ++i) sequence |= label(space_, line) << (2 * tile++);
    }
    return sequence;
  }

  std::uint8_t& entry(int merge, std::uint32_t sequence, int line) {
    return slides_[first_[sequence & kFirst][merge] + second_[sequence >> kFirstBits][merge] +
                   static_cast<std::uint32_t>(line)];
  }

  // Breadth-first from the goal, by passes over the table.
  const char* search(int merge, std::uint32_t goal, const std::vector<Half>& halves, Meter& meter) {
    entry(merge, goal, space_.blank_goal) = 0;
    bool found = true;
    for (std::uint8_t slides = 0; found; ++slides) {
      found = false;
      const auto reach = [&](std::uint32_t sequence, int line) {
        std::uint8_t& known = entry(merge, sequence, line);
        if (known != kUnknown) return;
        known = static_cast<std::uint8_t>(slides + 1);
        found = true;
      };
      for (std::size_t at = 0; at < halves.size(); ++at) {
        if (at % 64 == 0) {
          if (const char* reason = meter.poll(0)) return reason;
        }
        std::uint32_t rank = halves[at].rank;
        for (const std::uint32_t rest : halves[at].rests) {
          const std::uint32_t sequence = halves[at].labels | rest << kFirstBits;
          for (int line = 0; line < space_.lines; ++line, ++rank) {
            if (slides_[rank] == slides) slide(sequence, line, reach);
          }
        }
      }
    }
    return nullptr;
  }

  template <class Reach>
  void slide(std::uint32_t from, int blank_line, const Reach& reach) const {
    for (int place = 0; place < space_.capacity; ++place) {
      std::uint32_t sequence = from;
      for (int line = blank_line; line < space_.lines - 1; ++line) {
        sequence = turned(sequence, true, line * space_.capacity + place);
        reach(sequence, line + 1);
      }
      sequence = from;
      for (int line = blank_line - 1; line >= 0; --line) {
        sequence = turned(sequence, false, line * space_.capacity + place);
        reach(sequence, line);
      }
    }
  }

  WalkingSpace space_;
  int length_;          // labels of a sequence
  std::uint32_t mask_;  // a window
  int merges_ = 0;
  std::vector<std::array<std::uint32_t, kMerges>> first_, second_;  // ranks, by the labels of each half
  std::vector<std::uint8_t> slides_;
};

}  // namespace unjam::tiles

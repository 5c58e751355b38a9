// The table of tiles_order.hpp for 4x4 boards with no labels merged.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "control.hpp"
#include "memory.hpp"
#include "tiles_walking.hpp"

namespace unjam::tiles {

// 15,765,750 sequences times the blank's line are 63 million distances, none more than 15 when the goal's blank is in a
// corner. A slide can be taken back, so it changes the distance by one at most, and two bits, the distance modulo 3, are
// enough for who knows the distance before the slide. A byte holds the four lines of a sequence: 16 MB in all.
//
//   byte: | line 3 | line 2 | line 1 | line 0 |      two bits: 0 unknown, else 1 + distance modulo 3
class ExactOrderTable {
 public:
  static constexpr int kLines = 4, kCapacity = 4, kLabels = kLines * kCapacity - 1;
  static constexpr std::uint64_t kBytes = 17 << 20;  // about; what a search needs to afford

  // nullptr, and the reason, when the meter says stop.
  static std::unique_ptr<const ExactOrderTable> build(const WalkingSpace& space, Meter& meter, const char*& reason) {
    std::unique_ptr<ExactOrderTable> table(new ExactOrderTable(space));
    reason = table->fill(meter);
    if (reason) return nullptr;
    table->pages_.outlive_meter();
    return table;
  }

  const WalkingSpace& space() const { return space_; }
  std::uint64_t bytes() const { return sizeof(*this) + sequences_; }

  // The window that begins at `cell` turns as in tiles_order.hpp.
  template <bool Forward>
  static std::uint32_t turned(std::uint32_t sequence, int cell) {
    const std::uint32_t window = sequence >> (2 * cell) & 255;
    const std::uint32_t turned = (Forward ? window << 2 | window >> 6 : window >> 2 | window << 6) & 255;
    return sequence ^ (window ^ turned) << (2 * cell);
  }

  std::uint32_t rank(std::uint32_t sequence) const { return first_[sequence & 0xFFFF] + second_[sequence >> 16]; }
  [[gnu::always_inline]] void prefetch(std::uint32_t rank) const { __builtin_prefetch(entries_ + rank); }
  std::uint32_t code(std::uint32_t rank, int line) const { return entries_[rank] >> (2 * line) & 3; }

  // By how much a slide from one code to another falls short of a slide towards the goal: 0, 1 or 2.
  static int lost(std::uint32_t before, std::uint32_t after) {
    return static_cast<int>((after + 4 - before) % 3);
  }

  // By walking down to the goal.
  int slides(std::uint32_t sequence, int line) const {
    const std::uint32_t goal = goal_sequence();
    int slides = 0;
    for (; sequence != goal || line != space_.blank_goal; ++slides) {
      const std::uint32_t before = code(rank(sequence), line);
      any_neighbour(sequence, line, [&](std::uint32_t next, int next_line) {
        if (lost(before, code(rank(next), next_line)) != 0) return false;
        sequence = next;
        line = next_line;
        return true;
      });
    }
    return slides;
  }

 private:
  static constexpr int kFirstLabels = 8;

  using Counts = std::array<int, kLines>;  // of each label
  struct Half {
    std::uint32_t labels, rank;
    const std::vector<std::uint32_t>* rests;  // of the second half, in the order of their ranks
  };

  explicit ExactOrderTable(const WalkingSpace& space) : space_(space) {}

  std::uint32_t goal_sequence() const {
    std::uint32_t sequence = 0;
    int tile = 0;
    for (std::uint32_t line = 0; line < kLines; ++line) {
      const int tiles = kCapacity - (static_cast<int>(line) == space_.blank_goal);
      for (int i = 0; i < tiles; ++i) sequence |= line << (2 * tile++);
    }
    return sequence;
  }

  // Ranks as in tiles_order.hpp.
  const char* fill(Meter& meter) {
    const auto counted = [](std::uint32_t half, int length) {
      Counts counts{};
      for (int i = 0; i < length; ++i) ++counts[half >> (2 * i) & 3];
      return counts;
    };
    std::map<Counts, std::vector<std::uint32_t>> rests;
    for (std::uint32_t half = 0; half < second_.size(); ++half) {
      std::vector<std::uint32_t>& equal = rests[counted(half, kLabels - kFirstLabels)];
      second_[half] = static_cast<std::uint32_t>(equal.size());
      equal.push_back(half);
    }
    std::vector<Half> halves;
    for (std::uint32_t half = 0; half < first_.size(); ++half) {
      Counts rest = counted(half, kFirstLabels);
      for (int line = 0; line < kLines; ++line) rest[line] = kCapacity - (line == space_.blank_goal) - rest[line];
      const auto found = rests.find(rest);
      if (found == rests.end()) continue;
      first_[half] = sequences_;
      halves.push_back({half, sequences_, &found->second});
      sequences_ += static_cast<std::uint32_t>(found->second.size());
    }
    pages_ = Pages::zeroed(sequences_, meter);
    entries_ = static_cast<std::uint8_t*>(pages_.data());
    return entries_ ? search(halves, meter) : "bytes";
  }

  // Breadth-first from the goal, by passes over the table. Where few are unknown, they look for a neighbour in the last
  // layer, which most find soon; else the last layer looks for neighbours that are unknown.
  const char* search(const std::vector<Half>& halves, Meter& meter) {
    std::uint64_t unknown = std::uint64_t{sequences_} * kLines - 1, layer = 1;
    mark(rank(goal_sequence()), space_.blank_goal, 1);
    for (std::uint32_t last = 1; layer > 0; last = last % 3 + 1) {
      const std::uint32_t next = last % 3 + 1, wanted = 3 * layer > unknown ? 0 : last;
      std::uint64_t found = 0;
      for (std::size_t at = 0; at < halves.size(); ++at) {
        if (at % 32 == 0) {
          if (const char* reason = meter.poll(0)) return reason;
        }
        std::uint32_t from = halves[at].rank;
        for (const std::uint32_t rest : *halves[at].rests) {
          const std::uint32_t sequence = halves[at].labels | rest << (2 * kFirstLabels);
          const std::uint32_t entry = entries_[from], differs = entry ^ wanted * 0x55;
          std::uint32_t lines = ~(differs | differs >> 1) & 0x55;  // a bit for each line whose code is `wanted`
          for (; lines != 0; lines &= lines - 1) {
            const int line = __builtin_ctz(lines) / 2;
            if (wanted == last) {
              any_neighbour(sequence, line, [&](std::uint32_t neighbour, int neighbour_line) {
                const std::uint32_t to = rank(neighbour);
                if (code(to, neighbour_line) == 0) {
                  mark(to, neighbour_line, next);
                  ++found;
                }
                return false;
              });
            } else if (any_neighbour(sequence, line, [&](std::uint32_t neighbour, int neighbour_line) {
                         return code(rank(neighbour), neighbour_line) == last;
                       })) {
              mark(from, line, next);
              ++found;
            }
          }
          ++from;
        }
      }
      layer = found;
      unknown -= found;
    }
    return nullptr;
  }

  void mark(std::uint32_t rank, int line, std::uint32_t code) {
    entries_[rank] = static_cast<std::uint8_t>(entries_[rank] | code << (2 * line));
  }

  // Whether `wanted` says so of one of the 12.
  template <class Wanted>
  static bool any_neighbour(std::uint32_t from, int blank_line, const Wanted& wanted) {
    for (int place = 0; place < kCapacity; ++place) {
      std::uint32_t sequence = from;
      for (int line = blank_line; line < kLines - 1; ++line) {
        sequence = turned<true>(sequence, line * kCapacity + place);
        if (wanted(sequence, line + 1)) return true;
      }
      sequence = from;
      for (int line = blank_line - 1; line >= 0; --line) {
        sequence = turned<false>(sequence, line * kCapacity + place);
        if (wanted(sequence, line)) return true;
      }
    }
    return false;
  }

  WalkingSpace space_;
  std::uint32_t sequences_ = 0;
  std::array<std::uint32_t, 1 << (2 * kFirstLabels)> first_{};  // rank of a first half, by its labels
  std::array<std::uint32_t, 1 << (2 * (kLabels - kFirstLabels))> second_{};  // of a second half among its equals
  Pages pages_;
  std::uint8_t* entries_ = nullptr;
};

}  // namespace unjam::tiles

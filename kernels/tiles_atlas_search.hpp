// Breadth-first search that fills an atlas.
//
// While layers are small, the frontier is a list; when few boards are left, they are the list, and each looks for a
// neighbour in the last layer. Between the two the search streams through the whole table for each layer (turning
// windows, see tiles_ranking.hpp) and no board is ranked. What was reached in the same pass has another entry than the
// layer that is expanded, and older layers with the same entry have no neighbour that is not reached.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <utility>
#include <vector>

#include "control.hpp"
#include "tiles_atlas.hpp"

namespace unjam::tiles {

class AtlasSearch {
 public:
  AtlasSearch(const AtlasSpace& space, std::uint8_t* table, Meter& meter)
      : space_(space), ranking_(space.ranking()), table_(table), meter_(meter) {
    half_tiles_ = std::min(ranking_.tiles(), kHalfTiles);
  }

  // The table must be zero. The reason when the meter says stop.
  const char* fill(AtlasLayers& layers) {
    // The lists: at most one layer more than is kept, and twice that while they are split; the turns are small.
    const std::uint64_t bytes = std::uint64_t{space_.listed()} * 64 + kTurnBytes;
    if (!meter_.take(bytes)) return "bytes";
    const char* reason = search(layers);
    if (!reason) reason = meter_.poll(static_cast<std::uint32_t>(layers.counts.size()));
    meter_.give_back(bytes);
    return reason;
  }

 private:
  static constexpr int kHalfTiles = 7;  // 7!/2 bytes of two planes and their turns stay in the nearest cache
  static constexpr std::uint64_t kTurnBytes = 4 << 20;
  static constexpr std::uint64_t kPollBytes = 1 << 21;  // of table between two polls: some milliseconds

  // How the blank's steps down from a cell turn the arrangements.
  struct Turns {
    std::array<std::vector<std::uint16_t>, 2> half;  // of the last tiles, by parity; empty: the window begins before
    std::vector<std::uint32_t> window;
  };

  const char* search(AtlasLayers& layers) {
    if (const char* reason = list_forwards(layers)) return reason;
    if (reached_ == ranking_.boards()) return nullptr;
    compose_turns();
    while (ranking_.boards() - reached_ > space_.listed()) {
      if (const char* reason = stream()) return reason;
      layers.counts.push_back(count() - layers_with_entry(layers));
      reached_ += layers.counts.back();
      meter_.expanded = reached_;
      ++depth_;
    }
    return list_backwards(layers);
  }

  const char* list_forwards(AtlasLayers& layers) {
    std::vector<std::uint32_t> frontier{space_.number(ranking_.place(ranking_.goal()))}, next;
    space_.enter(table_, space_.place(frontier[0]), 0);
    while (!frontier.empty()) {
      layers.counts.push_back(frontier.size());
      reached_ += frontier.size();
      meter_.expanded = reached_;
      if (frontier.size() > space_.listed()) {
        layers.late = static_cast<int>(layers.counts.size());  // none so far
        return nullptr;
      }
      layers.boards.insert(layers.boards.end(), frontier.begin(), frontier.end());
      ++layers.early;
      next.clear();
      std::uint64_t done = 0;
      for (const std::uint32_t number : frontier) {
        const RankedBoard expanded = ranking_.board(space_.place(number));
        visit_neighbours(ranking_, expanded, space_.slides(), [&](const RankedBoard& board) {
          const Place place = ranking_.place(board);
          if (space_.entry(table_, place) == 0) {
            space_.enter(table_, place, depth_ + 1);
            next.push_back(space_.number(place));
          }
          return true;
        });
        if (++done % 4096 == 0) {
          if (const char* reason = poll()) return reason;
        }
      }
      frontier.swap(next);
      if (!frontier.empty()) ++depth_;
    }
    layers.late = layers.early;
    return nullptr;
  }

  const char* list_backwards(AtlasLayers& layers) {
    layers.late = static_cast<int>(layers.counts.size());
    std::vector<std::uint32_t> left;
    if (const char* reason = collect_not_reached(left)) return reason;
    while (!left.empty()) {
      const auto found = [&](std::uint32_t number) {
        bool adjacent = false;
        const int wanted = AtlasSpace::entry_of(depth_);
        const RankedBoard unreached = ranking_.board(space_.place(number));
        visit_neighbours(ranking_, unreached, space_.slides(), [&](const RankedBoard& board) {
          adjacent = space_.entry(table_, ranking_.place(board)) == wanted;
          return !adjacent;
        });
        return adjacent;
      };
      std::vector<std::uint32_t> layer, rest;
      for (std::size_t i = 0; i < left.size(); ++i) {
        (found(left[i]) ? layer : rest).push_back(left[i]);
        if (i % 4096 == 0) {
          if (const char* reason = poll()) return reason;
        }
      }
      if (layer.empty()) throw std::logic_error("atlas: solvable boards are left that nothing reaches");
      for (const std::uint32_t number : layer) space_.enter(table_, space_.place(number), depth_ + 1);
      layers.counts.push_back(layer.size());
      layers.boards.insert(layers.boards.end(), layer.begin(), layer.end());
      reached_ += layer.size();
      meter_.expanded = reached_;
      ++depth_;
      left.swap(rest);
    }
    return nullptr;
  }

  const char* poll() { return meter_.poll(static_cast<std::uint32_t>(depth_)); }

  const char* poll_after(std::uint64_t bytes) {
    streamed_ += bytes;
    if (streamed_ < kPollBytes) return nullptr;
    streamed_ = 0;
    return poll();
  }

  const char* collect_not_reached(std::vector<std::uint32_t>& left) {
    for (int plane = 0; plane < space_.planes(); ++plane) {
      const std::uint8_t* bytes = table_ + plane * space_.stride();
      for (std::uint32_t first = 0; first < space_.stride(); first += 8) {
        if (const char* reason = poll_after(8)) return reason;
        if (where(load(bytes + first), 0) == 0) continue;
        for (std::uint32_t rank = first; rank < std::min(first + 8, ranking_.arrangements()); ++rank) {
          for (int cell = 4 * plane; cell < std::min(4 * plane + 4, ranking_.cells()); ++cell) {
            if (space_.entry(table_, {cell, rank}) == 0) left.push_back(space_.number({cell, rank}));
          }
        }
      }
    }
    return nullptr;
  }

  std::uint64_t layers_with_entry(const AtlasLayers& layers) const {
    std::uint64_t sum = 0;
    for (int depth = depth_ - 2; depth >= 0; depth -= 3) sum += layers.counts[static_cast<std::size_t>(depth)];
    return sum;
  }

  // A bit for each of the entries that are `value`.
  static std::uint64_t where(std::uint64_t entries, int value) {
    const std::uint64_t differing = entries ^ kOnes * static_cast<std::uint64_t>(value);
    return ~(differing | differing >> 1) & kOnes;
  }

  std::uint64_t count() const {
    const int value = AtlasSpace::entry_of(depth_ + 1);
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < space_.bytes(); i += 8) {
      sum += static_cast<std::uint64_t>(std::popcount(where(load(table_ + i), value)));
    }
    return sum;
  }

  static constexpr std::uint64_t kOnes = 0x5555555555555555;
  static constexpr std::uint64_t every_byte(int bits) {
    return 0x0101010101010101 * static_cast<std::uint64_t>(bits & 255);
  }
  static std::uint64_t load(const std::uint8_t* from) {
    std::uint64_t word;
    std::memcpy(&word, from, 8);
    return word;
  }
  static void store(std::uint8_t* to, std::uint64_t word) { std::memcpy(to, &word, 8); }

  void compose_turns() {
    const int tiles = ranking_.tiles();
    turns_.resize(static_cast<std::size_t>(ranking_.cells() - ranking_.width()));
    for (int cell = 0; cell < static_cast<int>(turns_.size()); ++cell) {
      const int half_begins = tiles - half_tiles_;
      if (streams_runs(cell)) turns_[cell].window = ranking_.turns_of_window(tiles - cell);
      if (cell >= half_begins) {
        for (const bool odd : {false, true}) {
          turns_[cell].half[odd] = ranking_.turns_of_half(half_tiles_, cell - half_begins, odd);
        }
      }
    }
    const std::uint32_t halves = ranking_.factorial(tiles) / ranking_.factorial(half_tiles_);
    for (std::uint32_t prefix = 0; prefix < halves; ++prefix) {
      odd_prefix_.push_back(ranking_.is_odd_prefix(prefix, half_tiles_));
    }
  }

  // Behind the window of a step down from the cell there are arrangements enough to stream through, or else the window
  // begins before the half.
  bool streams_runs(int cell) const {
    return cell + half_tiles_ < ranking_.tiles() || cell / ranking_.width() + 2 < ranking_.height();
  }

  const char* stream() {
    if (const char* reason = stream_rows()) return reason;
    for (int cell = 0; cell < static_cast<int>(turns_.size()); ++cell) {
      const bool whole_columns = space_.slides() && ranking_.height() == 3;
      if (whole_columns && cell >= ranking_.width()) break;
      const char* reason = whole_columns         ? stream_column(cell)
                           : streams_runs(cell) ? stream_runs(cell)
                                                : stream_halves(cell);
      if (reason) return reason;
    }
    return nullptr;
  }

  // Horizontal moves stay within the bytes of one rank. Eight ranks at a time.
  const char* stream_rows() {
    std::array<std::uint64_t, 3> from_left{}, from_right{};  // the cells that have a left or a right neighbour
    for (int cell = 0; cell < ranking_.cells(); ++cell) {
      const std::uint64_t bit = every_byte(1 << AtlasSpace::shift(cell));
      if (cell % ranking_.width() != 0) from_left[cell / 4] |= bit;
      if (cell % ranking_.width() != ranking_.width() - 1) from_right[cell / 4] |= bit;
    }
    const int planes = space_.planes(), reach = space_.slides() ? ranking_.width() - 1 : 1;
    const int value = AtlasSpace::entry_of(depth_);
    const auto next = static_cast<std::uint64_t>(AtlasSpace::entry_of(depth_ + 1));
    for (std::uint64_t i = 0; i < space_.stride(); i += 8) {
      std::array<std::uint64_t, 3> entries{}, reached{};
      for (int plane = 0; plane < planes; ++plane) {
        entries[plane] = load(table_ + plane * space_.stride() + i);
        reached[plane] = where(entries[plane], value);
      }
      for (int moved = 0; moved < reach; ++moved) {
        const std::array<std::uint64_t, 3> from = reached;
        for (int plane = 0; plane < planes; ++plane) {
          const std::uint64_t before = plane > 0 ? from[plane - 1] >> 6 & every_byte(1) : 0;
          const std::uint64_t after = plane + 1 < planes ? (from[plane + 1] & every_byte(1)) << 6 : 0;
          const std::uint64_t left = (from[plane] & every_byte(0x15)) << 2 | before;
          const std::uint64_t right = (from[plane] & every_byte(0x54)) >> 2 | after;
          reached[plane] |= (left & from_left[plane]) | (right & from_right[plane]);
        }
      }
      for (int plane = 0; plane < planes; ++plane) {
        const std::uint64_t added = (reached[plane] & where(entries[plane], 0)) * next;
        store(table_ + plane * space_.stride() + i, entries[plane] | added);
      }
      if (const char* reason = poll_after(24)) return reason;
    }
    return nullptr;
  }

  // One cell's entries: masked, what they are for the layer, and what to add for the next one.
  struct Field {
    std::uint8_t* plane;
    std::uint8_t mask, frontier, next;
  };
  Field field(int cell) const {
    const int shift = AtlasSpace::shift(cell);
    const auto shifted = [shift](int bits) { return static_cast<std::uint8_t>(bits << shift); };
    return {table_ + cell / 4 * space_.stride(), shifted(3), shifted(AtlasSpace::entry_of(depth_)),
            shifted(AtlasSpace::entry_of(depth_ + 1))};
  }

  // Two boards that are a move apart.
  static void exchange(const Field& a, const Field& b, std::uint8_t& at_a, std::uint8_t& at_b) {
    const std::uint8_t in_a = at_a & a.mask, in_b = at_b & b.mask;
    at_a = static_cast<std::uint8_t>(at_a | (in_a == 0 && in_b == b.frontier ? a.next : 0));
    at_b = static_cast<std::uint8_t>(at_b | (in_b == 0 && in_a == a.frontier ? b.next : 0));
  }

  // The steps down from a cell: the window's turn leads from run to run.
  const char* stream_runs(int cell) {
    const int tiles = ranking_.tiles(), behind = tiles - cell - ranking_.width();
    const std::uint32_t run = ranking_.factorial(behind) / 2;
    const std::vector<std::uint32_t>& window = turns_[cell].window;
    const std::uint32_t prefixes = ranking_.factorial(tiles) / ranking_.factorial(tiles - cell);
    const Field above = field(cell), below = field(cell + ranking_.width());
    for (std::uint32_t prefix = 0; prefix < prefixes; ++prefix) {
      const std::uint64_t first = std::uint64_t{prefix} * window.size();
      for (std::uint32_t i = 0; i < window.size(); ++i) {
        exchange_runs(above, below, (first + i) * run, (first + window[i]) * run, run);
        if (const char* reason = poll_after(2 * run)) return reason;
      }
    }
    return nullptr;
  }

  static void exchange_runs(Field a, Field b, std::uint64_t first_a, std::uint64_t first_b, std::uint32_t run) {
    std::uint8_t* __restrict from_a = a.plane + first_a;
    std::uint8_t* __restrict from_b = b.plane + first_b;
    for (std::uint32_t i = 0; i < run; ++i) exchange(a, b, from_a[i], from_b[i]);
  }

  // The same where the window lies within the last tiles: the turn of their arrangements leads from byte to byte.
  const char* stream_halves(int cell) {
    const std::uint32_t size = ranking_.factorial(half_tiles_) / 2;
    const bool odd = ranking_.is_odd(cell / ranking_.width());
    const Field above = field(cell), below = field(cell + ranking_.width());
    for (std::uint32_t prefix = 0; prefix < odd_prefix_.size(); ++prefix) {
      const std::uint16_t* turned = turns_[cell].half[odd != odd_prefix_[prefix]].data();
      std::uint8_t* from_above = above.plane + std::uint64_t{prefix} * size;
      std::uint8_t* from_below = below.plane + std::uint64_t{prefix} * size;
      for (std::uint32_t i = 0; i < size; ++i) exchange(above, below, from_above[i], from_below[turned[i]]);
      if (const char* reason = poll_after(2 * size)) return reason;
    }
    return nullptr;
  }

  // Three rows, slides: the boards with the blank in the same column and the tiles in the same order around reach one
  // another in one move.
  const char* stream_column(int cell) {
    const int tiles = ranking_.tiles(), width = ranking_.width(), behind = tiles - cell - width;
    const std::uint32_t run = ranking_.factorial(behind) / 2, size = ranking_.factorial(half_tiles_) / 2;
    const std::vector<std::uint32_t>& window = turns_[cell].window;
    const std::uint32_t prefixes = ranking_.factorial(tiles) / ranking_.factorial(tiles - cell);
    const std::array<Field, 3> fields{field(cell), field(cell + width), field(cell + 2 * width)};
    const bool odd = ranking_.is_odd(1);
    for (std::uint32_t prefix = 0; prefix < prefixes; ++prefix) {
      const std::uint64_t first = std::uint64_t{prefix} * window.size();
      for (std::uint32_t i = 0; i < window.size(); ++i) {
        const std::uint64_t middle = (first + window[i]) * run, half = middle / size, within = middle % size;
        const std::uint16_t* turned = turns_[cell + width].half[odd != odd_prefix_[half]].data() + within;
        exchange_columns(fields, (first + i) * run, middle, half * size, turned, run);
        if (const char* reason = poll_after(3 * run)) return reason;
      }
    }
    return nullptr;
  }

  static void exchange_columns(const std::array<Field, 3>& fields, std::uint64_t first, std::uint64_t middle,
                               std::uint64_t last, const std::uint16_t* turned, std::uint32_t run) {
    const Field a = fields[0], b = fields[1], c = fields[2];
    std::uint8_t* from_a = a.plane + first;
    std::uint8_t* from_b = b.plane + middle;
    std::uint8_t* from_c = c.plane + last;
    for (std::uint32_t i = 0; i < run; ++i) {
      std::uint8_t &at_a = from_a[i], &at_b = from_b[i], &at_c = from_c[turned[i]];
      const std::uint8_t in_a = at_a & a.mask, in_b = at_b & b.mask, in_c = at_c & c.mask;
      const bool any = in_a == a.frontier || in_b == b.frontier || in_c == c.frontier;
      at_a = static_cast<std::uint8_t>(at_a | (any && in_a == 0 ? a.next : 0));
      at_b = static_cast<std::uint8_t>(at_b | (any && in_b == 0 ? b.next : 0));
      at_c = static_cast<std::uint8_t>(at_c | (any && in_c == 0 ? c.next : 0));
    }
  }

  const AtlasSpace& space_;
  const Ranking& ranking_;
  std::uint8_t* table_;
  Meter& meter_;
  int depth_ = 0;  // of the layer that is expanded
  int half_tiles_;
  std::uint64_t reached_ = 0, streamed_ = 0;
  std::vector<Turns> turns_;  // by the blank's cell
  std::vector<bool> odd_prefix_;
};

}  // namespace unjam::tiles

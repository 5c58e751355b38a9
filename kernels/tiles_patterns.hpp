// Pattern databases for the n-puzzle: where the tiles of a pattern lie, and the steps that takes them home.
//
// Steps of tiles that are not in the pattern are free, so the distances of patterns that share no tile add up to a lower
// bound (Korf and Felner 2002). An entry is told apart by the cells of its tiles, by their order, and by the region of
// free cells in which the blank is: within a region it moves for nothing.
//
//   . . 1 .   the tiles 1, 2 and 3 cut off the blank in the
//   . 2 . .   corner: this is one mask with two regions, and
//   3 . . .   2 * 3! entries
//
// The entries of a mask and a region are one block, in the order of the permutations' ranks. A compressed table has one
// block for each mask, with the least of its regions: it is smaller, and its bound is lower and no longer consistent.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

namespace unjam::tiles {

inline constexpr int kMaxPatternCells = 25;
inline constexpr int kMaxPatternTiles = 8;  // 8! fits the 16 bits of a rank

using Mask = std::uint32_t;  // of cells
using Rank = std::uint16_t;  // of the order in which the tiles of a pattern lie

// What all patterns of so many tiles on boards of one size have in common.
class PatternSpace {
 public:
  PatternSpace(const PatternSpace&) = delete;
  PatternSpace(int width, int height, int tiles, bool compressed)
      : width_(width),
        cells_(width * height),
        tiles_(tiles),
        low_cells_((cells_ + 1) / 2),
        high_cells_(cells_ - low_cells_),
        compressed_(compressed) {
    for (int i = 2; i <= tiles; ++i) permutations_ *= static_cast<std::uint32_t>(i);
    number_masks();
    if (compressed_) {
      blocks_ = static_cast<std::uint32_t>(masks_.size());
    } else {
      divide_masks();
    }
    compose_turns();
  }

  int width() const { return width_; }
  int cells() const { return cells_; }
  int tiles() const { return tiles_; }
  const std::vector<Mask>& masks() const { return masks_; }
  std::uint32_t permutations() const { return permutations_; }
  std::uint32_t blocks() const { return blocks_; }
  std::uint64_t entries() const { return std::uint64_t{blocks_} * permutations_; }

  // The block of these occupied cells with the blank at this cell.
  std::uint32_t block(Mask mask, int blank) const {
    const std::uint32_t number = index(mask);
    if (compressed_) return number;
    const Division& division = divisions_[number];
    return division.first_block + division.region[blank];
  }
  std::uint64_t first_entry(std::uint32_t block) const { return std::uint64_t{block} * permutations_; }

  // All ranks after the tile in place `before` (in the order of the cells) has come to place `after`, which is less than
  // a row apart.
  const Rank* turned(int before, int after) const { return turn_[before * kMaxPatternTiles + after]; }

  // Of labels from 0 on, in the order of their cells.
  Rank rank(const std::vector<int>& labels) const {
    int rank = 0;
    for (int i = 0; i < tiles_; ++i) {
      int smaller = 0;
      for (int j = i + 1; j < tiles_; ++j) smaller += labels[j] < labels[i];
      rank = rank * (tiles_ - i) + smaller;
    }
    return static_cast<Rank>(rank);
  }

 private:
  // Of the free cells into regions. A cache line holds two.
  struct alignas(32) Division {
    std::uint32_t first_block;
    std::array<std::uint8_t, 28> region;
  };

  // Masks are numbered by the combinatorial number system, in the order of their values: the sum of (cell choose i) over
  // the i-th cell of the mask. The lower and the upper half of the cells are looked up apart.
  std::uint32_t index(Mask mask) const {
    const Mask low = mask & ((Mask{1} << low_cells_) - 1), high = mask >> low_cells_;
    return low_[low] + high_[static_cast<std::uint32_t>(std::popcount(low)) << high_cells_ | high];
  }

  static std::uint32_t choose(int n, int k) {
    if (k > n) return 0;
    std::uint64_t chosen = 1;
    for (int i = 0; i < k; ++i) chosen = chosen * static_cast<std::uint64_t>(n - i) / static_cast<std::uint64_t>(i + 1);
    return static_cast<std::uint32_t>(chosen);
  }

  static std::uint32_t sum(Mask part, int first_cell, int before) {
    std::uint32_t number = 0;
    for (; part; part &= part - 1) number += choose(first_cell + std::countr_zero(part), ++before);
    return number;
  }

  void number_masks() {
    for (Mask part = 0; part < Mask{1} << low_cells_; ++part) low_.push_back(sum(part, 0, 0));
    for (int before = 0; before <= std::min(low_cells_, tiles_); ++before) {
      for (Mask part = 0; part < Mask{1} << high_cells_; ++part) high_.push_back(sum(part, low_cells_, before));
    }
    high_.resize(static_cast<std::size_t>(low_cells_ + 1) << high_cells_);
    masks_.resize(choose(cells(), tiles_));
    Mask mask = (Mask{1} << tiles_) - 1;
    for (Mask& numbered : masks_) {
      numbered = mask;
      const Mask lowest = mask & -mask, carried = mask + lowest;  // the next mask with as many cells
      mask = ((carried ^ mask) >> 2) / lowest | carried;
    }
  }

  void divide_masks() {
    Mask first_column = 0;
    for (int cell = 0; cell < cells(); cell += width_) first_column |= Mask{1} << cell;
    const Mask last_column = first_column << (width_ - 1);
    divisions_.resize(masks_.size());
    for (std::size_t i = 0; i < masks_.size(); ++i) {
      Division& division = divisions_[i];
      division.first_block = blocks_;
      Mask free = ~masks_[i] & ((Mask{1} << cells()) - 1);
      for (std::uint8_t region = 0; free; ++region, ++blocks_) {
        Mask flood = free & -free, before = 0;
        while (flood != before) {
          before = flood;
          flood |= flood << width_ | flood >> width_ | (flood & ~last_column) << 1 | (flood & ~first_column) >> 1;
          flood &= free;
        }
        free ^= flood;
        for (; flood; flood &= flood - 1) division.region[std::countr_zero(flood)] = region;
      }
    }
  }

  // A vertical step takes a tile past up to width - 1 others: a turn is made of exchanges of neighbours.
  void compose_turns() {
    turns_.resize(std::size_t{kMaxPatternTiles} * static_cast<std::size_t>(tiles_) * permutations_);
    for (int i = 0; i < kMaxPatternTiles * tiles_; ++i) {
      turn_[i] = turns_.data() + static_cast<std::size_t>(i) * permutations_;
    }
    std::vector<int> labels(tiles_);
    for (int i = 0; i < tiles_; ++i) labels[i] = i;
    for (std::uint32_t rank = 0; rank < permutations_; ++rank) {
      for (int i = 0; i < tiles_; ++i) turn(i, i)[rank] = static_cast<Rank>(rank);
      for (int i = 0; i + 1 < tiles_; ++i) {
        std::swap(labels[i], labels[i + 1]);
        turn(i, i + 1)[rank] = turn(i + 1, i)[rank] = this->rank(labels);
        std::swap(labels[i], labels[i + 1]);
      }
      std::next_permutation(labels.begin(), labels.end());
    }
    for (int far = 2; far < std::min(width_, tiles_); ++far) {
      for (int i = 0; i + far < tiles_; ++i) {
        for (std::uint32_t rank = 0; rank < permutations_; ++rank) {
          turn(i, i + far)[rank] = turn(i + far - 1, i + far)[turn(i, i + far - 1)[rank]];
          turn(i + far, i)[rank] = turn(i + 1, i)[turn(i + far, i + 1)[rank]];
        }
      }
    }
  }
  Rank* turn(int before, int after) const { return turn_[before * kMaxPatternTiles + after]; }

  int width_, cells_, tiles_, low_cells_, high_cells_;
  std::uint32_t permutations_ = 1, blocks_ = 0;
  bool compressed_;
  std::vector<std::uint32_t> low_, high_;
  std::vector<Mask> masks_;
  std::vector<Division> divisions_;
  std::vector<Rank> turns_;
  std::array<Rank*, kMaxPatternTiles * kMaxPatternTiles> turn_{};  // [place before][place after]
};

}  // namespace unjam::tiles

// Perfect ranking of the solvable boards of up to 12 cells, made for streaming.
//
// A board is the cell of its blank and the arrangement of its tiles in row-major order, the blank skipped. A horizontal
// step leaves the arrangement as it is. A vertical one turns a window of `width` tiles, which in the Lehmer code of the
// arrangement changes the digits of that window only, and by a rule in which the other digits have no say:
//
//   1 2 3 4        1 2 3 4      arrangement  1 2 3 4 5[6 7 8 9]10 11
//   5 _ 6 7   ->   5 9 6 7                   1 2 3 4 5[9 6 7 8]10 11
//   8 9 a b        8 _ a b
//
// So whole runs of ranks that share a prefix go to whole runs. Parity tells the last two tiles from the others: the
// rank of a solvable arrangement among all, halved, is its rank among the solvable ones.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "tiles_board.hpp"

namespace unjam::tiles {

inline constexpr int kMaxRankedCells = 12;

// A board lying on its longer side, with the blank's goal in the upper left quarter. Tiles are called by their places in
// the goal's arrangement; what the blank's cell holds means nothing, and is 0 at first.
struct RankedBoard {
  std::array<std::uint8_t, kMaxRankedCells> tiles{};
  int blank = 0;
};

struct Place {
  int cell;  // of the blank
  std::uint32_t rank;
};

class Ranking {
 public:
  Ranking(int width, int height, int blank_goal) : width_(width), height_(height), blank_goal_(blank_goal) {
    std::uint32_t factorial = 1;
    for (int i = 0; i <= tiles(); ++i) {
      factorial_[i] = factorial;
      factorial *= static_cast<std::uint32_t>(i + 1);
    }
  }

  int width() const { return width_; }
  int height() const { return height_; }
  int cells() const { return width_ * height_; }
  int tiles() const { return width_ * height_ - 1; }
  std::uint32_t arrangements() const { return factorial_[tiles()] / 2; }
  std::uint32_t boards() const { return arrangements() * static_cast<std::uint32_t>(cells()); }
  std::uint32_t factorial(int n) const { return factorial_[n]; }

  // Of the solvable arrangements with the blank in that row: a vertical step makes width - 1 exchanges of neighbours.
  bool is_odd(int row) const { return (width_ - 1) % 2 != 0 && (row + blank_goal_ / width_) % 2 != 0; }

  RankedBoard goal() const {
    RankedBoard board;
    board.blank = blank_goal_;
    for (int cell = 0, tile = 0; cell < cells(); ++cell) {
      if (cell != blank_goal_) board.tiles[cell] = static_cast<std::uint8_t>(tile++);
    }
    return board;
  }

  Place place(const RankedBoard& board) const {
    std::uint32_t used = 0, rank = 0;
    for (int cell = 0, left = tiles(); cell < cells(); ++cell) {
      if (cell == board.blank) continue;
      const int tile = board.tiles[cell];
      const int smaller = tile - std::popcount(used & ((1u << tile) - 1));
      used |= 1u << tile;
      rank = rank * static_cast<std::uint32_t>(left--) + static_cast<std::uint32_t>(smaller);
    }
    return {board.blank, rank / 2};
  }

  RankedBoard board(Place place) const {
    std::array<int, kMaxRankedCells> arrangement{};
    arrange(arrangement.data(), tiles(), place.rank, is_odd(place.cell / width_));
    RankedBoard board;
    board.blank = place.cell;
    for (int cell = 0, i = 0; cell < cells(); ++cell) {
      if (cell != place.cell) board.tiles[cell] = static_cast<std::uint8_t>(arrangement[i++]);
    }
    return board;
  }

  // Where the arrangements of the last `count` tiles go when the window that starts `first` into them turns: its last
  // tile to the front, as when the blank steps down. `odd` is the parity of the arrangements.
  std::vector<std::uint16_t> turns_of_half(int count, int first, bool odd) const {
    std::vector<std::uint16_t> turned(factorial_[count] / 2);
    std::array<int, kMaxRankedCells> arrangement;
    for (std::uint32_t rank = 0; rank < turned.size(); ++rank) {
      arrange(arrangement.data(), count, rank, odd);
      turn(arrangement.data() + first);
      turned[rank] = static_cast<std::uint16_t>(number(arrangement.data(), count, count) / 2);
    }
    return turned;
  }

  // The same for the first `width` of the last `count` tiles: where the digits of that window go, as one number.
  std::vector<std::uint32_t> turns_of_window(int count) const {
    std::vector<std::uint32_t> turned(factorial_[count] / factorial_[count - width_]);
    std::array<int, kMaxRankedCells> window;
    for (std::uint32_t i = 0; i < turned.size(); ++i) {
      std::array<int, kMaxRankedCells> digits;
      std::uint32_t rest = i;
      for (int place = width_ - 1; place >= 0; --place) {
        digits[place] = static_cast<int>(rest % static_cast<std::uint32_t>(count - place));
        rest /= static_cast<std::uint32_t>(count - place);
      }
      choose(window.data(), digits.data(), width_, count);
      turn(window.data());
      turned[i] = number(window.data(), width_, count);
    }
    return turned;
  }

  // Whether the digits of a prefix, the last of which has `count` + 1 values, have an odd sum.
  bool is_odd_prefix(std::uint32_t prefix, int count) const {
    std::uint32_t sum = 0;
    for (int values = count + 1; values <= tiles(); ++values) {
      sum += prefix % static_cast<std::uint32_t>(values);
      prefix /= static_cast<std::uint32_t>(values);
    }
    return sum % 2 != 0;
  }

 private:
  void turn(int* window) const {
    for (int i = width_ - 1; i > 0; --i) std::swap(window[i - 1], window[i]);
  }

  // The arrangement of `count` tiles of a given parity, which is that of the sum of its digits: the last but one decides
  // it.
  void arrange(int* arrangement, int count, std::uint32_t rank, bool odd) const {
    std::array<int, kMaxRankedCells> digits{};
    std::uint32_t rest = rank, sum = odd;
    for (int values = 3; values <= count; ++values) {
      digits[count - values] = static_cast<int>(rest % static_cast<std::uint32_t>(values));
      rest /= static_cast<std::uint32_t>(values);
      sum += static_cast<std::uint32_t>(digits[count - values]);
    }
    digits[count - 2] = static_cast<int>(sum % 2);
    choose(arrangement, digits.data(), count, count);
  }

  // The first tiles of an arrangement of `count`, by their digits: how many of those that are left are smaller.
  static void choose(int* chosen, const int* digits, int wanted, int count) {
    std::uint32_t left = (1u << count) - 1;
    for (int i = 0; i < wanted; ++i) {
      std::uint32_t larger = left;
      for (int skipped = digits[i]; skipped > 0; --skipped) larger &= larger - 1;
      chosen[i] = std::countr_zero(larger);
      left &= ~(1u << chosen[i]);
    }
  }

  static std::uint32_t number(const int* chosen, int given, int count) {
    std::uint32_t used = 0, result = 0;
    for (int i = 0; i < given; ++i) {
      const int smaller = chosen[i] - std::popcount(used & ((1u << chosen[i]) - 1));
      used |= 1u << chosen[i];
      result = result * static_cast<std::uint32_t>(count - i) + static_cast<std::uint32_t>(smaller);
    }
    return result;
  }

  int width_, height_, blank_goal_;
  std::array<std::uint32_t, kMaxRankedCells> factorial_{};
};

// Calls visit(board) for every board one move away, until it returns false.
template <class Visit>
void visit_neighbours(const Ranking& ranking, const RankedBoard& board, bool slides, Visit visit) {
  const int column = board.blank % ranking.width(), row = board.blank / ranking.width();
  const std::array<std::pair<int, int>, 4> ways{{{-ranking.width(), row},
                                                 {-1, column},
                                                 {1, ranking.width() - 1 - column},
                                                 {ranking.width(), ranking.height() - 1 - row}}};
  for (const auto& [way, most] : ways) {
    RankedBoard next = board;
    for (int moved = 0; moved < (slides ? most : std::min(most, 1)); ++moved) {
      next.tiles[next.blank] = next.tiles[next.blank + way];
      next.blank += way;
      if (!visit(next)) return;
    }
  }
}

}  // namespace unjam::tiles

// A solution of any solvable board in a millisecond or two: far from the shortest, but always there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tiles_board.hpp"

namespace unjam::tiles {

// Tiles are brought home line by line and stay there. A line goes from the edge of what is left that does not hold the
// blank's goal, as long as there are more than two along that axis:
//
//   . . . .   1. the bottom row    the tiles of a line come one by one, the last two together; each time by the
//   . _ . .   2. the bottom row    fewest steps, found by breadth-first search over the cells of those tiles and of
//   . . . .   3. the right column  the blank. In the 2x2 square that is left, two tiles and the blank at home take
//   . . . .   4. the left column   the third with them, or the board is not solvable.
class Placing {
 public:
  Placing(const Board& board, Meter& meter) : board_(board), meter_(meter), visited_{board.blank()} {}

  // The blank's cells from the start to the goal.
  std::vector<int> solve() {
    int top = 0, bottom = board_.height - 1, left = 0, right = board_.width - 1;
    const int blank_row = board_.blank_goal / board_.width, blank_column = board_.blank_goal % board_.width;
    while (bottom - top > 1) place_line(cell(blank_row == bottom ? top++ : bottom--, left), 1, right - left + 1);
    while (right - left > 1) place_line(cell(top, blank_column == right ? left++ : right--), board_.width, 2);
    std::vector<int> tiles;
    for (const int tile : {cell(top, left), cell(top, right), cell(bottom, left), cell(bottom, right)}) {
      if (tile != board_.blank_goal) tiles.push_back(tile);
    }
    bring(tiles[0], tiles[1], true);
    return visited_;
  }

 private:
  static constexpr int kStates = kMaxCells * kMaxCells * kMaxCells;
  static constexpr std::uint8_t kUnseen = 255, kStart = 254;

  int cell(int row, int column) const { return row * board_.width + column; }

  void place_line(int first, int stride, int tiles) {
    for (int i = 0; i + 2 < tiles; ++i) {
      const int tile = first + i * stride;
      bring(tile, tile, false);
    }
    bring(first + (tiles - 2) * stride, first + (tiles - 1) * stride, false);
  }

  // Brings one tile home, or two, and the blank if asked for. They then stay.
  void bring(int one, int two, bool blank_too) {
    const auto goes_home = [&](int state) {
      return state / (kMaxCells * kMaxCells) == one && state / kMaxCells % kMaxCells == two &&
             (!blank_too || state % kMaxCells == board_.blank_goal);
    };
    came_from_.assign(kStates, kUnseen);
    queue_.clear();
    queue_.push_back((find(one) * kMaxCells + find(two)) * kMaxCells + visited_.back());
    came_from_[queue_[0]] = kStart;
    std::size_t at = 0;
    for (; !goes_home(queue_[at]); ++at) {
      const int state = queue_[at], blank = state % kMaxCells;
      for_neighbours(blank, [&](int to) {
        const int after = stepped(state, to);
        if (came_from_[after] != kUnseen) return;
        came_from_[after] = static_cast<std::uint8_t>(blank);
        queue_.push_back(after);
      });
    }
    meter_.expanded += at;
    meter_.generated += queue_.size() - 1;
    walk(queue_[at]);
    home_[one] = home_[two] = true;
  }

  // The blank goes to a neighbour, and what was there comes where the blank was.
  static int stepped(int state, int to) {
    const int blank = state % kMaxCells;
    int one = state / (kMaxCells * kMaxCells), two = state / kMaxCells % kMaxCells;
    if (one == to) one = blank;
    if (two == to) two = blank;
    return (one * kMaxCells + two) * kMaxCells + to;
  }

  template <class Visit>
  void for_neighbours(int blank, Visit visit) const {
    const int column = blank % board_.width;
    for (const int to : {blank - board_.width, column > 0 ? blank - 1 : -1,
                         column < board_.width - 1 ? blank + 1 : -1, blank + board_.width}) {
      if (to >= 0 && to < board_.size() && !home_[to]) visit(to);
    }
  }

  void walk(int state) {
    std::vector<int> way;
    while (came_from_[state] != kStart) {
      way.push_back(state % kMaxCells);
      state = stepped(state, came_from_[state]);
    }
    for (auto to = way.rbegin(); to != way.rend(); ++to) {
      std::swap(board_.cells[visited_.back()], board_.cells[*to]);
      visited_.push_back(*to);
    }
  }

  int find(int tile) const {
    int cell = 0;
    while (board_.cells[cell] != tile) ++cell;
    return cell;
  }

  Board board_;
  Meter& meter_;
  std::vector<int> visited_;
  std::array<bool, kMaxCells> home_{};
  std::vector<std::uint8_t> came_from_;  // by state: the blank's cell before
  std::vector<int> queue_;
};

}  // namespace unjam::tiles

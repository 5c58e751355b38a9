// Questions to an atlas that is there: how far a board is, the way home, and boards of a given depth.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <utility>
#include <vector>

#include "tiles_atlas.hpp"

namespace unjam::tiles {

// From the user's cells to those of the ranking: mirrored so that the blank's goal is in the upper left quarter, turned
// so that the board lies on its longer side, and of a square the blank's goal is not below the diagonal.
class AtlasFrame {
 public:
  AtlasFrame(int width, int height, int blank_goal) : size_(width * height) {
    const bool mirrors_rows = 2 * (blank_goal / width) > height - 1;
    const bool mirrors_columns = 2 * (blank_goal % width) > width - 1;
    const int goal_row = mirrors_rows ? height - 1 - blank_goal / width : blank_goal / width;
    const int goal_column = mirrors_columns ? width - 1 - blank_goal % width : blank_goal % width;
    const bool transposes = height > width || (height == width && goal_row > goal_column);
    for (int cell = 0; cell < size_; ++cell) {
      const int row = mirrors_rows ? height - 1 - cell / width : cell / width;
      const int column = mirrors_columns ? width - 1 - cell % width : cell % width;
      own_[cell] = static_cast<std::uint8_t>(transposes ? column * height + row : row * width + column);
      user_[own_[cell]] = static_cast<std::uint8_t>(cell);
    }
    width_ = std::max(width, height);
    blank_goal_ = own_[blank_goal];
  }

  int width() const { return width_; }
  int height() const { return size_ / width_; }
  int blank_goal() const { return blank_goal_; }
  int user(int own) const { return user_[own]; }

  // cells[cell] is the goal cell of what lies there, in the user's frame.
  RankedBoard own(const std::vector<int>& cells) const {
    RankedBoard board;
    for (int cell = 0; cell < size_; ++cell) {
      const int goal = own_[cells[cell]];
      if (goal == blank_goal_) {
        board.blank = own_[cell];
      } else {
        board.tiles[own_[cell]] = static_cast<std::uint8_t>(goal - (goal > blank_goal_));
      }
    }
    return board;
  }

  std::vector<int> user(const RankedBoard& board) const {
    std::vector<int> cells(size_);
    for (int own = 0; own < size_; ++own) {
      const int tile = board.tiles[own];
      cells[user_[own]] = user_[own == board.blank ? blank_goal_ : tile + (tile >= blank_goal_)];
    }
    return cells;
  }

 private:
  int size_, width_, blank_goal_;
  std::array<std::uint8_t, kMaxRankedCells> own_{}, user_{};
};

class AtlasView {
 public:
  // `boards` are the listed ones, depth by depth. Throws std::invalid_argument where the parts do not fit together; that
  // the table itself is right is up to the caller.
  AtlasView(const AtlasFrame& frame, bool slides, const std::uint8_t* table, std::uint64_t table_bytes,
            std::vector<std::uint64_t> counts, int early, int late, const std::uint32_t* boards, std::uint64_t listed)
      : frame_(frame),
        space_(frame.width(), frame.height(), frame.blank_goal(), slides),
        table_(table),
        counts_(std::move(counts)),
        early_(early),
        late_(late),
        boards_(boards) {
    std::uint64_t sum = 0, wanted = 0;
    for (int depth = 0; depth < depths(); ++depth) {
      if (counts_[depth] == 0 || counts_[depth] > space_.ranking().boards() - sum) sum = space_.ranking().boards() + 1;
      if (sum > space_.ranking().boards()) break;
      sum += counts_[depth];
      if (is_listed(depth)) wanted += counts_[depth];
    }
    const bool fits = table_bytes == space_.bytes() && sum == space_.ranking().boards() && counts_[0] == 1 &&
                      0 <= early_ && early_ <= late_ && late_ <= depths() && wanted == listed &&
                      std::all_of(boards, boards + listed, [this](std::uint32_t board) {
                        return board < space_.ranking().boards();
                      });
    if (!fits) throw std::invalid_argument("atlas: the parts do not fit together");
  }

  int depths() const { return static_cast<int>(counts_.size()); }
  const AtlasFrame& frame() const { return frame_; }
  bool is_listed(int depth) const { return depth < early_ || depth >= late_; }

  // The cells that the blank visits on a shortest way home, in the user's frame; the first is where it is.
  std::vector<int> way(const RankedBoard& board) const {
    std::vector<int> visited{frame_.user(board.blank)};
    walk(board, [&](const RankedBoard& next) { visited.push_back(frame_.user(next.blank)); });
    return visited;
  }

  int distance(const RankedBoard& board) const {
    int moves = 0;
    walk(board, [&](const RankedBoard&) { ++moves; });
    return moves;
  }

  // The rank of a board is that of the solvable one of two.
  bool solvable(const RankedBoard& board) const {
    return space_.ranking().board(space_.ranking().place(board)).tiles == board.tiles;
  }

  // All boards of a listed depth.
  std::vector<std::vector<int>> listed(int depth) const {
    std::vector<std::vector<int>> found;
    const std::uint32_t* first = boards_ + offset(depth);
    for (std::uint64_t i = 0; i < counts_[depth]; ++i) found.push_back(board(first[i]));
    return found;
  }

  // A board of this depth, each with the same chance: one of the list, or the first of random boards that has it.
  std::vector<int> sample(int depth, std::uint64_t seed) const {
    if (is_listed(depth)) return board(boards_[offset(depth) + draw(seed, counts_[depth])]);
    const std::uint64_t all = space_.ranking().boards();
    for (std::uint64_t tries = 100 * (all / counts_[depth] + 1); tries > 0; --tries) {
      const Place place = space_.place(static_cast<std::uint32_t>(draw(seed, all)));
      if (space_.entry(table_, place) != AtlasSpace::entry_of(depth)) continue;
      const RankedBoard found = space_.ranking().board(place);
      if (distance(found) == depth) return frame_.user(found);
    }
    throw std::runtime_error("atlas: no board of this depth was met; the counts are wrong");
  }

 private:
  // To the goal, each time to a neighbour whose entry is one less.
  template <class Visit>
  void walk(RankedBoard board, Visit visit) const {
    const Place home = space_.ranking().place(space_.ranking().goal());
    Place place = space_.ranking().place(board);
    for (int left = depths(); left > 0; --left) {
      if (place.cell == home.cell && place.rank == home.rank) return;
      const int wanted = AtlasSpace::entry_of(space_.entry(table_, place) + 1);  // modulo 3 one less
      bool found = false;
      visit_neighbours(space_.ranking(), board, space_.slides(), [&](const RankedBoard& next) {
        const Place after = space_.ranking().place(next);
        if (space_.entry(table_, after) != wanted) return true;
        found = true;
        board = next;
        place = after;
        return false;
      });
      if (!found) break;
      visit(board);
    }
    throw std::runtime_error("atlas: there is no way home; the table is wrong");
  }

  std::uint64_t offset(int depth) const {
    std::uint64_t before = 0;
    for (int i = 0; i < depth; ++i) before += is_listed(i) ? counts_[i] : 0;
    return before;
  }

  std::vector<int> board(std::uint32_t number) const {
    return frame_.user(space_.ranking().board(space_.place(number)));
  }

  // Below `end`, by SplitMix64 (Steele, Lea and Flood 2014); the bias of the product is under 2^-32.
  static std::uint64_t draw(std::uint64_t& seed, std::uint64_t end) {
    std::uint64_t word = seed += 0x9E3779B97F4A7C15;
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9;
    word = (word ^ word >> 27) * 0x94D049BB133111EB;
    word ^= word >> 31;
    return (word >> 32) * end >> 32;
  }

  AtlasFrame frame_;
  AtlasSpace space_;
  const std::uint8_t* table_;
  std::vector<std::uint64_t> counts_;
  int early_, late_;
  const std::uint32_t* boards_;
};

}  // namespace unjam::tiles

#include "checker.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <stdexcept>

namespace unjam::checker {

namespace {

constexpr int kEmpty = -1;
constexpr int kUp = 0, kRight = 1, kDown = 2, kLeft = 3;  // as noses are numbered
constexpr int kDown4[] = {-1, 0, 1, 0}, kRight4[] = {0, 1, 0, -1};

// A board that pieces are lifted from and put down on again.
struct Lot {
  int width, height;
  Grid grid;

  Lot(int width, int height, Grid board) : width(width), height(height), grid(std::move(board)) {
    if (width < 1 || height < 1 || static_cast<std::size_t>(width) * height != grid.size()) {
      throw std::invalid_argument("the board must have width * height cells");
    }
  }

  bool inside(int cell) const { return cell >= 0 && cell < static_cast<int>(grid.size()); }
  int row(int cell) const { return cell / width; }
  int column(int cell) const { return cell % width; }

  std::vector<int> cells_of(int piece) const {
    std::vector<int> cells;
    for (int cell = 0; cell < static_cast<int>(grid.size()); ++cell) {
      if (grid[cell] == piece) cells.push_back(cell);
    }
    return cells;
  }

  // The cells moved down and right; empty when one would leave the board.
  std::vector<int> shifted(const std::vector<int>& cells, int down, int right) const {
    std::vector<int> to;
    for (const int cell : cells) {
      const int r = row(cell) + down, c = column(cell) + right;
      if (r < 0 || r >= height || c < 0 || c >= width) return {};
      to.push_back(r * width + c);
    }
    return to;
  }

  bool free(const std::vector<int>& cells, const std::set<int>& forbidden) const {
    return !cells.empty() && std::all_of(cells.begin(), cells.end(), [&](int cell) {
      return grid[cell] == kEmpty && !forbidden.contains(cell);
    });
  }

  void put(int piece, const std::vector<int>& cells) {
    for (const int cell : cells) grid[cell] = piece;
  }
};

std::string place(std::size_t at) { return "move " + std::to_string(at + 1) + ": "; }

// Whether the lifted cells can go `down` and `right` in one move.
bool way(const Lot& lot, const std::vector<int>& cells, int down, int right, const std::set<int>& forbidden,
         const std::string& metric) {
  if (metric == "path") {
    std::set<std::pair<int, int>> seen{{0, 0}};
    std::vector<std::pair<int, int>> queue{{0, 0}};
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (int direction = 0; direction < 4; ++direction) {
        const std::pair<int, int> next{queue[at].first + kDown4[direction], queue[at].second + kRight4[direction]};
        if (seen.contains(next) || !lot.free(lot.shifted(cells, next.first, next.second), forbidden)) continue;
        seen.insert(next);
        queue.push_back(next);
      }
    }
    return seen.contains({down, right});
  }
  const int distance = std::abs(down) + std::abs(right);
  if ((down != 0 && right != 0) || (metric == "step" && distance != 1)) return false;
  for (int step = 1; step <= distance; ++step) {
    if (!lot.free(lot.shifted(cells, down / distance * step, right / distance * step), forbidden)) return false;
  }
  return true;
}

// One move of a piece within the board; "" if it is legal. `forbidden` cells must not be covered.
std::string play(Lot& lot, std::pair<int, int> move, const std::set<int>& forbidden, const std::string& metric) {
  const auto [from, to] = move;
  if (!lot.inside(from) || !lot.inside(to)) return "a cell is not on the board";
  const int piece = lot.grid[from];
  if (piece < 0) return "there is no piece at cell " + std::to_string(from);
  if (from == to) return "the piece stays where it is";
  const int down = lot.row(to) - lot.row(from), right = lot.column(to) - lot.column(from);
  const auto cells = lot.cells_of(piece);
  lot.put(kEmpty, cells);
  if (!way(lot, cells, down, right, forbidden, metric)) {
    return "the piece at cell " + std::to_string(from) + " cannot go there in one " + metric;
  }
  lot.put(piece, lot.shifted(cells, down, right));
  return "";
}

bool metric_is_one_of(const std::string& metric, std::initializer_list<const char*> known) {
  return std::any_of(known.begin(), known.end(), [&](const char* name) { return metric == name; });
}

// The direction of a car's axis as (rows, columns), both 0 if it is not a straight car.
std::pair<int, int> axis(const Lot& lot, const std::vector<int>& cells) {
  if (cells.size() < 2) return {0, 0};
  if (lot.row(cells.front()) == lot.row(cells.back())) return {0, 1};
  return lot.column(cells.front()) == lot.column(cells.back()) ? std::pair{1, 0} : std::pair{0, 0};
}

bool along_axis(const Lot& lot, std::pair<int, int> move) {
  const auto [from, to] = move;
  if (!lot.inside(from) || !lot.inside(to) || lot.grid[from] < 0) return true;  // play() says what is wrong
  const auto [rows, columns] = axis(lot, lot.cells_of(lot.grid[from]));
  return (rows || lot.row(from) == lot.row(to)) && (columns || lot.column(from) == lot.column(to));
}

}  // namespace

std::string check_tiles(int width, int height, Grid board, int blank_goal, const std::string& metric,
                        const MoveList& moves) {
  if (!metric_is_one_of(metric, {"step", "slide"})) return "tiles have no metric " + metric;
  Lot lot(width, height, std::move(board));
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const auto [pressed, blank] = moves[at];
    if (!lot.inside(pressed) || !lot.inside(blank)) return place(at) + "a cell is not on the board";
    if (lot.grid[blank] != blank_goal) return place(at) + "cell " + std::to_string(blank) + " is not blank";
    const int down = lot.row(pressed) - lot.row(blank), right = lot.column(pressed) - lot.column(blank);
    const int distance = std::abs(down) + std::abs(right);
    if (distance == 0 || (down != 0 && right != 0)) return place(at) + "the tile is not in line with the blank";
    if (metric == "step" && distance != 1) return place(at) + "the tile is not beside the blank";
    const int step = (down * width + right) / distance;
    for (int cell = blank; cell != pressed; cell += step) std::swap(lot.grid[cell], lot.grid[cell + step]);
  }
  for (int cell = 0; cell < static_cast<int>(lot.grid.size()); ++cell) {
    if (lot.grid[cell] != cell) return "after the last move cell " + std::to_string(cell) + " is not as in the goal";
  }
  return "";
}

std::string check_klotski(int width, int height, Grid board, const std::vector<int>& classes,
                          const std::vector<int>& gates, const std::vector<int>& gate_classes,
                          const std::vector<std::pair<int, int>>& goal, const std::string& metric,
                          const MoveList& moves) {
  if (!metric_is_one_of(metric, {"step", "slide", "path"})) return "klotski has no metric " + metric;
  Lot lot(width, height, std::move(board));
  const std::set<int> closed(gates.begin(), gates.end());
  const std::set<int> pass(gate_classes.begin(), gate_classes.end());
  const auto class_of = [&](int piece) { return piece < static_cast<int>(classes.size()) ? classes[piece] : -1; };
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const int from = moves[at].first;
    const bool passes = lot.inside(from) && lot.grid[from] >= 0 && pass.contains(class_of(lot.grid[from]));
    const std::string wrong = play(lot, moves[at], passes ? std::set<int>{} : closed, metric);
    if (!wrong.empty()) return place(at) + wrong;
  }
  if (goal.empty()) return "there is no goal";
  for (const auto& [klass, cell] : goal) {
    bool filled = false;
    for (int piece = 0; piece < static_cast<int>(classes.size()); ++piece) {
      const auto cells = lot.cells_of(piece);
      filled = filled || (classes[piece] == klass && !cells.empty() && cells.front() == cell);
    }
    if (!filled) return "after the last move no goal piece stands at cell " + std::to_string(cell);
  }
  return "";
}

std::string check_rush(int width, int height, Grid board, int primary, int goal_cell, const std::string& metric,
                       const MoveList& moves) {
  if (!metric_is_one_of(metric, {"step", "slide"})) return "rush has no metric " + metric;
  Lot lot(width, height, std::move(board));
  for (std::size_t at = 0; at < moves.size(); ++at) {
    if (!along_axis(lot, moves[at])) return place(at) + "a car moves along its own axis only";
    const std::string wrong = play(lot, moves[at], {}, metric);
    if (!wrong.empty()) return place(at) + wrong;
  }
  const auto cells = lot.cells_of(primary);
  if (cells.empty() || cells.front() != goal_cell) return "after the last move the primary car is not at its exit";
  return "";
}

std::string check_parkout(int width, int height, Grid board, const std::vector<int>& noses,
                          const std::vector<bool>& fixed, const std::vector<int>& opens, const std::vector<int>& closes,
                          const MoveList& moves) {
  Lot lot(width, height, std::move(board));
  const std::size_t slots = 2 * static_cast<std::size_t>(width + height);
  if (opens.size() != slots || closes.size() != slots) return "there must be 2 * (width + height) edge slots";
  if (fixed.size() != noses.size()) return "noses and fixed must have an entry for each car";
  int gone = 0;
  for (std::size_t at = 0; at < moves.size(); ++at) {
    const auto [from, to] = moves[at];
    if (!lot.inside(from)) return place(at) + "a cell is not on the board";
    const int car = lot.grid[from];
    if (car < 0 || car >= static_cast<int>(noses.size())) return place(at) + "there is no car";
    if (fixed[car]) return place(at) + "the car is fixed";
    if (!along_axis(lot, moves[at])) return place(at) + "a car moves along its own axis only";
    if (to != -1) {
      const std::string wrong = play(lot, moves[at], {}, "slide");
      if (!wrong.empty()) return place(at) + wrong;
      continue;
    }
    const int nose = noses[car];
    if (nose < kUp || nose > kLeft) return place(at) + "a nose is 0 to 3";
    const auto cells = lot.cells_of(car);
    const auto [rows, columns] = axis(lot, cells);
    if (std::abs(kDown4[nose]) != rows || std::abs(kRight4[nose]) != columns) {
      return place(at) + "the nose is not at an end of the car";
    }
    lot.put(kEmpty, cells);
    for (auto ahead = cells; !ahead.empty(); ahead = lot.shifted(ahead, kDown4[nose], kRight4[nose])) {
      if (!lot.free(ahead, {})) return place(at) + "the way out is blocked";
    }
    const int line = columns ? lot.row(cells[0]) : lot.column(cells[0]);
    const int slot = nose == kUp      ? line
                     : nose == kRight ? width + line
                     : nose == kDown  ? width + height + line
                                      : 2 * width + height + line;
    if (gone < opens[slot] || gone >= closes[slot]) return place(at) + "the edge is closed";
    ++gone;
  }
  for (int car = 0; car < static_cast<int>(noses.size()); ++car) {
    if (!fixed[car] && !lot.cells_of(car).empty()) return "after the last move a car is still in the lot";
  }
  return "";
}

}  // namespace unjam::checker

// Boards of rush as the text that packs hold, and their canonical form: what unjam/puzzles/rush.py says, for plain boards.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "layout.hpp"
#include "rush_search.hpp"

namespace unjam {

// A board whose rules need no second look. `text` is by rows: `.` empty, `x` a wall, else the letter of a car.
struct RushText {
  int width = 0, height = 0;
  std::string text;
  std::vector<int> grid;  // as Layout takes it, the cars in the order of first appearance
  std::vector<char> letters;
  int primary = 0;
  std::string_view exit;
  RushGoal goal{};
  bool hopeless = false;  // a wall, or a car of its own axis, stands between the primary and its exit
};

namespace rush_text {

inline constexpr std::size_t kMaxSide = 16;

inline bool is_car(char letter) {
  return (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
}

// The size and the cells by rows; false for what is unusual.
inline bool read_rows(std::string_view board, RushText& rush) {
  const std::size_t row = board.find('/');
  std::size_t width = row == board.npos ? 0 : row;
  while (row == board.npos && width * width < board.size()) ++width;
  const std::size_t height = row == board.npos ? width : (board.size() + 1) / (width + 1);
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide || width * height > kMaxCells) return false;
  if (board.size() != width * height + (row == board.npos ? 0 : height - 1)) return false;
  rush.width = static_cast<int>(width);
  rush.height = static_cast<int>(height);
  rush.text.reserve(width * height);
  for (std::size_t at = 0; at < board.size(); ++at) {
    const char letter = board[at] == 'o' ? '.' : board[at];
    if (row != board.npos && at % (width + 1) == width) {
      if (letter != '/') return false;
    } else if (letter != '.' && !is_car(letter)) {
      return false;
    } else {
      rush.text.push_back(letter);
    }
  }
  return true;
}

}  // namespace rush_text

// Nothing for a board that is wrong or unusual: the rules say why. `exit` is a side, or empty.
inline std::optional<RushText> read_rush(std::string_view board, std::string_view exit) {
  struct Car {
    int first, length = 0, stride = 0;
  };
  RushText rush;
  if (!rush_text::read_rows(board, rush)) return std::nullopt;
  std::array<std::int8_t, 128> index;
  index.fill(kEmpty);
  index['x'] = kWall;
  std::vector<Car> cars;
  for (int cell = 0; cell < rush.width * rush.height; ++cell) {
    const char letter = rush.text[cell];
    std::int8_t& car = index[letter];
    if (letter != '.' && car == kEmpty) {
      car = static_cast<std::int8_t>(cars.size());
      cars.push_back({cell});
      rush.letters.push_back(letter);
    }
    rush.grid.push_back(car);
    if (car < 0) continue;
    Car& known = cars[car];
    if (++known.length == 2) {
      known.stride = cell - known.first;
      const bool across = known.stride == 1 && cell % rush.width != 0;
      if (!across && known.stride != rush.width) return std::nullopt;
    }
    if (known.length > 2) {
      const bool follows = cell == known.first + (known.length - 1) * known.stride;
      if (!follows || (known.stride != rush.width && cell % rush.width == 0)) return std::nullopt;
    }
  }
  if (index['A'] < 0) return std::nullopt;
  for (const Car& car : cars) {
    if (car.length < 2) return std::nullopt;
  }
  rush.primary = index['A'];
  const Car& primary = cars[rush.primary];
  // On a board of one column a car could lie either way: not here.
  if (rush.width == 1) return std::nullopt;
  const bool across = primary.stride == 1;
  const std::array<std::string_view, 2> ends =
      across ? std::array<std::string_view, 2>{"right", "left"} : std::array<std::string_view, 2>{"bottom", "top"};
  const auto end = exit.empty() ? ends.begin() : std::find(ends.begin(), ends.end(), exit);
  if (end == ends.end()) return std::nullopt;
  rush.exit = *end;
  const int line = across ? primary.first / rush.width * rush.width : primary.first % rush.width;
  const int places = (across ? rush.width : rush.height) - primary.length;
  rush.goal = {rush.primary, end == ends.begin() ? line + places * primary.stride : line};
  const int low = std::min(primary.first, rush.goal.cell), high = std::max(primary.first, rush.goal.cell);
  for (int cell = low; cell < high + primary.length * primary.stride; cell += primary.stride) {
    const int piece = rush.grid[cell];
    rush.hopeless |= piece == kWall || (piece >= 0 && piece != rush.primary && cars[piece].stride == primary.stride);
  }
  return rush;
}

struct RushImage {
  int symmetry;  // its place in unjam.puzzles.grid.symmetries
  int width, height;
  std::string text;  // by rows
};

// The lesser of the two images whose exit is right, cars named by first appearance; nothing if the names run out.
inline std::optional<RushImage> canonical_rush(const RushText& rush) {
  static constexpr std::string_view kNames = "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnpqrstuvwyz0123456789";
  if (rush.letters.size() > kNames.size() + 1) return std::nullopt;
  std::optional<RushImage> least;
  for (int symmetry = 0; symmetry < 8; ++symmetry) {
    const bool transpose = symmetry & 4, flip_rows = symmetry & 2, flip_columns = symmetry & 1;
    // where the exit points to
    const bool right = transpose ? rush.exit == (flip_rows ? "top" : "bottom")
                                 : rush.exit == (flip_columns ? "left" : "right");
    if (!right) continue;
    RushImage image{symmetry, rush.width, rush.height, {}};
    if (transpose) std::swap(image.width, image.height);
    image.text.reserve(rush.text.size());
    std::array<char, 128> name{};
    name['.'] = '.';
    name['x'] = 'x';
    name['A'] = 'A';
    std::size_t named = 0;
    for (int row = 0; row < image.height; ++row) {
      for (int column = 0; column < image.width; ++column) {
        const int from_row = transpose ? column : row, from_column = transpose ? row : column;
        const int cell = (flip_rows ? rush.height - 1 - from_row : from_row) * rush.width +
                         (flip_columns ? rush.width - 1 - from_column : from_column);
        char& letter = name[rush.text[cell]];
        if (!letter) letter = kNames[named++];
        image.text.push_back(letter);
      }
    }
    if (!least || image.text < least->text) least = std::move(image);
  }
  return least;
}

}  // namespace unjam

// Parking lots, checked: cars drive along their lanes and leave nose first over an open edge.
#pragma once

#include <cstdint>
#include <vector>

#include "layout.hpp"
#include "pieces.hpp"

namespace unjam {

using CarSet = std::uint64_t;  // a car covers two cells or more, so a board holds 64 at most

inline CarSet one_car(int car) { return CarSet{1} << car; }

// Calls `visit` for each car of the set, the lowest first.
template <class Visit>
void each_car(CarSet cars, Visit&& visit) {
  for (; cars; cars &= cars - 1) visit(std::countr_zero(cars));
}

// A car's place is an index into its track, or the track's size when the car is out.
struct Car {
  Track track;      // along its lane
  int first, last;  // places: the farthest from the exit, and the one that it leaves from
  bool forwards;    // whether places are counted towards the exit, so last >= first
  int lane;         // equal for cars of one row or of one column
  int length, step;
  bool reaches_edge;  // no pillar or fixed car stands before its exit
  int opens, closes;  // its exit is open while opens <= cars that have left < closes; kNever: it does not close

  static constexpr int kNever = 1 << 30;

  int out() const { return track.size(); }
  int cell(int place, int part) const { return track.cell[place] + part * step; }
};

enum class Leaving {
  free,      // a move like any other
  first,     // a car that may as well leave now does so, and nothing else is tried
  together,  // cars that may as well leave now do so in the move that let them
};

struct Lot {
  int cells;
  std::vector<Car> cars;
  std::vector<int> pieces;  // of each car
  Cells obstacles = 0;      // walls and fixed cars
  Leaving leaving = Leaving::free;

  Packing packing() const {
    std::vector<int> values;
    for (const Car& car : cars) values.push_back(car.track.size() + 1);
    return Packing(values);
  }
};

// Slots go round the lot side by side: top and bottom from left to right, right and left from top to bottom.
//
//          0  1  2
//       8 |        | 3
//       9 |        | 4      width 3, height 2
//          5  6  7
inline int exit_slot(const Layout& layout, int cell, int nose) {
  const int row = cell / layout.width, column = cell % layout.width;
  switch (nose) {
    case kUp: return column;
    case kRight: return layout.width + row;
    case kDown: return layout.width + layout.height + column;
    default: return 2 * layout.width + layout.height + row;
  }
}

inline Lot parkout_lot(const Layout& layout, const std::vector<int>& noses, const std::vector<bool>& fixed,
                      const std::vector<int>& opens, const std::vector<int>& closes) {
  require(static_cast<int>(noses.size()) == layout.count(), "noses must have an entry for each car");
  require(static_cast<int>(fixed.size()) == layout.count(), "fixed must have an entry for each car");
  const std::size_t slots = 2 * static_cast<std::size_t>(layout.width + layout.height);
  require(opens.size() == slots && closes.size() == slots, "there are 2 * (width + height) edge slots");
  Lot lot;
  lot.cells = layout.cells();
  lot.obstacles = layout.walls;
  for (int piece = 0; piece < layout.count(); ++piece) {
    const Axis axis = axis_of(layout, piece);
    require(noses[piece] >= kUp && noses[piece] <= kLeft, "a nose is 0 to 3");
    require((noses[piece] == kLeft || noses[piece] == kRight) == (axis == Axis::horizontal),
            "the nose is not at an end of the car");
    if (!fixed[piece]) {
      lot.pieces.push_back(piece);
      continue;
    }
    for (const int cell : layout.pieces[piece]) lot.obstacles |= bit(cell);
  }
  for (const int piece : lot.pieces) {
    const int nose = noses[piece], anchor = layout.pieces[piece][0];
    const bool across = nose == kLeft || nose == kRight;
    const int slot = exit_slot(layout, anchor, nose);
    Car car;
    car.track = make_track(layout, {piece}, layout.all() & ~lot.obstacles,
                           across ? std::vector{kLeft, kRight} : std::vector{kUp, kDown});
    car.forwards = nose == kRight || nose == kDown;
    car.first = car.forwards ? 0 : car.track.size() - 1;
    car.last = car.track.size() - 1 - car.first;
    car.lane = across ? anchor / layout.width : layout.height + anchor % layout.width;
    car.length = static_cast<int>(layout.pieces[piece].size());
    car.step = across ? 1 : layout.width;
    const int front = car.cell(car.last, car.forwards ? car.length - 1 : 0);
    car.reaches_edge = across ? front % layout.width == (car.forwards ? layout.width - 1 : 0)
                              : front / layout.width == (car.forwards ? layout.height - 1 : 0);
    car.opens = opens[slot];
    car.closes = closes[slot] < static_cast<int>(lot.pieces.size()) ? closes[slot] : Car::kNever;
    lot.cars.push_back(std::move(car));
  }
  return lot;
}

}  // namespace unjam

// Parking lots: cars drive along their axis and leave nose first over an open edge; the goal is an empty lot.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "control.hpp"
#include "pieces.hpp"

namespace unjam {

// The lot as Python gives it, checked.
struct Lot {
  std::vector<int> cars;       // the pieces that are not fixed, in order
  std::vector<Track> tracks;   // of each car, along its axis
  std::vector<int> noses;      // Direction of each car
  std::vector<int> exits;      // the edge slot each car would leave over
  std::vector<int> opens;      // of each edge slot: open while opens <= cars that have left < closes
  std::vector<int> closes;
  Cells obstacles = 0;         // walls and fixed cars
  bool prune = false;          // a car that can leave now leaves now, and nothing else is tried

  Packing packing() const {
    std::vector<int> values;
    for (const Track& track : tracks) values.push_back(track.size() + 1);
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

// A car's place is an index into its track, or the track's size when the car is out.
template <int Words>
class Parkout {
 public:
  using Key = typename Fields<Words>::Key;

  Parkout(const Layout& layout, const Lot& lot) : lot_(lot), fields_(lot.packing().fields<Words>()) {
    for (std::size_t car = 0; car < lot.cars.size(); ++car) {
      const Track& track = lot.tracks[car];
      cars_.push_back({static_cast<int>(masks_.size()), track.size(), lot.noses[car], lot.exits[car], 0});
      // The last place towards the nose is where it leaves from, unless a pillar or a fixed car stands before the edge.
      const int last = lot.noses[car] == kRight || lot.noses[car] == kDown ? track.size() - 1 : 0;
      const int anchor = track.cell[last];
      const int length = static_cast<int>(layout.pieces[lot.cars[car]].size());
      const int row = anchor / layout.width, column = anchor % layout.width;
      const bool at_edge = lot.noses[car] == kUp      ? row == 0
                           : lot.noses[car] == kLeft  ? column == 0
                           : lot.noses[car] == kRight ? column + length == layout.width
                                                      : row + length == layout.height;
      cars_.back().leaves_from = at_edge ? last : Track::kNone;
      masks_.insert(masks_.end(), track.mask.begin(), track.mask.end());
      masks_.push_back(0);
      cells_.insert(cells_.end(), track.cell.begin(), track.cell.end());
      cells_.push_back(0);
      fanout_ += track.size();
    }
    for (const auto& car : layout.pieces) anchors_.push_back(car[0]);
    start_ = *key_of(anchors_);
  }

  Key start() const { return start_; }
  std::size_t fanout() const { return fanout_; }
  bool is_goal(const Key& key) const { return heuristic(key) == 0; }

  // A move takes out one car at most.
  int heuristic(const Key& key) const {
    int left = 0;
    for (std::size_t car = 0; car < cars_.size(); ++car) left += fields_.get(key, static_cast<int>(car)) != cars_[car].out;
    return left;
  }

  template <class Sink>
  void expand(const Key& key, Mover last, Sink&& sink) {
    each_move(key, last, [&](int car, int to) { sink(moved(key, car, to), static_cast<Mover>(car)); });
  }

  // (level_graph.hpp) Calls sink(parent, mover) for every position from which one move leads here: a car slides back, or
  // comes back in, to a place from where it could have left. `last` as in `expand`: what the car that moved back last
  // could have moved back at once is left out.
  template <class Sink>
  void expand_back(const Key& key, Mover last, Sink&& sink) {
    const auto [occupied, gone] = place_cars(key);
    for (int car = 0; car < static_cast<int>(cars_.size()); ++car) {
      if (car == last) continue;
      const Car& own = cars_[car];
      if (places_[car] != own.out) {
        each_slide(car, occupied, [&](int from) { sink(moved(key, car, from), static_cast<Mover>(car)); });
        continue;
      }
      if (own.leaves_from == Track::kNone || !is_open(own, gone - 1)) continue;
      const Cells* masks = masks_.data() + own.first_place;
      const int step = own.leaves_from == 0 ? 1 : -1;
      for (int from = own.leaves_from; from >= 0 && from < own.out && !(masks[from] & occupied); from += step) {
        sink(moved(key, car, from), static_cast<Mover>(car));
      }
    }
  }

  // (level_graph.hpp) The key of a position by the first cell of each car, -1 for one that has left; none where a car
  // can never be.
  std::optional<Key> key_of(const std::vector<int>& anchors) const {
    Key key{};
    for (std::size_t car = 0; car < cars_.size(); ++car) {
      const int anchor = anchors[lot_.cars[car]];
      const int place = anchor < 0 ? cars_[car].out : lot_.tracks[car].place_at(anchor);
      if (place == Track::kNone) return std::nullopt;
      fields_.set(key, static_cast<int>(car), place);
    }
    return key;
  }
  std::vector<int> anchors_of(const Key& key) const {
    std::vector<int> anchors = anchors_;
    for (std::size_t car = 0; car < cars_.size(); ++car) {
      const int place = fields_.get(key, static_cast<int>(car));
      anchors[lot_.cars[car]] = place == cars_[car].out ? -1 : cells_[cars_[car].first_place + place];
    }
    return anchors;
  }

  Moves moves(const std::vector<Key>& keys) {
    Moves moves;
    for (std::size_t at = 1; at < keys.size(); ++at) {
      const std::size_t known = moves.size();
      each_move(keys[at - 1], kNobody, [&](int car, int to) {
        if (moves.size() > known || moved(keys[at - 1], car, to) != keys[at]) return;
        const int first = cars_[car].first_place;
        moves.emplace_back(cells_[first + places_[car]], to == cars_[car].out ? -1 : cells_[first + to]);
      });
    }
    return moves;
  }

 private:
  struct Car {
    int first_place;  // in masks_ and cells_
    int out;
    int nose;
    int exit;
    int leaves_from;
  };

  // Car by car; backwards along the axis, then forwards; slides, then leaving. The car that moved last is left out:
  // wherever it can go now, leaving included, it could have gone at once.
  template <class Visit>
  void each_move(const Key& key, Mover last, Visit&& visit) {
    const auto [occupied, gone] = place_cars(key);
    const int count = static_cast<int>(cars_.size());
    if (lot_.prune) {
      for (int car = 0; car < count; ++car) {
        if (places_[car] != cars_[car].out && leaves(car, occupied, gone)) return visit(car, cars_[car].out);
      }
    }
    for (int car = 0; car < count; ++car) {
      if (places_[car] == cars_[car].out || car == last) continue;
      each_slide(car, occupied, [&](int to) { visit(car, to); });
      if (!lot_.prune && leaves(car, occupied, gone)) visit(car, cars_[car].out);
    }
  }

  // Fills places_; the cells that are taken, and how many cars have left.
  std::pair<Cells, int> place_cars(const Key& key) {
    Cells occupied = lot_.obstacles;
    int gone = 0;
    for (int car = 0; car < static_cast<int>(cars_.size()); ++car) {
      places_[car] = static_cast<std::uint8_t>(fields_.get(key, car));
      occupied |= masks_[cars_[car].first_place + places_[car]];
      gone += places_[car] == cars_[car].out;
    }
    return {occupied, gone};
  }

  template <class Visit>
  void each_slide(int car, Cells occupied, Visit&& visit) const {
    const int from = places_[car], out = cars_[car].out;
    const Cells* masks = masks_.data() + cars_[car].first_place;
    const Cells others = occupied ^ masks[from];
    for (int to = from - 1; to >= 0 && !(masks[to] & others); --to) visit(to);
    for (int to = from + 1; to < out && !(masks[to] & others); ++to) visit(to);
  }

  bool is_open(const Car& car, int gone) const { return gone >= lot_.opens[car.exit] && gone < lot_.closes[car.exit]; }

  bool leaves(int car, Cells occupied, int gone) const {
    const Car& own = cars_[car];
    if (own.leaves_from == Track::kNone || !is_open(own, gone)) return false;
    const Cells* masks = masks_.data() + own.first_place;
    const int from = places_[car];
    const Cells others = occupied ^ masks[from];
    for (int at = std::min<int>(from, own.leaves_from); at <= std::max<int>(from, own.leaves_from); ++at) {
      if (masks[at] & others) return false;
    }
    return true;
  }

  Key moved(Key key, int car, int to) const {
    fields_.set(key, car, to);
    return key;
  }

  const Lot& lot_;
  Fields<Words> fields_;
  std::vector<Car> cars_;
  std::vector<Cells> masks_;  // by place; none for a car that is out
  std::vector<std::uint8_t> cells_;
  std::size_t fanout_ = 0;
  std::vector<int> anchors_;  // of each car at the start, fixed ones too
  Key start_{};
  std::array<std::uint8_t, kMaxCells> places_;
};

}  // namespace unjam

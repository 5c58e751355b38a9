// The positions of a parking lot as a space for the searches; the goal is an empty lot.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "control.hpp"
#include "parkout_bound.hpp"
#include "parkout_lot.hpp"

namespace unjam {

// A car may as well leave now if it can and no car that is still there has an exit that closes sooner than its own
// (docs/solvers.md has the proof). With Leaving::together the positions are only those where no car may.
// Weight: what a stirred car counts in the heuristic; with more than 1 that is no bound, and solutions are found sooner.
template <int Words, int Weight = 1>
class Parkout {
 public:
  using Key = typename Fields<Words>::Key;

  Parkout(const Layout& layout, const Lot& lot) : lot_(lot), fields_(lot.packing().fields<Words>()), bound_(lot) {
    here_.occupied = lot.obstacles;
    for (int car = 0; car < count(); ++car) {
      const Car& own = lot.cars[car];
      const int places = own.track.size();
      first_.push_back(static_cast<int>(masks_.size()));
      masks_.insert(masks_.end(), own.track.mask.begin(), own.track.mask.end());
      masks_.push_back(0);
      for (int place = 0; place < places; ++place) {
        Cells ahead = 0;
        for (int at = own.last; at != place; at += own.forwards ? -1 : 1) ahead |= own.track.mask[at];
        ahead_.push_back(ahead & ~own.track.mask[place]);
      }
      ahead_.push_back(0);
      fanout_ += places;
      here_.places[car] = static_cast<std::uint8_t>(own.track.place_at(layout.pieces[lot.pieces[car]][0]));
      here_.occupied |= mask(car, here_.places[car]);
      here_.present |= one_car(car);
    }
    for (const auto& piece : layout.pieces) anchors_.push_back(piece[0]);
    start_ = *key_of(anchors_);
    if (lot.leaving != Leaving::together) return;
    start_ = with_leavers(start_);
    note_leavers(opening_);
  }

  Key start() const { return start_; }
  std::size_t fanout() const { return fanout_; }
  bool is_goal(const Key& key) const { return read(key).present == 0; }
  // What left before the search began.
  const Moves& opening() const { return opening_; }

  // A move takes out one car at most, and some cars have to make another one first.
  int heuristic(const Key& key) {
    const Position position = read(key);
    const int stirred = bound_.stirred(position.places.data(), position.present);
    return stirred == kNoWay ? kNoWay : std::popcount(position.present) + Weight * stirred;
  }

  // The mover: which car moved, and above that how many left in the same move.
  int cost(Mover mover) const { return 1 + (mover >> 8); }

  template <class Sink>
  void expand(const Key& key, Mover last, Sink&& sink) {
    each_move(key, last, [&](int car, int to) {
      Key child = key;
      fields_.set(child, car, to);
      if (lot_.leaving != Leaving::together) return sink(child, static_cast<Mover>(car));
      const int from = here_.places[car];
      move(car, to);
      child = with_leavers(child);
      const Mover mover = static_cast<Mover>(car | static_cast<int>(leavers_.size()) << 8);
      undo_leavers();
      move(car, from);
      sink(child, mover);
    });
  }

  // (level_graph.hpp) Calls sink(parent, mover) for every position from which one move leads here: a car slides back, or
  // comes back in, to a place from where it could have left. `last` as in `expand`: what the car that moved back last
  // could have moved back at once is left out.
  template <class Sink>
  void expand_back(const Key& key, Mover last, Sink&& sink) {
    here_ = read(key);
    for (int car = 0; car < count(); ++car) {
      if (car == last) continue;
      const auto from_place = [&](int from) {
        Key parent = key;
        fields_.set(parent, car, from);
        sink(parent, static_cast<Mover>(car));
      };
      const Car& own = lot_.cars[car];
      if (here_.present & one_car(car)) {
        each_slide(car, from_place);
      } else if (own.reaches_edge && is_open(own, gone() - 1)) {
        const int back = own.forwards ? -1 : 1;
        for (int from = own.last; from >= 0 && from < own.out() && !(mask(car, from) & here_.occupied); from += back) {
          from_place(from);
        }
      }
    }
  }

  // (level_graph.hpp) The key of a position by the first cell of each piece, -1 for one that has left; none where a car
  // can never be.
  std::optional<Key> key_of(const std::vector<int>& anchors) const {
    Key key{};
    for (int car = 0; car < count(); ++car) {
      const int anchor = anchors[lot_.pieces[car]];
      const int place = anchor < 0 ? lot_.cars[car].out() : lot_.cars[car].track.place_at(anchor);
      if (place == Track::kNone) return std::nullopt;
      fields_.set(key, car, place);
    }
    return key;
  }
  std::vector<int> anchors_of(const Key& key) const {
    std::vector<int> anchors = anchors_;
    for (int car = 0; car < count(); ++car) {
      const int place = fields_.get(key, car);
      const Track& track = lot_.cars[car].track;
      anchors[lot_.pieces[car]] = place == lot_.cars[car].out() ? -1 : track.cell[known_place(place, track)];
    }
    return anchors;
  }

  Moves moves(const std::vector<Key>& keys) {
    Moves moves = opening_;
    for (std::size_t at = 1; at < keys.size(); ++at) {
      Moves best;
      each_move(keys[at - 1], kNobody, [&](int car, int to) {
        Key child = keys[at - 1];
        fields_.set(child, car, to);
        const int from = here_.places[car];
        Moves way{{cell(car, from), to == lot_.cars[car].out() ? -1 : cell(car, to)}};
        move(car, to);
        if (lot_.leaving == Leaving::together) {
          child = with_leavers(child);
          note_leavers(way);
          undo_leavers();
        }
        move(car, from);
        if (child == keys[at] && (best.empty() || way.size() < best.size())) best = way;
      });
      moves.insert(moves.end(), best.begin(), best.end());
    }
    return moves;
  }

 private:
  struct Leaver {
    int car, from;
  };
  struct Position {
    std::array<std::uint8_t, kMaxCells / 2> places;
    Cells occupied = 0;
    CarSet present = 0;
  };

  int count() const { return static_cast<int>(lot_.cars.size()); }
  int gone() const { return count() - std::popcount(here_.present); }
  const Cells& mask(int car, int place) const { return masks_[first_[car] + place]; }
  int cell(int car, int place) const { return lot_.cars[car].track.cell[place]; }

  Position read(const Key& key) const {
    Position position;
    position.occupied = lot_.obstacles;
    for (int car = 0; car < count(); ++car) {
      const int place = fields_.get(key, car);
      position.places[car] = static_cast<std::uint8_t>(place);
      position.occupied |= mask(car, place);
      if (place != lot_.cars[car].out()) position.present |= one_car(car);
    }
    return position;
  }

  void move(int car, int to) {
    here_.occupied ^= mask(car, here_.places[car]) ^ mask(car, to);
    here_.places[car] = static_cast<std::uint8_t>(to);
    if (to == lot_.cars[car].out()) {
      here_.present &= ~one_car(car);
    } else {
      here_.present |= one_car(car);
    }
  }

  // Car by car; backwards along the axis, then forwards; slides, then leaving. The car that moved last is left out:
  // wherever it can go now, leaving included, it could have gone at once.
  template <class Visit>
  void each_move(const Key& key, Mover last, Visit&& visit) {
    here_ = read(key);
    if (lot_.leaving == Leaving::first) {
      const int soonest = soonest_closing();
      for (int car = 0; car < count(); ++car) {
        if (may_leave_now(car, soonest)) return visit(car, lot_.cars[car].out());
      }
    }
    for (int car = 0; car < count(); ++car) {
      if (!(here_.present & one_car(car)) || car == last) continue;
      each_slide(car, [&](int to) { visit(car, to); });
      if (can_leave(car)) visit(car, lot_.cars[car].out());
    }
  }

  template <class Visit>
  void each_slide(int car, Visit&& visit) const {
    const int from = here_.places[car], out = lot_.cars[car].out();
    const Cells* masks = &mask(car, 0);
    const Cells others = here_.occupied ^ masks[from];
    for (int to = from - 1; to >= 0 && !(masks[to] & others); --to) visit(to);
    for (int to = from + 1; to < out && !(masks[to] & others); ++to) visit(to);
  }

  static bool is_open(const Car& car, int gone) { return car.opens <= gone && gone < car.closes; }

  bool can_leave(int car) const {
    const Car& own = lot_.cars[car];
    return own.reaches_edge && is_open(own, gone()) &&
           !(ahead_[first_[car] + here_.places[car]] & here_.occupied);
  }

  int soonest_closing() const {
    int soonest = Car::kNever;
    each_car(here_.present, [&](int car) { soonest = std::min(soonest, lot_.cars[car].closes); });
    return soonest;
  }
  bool may_leave_now(int car, int soonest) const {
    return (here_.present & one_car(car)) && lot_.cars[car].closes == soonest && can_leave(car);
  }

  // Takes out all that may leave.
  Key with_leavers(Key key) {
    leavers_.clear();
    for (bool again = true; again;) {
      again = false;
      const int soonest = soonest_closing();
      each_car(here_.present, [&](int car) {
        if (!may_leave_now(car, soonest)) return;
        const int out = lot_.cars[car].out();
        leavers_.push_back({car, here_.places[car]});
        fields_.set(key, car, out);
        move(car, out);
        again = true;
      });
    }
    return key;
  }
  void undo_leavers() {
    for (const auto& [car, from] : leavers_) move(car, from);
  }
  void note_leavers(Moves& moves) const {
    for (const auto& [car, from] : leavers_) moves.emplace_back(cell(car, from), -1);
  }

  const Lot& lot_;
  Fields<Words> fields_;
  BlockingBound bound_;
  std::vector<int> first_;    // of each car: where its places begin in masks_ and ahead_
  std::vector<Cells> masks_;  // by place; none for a car that is out
  std::vector<Cells> ahead_;  // the cells that a car has to cross to leave
  std::size_t fanout_ = 0;
  std::vector<int> anchors_;  // of each piece at the start, fixed ones too
  Key start_{};
  Moves opening_;
  Position here_;  // that is expanded
  std::vector<Leaver> leavers_;
};

}  // namespace unjam

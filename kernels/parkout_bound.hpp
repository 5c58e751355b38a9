// A lower bound for parking lots: how many cars have to make a move before the one that takes them out.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "control.hpp"
#include "parkout_lot.hpp"

namespace unjam {

// Let the *stirred* cars of a solution be those that ever make a move other than leaving; all others stay where they
// are until they leave. So a car that stands before another one in its lane has to leave first, or to be stirred and
// to drive out of the lane, past cells that a car which is not stirred has left. A set of stirred cars suffices if
// nothing in this says that some car never leaves (that stirred cars block each other is ignored). The bound is the
// size of the least set that suffices.
class BlockingBound {
 public:
  explicit BlockingBound(const Lot& lot) : lot_(lot) {}

  // For the place of each car, of which `present` are still there. kNoWay: they cannot all leave.
  int stirred(const std::uint8_t* places, CarSet present) {
    present_ = present;
    out_ = static_cast<int>(lot_.cars.size()) - std::popcount(present);
    if (closed_too_soon()) return kNoWay;
    find_blockers(places);
    if (settle(present, present)) return kNoWay;
    const CarSet stuck = settle(0, present);
    if (!stuck) return 0;
    int least = at_least(stuck);
    tries_ = kTries;
    while (!suffices(0, 0, stuck, least) && tries_ > 0) ++least;
    return least;
  }

 private:
  static constexpr int kTries = 2000;  // sets; what is proven by then is the bound, which may not be consistent

  // A car in the lane before another one, and the cars that stand where it would pass on its way out of the lane,
  // towards lower and higher places; closed: there is not enough room in its own lane.
  struct Blocker {
    std::uint8_t car;
    bool low_closed = true, high_closed = true;
    CarSet low = 0, high = 0;

    bool stays() const { return low_closed && high_closed; }
  };

  // More cars are left than exits that close at a time can take until then.
  bool closed_too_soon() const {
    bool late = false;
    each_car(present_, [&](int car) {
      const int closes = lot_.cars[car].closes;
      if (closes == Car::kNever || late) return;
      int before = out_;
      each_car(present_, [&](int other) { before += lot_.cars[other].closes <= closes; });
      late = before > closes;
    });
    return late;
  }

  void find_blockers(const std::uint8_t* places) {
    owner_.fill(-1);
    each_car(present_, [&](int car) {
      const Car& own = lot_.cars[car];
      for (int part = 0; part < own.length; ++part) owner_[own.cell(places[car], part)] = static_cast<std::int8_t>(car);
    });
    blockers_.clear();
    each_car(present_, [&](int car) {
      const Car& own = lot_.cars[car];
      begin_[car] = static_cast<int>(blockers_.size());
      const int towards = own.forwards ? 1 : -1, front = own.forwards ? own.length - 1 : 0;
      for (int place = places[car]; place != own.last; place += towards) {
        const int cell = own.cell(place + towards, front), other = owner_[cell];
        if (other >= 0 && (begin_[car] == static_cast<int>(blockers_.size()) || blockers_.back().car != other)) {
          blockers_.push_back(blocker(other, cell, places[other], own.lane));
        }
      }
      end_[car] = static_cast<int>(blockers_.size());
    });
  }

  Blocker blocker(int car, int cell, int place, int lane) const {
    const Car& own = lot_.cars[car];
    Blocker blocker{static_cast<std::uint8_t>(car)};
    if (own.lane == lane) return blocker;
    const int part = (cell - own.track.cell[place]) / own.step;
    const int low = place - (own.length - part), high = place + part + 1;  // the nearest places that leave the cell free
    blocker.low_closed = low < 0;
    blocker.high_closed = high >= own.track.size();
    if (!blocker.low_closed) {
      for (int at = low; at < place; ++at) add_owner(own.cell(at, 0), blocker.low);
    }
    if (!blocker.high_closed) {
      for (int at = place + 1; at <= high; ++at) add_owner(own.cell(at, own.length - 1), blocker.high);
    }
    return blocker;
  }

  void add_owner(int cell, CarSet& cars) const {
    if (owner_[cell] >= 0) cars |= one_car(owner_[cell]);
  }

  // The cars that are left when all have left that can, if the stirred ones do not block each other.
  CarSet settle(CarSet stirred, CarSet left) const {
    for (CarSet before = 0; before != left;) {
      before = left;
      each_car(before, [&](int car) {
        if (leaves(car, stirred, left)) left &= ~one_car(car);
      });
    }
    return left;
  }

  bool is_open(int car, CarSet left) const {
    const Car& own = lot_.cars[car];
    return own.reaches_edge && own.opens <= out_ + std::popcount(present_ & ~left);
  }

  bool leaves(int car, CarSet stirred, CarSet left) const {
    if (!is_open(car, left)) return false;
    const CarSet standing = left & ~stirred;
    for (int at = begin_[car]; at < end_[car]; ++at) {
      const Blocker& blocker = blockers_[at];
      if (!(left & one_car(blocker.car))) continue;
      if (standing & one_car(blocker.car)) return false;
      if ((blocker.low_closed || (blocker.low & standing)) && (blocker.high_closed || (blocker.high & standing))) {
        return false;
      }
    }
    return true;
  }

  // Whether at most `more` cars more have to be stirred; none of `spared` is to be.
  bool suffices(CarSet stirred, CarSet spared, CarSet left, int more) {
    left = settle(stirred, left);
    if (!left) return true;
    if (more == 0 || --tries_ < 0) return false;
    for (CarSet choice = one_of(stirred, left) & ~spared; choice; choice &= choice - 1) {
      const CarSet car = choice & -choice;
      if (suffices(stirred | car, spared, left, more - 1)) return true;
      spared |= car;
    }
    return false;
  }

  // Sets of cars of which one each has to be stirred, none in common.
  int at_least(CarSet left) {
    int sets = 0;
    for (CarSet stirred = 0; left; left = settle(stirred, left)) {
      stirred |= one_of(stirred, left);
      ++sets;
    }
    return sets;
  }

  // Cars of which at least one has to be stirred as well, when these are left: the cars of a shortest cycle in which
  // each waits for the next, or all that anything waits for.
  CarSet one_of(CarSet stirred, CarSet left) {
    CarSet all = 0;
    each_car(left, [&](int car) {
      waits_[car] = moving_helps_[car] = 0;
      for (int at = begin_[car]; at < end_[car]; ++at) {
        const Blocker& blocker = blockers_[at];
        const CarSet other = one_car(blocker.car), standing = left & ~stirred;
        if (!(left & other)) continue;
        if (blocker.stays()) {
          waits_[car] |= other;
        } else if (standing & other) {
          waits_[car] |= other;
          moving_helps_[car] |= other;
        } else {
          all |= (blocker.low_closed ? 0 : blocker.low & standing) | (blocker.high_closed ? 0 : blocker.high & standing);
        }
      }
      all |= moving_helps_[car];
    });
    const CarSet cycle = shortest_cycle(left);
    return cycle ? cycle : all;
  }

  // Of the cars on the cycle those whose being stirred would break it.
  CarSet shortest_cycle(CarSet left) {
    CarSet found = 0;
    int shortest = kMaxCells;
    each_car(left, [&](int start) {
      CarSet reached = 0, layer = waits_[start];
      std::array<CarSet, kMaxCells / 2 + 1> layers;  // the first car may come again after all others
      layers[0] = one_car(start);
      for (int length = 1; length < shortest && layer; ++length) {
        layers[length] = layer;
        if (layer & one_car(start)) {
          shortest = length;
          found = 0;
          int at = start;
          for (int back = length - 1; back >= 0; --back) {  // the car in the layer before that waits for this one
            int before = -1;
            each_car(layers[back], [&](int car) {
              if (before < 0 && (waits_[car] & one_car(at))) before = car;
            });
            if (moving_helps_[before] & one_car(at)) found |= one_car(at);
            at = before;
          }
          break;
        }
        reached |= layer;
        CarSet next = 0;
        each_car(layer, [&](int car) { next |= waits_[car]; });
        layer = next & ~reached;
      }
    });
    return found;
  }

  const Lot& lot_;
  CarSet present_ = 0;
  int out_ = 0;
  int tries_ = 0;
  std::array<std::int8_t, kMaxCells> owner_;  // the car on each cell, or -1
  std::vector<Blocker> blockers_;             // those of car c: from begin_[c] to end_[c]
  std::array<int, kMaxCells / 2> begin_, end_;
  std::array<CarSet, kMaxCells / 2> waits_, moving_helps_;
};

}  // namespace unjam

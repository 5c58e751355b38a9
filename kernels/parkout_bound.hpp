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
  explicit BlockingBound(const Lot& lot) : lot_(lot) {
    for (int car = 0; car < static_cast<int>(lot.cars.size()); ++car) {
      if (lot.cars[car].closes != Car::kNever) closing_ |= one_car(car);
    }
  }

  // For the place of each car, of which `present` are still there. kNoWay: they cannot all leave.
  int stirred(const std::uint8_t* places, CarSet present) {
    present_ = present;
    out_ = static_cast<int>(lot_.cars.size()) - std::popcount(present);
    find_blockers(places);
    if (settle(present, present) || overdue(present)) return kNoWay;
    const CarSet stuck = settle(0, present);
    int least = at_least(0, stuck, kMaxCells);
    if (least == 0) return 0;
    tries_ = kTries;
    const int enough = last_that_suffices(stuck);
    while (least < enough && !suffices(0, 0, stuck, least) && tries_ > 0) ++least;
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
      before_[car] = staying_[car] = 0;
      for (int at = begin_[car]; at < end_[car]; ++at) {
        before_[car] |= one_car(blockers_[at].car);
        if (blockers_[at].stays()) staying_[car] |= one_car(blockers_[at].car);
      }
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
    const CarSet standing = left & ~stirred;
    if ((before_[car] & standing) || !is_open(car, left)) return false;
    if (!(before_[car] & left)) return true;
    for (int at = begin_[car]; at < end_[car]; ++at) {
      const Blocker& blocker = blockers_[at];
      if (!(left & one_car(blocker.car))) continue;
      if ((blocker.low_closed || (blocker.low & standing)) && (blocker.high_closed || (blocker.high & standing))) {
        return false;
      }
    }
    return true;
  }

  // Whether more cars have to leave before an exit closes than can. Then one of `in_time_` at least has to be stirred as
  // well, so as not to be among them.
  bool overdue(CarSet stirred) {
    for (CarSet last = closing_ & present_; last; last &= last - 1) {
      const int closes = lot_.cars[std::countr_zero(last)].closes;
      CarSet before = 0;
      each_car(closing_ & present_, [&](int car) { before |= lot_.cars[car].closes <= closes ? one_car(car) : 0; });
      in_time_ = 0;
      for (CarSet waiting = before; waiting;) {
        const int car = std::countr_zero(waiting);
        const CarSet standing = before_[car] & ~stirred;
        const CarSet more = (standing | staying_[car]) & ~before;
        in_time_ |= standing & ~staying_[car];
        before |= more;
        waiting = (waiting & (waiting - 1)) | more;
      }
      if (out_ + std::popcount(before) > closes) return true;
    }
    return false;
  }

  // Whether at most `more` cars more have to be stirred; none of `spared` is to be.
  bool suffices(CarSet stirred, CarSet spared, CarSet left, int more) {
    left = settle(stirred, left);
    if (!left && !overdue(stirred)) {
      last_ = stirred;
      return true;
    }
    if (more == 0 || --tries_ < 0) return false;
    CarSet choice = (left ? one_of(stirred, left) : in_time_) & ~spared;
    if (at_least(stirred | choice, settle(stirred | choice, left), more) == more) return false;
    for (; choice; choice &= choice - 1) {
      const CarSet car = choice & -choice;
      if (suffices(stirred | car, spared, left, more - 1)) return true;
      spared |= car;
    }
    return false;
  }

  // The size of the last set that sufficed, without the cars that it does not need now; or more than there are cars.
  // Positions that follow each other are mostly neighbours.
  int last_that_suffices(CarSet left) {
    CarSet stirred = last_ & present_;
    if (settle(stirred, left) || overdue(stirred)) return kMaxCells;
    each_car(stirred, [&](int car) {
      const CarSet fewer = stirred & ~one_car(car);
      if (!settle(fewer, left) && !overdue(fewer)) stirred = fewer;
    });
    return std::popcount(stirred);
  }

  // How many sets of cars are found, none in common, of each of which one more has to be stirred. Ends after `most`.
  int at_least(CarSet stirred, CarSet left, int most) {
    int sets = 0;
    for (; sets < most && (left || overdue(stirred)); ++sets) {
      stirred |= left ? one_of(stirred, left) : in_time_;
      left = settle(stirred, left);
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
  CarSet shortest_cycle(CarSet left) const {
    CarSet found = 0;
    int shortest = kMaxCells;
    std::array<CarSet, kMaxCells / 2 + 1> layers;  // the first car may come again after all others
    for (CarSet starts = left; starts && shortest > 2; starts &= starts - 1) {
      const int start = std::countr_zero(starts);
      CarSet reached = 0;
      layers[0] = one_car(start);
      for (int length = 0; length + 1 < shortest && layers[length]; ++length) {
        CarSet next = 0;
        each_car(layers[length], [&](int car) { next |= waits_[car]; });
        layers[length + 1] = next & ~reached;
        reached |= next;
        if (!(next & one_car(start))) continue;
        shortest = length + 1;
        found = broken_by(layers.data(), length, start);
        break;
      }
    }
    return found;
  }

  // Goes back along a cycle from its start through the layers of cars that are waited for.
  CarSet broken_by(const CarSet* layers, int length, int start) const {
    CarSet found = 0;
    for (int at = start; length >= 0; --length) {
      CarSet before = layers[length];
      while (!(waits_[std::countr_zero(before)] & one_car(at))) before &= before - 1;
      const int car = std::countr_zero(before);
      found |= moving_helps_[car] & one_car(at);
      at = car;
    }
    return found;
  }

  const Lot& lot_;
  CarSet present_ = 0;
  int out_ = 0;
  int tries_ = 0;
  CarSet closing_ = 0;  // the cars whose exits close
  CarSet in_time_ = 0;
  CarSet last_ = 0;  // that sufficed
  std::array<std::int8_t, kMaxCells> owner_;  // the car on each cell, or -1
  std::vector<Blocker> blockers_;             // those of car c: from begin_[c] to end_[c]
  std::array<int, kMaxCells / 2> begin_, end_;
  std::array<CarSet, kMaxCells / 2> before_, staying_;  // all of them, and those that do not get out of the lane
  // Of those that are left: for which each car waits, and for which of them no longer if they were stirred.
  std::array<CarSet, kMaxCells / 2> waits_, moving_helps_;
};

}  // namespace unjam

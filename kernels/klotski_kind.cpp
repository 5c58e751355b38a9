// All boards of Klotski's kind, component by component: one 2x2 and any number of 1x2, 2x1 and 1x1.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "bindings.hpp"
#include "chunked_array.hpp"
#include "hash_set.hpp"
#include "layout.hpp"

namespace nb = nanobind;

namespace unjam {

namespace {

struct KindComponents {
  std::string reason;                // "": complete; else "seconds", "bytes" or "cancelled"
  std::vector<std::uint64_t> sizes;  // in boards, the largest first
};

// A skeleton is a board without its singles. Its free cells fall into regions:
//
//   a A A b
//   a A A b      free cells: regions a, b and c; singles and empty cells are on them
//   C C D D
//   c c c c
//
// Singles are all alike, so within a region with an empty cell they can be brought from any arrangement to any other.
// All boards of a skeleton with the same number of empty cells in each region are therefore connected: they are one node,
// and how many they are is a product of binomials. When a piece takes a step, the cells that it newly covers and those
// that it leaves are empty, and all other free cells are free before and after. Each way to spread empty cells over the
// regions that these form joins a node of one skeleton with a node of the other.
class Kind {
  using Mask = std::uint32_t;  // of cells

 public:
  static constexpr int kMostCells = 28;

  Kind(int width, int height, int empty, Meter& meter)
      : width_(width), cells_(width * height), empty_(empty), meter_(meter), index_(meter), skeletons_(meter) {
    all_ = static_cast<Mask>((std::uint64_t{1} << cells_) - 1);
    for (int row = 0; row < height; ++row) last_column_ |= one(row * width + width - 1);
    for (std::array<std::uint64_t, kMostCells + 1>& row : binomial_) row.fill(0);
    for (int from = 0; from <= cells_; ++from) {
      binomial_[from][0] = 1;
      for (int some = 1; some <= from; ++some) {
        binomial_[from][some] = binomial_[from - 1][some - 1] + binomial_[from - 1][some];
      }
    }
  }

  const char* run(std::vector<std::uint64_t>& sizes) {
    const char* stop = place(0, 0, {});
    if (stop) return stop;
    parents_ = Pages::zeroed(nodes_ * sizeof(std::uint32_t), meter_);
    if (nodes_ && !parents_.data()) return "bytes";
    parent_ = static_cast<std::uint32_t*>(parents_.data());
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      parent_[node] = node;
      if ((stop = poll_at(node))) return stop;
    }
    for (std::uint64_t at = 0; at < skeletons_.size(); ++at) {
      if ((stop = poll())) return stop;
      join(skeletons_[at]);
    }
    return count(sizes);
  }

 private:
  // Anchors by piece: the left or upper cell of dominoes, the upper left of the square.
  struct Pieces {
    Mask across = 0, down = 0, square = 0;
  };
  struct Skeleton {
    Pieces pieces;
    Mask free;
    std::uint32_t first;  // its first node
  };
  struct Regions {
    int count = 0;
    std::uint64_t nodes = 1;
    std::array<Mask, kMostCells> cells;
    // A node is the sum of each region's empty cells times its stride.
    std::array<std::uint32_t, kMostCells> stride;

    std::uint32_t stride_at(Mask cell) const {
      int at = 0;
      while (!(cells[at] & cell)) ++at;
      return stride[at];
    }
  };

  static Mask one(int cell) { return Mask{1} << cell; }

  const char* poll() {
    ++meter_.expanded;
    return meter_.due() ? meter_.poll(0) : nullptr;
  }

  // In a pass over all nodes, which takes nanoseconds for each.
  const char* poll_at(std::uint32_t node) const { return node % (1 << 20) == 0 ? meter_.poll(0) : nullptr; }

  // All skeletons with these pieces on the cells before `cell`.
  const char* place(int cell, Mask covered, const Pieces& pieces) {
    while (cell < cells_ && covered >> cell & 1) ++cell;
    if (cell == cells_) return pieces.square ? add(pieces, all_ & ~covered) : nullptr;
    if (const char* stop = place(cell + 1, covered, pieces)) return stop;
    const Mask here = one(cell);
    const bool right = !(last_column_ & here) && !(covered & here << 1), down = cell + width_ < cells_;
    const auto with = [&](Mask Pieces::*kind, Mask shape) {
      Pieces more = pieces;
      more.*kind |= here;
      return place(cell + 1, covered | shape << cell, more);
    };
    const char* stop = nullptr;
    if (right) stop = with(&Pieces::across, across());
    if (!stop && down) stop = with(&Pieces::down, down_shape());
    if (!stop && right && down && !pieces.square) stop = with(&Pieces::square, square());
    return stop;
  }

  Mask across() const { return 3; }
  Mask down_shape() const { return 1 | one(width_); }
  Mask square() const { return across() | across() << width_; }

  const char* add(const Pieces& pieces, Mask free) {
    if (std::popcount(free) < empty_) return nullptr;
    if (const char* stop = poll()) return stop;
    const std::uint64_t first = nodes_;
    nodes_ += regions(free).nodes;
    if (nodes_ > std::numeric_limits<std::uint32_t>::max()) return "bytes";
    const std::uint64_t key = key_of(pieces);
    const auto [slot, insert] = index_.insert(key, hash_of(key));
    if (insert == Insert::full) return "bytes";
    slot->value = static_cast<std::uint32_t>(first);
    return skeletons_.push_back({pieces, free, slot->value}) ? nullptr : "bytes";
  }

  std::uint64_t key_of(const Pieces& pieces) const {
    return (static_cast<std::uint64_t>(std::countr_zero(pieces.square)) << cells_ | pieces.down) << cells_ | pieces.across;
  }

  Regions regions(Mask free) const {
    Regions regions;
    for (Mask rest = free; rest;) {
      Mask region = rest & -rest;
      for (Mask last = 0; last != region;) {
        last = region;
        region |= ((region & ~last_column_) << 1 | (region >> 1 & ~last_column_) | region << width_ | region >> width_) & rest;
      }
      rest &= ~region;
      regions.stride[regions.count] = static_cast<std::uint32_t>(regions.nodes);
      regions.cells[regions.count++] = region;
      regions.nodes *= static_cast<std::uint64_t>(std::popcount(region) + 1);
    }
    return regions;
  }

  // Steps to the right and downwards: the others are the same the other way round.
  void join(const Skeleton& skeleton) {
    const Regions own = regions(skeleton.free);
    const auto each = [&](Mask Pieces::*kind, Mask shape) {
      for (Mask rest = skeleton.pieces.*kind; rest; rest &= rest - 1) {
        const int cell = std::countr_zero(rest);
        const Mask here = shape << cell;
        for (const int offset : {1, width_}) {
          if (offset == 1 ? (here & last_column_) != 0 : std::uint64_t{here} << width_ > all_) continue;
          const Mask there = here << offset, fresh = there & ~here, left = here & ~there;
          if (fresh & ~skeleton.free) continue;
          Pieces moved = skeleton.pieces;
          moved.*kind ^= one(cell) | one(cell + offset);
          const std::uint64_t key = key_of(moved);
          const std::uint32_t target = index_.find(key, hash_of(key))->value;
          const Regions after = regions((skeleton.free & ~fresh) | left), common = regions(skeleton.free & ~fresh);
          const auto of = [](Mask cells) { return static_cast<std::uint32_t>(std::popcount(cells)); };
          spread(common, 0, own, skeleton.first + own.stride_at(fresh) * of(fresh), after,
                 target + after.stride_at(left) * of(left));
        }
      }
    };
    each(&Pieces::across, across());
    each(&Pieces::down, down_shape());
    each(&Pieces::square, square());
  }

  // Joins two nodes for each number of empty cells in each common region from `at` on.
  void spread(const Regions& common, int at, const Regions& one_side, std::uint32_t node, const Regions& other_side,
              std::uint32_t other) {
    if (at == common.count) return unite(node, other);
    const Mask cells = common.cells[at];
    const std::uint32_t stride = one_side.stride_at(cells), other_stride = other_side.stride_at(cells);
    for (int empty = 0; empty <= std::popcount(cells); ++empty, node += stride, other += other_stride) {
      spread(common, at + 1, one_side, node, other_side, other);
    }
  }

  // Trees whose roots are their least nodes.
  std::uint32_t root(std::uint32_t node) {
    while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
    return node;
  }

  void unite(std::uint32_t one, std::uint32_t other) {
    one = root(one);
    other = root(other);
    parent_[std::max(one, other)] = std::min(one, other);
  }

  const char* count(std::vector<std::uint64_t>& sizes) {
    // A parent comes before its children, so that one pass turns it into the number of its component.
    std::uint32_t components = 0;
    for (std::uint32_t node = 0; node < nodes_; ++node) {
      parent_[node] = parent_[node] == node ? components++ : parent_[parent_[node]];
      if (const char* stop = poll_at(node)) return stop;
    }
    const Pages pages = Pages::zeroed(components * sizeof(std::uint64_t), meter_);
    if (components && !pages.data()) return "bytes";
    auto* boards = static_cast<std::uint64_t*>(pages.data());
    for (std::uint64_t at = 0; at < skeletons_.size(); ++at) {
      if (const char* stop = poll()) return stop;
      count(boards, regions(skeletons_[at].free), 0, skeletons_[at].first, 1, 0);
    }
    // Nodes with fewer empty cells are left out.
    std::copy_if(boards, boards + components, std::back_inserter(sizes), [](std::uint64_t size) { return size > 0; });
    std::sort(sizes.begin(), sizes.end(), std::greater<>());
    return nullptr;
  }

  void count(std::uint64_t* boards, const Regions& regions, int at, std::uint32_t node, std::uint64_t ways,
             int total) {
    if (at == regions.count) {
      if (total >= empty_) boards[parent_[node]] += ways;
      return;
    }
    const int cells = std::popcount(regions.cells[at]);
    for (int empty = 0; empty <= cells; ++empty, node += regions.stride[at]) {
      count(boards, regions, at + 1, node, ways * binomial_[cells][empty], total + empty);
    }
  }

  int width_, cells_, empty_;
  Mask all_ = 0, last_column_ = 0;
  std::array<std::array<std::uint64_t, kMostCells + 1>, kMostCells + 1> binomial_;
  Meter& meter_;
  HashMap<std::uint64_t, std::uint32_t> index_;  // first node by key
  ChunkedArray<Skeleton> skeletons_;
  std::uint64_t nodes_ = 0;
  Pages parents_;
  std::uint32_t* parent_ = nullptr;
};

KindComponents klotski_components(int width, int height, int empty, const Limits& limits, Control& control) {
  require(width >= 1 && height >= 1 && width <= Kind::kMostCells && height <= Kind::kMostCells / width,
          "the boards have 1 to 28 cells");
  require(empty >= 0, "there are no fewer than 0 empty cells");
  const nb::gil_scoped_release release;
  Meter meter(limits, control);
  KindComponents components;
  try {
    const char* stop = Kind(width, height, empty, meter).run(components.sizes);
    if (stop) components.reason = stop;
  } catch (const std::bad_alloc&) {
    components.reason = "bytes";
  }
  return components;
}

}  // namespace

void bind_klotski_kind(nb::module_& module) {
  using namespace nb::literals;
  nb::class_<KindComponents>(module, "KindComponents")
      .def_ro("reason", &KindComponents::reason)
      .def_ro("sizes", &KindComponents::sizes);
  module.def("klotski_components", &klotski_components, "width"_a, "height"_a, "empty"_a, "limits"_a, "control"_a);
}

}  // namespace unjam

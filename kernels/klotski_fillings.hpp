// The ways to fill the cells that a skeleton (klotski_skeletons.hpp) leaves free, numbered; and sets of such numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace unjam {

// A set of fillings, one bit each.
template <int Words>
using FillingSet = std::array<std::uint64_t, Words>;

template <int Words, class Visit>
void each_filling(const FillingSet<Words>& set, Visit&& visit) {
  for (int word = 0; word < Words; ++word) {
    for (std::uint64_t rest = set[word]; rest; rest &= rest - 1) visit(word * 64 + std::countr_zero(rest));
  }
}

template <int Words>
bool any(const FillingSet<Words>& set) {
  std::uint64_t all = 0;
  for (const std::uint64_t word : set) all |= word;
  return all != 0;
}

template <int Words>
int size_of(const FillingSet<Words>& set) {
  int size = 0;
  for (const std::uint64_t word : set) size += std::popcount(word);
  return size;
}

template <int Words>
FillingSet<Words> both(const FillingSet<Words>& one, const FillingSet<Words>& other) {
  FillingSet<Words> set;
  for (int word = 0; word < Words; ++word) set[word] = one[word] & other[word];
  return set;
}

template <int Words>
void insert(FillingSet<Words>& set, int filling) {
  set[static_cast<unsigned>(filling) / 64] |= std::uint64_t{1} << (filling % 64);
}

// A filling is a mask of the free cells, in their order, that tells which are empty: the others hold singles.
struct FillingSize {
  static constexpr int kMostCells = 16;
  static constexpr int kMost = 4096;

  int cells;
  int empty;

  // How many fillings there are; 0 when they are too many to be numbered.
  int count() const {
    if (cells > kMostCells) return 0;
    int count = 1;
    for (int at = 1; at <= empty; ++at) count = count * (cells - empty + at) / at;
    return count <= kMost ? count : 0;
  }
};

template <int Words>
class Fillings {
 public:
  explicit Fillings(const FillingSize& size) : number_(std::size_t{1} << size.cells), with_empty_(size.cells) {
    for (std::uint32_t mask = 0; mask < number_.size(); ++mask) {
      if (std::popcount(mask) != size.empty) continue;
      const int filling = static_cast<int>(masks_.size());
      number_[mask] = static_cast<std::uint16_t>(filling);
      masks_.push_back(mask);
      insert<Words>(all_, filling);
      for (int cell = 0; cell < size.cells; ++cell) {
        if (mask >> cell & 1) insert<Words>(with_empty_[cell], filling);
      }
    }
  }

  int number(std::uint64_t mask) const { return number_[mask]; }
  std::uint32_t mask(int filling) const { return masks_[filling]; }
  // The fillings that leave the n-th free cell empty.
  const FillingSet<Words>& with_empty(int cell) const { return with_empty_[cell]; }
  const FillingSet<Words>& all() const { return all_; }

 private:
  std::vector<std::uint16_t> number_;
  std::vector<std::uint32_t> masks_;
  std::vector<FillingSet<Words>> with_empty_;
  FillingSet<Words> all_{};
};

}  // namespace unjam

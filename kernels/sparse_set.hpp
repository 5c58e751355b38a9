// A set of numbers below 2^32 of which few are members, but those in clusters: bits on pages that come with need.
#pragma once

#include <cstring>

#include "memory.hpp"

namespace unjam {

//   number: | 23 bits: page, by way of the directory | 9 bits: bit on it |
//
// A page is a cache line of 512 bits. Page 0 is that of no numbers.
class SparseSet {
 public:
  // Empty if there is no memory for it: `ready()` is false.
  SparseSet(std::uint64_t limit, Meter& meter)
      : meter_(meter), directory_(Pages::zeroed(((limit - 1) / kBits + 1) * sizeof(std::uint32_t), meter)) {}

  bool ready() { return directory_.data() && reserve(0); }

  // Makes sure that `count` numbers can be added. False: there is no memory for it.
  bool reserve(std::uint64_t count) { return used_ + count <= capacity_ || grow(used_ + count); }

  // Whether it was not there. Only as often as reserved.
  bool add(std::uint32_t number) {
    std::uint32_t& page = static_cast<std::uint32_t*>(directory_.data())[number / kBits];
    if (page == 0) [[unlikely]] page = used_++;
    std::uint64_t& word = words_[page * (kBits / 64) + number % kBits / 64];
    const std::uint64_t bit = std::uint64_t{1} << number % 64;
    const bool is_new = !(word & bit);
    word |= bit;
    return is_new;
  }

 private:
  static constexpr std::uint32_t kBits = 512;
  static constexpr std::uint64_t kFirst = 256;  // pages

  bool grow(std::uint64_t least) {
    const std::uint64_t capacity = std::max({least, kFirst, capacity_ * 2});
    Pages pages = Pages::zeroed(capacity * kBits / 8, meter_);
    if (!pages.data()) return false;
    if (words_) std::memcpy(pages.data(), words_, used_ * kBits / 8);
    pages_ = std::move(pages);
    words_ = static_cast<std::uint64_t*>(pages_.data());
    capacity_ = capacity;
    return true;
  }

  Meter& meter_;
  Pages directory_, pages_;
  std::uint64_t* words_ = nullptr;
  std::uint64_t capacity_ = 0;  // in pages
  std::uint32_t used_ = 1;
};

}  // namespace unjam

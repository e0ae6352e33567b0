// Makes broken programs out of whole ones, the same ones for the same seed.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace spl::test {

class Mutator {
 public:
  /// `corpus` has at least one program.
  Mutator(std::vector<std::string> corpus, uint64_t seed);

  /// A program of the corpus after some faults.
  std::string next();

 private:
  void mutate(std::string& text);
  void erase(std::string& text);
  void repeat(std::string& text);
  void insert_piece(std::string& text);
  void set_byte(std::string& text);
  void indent(std::string& text);
  void splice(std::string& text);
  void nest(std::string& text);

  const std::string& any() { return corpus_[below(corpus_.size())]; }
  /// A number in [0, limit); 0 for an empty range.
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace spl::test

// Deterministic mutation of programs.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace spl::test {

class Mutator {
 public:
  /// `corpus` must contain at least one program.
  Mutator(std::vector<std::string> corpus, uint64_t seed);

  /// Returns a mutated program of the corpus.
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

  const std::string& any_program() { return corpus_[below(corpus_.size())]; }
  /// A number in [0, limit); 0 for an empty range.
  size_t below(size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  std::vector<std::string> corpus_;
  std::mt19937_64 random_;
};

}  // namespace spl::test

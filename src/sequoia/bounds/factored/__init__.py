"""Arms that interact: clusters of arms, each a small Markov decision process, tied by prices."""

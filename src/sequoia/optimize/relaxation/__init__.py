"""Linear functions above a ReLU network, and the nodes of branch and bound."""

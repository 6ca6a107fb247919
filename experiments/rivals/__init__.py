"""Learners of other papers on our action spaces, to compare with; each is one file."""

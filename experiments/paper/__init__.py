"""The paper's experiment: its plan, figures and tables."""

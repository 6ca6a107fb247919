"""A programme: its roster, its log and its plans, kept from day to day."""

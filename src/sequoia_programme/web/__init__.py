"""The planner's page: a programme in a browser. All that it does, the command does too."""

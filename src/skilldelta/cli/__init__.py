"""The command line: one file a command, the only place that reads flags, environment and skilldelta.toml."""

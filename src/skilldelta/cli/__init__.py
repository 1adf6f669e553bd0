"""The command line: one file per command, the only place that reads flags, environment and skilldelta.toml."""

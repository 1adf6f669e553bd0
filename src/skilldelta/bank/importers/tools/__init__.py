"""One reader for the result files of each tool; `tool_run` lists them and those of other packages."""

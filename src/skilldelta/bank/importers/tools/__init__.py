"""One reader for the result files of each tool; `tool_formats` lists them and those of other packages."""

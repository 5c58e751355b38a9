"""The command line: click commands, thin over the library, one module a noun."""

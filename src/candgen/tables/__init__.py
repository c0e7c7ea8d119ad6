"""Tables: mentions, queries and entities as files and as columns in memory."""

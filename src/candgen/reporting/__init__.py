"""Tables and figures as values, and the files they become."""

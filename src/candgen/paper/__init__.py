"""``candgen reproduce``: the tables and figures of the paper."""

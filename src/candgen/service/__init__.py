"""The HTTP service: a JSON API, the Reconciliation API for OpenRefine, and a web page."""

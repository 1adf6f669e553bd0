"""The gate as a service: one transport-free core, and the ways to reach it."""

"""The bundled suite and the outcomes a real local model had on it."""

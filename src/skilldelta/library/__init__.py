"""All skills that an agent harness has: what they cost, how often they are used, what they bring, and what to do with them."""

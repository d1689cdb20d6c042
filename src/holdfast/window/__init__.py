"""How full, until when: reading, velocity, zone, alert; the guard."""

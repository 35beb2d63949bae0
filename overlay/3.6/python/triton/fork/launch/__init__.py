"""From ``kernel[grid](...)`` to the driver."""

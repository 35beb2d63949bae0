"""The verbs of the tool, one module each: ``add_parser`` describes its arguments, ``run`` does the work."""

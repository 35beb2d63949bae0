"""Wheels as files: reading them with care, writing them member by member, and RECORD, the list of what they hold."""

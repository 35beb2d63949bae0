"""What runs in the environment under test."""

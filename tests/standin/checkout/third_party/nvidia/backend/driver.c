/* Stand-in for the launcher that a job compiles. */

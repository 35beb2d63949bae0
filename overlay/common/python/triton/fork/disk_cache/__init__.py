"""Files of the cache: written and read so that damage and full disks cost time, never the job."""

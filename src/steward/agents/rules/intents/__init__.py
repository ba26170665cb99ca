"""What people ask for, one file each: `plan` gives a draft, or None when a request is about something else."""

"""Who uses the application, what each may do, and what is on record about it."""

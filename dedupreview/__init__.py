"""The ground floor: settings, people, the commands that start and test everything."""

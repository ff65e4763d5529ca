"""What every other package may use: arrays, configs, errors, files."""

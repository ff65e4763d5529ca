"""Used by every other package: ragged arrays, configuration, errors, files, seeding, tables, weights."""
